"""Joint certificates: never below brute force, accepted by the verifier, better than Ky Fan; elimination,
progress, cancel.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import nspca
from nspca.bounds import core, elimination
from nspca.bounds.dual_search import DualSearch
from nspca.bounds.plan import JOINT_PLANS
from nspca.errors import InvalidOption
from nspca.problem import Problem
from tests.cancelling import cancelled
from tests.oracles import brute_force_joint
from tests.strategies import cases, certify_joint

EDGE = 1e-13


def checked(data, problem, effort="fast", lower=0.0):
    """Return a certificate, after testing that the verifier proves its claim up to rounding."""
    certificate = certify_joint(problem, lower, effort)
    proved = nspca.verify(data, certificate)
    assert proved <= certificate.upper <= proved * (1 + 1e-7) + 1e-300
    assert certificate.kind in ("J", "JP") and certificate.form == "joint"
    assert (certificate.kind == "JP") == ("prices" in certificate.witness)
    return certificate


def blocks(n=24, groups=3):
    """Data with `groups` blocks of positively correlated features; in sign, the blocks oppose each other."""
    rng = np.random.default_rng(5)
    F = rng.standard_normal((80, groups))
    return np.repeat(F - 0.5 * F.sum(axis=1, keepdims=True), n // groups, axis=1) + 0.4 * rng.standard_normal(
        (80, n)
    )


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("effort", ["fast", "standard", "thorough"])
def test_no_bound_is_below_brute_force_and_every_one_is_verified(monkeypatch, nonneg, effort):
    tried, longer = 0, replace(JOINT_PLANS["thorough"], passes=2, sets=(0, 0), cap=1000)
    monkeypatch.setitem(JOINT_PLANS, "thorough", longer)
    for i, case in enumerate(cases(16, n_max=6, ranks=(1, 2, 6), seed=17)):
        A, every = case.V @ case.V.T, ((2, 2), (1, 2), (1, 1, 1), (3,))
        for sizes in every if effort == "fast" else every[i % 4 :: 3 if effort == "standard" else 4]:
            if sum(sizes) <= len(A):
                exact = brute_force_joint(A, sizes, nonneg)[0]
                problem = Problem.from_covariance(A, sizes, nonneg)
                certificate = checked(A, problem, effort, exact / problem.covariance.unit)
                assert certificate.upper >= exact * (1 - EDGE)
                tried += 1
    assert tried > (30 if effort == "fast" else 7)


def test_standardised_tables_are_proved_together_with_a_core():
    """Three groups in 600 standardised features, of which elimination leaves none out."""
    rng = np.random.default_rng(31)
    X = rng.standard_normal((60, 600))
    for group in range(3):
        X[:, 40 * group : 40 * (group + 1)] += 1.5 * rng.standard_normal((60, 1))
    problem = Problem.from_data(X, (10, 10, 8), scale=True)
    value = nspca.solve(problem, certify=None).value
    certificate = checked(X, problem, "fast", value)
    assert certificate.witness["y"].size == 600 - certificate.witness["rows"].size
    assert certificate.ratio(value) > 0.8


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("cores", [(1, 1), (1, 2)])
def test_a_core_without_noise_outside_is_tried_again_with_its_own_threshold(monkeypatch, nonneg, cores):
    """Entries up to the level were once missing where the threshold of the second core was 0."""
    monkeypatch.setattr(core, "pays", lambda *_: True)
    monkeypatch.setattr(elimination, "leaves_out_little", lambda *_: False)
    monkeypatch.setitem(JOINT_PLANS, "standard", replace(JOINT_PLANS["standard"], cores=cores))
    A, small = np.eye(8), 5e-4
    A[1:, 1:] = 0.9 * small + 0.05 * small * np.eye(7)
    A[0, 1:] = A[1:, 0] = small
    problem = Problem.from_covariance(A, (7, 1), nonneg)
    certificate = checked(A, problem, "standard", 1 / problem.covariance.unit)
    assert certificate.upper >= brute_force_joint(A, (7, 1), nonneg)[0] * (1 - EDGE)


@pytest.mark.parametrize("power", [-600, 0, 600])
@pytest.mark.parametrize(
    "A",
    [
        np.zeros((4, 4)),
        np.eye(5),
        np.ones((5, 5)),
        np.diag([5.0, 4, 3, 2, 1, 0]),
        np.diag([1.0, 0, 0, 0]),
        np.kron(np.eye(2), [[2.0, -2], [-2, 2]]),
        np.diag([1.0, 1e-9, 1e-9, 1e-18]),
    ],
)
def test_degenerate_matrices_of_any_scale(A, power):
    A = np.ldexp(A, power)
    for sizes in ((2, 2), (1, 2), (1,) * len(A)):
        for nonneg in (True, False):
            exact = brute_force_joint(np.ldexp(A, -power), sizes, nonneg)[0]
            certificate = checked(A, Problem.from_covariance(A, sizes, nonneg))
            assert np.ldexp(certificate.upper, -power) >= exact * (1 - EDGE)


def test_the_dual_beats_ky_fan_and_the_threshold():
    X = blocks()
    problem = Problem.from_data(X, (4, 4, 4))
    ky_fan = np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))[-3:].sum()
    fast, standard = (checked(X, problem, effort) for effort in ("fast", "standard"))
    assert standard.upper <= fast.upper < 0.9 * ky_fan
    run = DualSearch(problem, JOINT_PLANS["standard"], 0.0, kept=elimination.all_rows(problem))
    run.offer(elimination.search_threshold(run.kept, problem)[1])
    assert standard.upper < 0.999 * run.upper * problem.covariance.unit
    with pytest.raises(nspca.errors.CertificateError, match="is claimed"):
        nspca.verify(X, replace(standard, upper=standard.upper * (1 - 1e-7)))


def growing(monkeypatch, *rows):
    plan = replace(JOINT_PLANS["fast"], rows=rows, whole=0, steps=(20, 40))
    monkeypatch.setitem(JOINT_PLANS, "fast", plan)


def wide_blocks():
    """Many features of which some matter: what is left out of the first rows holds the bound up."""
    return np.hstack((blocks(48), blocks(48) / 2 + np.random.default_rng(6).standard_normal((80, 48)) / 4))


@pytest.mark.parametrize("nonneg", [True, False])
def test_more_rows_are_kept_while_those_left_out_hold_the_bound_up(monkeypatch, nonneg):
    X = wide_blocks()
    problem = Problem.from_data(X, (5, 5, 5), nonneg)
    alone = []
    for rows in (10, 30, 60):
        growing(monkeypatch, rows)
        alone.append(checked(X, problem).upper)
    growing(monkeypatch, 10, 30, 60)
    together, seen = checked(X, problem), []
    assert together.upper < 0.97 * alone[0]
    assert together.upper <= min(alone[:2]) * (1 + 1e-6) and together.witness["rows"].size > 30
    certify_joint(problem, 0.0, "fast", report=seen.append)
    assert all(a.upper >= b.upper * (1 - 1e-9) for a, b in pairwise(seen)), "what is told never gets worse"
    assert all(a.done <= b.done <= b.total for a, b in pairwise(seen)) and seen[-1].done == seen[-1].total
    value = nspca.solve(problem, "joint", certify=None).value
    assert together.upper >= value


def test_more_features_than_samples():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((12, 4200))
    X[:, :30] *= 4
    for problem in (Problem.from_data(X, (5, 5)), Problem.from_data(X, (2000, 2000), scale=True)):
        assert checked(X, problem).witness.get("rows", np.zeros(0)).size < 500
    low_rank = np.outer(
        rng.standard_normal(12), X[0]
    )  # no r-th eigenvalue: the samples' side cannot prove it, kept rows can
    checked(low_rank, Problem.from_data(low_rank, (4000, 100)))


def test_progress_cancel_and_the_same_answer_twice():
    X = np.ldexp(blocks(15), 3)
    problem, events = Problem.from_data(X, (4, 4, 4)), []
    one = certify_joint(problem, 0.5, report=events.append)
    two = certify_joint(problem, 0.5)
    assert one.to_bytes() == two.to_bytes()
    uppers = [event.upper for event in events]
    assert all(a >= b * (1 - 1e-9) for a, b in pairwise(uppers))  # what is proved has room for rounding
    assert uppers[-1] == pytest.approx(one.upper, rel=1e-12)
    assert {(event.stage, event.k, event.lower) for event in events} == {
        ("joint proof", None, 0.5 * problem.covariance.unit)
    }
    assert events[-1].done == events[-1].total > 0
    for last, event in list(enumerate(events))[len(events) // 3 :: len(events) // 2]:
        held = cancelled(certify_joint, problem, 0.5, when=lambda seen, last=last: len(seen) > last)[0].best
        assert held.upper <= event.upper * (1 + 1e-9) and nspca.verify(X, held) <= held.upper
    with pytest.raises(InvalidOption, match="fast, standard, thorough"):
        certify_joint(problem, 0.5, "quick")


@pytest.mark.visit
def test_faces(nspca_data):
    with np.load(nspca_data / "cbcl_faces.npz", allow_pickle=False) as file:
        X = file["X"] / 255
    problem = Problem.from_data(X, (40,) * 5)
    value = 7.12  # reached by ascent
    certificate = checked(X, problem, "standard", value / problem.covariance.unit)
    assert certificate.ratio(value) >= 0.97
