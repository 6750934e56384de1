"""Open spreadsheets: .xlsx and .xls by python-calamine, .ods by parsing its XML.

python-calamine loses some of what an .xlsx says: hidden rows, formulas without values, errors and the digits
of long integers. These are searched in the XML of the sheet. Its cells are counted too, since python-calamine
allocates the rectangle that they span. Of an .xls an error is an empty cell. Of an .ods it would
allocate what repeated cells claim. Here a repeated cell costs nothing until it is read.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from html import unescape
from typing import Any
from xml.etree import ElementTree

from nspca.data import limits
from nspca.data.findings import Finding
from nspca.data.formats.base import Converted, Format, Source
from nspca.data.formats.genes import convert_text as convert_genes
from nspca.data.formats.sheets import COLUMNS, ROWS, Sheet, as_csv, choose_sheet, too_wide
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late
from nspca.validation.archive import MAX_BYTES, open_zip, parsing

MAX_EMPTY = 2**22
"""Maximum cells of the rectangle that the cells of a sheet span, beyond eight times their number."""
OLE = b"\xd0\xcf\x11\xe0"
"""First bytes of .xls, and of other files of old Office programs."""
calamine: Any = Late("python_calamine", "Excel files", "files")
_DAMAGED = (
    "The spreadsheet is damaged, has a password, or is of a kind that cannot be read: save the sheet as CSV."
)
_OLE_KINDS = {
    "EncryptedPackage": "an Office file with a password",
    "WordDocument": "an old Word document",
    "PowerPoint Document": "an old PowerPoint file",
}
"""Kinds of old Office files, by a name in the file."""
_PLACE = re.compile(rb"""\sr\s*=\s*["']([A-Z]{0,3})(\d{1,7})["']""")
"""The place of a cell or row in the XML of a sheet."""
_ANY_PLACE = re.compile(rb"\sr\s*=")
_ROW_TAG, _CELL_TAG = re.compile(rb"<(?:\w+:)?row\b"), re.compile(rb"<(?:\w+:)?c\b")
_HIDDEN = re.compile(
    rb"""<(?:\w+:)?row\s(?=[^<>]{0,999}?\shidden="(?:1|true)")[^<>]{0,999}?\br="(\d{1,7})\""""
)
_HIDDEN_COLUMN = re.compile(rb"""<(?:\w+:)?col\s(?=[^<>]{0,999}?\bhidden="(?:1|true)")[^<>]{0,999}>""")
_CELL = rb"""<(?:\w+:)?c\s[^<>]{0,999}?r="([A-Z]{1,3})(\d{1,7})"[^<>]{0,999}>\s*"""
_FORMULA = rb"<(?:\w+:)?f(?:\s[^<>]{0,999})?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
_NO_VALUE = re.compile(_CELL + _FORMULA + rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>|</(?:\w+:)?c>)")
"""A formula without a stored value."""
_EXACT = re.compile(_CELL + rb"(?:" + _FORMULA + rb")?<(?:\w+:)?v>(#[^<]{1,20}|-?\d{16,400})</")
"""An error such as ``#DIV/0!``, or an integer that a float may not hold, with its cell."""
_MAY_BE_EXACT = re.compile(rb">(?:#[^<]{1,20}|-?\d{16,400})</")
_HEAD = 2**16
"""Bytes of a sheet as CSV in which texts with decimal commas are looked for."""
_COMMAS, _POINTS = re.compile(rb'"-?\d+,\d+"'), re.compile(rb"\d\.\d")
_THOUSANDS = re.compile(rb'"-?[1-9]\d{0,2},\d{3}"')

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_PARAGRAPH = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}p"
_VALUES = {"date": "date-value", "time": "time-value", "boolean": "boolean-value", "string": "string-value"}
"""Attribute that holds the value of a cell, by its type; `value` for numbers."""
_SHEET = re.compile(rb"<table:table(?:\s[^<>]{0,999})?>")
_HIDDEN_STYLE = re.compile(
    rb'<style:style\s[^<>]{0,999}?style:name="([^"]*)"[^<>]{0,999}>\s*<style:table-properties[^<>]{0,999}?display="false"'
)
_TIME = re.compile(r"PT(\d+)H(\d+)M([\d.]+)S")


