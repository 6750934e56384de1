"""The UCI bag-of-words format: three header lines D, W, NNZ, then one line "document word count" per entry,
counted from 1.
"""

import io
import re

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nspca.data.dataset import Dataset, Names, numbered, unique_names
from nspca.data.limits import check_float64, check_sparse
from nspca.errors import InvalidData

HEADER = re.compile(rb"\s*(\d{1,19})[ \t]*\r?\n\s*(\d{1,19})[ \t]*\r?\n\s*(\d{1,19})[ \t]*(\r?\n|$)")
_ENTRY = re.compile(rb"\d+[ \t]+\d+[ \t]+\d+[ \t]*(\r?\n|$)")
# "1 1 1" and a line end: no entry is shorter, so a header cannot ask for more memory than the file pays for.
_SHORTEST_ENTRY = 6


def is_docword(raw: bytes) -> bool:
    """Whether bytes start with three counts alone on their lines and an entry of three."""
    header = HEADER.match(raw[:200])
    return header is not None and (
        _ENTRY.match(raw[header.end() : header.end() + 100]) is not None or int(header[3]) == 0
    )


def read_docword(raw: bytes, name: str, vocabulary: bytes | None = None) -> Dataset:
    """Word counts as a CSR matrix, documents in rows.

    Parameters
    ----------
    raw : bytes
        The plain text of a docword file.
    name : str
    vocabulary : bytes or None
        One word per line, W lines; without it words are numbered.
    """
    header = HEADER.match(raw[:200])
    if header is None:
        raise InvalidData(
            "A docword file starts with three lines of one count each (documents, words, entries); this one "
            "does not."
        )
    documents, words, entries = (int(header[i]) for i in (1, 2, 3))
    check_sparse(documents, words, entries)
    body = raw[header.end() :]
    if _SHORTEST_ENTRY * entries > len(body) + 1:
        raise InvalidData(
            f"The docword header promises {entries} entries, but the file is too short for them: it is cut "
            "off, get it again."
        )
    table = _entries(body, entries)
    for column, (what, most) in enumerate((("document", documents), ("word", words))):
        wrong = np.flatnonzero((table[:, column] < 1) | (table[:, column] > most))
        if wrong.size:
            row = int(wrong[0])
            raise InvalidData(
                f"Entry {row + 1} (line {row + 4}) names {what} {table[row, column]}, but the header counts "
                f"1 to {most}: correct its header."
            )
    if (table[:, 2] < 1).any():
        row = int(np.argmax(table[:, 2] < 1))
        raise InvalidData(
            f"Entry {row + 1} (line {row + 4}) has the count {table[row, 2]}: counts are positive, remove "
            "the line."
        )
    check_float64(table[:, 2], "a count")
    X = sp.csr_array(
        (table[:, 2].astype(np.float64), (table[:, 0] - 1, table[:, 1] - 1)), shape=(documents, words)
    )
    X.sum_duplicates()
    feature_names, notes = vocabulary_words(vocabulary, words)
    return Dataset(name, X, feature_names, numbered("document", documents), kind="words", notes=notes)


def _entries(body: bytes, entries: int) -> np.ndarray:
    """The (NNZ, 3) int64 table below the header."""
    if not body.strip():
        table = np.zeros((0, 3), dtype=np.int64)
    else:
        try:
            table = pd.read_csv(
                io.BytesIO(body), sep=r"\s+", header=None, dtype=np.int64, na_filter=False, engine="c"
            ).to_numpy()
        except (ValueError, OverflowError, pd.errors.ParserError):
            raise InvalidData(_wrong_line(body)) from None
    if table.shape[1] != 3:
        raise InvalidData(_wrong_line(body))
    if len(table) != entries:
        raise InvalidData(
            f"The docword header promises {entries} entries and the file holds {len(table)}: get it again "
            "or correct its header."
        )
    return table


def _wrong_line(body: bytes) -> str:
    for number, line in enumerate(body.splitlines(), 4):
        cells = line.split()
        if cells and not (len(cells) == 3 and all(re.fullmatch(rb"\d{1,18}", cell) for cell in cells)):
            seen = line[:40].decode(errors="replace")
            return (
                f"Every entry holds three whole numbers (document, word, count), but line {number} is "
                f'"{seen}": correct it.'
            )
    return "The entries of the docword file cannot be read as whole numbers: get the file again."


def vocabulary_words(vocabulary: bytes | None, count: int) -> tuple[Names, tuple[str, ...]]:
    """Words of a vocabulary, one a line, and what is to be said of them; numbered without one."""
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
