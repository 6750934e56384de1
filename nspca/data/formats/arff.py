"""Read ARFF files of Weka and OpenML, dense or sparse."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from nspca.data.encodings import as_utf8
from nspca.data.formats.base import Converted, Format, Source, join_pieces
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData

_BEGIN = re.compile(rb"\s*(%[^\n]*\n\s*)*@relation\s", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""\s*@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(.*)""", re.IGNORECASE
)
_SINGLE = re.compile(r"(^|[,\s{])'")
"""A cell in single quotation marks."""


def convert(source: Source, options: ReadOptions) -> Converted:
    """Return an ARFF file as CSV; a sparse row is written in full."""
    raw, findings = as_utf8(source.raw, options.encoding)
    lines = iter(raw.decode().splitlines())
    attributes: list[tuple[str, str]] = []
    for line in lines:
        if found := _ATTRIBUTE.match(line):
            attributes.append((_cells(found[1])[0], found[2].strip()))
        elif line.strip().lower() == "@data":
            break
    if not attributes:
        raise InvalidData("The ARFF file declares no attributes, or holds no @data: save the table as CSV.")
    text = join_pieces(_write_csv(lines, attributes), source, "ARFF")
    return Converted(text, options={"header": True}, findings=findings)


def _write_csv(lines: Iterable[str], attributes: Sequence[tuple[str, str]]) -> Iterator[bytes]:
    rows = _read_rows(lines, attributes)
    batch: list[list[str]] = [[name for name, _ in attributes]]
    while batch:
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows(batch)
        yield stream.getvalue().encode()
        batch = [*islice(rows, 1000)]


def _read_rows(lines: Iterable[str], attributes: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    # A sparse row leaves out zeros, and of a nominal attribute the first value.
    zeros = [_cells(kind.strip("{} "))[0] if kind.startswith("{") else "0" for _, kind in attributes]
    body = (line.strip() for line in lines if line.strip() and not line.lstrip().startswith("%"))
    for number, line in enumerate(body, 1):
        row = _cells(line.strip("{}"))
        if line.startswith("{"):
            pairs = [cell.partition(" ") for cell in row if cell]
            row = [*zeros]
            for at, _, value in pairs:
                if not at.isdigit() or int(at) >= len(zeros):
                    raise InvalidData(
                        f'Row {number} of the ARFF file names attribute "{at[:20]}", which is none.'
                    )
                row[int(at)] = value.strip(" '\"")
        if len(row) != len(attributes):
            raise InvalidData(
                f"Row {number} of the ARFF file has {len(row)} values, and {len(attributes)} attributes are "
                "declared."
            )
        yield row


def _cells(line: str) -> list[str]:
    """Return the cells of a line, in single, double or no quotation marks."""
    mark = "'" if _SINGLE.search(line) else '"'
    row = next(csv.reader([line], quotechar=mark, escapechar="\\", skipinitialspace=True), [])
    return [cell.strip() for cell in row]


FORMAT = Format("an ARFF file", lambda source: bool(_BEGIN.match(source.first())), convert=convert)
