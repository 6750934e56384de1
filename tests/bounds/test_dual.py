"""B4 to B9 against brute force and the verifier; elimination against the dense formula; what stops, repeats
and cancels.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination, search, witness
from nspca.bounds.dual import lift, stripes
from nspca.bounds.dual import splitting as dual
from nspca.bounds.plan import PLANS
from nspca.bounds.search import strongest
from nspca.covariance.data import RowsCovariance
from nspca.errors import InvalidOption
from nspca.lowrank.cones import Budget
from tests.oracles import brute_force
from tests.strategies import cases, counts

EDGE = 1e-13


@pytest.fixture
def short(monkeypatch):
    """Run all stages of "standard" with few steps, and lifts also where a search over supports would do."""
    plan = replace(
        PLANS["standard"],
        rows=(800,),
        plain=(1, 2),
        cap=100,
        eigenvalues=1e3,
        branching=1e6,
        ranks=(2, 2),
        passes=2,
        rounds=6,
    )
    monkeypatch.setitem(PLANS, "standard", plan)
    monkeypatch.setattr(search, "BRANCHED", 0)


def scaled(V, power):
    """Return A = VV' with its largest entry near 2^power; a power of two changes nothing in unit scale."""
    A = V @ V.T
    return np.ldexp(A / max(np.abs(A).max(), 1e-300), power)


def witnesses(kept, problem, steps=10):
    """(kind, witness, estimate) of every bound on these rows, from few steps: nothing has converged, all must
    hold.
    """
    k, nonneg = problem.k, problem.nonneg
    yield "B4", witness.Witness(elimination.search_threshold(kept, problem)[1]), None
    if len(kept.block) == 0:
        return
    splitting = dual.Splitting(kept, k, nonneg)
    unit = np.eye(len(kept.block))
    made = lift.add_lift(splitting, unit[:, :2], [unit[:, :1]], ((k, 1),), wait=steps)
    for _ in range(2 * steps):
        splitting.step()
        made.grow()
    W, M = splitting.entries.W, made.cuts.M
    for one in (witness.Witness(W), witness.Witness(W, M)):
        yield one.kind, one, None
        raised, left = witness.lifted(kept, one, 2)
        yield raised.kind, raised, left
    joint = witness.Witness(W, M, made.U)
    yield joint.kind, joint, None


@pytest.mark.parametrize("nonneg", [True, False])
@counts(20, 120)
def test_no_bound_is_below_brute_force_and_every_one_is_verified(nonneg, count):
    kinds = set()
    for i, case in enumerate(cases(count, n_max=8, ranks=(1, 3, 8), seed=31)):
        power = 12 * (41 * i % 83 - 41)  # 1e-148 to 1e148, by turns small, medium and large
        A = scaled(case.V, power)
        optimum = brute_force(np.ldexp(A, -power), case.k, nonneg)[0]
        problem = nspca.Problem.from_covariance(A, case.k, nonneg)
        if problem.covariance.trace == 0.0:
            continue
        kept = elimination.keep(problem, problem.n if i % 3 else max(1, problem.n - 2))
        for kind, one, estimate in witnesses(kept, problem):
            found, _ = witness.certificate(
                problem, kept, one, Budget(1e-3, cap=100), kind=kind, estimate=estimate
            )
            kinds.add(found.kind)
            assert np.ldexp(found.upper, -power) >= optimum * (1 - EDGE), (case, found.kind)
            assert nspca.verify(A, found) <= found.upper
    assert kinds >= {"B4", "B5", "B6", "B7", "B9"}


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("branched", [0, 9])
def test_the_strongest_certificate_holds_and_is_verified_from_data(nonneg, branched, short, monkeypatch):
    monkeypatch.setattr(search, "BRANCHED", branched)
    branching = PLANS["standard"].branching if branched else 0.0
    monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], branching=branching))
    kinds = set()
    for case in cases(12 if branched else 40, n_max=9, ranks=(3, 8), seed=32):
        X = case.V.T
        problem = nspca.Problem.from_data(X, case.k, nonneg, center=False)
        optimum = brute_force(X.T @ X / len(X), case.k, nonneg)[0]
        found, point = strongest(problem, optimum / problem.covariance.unit, "standard")
        assert point is None or problem.value(point) <= optimum * (1 + 1e-8)
        if found is None:
            assert optimum == 0.0
            continue
        kinds.add(found.kind)
        assert found.upper >= optimum * (1 - EDGE)
        assert nspca.verify(X, found) <= found.upper
    assert kinds >= ({"B8"} if branched else {"B5", "BS"})


@pytest.mark.parametrize("nonneg", [True, False])
def test_elimination_is_the_dense_formula(nonneg):
    """With the rows kept, B4 equals its formula on all of A; the kept rows are those with an entry above the
    level.
    """
    rng = np.random.default_rng(34)
    X = rng.standard_normal((12, 40)) * rng.uniform(0.05, 1, 40) ** 2
    problem = nspca.Problem.from_data(X, 5, nonneg)
    A = problem.covariance.matrix
    size = A if nonneg else np.abs(A)
    for most in (5, 15, 30):
        kept = elimination.keep(problem, most)
        assert np.array_equal(kept.rows, np.flatnonzero(size.max(axis=1) > kept.floor))
        outside = np.delete(np.arange(40), kept.rows)
        assert size[outside].max() <= kept.floor
        tau, W = elimination.search_threshold(kept, problem)
        above = A - (np.minimum(A, tau) if nonneg else np.clip(A, -tau, tau))
        np.fill_diagonal(above, np.diag(A) - tau)
        dense = max(np.linalg.eigvalsh(above)[-1], 0.0) + 5 * tau
        found, _ = witness.certificate(problem, kept, witness.Witness(W), kind="B4")
        assert np.isclose(found.upper / problem.covariance.unit, dense, rtol=1e-8)
        assert nspca.verify(X, found) <= found.upper


