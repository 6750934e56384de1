"""Long text files, plain or gzipped, read in pieces."""

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO

from nspca.errors import InvalidData

PIECE = 16 * 2**20
"""Bytes of text read at a time: about a million entries, and ten times that in memory while it is parsed."""


class reading:
    """What goes wrong while a file is read, in a sentence."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
            raise InvalidData(
                f"{self.path} is damaged or cut short as a gzip file: compress it again or give the plain "
                "file."
            ) from None


def opened(path: Path) -> BinaryIO:
    """A file for reading, unpacked as it is read where it is a gzip file."""
    with path.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]
