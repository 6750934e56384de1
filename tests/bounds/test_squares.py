"""Bounds by squares of the entries of A, for features that are nearly copies: brute force, the checker."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import nspca
from nspca.bounds.fixing.arrays import unpacked
from nspca.bounds.fixing.node import CAPPED, REDUCED, SQUARES, Supports
from nspca.bounds.fixing.squares import eliminated, root_of_squares
from nspca.checker import verify
from nspca.errors import CertificateError
from tests.bounds.test_fixing import made, optimum, tables
from tests.bounds.trees import tree_on
from tests.oracles import brute_force


def copies(seed, n=9, noise=1e-4, signs=False):
    """Return noisy copies of one feature, with noise of different size and on request both signs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 1)) + noise * rng.random(n) * rng.standard_normal((40, n))
    X /= np.linalg.norm(X - X.mean(axis=0), axis=0)
    return X * rng.choice([-1.0, 1.0], n) if signs else X


def searched(problem, lower):
    """Return a tree that only enumerates supports."""
    tree = tree_on(problem, lower)
    tree.begin(None, None, 0, work=1e6)
    return tree


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.long)])
def test_no_support_is_above_a_level_that_squares_prove(nonneg, count):
    """For nodes with some features fixed in and some out, at levels about their best supports."""
    proved = open_ = 0
    for number, (X, k, rng) in enumerate(tables(count, seed=70 + nonneg)):
        X = copies(number, X.shape[1], 0.5, signs=not nonneg) if number % 2 else X
        A = X.T @ X / len(X)
        n = len(A)
        for _ in range(3):
            order = rng.permutation(n)
            into, free = order[: rng.integers(0, k + 1)], order[k : k + rng.integers(1, n + 1)]
            if not into.size + free.size or into.size == k:
                continue
            rows, room = np.concatenate((into, free)), k - into.size
            sets = [(*into, *J) for J in combinations(free, min(room, free.size))]
            best = max(brute_force(A[np.ix_(S, S)], len(S), nonneg)[0] for S in sets)
            for v in best * np.array([0.99, 1 - 1e-9, 1.0001, 1.05, 1.3]):
                C, margin = eliminated(A[np.ix_(rows, rows)], into.size, float(v), len(X), nonneg)
                if C is None or not v:
                    continue
                root, each = root_of_squares(C, room, nonneg)
                assert each.shape == free.shape and margin >= 0
                if root + margin <= v:
                    assert v >= best
                proved, open_ = proved + (root + margin <= v), open_ + (root + margin > v)
    assert min(proved, open_) > count / 4


def test_the_sum_of_squares_is_the_largest_over_sets():
    """The sum of squares is that of any set when all features that are not fixed are equal."""
    C = np.full((6, 6), 0.3) + 0.2 * np.eye(6)
    for room in range(1, 7):
        root, _ = root_of_squares(C, room, False)
        assert root == pytest.approx(np.linalg.norm(C[:room, :room]))


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("covariance", [True, False])
def test_copies_are_told_apart_by_squares(nonneg, covariance):
    """Squares distinguish copies, whose eigenvalues but one nearly vanish, and the tree is read back."""
    used = 0
    for seed in range(8):
        X = copies(seed, signs=not nonneg)
        data, problem = made(X, 4, nonneg, np.random.default_rng(seed), covariance)
        values = optimum(problem.covariance.matrix, 4, nonneg, problem.forced)
        best = max(values.values())
        tree = searched(problem, best)
        certificate = tree.certificate()
        assert tree.proved <= best * (1 + 1e-9)
        assert certificate.upper >= best * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(data, certificate, problem) <= certificate.upper
        used += SQUARES in certificate.witness["branch"]
        forced = np.array(problem.forced, dtype=np.int64)
        supports = Supports(forced, np.setdiff1d(np.arange(9), forced), 4)
        again = unpacked(certificate.witness, supports, nonneg)
        for one, other in zip(tree.root.walk(), again.walk(), strict=True):
            assert one.code == other.code and other.upper <= tree.proved * (1 + 1e-12)
    assert used > 4


def test_copies_of_which_many_are_left_are_proved_optimal():
    """Without squares every set of ten of the thirty features would have to be looked at."""
    X = copies(1, 30, 1e-3)
    result = nspca.solve(nspca.Problem.from_data(X, 10), certify="exhaustive", nodes=20)
    assert result.status is nspca.Status.OPTIMAL
    nspca.verify(X, result.certificate)


def changed(certificate, **arrays):
    """Return the certificate with other arrays."""
    return replace(certificate, witness=dict(certificate.witness) | arrays)


def test_forged_squares_are_refused():
    X = copies(0)
    problem = nspca.Problem.from_data(X, 4)
    best = max(optimum(problem.covariance.matrix, 4, True).values())
    certificate = searched(problem, best).certificate()
    witness = certificate.witness
    assert SQUARES in witness["branch"] and verify(X, certificate) <= certificate.upper
    lower = changed(certificate, level=witness["level"] * (1 - 1e-7))
    with pytest.raises(CertificateError, match="squares do not prove"):
        verify(X, lower)
    with pytest.raises(CertificateError, match="is claimed, but only"):
        verify(X, replace(certificate, upper=certificate.upper * (1 - 1e-7)))
    with pytest.raises(
        CertificateError, match="squares do not prove"
    ):  # what holds with k = 4 is no bound for 5
        verify(X, replace(certificate, k=5))
    with pytest.raises(CertificateError):  # a code that has no meaning
        verify(X, changed(certificate, branch=np.where(witness["branch"] == SQUARES, -4, witness["branch"])))


@pytest.mark.parametrize("code", [SQUARES, REDUCED, CAPPED])
def test_squares_prove_nothing_of_sets_with_prices(code):
    """x'Ax less the prices of a set is not what squares bound: the code is refused in form `packing`."""
    X = copies(3, 6, 1e-2)
    problem = nspca.Problem.from_data(X, (2, 2))
    certificate = nspca.certify(problem, effort="exhaustive", nodes=20)
    witness = certificate.witness
    assert certificate.form == "packing"
    at = int(np.flatnonzero(np.asarray(witness["branch"]) == -1)[0])
    branch = np.array(witness["branch"])
    branch[at] = code
    before = int((branch[:at] == -1).sum() + np.asarray(witness["stages"])[: at + 1].sum())
    fewer = {name: np.delete(witness[name], before, axis=0) for name in ("use", "claims", "tau")}
    fewer = {} if code == CAPPED else fewer  # which has a use of its own
    with pytest.raises(CertificateError, match="with prices"):
        verify(X, changed(certificate, branch=branch, level=np.full(len(witness["level"]), 1e3), **fewer))
