"""A lift goes on with fewer rows, and a node whose features were fixed has a bound of what is left."""

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination
from nspca.bounds.dual.lift import add_lift
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.starts import begin_lift
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing import eigenvalues
from nspca.bounds.fixing import settle as settling
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Supports, Warm
from nspca.bounds.fixing.settle import settle
from nspca.bounds.fixing.stored import Stored, none
from nspca.bounds.fixing.tasks import OutOfTime, Task
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import Witness, prove, spectral_half
from nspca.lowrank.cones import Budget
from nspca.progress import silent
from tests.bounds.trees import tree_on
from tests.oracles import brute_force, brute_force_forced

PLAN = PLANS["fast"]


def advance(lift, steps):
    for step in range(steps):
        lift.splitting.step()
        lift.remember(afresh=not step)
        if step % 5 == 4:
            lift.grow()


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_bound_on_fewer_rows_is_one_and_the_lift_before_is_left_as_it_was(nonneg):
    """Supports that lack some features and have others, of problems with ties and columns of zeros."""
    rng = np.random.default_rng(5)
    for number in range(12):
        n = int(rng.integers(3, 10))
        Z, k = np.round(2 * rng.standard_normal((12, n))), int(rng.integers(1, n))
        Z[:, -1] = Z[:, 0] if number % 3 == 0 else 0.0 if number % 3 == 1 else Z[:, -1]
        problem = nspca.Problem.from_data(Z, k, nonneg, center=False)
        splitting, counts = Splitting(elimination.all_rows(problem), k, nonneg), ((k, 1),)
        lift = add_lift(splitting, np.eye(n)[:, :2], [np.eye(n)[:, :1]], counts, wait=5)
        advance(lift, 20)
        before = lift.splitting.X.copy(), lift.cuts.T.copy(), lift.B.copy()
        left = rng.permutation(n)[: int(rng.integers(max(1, n - 3), n + 1))]
        fixed = int(rng.integers(0, min(k, left.size) + 1))
        rows = np.concatenate((np.sort(left[:fixed]), np.sort(left[fixed:])))
        kept = Kept(rows, problem.covariance.block(rows), 0.0, fixed=fixed)
        if not kept.block.any():
            continue
        witness, warm = Stored.of(np.arange(n), lift.averaged()).at(rows), Warm.of(lift.splitting)
        X, points = warm.matrix(rows), warm.feasible(kept, k)
        assert (np.count_nonzero(points, axis=0) <= k).all()
        part = begin_lift(Splitting(kept, k, nonneg), witness, X, min(2, rows.size), counts, points=points)
        advance(part, 10)
        for one, other in zip(before, (lift.splitting.X, lift.cuts.T, lift.B), strict=True):
            np.testing.assert_array_equal(one, other)
        mean = part.averaged()
        proof = prove(problem, kept, Witness(mean.W, mean.M, mean.U), Budget(1e-6, cap=400))
        optimum = brute_force_forced(kept.block, k, range(fixed), nonneg)
        assert proof.upper >= optimum * (1 - 1e-12)


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
    optimum = brute_force(problem.covariance.matrix, 4, problem.nonneg)[0]
    lower = optimum * (1 - 1e-3 * (seed > 1))
    tree = tree_on(problem, lower)
    task = Task(tree.all_sets(), None, None, lower, 1e-9, PLAN, rounds=6, partial=True)

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
    lower = 0.9 * brute_force(problem.covariance.matrix, n - 1, False)[0]
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
            tree = tree_on(problem, close, kept, gap=0.0, nodes=1)
            tree.begin(None, None, 0, work=1e6)
            certificate = tree.certificate()
            assert nspca.verify(X, certificate, problem) <= certificate.upper
    assert found
