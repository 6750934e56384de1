"""Readers: `probe` says the size, and blocks make the same table in memory, on disk and for estimates."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import nspca
from nspca.data.containers import open_reader, open_source
from nspca.data.formats import ARCHIVE, FORMATS
from nspca.data.formats.base import Source
from nspca.data.formats.delimited import DelimitedReader
from nspca.data.formats.entries import EntrySorter
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.shards.sources import shard
from tests.files import saved

X = np.random.default_rng(0).poisson(0.7, (37, 9)).astype(float)
FRAME = pd.DataFrame(X, columns=[f"c{j}" for j in range(9)])


def docword() -> bytes:
    matrix = sp.coo_array(X)
    lines = [f"{i + 1} {j + 1} {v:.0f}" for i, j, v in zip(*matrix.coords, matrix.data, strict=True)]
    return "\n".join(["37", "9", str(matrix.nnz), *lines[::-1], ""]).encode()


def with_zero(X) -> sp.csr_array:
    """The table with an entry of 0 that is stored all the same, in its second row."""
    data, (rows, columns) = X[X != 0], np.nonzero(X)
    zero = np.argwhere(X == 0)[0]
    return sp.csr_array(
        sp.coo_array((np.append(data, 0.0), (np.append(rows, zero[0]), np.append(columns, zero[1]))), X.shape)
    )


FILES = {
    "docword": docword(),
    "docword in gzip": gzip.compress(docword()),
    "sparse matrix": saved(scipy.io.mmwrite, sp.coo_array(X), field="real"),
    "sparse matrix in gzip": gzip.compress(saved(scipy.io.mmwrite, sp.coo_array(X), field="real")),
    "dense matrix": saved(scipy.io.mmwrite, X),
    "csv": FRAME.to_csv(index=False).encode(),
    "csv in gzip": gzip.compress(FRAME.to_csv(index=False).encode()),
    "parquet": saved(FRAME.to_parquet, row_group_size=10),
    "csr": saved(sp.save_npz, sp.csr_array(X)),
    "csr with a stored zero": saved(sp.save_npz, with_zero(X)),
    "csc": saved(sp.save_npz, sp.csc_array(X)),
    "npz": saved(np.savez, X=X),
    "npz of another name": saved(np.savez, table=X, labels=np.arange(37)),
    "npz beside words of sparse ones": saved(np.savez, X=X, data=X[:3], format="own", shape=[3, 3]),
    "npy": saved(np.save, X),
    "npy by columns": saved(np.save, np.asfortranarray(X)),
    "npz by columns": saved(np.savez_compressed, X=np.asfortranarray(X)),
}
ONLY_IN_MEMORY = {"dense matrix"}


@pytest.mark.parametrize("kind", FILES)
def test_a_probe_says_the_size_that_reading_gives(kind, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(FILES[kind])
    shape, data = open_reader(Source(path)).probe(), nspca.read(path)
    assert (shape.rows, shape.columns) == data.X.shape == X.shape and shape.exact
    assert shape.entries == (data.X.nnz if sp.issparse(data.X) else X.size)
    assert shape.sparse == sp.issparse(data.X)
    assert np.array_equal(data.X.toarray() if shape.sparse else data.X, X)


@pytest.mark.parametrize("rows", [1, 8, 37, 100])
@pytest.mark.parametrize("kind", FILES)
def test_blocks_on_disk_are_the_rows_of_the_file(kind, rows, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(FILES[kind])
    if kind in ONLY_IN_MEMORY:
        with pytest.raises(InvalidData, match=r"got .*: convert it"):
            shard(path, tmp_path / "shards", rows=rows)
        assert not (tmp_path / "shards").exists()
        return
    blocks = [*open_reader(Source(path)).blocks(rows, tmp_path)]
    whole = [block.X.toarray() if sp.issparse(block.X) else block.X for block in blocks]
    assert np.array_equal(np.concatenate(whole), X)
    made = shard(path, tmp_path / "shards", rows=rows)
    assert [block.shape[0] for block in made.blocks()] == [min(rows, 37 - i) for i in range(0, 37, rows)]


@pytest.mark.parametrize("kind", ["csc", "npz by columns"])
def test_a_table_by_columns_is_one_block_without_a_folder_for_files(kind, tmp_path):
    (tmp_path / "file").write_bytes(FILES[kind])
    (block,) = open_reader(Source(tmp_path / "file")).blocks()
    assert np.array_equal(block.X.toarray() if sp.issparse(block.X) else block.X, X)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_matrix_by_columns_is_sorted_some_columns_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("nspca.data.formats.npz.PIECE", 40)  # a column or two
    (tmp_path / "file").write_bytes(FILES["csc"])
    blocks = [*open_reader(Source(tmp_path / "file")).blocks(5, tmp_path)]
    assert np.array_equal(sp.vstack([block.X for block in blocks]).toarray(), X)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_some_columns_have_no_more_entries_than_are_read_at_a_time(tmp_path, monkeypatch):
    """The first columns are full, as those of the most frequent words are, and the others nearly empty."""
    added = []
    monkeypatch.setattr("nspca.data.formats.npz.PIECE", 100)
    monkeypatch.setattr(
        EntrySorter,
        "add",
        lambda self, rows, *more, own=EntrySorter.add: added.append(rows.size) or own(self, rows, *more),
    )
    table = np.zeros((37, 500))
    table[:, :8], table[3, 8:], table[:, 200:220] = 1.5, 2.0, 0.0
    (tmp_path / "file").write_bytes(saved(sp.save_npz, sp.csc_array(table)))
    blocks = [*open_reader(Source(tmp_path / "file")).blocks(5, tmp_path)]
    assert np.array_equal(sp.vstack([block.X for block in blocks]).toarray(), table)
    assert sum(added) == np.count_nonzero(table) and max(added) <= 100 and len(added) < 15


@pytest.mark.parametrize("full", [[], [0, 5]])
def test_columns_without_entries_may_be_read_at_a_time(tmp_path, monkeypatch, full):
    """A column with more entries than are read at a time stands alone, so empty ones beside it do too."""
    monkeypatch.setattr("nspca.data.formats.npz.PIECE", 20)
    table = np.zeros((37, 9))
    table[:, full] = 1.5
    (tmp_path / "file").write_bytes(saved(sp.save_npz, sp.csc_array(table)))
    blocks = [*open_reader(Source(tmp_path / "file")).blocks(5, tmp_path)]
    assert np.array_equal(sp.vstack([block.X for block in blocks]).toarray(), table)


def test_an_error_in_writing_is_not_taken_for_a_damaged_archive(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(FILES["npz by columns"])
    reader = open_reader(Source(tmp_path / "file"))
    monkeypatch.setattr(
        "nspca.data.formats.npz.Path.open", lambda *how: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(OSError, match="full"):
        list(reader.blocks(5, tmp_path))


def test_a_block_has_the_texts_of_other_columns(tmp_path):
    path = tmp_path / "table.csv"
    FRAME.assign(who=[f"s{i}" for i in range(37)], kind=["u", "v"] * 18 + ["u"], group="g").to_csv(
        path, index=False
    )
    options = ReadOptions(id_column="who", label_column="kind")
    (block,) = open_reader(Source(path), options).blocks()
    assert np.array_equal(block.X, X)
    assert {i: set(cells) for i, cells in block.texts.items()} == {11: {"g"}}


@pytest.mark.parametrize("kind", ["docword", "sparse matrix", "dense matrix", "npy", "csr"])
def test_a_probe_believes_a_header_as_far_as_the_file_is_long(kind, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(FILES[kind][: len(FILES[kind]) // 3])
    with pytest.raises(InvalidData, match=r"too short|says it holds|cut short"):
        open_reader(Source(path)).probe()


def test_a_probe_of_an_archive_believes_no_header_beyond_its_member(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (200_000, 200_000)}
    )
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    with pytest.raises(InvalidData, match="says it holds 298 GiB and the file holds 0 MiB"):
        open_reader(Source(tmp_path / "file")).probe()


@pytest.mark.parametrize("raw", [b"%PDF-1.4 and so on", b"\x89PNG\r\n\x1a\n", b"\x80\x04abc"])
def test_formats_that_are_never_read_have_no_reader(raw, tmp_path):
    (tmp_path / "file").write_bytes(raw)
    with pytest.raises(InvalidData, match="must be a docword, Matrix Market, Parquet, CSV"):
        open_reader(Source(tmp_path / "file"))
    with pytest.raises(InvalidData, match="must be a docword, Matrix Market, Parquet, CSV"):
        nspca.plan(tmp_path / "file")


def test_every_format_has_one_entry():
    """A file is claimed by one format besides that of texts, which takes what is left."""
    for raw in FILES.values():
        source = open_source(raw)
        assert sum(one.matches(source) and one is not ARCHIVE for one in FORMATS[:-1]) <= 1
    assert FORMATS[-1].reader is DelimitedReader
    for one in FORMATS:
        ways = sum(map(bool, (one.convert, one.read, one.refused)))
        assert ways == 1 or (ways == 0 and (one.reader or one is ARCHIVE))