def test_n_by_n_is_never_formed_for_many_features(monkeypatch):
    X = (
        np.random.default_rng(35).standard_normal((15, 5000))
        * np.random.default_rng(36).uniform(0.01, 1, 5000) ** 4
    )
    monkeypatch.setattr(RowsCovariance, "matrix", property(lambda self: pytest.fail("n x n was formed")))
    whole = RowsCovariance.block
    monkeypatch.setattr(
        RowsCovariance,
        "block",
        lambda self, J: whole(self, J) if len(J) <= 400 else pytest.fail("a block too large"),
    )
    problem = nspca.Problem.from_data(X, 10)
    found, _ = strongest(problem, 0.0, "fast")
    assert 0 < found.witness["rows"].size <= 400
    assert nspca.verify(X, found) <= found.upper


def test_more_features_tied_at_the_level_than_may_be_kept():
    """Equal features: no row can be singled out, so none is kept and the bound is k tau."""
    problem = nspca.Problem.from_covariance(np.ones((6, 6)), 2)
    kept = elimination.keep(problem, 3)
    assert kept.rows.size == 0
    found, _ = witness.certificate(
        problem, kept, witness.Witness(elimination.search_threshold(kept, problem)[1]), kind="B4"
    )
    assert 2.0 <= found.upper <= 2.0 * (1 + 1e-8)
    assert nspca.verify(np.ones((6, 6)), found) <= found.upper


@pytest.mark.parametrize("nonneg", [True, False])
def test_stripes_change_nothing_and_single_precision_little(nonneg, monkeypatch):
    A = np.cov(alike() * np.geomspace(3, 0.5, 60), rowvar=False)
    kept = elimination.all_rows(nspca.Problem.from_covariance(A, 6, nonneg))

    def after(exact):
        monkeypatch.setattr(dual, "EXACT", exact)
        splitting = dual.Splitting(kept, 6, nonneg)
        made = lift.add_lift(splitting, np.eye(60)[:, :2], [np.eye(60)[:, :1]], ((splitting.k, 1),), wait=3)
        for _ in range(6):
            splitting.step()
        made.remember(afresh=True)
        mean = made.averaged()
        return mean.W, mean.M

    whole, single = after(60), after(59)
    monkeypatch.setattr(stripes, "ENTRIES", 7 * 60)
    for one, striped, other in zip(whole, after(60), single, strict=True):
        assert np.abs(one).max() > 0
        assert np.allclose(striped, one, atol=1e-12)
        assert other.dtype == np.float64
        assert np.allclose(other, one, atol=1e-4 * np.abs(one).max())


def wide_problem(k=6):
    X = np.random.default_rng(41).standard_normal((30, 24)) + np.linspace(0, 2, 24) * np.random.default_rng(
        42
    ).standard_normal((30, 1))
    return X, nspca.Problem.from_data(X, k)


def test_the_best_so_far_only_falls_and_is_what_is_returned(short):
    _, problem = wide_problem()
    events = []
    found, _ = strongest(problem, 0.0, "standard", events.append)
    uppers = [e.upper for e in events if e.upper is not None]
    assert all(e.stage in ("dual", "proving the optimum") and e.k == 6 for e in events)
    assert all(e.done >= 0 and (e.done <= e.total or not e.total) for e in events)
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(uppers))  # what is proved has room for rounding
    assert uppers[-1] == found.upper < uppers[0]


def test_zero_matrices_and_unknown_efforts():
    assert strongest(nspca.Problem.from_covariance(np.zeros((3, 3)), 2), 0.0) == (None, None)
    with pytest.raises(InvalidOption, match="fast, standard, thorough"):
        strongest(wide_problem()[1], 0.0, "heroic")


def alike(n=60, m=20):
    """Return standardised features of equal importance: any left out is as large as those kept."""
    rng = np.random.default_rng(4)
    return rng.standard_normal((m, 4)) @ rng.standard_normal((4, n)) + rng.standard_normal((m, n))


def test_what_is_known_already_is_not_handed_out_again(short):
    X = alike(40) * np.geomspace(3, 0.1, 40)
    problem = nspca.Problem.from_data(X, 5)
    found = strongest(problem, 0.0)[0]
    unit = problem.covariance.unit
    assert strongest(problem, 0.0, known=found.upper * (1 - 1e-6) / unit)[0] is None
    assert strongest(problem, 0.0, known=2 * found.upper / unit)[0].upper <= found.upper * (1 + 1e-3)


def test_features_that_are_all_alike_are_bounded_by_their_entries_too():
    """2000 standardised features of noise, k = 10: k times the variance is 10, weights prove a third less."""
    X = np.random.default_rng(0).standard_normal((20, 2000))
    problem = nspca.Problem.from_data(X, k=10, scale=True)
    certificate, _ = strongest(problem, 5.0, "fast")
    assert 5.0 < nspca.verify(X, certificate, problem) <= certificate.upper < 7.0
