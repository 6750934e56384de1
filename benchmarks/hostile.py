"""Measure how hostile files are refused: ``python -m benchmarks.hostile``.

Prints for each file the sentence of the refusal, its time, and the memory that the server takes for it. Exits
with status 1 when a file gets another answer or takes too much. No big file is stored: each is generated when
it is needed.
"""

import bz2
import contextlib
import ctypes
import gzip
import io
import pickle
import re
import struct
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

import numpy as np
import psutil

from benchmarks.shared import say

MOST_SECONDS = 30.0
MOST_BYTES = 400 * 2**20  # above the idle server
SMALL = 256 * 1024


@dataclass(frozen=True)
class Case:
    """A file, and a pattern of what is said of it; of a file that is data, "^data"."""

    name: str
    raw: bytes
    said: str

    def __str__(self) -> str:
        return self.name


def cases() -> Iterator[Case]:
    """Yield all cases; each file is made when it is its turn."""
    for part in (*PARTS, _large):
        yield from starmap(Case, part())


def npy(shape: object, descr: str = "'<f8'", held: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + held


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def zipped(files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return stream.getvalue()


def _npy():
    shapes = {
        "header cannot be read": [
            "(-1, -8)",
            "(-1, 8)",
            "(2, -3)",
            "(2, 'x')",
            "None",
            "[2, 2]",
            "(True, 2)",
        ],
        "says it holds": [
            "(200000, 200000)",
            "(4611686018427387904, 4611686018427387904)",
            f"({10**30}, 2)",
            "(3, 4)",
        ],
    }
    for said, them in shapes.items():
        for shape in them:
            yield f"npy shape {shape}", npy(shape, held=bytes(64)), said
    for shape in ("(0, 5)", "(5, 0)"):
        yield f"npy shape {shape}", npy(shape), "At least two samples and two features"
    yield "npy of one dimension", npy("(8,)", held=bytes(64)), "must have 2 dimensions"
    yield "npy of four dimensions", npy("(2, 2, 2, 1)", held=bytes(64)), "must have 2 dimensions"
    yield "npy of no dimension", npy("()", held=bytes(8)), "must have 2 dimensions"
    for descr, said in (
        ("'|O'", "pickled Python objects"),
        ("'|V8'", "real numbers or text"),
        ("'<M8[s]'", "real numbers or text"),
        ("'<c16'", "real numbers or text"),
        ("'<U2'", "real numbers"),
        ("[('a', '<f8')]", "real numbers or text"),
        ("'nonsense'", "header cannot be read"),
    ):
        yield f"npy of type {descr}", npy("(2, 4)", descr, bytes(64)), said
    yield "npy of another version", npy("(2, 2)", held=bytes(32), version=b"\x09\x00"), "header cannot"
    yield "npy cut in the header", npy("(2, 2)")[:40], "header cannot be read"
    yield "npy with a longer body", npy("(2, 2)", held=bytes(99)), "says it holds"
    deep = b"(" * 4000 + b"\n"
    nested = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(deep)) + deep
    yield "npy header nested 4000 deep", nested, "header cannot be read"
    code = b"__import__('os').system('true')\n"
    yield "npy header of code", b"\x93NUMPY\x01\x00" + struct.pack("<H", 32) + code, "header cannot"


def _npz():
    X = np.arange(12.0).reshape(4, 3)
    odd = {
        "labels": (np.full(3, np.nan), "4 labels are needed"),
        "y": (np.array([["a"]] * 4), "^data"),
        "feature_names": (np.array(["a", "b"]), "3 feature names are needed"),
        "sample_names": (np.array(["a"] * 9), "4 sample names are needed"),
        "image_shape": (np.array([2**62, 2**62]), "does not have 3 features"),
        "axis": (np.arange(9.0), "3 axis are needed"),
        "header": (np.full((4, 2), np.nan), "^data"),
        "prepared": (np.array([np.nan]), "^data"),
    }
    for key, (value, said) in odd.items():
        yield f"npz with odd {key}", npz(X=X, **{key: value}), said
    objects = np.array([[{}, {}], [{}, {}]], dtype=object)
    yield "npz of objects", npz(X=objects), "pickled Python objects"
    yield "npz with objects as names", npz(X=X, feature_names=objects), "pickled Python objects"
    yield "npz of two tables", npz(a=X, b=X), "exactly one table"
    yield "npz of nothing", npz(a=np.array(1.0)), "exactly one table"
    yield "npz with infinity", npz(X=np.where(X == 4, np.inf, X)), "finite number"
    yield "npz with NaN", npz(X=np.where(X == 4, np.nan, X)), "Every cell must hold a number"
    yield "npz of True rows", zipped({"X.npy": npy("(True, 2)", held=bytes(16))}), "header cannot"
    yield "npz that says 298 GiB", zipped({"X.npy": npy("(200000, 200000)")}), "says it holds 298 GiB"


def _sparse():
    whole = {
        "data": np.ones(2),
        "indices": np.array([0, 1]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 3]),
    }
    for name, parts, said in (
        ("points outside", {"indices": np.array([0, 10**9])}, "do not fit together"),
        ("counts backwards", {"indptr": np.array([0, 2, 1])}, "do not fit together"),
        ("is too short", {"indptr": np.array([0, 2])}, "do not fit together"),
        ("has fractions for places", {"indices": np.array([0.5, 1.5])}, "wrong types"),
        ("has a shape of NaN", {"shape": np.array([np.nan, 2])}, "CSR or CSC form"),
        ("has three sides", {"shape": np.array([2, 3, 4])}, "CSR or CSC form"),
        ("has sides below 0", {"shape": np.array([-2, -3])}, "do not fit"),
        ("is of 2^60 rows", {"shape": np.array([2**60, 2**60])}, "at most"),
        ("is of a million columns", {"shape": np.array([2, 1_000_000])}, "one more for each entry"),
        ("has a layout in bytes", {"format": np.array(b"\xff")}, "CSR or CSC form"),
        ("has two layouts", {"format": np.array([b"csr", b"csc"])}, "CSR or CSC form"),
        ("has a number as layout", {"format": np.array(np.nan)}, "CSR or CSC form"),
        ("has another layout", {"format": np.array("x")}, "CSR or CSC form"),
        ("holds texts", {"data": np.array(["a", "b"])}, "wrong types"),
    ):
        yield f"sparse npz that {name}", npz(**whole | parts), said
    long = {"indptr": np.append([0, 1], np.full(1_999_999, 2)), "shape": np.array([2_000_000, 3])}
    yield "sparse npz of two million empty rows", npz(**whole | long), "one more for each entry"


