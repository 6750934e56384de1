"""Docword and Matrix Market files as shards: entries in any order wait on disk until they are rows."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nspca.data import limits
from nspca.data.docword import HEADER, vocabulary_words
from nspca.data.matrixmarket import FIELDS, SYMMETRIES
from nspca.errors import InvalidData
from nspca.progress import Event
from nspca.shards.entries import Entries
from nspca.shards.making import Made
from nspca.shards.pieces import Text, said
from nspca.shards.reader import Shards

MOST_ROWS = 2**40


@dataclass(frozen=True)
class Lines:
    """The lines of entries of a text: so many cells each; how tables of them are read as rows, columns and
    values, counted from 0; and the error for a line that is none.
    """

    text: Text
    cells: int
    read: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    wrong: Callable[[int, str], InvalidData]


def docword(made: Made) -> Shards:
    text = Text(made.source, whole=True)
    try:
        header = HEADER.match(b"".join(text.readline() for _ in range(3)))
        if header is None:
            raise InvalidData(f"{made.source} must start with three counts, a line each: get it again.")
        documents, words, entries = (int(header[i]) for i in (1, 2, 3))
        names = _words(made, words)

        def wrong(line: int, seen: str) -> InvalidData:
            return InvalidData(
                f"Every entry holds three whole numbers (document, word, count), but line {line} of "
                f"{made.source} is {seen}: correct it."
            )

        def read(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            for column, (what, most) in enumerate((("document", documents), ("word", words))):
                outside = (table[:, column] < 1) | (table[:, column] > most)
                if outside.any():
                    line, seen = text.line_of(int(np.argmax(outside)))
                    raise InvalidData(
                        f"Line {line} of {made.source} is {seen}, but the header counts {what}s from 1 to "
                        f"{most}: correct its header."
                    )
            if (table[:, 2] < 1).any():
                line, seen = text.line_of(int(np.argmax(table[:, 2] < 1)))
                raise InvalidData(
                    f"Line {line} of {made.source} is {seen}: counts are positive, remove the line."
                )
            return table[:, 0] - 1, table[:, 1] - 1, table[:, 2].astype(np.float64)

        return _from_entries(made, Lines(text, 3, read, wrong), (documents, words), entries, names)
    finally:
        text.close()


def matrix_market(made: Made) -> Shards:
    text = Text(made.source)
    try:
        banner = text.readline().decode("ascii", errors="replace").lower().split()
        if len(banner) != 5 or banner[1:3] != ["matrix", "coordinate"] or banner[3] not in FIELDS:
            raise InvalidData(
                f"{made.source} must hold a matrix of real numbers in coordinate form, its first line says "
                f'"{" ".join(banner)[:60]}": convert it before saving.'
            )
        if banner[4] not in SYMMETRIES:
            raise InvalidData(f'{made.source} must be general or symmetric, got "{banner[4]}": convert it.')
        rows, columns, entries = _sizes(made, text)
        mirrored = banner[4] != "general"
        if mirrored and rows != columns:
            raise InvalidData(f"A {banner[4]} matrix is square, {made.source} is not: save it again.")
        cells = 2 if banner[3] == "pattern" else 3

        def wrong(line: int, seen: str) -> InvalidData:
            return InvalidData(
                f"Every entry holds {cells} finite numbers, but line {line} of {made.source} is {seen}: "
                "correct it."
            )

        def read(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            i, j = table[:, 0], table[:, 1]
            outside = (i < 1) | (i > rows) | (j < 1) | (j > columns) | (i != np.floor(i)) | (j != np.floor(j))
            if outside.any():
                line, seen = text.line_of(int(np.argmax(outside)))
                raise InvalidData(
                    f"Line {line} of {made.source} is {seen}, but rows are counted to {rows} and columns to "
                    f"{columns}: correct it."
                )
            at, to = i.astype(np.int64) - 1, j.astype(np.int64) - 1
            values = table[:, 2] if cells == 3 else np.ones(len(table))
            if not mirrored:
                return at, to, values
            off, sign = at != to, 1.0 if banner[4] == "symmetric" else -1.0
            both = np.concatenate((at, to[off])), np.concatenate((to, at[off]))
            return *both, np.concatenate((values, sign * values[off]))

        return _from_entries(made, Lines(text, cells, read, wrong), (rows, columns), entries)
    finally:
        text.close()


def _sizes(made: Made, text: Text) -> tuple[int, int, int]:
    """Rows, columns and entries of a Matrix Market file, below its comments."""
    line = text.readline()
    while line and (line.startswith(b"%") or not line.strip()):
        line = text.readline()
    counts = line.split()
    if len(counts) != 3 or not all(re.fullmatch(rb"\d{1,18}", part) for part in counts):
        raise InvalidData(
            f"Line {text.line} of {made.source} must hold the numbers of rows, columns and entries, it "
            f"is {said(line)}: save it again."
        )
    return int(counts[0]), int(counts[1]), int(counts[2])


def _from_entries(
    made: Made, lines: Lines, shape: tuple[int, int], entries: int, names: Sequence[str] | None = None
) -> Shards:
    """All entries to disk by blocks of rows, then block by block into shards."""
    rows, columns = shape
    # A row or column costs an index whether anything is in it or not, so a header alone buys no gigabyte.
    if not min(shape) > 0 or max(shape) > limits.FREE_LINES + entries or columns >= 2**31 or rows > MOST_ROWS:
        raise InvalidData(
            f"{made.source} says {rows} rows, {columns} columns and {entries} entries: a table has at least "
            f"one of each, and at most {limits.FREE_LINES} more than entries."
        )
    with made.writer(columns, names) as writer:
        waiting = Entries(writer.place, shape, made.per_block(rows, entries))
        held = 0
        for table in lines.text.tables(lines.cells, lines.wrong):
            waiting.put(*lines.read(table))
            held += len(table)
            made.report(Event("entries", held, entries))
        if held != entries:
            raise InvalidData(
                f"The header of {made.source} promises {entries} entries and the file holds {held}, the last "
                f"on line {lines.text.line}: it is cut off, get it again, or correct its header."
            )
        for done, block in enumerate(waiting.blocks()):
            writer.add(block)
            made.report(Event("shards", min((done + 1) * waiting.per_block, rows), rows))
        return writer.finish()


def _words(made: Made, count: int) -> Sequence[str] | None:
    path, name = made.vocabulary, made.source.name
    if path is None and name.startswith("docword."):
        beside = made.source.with_name("vocab." + name.removeprefix("docword.").removesuffix(".gz"))
        path = beside if beside.is_file() else None
    if path is None:
        return None
    raw = limits.bounded_bytes(path)
    return vocabulary_words(limits.gunzip(raw) if raw.startswith(b"\x1f\x8b") else raw, count)[0]
