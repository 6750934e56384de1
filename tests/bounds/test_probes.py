"""Probes of a node, and lifts that go on in short steps: against brute force and the checker."""

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination
from nspca.bounds.dual.restriction import carried_over, damp
from nspca.bounds.fixing import eigenvalues, lifts, probes
from nspca.bounds.fixing import settle as settling
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports, Use
from nspca.bounds.fixing.stored import none
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import spectral_half
from tests.bounds.test_fixing import followed, made, optimum, tables
from tests.bounds.test_restriction import begun


def fix_by_probes_alone(monkeypatch):
    """Keep witnesses from fixing anything, and give lifts few dimensions."""
    monkeypatch.setattr(settling, "FIX_CAP", 0)
    monkeypatch.setattr(settling, "QUICK_CAP", 0)
    monkeypatch.setattr(lifts, "RANK", 2)
    monkeypatch.setattr(lifts, "RAISED", 3)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [12, pytest.param(300, marks=pytest.mark.long)])
def test_probes_lose_no_better_answer_and_the_checker_takes_the_tree(nonneg, count, monkeypatch):
    """Nothing is fixed by a witness and nothing enumerated, so what is fixed is fixed by probes."""
    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    fix_by_probes_alone(monkeypatch)
    probed = 0
    for number, (X, k, rng) in enumerate(tables(count, seed=31 + nonneg)):
        data, problem = made(X, k, nonneg, rng, covariance=number % 2 == 0)
        values = optimum(problem.covariance.matrix, k, nonneg, problem.forced)
        best = max(values.values())
        lower = float(best * rng.choice([1.0, 0.99, 0.9]))
        tree = FixingTree(problem=problem, plan=PLANS["fast"], lower=lower, gap=1e-9, raised=True,
                          ground=Ground.of(problem, elimination.all_rows(problem)),
                          limits=Limits(nodes=3))  # fmt: skip
        tree.begin(None, None, 2)
        probed += tree.nodes == 1 and len(tree.root.children) > 0
        tree.run()
        certificate = tree.certificate()
        followed(tree.root, values, max(float(certificate.witness["level"][0]), tree.lower))
        assert certificate.upper >= best * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(data, certificate, problem) <= certificate.upper
    assert probed > 0


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("seeds", [(1,), pytest.param(range(12), marks=pytest.mark.long)])
def test_features_are_probed_where_others_have_no_rows(nonneg, seeds, monkeypatch):
    fix_by_probes_alone(monkeypatch)
    probe, probed = probes.probe, []
    monkeypatch.setattr(probes, "probe", lambda *given: probed.append(1) or probe(*given))
    for seed in seeds:
        X = np.random.default_rng(seed).standard_normal((30, 9)) * np.r_[[1.0] * 6, [0.3] * 3]
        problem = nspca.Problem.from_data(X, 3, nonneg)
        best = max(optimum(problem.covariance.matrix, 3, nonneg).values())
        kept = elimination.keep(problem, 6)
        assert kept.free
        tree = FixingTree(problem=problem, plan=PLANS["fast"], lower=best, gap=1e-9, raised=True,
                          ground=Ground.of(problem, kept), limits=Limits(nodes=3))  # fmt: skip
        tree.begin(None, None, 2)
        tree.run()
        certificate = tree.certificate()
        assert certificate.upper >= best * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(X, certificate, problem) <= certificate.upper
    assert probed


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


def test_features_fixed_by_probes_are_shown():
    """The progress has the supports at the end of a chain of probes, not those at its head."""
    A = np.random.default_rng(0).standard_normal((20, 5))
    problem = nspca.Problem.from_data(A, 2)
    tree = FixingTree(problem=problem, plan=PLANS["fast"], lower=0.0, gap=1e-9,
                      ground=Ground.of(problem, elimination.all_rows(problem)), limits=Limits())  # fmt: skip
    nothing, first = np.zeros(0, dtype=np.int64), np.array([0])
    whole = Supports(nothing, np.arange(5), 2)
    last = Node(whole.fix(nothing, first), leaf=Use(None, 1.0, 0.0, 0.0, np.zeros(0, dtype=np.uint8)))
    tree.root = Node(whole, feature=0, children=(last, Node(whole.fix(first, nothing))))
    assert tree.certain_supports() is last.supports


@pytest.mark.parametrize("nonneg", [True, False])
def test_shorter_steps_leave_the_multipliers(nonneg):
    X = np.random.default_rng(2).standard_normal((40, 9))
    lift = begun(nspca.Problem.from_data(X, 3, nonneg), 2, 30)
    before = lift.splitting.entries.W, lift.cuts.M, lift.Q, lift.splitting.entries.tau
    damp(lift, lift.splitting.rho / 16)
    after = lift.splitting.entries.W, lift.cuts.M, lift.Q, lift.splitting.entries.tau
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    rho = lift.splitting.rho
    damp(lift, 2 * rho)
    assert lift.splitting.rho == rho == lift.cuts.rho == lift.splitting.entries.rho


def test_points_are_cut_to_what_the_supports_carry():
    """The smallest entries go until the fixed rows and the others together are at most k."""
    X = np.array([[0.0, 0.0, 3.0], [4.0, 0.0, 0.0], [-3.0, 1.0, 0.0], [1.0, 0.0, 4.0]])
    got, left = carried_over(X, 1, 3)
    np.testing.assert_array_equal(left, [True, True, True])
    np.testing.assert_allclose(got, [[0, 0, 0.6], [0.8, 0, 0], [-0.6, 1, 0], [0, 0, 0.8]])
    got, left = carried_over(X, 1, 1)
    np.testing.assert_array_equal(left, [False, False, True])
    np.testing.assert_allclose(got, [[1.0], [0.0], [0.0], [0.0]])
