"""Spreadsheets of three formats: each is one table, and what was decided about its cells is said."""

import pytest
import xlwt

from nspca.data import read, read_text
from nspca.errors import InvalidData
from tests.files import archive, rewritten, saved, xlsx

ROWS = [["who", "a", "b"], *[[f"s{i}", i * 1.5, 2 * i] for i in range(8)]]
X = [row[1:] for row in ROWS[1:]]
README = [["This workbook was made by hand."], ["It holds one table."]]
HEAD = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
    '<office:automatic-styles><style:style style:name="gone" style:family="table">'
    '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
    "<office:body><office:spreadsheet>"
)
BELOW = (
    '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
    'table:number-columns-repeated="16384"/></table:table-row>'
)


def ods_row(cells, more: str = "") -> str:
    out = []
    for cell in cells:
        kind = "string" if isinstance(cell, str) else "float"
        value = f' office:value="{cell!r}"' if kind == "float" else ""
        out.append(
            f'<table:table-cell office:value-type="{kind}"{value}><text:p>{cell}</text:p></table:table-cell>'
        )
    return f"<table:table-row{more}>{''.join(out)}</table:table-row>"


def ods(**sheets: str) -> bytes:
    body = "".join(
        f'<table:table table:name="{name}" table:style-name="{"gone" if name == "hidden" else "shown"}">'
        f"{rows}{BELOW}</table:table>"
        for name, rows in sheets.items()
    )
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": f"{HEAD}{body}</office:spreadsheet></office:body></office:document-content>",
            "Thumbnails/thumbnail.png": b"\x89PNG",
        }
    )


def xls(**sheets) -> bytes:
    book = xlwt.Workbook()
    for name, rows in sheets.items():
        sheet = book.add_sheet(name, cell_overwrite_ok=True)
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                sheet.write(r, c, cell)
        sheet.visibility = int(name == "hidden")
    return saved(book.save)


def as_ods(**sheets) -> bytes:
    return ods(**{name: "".join(map(ods_row, rows)) for name, rows in sheets.items()})


def patched(raw: bytes, old: bytes, new: bytes) -> bytes:
    """The workbook with other XML in its first sheet."""

    def change(name, content):
        assert old in content or not name.endswith("sheet1.xml")
        return name, content.replace(old, new) if name.endswith("sheet1.xml") else content

    return rewritten(raw, change)


@pytest.mark.parametrize("make", [xlsx, as_ods, xls])
def test_the_sheet_with_the_table_is_read_and_said(make):
    assert read(make(one=ROWS)).X.tolist() == X
    data = read(make(hidden=ROWS[:4], Sheet1=README, numbers=ROWS, more=ROWS[:5]))
    assert data.X.tolist() == X and data.sample_names[:2] == ("s0", "s1")
    assert any("3 sheets" in note and '"numbers"' in note and "sheet" in note for note in data.notes)
    assert read(make(one=ROWS, more=ROWS[:5]), sheet="more").X.tolist() == X[:4]
    assert read(make(one=ROWS, more=ROWS[:5]), sheet=1).X.tolist() == X[:4]
    with pytest.raises(InvalidData, match=r"no sheet 'other'.*one"):
        read(make(one=ROWS), sheet="other")
    with pytest.raises(InvalidData, match="no sheet with anything"):
        read(make(one=[]))


@pytest.mark.parametrize("make", [xlsx, as_ods, xls])
def test_a_workbook_of_texts_may_begin_with_a_readme(make):
    answers = [["comment"], *[[f"the river floods the old town {'again' * (i % 2)}"] for i in range(12)]]
    data = read_text(make(README=README, answers=answers), highest_share=1.0)
    assert data.X.shape[0] == 12 and "river" in data.feature_names


def groups(rows):
    """The rows with a group in front of the first of each four."""
    return [
        ["group", *rows[0]],
        *([f"g{i // 4}" if i % 4 == 0 else None, *row] for i, row in enumerate(rows[1:])),
    ]


def merge(book):
    for first in (2, 6):
        book.active.merge_cells(start_row=first, end_row=first + 3, start_column=1, end_column=1)


def xls_merged() -> bytes:
    book = xlwt.Workbook()
    sheet = book.add_sheet("one", cell_overwrite_ok=True)
    for r, row in enumerate(groups(ROWS)):
        for c, cell in enumerate(row):
            if cell is not None:
                sheet.write(r, c, cell)
    sheet.write_merge(1, 4, 0, 0, "g0")
    sheet.write_merge(5, 8, 0, 0, "g1")
    return saved(book.save)


def ods_merged() -> bytes:
    rows = [ods_row(["group", *ROWS[0]])]
    for i, row in enumerate(ROWS[1:]):
        first = "<table:covered-table-cell/>"
        if i % 4 == 0:
            first = (
                '<table:table-cell table:number-rows-spanned="4">'
                f"<text:p>g{i // 4}</text:p></table:table-cell>"
            )
        rows.append(ods_row(row).replace("<table:table-row>", f"<table:table-row>{first}"))
    return ods(one="".join(rows))


