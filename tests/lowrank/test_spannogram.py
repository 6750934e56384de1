"""Alg. 1 and 2 of the 2014 paper against brute force, dense sampling and direct evaluation, on problems
degenerate on purpose.
"""

import numpy as np
import pytest

from nspca.errors import InvalidProblem, Refused
from nspca.lowrank.spannogram import (
    candidate_supports,
    direction,
    exact_rank_d,
    intervals_rank2,
    most_candidates,
    solve_on_support,
)
from tests.cancelling import cancelled
from tests.makers import brute, brute_joint
from tests.oracles import brute_force, brute_force_joint, brute_force_pd
from tests.strategies import cases

CLOSE = 1e-9


def same(value, expected):
    return abs(value - expected) <= CLOSE * abs(expected)


def classes(V):
    """Return a name for each class of equal rows, none for zero rows; supports are unique up to these."""
    _, name = np.unique(V + 0.0, axis=0, return_inverse=True)
    return np.where(V.any(axis=1), name.ravel(), -1)


def as_sets(supports, names):
    return {tuple(sorted(names[i] for i in row if i >= 0)) for row in supports}


# The oracles, against a different way to find the same thing


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_oracles_are_those_of_the_checker(nonneg):
    for case in cases(60, n_max=6, seed=1):
        A = case.V @ case.V.T
        value, x = brute_force(A, case.k, nonneg)
        assert same(value, brute(A, case.k, nonneg)) and same(x @ A @ x, value)
        assert np.count_nonzero(x) <= case.k and np.isclose(np.linalg.norm(x), 1)
        assert not nonneg or (x >= 0).all()
        if len(A) > 2:
            value, X = brute_force_joint(A, (2, 1), nonneg)
            assert same(value, brute_joint(A, (2, 1), nonneg))
            assert same(np.einsum("ir,ij,jr->", X, A, X), value)
            assert (np.count_nonzero(X, axis=1) <= 1).all() and (np.count_nonzero(X, axis=0) <= (2, 1)).all()


# Exactness


@pytest.mark.parametrize("nonneg", [True, False])
def test_enumeration_equals_brute_force(nonneg):
    for i, case in enumerate(cases(80, n_max=8, seed=4)):
        x, value, count = exact_rank_d(case.V, case.k, nonneg)
        optimum, _ = brute_force(case.V @ case.V.T, case.k, nonneg)
        assert same(value, optimum), (i, case.kind, case.V.shape, case.k)
        assert same(np.square(case.V.T @ x).sum(), value) and np.isclose(np.linalg.norm(x), 1)
        assert np.count_nonzero(x) <= case.k and (not nonneg or (x >= 0).all())
        assert count >= 1


def test_near_ties_cost_no_more_than_the_tie_tolerance():
    """Integer rows moved by 1e-6 down to 1e-14: the sizes at which a tie is, or is not, seen."""
    for i in range(60):
        rng = np.random.default_rng([7, i])
        n, d = int(rng.integers(3, 9)), int(rng.integers(2, 4))
        V = rng.integers(-1, 3, (n, d)) + 10.0 ** -(6 + i % 9) * rng.standard_normal((n, d))
        k = int(rng.integers(1, n + 1))
        assert same(exact_rank_d(V, k).value, brute_force(V @ V.T, k)[0]), (i, n, d, k)


def sampled_sets(V, k, names, rng):
    """Return the sets that random c choose clearly: no tie at the k-th value, and no value near 0."""
    n, d = V.shape
    C = rng.standard_normal((150, d))
    even = (
        rng.standard_normal((150, n)) @ np.linalg.pinv(V, rcond=1e-9).T
    )  # even in the range of V, whatever its spectrum
    Y = np.concatenate([C, even]) @ V.T
    Y /= np.maximum(np.abs(Y).max(axis=1, keepdims=True), 1e-300)
    order = np.argsort(-Y, axis=1, kind="stable")
    Y, label = np.take_along_axis(Y, order, axis=1), names[order]
    clear = ((np.abs(Y) > 1e-8) | (label < 0)).all(axis=1)
    if k < n:
        clear &= (Y[:, k - 1] - Y[:, k] > 1e-8) | (label[:, k - 1] == label[:, k]) | (Y[:, k] < 0)
    chosen = np.where(Y > 0, label, -1)[clear, :k]
    return [tuple(name for name in row if name >= 0) for row in np.sort(chosen, axis=1).tolist()]


def test_no_support_is_missed_by_dense_sampling():
    checked = set()
    for i, case in enumerate(cases(160, seed=6)):
        names = classes(case.V)
        found = as_sets(candidate_supports(case.V, case.k), names)
        sampled = sampled_sets(case.V, case.k, names, np.random.default_rng([8, i]))
        assert found.issuperset(sampled), (i, case.kind, case.V.shape, case.k)
        checked |= {(i, one) for one in sampled}
    assert len(checked) > 700  # distinct sets


def test_general_position_attains_every_candidate_and_keeps_the_papers_bound():
    """Alg. 2 counts no set twice and none that no c chooses: in rank 2, as many sets as a fine grid sees."""
    for i in range(15):
        rng = np.random.default_rng([9, i])
        n, d = int(rng.integers(2, 10)), int(rng.integers(1, 4))
        V, k = rng.standard_normal((n, d)), int(rng.integers(1, n + 1))
        supports = candidate_supports(V, k)
        assert len(supports) == len(np.unique(supports, axis=0)) <= most_candidates(n, d, k)
        sampled = {
            tuple(np.sort(np.argsort(-y)[:k][np.sort(-y)[:k] < 0]))
            for y in rng.standard_normal((3000, d)) @ V.T
        }
        found = as_sets(supports, np.arange(n))
        assert sampled <= found
        assert d == 3 or len(found) <= len(sampled) + 1


