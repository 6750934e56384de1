"""A lift goes on with fewer rows, and a node whose features were fixed has a bound of what is left."""

from itertools import combinations

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination
from nspca.bounds.fixing import eigenvalues
from nspca.bounds.fixing import settle as settling
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Supports
from nspca.bounds.fixing.settle import settle
from nspca.bounds.fixing.stored import none
from nspca.bounds.fixing.tasks import OutOfTime, Task
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import spectral_half
from nspca.progress import silent
from tests.oracles import brute_force

PLAN = PLANS["fast"]


def best(A, k, nonneg, into=()):
    """Return the largest value of supports of k features with the features that are in, by brute force."""
    others = [i for i in range(len(A)) if i not in into]
    sets = [(*into, *I) for I in combinations(others, min(k, len(A)) - len(into))]
    return max(brute_force(A[np.ix_(I, I)], len(I), nonneg)[0] for I in map(list, sets))


def node_problem(seed, n=10, k=4):
    """Return a problem in which some features are fixed quickly and others are not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, n)) * np.linspace(2.0, 0.3, n)
    return X, nspca.Problem.from_data(X, k, nonneg=bool(seed % 2))


@pytest.mark.parametrize("seed", range(4))
def test_a_node_left_when_features_have_just_been_fixed_has_a_leaf_of_what_is_left(seed, monkeypatch):
    """The time is over between a fixing and the next bound: the tree is a certificate all the same."""
    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    X, problem = node_problem(seed)
    optimum = best(problem.covariance.matrix, 4, problem.nonneg)
    lower = optimum * (1 - 1e-3 * (seed > 1))
    tree = FixingTree(problem=problem, plan=PLAN, lower=lower, gap=1e-9, limits=Limits(),
                      ground=Ground.of(problem, elimination.all_rows(problem)))  # fmt: skip
    task = Task(tree.whole(), None, None, lower, 1e-9, PLAN, rounds=6, partial=True)

    def over(supports, lower, answer):
        raise OutOfTime

    tree.root = settle(tree.ground, task, silent, over).node
    assert tree.root.stages and (tree.root.leaf is not None or tree.root.supports.is_empty)
    certificate = tree.certificate()
    assert nspca.verify(X, certificate, problem) <= certificate.upper
    assert certificate.upper >= optimum * problem.covariance.unit * (1 - 1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(6, marks=pytest.mark.visit)])
def test_a_lift_on_few_rows_ends(n, monkeypatch):
    """Nothing is fixed or enumerated, and no value closes the node: all rounds are made."""
    for module, name in ((eigenvalues, "COUNTED"), (settling, "FIX_CAP")):
        monkeypatch.setattr(module, name, 0)
    X = np.random.default_rng(n).standard_normal((20, n))
    problem = nspca.Problem.from_data(X, n - 1, nonneg=False)
    ground = Ground.of(problem, elimination.all_rows(problem))
    whole = Supports(np.zeros(0, dtype=np.int64), np.arange(n), n - 1)
    lower = 0.9 * best(problem.covariance.matrix, n - 1, False)
    monkeypatch.setattr(Bounding, "reach", lambda self, features: None)
    rounds = []
    monkeypatch.setattr(settling, "remember", lambda own, lift: rounds.append(lift))
    task = Task(whole, None, None, lower, 1e-9, PLAN, rounds=2)
    node = settle(ground, task, silent).node
    assert node.leaf is not None and node.upper >= lower / 0.9 * (1 - 1e-12)
    assert 1 <= len(rounds) <= 4 * 2 * settling.FEWEST


def test_a_root_that_an_enumeration_closes_at_once_is_a_leaf():
    """The level lies between two proved values of one eigenvalue, whose estimates differ by rounding."""
    found = 0
    for seed in range(40):
        X = np.random.default_rng(seed).standard_normal((5, 6))
        problem = nspca.Problem.from_data(X, 3, center=False)
        kept = elimination.all_rows(problem)
        value = float(np.linalg.eigvalsh(kept.block)[-1])
        without = none(kept.features)
        rough, close = (spectral_half(problem, kept, without, estimate) for estimate in (None, value))
        if rough > close:
            found += 1
            tree = FixingTree(problem=problem, plan=PLANS["fast"], lower=close, gap=0.0,
                              ground=Ground.of(problem, kept), limits=Limits(nodes=1))  # fmt: skip
            tree.begin(None, None, 0, work=1e6)
            certificate = tree.certificate()
            assert nspca.verify(X, certificate, problem) <= certificate.upper
    assert found