@pytest.mark.parametrize("make", [lambda: xlsx(merge, one=groups(ROWS)), xls_merged, ods_merged])
def test_merged_cells_are_the_group_of_every_row(make):
    data = read(make(), label_column="group", id_column="who")
    assert data.labels.tolist() == ["g0"] * 4 + ["g1"] * 4 and data.X.tolist() == X
    assert any("Merged cells" in note for note in data.notes)


def test_hidden_rows_are_said():
    def hide(book):
        book.active.row_dimensions[4].hidden = True

    assert any("Hidden rows" in note for note in read(xlsx(hide, one=ROWS)).notes)
    rows = [ods_row(row, ' table:visibility="filter"' if i == 3 else "") for i, row in enumerate(ROWS)]
    assert any("Hidden rows" in note for note in read(ods(one="".join(rows))).notes)


def test_formulas_without_values_are_not_called_empty():
    rows = [[*ROWS[0], "sum"], *([*row, f"=B{i}+C{i}"] for i, row in enumerate(ROWS[1:], 2))]
    data = read(xlsx(one=rows))
    assert data.X.tolist() == X
    assert any("formulas" in note and "not stored" in note for note in data.notes)
    rows[3][3] = 4.5
    with pytest.raises(InvalidData, match="formula whose value is not stored"):
        read(xlsx(one=[*rows[:5], *([*row[:3], 1] for row in rows[5:])]))


def test_errors_and_long_integers_are_not_lost():
    raw = xlsx(one=[["a", "b"], [1, 2], [3, 4], [5, 6]])
    wrong = patched(raw, b'<c r="B2" t="n"><v>2</v></c>', b'<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>')
    with pytest.raises(InvalidData, match="#DIV/0!"):
        read(wrong)
    with pytest.raises(InvalidData, match="9007199254740993"):
        read(patched(raw, b"<v>2</v>", b"<v>9007199254740993</v>"))


@pytest.mark.parametrize(
    "far",
    [
        b'<c r="XFD1048576"><v>1</v></c>',
        b"<c r='XFD1048576'><v>1</v></c>",
        b'<c  r = "XFD1048576"><v>1</v></c>',
    ],
)
def test_a_cell_far_from_the_others_takes_no_memory(far, bounded_memory):
    raw = patched(xlsx(one=ROWS), b"</sheetData>", b'<row r="1048576">' + far + b"</row></sheetData>")
    with pytest.raises(InvalidData, match=r"far from the others|at most"):
        read(raw)


@pytest.mark.parametrize(
    "body",
    [
        '<table:table-row table:number-rows-repeated="99999999999"><table:table-cell table:number-columns-'
        f'repeated="3" office:value-type="string"><text:p>{"a" * 3000}</text:p></table:table-cell>'
        "</table:table-row>",
        '<table:table-row><table:table-cell office:value-type="float" office:value="1" '
        'table:number-columns-repeated="99999999"/></table:table-row>',
        '<table:table-row table:number-rows-repeated="many"/>',
        "<table:table-row>",
    ],
)
def test_repeated_cells_take_no_memory(body, bounded_memory):
    with pytest.raises(InvalidData) as caught:
        read(ods(one=body))
    assert str(caught.value).endswith(".")


def test_values_of_an_ods_are_those_of_its_cells():
    cells = (
        '<table:table-cell office:value-type="date" office:date-value="2020-01-0{0}"/>'
        '<table:table-cell office:value-type="percentage" office:value="0.{0}"/>'
        '<table:table-cell office:value-type="time" office:time-value="PT0{0}H30M00S"/>'
        '<table:table-cell office:value-type="boolean" office:boolean-value="true" '
        'table:number-columns-repeated="2"/><table:table-cell office:value-type="float" office:value="{0}"/>'
    )
    rows = "".join(f"<table:table-row>{cells.format(i)}</table:table-row>" for i in range(1, 5))
    data = read(ods(one=ods_row(["day", "share", "took", "a", "b", "n"]) + rows))
    assert data.X[0].tolist() == [0.1, 1.5 / 24, 1, 1, 1] and data.sample_names[0] == "2020-01-01"


def test_a_second_table_behind_an_empty_column_is_suspected():
    rows = [[f"r{i}", i * 1.5, i * i, None, f"q{i}", i % 3, 2 * i] for i in range(1, 9)]
    raw = xlsx(one=[["name", "a", "b", None, "other", "a", "b"], *rows])
    (said,) = [one for one in read(raw).findings if "another table" in one.what]
    assert said.is_suspicion and said.value == ("other", "a (2)", "b (2)")
    assert read(raw, drop_columns=said.value).feature_names == ("a", "b")


def test_numbers_stored_as_texts_with_a_comma():
    def book(*texts: str) -> bytes:
        rows = [[f"r{i}", texts[i % 2], texts[i % 2 - 1]] for i in range(8)]
        return xlsx(one=[["n", "a", "b"], *rows])

    data = read(book("1,25", "12,5"))
    assert data.X[:2].tolist() == [[1.25, 12.5], [12.5, 1.25]] and "decimal commas" in data.notes[0]
    unclear = book("1,250", "12,500")
    with pytest.raises(InvalidData, match="marks between thousands") as refused:
        read(unclear)
    values = [read(unclear, **{way.option: way.value}).X[0].tolist() for way in refused.value.ways[:2]]
    assert values == [[1250, 12500], [1.25, 12.5]]
