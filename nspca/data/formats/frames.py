"""Tables of other programs as CSV: Stata and SAS by pandas, Feather by pyarrow, JSON and ARFF here.

A file is read some rows at a time, and refused as soon as it has too many.
"""

import csv
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from nspca.data.dialect import as_utf8
from nspca.data.formats.base import Converted, Format, Source
from nspca.data.formats.parquet import check_kinds
from nspca.data.limits import check_dense, check_growth
from nspca.data.names import printable, quote_names, unique_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late
from nspca.validation.archive import MAX_BYTES, mib

pa: Any = Late("pyarrow", "Feather files", "files")
STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00")
"""First bytes of a Stata file: of version 13 and newer, or of an older one."""
SAS = b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
XPORT = b"HEADER RECORD*******LIB"
"""First bytes of SAS data files (.sas7bdat) and of SAS transport files (.xpt)."""
FEATHER = b"ARROW1"
_STEP, _CELLS = 10_000, 2**20
"""Rows, and cells of a wide table, that are read at a time."""
_MOST_JSON = 64 * 2**20
"""Maximum bytes of JSON, which takes some ten times as much memory."""
_DAMAGED = "is damaged, or of a version that cannot be read: save the table as CSV"


def convert_statistics(source: Source, options: ReadOptions) -> Converted:
    """Return a table of Stata or SAS as CSV. Codes with value labels stay numbers."""
    raw = source.raw
    what = "Stata" if STATA.match(raw) else "SAS"
    notes: tuple[str, ...] = ()
    reader: Any
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about labels and encodings of the file
            if what == "Stata":
                reader = pd.read_stata(io.BytesIO(raw), chunksize=_STEP, convert_categoricals=False)
            else:
                kind, encoding = ("xport", None) if raw.startswith(XPORT) else ("sas7bdat", "infer")
                reader = pd.read_sas(io.BytesIO(raw), format=kind, encoding=encoding, chunksize=_STEP)
                if kind == "xport":
                    reader.nobs = _count_records(raw[reader.record_start :], reader.record_length)
            with reader:
                text = _frames_as_csv(reader, source.given_bytes, what)
            if what == "Stata" and (labels := [name for name, by in reader.value_labels().items() if by]):
                notes = (f"Codes with value labels are read as numbers: {quote_names(labels)}.",)
    except InvalidData:
        raise
    except Exception:  # pandas raises errors of many kinds for damaged files
        raise InvalidData(f"The {what} file {_DAMAGED}.") from None
    return Converted(text, findings=notes)


def _count_records(body: bytes, length: int) -> int:
    """Return the number of records of a SAS transport file, which ends in up to 79 blanks.

    pandas takes blanks at the end of the last record for such, and loses the record.
    """
    count = len(body) // length
    while count and not body[(count - 1) * length : count * length].strip(b" "):
        count -= 1
    return count


def convert_feather(source: Source, options: ReadOptions) -> Converted:
    """Return a Feather (Arrow) file as CSV."""
    open_file = pa.ipc.open_file  # a missing package is told before the file is blamed

    def frames(file: Any) -> Iterator[pd.DataFrame]:
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            batch.validate(full=True)
            yield batch.to_pandas(integer_object_nulls=True)

    try:
        file = open_file(pa.BufferReader(source.raw))
        check_kinds(file.schema)
        return Converted(_frames_as_csv(frames(file), source.given_bytes, "Feather"))
    except InvalidData:
        raise
    except Exception:  # Arrow raises errors of many kinds for damaged files
        raise InvalidData(f"The Feather file {_DAMAGED}.") from None


