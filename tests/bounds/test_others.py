"""How much less all other choices of several components explain: against enumeration, and forged."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import nspca
from nspca.bounds.answers import bound_others
from nspca.bounds.fixing.tree import Limits
from nspca.checker import verify
from nspca.errors import CertificateError
from tests.oracles import brute_force


def best_of_others(A, sizes, nonneg, listed):
    """Largest total of disjoint sets that do not have the listed ones in different components."""
    value, best = {(): 0.0}, 0.0
    for home in product(range(len(sizes) + 1), repeat=len(A)):
        sets = [tuple(np.flatnonzero(np.array(home) == c)) for c in range(len(sizes))]
        if any(len(S) > size for S, size in zip(sets, sizes, strict=True)):
            continue
        homes = [next((c for c, S in enumerate(sets) if {*T} <= {*S}), None) for T in listed]
        if None not in homes and len({*homes}) == len(listed):
            continue
        for S in sets:
            if S not in value:
                value[S] = brute_force(A[np.ix_(S, S)], len(S), nonneg)[0]
        best = max(best, sum(value[S] for S in sets))
    return best


def proved(A, sizes, nonneg, **limits):
    problem = nspca.Problem.from_covariance(A, sizes, nonneg)
    result = nspca.solve(problem, certify="standard")
    return problem, result, bound_others(problem, result.components, result.certificate, Limits(**limits))


@pytest.mark.parametrize(
    ("sizes", "nonneg", "nodes"),
    [
        ((2, 2), True, 2),
        *((sizes, False, None) for sizes in ((2, 2), (3, 2), (2, 1))),
        pytest.param((2, 2, 1), False, None, marks=pytest.mark.long),
        *(pytest.param(sizes, True, None, marks=pytest.mark.long) for sizes in ((2, 2), (3, 2), (2, 2, 1))),
    ],
)
def test_the_bound_is_the_second_best_of_enumeration(sizes, nonneg, nodes):
    G = np.random.default_rng([*sizes, nonneg]).standard_normal((6, 5))
    A = G.T @ G
    problem, result, others = proved(A, sizes, nonneg, nodes=nodes)
    listed = [np.flatnonzero(x).tolist() for x in result.components.T]
    truth = best_of_others(A, sizes, nonneg, listed)
    assert truth <= verify(A, others, problem) * (1 + 1e-9) <= others.upper * (1 + 1e-9)
    assert nonneg or others.upper <= truth * (1 + 1e-4)


def test_what_repairs_a_covariance_is_taken_off_once():
    G = np.random.default_rng(0).standard_normal((3, 6))
    A = (G.T @ G).astype(np.float32).astype(np.float64)
    problem = nspca.Problem.from_covariance(A, (2, 2), repair="shift")
    result = nspca.solve(problem, certify="exhaustive")
    assert problem.covariance.shift and result.margin > 0
    assert verify(A, result.others, problem) <= result.others.upper


def test_forgeries_are_refused():
    A = nspca.load_sample("pitprops").X
    problem, result, others = proved(A, (2, 2, 2), True)
    assert verify(A, others, problem) <= others.upper < result.value
    parts = others.witness

    def refused(**changes):
        with pytest.raises(CertificateError):
            verify(A, replace(others, witness=parts | changes))

    members, split = parts["members"], parts["split"]
    for i in range(6):
        other = members.copy()
        other[i] = np.setdiff1d(np.arange(13), members)[0]
        refused(members=other)
    for wrong in (members[[0, 0, 2, 3, 4, 5]], members - 13, members + 13, members[:-1], members * np.nan):
        refused(members=wrong)
    refused(members=members[[0, 2, 1, 3, 4, 5]])
    for counts in ([2, 2, 1], [3, 3, 0], [2, 2], [], [-2, 4, 4], [6]):
        refused(counts=np.array(counts, dtype=np.int64))
    for i in np.flatnonzero(split < 0):
        forged = split.copy()
        forged[i] = -1 if split[i] == -6 else -6
        refused(split=forged)
    refused(prices=-parts["prices"] - 1)
    refused(goals=parts["goals"] + 100)
    for how in ({"upper": others.upper * 0.999}, {"form": "packing"}, {"k": (3, 3, 3)}, {"k": (2, 2)}):
        with pytest.raises(CertificateError):
            verify(A, replace(others, **how))
    with pytest.raises(CertificateError):
        verify(
            A,
            replace(
                others, form="packing", witness={n: parts[n] for n in parts.keys() - {"counts", "members"}}
            ),
        )
