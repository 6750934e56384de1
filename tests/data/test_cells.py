"""Counts of single cells: AnnData and 10x files, written with the parts that their formats define."""

import gzip

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from nspca.data import read
from nspca.errors import InvalidData
from tests.files import saved

COUNTS = np.random.default_rng(1).poisson(0.7, size=(12, 7)).astype(np.float32)
CELLS, GENES = [f"c{i}" for i in range(12)], [f"g{i}" for i in range(7)]
KINDS = ["B", "T"] * 6


def strings(group, name, values):
    group.create_dataset(name, data=[value.encode() for value in values], dtype=h5py.string_dtype())


def h5ad(path, form="csr", old=False):
    with h5py.File(path, "w") as file:
        for name, names in (("obs", CELLS), ("var", GENES)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            strings(group, "_index", names)
        obs = file["obs"]
        if old:
            obs["kind"] = np.array([0, 1] * 6, dtype=np.int8)
            strings(obs.create_group("__categories"), "kind", ["B", "T"])
        else:
            kind = obs.create_group("kind")
            kind["codes"] = np.array([0, 1] * 6, dtype=np.int8)
            strings(kind, "categories", ["B", "T"])
        batch = obs.create_group("batch")
        batch["values"], batch["mask"] = np.arange(12) % 3, np.arange(12) == 4
        obs["depth"] = COUNTS.sum(axis=1) + np.arange(12) / 7
        layers = file.create_group("layers")
        layers["logged"] = np.log1p(COUNTS)
        if form == "dense":
            file["X"] = COUNTS
            return
        X = sp.csr_array(COUNTS) if form == "csr" else sp.csc_array(COUNTS)
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = f"{form}_matrix", COUNTS.shape
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(X, part)


def dense(data):
    return data.X.toarray() if sp.issparse(data.X) else data.X


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
@pytest.mark.parametrize("old", [False, True])
def test_cells_of_anndata(tmp_path, form, old):
    h5ad(tmp_path / "a.h5ad", form, old)
    data = read(tmp_path / "a.h5ad", label_column="kind")
    assert (dense(data) == COUNTS).all() and data.labels.tolist() == KINDS
    assert (list(data.sample_names), list(data.feature_names)) == (CELLS, GENES)
    assert data.label_columns["batch"][:5].tolist() == ["0", "1", "2", "0", "(none)"]
    assert any('"depth"' in note for note in data.notes) and any('"logged"' in note for note in data.notes)
    assert (np.log1p(COUNTS) == read(tmp_path / "a.h5ad", sheet="logged").X).all()


def test_cells_of_anndata_that_contradict_themselves(tmp_path):
    path = tmp_path / "a.h5ad"
    for change in ("indptr", "indices", "shape", "names"):
        h5ad(path)
        with h5py.File(path, "r+") as file:
            if change == "shape":
                file["X"].attrs["shape"] = (12, 10**9)
            elif change == "names":
                del file["var/_index"]
                strings(file["var"], "_index", GENES[:-1])
            else:
                file["X"][change][-1] = 1000
        with pytest.raises(InvalidData) as caught:
            read(path)
        assert str(caught.value).endswith(".")
    h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink("/etc/passwd", "X")
    with pytest.raises(InvalidData, match="in another file"):
        read(path)
    with pytest.raises(InvalidData, match="no layer"):
        h5ad(path)
        read(path, sheet="none")
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(InvalidData):
        read(path)


def tenx_hdf5(path, version):
    X = sp.csc_array(COUNTS.T)
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(X, part)
        group["shape"] = np.array(X.shape)
        strings(group, "barcodes", CELLS)
        ids = [f"ENSG{i}" for i in range(7)]
        if version == 3:
            features = group.create_group("features")
            strings(features, "name", GENES)
            strings(features, "id", ids)
            strings(features, "feature_type", ["Gene Expression"] * 6 + ["Antibody Capture"])
        else:
            strings(group, "gene_names", GENES)
            strings(group, "genes", ids)


@pytest.mark.parametrize("version", [2, 3])
def test_10x_files_in_hdf5(tmp_path, version):
    tenx_hdf5(tmp_path / "filtered.h5", version)
    data = read(tmp_path / "filtered.h5")
    assert (dense(data) == COUNTS).all()
    assert any("several types" in note for note in data.notes) == (version == 3)
    assert (list(data.sample_names), list(data.feature_names)) == (CELLS, GENES)


def tenx(folder, version=3, prefix="", genes=GENES):
    pack, end = (gzip.compress, ".gz") if version == 3 else (bytes, "")
    kind = "\tGene Expression" if version == 3 else ""
    files = {
        "matrix.mtx": saved(scipy.io.mmwrite, sp.coo_array(COUNTS.T.astype(int))),
        "features.tsv" if version == 3 else "genes.tsv": "".join(
            f"E{g}\t{g}{kind}\n" for g in genes
        ).encode(),
        "barcodes.tsv": "".join(f"{cell}\n" for cell in CELLS).encode(),
    }
    for name, raw in files.items():
        (folder / f"{prefix}{name}{end}").write_bytes(pack(raw))


@pytest.mark.parametrize(("version", "prefix"), [(3, ""), (2, ""), (3, "GSM1_a_"), (2, "GSM1.")])
def test_10x_folders(tmp_path, version, prefix):
    tenx(tmp_path, version, prefix)
    data = read(tmp_path)
    assert (dense(data) == COUNTS).all() and sp.issparse(data.X)
    assert (list(data.sample_names), list(data.feature_names)) == (CELLS, GENES)


def test_10x_files_that_do_not_belong_together(tmp_path):
    tenx(tmp_path, genes=GENES[:-1])
    with pytest.raises(InvalidData, match="different matrices"):
        read(tmp_path)
    tenx(tmp_path)
    tenx(tmp_path, prefix="b_")
    with pytest.raises(InvalidData, match="those of one sample"):
        read(tmp_path)


def test_a_file_of_cells_without_x_names_its_layers(tmp_path):
    h5ad(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "r+") as file:
        del file["X"]
    with pytest.raises(InvalidData, match='the layers are "logged"') as caught:
        read(tmp_path / "a.h5ad")
    assert [(way.option, way.value) for way in caught.value.ways] == [("sheet", "logged")]
    with pytest.raises(InvalidData, match="no column 'nothing' to take as labels"):
        h5ad(tmp_path / "b.h5ad")
        read(tmp_path / "b.h5ad", label_column="nothing")


def test_raw_counts_of_anndata_have_their_own_genes(tmp_path):
    h5ad(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "r+") as file:
        file["raw/X"] = np.hstack((COUNTS, COUNTS[:, :2] + 1))
        genes = file["raw"].create_group("var")
        genes.attrs["_index"] = "_index"
        strings(genes, "_index", [*GENES, "g7", "g8"])
    assert any('"raw"' in note for note in read(tmp_path / "a.h5ad").notes)
    data = read(tmp_path / "a.h5ad", sheet="raw")
    assert data.X.shape == (12, 9) and data.feature_names[-2:] == ("g7", "g8")
