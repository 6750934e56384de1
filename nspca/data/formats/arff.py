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
_CELL = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,\t]*?)\s*(?:[,\t]|$)""")
"""A cell in single, double or no quotation marks, with what ends it."""


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
        if line.startswith("{"):
            row = [*zeros]
            for at, value in re.findall(r"""(\S+)\s+('[^']*'|"[^"]*"|[^,]*)(?:,|$)""", line.strip("{}")):
                if not at.isdigit() or int(at) >= len(zeros):
                    raise InvalidData(f'Row {number} of the ARFF file names no attribute by "{at[:20]}".')
                row[int(at)] = _cells(value)[0]
        else:
            row = _cells(line)
        if len(row) == len(attributes) + 1 and row[-1].startswith("{"):  # the weight of the row
            del row[-1]
        if len(row) != len(attributes):
            raise InvalidData(
                f"Row {number} of the ARFF file has {len(row)} values, and {len(attributes)} attributes are "
                "declared."
            )
        yield row


def _cells(line: str) -> list[str]:
    cells = [found[1] for found in _CELL.finditer(line)]
    if len(cells) > 1 and not line.endswith((",", "\t")):
        del cells[-1]  # the empty match at the end
    return [
        re.sub(r"\\(.)", r"\1", cell[1:-1]) if cell[:1] in ("'", '"') and cell[-1] == cell[0] else cell
        for cell in cells
    ]


FORMAT = Format("an ARFF file", lambda source: bool(_BEGIN.match(source.first())), convert=convert)
