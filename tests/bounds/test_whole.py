"""Witnesses of cores on rows without weights: against brute force, eigenvalues and the checker."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination, rows, search
from nspca.bounds.elimination import peaks
from nspca.bounds.fixing import settle, stages
from nspca.bounds.fixing.arrays import packed
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.fixing.whole import without_weights
from nspca.bounds.plan import PLANS
from nspca.bounds.search import Search
from nspca.bounds.witness import Witness, largest, lifted
from nspca.certificate import Certificate
from tests.bounds.test_core import made, some_witness, table
from tests.bounds.trees import tree_on
from tests.oracles import brute_force, brute_force_forced
from tests.strategies import counts


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [5, pytest.param(400, marks=pytest.mark.long)])
def test_a_tree_that_begins_with_the_witness_of_a_core_loses_no_answer(nonneg, count):
    """The witness on the rows of a tree claims no more than on those of the core, but for storage in float32.

    The checker accepts the trees that begin with it, and brute force finds nothing above their bounds.
    """
    rng, made_so = np.random.default_rng(3 + nonneg), 0
    for _ in range(count):
        n = int(rng.integers(3, 11))
        X, k = table(rng, n), int(rng.integers(1, n + 1))
        forced = tuple(sorted(rng.choice(n, size=k - 1, replace=False).tolist()))
        forced = forced if rng.random() < 0.2 else ()
        problem = nspca.Problem.from_data(X, k, nonneg, forced=forced)
        _, _, kept = made(problem, rng)
        if kept is None or not len(kept.block) or kept.weights is None:
            continue
        stored = Stored.of(kept.features, some_witness(kept, problem, rng))
        found = without_weights(problem, kept, stored)
        if found is None:
            continue
        rows, witness = found
        made_so += 1
        entries = peaks(problem.covariance, nonneg)[0]
        others = np.setdiff1d(np.arange(n), rows.features)
        assert rows.free == others.size and (entries[others] <= rows.floor).all()
        t = max(largest(kept, stored.at(kept.features)), kept.outside)
        assert largest(rows, witness.at(rows.features)) <= t + 1e-4 * problem.covariance.trace
        best = brute_force_forced(problem.covariance.matrix, k, forced, nonneg)
        lower = best * float(rng.choice([1.0, 0.9]))
        tree = tree_on(problem, lower, rows, replace(PLANS["fast"], cap=200), nodes=3)
        tree.begin(witness, None, 1)
        tree.run()
        certificate = tree.certificate()
        assert certificate.upper >= best * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(X, certificate, problem) <= certificate.upper
    assert made_so > count / 3


@pytest.mark.parametrize("nonneg", [True, False])
@counts(40, 600)
def test_a_feature_is_fixed_in_only_where_no_better_answer_lacks_it(nonneg, count):
    """Without a feature that `fix_needed` fixes in, brute force finds no better answer.

    The checker accepts the trees, whose bounds are not below the optimum.
    """
    rng, fixed, refused = np.random.default_rng(7 + nonneg), 0, 0
    for _ in range(count):
        n = int(rng.integers(3, 10))
        X, k = table(rng, n), int(rng.integers(1, n))
        X[:, : k // 2] *= 3.0
        forced = (int(rng.integers(n)),) if rng.random() < 0.3 else ()
        problem = nspca.Problem.from_data(X, k, nonneg, forced=forced)
        A = problem.covariance.matrix
        best = brute_force_forced(A, k, forced, nonneg)
        lower = best * float(rng.choice([1.0, 0.9, 1.1]))  # the last is a level that no answer reaches
        ground = Ground.of(problem, elimination.keep(problem, n))
        stated = np.array(forced, dtype=np.int64)
        supports = Supports(stated, np.setdiff1d(ground.everything, stated), k)
        task = Task(supports, None, None, lower, 0.0, replace(PLANS["fast"], cap=200))
        own = Bounding.of(ground, task)
        own.kept, own.cap = ground.kept(supports), 40
        W = np.minimum(own.kept.block, np.quantile(own.kept.block, 0.7) if nonneg else np.inf)
        W = W if nonneg else np.clip(W, -1, 1) * float(np.quantile(np.abs(W), 0.3))
        witness, _ = lifted(own.kept, Witness(W), 2)
        own.points = np.eye(len(own.kept.block))
        stored = Stored.of(own.kept.features, witness)
        own.claim(stored)
        while not own.done and stages.fix_needed(own):
            own.claim(stored)
        needed = np.setdiff1d(np.concatenate([stated[:0], *(one.into for one in own.stages)]), stated)
        assert not any(one.out.size for one in own.stages)
        for j in needed:
            without = np.setdiff1d(np.arange(n), [j])
            less = A[np.ix_(without, without)]
            at = tuple(np.searchsorted(without, stated).tolist())
            assert brute_force_forced(less, k, at, nonneg) <= lower * (1 + 1e-12)
        fixed, refused = fixed + needed.size, refused + (needed.size == 0)
        own.priced = None
        settle.prove_leaf(own)
        node = Node(own.supports, own.stages, None if own.supports.is_empty else own.best)
        arrays, upper = packed(node)
        certificate = Certificate.of(problem, "B8", "fixing", max(upper, lower), arrays)
        assert certificate.upper >= min(best, lower) * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(X, certificate, problem) <= certificate.upper
    assert fixed > count / 10 and refused > count / 10


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_core_of_few_features_begins_no_tree_without_its_witness(nonneg):
    rng, found = np.random.default_rng(8 + nonneg), 0
    for _ in range(6):
        n = int(rng.integers(4, 9))
        X, k = table(rng, n), int(rng.integers(1, n))
        problem = nspca.Problem.from_data(X, k, nonneg)
        _, _, kept = made(problem, rng)
        if kept is None or kept.weights is None:
            continue
        best = brute_force(problem.covariance.matrix, k, nonneg)[0]
        limits = Limits(nodes=3) if rng.random() < 0.5 else None
        effort = replace(PLANS["thorough"], ranks=(1, 1), passes=2, rounds=2, cap=500)
        run = Search(problem, effort, best, limits=limits)
        run.improve(run.dual(kept, effort))
        if run.best is not None:
            assert nspca.verify(X, run.best, problem) >= best * problem.covariance.unit * (1 - 1e-12)
            found += 1
    assert found > 1


def test_a_search_for_the_optimum_begins_in_the_lift_of_a_core(monkeypatch):
    """Features outside the core are small in this table, and the witness of the core fixes them all out."""
    rng, opening = np.random.default_rng(0), search.opening
    X = rng.standard_normal((30, 260)) * np.where(np.arange(260) < 40, 3.0, 0.4)
    X[:, :12] += 4.0 * rng.standard_normal((30, 1))
    monkeypatch.setattr(rows, "MOST_ROWS", 20)
    monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], rows=(50,)))
    monkeypatch.setattr(search, "opening", lambda plan: replace(opening(plan), cores=(60,)))
    began, claim = [], Bounding.claim

    def counted(own, *given):
        began.append(own.kept.free)
        claim(own, *given)

    monkeypatch.setattr(Bounding, "claim", counted)
    problem = nspca.Problem.from_data(X, 10)
    result = nspca.solve(problem, certify="exhaustive", seconds=100)
    assert began[0] and result.status is nspca.Status.OPTIMAL
    assert nspca.verify(X, result.certificate, problem) >= result.value