# (P_d)


def test_solve_on_support_equals_all_active_sets_and_is_never_passed_by_sampling():
    infeasible = inside = 0
    for i, case in enumerate(cases(160, n_max=6, ranks=(1, 2, 3, 4), seed=14)):
        R = case.V / max(np.abs(case.V).max(), 1e-300)
        value, c = solve_on_support(R)
        expected, _ = brute_force_pd(R)
        if c is None:
            infeasible += 1
            assert value == -np.inf and expected == -np.inf, (i, case.kind)
            continue
        assert abs(value - expected) <= 1e-8 * expected + 1e-14, (i, case.kind, value, expected)
        length = np.linalg.norm(R, axis=1)
        assert np.isclose(np.linalg.norm(c), 1) and (R @ c >= -1e-9 * length - 1e-11).all()
        C = np.random.default_rng(i).standard_normal((500, len(c)))
        C = C[(C @ R.T >= 0).all(axis=1)]
        inside += len(C) > 0
        reached = np.square(C @ R.T).sum(axis=1) / np.square(C).sum(axis=1)
        assert reached.max(initial=0) <= value * (1 + 1e-8) + 1e-14
    assert infeasible > 4 and inside > 40


# Rank 2, for the page


def test_intervals_of_rank_two_are_what_direct_evaluation_sees():
    for i, case in enumerate(cases(40, n_max=10, ranks=(2,), seed=15)):
        V, k = case.V, case.k
        names = classes(V)
        found = intervals_rank2(V, k)
        for sign, band in ((1, found.positive), (-1, found.negative)):
            assert (
                band.edges[0] == -np.pi / 2
                and band.edges[-1] == np.pi / 2
                and (np.diff(band.edges) > 0).all()
            )
            assert (band.supports[1:] != band.supports[:-1]).any(axis=1).all()
            phi = (np.arange(120) + 0.5) * np.pi / 120 - np.pi / 2
            at = np.searchsorted(band.edges, phi) - 1
            scale = max(np.square(V).sum(), 1e-300)
            for one, where in zip(phi, at, strict=True):
                y = sign * V @ direction(one)
                support = band.supports[where][band.supports[where] >= 0]
                assert (names[support] >= 0).all() and len(set(support)) == len(support)
                best = np.square(np.sort(np.maximum(y, 0))[::-1][:k]).sum()
                assert abs(np.square(np.maximum(y[support], 0)).sum() - best) <= 1e-9 * scale, (
                    i,
                    case.kind,
                    one,
                )
                assert best <= band.peak_value[where] + 1e-9 * scale
            top = np.square(
                np.sort(np.maximum(sign * direction(band.peak_phi) @ V.T, 0), axis=1)[:, ::-1][:, :k]
            ).sum(axis=1)
            assert np.allclose(top, band.peak_value, atol=1e-9 * scale, rtol=0)
        assert same(found.value, exact_rank_d(V, k).value), (i, case.kind)
        top = found.positive if found.sign > 0 else found.negative
        assert (
            found.value
            == top.peak_value.max()
            == max(found.positive.peak_value.max(), found.negative.peak_value.max())
        )


def test_thousands_of_curves_that_are_never_on_top_are_left_out():
    rng = np.random.default_rng(17)
    V = rng.standard_normal((6000, 2)) * np.where(np.arange(6000) < 200, 1.0, 0.01)[:, None]
    found = intervals_rank2(V, 10)
    assert same(found.value, intervals_rank2(V[:200], 10).value)
    with pytest.raises(Refused, match=r"at most 2000 curves, but \d+ of 6000 .* raster"):
        intervals_rank2(rng.standard_normal((6000, 2)), 2500)


# Refusal, cancel, bad input


def test_refusal_gives_the_number_and_names_cone():
    V = np.random.default_rng(18).standard_normal((2000, 3))
    with pytest.raises(Refused, match=r"2000 curves in 3 directions .* 1,333,333,000\D.*'cone'"):
        exact_rank_d(V, 10)
    # what counts is what is there: the same many rows, but few different ones, or rank 1
    assert exact_rank_d(V[np.arange(2000) % 20], 10).value > 0
    assert exact_rank_d(V[:, :1] * np.ones(3), 10).value > 0


def test_cancel_stops_at_the_first_report_and_in_either_stage():
    V = np.random.default_rng(19).standard_normal((30, 3))
    stages = []
    exact_rank_d(V, 5, report=lambda event: stages.append((event.stage, event.done, event.total)))
    assert {"intersections", "supports"} == {stage for stage, _, _ in stages}
    assert all(0 <= done <= total for _, done, total in stages)
    for stop in ("intersections", "supports"):
        _, seen = cancelled(exact_rank_d, V, 5, when=lambda seen, stop=stop: seen[-1].stage == stop)
        assert [event.stage for event in seen].count(stop) == 1


@pytest.mark.parametrize("k", [0, -1, 6])
def test_bad_k_is_one_sentence(k):
    V = np.ones((5, 2))
    for function in (exact_rank_d, intervals_rank2, candidate_supports):
        with pytest.raises(InvalidProblem, match=f"between 1 and n = 5, got {k}"):
            function(V, k)


def test_intervals_want_two_columns():
    with pytest.raises(InvalidProblem, match="two columns"):
        intervals_rank2(np.ones((5, 3)), 2)


def test_nothing_but_zeros_still_gives_a_unit_vector():
    for nonneg in (True, False):
        x, value, _ = exact_rank_d(np.zeros((4, 2)), 2, nonneg)
        assert value == 0 and np.array_equal(x, [1, 0, 0, 0])
    assert intervals_rank2(np.zeros((4, 2)), 2).value == 0
