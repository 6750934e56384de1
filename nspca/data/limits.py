"""Limits on files: checks that refuse a file before memory is allocated, and reads that stop at a limit.

The readers call the checks with the sizes that a header claims.
"""

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from nspca.errors import InvalidData
from nspca.validation.archive import MAX_BYTES, mib
from nspca.validation.integers import (
    LARGEST_EXACT,
    LONG_INTEGER,
    describe_rounding,
    find_inexact,
    is_inexact,
    loses_digits,
)

MAX_VALUES = 2**26
"""Values of a dense table. As float64 they are 512 MiB: with a centred and a working copy less than 2 GiB."""
MAX_ENTRIES = 20_000_000
"""Entries of a sparse matrix. Each costs 12 to 16 bytes in CSR and 24 while it is parsed: less than 1 GiB."""
FROM_DISK = "solve it from the disk, after `python -m nspca shard FILE FOLDER`"
"""The way out for data that are too large for memory."""
MAX_ROWS = 2_000_000
"""Rows of a table. Each costs an index pointer; the largest public docword files have 300 000."""
FREE_LINES = 100_000
"""Number of empty rows or columns that a sparse matrix may have. An empty row costs an index, so a header of
40 bytes could otherwise ask for a gigabyte.
"""
MAX_COLUMNS = 1_000_000
"""Columns of a table: ten times the number of features that the solvers are made for."""
MAX_TEXT_COLUMNS = 200_000
"""Columns of a text table. Each costs pandas 60 microseconds, whatever its length: 200 000 take 12 s."""
MAX_LINE = 8 * 2**20
"""Bytes of a line of text. A cell takes 60 bytes while the layout is found: 8 MiB of commas take 500 MB."""
MAX_FILES = 100_000
"""Files in an archive or folder; an archive of 100 000 images takes a minute to open."""
MAX_RATIO = 200
"""Highest ratio of unpacked to packed bytes, in every packed format. Text, pixels and measurements shrink by
3 to 50. A file that shrinks more than 200 times was made to fill memory.
"""
MOST_PACKED = 1032
"""Maximum ratio of plain to compressed bytes of a gzip file: the limit of the deflate format."""
RATIO_COUNTS_ABOVE = 16 * 2**20
"""Unpacked bytes that are read whatever the ratio is: so few fill no memory."""
MAX_PIXELS = 2**20
"""Pixels of an image: 1024 x 1024, which is MAX_COLUMNS rounded up."""
_PIECE = 2**20
"""Bytes that are read at a time."""
Files = Sequence[tuple[str, Callable[[], bytes]]]
"""Files of a folder or an archive: the name of each inside it, and a function that returns its bytes."""


