"""AnnData in and out: with the package where it is installed, and with what looks like it everywhere."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import InvalidData, InvalidProblem

RNG = np.random.default_rng(0)
GENES = [f"gene {j}" for j in range(8)]
X = RNG.random((30, 8)) + 2.0 * RNG.random((30, 1)) * (np.arange(8) < 3)


class AnnData:
    """As much of one as is used here."""

    isbacked = False

    def __init__(self, X, obs=None, var=None):
        self.X, self.obs, self.var_names = X, obs, pd.Index(var.index)
        self.obs_names = pd.Index([str(i) for i in range(30)])
        self.obsm, self.varm, self.uns = {}, {}, {}


@pytest.fixture(params=["what looks like it", "anndata"])
def make(request, monkeypatch):
    """``make(X, genes)``: an AnnData object."""
    if request.param == "anndata":
        kind = pytest.importorskip("anndata", reason="the package anndata is not installed").AnnData
    else:
        module = ModuleType("anndata")
        module.AnnData = kind = AnnData
        monkeypatch.setitem(sys.modules, "anndata", module)
    return lambda X, genes=GENES: kind(X, var=pd.DataFrame(index=genes))


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_components_of_annotated_tables_come_out_beside_the_genes(make, layout):
    adata = make(layout(X))
    model = nspca.NSPCA(k=3, n_components=2).fit(adata)
    plain = nspca.NSPCA(k=3, n_components=2).fit(X)
    assert np.allclose(model.components_, plain.components_)
    assert list(model.feature_names_in_) == GENES
    assert nspca.verify(adata.X, model.certificates_[0]) > 0
    order = [7, 3, 0, 1, 2, 4, 5, 6]
    other = make(layout(np.column_stack([X[:, order], np.ones(30)])), [*(GENES[j] for j in order), "more"])
    assert model.annotate(other) is model
    assert np.allclose(other.obsm["X_nspca"], plain.transform(X))
    assert np.allclose(other.varm["nspca"][:8], plain.components_.T[order])
    assert not other.varm["nspca"][8].any()
    assert np.allclose(other.uns["nspca"]["variance"], plain.explained_variance_)
    assert model.score(other) == pytest.approx(plain.score(X))
    with pytest.raises(InvalidProblem, match="without 'gene 0'"):
        model.transform(make(layout(X), ["x", *GENES[1:]]))


def test_names_of_genes_may_be_there_twice(make):
    adata = make(X, [GENES[0], *GENES[:7]])
    model = nspca.NSPCA(k=3).fit(adata).annotate(adata)
    assert np.array_equal(adata.varm["nspca"], model.components_.T)


def test_problems_and_choices_take_them_too(make):
    problem = nspca.Problem.from_data(make(X), 3)
    assert nspca.solve(problem).value == nspca.solve(nspca.Problem.from_data(X, 3)).value
    choice = nspca.choose_k(make(X), 3, folds=2, draws=0)
    assert np.array_equal(choice.held_out, nspca.choose_k(X, 3, folds=2, draws=0).held_out)
    flat = np.column_stack([X[:, :7], np.ones(30)])
    with pytest.raises(InvalidProblem, match="gene 7"):
        nspca.Problem.from_data(make(flat), 3, scale=True)


def test_what_is_no_annotated_table_is_said(make):
    with pytest.raises(InvalidProblem, match="AnnData is annotated, got ndarray; use transform"):
        nspca.NSPCA(k=3).fit(X).annotate(X)
    empty = make(X)
    empty.X = None
    with pytest.raises(InvalidProblem, match="got X = None"):
        nspca.NSPCA(k=3).fit(empty)


def test_a_file_is_read_by_its_path_where_anndata_is(tmp_path):
    anndata = pytest.importorskip("anndata", reason="the package anndata is not installed")
    cells = anndata.AnnData(sp.csr_matrix(X), obs=pd.DataFrame({"type": ["a", "b"] * 15}))
    cells.var_names, cells.obs_names = GENES, [f"cell {i}" for i in range(30)]
    cells.write_h5ad(tmp_path / "cells.h5ad")
    data = nspca.read(tmp_path / "cells.h5ad", label_column="type")
    assert data.feature_names == tuple(GENES) and data.sample_names[1] == "cell 1"
    assert np.allclose(data.X.toarray(), X) and list(data.labels[:2]) == ["a", "b"]
    with pytest.raises(InvalidData, match="no column 'kind' to take as labels"):
        nspca.read(tmp_path / "cells.h5ad", label_column="kind")
