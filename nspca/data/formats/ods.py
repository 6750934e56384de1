"""Read OpenDocument spreadsheets (.ods), whose sheets stand in one file of XML.

python-calamine would allocate what repeated cells claim; here a repeated cell costs nothing until it is read.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from html import unescape
from typing import Any
from xml.etree import ElementTree

from nspca.data.formats.sheets import COLUMNS, ROWS, Sheet, too_wide
from nspca.errors import InvalidData

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_PARAGRAPH = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}p"
_VALUES = {"date": "date-value", "time": "time-value", "boolean": "boolean-value", "string": "string-value"}
"""Attribute that holds the value of a cell, by its type; `value` for numbers."""
_SHEET = re.compile(rb"<table:table(?:\s[^<>]{0,999})?>")
_HIDDEN = re.compile(
    rb'<style:style\s[^<>]{0,999}?style:name="([^"]*)"[^<>]{0,999}>\s*<style:table-properties[^<>]{0,999}?display="false"'
)
_TIME = re.compile(r"PT(\d+)H(\d+)M([\d.]+)S")


def read_xml(archive: zipfile.ZipFile, part: str) -> bytes:
    """Return a part of a spreadsheet; refuse entities, which parsers would expand and UTF-16 would hide."""
    xml = archive.read(part)
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml or b"\0" in xml:
        raise InvalidData(
            "The spreadsheet declares entities, or is not UTF-8, and such XML is never read: save the sheet "
            "as CSV."
        )
    return xml


def open_ods(archive: zipfile.ZipFile) -> list[Sheet]:
    """Return the visible sheets of an .ods whose parts were checked."""
    kind = archive.read("mimetype")[:200]
    if b"spreadsheet" not in kind:
        what = kind.decode("ascii", "replace").rpartition(".")[2][:30]
        raise InvalidData(f"This is an OpenDocument {what} and no spreadsheet: save it as text or CSV.")
    text = read_xml(archive, "content.xml")
    hidden = set(_HIDDEN.findall(text))
    out = []
    for number, found in enumerate(_SHEET.finditer(text)):
        name, style = (re.search(rb'table:%s="([^"]*)"' % key, found[0]) for key in (b"name", b"style-name"))
        if style is None or style[1] not in hidden:
            called = unescape(name[1].decode()) if name else f"sheet {number + 1}"
            out.append(Sheet(called, partial(_rows, text, number)))
    return out


def _rows(text: bytes, number: int, sheet: Sheet) -> Iterator[tuple[int, list[str]]]:
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
                cells = _cells(element, row, sheet)
                if element.get(_TABLE + "visibility", "visible") != "visible":
                    sheet.hidden.add(row)
                if cells and row + times > ROWS:
                    raise too_wide()
                for at in range(row, row + times) if cells else ():
                    yield at, cells
                row += times
            element.clear()
            table.clear()


def _cells(row: Any, number: int, sheet: Sheet) -> list[str]:
    cells: list[str] = []
    empty = 0
    for cell in row:
        if cell.tag not in (_TABLE + "table-cell", _TABLE + "covered-table-cell"):
            continue
        value, times = _value(cell), int(cell.get(_TABLE + "number-columns-repeated", "1"))
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


def _value(cell: Any) -> str:
    """Return the value of a cell as text; a duration is a number of days, as in Excel."""
    kind = cell.get(_OFFICE + "value-type")
    value: str = cell.get(_OFFICE + _VALUES.get(kind, "value")) or ""
    if kind == "boolean":
        return "1" if value == "true" else "0"
    if kind == "time" and (found := _TIME.fullmatch(value)):
        return repr((float(found[1]) + float(found[2]) / 60 + float(found[3]) / 3600) / 24)
    return value or " ".join("".join(one.itertext()) for one in cell if one.tag == _PARAGRAPH)