def bounded_bytes(source: "str | Path | bytes | BinaryIO") -> bytes:
    """Return all bytes of a path, a bytes object or an open binary file; refuse more than `MAX_BYTES`."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        raw = bytes(source)
    elif hasattr(source, "read"):
        if hasattr(source, "seek"):
            source.seek(0)
        raw = _read_limited(cast(BinaryIO, source))
    else:
        require_file(path := Path(source))
        with path.open("rb") as handle:
            raw = _read_limited(handle)
    if len(raw) > MAX_BYTES:
        raise InvalidData(
            f"A file may have at most {mib(MAX_BYTES)} in memory and this one has more: keep fewer columns, "
            f"or {FROM_DISK}."
        )
    if not raw:
        raise InvalidData("The file is empty: a table with at least two rows and two columns is needed.")
    return raw


def require_file(path: Path) -> None:
    """Refuse the path of a file that is not there."""
    if not path.is_file():
        raise InvalidData(f"There is no file {path}: check the path.")


def list_files(folder: Path, read: Callable[[Path], bytes]) -> Files:
    """Return the names of the files below a folder, each with a function that reads the file by `read`.

    Links are not followed.
    """
    files: list[tuple[str, Callable[[], bytes]]] = []
    for root, _, names in os.walk(folder):
        for file in names:
            path = Path(root, file)
            if not path.is_symlink():
                files.append((path.relative_to(folder).as_posix(), partial(read, path)))
        if len(files) > MAX_FILES:
            raise InvalidData(f"A folder may hold at most {MAX_FILES} files: name a smaller one.")
    return files


def _read_limited(handle: "BinaryIO | gzip.GzipFile", most: int | None = None) -> bytes:
    """Return the content of an open file, or slightly more than `most` bytes (`MAX_BYTES`) of a larger one.

    The file is read in pieces, because one `read(n)` allocates n bytes before it sees the file.
    """
    most = MAX_BYTES if most is None else most
    held, size = io.BytesIO(), 0  # BytesIO returns its content without a copy
    while size <= most and (piece := handle.read(_PIECE)):
        size += held.write(piece.encode() if isinstance(piece, str) else piece)
    return held.getvalue()


def check_growth(unpacked: int, packed: int, kind: str, way_out: str) -> None:
    """Refuse a file of the format `kind` that would grow more than `MAX_RATIO` times when it is unpacked.

    `unpacked` are the bytes of its numbers or text in memory, `packed` those of the file as the user gave it.
    """
    if unpacked > RATIO_COUNTS_ABOVE and unpacked > MAX_RATIO * packed:
        raise InvalidData(
            f"The {kind} file would grow {unpacked / max(packed, 1):.0f} times when unpacked (to "
            f"{mib(unpacked)}), at most {MAX_RATIO} is read: {way_out}."
        )


def plain_bytes(raw: bytes, packed: int | None = None, limit: int | None = None) -> bytes:
    """Return `raw`, unpacked where it is a gzip file.

    More than `limit` bytes (`MAX_BYTES`), or a growth above `MAX_RATIO`, are refused. `packed` is the size of
    the file that contained `raw`, when that file is compressed too.
    """
    if not raw.startswith(b"\x1f\x8b"):
        return raw
    way_out = f"give a smaller file, or {FROM_DISK}" if limit is None else "give a smaller file"
    limit = MAX_BYTES if limit is None else limit
    most = min(limit, max(RATIO_COUNTS_ABOVE, MAX_RATIO * (packed or len(raw))))
    # The last bytes say the unpacked size, modulo 2**32: most bombs need not be unpacked to be refused.
    size, plain, may_be = int.from_bytes(raw[-4:], "little"), b"", "is cut short, or "
    if not most < size <= MOST_PACKED * len(raw):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as handle:
                plain = _read_limited(handle, most)
        except (OSError, EOFError, zlib.error):
            raise InvalidData(
                "The gzip file is damaged or cut short: compress it again or give the plain file."
            ) from None
        size, may_be = len(plain), ""
    if size > limit:
        raise InvalidData(f"The gzip file {may_be}unpacks to more than {mib(limit)}: {way_out}.")
    if size > most:
        raise InvalidData(
            f"The gzip file {may_be}grows more than {MAX_RATIO} times when unpacked, at most that is read: "
            "give the plain file."
        )
    return plain


def check_archive(
    packed: int, members: list[zipfile.ZipInfo], kind: str = "ZIP", way_out: str = "give the plain files"
) -> None:
    """Refuse an archive of too many files, or one that would grow too much (see `check_growth`)."""
    if len(members) > MAX_FILES:
        raise InvalidData(
            f"A ZIP may hold at most {MAX_FILES} files, this one holds {len(members)}: pack fewer."
        )
    check_growth(sum(info.file_size for info in members), packed, kind, way_out)


def check_dense(rows: int, columns: int) -> None:
    """Refuse a dense table that would not fit, from its header alone."""
    if columns > MAX_COLUMNS or rows > MAX_ROWS or rows * columns > MAX_VALUES:
        raise InvalidData(
            f"The table says {rows} rows and {columns} columns ({mib(8.0 * rows * columns)}); at most "
            f"{MAX_VALUES} values, {MAX_ROWS} rows and {MAX_COLUMNS} columns are read: keep fewer of them, "
            f"or {FROM_DISK}."
        )


def check_lines(raw: bytes) -> None:
    """Refuse text with a line longer than `MAX_LINE`. The text is not split, which would copy it."""
    start = 0
    while len(raw) - start > MAX_LINE:
        end = start + MAX_LINE
        start = max(raw.rfind(b"\n", start, end), raw.rfind(b"\r", start, end)) + 1
        if start == 0:
            raise InvalidData(
                f"A line of the file is longer than {mib(MAX_LINE)}: give the table with features in rows, "
                "or save it as NPZ."
            )


def check_text_columns(columns: int) -> None:
    """Refuse a text table of so many columns that reading it would take minutes."""
    if columns > MAX_TEXT_COLUMNS:
        raise InvalidData(
            f"A text table may have at most {MAX_TEXT_COLUMNS} columns, this one has {columns}: give it with "
            "features in rows, or save it as NPZ."
        )


def check_sparse(rows: int, columns: int, entries: int) -> None:
    """Refuse a sparse matrix that would not fit, from its header alone."""
    check_filled(rows, columns, entries)
    if rows > MAX_ROWS or columns > MAX_COLUMNS or entries > MAX_ENTRIES:
        raise InvalidData(
            f"The matrix says {rows} rows, {columns} columns and {entries} entries; at most {MAX_ROWS}, "
            f"{MAX_COLUMNS} and {MAX_ENTRIES} are read: keep fewer documents or words, or {FROM_DISK}."
        )


def check_filled(rows: int, columns: int, entries: int, called: str = "this one") -> None:
    """Refuse a sparse matrix with far more rows or columns than entries, `called` so in the error.

    Even empty rows and columns take memory, so a header alone must not make us allocate gigabytes.
    """
    if max(rows, columns) > FREE_LINES + max(entries, 0):
        raise InvalidData(
            f"A sparse matrix may have at most {FREE_LINES} rows and columns and one more for each entry, "
            f"{called} says {rows} rows, {columns} columns and {entries} entries: leave out the empty ones."
        )


def check_float64(X: np.ndarray, where: str = "") -> None:
    """Refuse integers in X that float64 cannot represent.

    `where` names the place in the error; by default the column of X.
    """
    at = find_inexact(X)
    if at is None:
        return
    raise _rounding_error(int(X.flat[at]), where or f"column {at % (X.size // len(X)) + 1}")


def check_text_float64(X: np.ndarray, text: bytes, where: str) -> None:
    """Refuse integers in `text` that float64 cannot represent; X holds the parsed numbers of the text.

    The text is searched only when X has large numbers.
    """
    if ((X < LARGEST_EXACT) & (X > -LARGEST_EXACT)).all():
        return
    refused = is_inexact if X.dtype.kind == "i" else loses_digits
    for found in LONG_INTEGER.finditer(text):
        if refused(int(found.group())):
            raise _rounding_error(int(found.group()), where)


def _rounding_error(one: int, where: str) -> InvalidData:
    return InvalidData(
        f"Every number must fit float64, but {where} holds {describe_rounding(one)}: subtract what "
        f"the numbers have in common, save them as floats, or leave them out."
    )
