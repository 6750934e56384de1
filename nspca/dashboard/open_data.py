"""Open the data set that the address names: a sample, an upload or a folder of shards.

Each data set is read once per server: samples are cached by name and version, uploads by workspace and
spec, and everything made from them by the hash of the content. Pages open their data
with `opened`, and the data of a run with `find`. In this module `of` is an open data set, and
`where` the `DataSpec` that describes one. In cached functions `reference`, `content`, `digest` and `version`
are parts of the cache key.
"""

import hashlib
import re
import threading
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.covariance.covariance import MOST_EXPONENT
from nspca.covariance.inputs import SHIFT
from nspca.covariance.linalg import binary_exponent
from nspca.dashboard import open_folder
from nspca.dashboard.app import cache, state, wording
from nspca.data import (
    SAMPLES,
    Dataset,
    covariance_suggestion,
    load_sample,
    original_path,
    scaling_suggestion,
    shown_name,
)
from nspca.data.findings import Finding
from nspca.data.options import OF_TABLES, OF_TEXTS
from nspca.data.sandbox import Opened, open_file
from nspca.errors import InvalidData, NotPrepared
from nspca.jobs import engine
from nspca.shards import Shards
from nspca.specs import DataSpec, ProblemSpec
from nspca.specs.data import BESIDE, CHANGES, OF_FEATURES, content_of, sample_of, sample_rows

NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")  # characters that some system does not take in the name of a file
LONGEST_STEM = 60
"""Characters of the name of an uploaded file that the files about it begin with; paths have a limit."""
EXTREME = (
    "These numbers are so large or so small that their variances do not fit float64: standardise the "
    "features, or divide the numbers by a constant before you upload them."
)
MANY_PIXELS = 128**2
"""Pixels of an image above which an own file is shrunk at first: with more, first answers take minutes."""
HEAVY = 5e9  # multiplications above which an eigenvalue decomposition keeps a person waiting


