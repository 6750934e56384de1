"""Read the UCI bag-of-words format.

A file has three header lines D, W and NNZ, then one line "document word count" for each entry. Documents and
words are numbered from 1.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nspca.data import limits
from nspca.data.arrays import finished
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.formats.base import Format, Size, Source
from nspca.data.formats.entries import Entries, EntryReader, EntryText
from nspca.data.names import Names, numbered, unique_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Event, Report

HEADER = re.compile(rb"\s*(\d{1,19})[ \t]*\r?\n\s*(\d{1,19})[ \t]*\r?\n\s*(\d{1,19})[ \t]*(\r?\n|$)")
_ENTRY = re.compile(rb"\d+[ \t]+\d+[ \t]+\d+[ \t]*(\r?\n|$)")
_HEADER_BYTES = 200
"""Maximum bytes of a header. Three counts of 19 digits need 60."""
_SHORTEST_ENTRY = 6
"""Fewest bytes of an entry: "1 1 1" and a line end. They limit the number of entries a header can claim."""


class DocwordReader(EntryReader):
    """Reader of word counts, with documents in rows and words in columns."""

    @staticmethod
    def matches(first: bytes) -> bool:
        header = HEADER.match(first[:_HEADER_BYTES])
        return header is not None and (
            _ENTRY.match(first[header.end() : header.end() + 100]) is not None or int(header[3]) == 0
        )

    def _read_header(self) -> None:
        header = HEADER.match(self.source.first()[:_HEADER_BYTES])
        if header is None:
            raise InvalidData(
                f"A docword file starts with three lines of one count each (documents, words, entries), "
                f"{self.source.called} does not: get it again."
            )
        self._documents, self._words, self._entries = (int(header[i]) for i in (1, 2, 3))
        self._header_bytes = header.end()

    @property
    def shape(self) -> Size:
        return Size(self._documents, self._words, self._entries, sparse=True, text=self.source.usual_bytes)

    def probe(self) -> Size:
        if _SHORTEST_ENTRY * self._entries > self.source.most_bytes - self._header_bytes + 1:
            raise InvalidData(
                f"The docword header{self.source.of} promises {self._entries} entries, but the file is too "
                "short for them: it is cut off, get it again."
            )
        return self.shape

    def entries(self) -> Iterator[Entries]:
        """Yield arrays of document numbers and word numbers (from 0) and their counts.

        Raises
        ------
        InvalidData
            For the first line that is not an entry or exceeds the counts of the header. Also for a file whose
            number of entries differs from the header.
        """
        text = EntryText(self.source, is_whole=True)
        try:
            text.skip(self._header_bytes)
            held = 0
            for table in text.tables(3, self._no_entry):
                self._check(table, text)
                held += len(table)
                self.report(Event("entries", held, self._entries))
                yield table[:, 0] - 1, table[:, 1] - 1, table[:, 2].astype(np.float64)
            if held != self._entries:
                raise InvalidData(
                    f"The header{self.source.of} promises {self._entries} entries and the file holds {held}, "
                    f"the last on line {text.line}: it is cut off, get it again, or correct its header."
                )
        finally:
            text.close()

    def _no_entry(self, number: int, line: str) -> InvalidData:
        return InvalidData(
            f"Every entry holds three whole numbers (document, word, count), but line {number}"
            f"{self.source.of} is {line}: correct it."
        )

    def _check(self, table: np.ndarray, text: EntryText) -> None:
        for column, (what, most) in enumerate((("document", self._documents), ("word", self._words))):
            outside = (table[:, column] < 1) | (table[:, column] > most)
            if outside.any():
                number, line = text.line_of(int(np.argmax(outside)))
                raise InvalidData(
                    f"Line {number}{self.source.of} is {line}, but the header counts {what}s from 1 to "
                    f"{most}: correct its header."
                )
        if (table[:, 2] < 1).any():
            number, line = text.line_of(int(np.argmax(table[:, 2] < 1)))
            raise InvalidData(
                f"Line {number}{self.source.of} is {line}: counts are positive, remove the line."
            )
        text.check_float64(table, f"a count{self.source.of}")


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


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return word counts as a data set, with the words of the vocabulary of the source."""

    reader = DocwordReader(source, options, report=report)
    shape = reader.shape
    limits.check_sparse(shape.rows, shape.columns, shape.entries)
    (block,) = reader.blocks()
    names, notes = vocabulary_words(source.vocabulary, shape.columns)
    documents = numbered("document", shape.rows)
    return finished(
        Dataset(source.title, block.X, names, documents, kind="words", findings=as_findings(notes)), options
    )


FORMAT = Format(
    "a docword file", lambda source: DocwordReader.matches(source.first()), read=read, reader=DocwordReader
)
