"""Parquet: the same table as its CSV; footers that say too much are refused before a column is read."""

import io
import struct
import subprocess
import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nspca.data import limits, read
from nspca.errors import InvalidData


def written(table: pa.Table | pd.DataFrame, **options) -> bytes:
    stream = io.BytesIO()
    pq.write_table(
        pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table, stream, **options
    )
    return stream.getvalue()


FRAME = pd.DataFrame(
    {"a": [1.0, 1 / 3, 5, 7], "b": [1, 2, 3, 4], "kind": list("xyxy")}, index=["ann", "bob", "cid", "dan"]
)


@pytest.mark.parametrize(
    "options", [{}, {"row_group_size": 2}, {"compression": "zstd"}, {"use_dictionary": False}]
)
def test_a_data_frame_comes_back(options):
    data = read(written(FRAME, **options), label_column="kind")
    assert data.X.tolist() == FRAME[["a", "b"]].to_numpy().tolist() and data.X.flags.c_contiguous
    assert (data.feature_names, data.sample_names) == (("a", "b"), ("ann", "bob", "cid", "dan"))
    assert data.labels.tolist() == list("xyxy")
    assert [*read(written(FRAME, **options)).label_columns] == ["kind"]


@pytest.mark.parametrize(
    "index",
    [pd.Index(["x1", "x2", "x3", "x4"]), pd.date_range("2024", periods=4), pd.Index([1998, 2000, 7, 4])],
)
def test_the_index_of_a_data_frame_has_the_sample_names_under_any_name(index):
    frame = FRAME[["a", "b"]].set_index(index.rename("when"))
    data = read(written(frame))
    assert data.feature_names == ("a", "b") and data.X.tolist() == frame.to_numpy().tolist()
    assert data.sample_names[0].startswith(str(index[0])[:10])


@pytest.mark.parametrize(
    ("words", "features"),
    [
        (b"{", "ab"),
        (b"[]", "ab"),
        (b'{"index_columns": 3}', "ab"),
        (b'{"index_columns": [[1], {}, "c", "none"]}', "ab"),
        (b'{"index_columns": ["a"]}', "b"),
    ],
)
def test_what_a_file_says_of_its_index_may_be_anything(words, features):
    frame = FRAME[["a", "b"]].reset_index(drop=True).assign(more=[3.0, 1, 1, 4])
    table = pa.Table.from_pandas(frame).replace_schema_metadata({b"pandas": words})
    assert read(written(table)).feature_names == (*features, "more")


def test_columns_of_every_kind():
    table = pa.table(
        {
            "who": ["p", "q", "r", "s"],
            "flag": [True, False, None, True],
            "small": pa.array([1, 2, 3, 4], pa.uint8()),
            "money": pa.array([Decimal("1.50"), None, Decimal("2.25"), Decimal("0.75")], pa.decimal128(9, 2)),
            "group": pa.array(["u", "v", "u", "v"]).dictionary_encode(),
            "day": [date(2020, 1, 1), date(2020, 1, 2)] * 2,
            "nothing": pa.nulls(4),
        }
    )
    data = read(written(table), missing="mean", label_column="group")
    assert data.feature_names == ("flag", "small", "money")
    assert data.X.tolist() == [[1, 1, 1.5], [0, 2, 1.5], [2 / 3, 3, 2.25], [1, 4, 0.75]]
    assert data.sample_names == ("p", "q", "r", "s") and {*data.label_columns} == {"group", "day"}
    assert any('"nothing" is empty' in note for note in data.notes)


def test_features_in_rows():
    table = pa.table({"gene": ["g1", "g2"], "s1": [1.0, 2.0], "s2": [3.0, 4.0], "s3": [5.0, 6.0]})
    data = read(written(table), features_in_rows=True)
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]] and data.feature_names == ("g1", "g2")


def with_footer(raw: bytes, change) -> bytes:
    """The file with its footer, the metadata at its end, changed."""
    length = struct.unpack("<I", raw[-8:-4])[0]
    footer = change(raw[-8 - length : -8])
    return raw[: -8 - length] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def varint(number: int) -> bytes:
    number, out = number * 2, bytearray()  # thrift writes signed numbers zigzag
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def claiming(rows: int, everywhere: bool) -> bytes:
    """A file of 4001 rows whose footer says that there are more: as a whole, or in its row group and columns
    too.
    """
    raw = written(pa.table({"a": np.zeros(4001), "b": np.ones(4001)}))
    return with_footer(
        raw, lambda footer: footer.replace(varint(4001), varint(rows), -1 if everywhere else 1)
    )


def test_row_groups_that_claim_too_much():
    before = pa.default_memory_pool().max_memory()
    for rows, said in (
        (10**9, "1000000000 rows"),
        (2**40, "rows"),
        (10**6, "damaged|does not fit|more than the file"),
    ):
        for everywhere in (False, True):
            raw = claiming(rows, everywhere)
            assert pq.read_metadata(io.BytesIO(raw)).num_rows == rows
            with pytest.raises(InvalidData, match=said):
                read(raw)
    assert pa.default_memory_pool().max_memory() - before < 64 * 2**20


def test_values_that_would_fill_memory(monkeypatch):
    raw = written(
        pa.table({"a": np.zeros(100_000), "b": np.zeros(100_000)}), compression="zstd", use_dictionary=False
    )
    assert len(raw) < 5000
    monkeypatch.setattr("nspca.data.formats.base.MAX_BYTES", 2**16)
    with pytest.raises(InvalidData, match="of text: keep fewer columns"):
        read(raw)
    monkeypatch.setattr(limits, "MAX_VALUES", 1000)
    with pytest.raises(InvalidData, match="100000 rows and 2 columns"):
        read(raw)


def test_a_long_text_that_is_repeated():
    text = "x" * 20_000
    raw = written(pa.table({"note": [text] * 5000, "a": np.arange(5e3), "b": np.arange(5e3)}))
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(InvalidData, match="would grow"):
        read(raw)
    assert pa.default_memory_pool().max_memory() - before < 64 * 2**20


@pytest.mark.long
def test_a_footer_changed_at_any_byte_ends_no_process():
    """In a process of its own: Arrow aborts when it is asked for the metadata of a damaged column."""
    raw = written(FRAME)
    start = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    script = """
import sys
from nspca.data import read
from nspca.errors import InvalidData
raw, start = sys.stdin.buffer.read(), int(sys.argv[1])
for at in range(start, len(raw) - 8):
    for value in (0x15, 0xFF):
        changed = bytearray(raw)
        changed[at] = value
        try:
            read(bytes(changed))
        except InvalidData as error:
            assert str(error).endswith(".")
print("alive")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(start)], input=raw, capture_output=True, check=False
    )
    assert done.returncode == 0 and done.stdout.split() == [b"alive"], done.stderr.decode()[-2000:]


def test_a_time_zone_that_nobody_knows():
    stamps = pa.array([1, 2, 3], pa.timestamp("s", tz="Nowhere/Land"))
    with pytest.raises(InvalidData, match=r"tz=Nowhere/Land. cannot be read"):
        read(written(pa.table({"when": stamps, "a": [1.0, 2, 4], "b": [4.0, 2, 1]})))


def test_a_column_of_texts_is_named_by_what_it_holds():
    texts = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["1", "2", "x"], "c": [4.0, 5.0, 6.0]})
    with pytest.raises(InvalidData, match=r'row 3, column "b" holds the text "x"'):
        read(written(texts))
    assert read(written(texts.assign(b=["1", "2", "3"]))).X[:, 1].tolist() == [1, 2, 3]
