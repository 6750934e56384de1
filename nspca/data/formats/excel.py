"""Convert Excel workbooks to CSV: the first visible sheet that is not empty, without its empty rows.

Values are written, not their display: all digits, ISO dates, 1 and 0 for true and false.

A workbook is a ZIP of XML files. Their unpacked size and number of elements, and the absence of entities, are
checked before they are parsed. Tables, documents and annotations in Excel are then read as text tables.
"""

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from nspca.data import limits
from nspca.data.formats.base import Converted, Format, Source
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late
from nspca.validation.archive import MAX_BYTES, mib, open_zip

ROWS, COLUMNS = 2**20, 2**14
"""Maximum rows and columns of a sheet: Excel's own limits."""
MAX_TAGS = 12_000_000
"""Maximum XML tags of a sheet. A cell has two elements of two tags each. An element costs 150 bytes until its
row is parsed, and one row may hold all cells.
"""
MAX_TEXTS = 64 * 2**20
"""Maximum bytes of the shared texts, which stay in memory while the sheet is read."""
MAX_OTHER = 16 * 2**20
"""Maximum bytes of any other part, such as styles. Usual are some hundred kilobytes."""
openpyxl: Any = Late("openpyxl", "Excel files", "files")
_PIECE = 2**20
"""Bytes of a part that are searched at a time."""
_START = 200
"""Number of bytes at the beginning of a file that contain the name of its first part."""
_XML = (b"<", b" ", b"\t", b"\r", b"\n", b"\xef", b"\xff\xfe", b"\xfe\xff", b"\0<")
"""Beginnings of XML: a tag, white space, or the mark of UTF-8 or UTF-16."""
_DAMAGED = "The Excel workbook is damaged or of a kind that cannot be read: save the sheet as CSV."


def is_workbook(members: Sequence[zipfile.ZipInfo]) -> bool:
    """Tell whether an archive is an .xlsx or .xlsm."""
    return any(info.filename == "xl/workbook.xml" for info in members)


def is_cut_workbook(raw: bytes) -> bool:
    """Tell whether a file begins like a workbook but is cut short, so that its list of parts is missing."""
    begins = any(part in raw[:_START] for part in (b"[Content_Types].xml", b"docProps/", b"xl/"))
    return begins and not zipfile.is_zipfile(io.BytesIO(raw))


def sheet_as_csv(
    raw: bytes,
    rows: int | None = None,
    decimal: str | None = None,
    packed: int | None = None,
    least: int = 2,
    limit: int | None = None,
) -> tuple[bytes, tuple[str, ...]]:
    """Return the first visible sheet that is not empty as CSV, and a note when there are other visible ones.

    Parameters
    ----------
    raw : bytes
        The workbook.
    rows : int, optional
        Maximum rows that are converted; all by default.
    decimal : "," or ".", optional
        Decimal sign of the CSV. Give the sign of numbers that the sheet stores as text.
    packed : int, optional
        Size in bytes of the compressed file that contained the workbook, if any.
    least : int
        Minimum columns of a sheet.
    limit : int, optional
        Maximum characters of the CSV; `MAX_BYTES` by default.
    """
    archive, members = open_zip(raw)
    packed = packed or len(raw)
    limits.check_archive(packed, members, "Excel", "save the sheet as CSV")
    for info in members:
        named = info.filename.lower().endswith((".xml", ".rels"))
        if named or next(_pieces(archive, info), b"").startswith(_XML):  # XML can have any name
            _check_part(archive, info)
    load = openpyxl.load_workbook  # a missing package is told before the file is blamed
    try:
        book = load(io.BytesIO(raw), read_only=True, data_only=True, keep_links=False)
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for sheet in sheets:
            sheet.reset_dimensions()  # the size that the file claims may be wrong
            text = _as_csv(sheet.iter_rows(values_only=True), rows, decimal or ".", packed, least, limit)
            if text:
                others = (
                    f"The workbook has {len(sheets)} sheets; “{sheet.title}” was read, the first that "
                    "holds something."
                )
                return text, (others,) if len(sheets) > 1 else ()
    except InvalidData:
        raise
    except Exception:
        # Untrusted XML can make the parser raise errors of any kind.
        raise InvalidData(_DAMAGED) from None
    raise InvalidData(
        "The Excel workbook has no sheet with anything in it: at least two rows and two columns are needed."
    )


