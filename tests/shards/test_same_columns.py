"""A table has the same columns in memory, in shards and in a plan, or is refused by both that read it."""

import re
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import nspca
from nspca.__main__ import main
from nspca.covariance.numbers import canonical, sparse_digest
from nspca.data.formats import delimited
from nspca.errors import InvalidData
from nspca.shards.sources import shard
from tests.data import test_tables
from tests.data.test_parquet import written

NOISE = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 6)), columns=list("abcdef"))
CALLED = NOISE.set_index("s" + NOISE.index.astype(str))
SEVENTH = {
    "labels": ["x", "y"] * 100,
    "flags": [True, False] * 100,
    "words for nothing": ["NA", "y"] * 100,
    "nothing": [None] * 200,
    "labels far below": [None] * 190 + ["x"] * 10,
    "numbers far below": [None] * 190 + [1.5] * 10,
    "texts far below": [None] * 150 + [f"t{i}" for i in range(50)],
    "texts": [f"t{i}" for i in range(200)],
    "texts that repeat at first": ["x"] * 100 + [f"t{i}" for i in range(100)],
    "numbers as texts": [str(i) for i in range(200)],
    "decimals": [Decimal(i).scaleb(-2) for i in range(200)],
    "dates": [date(2020, 1, 1 + i % 9) for i in range(200)],
    "dates that differ": [date.fromordinal(738000 + i) for i in range(200)],
    "dates and a text": [*(str(date.fromordinal(738000 + i)) for i in range(199)), "soon"],
    "marks in numbers": ["1_000", *range(199)],
    "gaps": [1.0, None] * 100,
    "lists": [[1]] * 200,
}
"""What a column beside the noise may hold."""


def csv(frame, **how):
    return frame.to_csv(**how).encode()


def of_test(test):
    """Yield the tables of a test of reading."""
    for mark in test.pytestmark:
        for param in mark.args[1]:
            raw = param[0] if isinstance(param, tuple) else param
            if isinstance(raw, bytes):
                yield raw


