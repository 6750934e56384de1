"""Excel: sheets are read like their CSV, and hostile workbooks are refused before parsing."""

import io
from datetime import date, timedelta

import pytest

from nspca.data import read
from nspca.data.formats import excel, sheets
from nspca.data.sandbox import open_file
from nspca.errors import InvalidData
from tests.files import rewritten, xlsx

ROWS = [
    ["who", "a", "b", "kind"],
    ["ann", 1, 2.5, "x"],
    ["bob", 3, 1 / 3, "y"],
    ["cid", 5, -1e-300, "x"],
    ["dan", 7, 0, "y"],
]


def changed(raw: bytes, **parts: bytes | None) -> bytes:
    """Return the workbook with parts replaced, by their last name without a suffix, or left out."""

    def change(name, content):
        content = parts.get(name.rpartition("/")[2].partition(".")[0], content)
        return None if content is None else (name, content)

    return rewritten(raw, change)


def renamed(raw: bytes, old: str, new: str) -> bytes:
    """The workbook with another name for one of its parts, wherever it is spoken of."""
    return rewritten(
        raw, lambda name, content: (name.replace(old, new), content.replace(old.encode(), new.encode()))
    )


def sheet(body: bytes, before: bytes = b"") -> bytes:
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    data = (
        b'<worksheet xmlns="'
        + space
        + b'"><dimension ref="A1:B2"/><sheetData>'
        + body
        + b"</sheetData></worksheet>"
    )
    return changed(xlsx(one=ROWS), sheet1=b'<?xml version="1.0" encoding="UTF-8"?>' + before + data)


def test_a_sheet_is_a_table():
    data = read(xlsx(one=ROWS), label_column="kind")
    assert data.X.tolist() == [[1, 2.5], [3, 1 / 3], [5, -1e-300], [7, 0]]
    assert (data.feature_names, data.sample_names) == (("a", "b"), ("ann", "bob", "cid", "dan"))
    assert data.labels.tolist() == ["x", "y", "x", "y"]
    found = open_file(xlsx(one=ROWS), "one").layout
    assert (found.columns, found.id_column, found.text_columns) == (("who", "a", "b", "kind"), 0, (0, 3))


def test_cells_of_every_kind():
    rows = [
        ["day", "a", "b", "c;d"],
        [date(2020, 1, 2), True, 2**53 - 1, 'say "x", y'],
        [date(2020, 1, 3), False, 2, "new\nline"],
    ]
    data = read(
        xlsx(one=[*rows, [], *([date(2020, 2, i), True, i, "new\nline"] for i in range(1, 9))]),
        label_column="c;d",
    )
    assert data.X[:2].tolist() == [[1, 2**53 - 1], [0, 2]]
    assert data.sample_names[0].startswith("2020-01-02") and set(data.labels) == {'say "x", y', "new line"}


def test_features_in_rows_and_short_rows():
    data = read(
        xlsx(one=[["gene", "s1", "s2", "s3"], ["g1", 1, 2, 3], ["g2", 4, 5, None]]),
        features_in_rows=True,
        missing="mean",
    )
    assert data.X.tolist() == [[1, 4], [2, 5], [3, 4.5]]


LAUGHS = (
    b'<!DOCTYPE l [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
    + b"]>"
)
HOSTILE = {
    "a file named by an entity": (
        lambda: sheet(
            b"<row><c><v>&x;</v></c></row>", b'<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        ),
        "declares entities",
    ),
    "entities in a sheet that is called otherwise": (
        lambda: renamed(
            sheet(b'<row r="1"><c t="str"><v>&j;</v></c></row>', LAUGHS), "sheet1.xml", "one.dat"
        ),
        "declares entities",
    ),
    "a row far below": (
        lambda: sheet(b'<row r="99999999999"><c><v>1</v></c></row>'),
        "at most (5000|1048576) rows",
    ),
    "one huge row": (lambda: sheet(b"<row>" + b"<c/>" * 200_000 + b"</row>"), "16384 columns"),
    "a wide row above many without places": (
        lambda: sheet(
            b"<row>" + b"<c><v>1</v></c>" * 3000 + b"</row>" + b"<row><c><v>1</v></c></row>" * 3000
        ),
        "cells far from the others, down to row 3001",
    ),
    "styles without end": (
        lambda: changed(xlsx(one=ROWS), styles=b"<a/>" * 5_000_000),
        "would grow",
    ),
    "no list of sheets": (lambda: changed(xlsx(one=ROWS), workbook=b"<x/>"), "damaged|no sheet"),
    "nothing in it": (lambda: xlsx(one=[], two=[[None]]), "no sheet with anything"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_workbooks_are_one_sentence(case, monkeypatch, bounded_memory):
    make, said = HOSTILE[case]
    monkeypatch.setattr(excel, "ROWS", 5000)
    monkeypatch.setattr(sheets, "ROWS", 5000)
    with pytest.raises(InvalidData, match=said) as caught:
        read(make())
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_durations_are_numbers_of_days():
    rows = [["took", "b"], [timedelta(hours=6), 1], [timedelta(days=2), 3], [timedelta(days=1), 2]]
    assert read(xlsx(one=rows)).X.tolist() == [[0.25, 1], [2, 3], [1, 2]]


def test_a_workbook_is_spoken_of_as_one():
    whole = xlsx(one=[["a"], [1], [2]])
    with pytest.raises(InvalidData, match="sheet has only one column"):
        read(whole)


def test_numbers_that_are_texts_have_the_decimal_sign_that_is_named():
    rows = [("a", "b"), ("1,234", 1.5), ("2,5", 2), ("3,512", 4.25)]
    assert read(io.BytesIO(xlsx(one=rows)), decimal=",").X.tolist() == [
        [1.234, 1.5],
        [2.5, 2],
        [3.512, 4.25],
    ]
