"""Read the tables of Stata and SAS by pandas."""

import io
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pandas as pd

from nspca.data.formats.base import Converted, Format, Source, join_pieces
from nspca.data.names import quote_names
from nspca.data.options import ReadOptions
from nspca.validation.archive import parsing

STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00")
"""First bytes of a Stata file: of version 13 and newer, or of an older one."""
SAS = b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
XPORT = b"HEADER RECORD*******LIB"
"""First bytes of SAS data files (.sas7bdat) and of SAS transport files (.xpt)."""
_STEP = 10_000
"""Rows that are read at a time."""


def convert(source: Source, options: ReadOptions) -> Converted:
    """Return a table of Stata or SAS as CSV. Codes with value labels stay numbers."""
    what = "Stata" if STATA.match(source.raw) else "SAS"
    notes: tuple[str, ...] = ()
    damaged = f"The {what} file is damaged, or of a version that cannot be read: save the table as CSV."
    with parsing(damaged), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about labels and encodings of the file
        with _open(source.raw) as reader:
            text = join_pieces(_write_csv(reader), source, what)
        if what == "Stata" and (labels := [name for name, by in reader.value_labels().items() if by]):
            notes = (f"Codes with value labels are read as numbers: {quote_names(labels)}.",)
    return Converted(text, options={"header": True}, findings=notes)


def _open(raw: bytes) -> Any:
    if STATA.match(raw):
        return pd.read_stata(io.BytesIO(raw), chunksize=_STEP, convert_categoricals=False)
    kind, encoding = ("xport", None) if raw.startswith(XPORT) else ("sas7bdat", "infer")
    reader: Any = pd.read_sas(io.BytesIO(raw), format=kind, encoding=encoding, chunksize=_STEP)
    if kind == "xport":
        # A transport file ends in up to 79 blanks. pandas takes blanks of the last record for such.
        body, length = raw[reader.record_start :], reader.record_length
        reader.nobs = -(-len(body.rstrip(b" ")) // length)
    return reader


def _write_csv(frames: Iterator[pd.DataFrame]) -> Iterator[bytes]:
    for number, frame in enumerate(frames):
        texts = frame.select_dtypes("object").columns
        frame[texts] = frame[texts].map(_decode)
        yield frame.to_csv(index=False, header=number == 0, lineterminator="\n").encode()


def _decode(value: Any) -> Any:
    """Return a cell as text; SAS transport files name no encoding."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _matches(source: Source) -> bool:
    first = source.first()
    return STATA.match(first) is not None or first.startswith((SAS, XPORT))


FORMAT = Format("a Stata or SAS file", _matches, convert=convert, is_apart=True)