def is_workbook(names: Iterable[str]) -> bool:
    """Tell whether an archive of files with these names is an .xlsx, .xlsm or .ods."""
    held = set(names)
    return "xl/workbook.xml" in held or {"content.xml", "mimetype"} <= held


def is_cut_workbook(raw: bytes) -> bool:
    """Tell whether a file begins like a workbook but is cut short, so that its list of parts is missing."""
    marks = (b"[Content_Types].xml", b"docProps/", b"xl/", b"opendocument.spreadsheet")
    begins = raw.startswith(b"PK\x03\x04") and any(part in raw[:200] for part in marks)
    return begins and not zipfile.is_zipfile(io.BytesIO(raw))


def is_spreadsheet(raw: bytes) -> bool:
    """Tell whether bytes are a spreadsheet, or one that is cut short."""
    if raw.startswith(b"PK\x03\x04") and not is_cut_workbook(raw):
        return is_workbook(info.filename for info in open_zip(raw)[1])
    return raw.startswith(OLE) or is_cut_workbook(raw)


def sheet_as_csv(
    raw: bytes,
    rows: int | None = None,
    decimal: str | None = None,
    packed: int | None = None,
    least: int = 2,
    limit: int = MAX_BYTES,
    sheet: str | int | None = None,
) -> tuple[bytes, tuple[Finding | str, ...]]:
    """Return the first visible sheet that holds a table as CSV, and notes about what was decided.

    At most `rows` rows are converted, and `limit` characters written. `decimal` is the sign of numbers that
    the sheet stores as text. A sheet has `least` columns at least; `sheet` names one. `packed` is the size of
    the compressed file that contained the workbook, if any.
    """
    packed = packed or len(raw)
    with parsing(_DAMAGED):
        sheets = _open_xls(raw) if raw.startswith(OLE) else _open_zip(raw, packed)
        chosen = choose_sheet(sheets, sheet, least, lambda one: one.read(rows, decimal or ".", packed, limit))
    limits.check_dense(len(chosen.rows), chosen.width)
    return as_csv(chosen), tuple(chosen.notes)


def _open_zip(raw: bytes, packed: int) -> list[Sheet]:
    archive, members = open_zip(raw)
    limits.check_archive(packed, members, "Excel", "save the sheet as CSV")
    if any(info.filename == "content.xml" for info in members):
        return _open_ods(archive)
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
    parts = _sheet_parts(archive)
    return [Sheet(name, partial(_xlsx_rows, book, archive, parts[name])) for name in _visible_sheets(book)]


def _visible_sheets(book: Any) -> list[str]:
    shown = calamine.SheetTypeEnum.WorkSheet, calamine.SheetVisibleEnum.Visible
    return [about.name for about in book.sheets_metadata if (about.typ, about.visible) == shown]


