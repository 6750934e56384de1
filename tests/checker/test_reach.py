"""Entries of A that may exceed a level, and sums of products of sparse columns, against dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.checker import blocks, entry, matrix, reading
from nspca.checker.matrix import matrix_of
from tests.rowblocks import InMemory
from tests.strategies import counts


@pytest.mark.parametrize("cost", [0.0, 3.0, 1e9])
@counts(60, 600)
def test_products_of_sparse_columns_are_those_of_dense_ones(monkeypatch, cost, count):
    """Of stored entries, as dense columns, and each where it is quicker."""
    monkeypatch.setattr(blocks, "COST", cost)
    rng = np.random.default_rng(1)
    for _ in range(count):
        m, n = rng.integers(1, 9, 2)
        X = 1.0 * rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < rng.choice([0.0, 0.2, 0.9]))
        (a, b), (c, d) = (sorted(rng.integers(0, n + 1, 2)) for _ in range(2))
        for Y in (X, sp.csc_array(X)):
            assert np.array_equal(blocks.product(Y, a, b, c, d), X[:, a:b].T @ X[:, c:d])
            assert np.array_equal(blocks.product(Y, a, b, a, b), X[:, a:b].T @ X[:, a:b])


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("kind", ["dense", "rows", "covariance"])
@counts(20, 200)
def test_every_entry_above_a_level_is_found_once(monkeypatch, kind, nonneg, count):
    rng = np.random.default_rng(2)
    for _ in range(count):
        monkeypatch.setattr(matrix, "NARROWEST", int(rng.choice([1, 2, 16])))
        monkeypatch.setattr(matrix, "MOST", int(rng.choice([1, 5, 2**22])))
        monkeypatch.setattr("nspca.checker.matrix.SUMS", int(rng.choice([1, 9, 2**24])))
        monkeypatch.setattr("nspca.checker.matrix.DENSE_LIMIT", int(rng.choice([3, 4000])))
        monkeypatch.setattr("nspca.checker.blocks.HELD", int(rng.choice([0, 2**25])))
        monkeypatch.setattr("nspca.checker.blocks.PART", int(rng.choice([1, 30, 2**23])))
        m, n = int(rng.integers(2, 20)), int(rng.integers(1, 13))
        X = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.6) * 10.0 ** rng.uniform(-2, 0, n)
        X[:, rng.random(n) < 0.2] = 0.0  # features without variance
        A = X.T @ X / m if kind == "covariance" else (X - X.mean(0)).T @ (X - X.mean(0)) / m
        if not np.abs(X).max():
            continue
        data = {"dense": X, "rows": sp.csr_array(X), "covariance": A}[kind]
        make = nspca.Problem.from_covariance if kind == "covariance" else nspca.Problem.from_data
        problem = make(data, 1)
        recipe = reading.read_recipe(nspca.certify(problem, effort="fast"), entry.FORMS)
        M = matrix_of(InMemory(data, 7) if kind == "rows" else data, recipe)
        unit = np.abs(A) / problem.covariance.unit * (1 if not nonneg else np.sign(A))
        first = rng.permutation(n)[: int(rng.integers(0, n + 1))]
        others = np.setdiff1d(np.arange(n), first)
        level = float(rng.choice([0.0, rng.random() * max(unit.max(), 0.0)]))
        for second in (None, others):
            wanted = {
                (i, j) if second is not None else tuple(sorted((i, j)))
                for i in first
                for j in (first if second is None else second)
                if unit[i, j] > level + 1e-12
            }
            found = []
            for i, j, E, error in matrix.entries_above(M, first, second, level, nonneg):
                assert np.allclose(E, (A / problem.covariance.unit)[i, j], rtol=0, atol=error + 1e-14)
                found += zip(i.tolist(), j.tolist(), strict=True)
            found = found if second is not None else [tuple(sorted(pair)) for pair in found]
            assert wanted <= set(found)
            assert len(found) == len(set(found))


@pytest.mark.parametrize("nonneg", [True, False])
def test_all_pairs_of_a_feature_outside_come_together(monkeypatch, nonneg):
    """The effect of a feature on the kept rows is computed from all its entries at once."""
    monkeypatch.setattr(matrix, "MOST", 4)
    X = np.random.default_rng(3).standard_normal((9, 11))
    problem = nspca.Problem.from_data(X, 2, scale=True)
    recipe = reading.read_recipe(nspca.certify(problem, effort="fast"), entry.FORMS)
    seen: list[int] = []
    for i, _, _, _ in matrix.entries_above(matrix_of(X, recipe), np.arange(6), np.arange(6, 11), 0.0, nonneg):
        assert not set(i.tolist()) & set(seen)
        seen += i.tolist()
    assert set(seen) == set(range(6))


@pytest.mark.parametrize("nonneg", [True, False])
def test_an_entry_that_is_no_number_is_never_left_out(nonneg):
    E = np.array([[0.0, np.nan], [2.0, -3.0]])
    i, j, values = matrix.larger(E, 1.0, nonneg)
    assert (0, 1) in set(zip(i.tolist(), j.tolist(), strict=True)) and np.isnan(values).any()
