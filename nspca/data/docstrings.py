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
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from nspca.data.arrays import to_npz
from nspca.data.counting import count_documents
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.folders import cache_folder, write_atomically
from nspca.data.formats.npz import read_npz
from nspca.data.names import unique_names
from nspca.data.options import TextOptions
from nspca.errors import InvalidData, NSPCAError
from nspca.progress import Event, Report

# Version of the rules below. Raise this number when a rule changes, so that older cached counts are not used.
_RULES = 2
# Folders left out: docstrings of tests are about testing, and other packages are not the standard library.
_SKIPPED_FOLDERS = {
    "test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__", "_vendor", "_bundled",
    "turtledemo", "pydoc_data",
}  # fmt: skip
# "Return the value." is not a text: a document needs this many counted words.
_MIN_WORDS = 5
# What is no prose: doctests, names with dots, underscores, digits or capitals inside, and Python's own names.
_CODE = re.compile(
    r"^\s*(?:>>>|\.\.\.).*$|[a-z]+(?:[._][a-z_.]+|[A-Z])\w*|\w*[_0-9]\w*"
    r"|\b(?:self|args|kwargs|kwds|def|etc|none|true|false|None|True|False)\b",
    re.ASCII | re.MULTILINE,
)


def kept_counts() -> Path:
    """Return the path of the cached word counts for this Python version. Counting takes some seconds."""
    version = f"{platform.python_implementation().lower()}-{platform.python_version()}"
    return cache_folder() / f"python-docs-{version}-r{_RULES}.npz"


def load_python_docs(report: Report) -> Dataset:
    """Return a Dataset of word counts of the standard library's docstrings.

    ``X`` is a (documents, words) CSR matrix. The counts are cached for this version of Python in the user's
    cache folder.
    """
    kept = kept_counts()
    data = None
    if kept.is_file():
        try:
            data = read_npz(kept.read_bytes(), "python-docs")
        except (NSPCAError, OSError):
            kept.unlink(missing_ok=True)
    if data is None:
        data = count_words(Path(sysconfig.get_paths()["stdlib"]), report)
        with contextlib.suppress(OSError):
            # Without a cache the counts are only made again at the next call.
            write_atomically(kept, to_npz(data))
    version, many = platform.python_version(), data.X.shape
    said = (
        f"{many[0]:,} documentation strings with at least {_MIN_WORDS} counted words; the {many[1]:,} words "
        "in most of them, without English stop words."
    )
    about = f"Documentation strings of the Python {version} standard library installed here, PSF licence"
    return replace(data, source="real", kind="words", provenance=about, findings=as_findings((said,)))


def count_words(library: Path, report: Report) -> Dataset:
    """Return a Dataset of word counts of the docstrings in every source file below `library`."""
    paths: list[Path] = []
    for folder, below, files in os.walk(library):
        below[:] = sorted(name for name in below if name not in _SKIPPED_FOLDERS and not name.startswith("."))
        paths += [Path(folder, file) for file in sorted(files) if file.endswith(".py")]
    documents: list[tuple[str, str]] = []
    for done, path in enumerate(paths):
        if done % 50 == 0:
            report(Event("reading the standard library", done=done, total=len(paths)))
        documents += _documents(path, library)
    if len(documents) < 100:
        raise InvalidData(
            f"The sources of the Python standard library are needed, but only {len(documents)} documentation "
            "strings were found in this installation: choose another sample, or install Python with its "
            "sources."
        )
    names, texts = zip(*documents, strict=True)
    how = TextOptions(stop_words="english", highest_share=1.0, lowest_share=5 / len(texts))
    counted = count_documents([_CODE.sub(" ", text) for text in texts], how)
    kept = np.flatnonzero(counted.X.sum(axis=1) >= _MIN_WORDS)
    samples, _ = unique_names([names[i] for i in kept], "document")
    return Dataset("python-docs", counted.X[kept], counted.words, samples, kind="words")


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
