"""Beside the tools that people use already: scanpy with its AnnData, xarray, polars.

`.ci/run` runs these tests in an environment of their own, with ``NSPCA_BESIDE=1``: there nothing is skipped.
"""

import os

import numpy as np
import pytest

import nspca
from nspca.errors import InvalidProblem


def the(name: str):
    if os.environ.get("NSPCA_BESIDE") == "1":
        return __import__(name)
    return pytest.importorskip(name, reason=f"the package {name} is not installed")


@pytest.fixture
def cells():
    """700 blood cells x 765 genes, which scanpy carries, with the logarithms of their counts."""
    table = the("scanpy").datasets.pbmc68k_reduced()
    raw = table.raw.to_adata()
    raw.obs["kind"] = table.obs["bulk_labels"].astype(str)
    return raw


def test_single_cells_are_fitted_annotated_and_proved(cells, tmp_path):
    model = nspca.NSPCA(n_components=3, k=10).fit(cells).annotate(cells)
    assert cells.varm["nspca"].shape == (765, 3) and cells.obsm["X_nspca"].shape == (700, 3)
    assert nspca.verify(cells.X, model.certificates_[0]) > 0
    genes = [set(cells.var_names[loadings > 0]) for loadings in cells.varm["nspca"].T]
    assert any({"LYZ", "CST3"} <= one for one in genes), "genes of monocytes stand together"
    scores = cells.obsm["X_nspca"][:, [{"LYZ", "CST3"} <= one for one in genes].index(True)]
    monocytes = cells.obs["kind"] == "CD14+ Monocyte"
    assert scores[monocytes].mean() > 5 * scores[cells.obs["kind"] == "CD56+ NK"].mean()
    cells.write_h5ad(tmp_path / "annotated.h5ad")
    again = the("anndata").read_h5ad(tmp_path / "annotated.h5ad")
    assert np.allclose(again.obsm["X_nspca"], cells.obsm["X_nspca"])


def test_an_array_of_xarray_goes_in_and_components_come_out_with_its_coordinates():
    xr = the("xarray")
    X = np.random.default_rng(0).random((30, 6)) + 2.0 * (np.arange(6) < 3) * np.arange(30)[:, None] / 30
    given = xr.DataArray(X, dims=("day", "station"), coords={"day": np.arange(30), "station": list("abcdef")})
    model = nspca.NSPCA(n_components=2, k=3).fit(given)
    assert list(model.feature_names_in_) == list("abcdef")
    found = model.to_xarray(given)
    assert found["components"].dims == ("component", "station") and found["scores"].dims == (
        "day",
        "component",
    )
    assert float(found["components"].sel(component=1, station="f")) == 0
    assert np.array_equal(found["scores"].sel(component=1), model.transform(given)[:, 0])
    turned = given.isel(station=[5, 4, 3, 2, 1, 0])
    assert np.allclose(model.transform(turned), model.transform(given))
    problem = nspca.Problem.from_data(given, 3)
    assert list(problem.features.names) == list("abcdef")
    assert nspca.verify(X, nspca.solve(problem).certificate, problem) > 0
    for wrong in (lambda: model.to_xarray(X), lambda: nspca.Problem.from_data(given.expand_dims("year"), 2)):
        with pytest.raises(InvalidProblem, match="DataArray"):
            wrong()


def test_a_frame_of_polars_goes_in_and_out():
    pl = the("polars")
    X = np.random.default_rng(0).random((30, 4))
    frame = pl.DataFrame(X, schema=list("abcd"))
    model = nspca.NSPCA(n_components=2, k=2).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    out = model.set_output(transform="polars").transform(frame)
    assert isinstance(out, pl.DataFrame) and np.allclose(
        out.to_numpy(), (X - X.mean(0)) @ model.components_.T
    )
    problem = nspca.Problem.from_data(frame, 2)
    assert list(problem.features.names) == list("abcd")
    assert nspca.verify(X, nspca.solve(problem).certificate, problem) > 0