TABLES = {
    "index": csv(NOISE),
    "index with a name": csv(NOISE, index_label="id"),
    "no index": csv(NOISE, index=False),
    "as R writes it": csv(NOISE).replace(b",a,", b"a,", 1),
    "blank lines above": b"\n\r\n" + csv(NOISE),
    "no end of line": csv(NOISE).rstrip(),
    "names": csv(CALLED),
    "long lines": csv(pd.DataFrame(np.random.default_rng(0).random((6, 2_000)))),
    "marks between thousands": b"a\tb\tc\n" + b"1,243\t98\t1\n960\t62\t2\n2,080\t89\t3\n" * 50,
    "three decimals": b"a;b;c\n" + b"1,243;98,125;1\n960,500;62,250;2\n2,080;89,375;3\n" * 50,
    "parquet filtered": written(NOISE[NOISE.a > 0]),
    "parquet stacked": written(pd.concat([NOISE, NOISE])),
    "parquet sorted": written(NOISE.set_index(NOISE.index // 2)),
    "parquet with two indices": written(pd.concat([NOISE], keys=["x"])),
    "parquet names": written(CALLED),
    "parquet, dots in names": written(NOISE.rename(columns={"b": "a.b"})),
}
for what, cells in SEVENTH.items():
    TABLES[what] = csv(NOISE.assign(g=cells), index=False)
    if what != "marks in numbers":
        TABLES[f"parquet {what}"] = written(NOISE.assign(g=cells))
for test in (
    test_tables.test_the_same_table_in_every_dress,
    test_tables.test_one_sentence_for_what_cannot_be_read,
):
    TABLES |= {f"{test.__name__} {i}": raw for i, raw in enumerate(of_test(test))}


def read(source):
    """Return the data set, or the error of reading."""
    try:
        return nspca.read(source)
    except InvalidData as error:
        return error


@pytest.mark.parametrize("name", TABLES)
def test_the_columns_are_the_same(name, tmp_path):
    source = tmp_path / "table"
    source.write_bytes(TABLES[name])
    known = read(source)
    if isinstance(known, InvalidData):
        if "got 1 sample " not in str(known):  # which a folder may have
            with pytest.raises(InvalidData, match=r"\w: [a-z ]+|\.$"):
                shard(source, tmp_path / "s")
        return
    made = shard(source, tmp_path / "s", rows=50)
    assert (made.shape, made.feature_names) == (known.X.shape, tuple(known.feature_names))
    assert made.digest == sparse_digest(canonical(sp.csr_array(known.X)))
    size = nspca.plan(source, 1).size
    assert (size.rows, size.columns) == known.X.shape


GENES = b"gene,s1,s2,s3,note\nkind,x,y,x,\ng1,1,2,3,u\ng2,4,5,6,v\ngroup,p,q,p,\n" + b"".join(
    b"g%d,%d,2,3,w\n" % (i, i) for i in range(3, 300)
)
IN_PIECES = {
    "gaps far below": csv(NOISE, index=False) + b"1,,3,4,5,6\n" * 9 + b"1,2,,NA,5,6\n",
    "a text below gaps": csv(NOISE, index=False) + b"1,,3,4,5,6\n" * 9 + b"1,2,x,4,5,6\n",
    "lines that end in CR": csv(NOISE, index=False).replace(b"\n", b"\r") + b"1,2,x,4,5,6\r",
    "both ends of lines": csv(NOISE, index=False) + b"1,2,3,4,5,6\r" * 300,
    "blank lines below": csv(NOISE, index=False) + b"\n" * 500,
    "blank lines between": csv(NOISE, index=False) + b"\n" * 500 + b"1,2,3,4,5,6\n",
    "bare lines below": csv(NOISE, index=False) + b",,,,,\n" * 300,
    "a word of latin": csv(CALLED.rename(index={"s190": "Müller"})).decode().encode("cp1252"),
}


@pytest.mark.parametrize(
    ("name", "how"),
    [*((name, {}) for name in IN_PIECES), *((name, {"missing": "mean"}) for name in list(IN_PIECES)[:2])],
)
def test_pieces_in_memory_make_the_whole(name, how, monkeypatch):
    known = outcome(IN_PIECES[name], how)
    monkeypatch.setattr(delimited, "PER_COLUMN", 0)
    for size in (50, 1000):  # less than a row, and several rows
        monkeypatch.setattr(delimited, "PIECE", size)
        assert outcome(IN_PIECES[name], how) == known


@pytest.mark.parametrize("name", [name for name in TABLES if not name.startswith(("parquet", "long"))])
def test_pieces_of_every_table_make_the_whole(name, monkeypatch):
    known = outcome(TABLES[name], {})
    monkeypatch.setattr(delimited, "PER_COLUMN", 0)
    monkeypatch.setattr(delimited, "PIECE", 4000)
    assert outcome(TABLES[name], {}) == known


def test_rows_that_are_labels_are_left_out_of_the_piece_they_stand_in(monkeypatch):
    known = outcome(GENES, {"features_in_rows": True, "label_column": "group"})
    monkeypatch.setattr(delimited, "PIECE", 10)
    monkeypatch.setattr(delimited, "PER_COLUMN", 0)
    assert outcome(GENES, {"features_in_rows": True, "label_column": "group"}) == known
    assert known[1][:2] == ("g1", "g2") and len(known[1]) == 299


def outcome(raw, how):
    """Return the outcome of reading: the sentence of an error, or numbers, names, labels and notes."""
    try:
        data = nspca.read(raw, name="table", **how)
    except InvalidData as error:
        return str(error)
    labels = None if data.labels is None else data.labels.tolist()
    return data.X.tolist(), data.feature_names, tuple(data.sample_names), labels, data.notes


LINES = csv(NOISE, index=False).decode().splitlines()


def with_line(number, line):
    """The noise with another line, from 1."""
    return "\n".join([*LINES[: number - 1], line, *LINES[number:]])


TEXTS = {
    "a cell too many": with_line(152, "1,2,3,4,5,6,7"),
    "a delimiter too many": with_line(152, "1,2,3,4,5,6,"),
    "a cell too few": with_line(152, "1,2,3,4,5"),
    "a cell too many at first": with_line(2, "1,2,3,4,5,6,7"),
    "an empty cell": with_line(152, "1,2,,4,5,6"),
    "a text": with_line(152, "1,2,x,4,5,6"),
    "no finite number": with_line(152, "1,2,inf,4,5,6"),
    "a comment": with_line(152, "# the end"),
    "blank lines above it": with_line(100, "").replace("\n\n", "\n\n \n\n") + "\n1,2",
    "blank lines above all": "\n\n" + with_line(152, "1,2"),
    "lines within cells": "\n".join(f'"{i}\n,",{line}' for i, line in enumerate(LINES)) + "\nx,1,2",
    "lines that end in CR": with_line(152, "1,2").replace("\n", "\r"),
    "lines that end in CR and LF": with_line(152, "1,2").replace("\n", "\r\n"),
}
"""What is wrong in the last line of them, or in line 152."""


@pytest.mark.parametrize("what", TEXTS)
def test_the_sentence_is_that_of_reading_with_the_line(what, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 100)
    (tmp_path / "table").write_bytes(TEXTS[what].encode())
    known, lines = read(tmp_path / "table"), TEXTS[what].splitlines()
    line = 2 if "at first" in what else 154 if "above all" in what else 152
    line = len(lines) if what in ("blank lines above it", "lines within cells") else line
    with pytest.raises(InvalidData) as refused:
        shard(tmp_path / "table", tmp_path / "s")
    said, like = (
        re.split(r": | \(", re.sub(r"(?i)\b(row|line) \d+", "there", str(error)))[0]
        for error in (refused.value, known)
    )
    assert said == like
    assert re.search(rf"\b[Ll]ine {line}\b", str(refused.value))
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("where", ["header", "line 2", "line 190"])
def test_any_encoding_is_that_of_reading(encoding, where, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 100)
    monkeypatch.setattr(delimited, "HEAD", 6001)
    frame = CALLED.rename(columns={"b": "größe" if where == "header" else "b"})
    if where != "header":
        frame = frame.rename(index={f"s{int(where[5:]) - 2}": "Müller"})
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "table").write_bytes((mark + frame.to_csv()).encode(encoding))
    known, made = nspca.read(tmp_path / "table"), shard(tmp_path / "table", tmp_path / "s", rows=50)
    assert made.digest == sparse_digest(canonical(sp.csr_array(known.X)))
    assert made.feature_names == tuple(known.feature_names)


def test_text_that_is_no_longer_in_its_encoding_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "HEAD", 6001)
    text = CALLED.rename(columns={"b": "größe"}).to_csv().encode()
    for raw, kind in (
        (text + b"\xf6,1,2,3,4,5,6\n", "UTF-8"),
        (text.decode().encode("utf-16")[:-1], "UTF-16"),
    ):
        (tmp_path / "table").write_bytes(raw)
        with pytest.raises(InvalidData, match=f"begins as {kind} text and does not go on as such"):
            shard(tmp_path / "table", tmp_path / "s")


