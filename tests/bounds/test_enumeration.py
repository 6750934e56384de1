"""Enumerations of the supports of a node by eigenvalues: against brute force and the checker."""

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.eigenvalues import Parts, count, take_up
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Supports
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.plan import PLANS
from tests.bounds.test_fixing import made, optimum, tables
from tests.bounds.trees import tree_on


def begun(problem, supports, lower, prices=None):
    """Return the state of a search on some supports before its first step."""
    ground = Ground.of(problem, elimination.all_rows(problem), prices)
    own = Bounding.of(ground, Task(supports, None, None, lower, 1e-9, PLANS["fast"]))
    own.kept = ground.kept(supports)
    return own


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("cases", [40, pytest.param(1500, marks=pytest.mark.long)])
def test_an_enumeration_closes_a_node_just_when_no_support_is_better(nonneg, cases):
    """At a level below the best support it finds that support, and hands in a tree that the checker takes."""
    closed = 0
    for number, (X, k, rng) in enumerate(tables(cases, seed=90 + nonneg)):
        data, problem = made(X, k, nonneg, rng, covariance=number % 2 == 0)
        values = optimum(problem.covariance.matrix, k, nonneg, problem.forced)
        best = max(values.values())
        lower = float(best * rng.choice([1.0, 0.9]))
        tree = tree_on(problem, lower)
        tree.begin(None, None, 0, work=1e9)
        certificate = tree.certificate()
        assert tree.lower <= best * (1 + 1e-9)
        assert certificate.upper >= best * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(data, certificate, problem) <= certificate.upper
        if tree.proved <= tree.target:
            closed += 1
            assert tree.proved >= best * (1 - 1e-9)
    assert closed > cases / 2


def test_an_enumeration_ends_at_its_limit(monkeypatch):
    tried, undecided = [], Parts.undecided
    monkeypatch.setattr(Parts, "undecided", lambda self, node: tried.append(1) or undecided(self, node))
    problem = nspca.Problem.from_data(np.random.default_rng(1).standard_normal((60, 14)), 5, nonneg=False)
    whole = Supports(np.zeros(0, dtype=np.int64), np.arange(14), 5)
    best = max(optimum(problem.covariance.matrix, 5, False).values())
    assert count(begun(problem, whole, best), 10**6) is not None
    parts = len(tried)
    tried.clear()
    assert count(begun(problem, whole, best), parts - 1) is None and len(tried) == parts - 1 > 11


def test_supports_beyond_the_largest_float_are_not_enumerated():
    supports = Supports(np.zeros(0, dtype=np.int64), np.arange(4000), 1500)
    assert supports.count == np.inf
    X = np.random.default_rng(0).standard_normal((20, 6))
    own = begun(nspca.Problem.from_data(X, 2), Supports(np.zeros(0, dtype=np.int64), np.arange(6), 2), 0.0)
    take_up(own)
    assert own.supports.count == 15
