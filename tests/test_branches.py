"""The search over supports against brute force and the verifier, and the parts that make its nodes: fixed rows, cuts, bundles."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.optimize

import nspca
from nspca import cones
from nspca.bounds import elimination, starts, strongest, witness
from nspca.bounds.branches import LEAF, Tree
from nspca.bounds.dual import Splitting
from nspca.bounds.lift import Lift
from nspca.bounds.plan import PLANS
from nspca.bounds.rowcuts import Cuts
from nspca.bounds.weights import simplex_program
from nspca.errors import Cancelled
from nspca.linalg import topk_indices, topk_sum
from tests.oracles import brute_force
from tests.strategies import cases

EDGE = 1e-12
SMALL = replace(PLANS["thorough"], cap=2000, branching=1e8)


def grown(problem, lower, plan=SMALL, report=lambda event: None):
    """A tree that was run from a few steps of the dual."""
    tree = Tree(problem, plan, lower, 1e-9, report)
    splitting = Splitting(elimination.all_rows(problem), problem.k, problem.nonneg)
    for _ in range(20):
        splitting.step()
    tree.run(splitting.entries.W, splitting.X)
    return tree


def leaves_of(certificate, n, k):
    """Fixed and free features of the leaves, from the codes alone."""
    codes, found, stack = iter(certificate.witness["branch"].tolist()), [], [((), tuple(range(n)))]
    while stack:
        fixed, free = stack.pop()
        code = next(codes)
        if code == LEAF:
            found.append((set(fixed), set(fixed) | set(free if len(fixed) < k else ())))
            continue
        free = tuple(i for i in free if i != code)
        stack += [(fixed, free), ((*fixed, code), free)]
    assert next(codes, None) is None
    return found


def test_fixed_entries_are_among_the_largest():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 8))
        k = int(rng.integers(1, n + 1))
        forced = int(rng.integers(0, k + 1))
        v = rng.integers(0, 4, n).astype(float)
        best = max(sum(v[list(I)]) for I in combinations(range(n), k) if set(range(forced)) <= set(I))
        assert topk_sum(v, k, forced) == best
        chosen = topk_indices(v, k, forced)
        assert len(set(chosen)) == k and set(range(forced)) <= set(chosen) and v[chosen].sum() == best


@pytest.mark.parametrize("nonneg", [True, False])
def test_cone_search_with_fixed_rows_and_reasons_to_stop(nonneg):
    rng = np.random.default_rng(2)
    for case in cases(80, n_max=7, ranks=(1, 2, 3), seed=61):
        n, k = len(case.V), case.k
        forced = int(rng.integers(0, k + 1))
        h = None if rng.random() < 0.4 else rng.random(n) * rng.choice([0.1, 1.0])
        root = float(rng.choice([0.0, 0.5]))
        directions = rng.standard_normal((2000, case.V.shape[1] + 1))
        linear = directions[:, :-1] @ case.V.T
        flat = root * np.abs(directions[:, -1:])
        p = np.maximum(linear + flat, 0.0) if nonneg else np.abs(linear) + flat
        lengths = np.sum(directions[:, :-1] ** 2, axis=1) + (directions[:, -1] ** 2 if root else 0.0)
        heights = np.zeros(n) if h is None else h
        reached = max(topk_sum(q * q + heights, k, forced) for q in p / np.sqrt(np.maximum(lengths, 1e-300))[:, None])
        options = {"h": h, "lift": root, "nonneg": nonneg, "forced": forced}
        exact = cones.search(case.V, k, tol=1e-6, **options)
        assert reached <= exact.upper * (1 + 1e-9) + 1e-300, case
        assert exact.lower <= exact.upper and (not exact.finished or exact.upper <= exact.lower * (1 + 2e-6) + 1e-12)
        if h is None and not root and forced == k:
            rows = case.V[:k]
            best = max((nspca.solve(nspca.Problem.from_covariance(rows @ rows.T, k, nonneg), certify=None).value), 0.0)
            assert best <= exact.upper * (1 + 1e-9)
        for stop in (cones.Stop(goal=1.3 * exact.upper), cones.Stop(hopeless=0.7 * exact.upper), cones.Stop(known=0.5 * exact.lower)):
            sooner = cones.search(case.V, k, tol=1e-6, stop=stop, **options)
            assert sooner.cones <= exact.cones and sooner.upper >= exact.lower * (1 - 1e-9), (case, stop)


@pytest.mark.parametrize("nonneg", [True, False])
def test_trees_are_never_below_brute_force_and_every_one_is_verified(nonneg):
    closed = 0
    for i, case in enumerate(cases(90, n_max=7, ranks=(1, 3, 7), seed=62)):
        A = np.ldexp(case.V @ case.V.T, (0, 300, -300)[i % 3])
        if not A.any():
            continue
        problem = nspca.Problem.from_covariance(A, case.k, nonneg)
        unit, optimum = problem.covariance.unit, brute_force(A, case.k, nonneg)[0]
        lower = (optimum / unit) * (1.0, 0.5, 0.0)[i % 3]
        certificates = []
        tree = Tree(problem, SMALL, lower, 1e-9)
        if tree.by_eigenvalues():
            certificates.append(tree.certificate())
        run = grown(problem, lower)
        certificates.append(run.certificate())
        if run.point is not None:
            assert np.count_nonzero(run.point) <= case.k and (not nonneg or run.point.min() >= 0)
            assert problem.value(run.point) <= optimum * (1 + 1e-9)
        for certificate in certificates:
            assert certificate.upper >= optimum * (1 - EDGE), case
            assert optimum * (1 - EDGE) <= nspca.verify(A, certificate) <= certificate.upper
            supports = list(combinations(range(problem.n), case.k))
            leaves = leaves_of(certificate, problem.n, case.k)
            for S in map(set, supports):
                assert sum(fixed <= S <= room for fixed, room in leaves) == 1, case
        closed += certificates[-1].upper <= optimum * (1 + 1e-6)
    assert closed > 60


def test_a_tree_of_eigenvalues_is_the_signed_optimum_and_a_lower_claim_is_refused():
    for case in cases(60, n_max=8, ranks=(2, 8), seed=63):
        A = case.V @ case.V.T
        if not A.any():
            continue
        problem = nspca.Problem.from_covariance(A, case.k, nonneg=False)
        optimum = brute_force(A, case.k, False)[0]
        tree = Tree(problem, SMALL, 0.0, 1e-9)
        assert tree.by_eigenvalues()
        certificate = tree.certificate()
        assert optimum * (1 - EDGE) <= certificate.upper <= optimum * (1 + 1e-8)
        low = certificate.witness | {"claims": certificate.witness["claims"] * (1 - 1e-7)}
        with pytest.raises(nspca.CertificateError, match="could not be proved"):
            nspca.verify(A, replace(certificate, upper=optimum * (1 - 1e-8), witness=low))


def test_real_data_is_proved_optimal_and_the_same_again():
    data = nspca.load_sample("digits").X
    problem = nspca.Problem.from_data(data, 5)
    first, again = (nspca.solve(problem, certify="standard") for _ in range(2))
    assert first.status is nspca.Status.OPTIMAL and first.certificate.form == "branches" and first.ratio >= 1 - 1e-8
    assert first.certificate.to_bytes() == again.certificate.to_bytes()
    assert nspca.verify(data, first.certificate) <= first.certificate.upper


def test_a_component_that_the_search_meets_is_handed_back():
    rng = np.random.default_rng(3)
    A = nspca.Problem.from_data(rng.standard_normal((30, 12)), 4).covariance.matrix
    problem = nspca.Problem.from_covariance(A, 4)
    optimum = brute_force(A, 4, True)[0]
    certificate, _, point = strongest(problem, 0.5 * optimum / problem.covariance.unit, "thorough")
    assert np.isclose(problem.value(point), optimum, rtol=1e-9) and optimum * (1 - EDGE) <= certificate.upper <= optimum * (1 + 1e-6)
    poor = nspca.Result.of(problem, np.eye(12)[0], nspca.Status.HEURISTIC, "auto")
    assert nspca.api.better(problem, poor, point).value == problem.value(point)
    other = replace(poor, method="em")
    assert nspca.api.better(problem, other, point) is other and nspca.api.better(problem, poor, None) is poor


@pytest.mark.parametrize("calls", [1, 40, 120, 260])
def test_cancelled_search_hands_over_the_best_certificate(calls):
    data = nspca.load_sample("digits").X
    problem = nspca.Problem.from_data(data, 20)
    value = nspca.solve(problem, certify=None).value
    seen = []

    def report(event):
        seen.append(event)
        if len(seen) == calls:
            raise Cancelled

    with pytest.raises(Cancelled) as stopped:
        strongest(problem, value / problem.covariance.unit, "thorough", report)
    best = stopped.value.best
    assert best is None or value <= nspca.verify(data, best) <= best.upper


@pytest.mark.parametrize("nonneg", [True, False])
def test_witnesses_of_a_lift_hold_at_every_step_and_its_bundle_is_feasible(nonneg):
    for case in cases(40, n_max=8, ranks=(3, 8), seed=64):
        A = case.V @ case.V.T
        if not A.any():
            continue
        problem = nspca.Problem.from_covariance(A, case.k, nonneg)
        optimum, kept = brute_force(A, case.k, nonneg)[0], elimination.all_rows(problem)
        forced = min(1, case.k - 1)
        for first, wait in ((0, 5), (forced, 1)):
            splitting = Splitting(kept, case.k, nonneg)
            for _ in range(10):
                splitting.step()
            B = starts.basis(kept, splitting.entries.W, min(2, problem.n))
            point = starts.first_point(problem, splitting, B, first)
            lift = Lift(splitting, B, point, case.k, nonneg, forced=first, wait=wait)
            for step in range(30):
                splitting.step()
                if step % 5 == 4:
                    lift.grow()
                assert lift.share.min() >= 0 and np.isclose(lift.share.sum(), 1)
                if first == 0 and step % 10 == 9:
                    found, _ = witness.certificate(problem, kept, witness.Witness(splitting.entries.W, lift.M, lift.U))
                    assert optimum * (1 - EDGE) <= nspca.verify(A, found) <= found.upper, case
            assert (lift.supports.sum(axis=0) == min(case.k, problem.n)).all() and lift.supports[:first].all()
            assert not lift.points[lift.supports == 0].any() and np.allclose(np.linalg.norm(lift.points, axis=0), 1)
            assert (lift.M is not None) and (not nonneg or lift.points.min() >= 0)


def test_row_cuts_are_projected_to_the_nearest_point():
    rng = np.random.default_rng(4)
    for nonneg in (True, False):
        problem = nspca.Problem.from_covariance(np.eye(5), 2, nonneg)
        splitting = Splitting(elimination.all_rows(problem), 2, nonneg)
        cuts = Cuts(splitting, nonneg)
        cuts.begin(1.0, np.zeros((5, 5)))
        splitting.X, z = rng.standard_normal((5, 5)), rng.random(5)
        cuts.update(1.0)
        cuts.settle(z)
        P, T = cuts.Z, splitting.X
        off = P - np.diag(np.diag(P))
        # Nonnegative: entries below zero cost nothing, so only their positive part has to be in the ball.
        assert ((np.diag(P) - z / 2) ** 2 + np.sum(np.maximum(off, 0 if nonneg else -np.inf) ** 2, axis=1) <= (z / 2) ** 2 + 1e-12).all()
        for _ in range(300):
            C = rng.standard_normal((5, 5))
            C = np.abs(C) if nonneg else C
            C *= (z / 2 * rng.random(5) / np.linalg.norm(C, axis=1))[:, None]
            C += np.diag(z / 2)
            away = T - P if not nonneg else np.where((off <= 0) & ~np.eye(5, dtype=bool), 0.0, T - P)
            assert np.sum(away * (C - P)) <= 1e-9
        slope, curvature = cuts.slopes(z)
        far = [cuts.distances(z + step)[2] ** 2 / 2 for step in (1e-5, -1e-5)]
        assert np.allclose((far[1] - far[0]) / 2e-5, slope, atol=1e-4) and curvature.min() > 0


def test_quadratic_program_over_the_simplex():
    rng = np.random.default_rng(5)
    for p in (1, 2, 5, 12):
        for rank in (1, p):
            F, c = rng.standard_normal((rank, p)), rng.standard_normal(p)
            H = F.T @ F
            w = simplex_program(H, c, np.full(p, 1 / p))
            assert w.min() >= 0 and np.isclose(w.sum(), 1)
            bounds, even = [(0, 1)] * p, {"type": "eq", "fun": lambda w: w.sum() - 1}
            value = lambda w, H=H, c=c: c @ w + w @ H @ w / 2  # noqa: E731
            found = scipy.optimize.minimize(value, np.full(p, 1 / p), bounds=bounds, constraints=even, tol=1e-12)
            assert value(w) <= found.fun + 1e-7
