"""Integers in files that float64 cannot represent: refused unless they are names."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import nspca
from nspca.shards.sources import shard
from tests.files import saved

TIMES = 1_700_000_000_000_000_000 + np.random.default_rng(0).integers(1, 100, (12, 3))
FRAME = pd.DataFrame(TIMES, columns=["a", "b", "c"]).assign(x=np.arange(12) / 8)


FILES = {
    "csv": FRAME.to_csv(index=False).encode(),
    "tsv": FRAME.to_csv(index=False, sep="\t", decimal=",").encode(),
    "parquet": saved(FRAME.to_parquet),
    "npy": saved(np.save, TIMES),
    "npz": saved(np.savez, X=TIMES),
    "mtx": saved(mmwrite, sp.coo_array(TIMES)),
    "csr": saved(sp.save_npz, sp.csr_array(TIMES)),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_refused(kind):
    one = TIMES[0, 0]
    arrays = {"csr": "the sparse matrix", "mtx": "the matrix", "npy": "column 1", "npz": "column 1"}
    where = arrays.get(kind, 'column "a"')
    with pytest.raises(
        nspca.InvalidData, match=f"{where} holds {one}, which it rounds to {int(float(one))}:"
    ):
        nspca.read(FILES[kind])


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "mtx", "csr"])
def test_no_shards_are_made_of_it(kind, tmp_path):
    file = tmp_path / ("table.npz" if kind == "csr" else f"table.{kind}")
    file.write_bytes(FILES[kind])
    with pytest.raises(nspca.InvalidData, match=r"holds 17\d+, which it rounds to"):
        shard(file, tmp_path / "shards")
    assert not (tmp_path / "shards").exists()


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_names_and_labels_are_read(kind):
    table = FRAME[["a", "x"]].assign(y=np.arange(12.0) ** 2)
    table = table.drop_duplicates("a")
    raw = saved(table.to_parquet, index=False) if kind == "parquet" else table.to_csv(index=False).encode()
    data = nspca.read(raw, id_column="a")
    assert data.sample_names == tuple(map(str, table["a"]))
    assert nspca.read(raw, label_column="a").labels.tolist() == table["a"].tolist()


@pytest.mark.parametrize("missing", ["refuse", "samples"])
def test_a_cell_below_others(missing):
    gap = "" if missing == "samples" else "2"
    raw = f"a,b\n1e20,1\n-9007199254740993,{gap}\n3,4\n5,6\n".encode()
    with pytest.raises(nspca.InvalidData, match='row 2, column "a" holds -9007199254740993, which it rounds'):
        nspca.read(raw, missing=missing)


def test_counts_of_words(tmp_path):
    file = tmp_path / "docword.txt"
    for count in (9007199254740993, 1234567890123456800):
        file.write_text(f"2\n2\n3\n1 1 3\n1 2 {count}\n2 1 4\n")
        for take in (nspca.read, lambda file: shard(file, tmp_path / "shards")):
            with pytest.raises(nspca.InvalidData, match=f"holds {count}, which it rounds to"):
                take(file)
    file.write_text("2\n2\n3\n1 1 3\n1 2 9007199254740992\n2 1 4\n")
    assert shard(file, tmp_path / "shards").largest == nspca.read(file).X.max() == 2**53


@pytest.mark.parametrize("kind", [pa.decimal128(20, 0), pa.decimal128(25, 3), pa.decimal256(50, 0)], ids=str)
def test_decimals_that_are_whole(kind, tmp_path):
    file = tmp_path / "table.parquet"

    def save(*held):
        pq.write_table(pa.table({"a": pa.array(held, kind), "b": [1, 3, 2, 5], "c": [2, 0, 1, 7]}), file)

    save(1, 2**60 + 1, 2**60 + 3, 2**60 + 5)
    for take in (nspca.read, lambda file: shard(file, tmp_path / "shards")):
        with pytest.raises(
            nspca.InvalidData, match=f'column "a" holds {2**60 + 1}, which .* save it as floats'
        ):
            take(file)
    assert nspca.read(file, id_column="a").sample_names[1].startswith(str(2**60 + 1))
    held = (2**60, -(2**53), 12345678901234567000, None)
    save(*held)
    assert nspca.read(file, missing="samples").X[:, 0].tolist() == [float(one) for one in held[:3]]


@pytest.mark.parametrize("cell", [str(10**24), "12345678901234567000", "-12345678901234567000"])
def test_a_float_written_in_full_is_read(cell, tmp_path):
    """Floats with all their digits are read, since no other float is nearer to these digits."""
    table, matrix = tmp_path / "table.csv", tmp_path / "matrix.mtx"
    table.write_text(f"a,b\n{cell},1\n2,3\n4,7\n")
    matrix.write_text(f"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 {cell}\n1 2 3\n2 1 2\n")
    for file in (table, matrix):
        held = nspca.read(file).X
        assert (held.toarray() if sp.issparse(held) else held)[0, 0] == float(cell)
        shard(file, tmp_path / f"shards of {file.suffix}")
    table.write_text(f"a,b\n{cell},1\n{cell[:-1]}1,3\n4,7\n")
    with pytest.raises(nspca.InvalidData, match=f"holds {cell[:-1]}1, which it rounds to"):
        nspca.read(table)


def test_large_numbers_that_are_floats_are_read():
    """Large numbers are read when they are written as decimals, or are integers that float64 represents."""
    cells = ["9007199254740993.0", "1.2345678901234567e+17", str(3 * 2**60), "-9007199254740992"]
    raw = ("a,b\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells))).encode()
    assert nspca.read(raw).X[:, 0].tolist() == [float(cell) for cell in cells]
    whole = np.array([[3 * 2**60, 1], [2**53, 2]])
    assert (whole == nspca.read(saved(np.save, whole)).X).all()
    assert (whole == nspca.read(saved(pd.DataFrame(whole, columns=["a", "b"]).to_parquet)).X).all()