@dataclass(frozen=True, eq=False)
class Chosen:
    """An open data set."""

    dataset: Dataset  # of a folder of shards a sample of its rows
    reference: DataSpec  # by which the data are opened again
    content: str  # hash of the numbers
    table: Shards | None = None  # all rows of a folder of shards

    @property
    def spec(self) -> DataSpec:
        """Spec of the data with the hash of their content, for a question about them."""
        return self.reference.but(content=self.content, covariance=self.dataset.is_covariance)

    @property
    def given(self) -> dict[str, Any]:
        """Keyword arguments that give a run the data in memory; empty for a folder, which a worker opens."""
        if self.table is not None:
            return {}
        weights = self.dataset.weights
        return {"X": self.dataset.X} | ({} if weights is None else {"sample_weight": weights})

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of the data, for a folder those of all its rows."""
        return self.dataset.X.shape if self.table is None else self.table.shape

    @property
    def stem(self) -> str:
        """Beginning of the names of downloads: the name of the sample, the uploaded file or the folder."""
        where = self.reference
        if where.sample is not None:
            return shown_name(where.sample)
        kind = "upload" if where.folder is None else "folder"
        named = PurePath(where.file or where.folder or "").name.split(".")[0]
        return NO_NAME.sub("-", named).strip("-.")[:LONGEST_STEM] or kind


def chosen() -> Chosen:
    """Return the data set that the address names.

    When it cannot be read with the address's choice of features, the choice is dropped with a warning.
    """
    where = reference()
    try:
        return find(where, state.get("w"))
    except InvalidData as error:
        if not any(getattr(where, name) for name in OF_FEATURES):
            raise
        # Numbers of another table, or of one that was read another way; or what is wrong is something else,
        # and the choice stays.
        found = find(where.but_for(*OF_FEATURES), state.get("w"))
        state.put(**dict.fromkeys(state.OF_FEATURES))
        st.warning(f"{wording.plain(error)} All features are there again.")
        return found


def opened() -> Chosen:
    """Return the data set of the address; drop preparations that are impossible, with a message."""
    while True:
        try:
            return chosen()
        except NotPrepared as error:
            steps = state.get("prep")
            if error.step in steps:
                state.put(prep=[name for name in steps if name != error.step])
            elif error.step == state.LOG2 and state.get("log"):
                state.put(log=None)
            else:
                raise
            st.error(wording.plain(error), icon=":material/error:")


def whole_folder(of: Chosen) -> Chosen:
    """Return all rows of the folder that a sample `of` was taken from.

    Returns `of` itself if it is no sample of a folder, if it was prepared, or if the visitor chose the
    sample.
    """
    if is_sample(of) and not state.get("some"):
        return find(of.reference.but_for("some"), None)
    return of


def is_sample(of: Chosen) -> bool:
    """Tell whether the data are an unprepared sample of the rows of a folder."""
    where = of.reference
    return bool(where.some) and not any(getattr(where, name) for name in CHANGES)


def row_sample(of: Chosen) -> Chosen:
    """Return the sample of rows of a folder as a data set of its own; other data unchanged."""
    if of.table is None:
        return of
    return find(of.reference.but(some=sample_rows(of.table)), None)


def scored_problem(of: Chosen, asked: nspca.Problem) -> nspca.Problem:
    """Return a problem whose samples can be scored: `asked` itself, but for a folder one on some rows.

    That has k = 1, and centring and scaling of `asked`; a feature that is constant in the rows is refused.
    """
    if of.table is None:
        return asked
    A = asked.covariance
    return problem(row_sample(of), asked.nonneg, A.center, A.scale)


def reference() -> DataSpec:
    """Return the spec of the data that the address names, with the options of reading and preparation."""
    given = state.asked(DataSpec)
    out, only = given.pop("without", ()), given.pop("only", ())
    there = lambda number: number not in out and (not only or number in only)  # noqa: E731
    groups = [list(filter(there, group)) for group in given.get("together", ())]
    changes = {name: given[name] for name in CHANGES if name in given}
    changes |= {"only": list(filter(there, only))} if only else {"without": out}
    changes["together"] = [group for group in groups if len(group) > 1]
    if state.get("upload") is None and (name := state.get("folder")) is not None:
        digest = open_folder.digest(name)
        some = sample_rows(open_folder.opened(name, digest))
        return DataSpec(folder=name, digest=digest, some=some, **changes)
    if state.get("upload") is None:
        return DataSpec(sample=state.get("sample"), **changes)
    left_out = {"sample", "folder", "some", *CHANGES, *(OF_TABLES if given.get("words") else OF_TEXTS)}
    return DataSpec(**{name: value for name, value in given.items() if name not in left_out}, **changes)


def find(where: DataSpec, workspace: str | None) -> Chosen:
    """Return the data set that `where` describes, read once per server.

    `workspace` is needed for uploads alone, which only their own workspace can open.
    """
    where = where.but(content="")
    source = _find_source(where, workspace)
    steps = {name: getattr(where, name) for name in CHANGES if getattr(where, name)}
    if source.table is not None or not steps:  # pages do not prepare all rows of a folder
        return source
    after = source.reference.but(**steps)
    return _after(repr(after), source.content, after, source)


def _find_source(where: DataSpec, workspace: str | None) -> Chosen:
    if where.sample is not None:
        return _sample(where.sample, version(where.sample))
    if where.folder is not None:
        table = open_folder.opened(where.folder, where.digest)
        if where.some:
            return _rows(where.folder, table.digest, where.some, table)
        return _all_rows(where.folder, table.digest, table)
    for upload in filter(None, (where.upload, *(getattr(where, name) for name in BESIDE))):
        engine().store.about_upload(workspace or "", upload)  # it may be gone since it was read
    # The workspace is part of the cache key: nobody opens another person's upload by its hash.
    file = where.but_for(*CHANGES).but(file="")
    opened = _upload(workspace or "", repr(file), file)
    if isinstance(opened, InvalidData):
        raise opened.with_traceback(None)
    return opened


@cache.keep("Preparing the data …")
def _after(reference: str, content: str, _reference: DataSpec, _source: Chosen) -> Chosen:
    """Return the data after the steps of their spec; `_source` itself if these change nothing."""
    data = _reference.changed(_source.dataset)
    if data is _source.dataset:
        return _source
    assert isinstance(data, Dataset)
    return Chosen(_read_only(data), _reference, content_of(data))


def members(of: Chosen) -> list[list[int]]:
    """Return for each feature its number in the prepared table, or several numbers for a merged feature."""
    later = (how for how in CHANGES if how != "prepared")
    whole = find(of.reference.but_for(*later), state.get("w")).dataset.feature_names
    place = {name: j for j, name in enumerate(whole)}
    apart = find(of.reference.but_for("together"), state.get("w")).dataset.feature_names
    found = {j: [j] for j in map(place.__getitem__, apart)}
    for group in of.reference.together:
        first, *others = sorted(found.keys() & set(group))
        found[first] += [found.pop(j)[0] for j in others]
    return list(found.values())


def forced_features(of: Chosen) -> tuple[int, ...]:
    """Return the forced features that the address names, by their numbers in the data set."""
    wanted = set(state.get("keep"))
    return tuple(j for j, those in enumerate(members(of)) if wanted & set(those)) if wanted else ()


def version(name: str) -> str:
    """Return a text for cache keys that changes when the original behind a sample changes; "" without one."""
    path = original_path(name) if name in SAMPLES and SAMPLES[name].relative else None
    return "" if path is None else f"{path} {path.stat().st_mtime_ns}"


@cache.keep("Opening the sample …")
def _sample(name: str, version: str) -> Chosen:
    name = shown_name(name)
    data = load_sample(name)
    return Chosen(_read_only(data), DataSpec(sample=name), content_of(data))


@cache.keep("Reading some rows of the folder …")
def _rows(name: str, digest: str, most: int, _table: Shards) -> Chosen:
    """Return a sample of at most `most` rows of a folder as a data set of its own."""
    data = sample_of(_table, most)
    return Chosen(_read_only(data), DataSpec(folder=name, digest=digest, some=most), content_of(data))


@cache.keep()
def _all_rows(name: str, digest: str, _table: Shards) -> Chosen:
    """Return all rows of a folder, with a content hash that no table in memory has."""
    data = _rows(name, digest, sample_rows(_table), _table).dataset
    (total, _), drawn = _table.shape, data.X.shape[0]
    said = f"all {total:,} rows of a folder on the server; drawn are {drawn:,} of them, chosen at random"
    data = replace(data, provenance=said)
    return Chosen(data, DataSpec(folder=name, digest=digest), f"shards {digest}", _table)


@cache.keep()
def _upload(workspace: str, reference: str, _where: DataSpec) -> Chosen | InvalidData:
    """Return an upload of a workspace, read and labelled by its spec, or the error of reading."""
    where = _where
    label = where.label_column
    data = open_upload(workspace, where.but(label_column=None)).data
    if label is not None:  # a column that was left out so far is at hand already
        again = data.labelled(str(label)) if isinstance(data, Dataset) else None
        data = again or open_upload(workspace, where).data
    if isinstance(data, InvalidData):
        return data
    if where.covariance and not data.is_covariance:
        try:
            data = replace(
                data,
                is_covariance=True,
                labels=None,
                findings=(*data.findings, Finding("The table is taken as a covariance matrix.")),
            )
        except InvalidData as error:
            return error
    file = engine().store.about_upload(workspace, where.upload or "")["file"]
    return Chosen(_read_only(data), where.but(file=file), content_of(data))


def open_upload(workspace: str, where: DataSpec) -> Opened:
    """Return the outcome of reading an upload as `where` says: its data or error, and its layout."""
    assert where.upload is not None
    raw, about = engine().store.get_upload(workspace, where.upload)
    digests = {name: digest for name in BESIDE if (digest := getattr(where, name))}
    files = {name: engine().store.get_upload(workspace, digest)[0] for name, digest in digests.items()}
    named, options = tuple(digests.items()), tuple(sorted(where.reading().items()))
    return _read(where.upload, about["name"], named, where.words, options, raw, files)


@cache.keep("Reading the file …")
def _read(
    digest: str,
    name: str,
    beside: tuple[tuple[str, str], ...],
    as_texts: bool,
    options: tuple[tuple[str, Any], ...],
    _raw: bytes,
    _files: dict[str, bytes],
) -> Opened:
    """Return the outcome of reading a file, an error too; `beside` has the hashes of the `_files`."""
    words, annotation = _files.get("vocabulary"), _files.get("annotation")
    return open_file(_raw, name, words, annotation=annotation, as_texts=as_texts, **dict(options))


ENCODINGS = {
    "cp1252": "Western Europe",
    "mac_roman": "old Mac",
    "cp850": "DOS",
    "cp1250": "Central Europe",
    "iso8859_2": "Central Europe, ISO",
    "cp1254": "Turkish",
    "cp1253": "Greek",
    "cp1251": "Cyrillic",
    "koi8_r": "Cyrillic, KOI8",
    "gb18030": "Chinese",
    "big5": "Chinese, traditional",
    "shift_jis": "Japanese",
    "euc_jp": "Japanese, Unix",
    "cp1255": "Hebrew",
    "euc_kr": "Korean",
}
"""Encodings that the page offers for a text: name of the codec -> where it is usual."""
FIRST_WORDS = 3  # words beyond ASCII that show what an encoding makes of a text
ENCODED = 2**20  # bytes at the beginning of a file in which they are looked for
_BEYOND_ASCII = re.compile(r"\w*[^\x00-\x7f]+\w*")


@cache.keep()
def words_by_encoding(workspace: str, upload: str) -> dict[str, str]:
    """Return what each possible encoding makes of the first words beyond ASCII of an uploaded text.

    Of encodings that make the same words of it, the first is returned. A compressed file has none.
    """
    raw = engine().store.get_upload(workspace, upload)[0][:ENCODED]
    if raw.startswith((b"PK", b"\x1f\x8b")):
        return {}
    lines = [line for line in re.split(rb"[\r\n]+", raw)[:-1] if not line.isascii()]
    made: dict[str, str] = {}
    for encoding in ENCODINGS:
        try:
            found = _BEYOND_ASCII.findall(b"\n".join(lines).decode(encoding))
        except UnicodeDecodeError:
            continue
        words = " ".join(list(dict.fromkeys(found))[:FIRST_WORDS])
        if words and words.isprintable() and words not in made.values():
            made[encoding] = words
    return made


def read_as(raw: bytes, name: str, **options: Any) -> Opened:
    """Return the outcome of reading a file with the given options, and defaults for the others.

    The outcome is cached, so `find` does not read the file again after it was stored as an upload.
    """
    digest = hashlib.sha256(raw).hexdigest()
    return _read(digest, name, (), False, tuple(sorted(options.items())), raw, {})


def has_many_pixels(data: Dataset) -> bool:
    """Tell whether data are images of so many pixels that a person waits for a first answer."""
    return data.image_shape is not None and data.X.shape[1] > MANY_PIXELS


def read_like(raw: bytes, name: str, where: DataSpec) -> Opened:
    """Return the outcome of reading a file with the orientation and the label column of the spec `where`.

    A file without that label column is read without labels.
    """
    label, turned = where.label_column, where.features_in_rows
    how = {} if turned is None else {"features_in_rows": turned}
    for options in ([how | {"label_column": label}] if label is not None else []) + [how]:
        opened = read_as(raw, name, **options)
        if isinstance(opened.data, Dataset):
            break
    return opened


@cache.keep("Preparing the covariance …")
def _problem(
    content: str, covariance: bool, center: bool, scale: bool, repair: bool, _data: Dataset
) -> nspca.Problem:
    X: Any = _data.X
    if covariance:
        return nspca.Problem.from_covariance(X, 1, repair=SHIFT if repair else None)
    if not sp.issparse(X):  # a data frame carries the names into the sentence about constant columns
        X = pd.DataFrame(X, columns=list(_data.feature_names), copy=False)
    return nspca.Problem.from_data(X, 1, center=center, scale=scale, sample_weight=_data.weights)


def problem_of(of: Chosen, asked: ProblemSpec) -> nspca.Problem:
    """Return the problem of the question `asked` about the data `of`, at its first k."""
    return replace(problem(of, asked.nonneg, asked.center, asked.scale), k=asked.first, forced=asked.forced)


def problem(of: Chosen, nonneg: bool, center: bool, scale: bool) -> nspca.Problem:
    """Return the problem (k = 1) of a data set, whose matrix all sessions share.

    For a folder of shards the matrix is only an outline; a worker computes its numbers.
    """
    if of.table is not None:
        return nspca.Problem(open_folder.Outline(of.table, center, scale), 1, nonneg)
    given = of.dataset.is_covariance  # which is neither centred nor scaled
    how = given, center and not given, scale and not given, given and of.reference.repair
    made = _problem(of.content, *how, of.dataset)
    return replace(made, nonneg=nonneg)  # both signs share the matrix and its eigenvectors


def with_leading(problem: nspca.Problem) -> nspca.Problem:
    """Return the problem after its leading eigenvalue is computed.

    All sessions share the covariance, so one of them computes the value while the others wait.
    """
    with problem.covariance.once("dashboard", threading.Lock):
        problem.leading_eigenvalue  # noqa: B018  kept by the problem
    return problem


@dataclass(frozen=True, eq=False)
class Measures:
    """Figures about a table that are computed once, and not at every rerun."""

    filled: int  # values that are not zero
    constant: np.ndarray  # numbers of the features that take one value only
    exponent: int  # binary exponent of the largest number
    covariance: str  # why the table may be a covariance matrix; empty when it is none, or is taken as one
    scales: str  # why a table of measurements may want to be standardised; empty when its features are alike


def measures(of: Chosen) -> Measures:
    """Return the measures of a data set, computed once for all sessions."""
    return _measures(of.content, of.dataset.is_covariance, of.dataset.kind, of.dataset)


@cache.keep()
def _measures(content: str, covariance: bool, kind: str, _data: Dataset) -> Measures:
    filled = _data.X.nnz if sp.issparse(_data.X) else int(np.count_nonzero(_data.X))
    square = "" if covariance else covariance_suggestion(_data.X)[1]
    measured = kind == "table" and not covariance and not sp.issparse(_data.X)
    exponent = int(binary_exponent(_data.X.data if sp.issparse(_data.X) else _data.X))
    # Squares of extreme numbers would be infinite or zero.
    measured = measured and not _is_extreme(exponent)
    scales = scaling_suggestion(np.std(_data.X, axis=0)) if measured else ""
    return Measures(filled, _data.constant_columns(), exponent, square, scales)


def _is_extreme(exponent: int) -> bool:
    return abs(2 * exponent) > MOST_EXPONENT


def obstacle(of: Chosen) -> str:
    """Return a sentence on why no variance of the prepared data can be explained; empty for other data.

    Folders and covariance matrices are not examined.
    """
    if of.table is not None or of.dataset.is_covariance:
        return ""
    seen = measures(of)
    if state.get("center") and seen.constant.size == of.dataset.X.shape[1]:
        return "Every feature is constant: there is no variance to explain. Choose other data."
    return EXTREME if _is_extreme(seen.exponent) and not state.get("scale") else ""


def heavy(data: Dataset) -> bool:
    """Tell whether the eigenvalues of the data take more than a moment."""
    m, n = data.X.shape
    return min(m, n) ** 2 * max(m, n) > HEAVY


def _read_only(data: Dataset) -> Dataset:
    """Return the data set after its arrays were made read-only, since all sessions share them."""
    for part in (data.X.data, data.X.indices, data.X.indptr) if sp.issparse(data.X) else (data.X,):
        part.flags.writeable = False
    return data
