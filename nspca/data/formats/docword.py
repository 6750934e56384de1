"""Read the UCI bag-of-words format.

A file has three header lines D, W and NNZ, then one line "document word count" for each entry. Documents and
words are numbered from 1.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nspca.data import limits
from nspca.data.formats.base import Format
from nspca.data.formats.entries import Entries, EntryReader
from nspca.data.names import Names, numbered, unique_names
from nspca.errors import InvalidData

HEADER = re.compile(rb"\s*(\d{1,19})[ \t]*\r?\n\s*(\d{1,19})[ \t]*\r?\n\s*(\d{1,19})[ \t]*(\r?\n|$)")
_ENTRY = re.compile(rb"\d+[ \t]+\d+[ \t]+\d+[ \t]*(\r?\n|$)")
_HEADER_BYTES = 200
"""Maximum bytes of a header. Three counts of 19 digits need 60."""


def is_docword(first: bytes) -> bool:
    """Tell whether a file begins with three counts, and an entry if there are any."""
    header = HEADER.match(first[:_HEADER_BYTES])
    return header is not None and (
        _ENTRY.match(first[header.end() : header.end() + 100]) is not None or int(header[3]) == 0
    )


class DocwordReader(EntryReader):
    """Reader of word counts, with documents in rows and words in columns."""

    is_whole = True

    def _read_header(self) -> None:
        header = HEADER.match(self.source.first()[:_HEADER_BYTES])
        assert header is not None  # as `is_docword` says
        self.sides, self.held = (int(header[1]), int(header[2])), int(header[3])
        self.header_bytes = header.end()

    def misfits(self, table: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
        for column, what in enumerate(("documents", "words")):
            outside = (table[:, column] < 1) | (table[:, column] > self.sides[column])
            yield outside, f"{what} are counted from 1 to {self.sides[column]}"
        yield table[:, 2] < 1, "counts are positive"

    def entries(self) -> Iterator[Entries]:
        for table in self.tables():
            yield table[:, 0] - 1, table[:, 1] - 1, table[:, 2].astype(np.float64)

    def feature_names(self) -> Sequence[str] | None:
        given = self.source.vocabulary
        return None if given is None else vocabulary_words(given, self.sides[1])[0]

    def about(self) -> dict[str, Any]:
        documents, count = self.sides
        words, notes = vocabulary_words(self.source.vocabulary, count)
        names = {"feature_names": words, "sample_names": numbered("document", documents)}
        return {**names, "kind": "words", "findings": notes}


def read_vocabulary(path: Path) -> bytes:
    """Return the bytes of a vocabulary file, plain or gzipped."""
    return limits.plain_bytes(limits.bounded_bytes(path))


def find_vocabulary(path: Path) -> Path | None:
    """Return the path of ``vocab.x.txt`` beside ``docword.x.txt``, or None when there is no such file."""
    if not path.name.startswith("docword."):
        return None
    beside = path.with_name("vocab." + path.name.removeprefix("docword.").removesuffix(".gz"))
    return beside if beside.is_file() else None


def vocabulary_words(vocabulary: bytes | None, count: int) -> tuple[Names, tuple[str, ...]]:
    """Return the `count` words of a vocabulary with one word per line, and notes.

    Words are numbered when the vocabulary is None.
    """
    if vocabulary is None:
        return numbered("word", count), ("No vocabulary was given, the words are numbered.",)
    words = vocabulary.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").splitlines()
    while words and not words[-1].strip():
        words.pop()
    if len(words) != count:
        raise InvalidData(
            f"The vocabulary must have one word per line for {count} words, got {len(words)} lines: give "
            "the file that belongs to it."
        )
    return unique_names([word.strip() for word in words], "word")


FORMAT = Format("a docword file", lambda source: is_docword(source.first()), reader=DocwordReader)