def _counts():
    entries = b"1 1 1\n2 2 1\n"
    for name, raw, said in (
        ("of 2 million times a million", b"2000000\n1000000\n2\n" + entries, "one more for each entry"),
        ("of 10^10 documents", b"99999999999\n10\n2\n" + entries, "at most"),
        ("of 10^10 words", b"10\n99999999999\n2\n" + entries, "at most"),
        ("of 10^10 entries", b"10\n10\n99999999999\n" + entries, "too short"),
        ("of 20 million entries", b"10\n10\n20000000\n" + entries, "too short"),
        ("with an entry outside", b"2\n2\n2\n1 1 1\n3 1 1\n", "documents are counted from 1 to 2"),
        ("with a count of 0", b"2\n2\n2\n1 1 1\n2 1 0\n", "counts are positive"),
        ("with text", b"2\n2\n2\n1 1 1\n2 1 x\n", "an entry is 3 whole numbers"),
        ("with a missing entry", b"3\n3\n2\n1 1 1\n", "promises 2 entries"),
    ):
        yield f"docword {name}", raw, said


def _matrices():
    head = b"%%MatrixMarket matrix "
    for name, raw, said in (
        ("of 74 GiB", b"array real general\n100000 100000\n1\n", "too short"),
        (
            "of a million columns",
            b"coordinate real general\n999999 1000000 2\n1 1 1\n2 2 1\n",
            "one more for each",
        ),
        ("that is too short", b"coordinate real general\n9 9 9\n1 1 1\n", "too short"),
        (
            "with an entry outside",
            b"coordinate real general\n2 2 2\n1 1 1\n3 1 1\n",
            "does not fit its header",
        ),
        ("at a fraction", b"coordinate real general\n2 2 2\n1 1 1\n1.5 1 1\n", "does not fit its header"),
        ("of complex numbers", b"coordinate complex general\n2 2 1\n1 1 1 1\n", "real numbers"),
        ("without sizes", b"coordinate real general\n", "size line"),
        ("with sizes below 0", b"coordinate real general\n-2 2 1\n1 1 1\n", "size line"),
        (
            "with sizes of 1000 digits",
            b"coordinate real general\n" + b"9" * 1000 + b" 2 1\n1 1 1\n",
            "size line",
        ),
        ("that is not square", b"coordinate real symmetric\n2 3 1\n1 1 1\n", "as many rows as columns"),
        ("of comments alone", b"coordinate real general\n" + b"%\n" * 100_000, "size line"),
        ("of a vector", b"vector real general\n2\n1\n", "first line"),
    ):
        yield f"Matrix Market {name}", head + raw, said


