"""The lift and its parts: fixed rows, row cuts, bundles; and small problems that efforts close."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination, witness
from nspca.bounds.dual import starts
from nspca.bounds.dual.rowcuts import Cuts, CutsAim
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.weights import simplex_program
from nspca.bounds.inequality import heights
from nspca.bounds.plan import PLANS
from nspca.bounds.search import strongest
from nspca.covariance.linalg import topk_sum
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget, Query
from tests.cancelling import cancelled
from tests.oracles import brute_force
from tests.strategies import cases, counts

EDGE = 1e-12
SHORT = Budget(1e-4, cap=500)


def wide(n=11, k=4, nonneg=True, seed=3):
    """Return noise, whose eigenvalues lie close together, so that a bound needs many steps."""
    X = np.random.default_rng(seed).standard_normal((30, n))
    return X, nspca.Problem.from_data(X, k, nonneg)


# --- fixed rows -----------------------------------------------------------------------------------
def highest(V, k, h, root, nonneg, fixed):
    """Return the largest f(c) by brute force over supports of k rows with the first `fixed` ones."""
    n, A = len(V), V @ V.T
    best = -np.inf
    for I in combinations(range(n), k):
        if set(range(fixed)) <= set(I):
            block = A[np.ix_(I, I)]
            signs = product((1.0, -1.0), repeat=k - 1) if root and not nonneg else [(1.0,) * (k - 1)]
            for s in signs:
                s = np.array((1.0, *s))
                best = max(
                    best,
                    brute_force(block * np.outer(s, s) + root**2, k, nonneg or root > 0)[0]
                    + h[list(I)].sum(),
                )
    return best


@pytest.mark.parametrize("nonneg", [True, False])
@counts(20, 60)
def test_cone_search_with_fixed_rows_is_exact_and_every_reason_to_stop_leaves_a_bound(nonneg, count):
    rng = np.random.default_rng(2)
    for case in cases(count, n_max=6, ranks=(1, 2, 3), seed=61):
        V, k = case.V / max(np.abs(case.V).max(), 1e-300), case.k
        fixed = int(rng.integers(0, k + 1))
        h = None if rng.random() < 0.4 else rng.random(len(V)) * rng.choice([0.1, 1.0])
        root = float(rng.choice([0.0, 0.5]))
        best = highest(V, k, np.zeros(len(V)) if h is None else h, root, nonneg, fixed)
        query = Query(V, k, h, root**2, nonneg, fixed)
        exact = cones.search(query, Budget(1e-5))
        assert exact.lower <= best * (1 + 1e-12) + 1e-300, case
        assert best * (1 - 1e-12) <= exact.upper <= exact.lower * (1 + 1.1e-5) + 1e-15, case
        for offset in (0.0, 0.7):
            goal, hopeless, known = offset + 1.2 * best, offset + 0.8 * best, offset + 0.7 * best
            for stop in (Budget(goal=goal), Budget(hopeless=hopeless), Budget(known=known)):
                sooner = cones.search(query, replace(stop, tol=1e-5, offset=offset))
                assert sooner.lower * (1 - 1e-12) <= best <= sooner.upper * (1 + 1e-12), (case, stop)
                assert sooner.cones <= exact.cones
                left = {goal: offset + sooner.upper <= goal, hopeless: offset + sooner.lower >= hopeless}
                near = offset + sooner.upper <= (1 + 1.1e-5) * (offset + sooner.lower) + cones.SHARE * max(
                    sooner.lower - 0.7 * best, 0
                )
                assert near or left.get(stop.goal) or left.get(stop.hopeless), (case, stop)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("raised", [False, True])
def test_fixed_rows_are_never_dropped_however_weak(nonneg, raised):
    """Most rows cannot matter in a small cone, and the fixed ones least of all; but they take places that the
    others do not get.
    """
    angles = np.linspace(0, 2 * np.pi, 20000)
    circle = np.column_stack((np.cos(angles), np.sin(angles)))
    for seed in range(12):
        rng = np.random.default_rng([7, seed])
        V = rng.standard_normal((40, 2))
        V[: seed % 4] *= (1e-3, 0.3)[seed % 2]
        h = rng.random(40) * raised
        k = int(rng.integers(max(1, seed % 4), 9))
        terms = circle @ V.T
        terms = (np.maximum(terms, 0) if nonneg else np.abs(terms)) ** 2 + h
        best = float(topk_sum(terms, k, seed % 4).max())
        cover = cones.search(Query(V, k, h if raised else None, nonneg=nonneg, fixed=seed % 4), Budget(1e-6))
        assert best <= cover.upper * (1 + 1e-12)
        assert cover.upper <= best * (1 + 2e-6)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("power", [-300, 0, 300])
def test_thorough_certificates_close_small_problems_from_data_of_any_scale(nonneg, power):
    for case in cases(20, n_max=7, ranks=(1, 3, 7), seed=66):
        X = case.V.T / max(np.abs(case.V).max(), 1e-300)
        A = X.T @ X / len(X)
        optimum = brute_force(A, case.k, nonneg)[0]
        data = np.ldexp(X, power)
        result = nspca.solve(nspca.Problem.from_data(data, case.k, nonneg, center=False), certify="thorough")
        upper = np.ldexp(result.certificate.upper, -2 * power)
        assert optimum * (1 - EDGE) <= upper <= optimum * (1 + 1e-6), case
        assert nspca.verify(data, result.certificate) <= result.certificate.upper
        assert np.isclose(np.ldexp(result.value, -2 * power), optimum, rtol=1e-6, atol=0), case


def test_equal_eigenvalues_have_a_largest():
    """LAPACK's search for the last one only fails here, or finds none when vectors are asked for."""
    B = np.diag([0.5 - 1e-5, 0.5, 0.5, 0.5 - 1e-5])
    B[0, 3] = B[3, 0] = -1e-5
    B[1, 3] = B[3, 1] = 2.0**-60
    B[2, 0] = B[0, 2] = -3 * 2.0**-60
    kept = elimination.Kept(None, B, 0.0)
    assert witness.largest(kept, witness.Witness()) == pytest.approx(0.5)
    assert witness.lifted(kept, witness.Witness(), 1)[1] == pytest.approx(0.5)


