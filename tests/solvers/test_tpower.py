"""Truncated power iteration: monotone, at a fixed point, values found by search, wide data."""

import numpy as np
import pytest

import nspca
from nspca.covariance.linalg import rank1_columns
from nspca.local_search.single import power_steps
from nspca.solvers import tpower
from tests.strategies import cases


@pytest.mark.parametrize("nonneg", [True, False])
def test_no_step_lowers_the_value_and_the_end_is_a_fixed_point(nonneg):
    for case in cases(60, n_max=9, seed=1):
        problem = nspca.Problem.from_covariance(case.V @ case.V.T, case.k, nonneg)
        A = problem.covariance
        X = tpower.starts(problem, 4, 0)
        values = np.einsum("ij,ij->j", X, A.product(X))
        for steps in range(1, 6):
            Y, _ = power_steps(problem, X, steps)
            reached = np.einsum("ij,ij->j", Y, A.product(Y))
            assert np.all(reached >= values - 1e-12 * A.trace)
            values = reached
        Y, steps = power_steps(problem, X, 5000)
        again = rank1_columns(A.product(Y), case.k, nonneg)
        before, after = (np.einsum("ij,ij->j", Z, A.product(Z)) for Z in (Y, again))
        assert steps < 5000 and np.all(after <= before + 1e-9 * A.trace)


def test_a_cap_on_the_iterations_is_said():
    problem = nspca.Problem.from_data(np.random.default_rng(3).standard_normal((50, 60)), 9)
    assert not nspca.solve(problem, "tpower", iterations=1, certify=None).info["converged"]
    assert nspca.solve(problem, "tpower", certify=None).info["converged"]


def test_faces(lee_seung_faces, faces):
    problem = nspca.Problem.from_data(lee_seung_faces, 40)
    assert nspca.solve(problem, "tpower", certify=None).value >= 0.5203 * problem.leading_eigenvalue
    raw = nspca.Problem.from_data(faces, 40)
    assert nspca.solve(raw, "tpower", certify=None).value >= 0.23513 * raw.leading_eigenvalue