def _packed():
    table = b"a,b\n1,2\n3,4\n5,6\n"
    link = zipfile.ZipInfo("a.csv")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    yield "gz in gz in gz", gzip.compress(gzip.compress(gzip.compress(table))), "not text"
    yield "gz cut short", gzip.compress(table)[:-9], "damaged or cut short"
    yield "gz with a wrong sum", gzip.compress(table)[:-8] + bytes(8), "damaged or cut short"
    yield "gz head alone", b"\x1f\x8b\x08", "damaged or cut short"
    yield "zip in a zip", zipped({"a.zip": zipped({"b.zip": zipped({"c.csv": table})})}), "another ZIP"
    yield "zip of two tables", zipped({"a.csv": table, "b.csv": table}), "two tables"
    yield "zip cut short", zipped({"a.csv": table})[:-20], "damaged or cut short"
    yield "zip of nothing", zipped({}), "empty"
    yield "zip with a link", _with(link, b"/etc/passwd"), "holds the link"
    yield "zip with outside names", zipped({"../../a.pgm": PGM, "/etc/b.pgm": PGM}), "^data"
    yield "zip with names of 50 000 digits", zipped({"9" * 50_000 + ".pgm": PGM, "1.pgm": PGM}), "^data"
    yield "zip with a password", _secret(), "encrypted"
    yield "zip that lies", _lying(), "damaged"


PGM = b"P5 2 2 255\n\x01\x02\x03\x04"


def _gz(piece: bytes, times: int) -> bytes:
    stream, packer = io.BytesIO(), zlib.compressobj(9, zlib.DEFLATED, 31)
    for _ in range(times):
        stream.write(packer.compress(piece))
    stream.write(packer.flush())
    return stream.getvalue()