def _check_part(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Refuse a part that is too large, or that declares entities, before anything parses it."""
    name = info.filename
    sheet = name.startswith("xl/worksheets/") or not name.lower().endswith((".xml", ".rels"))
    texts = name == "xl/sharedStrings.xml"
    most = None if sheet else MAX_TEXTS if texts else MAX_OTHER
    if most is not None and info.file_size > most:
        raise InvalidData(
            f"The Excel workbook holds a part of {mib(info.file_size)}, at most {mib(most)} are read: save "
            "the sheet as CSV."
        )
    tags = 0
    for piece in _pieces(archive, info):
        tags += piece.count(b"<")
        if tags > MAX_TAGS:
            raise InvalidData(
                f"A sheet may have about {MAX_TAGS // 4_000_000} million cells, this one has more: save it "
                "as CSV."
            )
        # Excel writes UTF-8. UTF-16 is refused, since it would hide entities from this search.
        if b"<!DOCTYPE" in piece or b"<!ENTITY" in piece or b"\0" in piece:
            raise InvalidData(
                "The Excel workbook declares entities, which are never expanded: save the sheet as CSV."
            )


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield a part in pieces that overlap a little, so that no word is cut in two."""
    held, end = 0, b""
    try:
        with archive.open(info) as handle:
            while piece := handle.read(_PIECE):
                held += len(piece)
                if held > info.file_size:
                    raise InvalidData(_DAMAGED)
                yield end + piece
                end = piece[-8:]
    except InvalidData:
        raise
    except Exception:  # any of four decompressors, each with errors of its own
        raise InvalidData(_DAMAGED) from None


def _as_csv(
    rows: Iterable[Sequence[Any]],
    most: int | None,
    decimal: str = ".",
    packed: int = MAX_BYTES,
    least: int = 2,
    limit: int | None = None,
) -> bytes:
    """Return rows of cells as CSV with rows of equal width; empty when no cell is filled.

    `most` limits the rows; for `packed`, `least` and `limit` see `sheet_as_csv`.
    """
    lines: list[tuple[int, str]] = []
    held, limit = 0, MAX_BYTES if limit is None else limit
    for count, row in enumerate(rows):
        cells = [
            _text(value).replace(".", decimal) if isinstance(value, float | timedelta) else _text(value)
            for value in row
        ]
        while cells and not cells[-1]:
            cells.pop()
        if count >= ROWS or len(cells) > COLUMNS:
            raise InvalidData(
                f"A sheet has at most {ROWS} rows and {COLUMNS} columns, this one says more: save it as CSV."
            )
        if not cells:
            continue
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerow(cells)
        lines.append((len(cells), stream.getvalue()[:-1]))
        held += len(lines[-1][1])
        if held > limit:
            raise InvalidData(
                f"The sheet is more than {mib(limit)} of text: keep fewer columns or save it as "
                "compressed NPZ."
            )
        limits.check_growth(held, packed, "Excel", "save the sheet as CSV")
        if most is not None and len(lines) >= most:
            break
    width = max((cells for cells, _ in lines), default=0)
    if 0 < width < least:
        raise InvalidData("The sheet has only one column with anything in it: at least two are needed.")
    limits.check_dense(len(lines), width)
    limits.check_growth(8 * len(lines) * width, packed, "Excel", "save the sheet as CSV")
    return "\n".join(line + "," * (width - cells) for cells, line in lines).encode()


def _text(value: Any) -> str:
    """Return the value of a cell as text for CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):  # Excel holds a duration as a number of days
        return repr(value / timedelta(days=1))
    return " ".join(value.split("\n")).replace("\r", " ") if isinstance(value, str) else repr(value)


def convert(source: Source, options: ReadOptions) -> Converted:
    """Return the first sheet that is not empty as CSV."""
    text, notes = sheet_as_csv(source.raw, decimal=options.decimal, packed=source.packed or None)
    return Converted(text, ",", findings=notes)


FORMAT = Format("an Excel workbook", lambda source: "xl/workbook.xml" in source.names, convert=convert)
