"""The sandbox: files are read as in the server's process, whose memory does not grow."""

import gzip
from dataclasses import fields

import numpy as np
import pandas as pd
import psutil
import pytest
import scipy.sparse as sp

from nspca.data import read, sandbox
from nspca.data.dialect import find_layout
from nspca.data.formats.arrow import FEATHER_MAGIC
from nspca.data.formats.excel import OLE
from nspca.data.formats.statistics import SAS, XPORT
from nspca.data.sandbox import Opened, is_small, open_file
from nspca.errors import InvalidData
from tests.files import archive, npy, saved


def same(one, other) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if sp.issparse(one):
        return one.shape == other.shape and (one != other).nnz == 0
    if type(one).__name__ in ("Dataset", "Layout"):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, dict):
        return [*one] == [*other] and all(same(one[name], other[name]) for name in one)
    return type(one) is type(other) and one == other


@pytest.fixture
def everything_apart(monkeypatch):
    monkeypatch.setattr(sandbox, "is_small", lambda raw: False)


TABLE = b"who,a,b,kind\nann,1,2,x\nbob,3,4.5,y\ncid,5,6,x\ndan,7,8,y\n"


def test_a_table_comes_back_whole_with_its_annotation(everything_apart):
    """Names of label columns are never taken for kinds of objects."""
    names = ["$array", "$Dataset", "XDataset", "$error"]
    rows = [f"s{i},{i or ''},{i * i % 7},{','.join('xy'[i % 2] for _ in names)}" for i in range(6)]
    raw = "\n".join([f"who,a,b,{','.join(names)}", *rows]).encode()
    about = "who,batch\n" + "".join(f"s{i},{'uv'[i % 2]}\n" for i in range(6))
    how = {"missing": "mean", "annotation": about.encode(), "label_column": "batch"}
    found = open_file(raw, "mine", None, **how)
    assert same(found.data, read(raw, name="mine", **how)) and {*names, "batch"} <= {
        *found.data.label_columns
    }
    assert same(found.layout, find_layout(raw)) and not found.is_mendable


def test_sparse_counts_and_their_words_come_back_whole(everything_apart):
    raw, words = b"3\n4\n3\n1 1 2\n1 4 1\n3 2 7\n", b"a\nb\nc\nd\n"
    found = open_file(raw, "counts", words)
    assert same(found.data, read(raw, name="counts", vocabulary=words)) and found.layout is None


def test_a_process_that_takes_too_much_or_too_long_is_one_sentence(everything_apart, monkeypatch):
    raw = npy(np.zeros((100_000, 100)))
    monkeypatch.setattr(sandbox, "MEMORY", 400 * 2**20)
    before = psutil.Process().memory_info().rss
    found = open_file(raw, "large")
    assert (
        "needs more than the 400 MiB of memory that it may take" in str(found.data) and not found.is_mendable
    )
    assert psutil.Process().memory_info().rss - before < 60 * 2**20
    monkeypatch.setattr(sandbox, "SECONDS", 0.05)
    assert "takes more than" in str(open_file(TABLE, "slow").data)


def test_a_full_disk_is_one_sentence(everything_apart, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sandbox.Path, "write_bytes", full)
    assert "cannot be read just now" in str(open_file(TABLE, "mine").data)


PARQUET = saved(pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}).to_parquet)


@pytest.mark.parametrize(
    ("raw", "small"),
    [
        (TABLE, True),
        (TABLE * 50_000, False),
        (gzip.compress(TABLE), True),
        (gzip.compress(TABLE * 50_000), False),
        (gzip.compress(gzip.compress(TABLE)), False),
        (PARQUET, False),
        (gzip.compress(PARQUET), False),
        (archive({"X.npy": bytes(100)}), True),
        (archive({"X.npy": bytes(3_000_000)}), False),
        (archive({"table.csv.gz": gzip.compress(TABLE)}), False),
        (gzip.compress(TABLE) + gzip.compress(bytes(3_000_000)), False),
        (gzip.compress(TABLE) + gzip.compress(TABLE), True),
        (gzip.compress(TABLE)[:-4], True),
        (b"\x1f\x8b damaged", True),
        *(
            (begin + bytes(60), False)
            for begin in (OLE, SAS, XPORT, FEATHER_MAGIC, b"%PDF", b"\x89PNG", b"GIF8")
        ),
        (b"<stata_dta>", False),
    ],
)
def test_what_may_become_large_is_read_apart(raw, small):
    assert is_small(raw) == small


@pytest.mark.parametrize(
    "raw",
    [
        b"a,b,c,d\n1,2,3,1-p\n4,5,6,1-q\n7,8,9,1-r\n",
        b"a,b,c,d\n1,2,1-p,1-s\n4,5,1-q,1-t\n7,8,1-r,1-u\n",
        b"a,b,c,d,e\n1,2,1-p,1-s,1-k\n4,5,1-q,1-t,1-l\n7,8,1-r,1-u,1-m\n",
        b"gene,s1,s2,s3\nkind,x,y,x\ng1,1,2,3\ng2,2,3,5\n",
        b"a,b,c\n1,2,3\n3,4,4\n5,six,7\n7,8,8\n9,1,2\n",
    ],
)
def test_every_way_of_a_refusal_works(raw):
    found = open_file(raw, "x")
    assert isinstance(found, Opened) and isinstance(found.data, InvalidData) and found.is_mendable
    assert found.data.ways
    for way in found.data.ways:
        assert not isinstance(open_file(raw, "x", **{way.option: way.value}).data, InvalidData), way


def test_a_refused_table_keeps_its_layout_so_that_other_options_can_be_tried():
    for raw in (b"a,b\n1,2\n3,4,5,6\n7,8\n", b"a,b\n1,2\n"):
        found = open_file(raw, "x")
        assert isinstance(found.data, InvalidData) and found.layout is not None and found.is_mendable


@pytest.mark.long
def test_a_wide_table_of_short_cells_takes_no_more_than_a_long_one(everything_apart, monkeypatch):
    """Lines longer than 256 KiB made one array for each cell, of 100 bytes: this table then took 1.2 GB."""
    monkeypatch.setattr(sandbox, "MEMORY", 1400 * 2**20)
    rng = np.random.default_rng(0)
    lines = [b",".join(b"%d" % one for one in row) for row in rng.integers(0, 10, (80, 140_000))]
    found = open_file(b"\n".join(lines), "wide")
    assert not isinstance(found.data, InvalidData) and found.data.X.shape == (80, 140_000)
