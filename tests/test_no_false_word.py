"""Results of the package satisfy value <= brute force <= bound, and `verify` proves that very bound."""

from collections import Counter

import numpy as np
import pytest

import nspca
from nspca.errors import InvalidProblem, Refused
from nspca.solvers import METHODS
from tests.oracles import brute_force, brute_force_forced, brute_force_joint
from tests.questions import questions

SLOW = {"spca", "nmf"}  # methods of scikit-learn, which take tens of milliseconds and are asked less often
# Matchings at thousands of points (a small eps keeps from the full net) and starts of an ascent: no matter to
# these questions.
FEWER = {"bipartite": {"samples": 10, "eps": 0.01}, "joint": {"restarts": 3, "iterations": 1}}
PART, FEW = 250, 80  # questions of a seed among the long tests, and in every run
EXPECTED = ("positive semidefinite", "columns that vary", "must fit float64", "at least 2 rows", "Refused")


def able(method, question, forced=()):
    line = METHODS.get(method)
    if line is None:
        return True
    if forced and not line.forced:
        return False
    data = bool(question.recipe)
    joint = line.joint or question.components == 1
    return (line.nonneg if question.nonneg else line.signed) and joint and (data or method not in SLOW)


def asked(question, forcing=False):
    """Return the problem, and an answer with a certificate by a random one of the able methods."""
    make = nspca.Problem.from_data if question.recipe else nspca.Problem.from_covariance
    forced = ()
    if forcing and question.components == 1:
        forced = question.rng.permutation(len(question.unit_A))[: question.rng.integers(0, question.k + 1)]
    problem = make(question.given, question.k, nonneg=question.nonneg, forced=forced, **question.recipe)
    names = [
        m
        for m in ("auto", *METHODS)
        if able(m, question, problem.forced) and (m not in SLOW or question.rng.random() < 0.2)
    ]
    method = str(question.rng.choice(names))
    effort = "standard" if question.rng.random() < 0.04 else "fast"
    worker = "joint" if method == "auto" and question.components > 1 else method
    result = nspca.solve(problem, method, certify=effort, **FEWER.get(worker, {}))
    if question.rng.random() < 0.2:
        result = result.with_certificate(nspca.certify(problem, result, effort=effort))
    return problem, method, result


def check(question, problem, result):
    """Test all statements about an answer against the data and brute force."""
    certificate, upper = result.certificate, result.certificate.upper
    again = nspca.verify(question.given, nspca.Certificate.from_bytes(certificate.to_bytes()), problem)
    assert upper * (1 - 1e-9) <= again <= upper
    solve = brute_force if isinstance(question.k, int) else brute_force_joint
    optimum = solve(question.unit_A, question.k, question.nonneg)[0]
    if problem.forced:
        optimum = brute_force_forced(question.unit_A, question.k, problem.forced, question.nonneg)
    step = float(np.ldexp(5e-324, -question.exponent))  # rounding near the smallest float
    value, bound = (float(np.ldexp(number, -question.exponent)) for number in (result.value, again))
    size = max(optimum, 0.0)
    # Room for rounding, also of the entries of a covariance that is semidefinite only up to rounding.
    slack = 1e-11 * size + 2 * step + 1e-14 * np.trace(question.unit_A)
    assert value <= optimum + slack
    assert optimum <= bound + slack
    assert 0 <= result.ratio <= 1
    if result.status is nspca.Status.OPTIMAL:
        assert value >= optimum - 2e-8 * size - slack
    for x, k in zip(result.components.T, np.atleast_1d(question.k), strict=True):
        assert problem.with_k(int(k)).violation(x) <= 1e-12


def hunt(seed, forcing=False, part=PART):
    """Test a `part` of the questions, and return a sentence about the outcome."""
    accepted, refused = 0, Counter()
    for question in questions(part, seed):
        try:
            problem, method, result = asked(question, forcing)
        except (InvalidProblem, Refused) as error:
            reason = next(
                (words for words in EXPECTED if words in str(error) or words == type(error).__name__), None
            )
            assert reason, f"{question.about}: {error}"
            refused[reason] += 1
            continue
        try:
            check(question, problem, result)
        except (AssertionError, nspca.NSPCAError) as error:
            raise AssertionError(
                f"{question.about}, k = {question.k}, nonneg = {question.nonneg}, {method}: {error}"
            ) from error
        accepted += 1
    assert accepted >= 0.7 * part
    reasons = ", ".join(f"{count} '{reason}'" for reason, count in sorted(refused.items()))
    return (
        f"{part} questions (seed {seed}): {accepted} answers, each accepted by the checker; refused "
        f"with a sentence: {reasons}"
    )


LONG = [
    (pytest.param(seed, PART, seed >= 100, marks=pytest.mark.long)) for seed in (*range(82), *range(100, 139))
]


@pytest.mark.parametrize(("seed", "part", "forcing"), [(0, FEW, False), (100, FEW, True), *LONG])
def test_every_answer_is_one_the_checker_accepts_also_with_features_forced(
    seed, part, forcing, record_property
):
    record_property("said", hunt(seed, forcing, part))
