"""A file of another format, converted to a table of text that is then read like a CSV file."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nspca.data.limits import check_dense
from nspca.errors import InvalidData
from nspca.validation.archive import MAX_BYTES, mib


@dataclass(frozen=True)
class Converted:
    """A table of text with what its format says about it.

    Parameters
    ----------
    text : bytes
        UTF-8, with a header.
    delimiter : str
    options : mapping of str to value
        Options of reading that hold unless the user gave others, such as ``features_in_rows``.
    labels : mapping of str to sequence of str
        Groups of the samples, in the order of the samples in the file.
    notes : tuple of str
    """

    text: bytes
    delimiter: str = ","
    options: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def write_csv(header: Sequence[object], rows: Iterable[Sequence[object]], limit: int = MAX_BYTES) -> bytes:
    """Return a header and rows as CSV; refuse more than `limit` characters or too many cells."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for number, row in enumerate(rows, 1):
        writer.writerow(row)
        check_dense(number, len(header))
        if stream.tell() > limit:
            raise InvalidData(f"The table is more than {mib(limit)} of text: keep fewer columns or rows.")
    return stream.getvalue().encode()