def test_names_without_a_header_are_those_of_reading(tmp_path):
    (tmp_path / "table").write_bytes(csv(CALLED, header=False))
    made = shard(tmp_path / "table", tmp_path / "s")
    assert made.feature_names == tuple(nspca.read(tmp_path / "table").feature_names)


def test_a_certificate_of_a_frame_with_its_index_holds_for_its_shards(tmp_path, capsys):
    source, folder, proof = (str(tmp_path / name) for name in ("idx.csv", "s", "proof.npz"))
    NOISE.to_csv(source)
    assert main(["shard", source, folder]) == 0
    assert "200 x 6" in capsys.readouterr().out
    assert main(["solve", folder, "--k", "2", "--certificate", proof]) == 0
    assert main(["verify", source, proof]) == 0


@pytest.mark.parametrize("kind", ["csv", "parquet", "symmetric", "sparse"])
def test_of_which_tables_a_certificate_holds(kind, tmp_path):
    """A certificate about a file holds for its shards; one about a dense table does not."""
    source, S = tmp_path / "table", NOISE.to_numpy().T @ NOISE.to_numpy()
    if kind in ("csv", "parquet"):
        source.write_bytes(csv(NOISE, index=False) if kind == "csv" else written(NOISE))
    else:
        scipy.io.mmwrite(
            tmp_path / "x.mtx", sp.coo_array(S), symmetry="symmetric" if kind == "symmetric" else "general"
        )
        source = tmp_path / "x.mtx"
    made, known = shard(source, tmp_path / "s", rows=50), nspca.read(source)
    on_disk = nspca.certify(nspca.Problem.from_shards(made, 2), effort="fast")
    in_memory = nspca.certify(nspca.Problem.from_data(known, 2), effort="fast")
    assert nspca.verify(known, on_disk) <= on_disk.upper
    assert nspca.verify(known, in_memory) <= in_memory.upper
    if kind == "sparse":
        assert nspca.verify(made, in_memory) <= in_memory.upper
    else:
        with pytest.raises(nspca.CertificateError, match="digests differ"):
            nspca.verify(made, in_memory)
