"""Progress of a search for the optimum: its bounds hold, and features called certain or impossible are."""

import functools
from itertools import combinations

import numpy as np
import pytest

import nspca
from nspca.api import prove_optimum
from nspca.bounds.fixing import eigenvalues, lifts
from nspca.bounds.fixing import settle as settling
from nspca.bounds.fixing.fates import fates, hexed, unhexed
from nspca.bounds.fixing.node import Supports
from nspca.specs.optimum import Standing
from tests.cancelling import cancelled
from tests.oracles import brute_force


@pytest.fixture(autouse=True)
def branching(monkeypatch):
    """Give lifts few dimensions, and enumerate no small problem, so that searches branch."""
    monkeypatch.setattr(lifts, "RANK", 1)
    monkeypatch.setattr(settling, "FIX_CAP", 100)
    monkeypatch.setattr(eigenvalues, "COUNTED", 2)


def supports_above(problem, level):
    """Return the values above a level by the features of their answers, from all supports by brute force."""
    A, k = problem.covariance.matrix * problem.covariance.unit, problem.size
    found = {}
    for support in combinations(range(problem.n), k):
        value, x = brute_force(A[np.ix_(support, support)], k, problem.nonneg)
        if value > level:
            found[tuple(np.array(support)[x != 0].tolist())] = value
    return found


@functools.cache
def searched(nonneg, seed, branched=None):
    """The events of a search that begins with a poor answer, and its outcome; tests only read them.

    `branched` tells searches with other settings apart.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 7)) + (0.4 if nonneg else 0.0)
    problem = nspca.Problem.from_data(X, k=3, nonneg=nonneg)
    poor = nspca.Result.of(problem, np.eye(7)[:, 0], nspca.Status.HEURISTIC, "auto")
    events = []
    return problem, events, prove_optimum(problem, poor, events.append), X, poor


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.visit) for seed in (1, 2, 3))])
def test_no_better_answer_is_ruled_out_and_no_bound_is_too_small(nonneg, seed):
    problem, events, found, X, poor = searched(nonneg, seed)
    better = supports_above(problem, poor.value)
    optimum = max(better.values())
    assert found.value == pytest.approx(optimum) and found.status is nspca.Status.OPTIMAL
    assert found.value > poor.value and found.info["found_by"] == "certificate"
    nspca.verify(X, found.certificate, problem)
    assert all(event.upper >= optimum * (1 - 1e-12) for event in events if event.upper is not None)
    standings = [(event, Standing.of(event, problem.n)) for event in events]
    standings = [(event, standing) for event, standing in standings if standing is not None]
    assert standings
    for event, standing in standings:
        left = [set(s) for s, value in better.items() if value > event.lower * (1 + 1e-6)]
        certain, possible = (
            set(np.flatnonzero(mask).tolist()) for mask in (standing.certain, standing.possible)
        )
        assert all(certain <= support <= possible for support in left)
    last = standings[-1][1]
    assert not last.possible.any() and not last.certain.any() and last.open == 0


def test_a_search_that_is_cancelled_keeps_the_better_answer():
    problem, events, _, X, poor = searched(True, 0)
    count = next(i for i, event in enumerate(events) if (event.lower or 0) > poor.value)
    kept = cancelled(prove_optimum, problem, poor, when=lambda seen: len(seen) > count)[0].result
    assert kept.value > poor.value
    assert nspca.verify(X, kept.certificate, problem) >= kept.value
    again = prove_optimum(problem, kept, resume=kept.certificate)
    assert again.status is nspca.Status.OPTIMAL


def test_features_are_certain_when_all_open_parts_have_them():
    parts = [Supports(np.array([0]), np.array([1, 2]), 2), Supports(np.array([0, 1]), np.array([3]), 2)]
    certain, possible = fates(parts, 5)
    assert certain.tolist() == [True, False, False, False, False]
    assert possible.tolist() == [True, True, True, False, False]  # no room is left for 3
    assert not any(mask.any() for mask in fates([], 5))


@pytest.mark.parametrize("n", [1, 8, 9, 361])
def test_masks_are_sent_as_digits(n):
    mask = np.random.default_rng(n).random(n) < 0.5
    assert np.array_equal(unhexed(hexed(mask), n), mask)
    for text in ("", hexed(mask) + "00", "zz"):
        with pytest.raises(ValueError):
            unhexed(text, n)
