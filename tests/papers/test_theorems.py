"""Tests of the theorems as numbers, and of the table of published exact methods."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import nspca
from benchmarks import optimal, published
from nspca.lowrank import rankd
from nspca.papers import exact
from nspca.papers.exact import Ours, Row


def optimum(A, k):
    """Best nonnegative k-sparse unit vector of a small matrix, by all supports."""
    best, at = -1.0, None
    for size in range(1, k + 1):
        for support in combinations(range(len(A)), size):
            values, vectors = np.linalg.eigh(A[np.ix_(support, support)])
            for value, u in zip(values, vectors.T, strict=True):
                u = u if u.sum() > 0 else -u
                if value > best and (u > -1e-12).all():
                    best, at = value, np.zeros(len(A))
                    at[list(support)] = u
    return best, at


@pytest.mark.parametrize("seed", range(6))
def test_the_best_vector_of_the_low_rank_part_keeps_the_promise_of_theorem_1(seed):
    rng = np.random.default_rng(seed)
    n = 6
    X = rng.standard_normal((10, n)) * np.geomspace(1, 0.02, n)
    A = X.T @ X
    values, vectors = np.linalg.eigh(A)
    values, vectors = values[::-1], vectors[:, ::-1]
    for d in (1, 2, 3):
        low = (vectors[:, :d] * values[:d]) @ vectors[:, :d].T
        for k in (1, 3, 6):
            promised = rankd.rho(nspca.Problem.from_covariance(A, k), d)
            assert k / (2 * n) <= promised <= 1
            best, x = optimum(A, k)[0], optimum(low, k)[1]
            assert x @ A @ x >= promised * best * (1 - 1e-12)


def test_the_promise_by_hand_and_at_its_ends():
    def promised(diagonal, k, d):
        return rankd.rho(nspca.Problem.from_covariance(np.diag(diagonal), k), d)

    assert promised([4.0, 2.0, 1.0, 0.5] + [0.0] * 96, 10, 2) == pytest.approx(1 / (1 + 2 * 10 * 0.25))
    assert promised([1.0] * 10, 9, 1) == 9 / 20  # flat: the share of the features is larger
    assert promised([5.0] + [0.0] * 9, 3, 1) == 1.0  # rank d: exact
    assert promised([0.0] * 10, 3, 1) == 1.0


OPTIMAL = Ours(4.2332035, 1.0, True, 9.0)
ROWS = (
    Row("normArrhythmia", 274, 5, "4.2321, said to be the optimum", OPTIMAL, Ours(4.0, 0.99975, False, 3.21)),
    Row("gas", 128, 10, "", OPTIMAL, OPTIMAL),
)


def test_rows_of_exact_methods_say_what_is_proved():
    first = exact.cells(ROWS[0])
    assert first[:4] == ["normArrhythmia", "274", "5", "4.2321, said to be the optimum"]
    assert first[5] == "optimal" and first[8] == "99.9 %" and first[9] == "3.2"
    assert exact.cells(ROWS[1])[3] == "not stored" and len(first) == len(published.COMPARED)
    assert len(set(exact.HEADERS)) == len(exact.HEADERS) == len(published.COMPARED)


def test_the_refuted_optimum_is_named_only_where_it_is_refuted():
    said = exact.refutation(ROWS)
    assert "4.2321, is not one: 4.233204 is reached, and is proved optimal" in said
    unproved = replace(ROWS[0], signed=Ours(4.2332035, 0.9984, False, 1.0))
    assert "is proved to 99.8 %" in exact.refutation([unproved])
    worse = replace(ROWS[0], signed=Ours(4.2, 0.97, False, 1.0))
    assert exact.refutation([worse]) == exact.refutation(ROWS[1:]) == ""


def test_matrices_that_are_not_there_are_one_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(optimal, "FOLDER", tmp_path)
    monkeypatch.setattr("sys.argv", ["published"])
    with pytest.raises(SystemExit):
        published.main()
    assert "must be in the folder that NSPCA_DATA names" in capsys.readouterr().err


@pytest.mark.visit
def test_stored_rows_are_those_of_the_matrices(nspca_data):
    rows, matrices = exact.stored(), published.matrices()
    assert rows and exact.refutation(rows)
    for row in (one for one in rows if one.n <= 13):
        for nonneg, kept in ((False, row.signed), (True, row.nonneg)):
            problem = nspca.Problem.from_covariance(
                matrices[row.matrix], row.k, nonneg=nonneg, repair="shift"
            )
            assert nspca.solve(problem, certify=None).value == pytest.approx(kept.value, rel=1e-6)
