"""Read archives of arrays from untrusted sources: no pickle, sizes are checked before unpacking.

The readers of data files use the parts. Certificates, results and memberships are stored by `write_arrays`
and loaded by `read_arrays`.
"""

import io
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, BinaryIO

import numpy as np

from nspca.errors import InvalidData, NSPCAError, Way

MAX_BYTES = 512 * 2**20
"""Maximum unpacked bytes of an archive. 1000 x 20 000 numbers with 17 digits are 400 MB of text."""
MAX_HEADER = 4096
"""Maximum bytes of an array header. Headers of plain arrays have about 100; structured types have more."""
TRIES = 20
"""Maximum attempts to read a header. Before Python 3.11.8 and 3.12.2, two threads that parse literals at the
same time disturb each other, and a sound text raises SystemError (github.com/python/cpython/issues/106905).
"""


def mib(count: float) -> str:
    """Return a byte count as a readable text in MiB or GiB."""
    return f"{count / 2**30:.0f} GiB" if count >= 10 * 2**30 else f"{count / 2**20:.3g} MiB"


def shortened(text: str, most: int = 60) -> str:
    """Return `text` cut to `most` characters, so that a stranger's words do not fill a sentence."""
    return text if len(text) <= most else text[: most - 3] + "..."


@contextmanager
def parsing(damaged: str, ways: tuple[Way, ...] = ()) -> Iterator[None]:
    """Raise `InvalidData` with the sentence `damaged` for what a parser raises about a stranger's file.

    Decompressors and decoders raise errors of every kind, and a panic of Rust is no `Exception`.
    """
    try:
        yield
    except NSPCAError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InvalidData(damaged, ways) from None


def open_zip(raw: bytes, most: int | None = None) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """Open an archive and return it with its files, after checking their total size in the directory.

    The limit is `most` bytes (`MAX_BYTES` by default).
    """
    most = MAX_BYTES if most is None else most
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
        members = [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError, struct.error):
        raise InvalidData("The ZIP file is damaged or cut short: pack it again.") from None
    total = sum(info.file_size for info in members)
    if total > most:
        raise InvalidData(
            f"The ZIP file would unpack to {mib(total)}, at most {mib(most)} are read: pack fewer files."
        )
    if any(info.flag_bits & 1 for info in members):
        raise InvalidData("The ZIP file is encrypted: pack it without a password.")
    return archive, members


def unzip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return one file of an archive, never more bytes than its directory entry `info` says."""
    with (
        parsing("The ZIP file is damaged: one of its files cannot be unpacked; pack it again."),
        archive.open(info) as handle,
    ):
        plain = handle.read(info.file_size + 1)
    if len(plain) > info.file_size:
        raise InvalidData("The ZIP file lies about the size of one of its files: pack it again.")
    return plain


def read_npy(raw: bytes) -> np.ndarray:
    """Return one ``.npy`` array of plain numbers or text.

    Raises
    ------
    InvalidData
        For pickled objects, structured types, damaged headers, and headers that promise more than the file
        holds.
    """
    stream = io.BytesIO(raw)
    shape, by_columns, dtype = npy_layout(stream)
    check_array(shape, dtype, len(raw) - stream.tell())
    return np.ndarray(shape, dtype, raw, stream.tell(), order="F" if by_columns else "C").copy(order="K")


def check_type(dtype: np.dtype) -> None:
    """Raise `InvalidData` unless an array of this type has plain numbers or text."""
    if dtype.hasobject:
        raise InvalidData(
            "The array holds pickled Python objects, which are never opened: save it as plain numbers or "
            "text."
        )
    # NumPy gives each text of length 0 a length when it copies them, however many a header of no bytes names.
    if dtype.names is not None or dtype.kind not in "biufUS" or not dtype.itemsize:
        raise InvalidData(
            f"The array must hold real numbers or text, got type {shortened(str(dtype))}: convert it before "
            "saving."
        )


def check_array(shape: tuple[int, ...], dtype: np.dtype, held: int) -> None:
    """Raise `InvalidData` unless an array has plain numbers or text and fills exactly the `held` bytes."""
    check_type(dtype)
    claimed = dtype.itemsize * prod(map(int, shape))
    if claimed != held or min(shape, default=0) < 0:
        says, has = mib(claimed), mib(held)
        if says == has:
            says, has = f"{claimed} bytes", str(held)
        raise InvalidData(
            f"The array says it holds {says} and the file holds {has}: it is damaged or cut short, save it "
            "again."
        )


def npy_layout(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return the shape of an array, whether it is stored by columns, and its type, from its header.

    `stream` is then at the first entry.
    """
    # The header is a stranger's text, which is handed to a parser of Python literals.
    with parsing("The array's header cannot be read: save it again with numpy.save or numpy.savez."):
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[
            version
        ]
        start = stream.tell()
        for left in reversed(range(TRIES)):
            try:
                stream.seek(start)
                shape, by_columns, dtype = read(stream, max_header_size=MAX_HEADER)
                break
            except SystemError:
                if not left:
                    raise
        # True is an int to the parser of headers, and no length to the reader of arrays.
        if min(shape, default=0) < 0 or any(isinstance(length, bool) for length in shape):
            raise ValueError("a length below 0, or none")
    return shape, by_columns, dtype


def read_arrays(raw: bytes, most: int = MAX_BYTES) -> dict[str, np.ndarray]:
    """Return all arrays of an NPZ, by name.

    Raises
    ------
    InvalidData
        For anything but plain arrays of numbers or text, for two arrays of one name, and for what would
        unpack to more than `most` bytes.
    """
    archive, members = open_zip(raw, most)
    names = [info.filename.removesuffix(".npy") for info in members]
    if len({*names}) < len(names):
        raise InvalidData("The ZIP file has two arrays of one name: pack it again.")
    return {name: read_npy(unzip_member(archive, info)) for name, info in zip(names, members, strict=True)}


def write_arrays(arrays: dict[str, Any]) -> bytes:
    """Return a compressed NPZ of `arrays`, for `read_arrays`."""
    buffer = io.BytesIO()
    if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
        raise TypeError("arrays of objects cannot be written")
    np.savez_compressed(buffer, **arrays)  # NumPy 2.0 takes `allow_pickle` for one of the arrays
    return buffer.getvalue()
