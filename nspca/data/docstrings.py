"""Count the words in docstrings of the Python standard library: the sample "python-docs".

It is a real text that exists on every machine. Source files are parsed by `ast`, and no module is imported.
Each documented module, class or function is one document. `load_sample` calls `load_python_docs`.
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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import to_npz
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.folders import cache_folder, write_atomically
from nspca.data.formats.npz import read_npz
from nspca.data.names import unique_names
from nspca.data.stop_words import stop_words
from nspca.errors import InvalidData, NSPCAError
from nspca.progress import Event, Report

# Version of the rules below. Raise this number when a rule changes, so that older cached counts are not used.
_RULES = 1
# Folders left out: docstrings of tests are about testing, and other packages are not the standard library.
_SKIPPED_FOLDERS = {
    "test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__", "_vendor", "_bundled",
    "turtledemo", "pydoc_data",
}  # fmt: skip
# A word must occur in this many documents, since rarer words share no direction. More than 4000 words would
# make pages and pictures of the matrix too long.
_MIN_DOCUMENTS = 5
_MAX_WORDS = 4000
# "Return the value." is not a text: a document needs this many counted words.
_MIN_WORDS = 5
_WORD = re.compile(r"[a-z]{3,24}")
# Identifiers, which are no words: names with dots, underscores, digits or capitals inside.
_JOINED = re.compile(r"[a-z]+(?:[._][a-z_.]+|[A-Z])\w*|\w*[_0-9]\w*", re.ASCII)
# Stop words beside the English ones: names from Python's grammar, and contractions cut at the apostrophe.
_OWN_STOP_WORDS = {
    "self", "args", "kwargs", "kwds", "def", "don", "doesn", "isn", "won", "etc", "none", "true", "false",
    "thats", "let",
}  # fmt: skip


def kept_counts() -> Path:
    """Return the path of the cached word counts for this Python version. Counting takes some seconds."""
    return (
        cache_folder()
        / f"python-docs-{platform.python_implementation().lower()}-{platform.python_version()}-r{_RULES}.npz"
    )


def load_python_docs(report: Report) -> Dataset:
    """Return a Dataset of word counts of the standard library's docstrings.

    ``X`` is a (documents, words) CSR matrix. The counts are cached for this version of Python in the user's
    cache folder.
    """
    kept = kept_counts()
    if kept.is_file():
        try:
            return _add_provenance(read_npz(kept.read_bytes(), "python-docs"))
        except (NSPCAError, OSError):
            kept.unlink(missing_ok=True)
    data = count_words(Path(sysconfig.get_paths()["stdlib"]), report)
    with contextlib.suppress(OSError):
        # Without a cache the counts are only made again at the next call.
        write_atomically(kept, to_npz(data))
    return _add_provenance(data)


def count_words(library: Path, report: Report) -> Dataset:
    """Return a Dataset of word counts of the docstrings in every source file below `library`.

    Raises
    ------
    InvalidData
        When fewer than 100 docstrings are found, as in installations without source files.
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
    return word_counts(names, counts)


def tokens(text: str) -> Iterator[str]:
    """Return the lower-case words of a text that have at least three letters.

    Doctest lines, identifiers and stop words are left out.
    """
    lines = (line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))
    prose = _JOINED.sub(" ", "\n".join(lines))
    stop = stop_words("english") | _OWN_STOP_WORDS
    return (word for word in _WORD.findall(prose.lower()) if word not in stop)


def _sources(library: Path) -> list[Path]:
    found = []
    for folder, below, files in os.walk(library):
        below[:] = sorted(name for name in below if name not in _SKIPPED_FOLDERS and not name.startswith("."))
        found += [Path(folder, file) for file in sorted(files) if file.endswith(".py")]
    return found


def _documents(path: Path, library: Path) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and the text of each docstring in a file, none when the file cannot be parsed."""
    try:
        with tokenize.open(path) as handle, warnings.catch_warnings():
            # Parsing warns of outdated escapes in library code, which a user of nspca cannot mend.
            warnings.simplefilter("ignore")
            tree = ast.parse(handle.read())
    except (SyntaxError, UnicodeDecodeError, ValueError, OSError, RecursionError):
        return
    parts = path.relative_to(library).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    yield from _walk_docstrings(tree, module)


def _walk_docstrings(
    node: "ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef", title: str
) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and the text of the docstrings of a node and of what is defined in the node."""
    text = ast.get_docstring(node, clean=False)
    if text:
        yield title, text
    for child in ast.iter_child_nodes(node):
        nested = [child] if not isinstance(child, (ast.If, ast.Try)) else child.body
        for inner in nested:
            if isinstance(inner, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _walk_docstrings(inner, f"{title}.{inner.name}")


def word_counts(names: Sequence[str], counts: list[Counter[str]], most_share: float = 1.0) -> Dataset:
    """Return counts of the most frequent words as a Dataset, without documents that keep too few words.

    A word in more than a share `most_share` of the documents is left out.
    """
    from sklearn.feature_extraction import DictVectorizer  # imported late, like the stop words

    vectorizer = DictVectorizer()  # words in alphabetical order
    X = sp.csr_array(vectorizer.fit_transform(counts))
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    usable = (frequency >= _MIN_DOCUMENTS) & (frequency <= most_share * len(counts))
    kept = np.argsort(-frequency, kind="stable")
    kept = np.sort(kept[usable[kept]][:_MAX_WORDS])
    X = X[:, kept]
    documents = np.flatnonzero(X.sum(axis=1) >= _MIN_WORDS)
    vocabulary = tuple(vectorizer.get_feature_names_out()[kept].tolist())
    sample_names, _ = unique_names([names[int(i)] for i in documents], "document")
    return Dataset("python-docs", X[documents], vocabulary, sample_names, kind="words")


def _add_provenance(data: Dataset) -> Dataset:
    version = platform.python_version()
    return replace(
        data,
        source="real",
        kind="words",
        provenance=f"Documentation strings of the Python {version} standard library installed here, PSF "
        "licence",
        findings=as_findings(
            (
                f"Words in at least {_MIN_DOCUMENTS} documents, without English stop words; at most the "
                f"{_MAX_WORDS} in most documents are kept ({data.X.shape[1]} here).",
                f"Documentation strings with at least {_MIN_WORDS} counted words are kept ({data.X.shape[0]} "
                "here).",
            )
        ),
    )
