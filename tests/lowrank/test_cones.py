"""The cone search against brute force, and its proof against a walk of the tree that shares no code with
it.
"""

import numpy as np
import pytest

from nspca.checker import rounding
from nspca.checker.cover import TopSum, error_of
from nspca.covariance.linalg import topk_sum
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget, Query
from nspca.lowrank.fixing import margins
from nspca.lowrank.forest import LEAF
from nspca.lowrank.objective import Objective
from tests.cancelling import cancelled
from tests.oracles import brute_force
from tests.strategies import cases


def objective(V, k, c, h, root_tau, nonneg):
    if nonneg:
        p = np.maximum(V @ c[: V.shape[1]] + (root_tau * c[-1] if root_tau else 0.0), 0)
    else:
        p = np.abs(V @ c[: V.shape[1]]) + (root_tau * c[-1] if root_tau else 0.0)
    return float(topk_sum(p * p + h, k))


def walk(cover, V, nonneg):
    """Bound of every leaf by the plain formulas, all rows, and the share of random directions that some leaf
    contains.
    """
    D = V.shape[1]
    codes = iter(cover.tree.tolist())
    leaves = []

    def visit(G):
        code = next(codes)
        if code == LEAF:
            return leaves.append(G)
        j, l = divmod(code, D)
        first, second = G.copy(), G.copy()
        first[j] = second[l] = G[j] + G[l]
        visit(first)
        visit(second)

    for signs in cones.roots(D, False, nonneg):
        visit(np.diag(signs).astype(float))
    assert next(codes, None) is None
    return leaves


def copositive(G, T):
    """Return the least F by halving: FG - T without positive entries off the diagonal must be psd."""
    low, high = 0.0, float(T.sum())
    diagonal = np.eye(len(G), dtype=bool)
    for _ in range(60):
        F = (low + high) / 2
        C = F * G - T
        holds = np.linalg.eigvalsh(np.where(diagonal, C, np.minimum(C, 0)))[0] >= 0
        low, high = (low, F) if holds else (F, high)
    return high


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_leaves_are_the_proof(nonneg):
    rng = np.random.default_rng(1)
    for case in cases(20, n_max=7, ranks=(2, 3), seed=5):
        cover = cones.search(Query(case.V, case.k, nonneg=nonneg), Budget(1e-3))
        leaves = walk(cover, case.V, nonneg)
        bounds = []
        for G in leaves:
            P = case.V @ G.T
            P = np.maximum(P, 0) if nonneg else np.abs(P)
            C = G @ G.T
            T = np.array(
                [[topk_sum(P[:, j] * P[:, l], case.k) for l in range(len(G))] for j in range(len(G))]
            )
            L = np.linalg.cholesky(C)
            spectral = np.linalg.eigvalsh(np.linalg.solve(L, np.linalg.solve(L, T).T))[-1]
            simple = (T / C).max() if C.min() > 0 else np.inf
            bounds.append(min(simple, spectral, copositive(C, T)))
        assert max(bounds) <= cover.upper * (1 + 1e-9) + 1e-300, case
        for c in rng.standard_normal((50, case.V.shape[1])):
            c = c if nonneg or c[0] >= 0 else -c
            assert any(np.all(np.linalg.solve(G.T, c) >= -1e-9) for G in leaves)


def test_rows_are_dropped_only_where_they_lose_in_the_signed_problem():
    """The counterexample of docs/certificates.md: a row whose sign changes inside the cone has smallest value
    0.
    """
    b = np.array([np.cos(np.pi / 8), np.sin(np.pi / 8)])
    across = np.array([-b[1], b[0]])
    V = np.array([100 * b, 10 / np.sin(np.pi / 8) * across, 9.9 / np.cos(np.pi / 8) * b])
    cover = cones.search(Query(V, 2, nonneg=False), Budget(1e-6))
    assert cover.upper >= objective(V, 2, b, np.zeros(3), 0.0, False) > 10114
    assert np.isclose(cover.upper, brute_force(V @ V.T, 2, False)[0], rtol=1e-5)


def test_whoever_watches_sees_every_cone_and_bounds_that_close():
    V = np.random.default_rng(6).standard_normal((50, 3))
    steps = []
    cover = cones.search(Query(V, 7), watch=steps.append)
    assert [step.number for step in steps] == list(range(cover.cones))
    assert [step.parent for step in steps[:8]] == [-1] * 8 and all(
        step.parent < step.number for step in steps
    )
    assert np.all(np.diff([step.ceiling for step in steps]) <= 1e-12) and np.all(
        np.diff([step.lower for step in steps]) >= 0
    )
    parents = {step.parent for step in steps}
    assert sum(step.number not in parents for step in steps) == np.sum(cover.tree == LEAF)


def test_a_search_reports_its_bounds_and_is_cancelled():
    V = np.random.default_rng(0).standard_normal((60, 6))
    query, budget = Query(V, 12, np.random.default_rng(1).random(60), 0.3), Budget(1e-4, cap=900)
    _, seen = cancelled(cones.search, query, budget, when=lambda seen: seen[-1].done > 400)
    best = cones.search(query, budget)
    assert best.cones > 600
    assert all(event.lower <= best.upper and event.upper >= best.lower for event in seen)
    assert [event.done for event in seen] == sorted(event.done for event in seen)


@pytest.mark.parametrize("nonneg", [True, False])
def test_margins_of_terms_are_no_less_than_those_of_the_checker(nonneg):
    """Also for heights below 0, which are prices, and for many rows: no claim at the edge is refused."""
    rng = np.random.default_rng(0)
    for trial in range(60):
        n, d = int(rng.integers(3, 400)), int(rng.integers(1, 4))
        k, tau = int(rng.integers(1, n)), float(rng.choice([0.0, 0.3]))
        V, h = rng.standard_normal((n, d)), rng.standard_normal(n) - (trial % 3)
        f = Objective(query := Query(V, k, h, tau, nonneg))
        margin, distance = margins(query, f)
        full = np.column_stack((V, np.full(n, tau**0.5))) if tau else V
        asked = TopSum(full, d, h, k, 0, nonneg)
        for F in (0.0, asked.mass, 2.5 * asked.mass):
            error = error_of(asked, F)
            assert margin >= error > 0
            assert distance >= 1.02 * f.D * (error + rounding.gamma(f.D + 8) * (asked.mass + F))


def test_cones_so_narrow_that_cholesky_fails_have_a_bound(monkeypatch):
    f = Objective(Query(np.random.default_rng(0).standard_normal((6, 2)), 2))
    same = np.array([np.eye(2), [[1.0, 1.0], [1.0, 1.0]]])
    bounds = f.whole(same)[1]
    assert np.isfinite(bounds).all() and bounds[0] > 0
    monkeypatch.setattr(np.linalg, "cholesky", lambda G: np.full_like(G, np.nan))
    blind = f.whole(same)[1]
    assert np.isfinite(blind[1]) and (blind >= bounds - 1e-12).all()  # an orthant has no other bound
