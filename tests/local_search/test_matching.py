"""The matching step against scipy's assignment on replicated columns: ties, zeros, differing sizes, just
enough features.
"""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from nspca.errors import InvalidProblem
from nspca.local_search import matching


def weights(rng, n, r, kind):
    """Return random weights, most kinds of which are degenerate on purpose."""
    if kind == "ties":
        return rng.integers(0, 4, (n, r)).astype(float)
    if kind == "zeros":
        return np.maximum(rng.standard_normal((n, r)), 0) ** 2
    if kind == "all against one":
        return np.outer(rng.random(n), rng.integers(1, 3, r))
    if kind == "scales apart":
        return rng.random((n, r)) * 10.0 ** rng.integers(-9, 9, (n, 1))
    return rng.random((n, r))


KINDS = ("uniform", "ties", "zeros", "all against one", "scales apart")


def cases(count):
    for i in range(count):
        rng = np.random.default_rng([4, i])
        sizes = rng.integers(1, 6, rng.integers(1, 6))
        n = int(sizes.sum() + rng.choice([0, 0, 1, 3, 10, 40]))
        yield weights(rng, n, sizes.size, KINDS[i % len(KINDS)]), sizes


def oracle(Q, sizes):
    slots = np.repeat(Q, sizes, axis=1)
    rows, columns = linear_sum_assignment(slots, maximize=True)
    return float(slots[rows, columns].sum())


def checked(Q, sizes):
    labels = matching.assign(Q, sizes)
    assert np.array_equal(np.bincount(labels[labels >= 0], minlength=len(sizes)), sizes)
    return labels


# Without prices the paths alone must find the optimum; with prices alone left over they start from any state.
@pytest.mark.parametrize("sweeps", [matching.SWEEPS, 1, 0])
def test_as_good_as_the_assignment_on_replicated_columns(monkeypatch, sweeps):
    monkeypatch.setattr(matching, "SWEEPS", sweeps)
    for Q, sizes in cases(150):
        labels = checked(Q, sizes)
        assert matching.total(Q, labels) == pytest.approx(oracle(Q, sizes), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_powers_of_two_change_nothing(scale):
    for Q, sizes in cases(40):
        assert np.array_equal(checked(Q, sizes), checked(Q * scale, sizes))


def test_ties_go_to_the_lowest_index():
    assert matching.assign(np.ones((7, 2)), (2, 3)).tolist() == [0, 0, 1, 1, 1, -1, -1]
    assert matching.assign(np.zeros((5, 2)), (1, 2)).tolist() == [0, 1, 1, -1, -1]
    Q = np.array([[1.0, 0], [3, 2], [3, 2], [3, 2], [0, 1]])
    assert np.flatnonzero(matching.assign(Q, (2, 1)) == 0).tolist() == [1, 2]


def nearly_tied(seed):
    """Return weights of few repeated rows that differ by about the tolerance between two paths."""
    rng = np.random.default_rng(seed)
    r, size = int(rng.integers(3, 9)), int(rng.integers(3, 16))
    n = r * size + int(rng.integers(0, 30))
    rows = max(2, n // int(rng.integers(2, 8)))
    Q = (rng.random((rows, r)) ** int(rng.integers(1, 6)))[rng.integers(0, rows, n)]
    return Q + 2.0 ** -int(rng.integers(46, 51)) * Q.max() * rng.random((n, r)), [size] * r


@pytest.mark.parametrize("seed", [1957, *range(4)])
def test_near_ties_are_matched_too(seed):
    Q, sizes = nearly_tied(seed)  # with the first seed a path meets a component twice
    assert matching.total(Q, checked(Q, sizes)) == pytest.approx(oracle(Q, sizes), rel=1e-12)


@pytest.mark.parametrize("sizes", [(3, 3), (1,), (0, 2), (1, 1, 1)])
def test_sizes_that_do_not_fit_are_named(sizes):
    with pytest.raises(
        InvalidProblem, match="matching needs 2 sizes of at least 1 that add up to at most n = 5, got"
    ):
        matching.assign(np.ones((5, 2)), sizes)
