"""Baselines: the same numbers as scikit-learn's estimators, truncated and nothing more; refusals; a light
import.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import NMF, PCA, SparsePCA

import nspca


def truncated(v, k):
    x = np.where(np.isin(np.arange(v.size), np.argsort(-np.abs(v))[:k]), v, 0.0)
    return x / np.linalg.norm(x)


def same_line(x, y, atol=1e-6):
    return np.allclose(x, y, atol=atol) or np.allclose(x, -y, atol=atol)


@pytest.fixture
def X():
    return np.random.default_rng(0).gamma(1.0, 1.0, (60, 12)) @ np.random.default_rng(1).random((12, 12))


def test_pca_is_the_truncated_loading_of_scikit_learn(X):
    u = PCA(n_components=1).fit(X).components_[0]
    for k in (1, 4, 12):
        result = nspca.solve(nspca.Problem.from_data(X, k, nonneg=False), "pca", certify=None)
        assert same_line(result.components[:, 0], truncated(u, k))
        assert result.info["renormalised_value"] >= result.value * (1 - 1e-12)


def test_spca_is_the_truncated_loading_of_scikit_learn(X):
    problem = nspca.Problem.from_data(X, 3, nonneg=False)
    Z = X - X.mean(axis=0)
    first = PCA(n_components=1).fit(X)
    largest = np.abs(Z.T @ (Z @ first.components_[0]) / np.linalg.norm(Z @ first.components_[0])).max()
    result = nspca.solve(problem, "spca", penalty=0.4, certify=None)
    v = SparsePCA(n_components=1, alpha=0.4 * largest, max_iter=100, random_state=0).fit(X).components_[0]
    assert np.count_nonzero(v) == result.info["entries"]
    assert same_line(result.components[:, 0], truncated(v, 3), atol=1e-4)


def test_nmf_is_the_best_truncated_part_of_scikit_learn(X):
    problem = nspca.Problem.from_data(X, 4, center=False)
    result = nspca.solve(problem, "nmf", rank=3, iterations=25, tol=1e-15, certify=None)
    H = (
        NMF(3, init="nndsvda", max_iter=25, tol=0, random_state=0)
        .fit(X / problem.covariance.unit**0.5)
        .components_
    )
    best = max((truncated(h, 4) for h in H), key=problem.value)
    assert np.allclose(result.components[:, 0], best, atol=1e-8)


@pytest.mark.parametrize("center", [True, False])
def test_sparse_tables_are_dense_ones(center):
    X = np.random.default_rng(2).poisson(0.5, (30, 8)) - (np.arange(8) == 3)
    for method in ("nmf", "spca"):
        dense, sparse = (
            nspca.solve(nspca.Problem.from_data(T, 3, center=center), method, certify=None)
            for T in (X, sp.csr_array(X))
        )
        assert np.allclose(dense.components, sparse.components, atol=1e-6)


def tables(sizes):
    """Yield data at the limits of a factorisation: tiny, constant, of low rank, and of extreme size."""
    rng = np.random.default_rng(5)
    for m, n in sizes:
        noise, spike = rng.standard_normal((m, n)), np.zeros((m, n))
        spike[0, 0] = 1.0
        yield from (
            noise,
            np.abs(noise),
            np.full((m, n), 3.0),
            np.full((m, n), -3.0),
            np.zeros((m, n)),
            spike,
            -spike,
        )
        yield from (np.repeat(noise[:, :1], n, axis=1), rng.poisson(0.4, (m, n)), 1 + 1e-12 * noise)
        yield from (
            noise * 1e150,
            noise * 1e-150,
            noise * 10.0 ** rng.uniform(-300, 150, (1, n)),
            spike + 1e-320,
        )


SIZES = ((1, 1), (1, 4), (2, 1), (2, 2), (2, 9), (7, 1), (6, 9))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sizes", [SIZES[4:5], pytest.param(SIZES, marks=pytest.mark.long)])
@pytest.mark.parametrize("method", ["pca", "spca", "nmf"])
def test_data_at_the_edge_have_a_component_or_a_sentence_of_our_own(method, sizes):
    solved = 0
    for X in tables(sizes):
        for center, scale, sparse in ((True, False, True), (False, True, False)):
            try:
                problem = nspca.Problem.from_data(
                    sp.csr_array(X) if sparse else X, min(2, X.shape[1]), center=center, scale=scale
                )
                result = nspca.solve(problem, method, certify=None)
            except nspca.NSPCAError:
                continue
            assert problem.violation(result.components[:, 0]) <= 1e-12 and result.value >= 0, X
            solved += 1
    assert solved > 12 * len(sizes), solved


def test_nmf_has_no_more_parts_than_the_table_has_rank():
    X = np.outer(np.arange(5.0), np.arange(1.0, 7.0))
    result = nspca.solve(nspca.Problem.from_data(X, 3, center=False), "nmf", certify=None)
    assert result.info["rank"] == 1 and same_line(result.components[:, 0], truncated(np.arange(1.0, 7.0), 3))
