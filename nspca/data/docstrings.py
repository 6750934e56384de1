"""Word counts of the documentation strings of the Python standard library: real text on every machine,
without a download.

Sources are read by `ast`; no module is imported. One document per module, class or function.
"""

import ast
import contextlib
import os
import platform
import re
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import read_npz, to_npz
from nspca.data.dataset import Dataset, unique_names
from nspca.data.folders import cache_folder, write_atomically
from nspca.errors import InvalidData, NSPCAError
from nspca.progress import Event, Report

# Counted when the rules below change, so that a cached matrix of older rules is not taken.
_RULES = 1
# Tests speak of tests, and packages beside the library are not the library.
_SKIPPED_FOLDERS = {
    "test",
    "tests",
    "idle_test",
    "site-packages",
    "dist-packages",
    "__pycache__",
    "_vendor",
    "_bundled",
    "turtledemo",
    "pydoc_data",
}
# A word in fewer documents carries no shared direction; more than 4000 words make pages and pictures of the
# matrix too long.
_MIN_DOCUMENTS = 5
_MAX_WORDS = 4000
# "Return the value." is not a text: a document needs this many counted words.
_MIN_WORDS = 5
_WORD = re.compile(r"[a-z]{3,24}")
_JOINED = re.compile(r"[a-z]+(?:[._][a-z_.]+|[A-Z])\w*|\w*[_0-9]\w*", re.ASCII)
# Words of doctests and of Python's own grammar, and contractions cut at the apostrophe.
_OWN_STOP_WORDS = {
    "self",
    "args",
    "kwargs",
    "kwds",
    "def",
    "don",
    "doesn",
    "isn",
    "won",
    "etc",
    "none",
    "true",
    "false",
    "thats",
    "let",
}


def kept_counts() -> Path:
    """Return the path of the cached word counts, which take some seconds to make."""
    return (
        cache_folder()
        / f"python-docs-{platform.python_implementation().lower()}-{platform.python_version()}-r{_RULES}.npz"
    )


def load_python_docs(report: Report) -> Dataset:
    """Return the documentation of the standard library as a (documents, words) CSR matrix.

    The counts are kept in the user's cache, for this version of Python.
    """
    kept = kept_counts()
    if kept.is_file():
        try:
            return _dress(read_npz(kept.read_bytes(), "python-docs"))
        except (NSPCAError, OSError):
            kept.unlink(missing_ok=True)
    data = count_words(Path(sysconfig.get_paths()["stdlib"]), report)
    with contextlib.suppress(OSError):
        # A cache that cannot be written costs time on the next visit, nothing else.
        write_atomically(kept, to_npz(data))
    return _dress(data)


def count_words(library: Path, report: Report) -> Dataset:
    """Read every source file below `library` and count the words of its documentation strings.

    Raises
    ------
    InvalidData
        When there are no sources, as in some embedded installations.
    """
    paths = _sources(library)
    names: list[str] = []
    counts: list[Counter[str]] = []
    for done, path in enumerate(paths):
        if done % 50 == 0:
            report(Event("reading the standard library", done=done, total=len(paths)))
        for title, text in _documents(path, library):
            words = Counter(tokens(text))
            if sum(words.values()) >= _MIN_WORDS:
                names.append(title)
                counts.append(words)
    if len(counts) < 100:
        raise InvalidData(
            f"The sources of the Python standard library are needed, but only {len(counts)} documentation "
            "strings were found in this installation: choose another sample, or install Python with its "
            "sources."
        )
    return _matrix(names, counts)


def tokens(text: str) -> Iterator[str]:
    """Return the lower-case words of three letters or more of a text, without doctest lines, identifiers and
    stop words.
    """
    lines = (line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))
    prose = _JOINED.sub(" ", "\n".join(lines))
    stop = _stop_words()
    return (word for word in _WORD.findall(prose.lower()) if word not in stop)


@cache
def _stop_words() -> frozenset[str]:
    # Imported when it is needed: the start of every page is faster without.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS | _OWN_STOP_WORDS)


def _sources(library: Path) -> list[Path]:
    found = []
    for folder, below, files in os.walk(library):
        below[:] = sorted(name for name in below if name not in _SKIPPED_FOLDERS and not name.startswith("."))
        found += [Path(folder, file) for file in sorted(files) if file.endswith(".py")]
    return found


def _documents(path: Path, library: Path) -> Iterator[tuple[str, str]]:
    try:
        with tokenize.open(path) as handle, warnings.catch_warnings():
            # Old escapes in the library are not the reader's business.
            warnings.simplefilter("ignore")
            tree = ast.parse(handle.read())
    except (SyntaxError, UnicodeDecodeError, ValueError, OSError, RecursionError):
        return
    parts = path.relative_to(library).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    yield from _below(tree, module)


def _below(
    node: "ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef", title: str
) -> Iterator[tuple[str, str]]:
    text = ast.get_docstring(node, clean=False)
    if text:
        yield title, text
    for child in ast.iter_child_nodes(node):
        nested = [child] if not isinstance(child, (ast.If, ast.Try)) else child.body
        for inner in nested:
            if isinstance(inner, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _below(inner, f"{title}.{inner.name}")


def _matrix(names: list[str], counts: list[Counter[str]]) -> Dataset:
    frequency = Counter(chain.from_iterable(counts))
    ranked = sorted(
        (word for word, n in frequency.items() if n >= _MIN_DOCUMENTS),
        key=lambda word: (-frequency[word], word),
    )
    vocabulary = sorted(ranked[:_MAX_WORDS])
    column = {word: j for j, word in enumerate(vocabulary)}
    rows = [[(column[word], n) for word, n in sorted(words.items()) if word in column] for words in counts]
    keep = [i for i, row in enumerate(rows) if sum(n for _, n in row) >= _MIN_WORDS]
    indptr = np.cumsum([0, *(len(rows[i]) for i in keep)])
    entries = np.array([entry for i in keep for entry in rows[i]], dtype=np.int64).reshape(-1, 2)
    X = sp.csr_array(
        (entries[:, 1].astype(np.float64), entries[:, 0], indptr), shape=(len(keep), len(vocabulary))
    )
    sample_names, _ = unique_names([names[i] for i in keep], "document")
    return Dataset("python-docs", X, tuple(vocabulary), sample_names, kind="words")


def _dress(data: Dataset) -> Dataset:
    version = platform.python_version()
    return Dataset(
        name="python-docs",
        X=data.X,
        feature_names=data.feature_names,
        sample_names=data.sample_names,
        source="real",
        kind="words",
        provenance=f"Documentation strings of the Python {version} standard library installed here, PSF "
        "licence",
        notes=(
            f"Words in at least {_MIN_DOCUMENTS} documents, without English stop words; at most the "
            f"{_MAX_WORDS} in most documents are kept ({data.X.shape[1]} here).",
            f"Documentation strings with at least {_MIN_WORDS} counted words are kept ({data.X.shape[0]} "
            "here).",
        ),
    )