def _with(info: zipfile.ZipInfo, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr(info, content)
    return stream.getvalue()


def _secret() -> bytes:
    raw = bytearray(zipped({"a.csv": b"1,2\n3,4\n"}))
    for start in (b"PK\x03\x04", b"PK\x01\x02"):
        raw[raw.index(start) + (6 if start[2] == 3 else 8)] |= 1
    return bytes(raw)


def _lying() -> bytes:
    raw = bytearray(zipped({"a.csv": b"1,2\n3,4\n" * 2**14}))
    entry = raw.rindex(b"PK\x01\x02")
    raw[entry + 24 : entry + 28] = struct.pack("<I", 8)
    return bytes(raw)


def _book(sheet: bytes, **others: bytes) -> bytes:
    kinds = b"""<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
    <Default Extension="xml" ContentType="application/xml"/><Default Extension="rels"
    ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
    <Override PartName="/xl/workbook.xml"
    ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"""
    relation = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    names = b"http://schemas.openxmlformats.org/package/2006/relationships"
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheets = b'<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
    book = b'<workbook xmlns="%s" xmlns:r="%s">' + sheets + b"</workbook>"
    to = b'<Relationships xmlns="%s"><Relationship Id="r1" Type="%s/%s" Target="%s"/></Relationships>'
    return zipped(
        {
            "[Content_Types].xml": kinds,
            "_rels/.rels": to % (names, relation, b"officeDocument", b"xl/workbook.xml"),
            "xl/workbook.xml": book % (main, relation),
            "xl/_rels/workbook.xml.rels": to % (names, relation, b"worksheet", b"worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": sheet % main if b"%s" in sheet else sheet,
            **{f"xl/{name}.xml": content for name, content in others.items()},
        }
    )


def _books():
    sheet = b'<worksheet xmlns="%s"><sheetData>' + b"".join(
        b'<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d"><v>2</v></c></row>' % (i, i, i, i) for i in (1, 2, 3)
    )
    sheet += b"</sheetData></worksheet>"
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    far = sheet.replace(b'r="A3"', b'r="XFE3"')
    yield "workbook as it should be", _book(sheet), "^data"
    yield "workbook with entities", _book(laughs + sheet), "declares entities"
    yield "workbook with entities in its texts", _book(sheet, sharedStrings=laughs), "spreadsheet is damaged"
    yield "workbook in UTF-16", _book(sheet.decode().replace("%s", "x").encode("utf-16")), "not UTF-8"
    yield "workbook with a cell far out", _book(far), "16384 columns"
    yield "workbook that is no XML", _book(b"<" * 1000), "damaged"
    yield "workbook cut short", _book(sheet)[:-60], "Excel workbook is damaged or cut short"
    yield "workbook without its sheet", _book(b""), "spreadsheet is damaged"


def _parquet(**columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _columns():
    good = _parquet(a=[1.0, 2.0, 3.0], b=[4, 5, 6])
    yield "parquet cut short", good[:-3], "damaged or cut short"
    yield "parquet head alone", b"PAR1PAR1", "damaged or cut short"
    yield "parquet with a footer of 2 GiB", b"PAR1" + struct.pack("<I", 2**31 - 1) + b"PAR1", "damaged"
    yield "parquet of lists", _parquet(a=[[1], [2]], b=[1, 2]), 'Column "a" holds list'
    yield "parquet of bytes", _parquet(a=[b"x", b"y"], b=[1, 2]), 'Column "a" holds binary'
    yield (
        "parquet with a text of 200 kB",
        _parquet(a=["x" * 200_000, "y"], b=[1, 2]),
        "at most 131072 characters",
    )
    yield "parquet with infinity", _parquet(a=[1.0, np.inf], b=[1, 2]), "finite number"
    yield "parquet of one column", _parquet(a=[1.0, 2.0]), "Only one column"
    yield "parquet of numbers as text", _parquet(c=[4, 5, 6], a=list("123"), b=[1, 2, 3]), "^data"


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def _pictures():
    for side in (1100, 12_000, 60_000):
        yield f"png of {side} pixels a side", zipped({"a.png": _png(side, side)}), "pixels"
        big = b"P5 %d %d 255\n" % (side, side)
        yield f"pgm of {side} pixels a side", zipped({"a.pgm": big}), "pixels"
    yield (
        "100 png of a million pixels",
        zipped({f"{i}.png": _png(1000, 1000) for i in range(100)}),
        "not an image",
    )
    yield "one image", PGM, "one image, which is one sample"
    yield "images of two sizes", zipped({"a.pgm": PGM, "b.pgm": b"P5 1 4 255\n\1\2\3\4"}), "one size"
    yield "an image cut short", zipped({"a.pgm": PGM[:-2], "b.pgm": PGM}), "not an image"
    yield "a text called png", zipped({"a.png": b"<script>", "b.png": b"x"}), "not an image"


def _texts():
    lines = lambda *them: "\n".join(them).encode() + b"\n"  # noqa: E731
    for name, raw, said in (
        ("nothing", b"", "The file is empty"),
        ("blank lines", b"\n" * 1000, "only blank lines"),
        ("lines of bare commas", b",,\n" * 1000, "only blank lines"),
        ("a header alone", b"a,b\n", "no rows below it"),
        ("one row", b"a,b\n1,2\n", "two samples"),
        ("one column", b"a\n1\n2\n", "Only one column"),
        ("rows of many lengths", lines("a,b", "1,2", "3", "4,5,6"), "Every row must have 2 cells"),
        ("zero bytes", b"a,b\n1,\0\n" * 10, "not text"),
        ("broken UTF-16", b"\xff\xfea\0,\xd8\xd8\xd8", "starts like UTF-16"),
        ("noise", np.random.default_rng(0).bytes(5000).replace(b"\0", b"\1"), "not text"),
        ("an open quotation mark", lines("a,b", '1,"2', "3,4", "5,6"), "quotation mark"),
        ("a cell of 200 kB", lines("a,b", "1," + 200_000 * "x"), "at most 131072 characters"),
        ("infinity", lines("a,b", "1,2", "3,inf", "5,6"), "finite number"),
        ("1e999", lines("a,b", "1,2", "3,1e999", "5,6"), "finite number"),
        ("NaN", lines("a,b", "1,2", "3,nan", "5,6"), "Every cell must hold a number"),
        ("words", lines("a,b", "1,2", "3,x", "5,6"), 'holds the text "x"'),
        ("formulas", lines("a,b", "1,2", "3,=cmd|'/c calc'!A0", "5,6"), "holds the text"),
        ("comments", lines("# by", "# on", "a,b", "1,2"), "got 1 sample and 2 features"),
        ("a comment below", lines("a,b", "1,2", "# later", "3,4"), "Row 2 is a comment"),
        ("1.234,5", lines("a;b", "1.234,5;2", "2.345,5;3"), "^data"),
        ("1,234.5", lines("a;b", "1,234.5;2", "2,345.5;3"), "^data"),
        ("1_000", lines("a,b", "1,2", "3,1_000", "5,6"), "holds the text"),
        ("a number of 10 000 digits", lines("a,b", "1,2", "3," + "9" * 10_000, "5,6"), "finite number"),
        ("<script> as a name", lines("<script>alert(1)</script>,b", "1,2", "3,4", "5,6"), "^data"),
        ("names that repeat", lines(",".join("a" * 500), *[",".join(["1"] * 500)] * 3), "^data"),
    ):
        yield f"table of {name}", raw, said


def _foreign():
    for name, magic, said in (
        ("HDF5", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        ("old Excel", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "has a password"),
        ("PDF", b"%PDF-1.7\n", "a PDF"),
        ("MATLAB", b"MATLAB 5.0 MAT-file", "a MATLAB file"),
        ("MATLAB 7.3", b"MATLAB 7.3 MAT-file" + bytes(493) + b"\x89HDF", "a MATLAB file"),
        ("pickle", pickle.dumps({"a": 1}, 4), "a pickle, which is never opened"),
        ("RAR", b"Rar!\x1a\x07\x01\x00", "a RAR archive"),
        ("7z", b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        ("bzip2", bz2.compress(b"a,b\n1,2\n" * 99), "a bzip2 file"),
        ("a program", b"\x7fELF\x02\x01\x01\0", "not text"),
        ("SQLite", b"SQLite format 3\0", "an SQLite database"),
        ("JPEG", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "not an image that can be read"),
    ):
        yield name, magic + bytes(200), said
    page = b"<!doctype html>\n<html><body>\n<p>Not found, 404</p>\n</body></html>\n"
    yield "a web page", page, "a web page"
    yield "JSON", b'{"a": {"b": [1, 2]}, "c": 6}\n', "JSON file"
    yield "XML", b'<?xml version="1.0"?>\n<a>\n<b>1</b>\n</a>\n', "an XML file"


def _ods(body: str) -> bytes:
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    above = f"<office:document-content {spaces}><office:body><office:spreadsheet><table:table>"
    below = "</table:table></office:spreadsheet></office:body></office:document-content>"
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    return zipped({"mimetype": kind, "content.xml": (above + body + below).encode()})


def _trade():
    """Formats of other programs: headers that claim much, bombs, entities and what is cut short."""
    value = 'office:value-type="float" office:value="1"'
    row = f'<table:table-cell {value} table:number-columns-repeated="3"/>'
    repeated = f'<table:table-row table:number-rows-repeated="99999999999">{row}</table:table-row>'
    yield "ods of repeated rows", _ods(repeated), "1048576 rows"
    wide = f'<table:table-row><table:table-cell {value} table:number-columns-repeated="99999999"/>'
    wide += "</table:table-row>"
    yield "ods of repeated columns", _ods(wide), "16384 columns"
    laughs = zipped(
        {"mimetype": b"opendocument.spreadsheet", "content.xml": b'<!DOCTYPE a [<!ENTITY a "b">]><a/>'}
    )
    yield "ods with entities", laughs, "declares entities"
    stata = bytes([114, 2, 1, 0]) + struct.pack("<hi", 30_000, 2**31 - 1) + bytes(4096)
    yield "Stata that says two billion rows", stata, "Stata file is damaged"
    marks = b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>"
    yield "Stata 14 cut in the header", marks + b"\xff\xff</K><N>" + b"\xff" * 8, "Stata file is damaged"
    sas = b"\0" * 12 + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011") + b"\xff" * 4096
    yield "SAS of noise", sas, "SAS file is damaged"
    xport = b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!" + b"9" * 4000
    yield "SAS transport of noise", xport, "SAS file is damaged"
    yield "Feather of noise", b"ARROW1\0\0" + b"\xff" * 4096 + b"ARROW1", "Feather file is damaged"
    claims = b"\0\0\x08\x03" + b"\xff" * 12
    yield "idx of 2**96 pixels", claims + bytes(64), "damaged or cut short"
    yield "JSON nested deep", b'{"a":' * 100_000, "this is other JSON"
    yield "GCT that says two billion", b"#1.2\n2000000000\t2000000000\nNAME\tDescription\ta\n", "rows and"
    cut = b'!Sample_title\t"a"\t"b"\n!series_matrix_table_begin\nID\ta\tb\n' + b"x\t1\t2\n" * 9
    yield "GEO cut short", cut, "cut short"
    names = {"features.tsv": b"a\tb\n", "barcodes.tsv": b"c\n"}
    huge = b"%%MatrixMarket matrix coordinate integer general\n2000000000 2000000000 1\n1 1 1\n"
    yield "10x of two billion cells", zipped({"matrix.mtx": huge, **names}), "rows"
    shift = b"BM" + struct.pack("<IHHIIiiHH", 54, 0, 0, 54, 40, 2**30, 2**30, 1, 24) + bytes(64)
    yield "BMP of 2**60 pixels", zipped({"a.bmp": shift, "b.bmp": shift}), "far more than 1048576 pixels"
    tags = struct.pack("<HHII", 256, 4, 1, 2**31) + struct.pack("<HHII", 257, 4, 1, 2**31)
    tiff = b"II*\0" + struct.pack("<IH", 8, 2) + tags + bytes(8)
    yield "TIFF of 2**62 pixels", zipped({"a.tif": tiff, "b.tif": tiff}), "not an image"


PARTS = (
    *(_npy, _npz, _sparse, _counts, _matrices, _packed),
    *(_books, _columns, _pictures, _texts, _foreign, _trade),
)
"""Parts of small files."""


def _large():
    """Files that take a second to make or to read."""
    yield "npz of zeros, 600 MB", zipped({"X.npy": bytes(600 * 2**20)}), "would unpack to"
    yield "npz of zeros, 500 MB", zipped({"X.npy": bytes(500 * 2**20)}), "would grow"
    yield "gz of 1.5 GB of zeros", _gz(b"\0" * 2**20, 1500), "unpacks to more than 512 MiB"
    yield "gz of 1.5 GB of a table", _gz(b"1,2,3,4,5,6,7,8\n" * 2**16, 1500), "unpacks to more than 512 MiB"
    yield "gz of 300 MB of commas", _gz(b"," * 2**20, 300), "grows more than"
    yield "zip of 1 GB of zeros", zipped({f"{i}.csv": bytes(2**27) for i in range(8)}), "would unpack to"
    yield "zip that bursts", zipped({"a.csv": bytes(100 * 2**20)}), "would grow"
    yield "workbook of 13 million tags", _book(b"<c/>" * 13_000_000), "would grow"
    yield "svmlight with a far column", b"1 1:1\n2 2147483646:1\n" * 9, "entries"
    yield (
        "gz of noise and 400 MB of rows",
        _gz(np.random.default_rng(0).bytes(2**20).hex().encode(), 400),
        "unpacks to more than 512 MiB",
    )
    yield (
        "zip of 100 001 files",
        zipped({f"{i}": b"" for i in range(100_001)}, zipfile.ZIP_STORED),
        "at most 100000",
    )
    yield (
        "parquet of 67 million zeros and more",
        _parquet(a=np.zeros(40_000_000), b=np.zeros(40_000_000)),
        "at most",
    )
    yield "workbook with 70 MiB of texts", _book(b"", sharedStrings=bytes(70 * 2**20)), "would grow"
    for name, raw, said in (
        ("a line without end", b"1,2\n" + b"7," * 5_000_000, "longer than 8 MiB"),
        ("one quotation mark and 20 MB", b'a,b\n1,"2\n' + b"3,4\n" * 5_000_000, "says 5000002 rows"),
        ("2 000 001 rows", b"1,2\n" * 2_000_001, "at most"),
        (
            "200 001 columns",
            b",".join([b"1"] * 200_001) + b"\n" + b",".join([b"2"] * 200_001),
            "at most 200000 columns.*features in rows",
        ),
        (
            "40 MB of numbers and a bad end",
            b"1,2,3,4\n" * 1_999_999 + b"1,2\n",
            "Every row must have 4 cells",
        ),
    ):
        yield f"table of {name}", raw, said


def answer(raw: bytes) -> str:
    """Return what the page Data says of a file."""
    from nspca.data.sandbox import open_file
    from nspca.errors import InvalidData

    found = open_file(raw, "hostile")
    return str(found.data) if isinstance(found.data, InvalidData) else "data"


def main() -> int:
    import nspca.data.sandbox  # noqa: F401  an idle server has it

    me, highest, lock = psutil.Process(), [0], threading.Lock()

    def watch() -> None:
        while True:
            with lock:
                highest[0] = max(highest[0], me.memory_info().rss)
            time.sleep(0.005)

    threading.Thread(target=watch, daemon=True).start()
    wrong = count = 0
    most = (0.0, 0)
    for case in cases():
        raw = case.raw
        with contextlib.suppress(OSError, AttributeError):  # what was used to make it is given back
            ctypes.CDLL(None).malloc_trim(0)
        with lock:
            highest[0] = before = me.memory_info().rss
        start = time.monotonic()
        said = answer(raw)
        seconds, more = time.monotonic() - start, highest[0] - before
        right = re.search(case.said, said) is not None and "Traceback" not in said
        right = right and seconds <= MOST_SECONDS and more <= MOST_BYTES
        wrong, count, most = wrong + (not right), count + 1, (max(most[0], seconds), max(most[1], more))
        size = f"{len(raw) / 1e6:8.2f} MB {seconds:6.2f} s {more / 1e6:6.0f} MB"
        say(f"{'  ' if right else '! '}{case.name:45} {size}  {said[:150]}")
    say(f"{count} files, {wrong} wrong; at most {most[0]:.1f} s and {most[1] / 1e6:.0f} MB above idle")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