def _frames_as_csv(frames: Iterable[pd.DataFrame], packed: int, what: str) -> bytes:
    stream, rows = io.StringIO(), 0
    for frame in frames:
        rows += len(frame)
        check_dense(rows, frame.shape[1])
        columns = {i: _plain_column(frame.iloc[:, i]) for i in range(frame.shape[1])}
        header: Any = False if stream.tell() else [*map(str, frame.columns)]
        # Texts in a column of their own are told from the lines of a text by their quotation marks.
        quoting = csv.QUOTE_ALL if len(columns) == 1 else csv.QUOTE_MINIMAL
        pd.DataFrame(columns).to_csv(stream, index=False, header=header, lineterminator="\n", quoting=quoting)
        check_growth(stream.tell(), packed, what, "save the table as CSV")
        if stream.tell() > MAX_BYTES:
            raise InvalidData(f"The {what} file is more than {mib(MAX_BYTES)} of text: keep fewer columns.")
    return stream.getvalue().encode()


def _plain_column(column: pd.Series) -> pd.Series:
    if column.dtype.kind == "b":
        return column.astype(np.int8)
    return column.map(_word, na_action="ignore") if column.dtype.kind == "O" else column


def _word(value: Any) -> Any:
    """Return a cell of a table of texts; SAS transport files name no encoding."""
    if not isinstance(value, bytes):
        return int(value) if isinstance(value, bool) else value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def is_json(first: bytes) -> bool:
    """Tell whether a text begins like JSON: an object, or a list of objects, lists or texts."""
    return bool(re.match(rb'\s*(\{\s*"|\[\s*[{"]|\[\s*\[\s*(["\[-]|\d|null|true|false))', first))


def convert_json(raw: bytes) -> Converted:
    """Return JSON lines, or a list of objects, lists or texts, as CSV: a line is a row, a key a column.

    The list may be in an object, such as ``{"data": [...]}``, with names of rows and columns beside it.
    """
    if len(raw) > _MOST_JSON:
        raise InvalidData(f"A JSON file may have at most {mib(_MOST_JSON)}: save the table as CSV.")
    try:
        text = raw.decode("utf-8-sig")
        try:
            found = json.loads(text)
        except ValueError:
            found = [*map(json.loads, filter(str.strip, text.split("\n")))]
    except (ValueError, RecursionError):
        raise InvalidData(
            "A JSON file is read when each line is one object, or when it is one list of objects; this is "
            "other JSON: save the table as CSV."
        ) from None
    notes: tuple[str, ...] = ("Each object of the JSON file is a row, its keys are the columns.",)
    names: list[Any] = []
    if isinstance(found, dict) and {"columns", "data"} <= found.keys() <= {"columns", "index", "data"}:
        if not all(isinstance(one, list) for one in (*found.values(), *found["data"])):
            raise InvalidData("The lists of the JSON file are not those of a table: save the table as CSV.")
        names = [*[""] * ("index" in found), *found["columns"]]
        index = [[name] for name in found["index"]] if "index" in found else [[]] * len(found["data"])
        found = [[*name, *row] for name, row in zip(index, found["data"], strict=False)]
    elif isinstance(found, dict):
        lists = {key: value for key, value in found.items() if isinstance(value, list)}
        if len(lists) == 1:
            ((key, found),) = lists.items()
            notes = (f'Read is the list "{printable(str(key))[:40]}" of the JSON file. {notes[0]}',)
        elif lists and len(lists) == len(found):  # one object with a list for each column
            found = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=False)]
        else:
            found = [found]
    if found and isinstance(found, list) and all(isinstance(one, str) for one in found):
        notes = ("Each text of the JSON file is a row.",)
        found = [{"text": one} for one in found]
    if found and all(isinstance(one, list) for one in found):
        notes = ("Each list of the JSON file is a row.",)
        if not names and all(isinstance(name, str) for name in found[0]):
            names, *found = found
        width = max(map(len, found), default=0)
        names += [f"feature {i}" for i in range(len(names) + 1, width + 1)]
        found = [dict(zip(unique_names([*map(str, names)], "column")[0], one, strict=False)) for one in found]
    rows = [one if isinstance(one, dict) else {} for one in found]
    columns: dict[Any, None] = {}
    nested: dict[Any, None] = {}
    for row in rows:
        for key, value in row.items():
            (nested if isinstance(value, dict | list) else columns)[key] = None
        check_dense(len(rows), len(columns))
    kept = [key for key in columns if key not in nested]
    if not kept:
        raise InvalidData("The JSON file has no columns of numbers or texts: save the table as CSV.")
    if nested:
        notes += (f"Keys with lists or objects were left out: {quote_names(map(str, nested))}.",)
    cells = ([row.get(key) for key in kept] for row in rows)
    csv_text = _frames_as_csv(_batches(kept, cells), len(raw), "JSON")
    return Converted(csv_text, options={"header": True}, findings=notes)