def _xlsx_rows(
    book: Any, archive: zipfile.ZipFile, part: str, sheet: Sheet
) -> Iterator[tuple[int, list[Any]]]:
    """Yield number and cells of the rows of a sheet of an .xlsx, whose XML is searched first."""
    xml = _read_xml(archive, part)
    count, last, columns = 0, 0, {b"A"}
    for found in _PLACE.finditer(xml):
        count, last = count + 1, max(last, int(found[2]))
        columns.add(found[1])
    width, is_clear = 1 + max(map(_column_number, columns)), count == sum(1 for _ in _ANY_PLACE.finditer(xml))
    rows = [len(_CELL_TAG.findall(row)) for row in _ROW_TAG.split(xml)]  # they need not name their places
    count, last, width = max(count, sum(rows)), max(last, len(rows) - 1), max(width, max(rows))
    if width > COLUMNS or last > ROWS or not is_clear:
        raise too_wide()
    if last * width > MAX_EMPTY + 8 * count:
        raise InvalidData(
            f'The sheet "{sheet.name[:60]}" has cells far from the others, down to row {last} and column '
            f"{width}: delete what stands outside the table."
        )
    exact: dict[int, dict[int, str]] = {}
    if _MAY_BE_EXACT.search(xml):
        for letters, row, text in _EXACT.findall(xml):
            exact.setdefault(int(row) - 1, {})[_column_number(letters)] = text.decode("ascii", "replace")
    sheet.hidden = {int(row) - 1 for row in _HIDDEN.findall(xml)}
    for about in _HIDDEN_COLUMN.findall(xml[: xml.find(b"sheetData")]):
        first, end = (re.search(rb'%s="(\d{1,5})"' % key, about) for key in (b"min", b"max"))
        if first and end:
            sheet.hidden_columns |= {*range(int(first[1]) - 1, min(int(end[1]), COLUMNS))}
    for letters, row in _NO_VALUE.findall(xml) if b"<f" in xml or b":f" in xml else ():
        sheet.formulas.setdefault(_column_number(letters), int(row) - 1)
    del xml
    for row, cells in _calamine_rows(book, sheet):
        for column, text in exact.get(row, {}).items():
            cells[column] = text
        yield row, cells


def _calamine_rows(book: Any, sheet: Sheet) -> Iterator[tuple[int, list[Any]]]:
    found = book.get_sheet_by_name(sheet.name)
    for (top, left), (bottom, right) in sorted(found.merged_cell_ranges or ()):
        sheet.merged += [(top, left, bottom)] if bottom > top else []
        sheet.wide += [(top, left, right)] if right > left else []
    yield from enumerate(found.iter_rows())


