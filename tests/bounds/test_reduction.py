"""Reduced nodes: features that are in are eliminated, and the tree goes on with what is left of A."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from benchmarks import fixings
from nspca.bounds.fixing import eigenvalues, settle
from nspca.bounds.fixing.node import CAPPED, REDUCED
from nspca.bounds.fixing.reduction import reduce
from nspca.errors import CertificateError
from tests.bounds.test_fixing import lean, made, optimum, tables, tree_of  # noqa: F401  # fixture

FORCED = 2
"""Features that are in from the beginning, so that every root is reduced."""


@pytest.fixture
def reducing(monkeypatch):
    """Switch off enumeration, and reduce each node that has a feature in before its lift begins."""
    refine = settle.refine

    def reduced_first(own, task):
        if task.reducing:
            reduce(own)
        if not own.done:
            refine(own, task)

    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    monkeypatch.setattr(settle, "refine", reduced_first)


def problems(count, seed, nonneg):
    """Yield problems with forced features, their data and best value; some have ties, copies or one sign."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        X, k = rng.standard_normal((int(rng.integers(3, 20)), 9)), int(rng.integers(4, 7))
        kind = number % 4
        X = np.round(2 * X) if kind == 1 else np.abs(X) if kind == 2 else X
        X[:, 1] = X[:, 0] if kind == 3 else X[:, 1]
        forced = tuple(sorted(map(int, rng.choice(9, FORCED, replace=False))))
        problem = nspca.Problem.from_data(X, k, nonneg, center=False, forced=forced)
        yield X, problem, max(optimum(problem.covariance.matrix, k, nonneg, forced).values()), rng


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize(("count", "more"), [(4, 1), pytest.param(600, 2, marks=pytest.mark.long)])
def test_trees_of_reduced_nodes_prove_no_bound_below_the_optimum(reducing, nonneg, count, more):
    """At levels about the optimum; whatever is stopped early is a certificate too, and can be read back."""
    reduced = capped = 0
    for X, problem, best, rng in problems(count, 54 + nonneg, nonneg):
        if not best:
            continue
        shares = (1.0, 0.9)[: 1 + int(rng.integers(2))]
        for share in shares if count > 4 else shares[-1:]:
            tree = tree_of(problem, share * best, rng, rounds=1, nodes=int(rng.choice([1, 3, 6 * more])))
            proof = tree.certificate()
            assert proof.upper >= best * problem.covariance.unit * (1 - 1e-9)
            nspca.verify(X, proof, problem)
            codes = proof.witness["branch"]
            reduced, capped = reduced + (codes == REDUCED).sum(), capped + (codes == CAPPED).sum()
            on = nspca.certify(problem, effort="exhaustive", resume=proof, nodes=more)
            assert on.upper >= best * problem.covariance.unit * (1 - 1e-9)
            nspca.verify(X, on, problem)
    assert reduced > count / 8 and capped > count / 8


@pytest.mark.parametrize("count", [6, pytest.param(40, marks=pytest.mark.long)])
def test_certificates_are_accepted_where_a_better_answer_is_found_below_a_reduced_node(reducing, count):
    """Bounds of later nodes are then about another C, and nodes that are branched on have fewer features."""
    branched = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((5, 4))
        problem = nspca.Problem.from_data(X, 3, nonneg=True, center=False, forced=(0,))
        best = max(optimum(problem.covariance.matrix, 3, True, (0,)).values())
        proof = tree_of(problem, 0.9 * best, rng, rounds=0, nodes=12).certificate()
        nspca.verify(X, proof, problem)
        codes = proof.witness["branch"]
        branched += np.isin(codes, (REDUCED, CAPPED)).any() and (codes >= 0).any()
    assert branched > count / 4


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.long)])
def test_a_search_goes_on_with_A_where_what_is_left_of_it_says_too_little(reducing, count):
    """With all features decided a bound on C may be above the level, and nothing is left to branch on.

    What stays open is a decided support of A, as the fixture lets nobody look at its eigenvalue.
    """
    restored = 0
    for X, problem, best, rng in problems(count, 80, True):
        tree = tree_of(problem, best, rng, rounds=1)
        proof = tree.certificate()
        nspca.verify(X, proof, problem)
        assert proof.upper <= best * problem.covariance.unit * (1 + 1e-3)
        left = [one.supports for one in tree.root.walk() if one.leaf is not None and one.upper > tree.target]
        assert not any(one.gone.size or one.possible.size for one in left)
        restored += not tree.reducing
    assert restored > count / 5


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [4, pytest.param(12, marks=pytest.mark.long)])
def test_no_feature_is_fixed_wrongly_below_a_reduced_node(reducing, nonneg, count):
    total = np.zeros(2, dtype=int)
    for _, problem, best, rng in problems(count, 60 + nonneg, nonneg):
        A = problem.covariance.matrix
        oracle = fixings.Oracle(fixings.values_of_sets(A, nonneg), problem.n, problem.size)
        tree = tree_of(problem, best, rng, rounds=1, nodes=3)
        total += fixings.wrong_fixings(tree.root, tree.all_sets(), oracle)
    assert total[0] > 0.8 * count and total[1] == 0


@pytest.mark.parametrize("count", [3, pytest.param(16, marks=pytest.mark.long)])
def test_forged_reduced_nodes_are_refused_or_still_true(reducing, count):
    """Levels, claims, codes and features that were changed: a bound below the optimum is never accepted."""
    tried = refused = 0
    for X, problem, best, rng in problems(count, 70, True):
        proof = tree_of(problem, best, rng, rounds=1, nodes=3).certificate()
        codes = proof.witness["branch"]
        if not best or not np.isin(codes, (REDUCED, CAPPED)).any():
            continue
        for _ in range(20):
            arrays = {name: array.copy() for name, array in proof.witness.items()}
            name = str(rng.choice(["level", "claims", "branch", "features", "W", "tau"]))
            if not arrays[name].size:
                continue
            at = tuple(int(rng.integers(size)) for size in arrays[name].shape)
            if name == "branch":
                arrays[name][at] = rng.choice([-1, -2, -3, -4, -5, int(rng.integers(problem.n))])
            elif name == "features":
                arrays[name][at] = rng.integers(problem.n)
            else:
                arrays[name][at] *= rng.choice([0.0, 0.5, 0.9, 0.999, 1.1])
            bound = max(arrays["level"][0], 0.0) * problem.covariance.unit
            upper = min(proof.upper, max(bound, 0.97 * best * problem.covariance.unit))
            forged, tried = replace(proof, witness=arrays, upper=float(upper)), tried + 1
            try:
                nspca.verify(X, forged, problem)
            except CertificateError:
                refused += 1
            else:
                assert forged.upper >= best * problem.covariance.unit * (1 - 1e-9)
    assert tried > 6 * count and refused > tried / 4