def test_a_cancelled_search_hands_over_the_best_certificate():
    X, problem = wide()
    A = problem.covariance.matrix * problem.covariance.unit
    optimum = brute_force(A, 4)[0]
    events = []
    strongest(problem, 0.5 * optimum / problem.covariance.unit, "thorough", events.append)
    best = np.minimum.accumulate([np.inf if event.upper is None else event.upper for event in events])
    better = (np.flatnonzero(best[1:] < best[:-1]) + 2).tolist()  # calls, counted from one
    partial = 0
    for calls in [1, 5, *better[-4:]]:
        known = 0.5 * optimum / problem.covariance.unit
        enough = lambda seen, calls=calls: len(seen) == calls  # noqa: E731
        stopped, seen = cancelled(strongest, problem, known, "thorough", when=enough)
        best = stopped.best
        if best is not None:
            assert optimum * (1 - EDGE) <= nspca.verify(X, best) <= best.upper
            partial += best.upper > optimum * (1 + 1e-6)
        else:
            assert all(event.upper is None for event in seen)  # nothing had been proved
    assert partial


def test_auto_takes_the_better_component_and_other_methods_keep_theirs(monkeypatch):
    X, problem = wide(n=8)
    optimum = brute_force(np.cov(X.T, bias=True), 4)[0]
    poor = nspca.Result.of(problem, np.eye(8)[0], nspca.Status.HEURISTIC, "auto")
    monkeypatch.setattr(
        nspca.solving.auto, "LINE", replace(nspca.solving.auto.LINE, solve=lambda *given, **more: poor)
    )
    monkeypatch.setitem(PLANS, "thorough", replace(PLANS["thorough"], eigenvalues=1e4))
    result = nspca.solve(problem, certify="thorough")
    assert result.value == pytest.approx(optimum, rel=1e-9)
    assert (result.method, result.info["found_by"], result.status) == (
        "auto",
        "certificate",
        nspca.Status.OPTIMAL,
    )
    assert np.count_nonzero(result.components) <= 4
    point = result.components[:, 0]
    for method in ("auto", "em"):
        kept = nspca.proving.better(problem, replace(poor, method=method), point)
        assert (kept.value == result.value) == (method == "auto")
    assert nspca.proving.better(problem, poor, None) is poor
    assert nspca.proving.better(problem, result, np.eye(8)[0]) is result
    monkeypatch.undo()
    plain = {"method": "cone", "rank": 1, "polish": False}
    own = nspca.solve(problem, certify=None, **plain)
    proved = nspca.solve(problem, certify="thorough", **plain)
    assert own.value < 0.99 * optimum
    assert proved.value == own.value
    assert optimum * (1 - EDGE) <= proved.certificate.upper <= optimum * (1 + 1e-6)