def _convert_json(source: Source, options: ReadOptions) -> Converted:
    """Return a JSON file with two keys at least as CSV; one of texts alone is for `nspca.read_text`."""
    converted = convert_json(source.raw)
    if len(next(csv.reader([converted.text.split(b"\n", 1)[0].decode()]), [])) < 2:
        raise InvalidData(
            "The objects of this JSON file have one key: a table needs two at least, and texts are counted "
            "by nspca.read_text."
        )
    return converted


def _is_arff(first: bytes) -> bool:
    return bool(re.match(rb"\s*(%[^\n]*\n\s*)*@relation\s", first, re.IGNORECASE))


def convert_arff(source: Source, options: ReadOptions) -> Converted:
    """Return an ARFF file in UTF-8 as CSV; a sparse row is written in full."""
    attributes: list[tuple[str, str]] = []
    text, findings = as_utf8(source.raw, options.encoding)
    lines = iter(text.decode().splitlines())
    for line in lines:
        found = re.match(r"""\s*@attribute\s+('(?:[^'\\]|\\.)*'|"[^"]*"|\S+)\s+(.*)""", line, re.IGNORECASE)
        if found:
            attributes.append((found[1].strip("'\"").replace("\\'", "'"), found[2].strip()))
        elif line.strip().lower() == "@data":
            break
    if not attributes:
        raise InvalidData("The ARFF file declares no attributes, or holds no @data: save the table as CSV.")
    frames = _batches([name for name, _ in attributes], _arff_rows(lines, attributes))
    csv_text = _frames_as_csv(frames, source.given_bytes, "ARFF")
    return Converted(csv_text, options={"header": True}, findings=findings)


def _arff_rows(lines: Iterable[str], attributes: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    zeros = [
        re.split(r"[,}]", kind[1:])[0].strip(" '\"") if kind.startswith("{") else "0"
        for _, kind in attributes
    ]
    body = (line for line in lines if line.strip() and not line.lstrip().startswith("%"))
    quote = {"quotechar": "'", "escapechar": "\\", "skipinitialspace": True}
    for number, line in enumerate(body, 1):
        sparse = line.strip().startswith("{")
        row = next(csv.reader([line.strip().strip("{}") if sparse else line], **quote), [])  # type: ignore[arg-type]
        if sparse:
            pairs = [cell.strip().partition(" ") for cell in row if cell.strip()]
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
        yield [cell.strip() for cell in row]


def _batches(header: Sequence[object], rows: Iterator[list[Any]]) -> Iterator[pd.DataFrame]:
    while batch := [*islice(rows, max(1, _CELLS // len(header)))]:
        yield pd.DataFrame(batch, columns=[*header], dtype=object)


def _is_statistics(source: Source) -> bool:
    first = source.first()
    return STATA.match(first) is not None or first.startswith((SAS, XPORT))


STATISTICS = Format("a Stata or SAS file", _is_statistics, convert=convert_statistics)
ARROW = Format("a Feather file", lambda source: source.first().startswith(FEATHER), convert=convert_feather)
JSON = Format("a JSON file", lambda source: is_json(source.first()), convert=_convert_json)
ARFF = Format("an ARFF file", lambda source: _is_arff(source.first()), convert=convert_arff)