def _sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    links = ElementTree.fromstring(_read_xml(archive, "xl/_rels/workbook.xml.rels"))
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    parts = {}
    for sheet in ElementTree.fromstring(_read_xml(archive, "xl/workbook.xml")).iterfind("{*}sheets/{*}sheet"):
        target = targets[next(value for key, value in sheet.attrib.items() if key.endswith("}id"))]
        parts[sheet.get("name", "")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return parts


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


def _open_xls(raw: bytes) -> list[Sheet]:
    for mark, what in _OLE_KINDS.items():
        if mark.encode("utf-16-le") in raw:
            raise InvalidData(f"This is {what}: save the sheet as CSV, or as .xlsx without a password.")
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
    return [Sheet(name, partial(_calamine_rows, book)) for name in _visible_sheets(book)]


def _read_xml(archive: zipfile.ZipFile, part: str) -> bytes:
    """Return a part of a spreadsheet; refuse entities, which parsers would expand and UTF-16 would hide."""
    xml = archive.read(part)
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml or b"\0" in xml:
        raise InvalidData(
            "The spreadsheet declares entities, or is not UTF-8, and such XML is never read: save the sheet "
            "as CSV."
        )
    return xml


def _open_ods(archive: zipfile.ZipFile) -> list[Sheet]:
    """Return the visible sheets of an .ods whose parts were checked."""
    kind = archive.read("mimetype")[:200]
    if b"spreadsheet" not in kind:
        what = kind.decode("ascii", "replace").rpartition(".")[2][:30]
        raise InvalidData(f"This is an OpenDocument {what} and no spreadsheet: save it as text or CSV.")
    text = _read_xml(archive, "content.xml")
    hidden = set(_HIDDEN_STYLE.findall(text))
    out = []
    for number, found in enumerate(_SHEET.finditer(text)):
        name, style = (re.search(rb'table:%s="([^"]*)"' % key, found[0]) for key in (b"name", b"style-name"))
        if style is None or style[1] not in hidden:
            called = unescape(name[1].decode()) if name else f"sheet {number + 1}"
            out.append(Sheet(called, partial(_ods_rows, text, number)))
    return out


def _ods_rows(text: bytes, number: int, sheet: Sheet) -> Iterator[tuple[int, list[str]]]:
    seen, row, column = -1, 0, 0
    table: Any = None
    for event, element in ElementTree.iterparse(io.BytesIO(text), ("start", "end")):
        if element.tag == _TABLE + "table":
            if event == "start":
                seen, table = seen + 1, element
            elif seen == number:
                return
        elif event == "end" and element.tag == _TABLE + "table-column" and seen == number:
            times = min(int(element.get(_TABLE + "number-columns-repeated", "1")), COLUMNS)
            if element.get(_TABLE + "visibility", "visible") != "visible":
                sheet.hidden_columns |= {*range(column, column + times)}
            column += times
        elif event == "end" and element.tag == _TABLE + "table-row":
            if seen == number:
                times = int(element.get(_TABLE + "number-rows-repeated", "1"))
                cells = _ods_cells(element, row, sheet)
                if element.get(_TABLE + "visibility", "visible") != "visible":
                    sheet.hidden.add(row)
                if cells and row + times > ROWS:
                    raise too_wide()
                for at in range(row, row + times) if cells else ():
                    yield at, cells
                row += times
            element.clear()
            table.clear()


def _ods_cells(row: Any, number: int, sheet: Sheet) -> list[str]:
    cells: list[str] = []
    empty = 0
    for cell in row:
        if cell.tag not in (_TABLE + "table-cell", _TABLE + "covered-table-cell"):
            continue
        value, times = _ods_value(cell), int(cell.get(_TABLE + "number-columns-repeated", "1"))
        at = len(cells) + empty
        if not value:
            if cell.get(_TABLE + "formula") and cell.get(_OFFICE + "value-type") is None:
                sheet.formulas.setdefault(at, number)
            empty += times
            continue
        if at + times > COLUMNS:
            raise too_wide()
        if (down := int(cell.get(_TABLE + "number-rows-spanned", "1"))) > 1:
            sheet.merged.append((number, at, number + down - 1))
        if (right := int(cell.get(_TABLE + "number-columns-spanned", "1"))) > 1:
            sheet.wide.append((number, at, at + min(right, COLUMNS) - 1))
        cells += [""] * empty + [value] * times
        empty = 0
    return cells


def _ods_value(cell: Any) -> str:
    """Return the value of a cell as text; a duration is a number of days, as in Excel."""
    kind = cell.get(_OFFICE + "value-type")
    value: str = cell.get(_OFFICE + _VALUES.get(kind, "value")) or ""
    if kind == "boolean":
        return "1" if value == "true" else "0"
    if kind == "time" and (found := _TIME.fullmatch(value)):
        return repr((float(found[1]) + float(found[2]) / 60 + float(found[3]) / 3600) / 24)
    return value or " ".join("".join(one.itertext()) for one in cell if one.tag == _PARAGRAPH)


def convert(source: Source, options: ReadOptions) -> Converted:
    """Return the first sheet that holds a table as CSV; genes in rows as `genes` has them."""
    write = partial(sheet_as_csv, source.raw, packed=source.packed or None, sheet=options.sheet)
    text, notes = write(decimal=options.decimal)
    head = text[:_HEAD]
    found: dict[str, Any] = {}
    commas = _COMMAS.findall(head)
    are_thousands = all(map(_THOUSANDS.fullmatch, commas))  # of which the dialect decides
    if options.decimal is None and not are_thousands and len(commas) > len(_POINTS.findall(head)):
        text, notes = write(decimal=",")
        found = {"decimal": ","}
        notes += ("Numbers are stored as texts with decimal commas (option decimal).",)
    converted = convert_genes(text, options) or Converted(text, options=found)
    return replace(converted, findings=(*notes, *converted.findings))


FORMAT = Format(
    "a spreadsheet",
    lambda source: source.first().startswith(OLE) if source.files is None else is_workbook(source.names),
    convert=convert,
    is_apart=True,
)