# --- lifts, row cuts, weights
# ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("nonneg", [True, False])
@counts(20, 30)
def test_witnesses_of_a_lift_hold_at_every_step_and_its_bundle_is_feasible(nonneg, count):
    for case in cases(count, n_max=8, ranks=(3, 8), seed=64):
        A = case.V @ case.V.T
        if not A.any():
            continue
        problem = nspca.Problem.from_covariance(A, case.k, nonneg)
        optimum, kept = brute_force(A, case.k, nonneg)[0], elimination.all_rows(problem)
        fixed = min(1, case.k - 1)
        for first, wait in ((0, 5), (fixed, 1)):
            splitting = Splitting(replace(kept, fixed=first), case.k, nonneg)
            for _ in range(10):
                splitting.step()
            W, X = witness.Witness(splitting.entries.W), splitting.X.copy()
            lift = starts.begin_lift(splitting, W, X, min(2, problem.n), ((problem.k, 1),), wait=wait)
            for step in range(20 if count == 20 else 30):
                splitting.step()
                if step % 5 == 4:
                    lift.grow()
                assert lift.share.min() >= 0
                assert np.isclose(lift.share.sum(), 1)
                if first == 0 and step % 10 == 9:
                    found, _ = witness.certificate(
                        problem, kept, witness.Witness(splitting.entries.W, lift.cuts.M, lift.U), SHORT
                    )
                    assert optimum * (1 - EDGE) <= nspca.verify(A, found) <= found.upper, case
            assert (lift.supports.sum(axis=0) == min(case.k, problem.n)).all()
            assert lift.supports[:first].all()
            assert not lift.points[lift.supports == 0].any()
            assert np.allclose(np.linalg.norm(lift.points, axis=0), 1)
            assert (lift.cuts.M is None) == (problem.n <= case.k)  # where every support has all rows
            assert not nonneg or lift.points.min() >= 0


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("nonneg", [True, False])
def test_row_cuts_are_projected_to_points_that_no_allowed_row_lies_beyond(nonneg, k):
    """The height of a row of the dual is how far allowed rows reach, and the slope of the distance."""
    rng, n = np.random.default_rng(4), 6
    for trial in range(9):
        cuts = Cuts(n, k, nonneg, 1.0)
        X, z = rng.standard_normal((n, n)), np.append(rng.random(n - 2), [0.0, 1.0])
        X = np.where(np.eye(n, dtype=bool), X, (X, X.round(), 0.1 + 0.005 * X)[trial % 3])
        for _ in range(60):  # each projection of the same point begins with the levels of the one before
            cuts.begin(np.zeros((n, n)), weight=1.0)
            aim = cuts.aim(X, 1.0)
            cuts.settle(aim, z)
        assert np.allclose(cuts.dual + cuts.Z, X, atol=1e-15)
        high = heights(cuts.dual, k, nonneg)
        assert np.allclose(np.einsum("ij,ij->i", cuts.dual, cuts.Z), z * high, atol=1e-9)
        slope, curvature = aim.slopes(z)
        assert np.allclose(slope, high, atol=1e-9 + 1e-3 * (z == 0))
        far = [aim.distances(z + step)[2] ** 2 / 2 for step in (1e-5, 0.0, -1e-5)]
        assert np.allclose((far[2] - far[0]) / 2e-5, slope, atol=1e-4)
        assert np.allclose((far[2] - 2 * far[1] + far[0]) / 1e-10, curvature, rtol=1e-3, atol=1e-4)


def test_rows_of_almost_nothing_have_finite_slopes():
    """The cube of 1e-110 is 0, by which a curvature was divided."""
    aim = CutsAim(np.array([1e-110, 0.0, -1e-110, 1.0]), np.array([1e-220, 1e-300, 0.0, 1.0]))
    for z in (np.zeros(4), np.full(4, 1e-111)):
        assert all(np.isfinite(part).all() for part in aim.slopes(z))


def test_a_program_over_the_simplex_without_a_quadratic_part_takes_the_best_points():
    """No price would change there, so H is 0; the weights came out as NaN, or the system was singular."""
    for size in (1e-250, 1.0, 1e16):
        c = size * np.array([-1.143224349514, -0.3594346415472, -0.3594346415472, -1.143224349514])
        for start in ([0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]):
            w = simplex_program(np.zeros((4, 4)), c, np.array(start), np.zeros(4, dtype=int))
            assert w.min() >= 0
            assert w.sum() == pytest.approx(2, rel=1e-4)
            assert c @ w == pytest.approx(2 * c.min(), rel=1e-4)


def test_a_program_over_simplices_ends_where_no_gradient_is_lower():
    rng = np.random.default_rng(5)
    for trial in range(60):
        p = (2, 3, 5, 12, 40)[trial % 5]
        F, c = rng.standard_normal((int(rng.integers(1, p + 1)), p)), rng.standard_normal(p)
        F[:, p // 2] = F[:, 0]  # the same point twice
        group, H = np.arange(p) % (1 + trial % 2), F.T @ F
        totals = np.array([2.0, 1.0])[: group.max() + 1]
        w = simplex_program(H, c, (totals / np.bincount(group))[group], group)
        gradient = c + H @ w
        least = sum(total * gradient[group == g].min() for g, total in enumerate(totals))
        assert w.min() >= 0 and np.bincount(group, w) == pytest.approx(totals)
        assert gradient @ w - least <= 1e-6 * max(1.0, np.abs(H).max())
