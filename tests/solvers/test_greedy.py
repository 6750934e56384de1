"""Forward selection: its estimates, all tried against plain enumeration, one pass for all k, swaps, wide
data.
"""

import numpy as np
import pytest

import nspca
from nspca.local_search.removal import in_span
from nspca.local_search.single import best_with
from nspca.solvers import greedy
from tests.strategies import cases


def problems(count, seed, nonneg):
    for case in cases(count, n_max=8, ranks=(2, 3, 8), seed=seed):
        yield nspca.Problem.from_covariance(case.V @ case.V.T, case.k, nonneg)


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_estimate_is_reached_and_above_the_bound_of_pathspca(nonneg):
    Z = np.random.default_rng(0).standard_normal((6, 7))
    A = Z.T @ Z
    x = np.append(np.linalg.eigh(A[:3, :3])[1][:, -1], np.zeros(4))
    x = np.abs(x) if nonneg else x
    value, image = x @ A @ x, A @ x
    promise = in_span(value, image, np.diag(A), nonneg)
    for i in range(3, 7):
        cross = max(image[i], 0.0) if nonneg else image[i]
        angles = np.linspace(0, np.pi / 2 if nonneg else np.pi, 10**5)
        y = np.outer(np.cos(angles), x) + np.outer(np.sin(angles), np.eye(7)[i])
        assert np.isclose(np.einsum("ij,ij->i", y @ A, y).max(), promise[i])
        assert promise[i] >= value + cross**2 / value - 1e-9
        J = [0, 1, 2, i]
        best = best_with(A[np.ix_(J, J)], x[J], 3, nonneg)
        assert np.isclose(np.linalg.norm(best), 1) and best @ A[np.ix_(J, J)] @ best >= promise[i] * (
            1 - 1e-12
        )


def test_all_tried_is_the_forward_search_by_eigenvalues():
    for problem in problems(20, 1, False):
        A = problem.covariance.matrix
        chosen = [int(np.argmax(np.diag(A)))]
        for k, x in greedy.forward(problem, chosen[:1], problem.n, tried=problem.n):
            if k > 1:
                rest = [i for i in range(problem.n) if i not in chosen]
                tops = [np.linalg.eigvalsh(A[np.ix_([*chosen, i], [*chosen, i])])[-1] for i in rest]
                value = float(x @ A @ x)
                assert np.isclose(value, max(tops), rtol=1e-9, atol=1e-12)
                added = np.setdiff1d(np.flatnonzero(x), chosen)
                if added.size != 1 or np.sum(np.isclose(tops, max(tops))) > 1:
                    break
                chosen.append(int(added[0]))


@pytest.mark.parametrize("nonneg", [True, False])
def test_values_never_fall_along_the_path(nonneg):
    for problem in problems(20, 2, nonneg):
        ks = list(range(1, problem.n + 1))
        for polish in (False, True):
            path = greedy.path(problem, ks, greedy.Options(polish=polish))
            assert all(problem.with_k(k).violation(path[k].components[:, 0]) <= 1e-12 for k in ks)
            found = [path[k].info["path_value"] for k in ks]
            assert np.all(np.diff(found) >= -1e-12 * max(found))
            assert all(path[k].value >= path[k].info["path_value"] * (1 - 1e-12) for k in ks)


def test_more_first_features_help_where_the_largest_variance_misleads(lee_seung_faces):
    problem = nspca.Problem.from_data(lee_seung_faces, 40)
    one, five = (
        nspca.solve(problem, "greedy", restarts=r, certify=None).value / problem.leading_eigenvalue
        for r in (1, 5)
    )
    assert one < 0.3 < 0.5203 <= five
