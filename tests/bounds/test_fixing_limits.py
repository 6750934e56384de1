"""Limits of a tree: memory and number of workers do not change the bound that it proves."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import nspca
from nspca.bounds import search
from nspca.bounds.fixing import tree as tree_module
from nspca.bounds.fixing.stages import below
from nspca.bounds.plan import PLANS
from tests.bounds.test_fixing import branching, hard, lean  # noqa: F401  # fixtures
from tests.bounds.trees import tree_on
from tests.oracles import brute_force


def test_a_tree_ends_when_its_witnesses_take_the_memory_it_may_have(branching, monkeypatch):  # noqa: F811
    X, problem = hard()
    whole = nspca.certify(problem, effort="exhaustive", nodes=10)
    limit = whole.nbytes // 3
    monkeypatch.setattr(tree_module, "MOST_BYTES", limit)
    ended = nspca.certify(problem, effort="exhaustive", nodes=10)
    tree = sum(array.nbytes for array in ended.tree.values())
    assert len(ended.tree["branch"]) < len(whole.tree["branch"])
    assert tree <= 2.5 * limit  # the wave that reaches the limit is finished
    nspca.verify(X, ended, problem)


def many():
    """24 features, of which the first ones vary most and together, and the problem with k = 6."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 24)) * np.linspace(2, 1, 24)
    X += 2 * np.random.default_rng(3).standard_normal((60, 1)) * np.linspace(1, 0, 24)
    return X, nspca.Problem.from_data(X, 6)


def test_standard_effort_begins_a_tree_where_few_features_may_be_left(monkeypatch):
    """With more than `BRANCHED` features the lift comes first; without room for a tree it ends there."""
    monkeypatch.setattr(search, "BRANCHED", 16)
    X, problem = many()
    result = nspca.solve(problem, certify=None)
    tree = nspca.certify(problem, result, effort="standard")
    assert tree.form == "fixing" and tree.ratio(result.value) > 1 - 1e-8
    nspca.verify(X, tree, problem)
    monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], branching=0.0))
    lift = nspca.certify(problem, result, effort="standard")
    assert lift.form in ("inequality", "joint") and lift.upper > tree.upper


@pytest.mark.parametrize("nonneg", [True, pytest.param(False, marks=pytest.mark.visit)])
@pytest.mark.parametrize("count", [3, pytest.param(400, marks=pytest.mark.long)])
def test_trees_begun_at_once_or_in_a_lift_prove_no_bound_below_the_optimum(nonneg, count, monkeypatch):
    """Trees of standard and thorough effort begin here though more than `BRANCHED` features are undecided."""
    monkeypatch.setattr(search, "BRANCHED", 0)
    rng, forms = np.random.default_rng(70), {"standard": set(), "thorough": set()}
    for _ in range(count):
        X, k = rng.standard_normal((int(rng.integers(3, 20)), 9)), int(rng.integers(2, 6))
        X += rng.choice([0.0, 2.0]) * rng.standard_normal((len(X), 1))
        problem = nspca.Problem.from_data(X, k, nonneg)
        best = brute_force(problem.covariance.matrix, k, nonneg)[0] * problem.covariance.unit
        result = nspca.solve(problem, certify=None)
        for effort, found in forms.items():
            tree = nspca.certify(problem, result, effort=effort)
            assert tree.upper >= best * (1 - 1e-12)
            assert nspca.verify(X, tree, problem) <= tree.upper
            found.add(tree.form)
    assert all("fixing" in found for found in forms.values())


def test_a_tree_makes_no_steps_beyond_its_work(branching, monkeypatch):  # noqa: F811
    """A tree makes no more steps than its work allows, and splits no node with too many free features."""
    _, problem = hard()
    for limits in ({"entries": 1.0}, {"features": 2}):
        tree = tree_on(problem, 0.0, **limits)
        tree.begin(None, None, 3)
        made = tree.entries
        tree.run()
        assert tree.nodes == 1 and tree.entries == made and tree.root.upper > tree.target


def test_the_claim_of_a_stage_is_found_where_prices_and_eigenvalue_cancel():
    """A step of F was 1e-31 and the error to make good 1e-19: a search of several components did not end."""
    level, t, paid = 2.5537543416264882e-09, 0.00415857086564563, 0.004158568311890906
    rng = np.random.default_rng(0)
    cases = [(level, t, paid), *((float(a), float(b), float(b - a)) for a, b in rng.random((200, 2)))]
    for level, t, paid in cases:
        F = below(level, t, paid)
        most = Fraction(level) - Fraction(t) + Fraction(paid)
        assert Fraction(F) <= most < Fraction(float(np.nextafter(F, np.inf)))
