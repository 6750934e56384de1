"""The data set in force: a sample, an upload or a folder of shards, read once per server and found again by
its content.
"""

import hashlib
import threading
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.dashboard import folder
from nspca.dashboard.shell import cache, state, words
from nspca.data import (
    SAMPLES,
    Dataset,
    Look,
    covariance_suggestion,
    load_sample,
    original_path,
    prepare,
)
from nspca.data.apart import Opened, open_file
from nspca.errors import InvalidData, NotPrepared
from nspca.jobs import engine
from nspca.matrix.covariance import canonical, dense_digest, sparse_digest
from nspca.shards import Shards
from nspca.tasks.sweep import make_problem

CHANGES = ("prepared", "without", "only", "drop", "log2", "together")  # done to the data after reading
OF_FEATURES = ("without", "only", "together")  # of these what somebody chose by number
HEAVY = 5e9  # multiplications above which an eigenvalue decomposition keeps a person waiting


@dataclass(frozen=True, eq=False)
class Chosen:
    """A data set, how to find it again, and the hash of its numbers.

    Of all rows of a folder of shards, its `table`, the `dataset` is a sample to look at.
    """

    dataset: Dataset
    reference: dict[str, Any]
    content: str
    table: Shards | None = None

    @property
    def given(self) -> Any:
        """What a task gets as its data: the numbers, or where a worker finds the folder."""
        return self.dataset.X if self.table is None else self.reference

    @property
    def shape(self) -> tuple[int, int]:
        """Of all that is worked on."""
        return self.dataset.X.shape if self.table is None else self.table.shape

    @property
    def stem(self) -> str:
        """What files about these data are called."""
        stand_in = "-stand-in" if self.dataset.source == "stand-in" else ""
        kind = "folder" if "folder" in self.reference else "upload"
        return f"{self.reference.get('sample', kind)}{stand_in}"


def chosen() -> Chosen:
    """What the address asks for.

    Raises
    ------
    NSPCAError
        When it is not there, or cannot be read.
    """
    try:
        return find(reference(), state.get("w"))
    except InvalidData as error:
        if not _features():
            raise
        # Numbers of another table, or of one that was read another way; or what is wrong is something else,
        # and the choice stays.
        found = find(but_for(reference(), *OF_FEATURES), state.get("w"))
        state.put(**dict.fromkeys(state.OF_FEATURES))
        st.warning(f"{words.plain(error)} All features are there again.")
        return found


def opened() -> Chosen:
    """The same; a preparation that cannot be made is said, and left out, and no other."""
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
            st.error(words.plain(error), icon=":material/error:")


def whole(of: Chosen) -> Chosen:
    """All rows of the folder that these are some of, for a page that can work on them; itself where they are
    of none, where something was done to them, and where some are enough.
    """
    if set(of.reference) == {"folder", "digest", "some"} and not state.get("some"):
        return find(but_for(of.reference, "some"), None)
    return of


def some(of: Chosen) -> Chosen:
    """The sample of a folder as data of its own; other data themselves."""
    if of.table is None:
        return of
    return find({**of.reference, "some": folder.rows(of.table)}, None)


def looked_at(of: Chosen, problem: nspca.Problem) -> nspca.Problem:
    """The problem whose samples are shown: of a folder, that of its sample.

    Raises
    ------
    InvalidProblem
        When the sample is none, since a feature that is scaled does not vary in it.
    """
    if of.table is None:
        return problem
    A = problem.covariance
    return _problem_of(some(of), problem.nonneg, A.center, A.scale)


def reference() -> dict[str, Any]:
    """Where the data in force is, and how its file is read."""
    changes: dict[str, Any] = {
        name: True for name, on in (("log2", state.get("log")), ("drop", state.get("drop"))) if on
    }
    if state.get("prep"):
        changes["prepared"] = state.get("prep")
    changes |= _features()
    if state.get("upload") is None and state.get("folder") is not None:
        name = state.get("folder")
        digest = folder.digest(name)
        return {"folder": name, "digest": digest, "some": folder.rows(folder.opened(name, digest)), **changes}
    if state.get("upload") is None:
        return {"sample": state.get("sample"), **changes}
    options = {
        "id_column": state.get("id"),
        "label_column": state.get("label"),
        "features_in_rows": state.get("rows"),
    }
    if state.get("gaps"):
        options["missing"] = state.get("gaps")
    return {
        "upload": state.get("upload"),
        "vocabulary": state.get("vocab"),
        "covariance": state.get("cov"),
        **options,
        **changes,
    }


def _features() -> dict[str, list]:
    """Which features were chosen, by their numbers in the table as it was prepared."""
    out, only = state.get("out"), state.get("only")
    there = lambda number: number not in out and (not only or number in only)  # noqa: E731
    groups = [list(filter(there, group)) for group in state.get("one")]
    chosen: dict[str, list] = {"together": [group for group in groups if len(group) > 1]}
    chosen |= {"only": list(filter(there, only))} if only else {"without": out}
    return {how: features for how, features in chosen.items() if features}


def find(where: dict[str, Any], workspace: str | None) -> Chosen:
    """The data set that `reference` described."""
    if "sample" in where:
        found = _sample(where["sample"], version(where["sample"]))
    elif "folder" in where:
        table = folder.opened(where["folder"], where["digest"])
        if "some" not in where:
            return _all_rows(where["folder"], table.digest, table)
        found = _rows(where["folder"], table.digest, where["some"], table)
    else:
        for upload in filter(None, (where["upload"], where.get("vocabulary"))):
            engine().store.about_upload(workspace or "", upload)  # it may be gone since it was read
        # The workspace is part of what is remembered: nobody opens another person's upload by its hash.
        opened = _upload(
            workspace or "",
            **but_for(where, "file", *CHANGES),
        )
        if isinstance(opened, InvalidData):
            raise opened.with_traceback(None)
        found = opened
    if where.get("prepared"):
        found = _prepared(repr(found.reference), found.content, tuple(where["prepared"]), found)
    whole = found
    for how in ("only", "without"):
        if where.get(how):
            found = _restricted(repr(found.reference), found.content, how, tuple(where[how]), found)
    if where.get("drop"):
        found = _varying(repr(found.reference), found.content, found)
    if where.get("log2"):
        found = _logged(repr(found.reference), found.content, found)
    for group in where.get("together", ()):
        found = _together(repr(found.reference), found.content, tuple(group), whole.dataset, found)
    return found


@cache.keep()
def _logged(reference: str, content: str, _of: Chosen) -> Chosen:
    """The same data with log2(x + 1) in place of every x."""
    if _of.dataset.is_covariance:
        return _of
    data = prepare(_of.dataset, "log2")
    return Chosen(_kept(data), {**_of.reference, "log2": True}, _digest(data))


@cache.keep("Preparing the data …")
def _prepared(reference: str, content: str, names: tuple[str, ...], _of: Chosen) -> Chosen:
    """The data as a paper prepared them."""
    data = prepare(_of.dataset, *names)
    return Chosen(_kept(data), {**_of.reference, "prepared": list(names)}, _digest(data))


@cache.keep()
def _restricted(reference: str, content: str, how: str, features: tuple[int, ...], _of: Chosen) -> Chosen:
    """Some features only, or all without some: what if these were not there?"""
    data = _of.dataset.only(features) if how == "only" else _of.dataset.without(features)
    return Chosen(_kept(data), {**_of.reference, how: list(features)}, _digest(data))


@cache.keep()
def _together(reference: str, content: str, group: tuple[int, ...], _whole: Dataset, _of: Chosen) -> Chosen:
    """Features, by their numbers in the whole table, as one; those that were constant may be gone."""
    there = set(_of.dataset.feature_names)
    names = [name for name in (_whole.feature_names[j] for j in _whole.numbers(group)) if name in there]
    if len(names) < 2:
        return _of
    data = _of.dataset.together(names)
    groups = [*_of.reference.get("together", []), list(group)]
    return Chosen(_kept(data), {**_of.reference, "together": groups}, _digest(data))


def members(of: Chosen) -> list[list[int]]:
    """Of each feature its number in the table as it was prepared; of one that stands for several, all
    theirs.
    """
    later = (how for how in CHANGES if how != "prepared")
    whole = find(but_for(of.reference, *later), state.get("w")).dataset.feature_names
    place = {name: j for j, name in enumerate(whole)}
    apart = find(but_for(of.reference, "together"), state.get("w")).dataset.feature_names
    found = {j: [j] for j in map(place.__getitem__, apart)}
    for group in of.reference.get("together", ()):
        first, *others = sorted(found.keys() & set(group))
        found[first] += [found.pop(j)[0] for j in others]
    return list(found.values())


def kept(of: Chosen) -> tuple[int, ...]:
    """The features of a data set that must be in, where somebody chose, by their numbers in it."""
    wanted = set(state.get("keep"))
    return tuple(j for j, those in enumerate(members(of)) if wanted & set(those)) if wanted else ()


def but_for(where: dict[str, Any], *names: str) -> dict[str, Any]:
    """Where data are, but for some changes."""
    return {name: value for name, value in where.items() if name not in names}


def keeping(count: int) -> str:
    """How many features must be in."""
    return f"keeping {words.things(count, 'feature')}"


def features_said(where: dict[str, Any], kept: int = 0) -> str:
    """Which features there are and must be in, where somebody chose: ``without 2 features, keeping 1``."""
    said = [
        f"{how} {words.things(len(where[how]), 'feature')}" for how in ("only", "without") if where.get(how)
    ]
    said += [f"{words.things(len(group), 'feature')} as one" for group in where.get("together", ())]
    said += [keeping(kept)] if kept else []
    return ", ".join(said) or "all features"


@cache.keep()
def _varying(reference: str, content: str, _of: Chosen) -> Chosen:
    """The same data without its constant features; an image has lost pixels and is a table then."""
    data, constant = _of.dataset, _of.dataset.constant_columns()
    keep = np.setdiff1d(np.arange(data.X.shape[1]), constant)
    if data.is_covariance or not constant.size:
        return _of
    data = replace(
        data,
        X=data.X[:, keep],
        feature_names=tuple(data.feature_names[j] for j in keep),
        axis=None if data.axis is None else data.axis[keep],
        image_shape=None,
        kind="table" if data.kind == "image" else data.kind,
        notes=(
            *data.notes,
            f"Left out because they take one value only: {len(constant)} features, the first is "
            f"{data.feature_names[constant[0]]}.",
        ),
    )
    return Chosen(_kept(data), {**_of.reference, "drop": True}, _digest(data))


def is_stand_in(name: str) -> bool:
    """Whether a sample is shown as a stand-in, known without opening it."""
    return SAMPLES[name].stand_in and original_path(name) is None


def title_of(file: str) -> str:
    """A title from the name of an uploaded file; it is shown and never used as a path."""
    return PurePosixPath(file.replace("\\", "/")).name.partition(".")[0][:60] or "upload"


def version(name: str) -> str:
    """Changes when a stand-in gives way to the real data, or one copy to another."""
    path = original_path(name) if name in SAMPLES and SAMPLES[name].stand_in else None
    return "" if path is None else f"{path} {path.stat().st_mtime_ns}"


@cache.keep("Opening the sample …")
def _sample(name: str, version: str) -> Chosen:
    data = load_sample(name)
    return Chosen(_kept(data), {"sample": name}, _digest(data))


@cache.keep("Reading some rows of the folder …")
def _rows(name: str, digest: str, most: int, _table: Shards) -> Chosen:
    """A sample of a folder, as data of its own."""
    data = folder.sample(_table, most)
    return Chosen(_kept(data), {"folder": name, "digest": digest, "some": most}, _digest(data))


@cache.keep()
def _all_rows(name: str, digest: str, _table: Shards) -> Chosen:
    """All rows of a folder; the same table in memory is not taken for it."""
    data = _rows(name, digest, folder.rows(_table), _table).dataset
    (total, _), drawn = _table.shape, data.X.shape[0]
    said = f"all {total:,} rows of a folder on the server; drawn are {drawn:,} of them, chosen at random"
    data = replace(data, provenance=said)
    return Chosen(data, {"folder": name, "digest": digest}, f"shards {digest}", _table)


@cache.keep()
def _upload(
    workspace: str, upload: str, vocabulary: str | None, covariance: bool, **options: Any
) -> Chosen | InvalidData:
    raw, about = engine().store.get_upload(workspace, upload)
    words = engine().store.get_upload(workspace, vocabulary)[0] if vocabulary else None
    label = options.get("label_column")
    without = {**options, "label_column": None}
    data = _read(upload, about["name"], vocabulary, tuple(sorted(without.items())), raw, words).data
    if label is not None:  # a column that was left out so far is at hand already
        again = data.labelled(label) if isinstance(data, Dataset) else None
        chosen = tuple(sorted(options.items()))
        data = again or _read(upload, about["name"], vocabulary, chosen, raw, words).data
    if isinstance(data, InvalidData):
        return data
    if covariance and not data.is_covariance:
        try:
            data = replace(
                data,
                is_covariance=True,
                labels=None,
                notes=(*data.notes, "The table is taken as a covariance matrix."),
            )
        except InvalidData as error:
            return error
    where = {
        "upload": upload,
        "file": about["file"],
        "vocabulary": vocabulary,
        "covariance": covariance,
        **options,
    }
    return Chosen(_kept(data), where, _digest(data))


@cache.keep("Reading the file …")
def _read(
    digest: str, name: str, vocabulary: str | None, options: tuple, _raw: bytes, _words: bytes | None
) -> Opened:
    """A file by its hash, or why it cannot be read: remembered too, so that it is not tried again at every
    rerun.
    """
    return open_file(_raw, name, _words, **dict(options))


def read_first(raw: bytes, name: str) -> Opened:
    """A file as it is read before anybody chose anything; `find` finds the same again when the file is
    kept.
    """
    usual = {"id_column": None, "label_column": None, "features_in_rows": False}
    return _read(hashlib.sha256(raw).hexdigest(), name, None, tuple(sorted(usual.items())), raw, None)


def read_like(raw: bytes, name: str, where: dict[str, Any]) -> Opened:
    """Another file as that of a data set is read, see `reference`: its features in rows too, and its column
    of labels left out where it has one.
    """
    usual = {"id_column": None, "label_column": None, "features_in_rows": bool(where.get("features_in_rows"))}
    digest, label = hashlib.sha256(raw).hexdigest(), where.get("label_column")
    for options in ([usual | {"label_column": label}] if label is not None else []) + [usual]:
        opened = _read(digest, name, None, tuple(sorted(options.items())), raw, None)
        if isinstance(opened.data, Dataset):
            break
    return opened


def columns(workspace: str, upload: str) -> Look | None:
    """What the first lines of an uploaded table show: its columns, and which could be names or labels."""
    return _columns(workspace, upload, engine().store.about_upload(workspace, upload)["name"])


@cache.keep()
def _columns(workspace: str, upload: str, name: str) -> Look | None:
    return read_first(engine().store.get_upload(workspace, upload)[0], name).look


@cache.keep("Preparing the covariance …")
def _problem(content: str, covariance: bool, center: bool, scale: bool, _data: Dataset) -> nspca.Problem:
    # A data frame carries the names into the sentence about constant columns.
    X = (
        _data.X
        if sp.issparse(_data.X) or covariance
        else pd.DataFrame(_data.X, columns=list(_data.feature_names), copy=False)
    )
    return make_problem(X, covariance, 1, center=center, scale=scale)


def problem(of: Chosen, nonneg: bool, center: bool, scale: bool) -> nspca.Problem:
    """The problem of a data set, shared by all who look at it.

    Raises
    ------
    InvalidProblem
        For constant columns under `scale`, one row, an indefinite covariance, with the way out.
    """
    if of.table is not None:
        return nspca.Problem(folder.Outline(of.table, center, scale), 1, nonneg)
    return _problem_of(of, nonneg, center, scale)


def _problem_of(of: Chosen, nonneg: bool, center: bool, scale: bool) -> nspca.Problem:
    given = of.dataset.is_covariance
    made = _problem(of.content, given, center and not given, scale and not given, of.dataset)
    return replace(made, nonneg=nonneg)  # both signs share the matrix and its eigenvectors


def led(problem: nspca.Problem) -> nspca.Problem:
    """The same with its leading eigenvalue, which is kept by what all sessions share: one computes it, and
    who comes meanwhile waits instead of doing the same beside it.
    """
    with problem.covariance.once("dashboard", threading.Lock):
        problem.leading_eigenvalue  # noqa: B018  kept by the problem
    return problem


@dataclass(frozen=True, eq=False)
class Measures:
    """What is counted in a table once and not at every rerun.

    Parameters
    ----------
    filled : int, values that are not zero
    constant : indices of the features that take one value only
    covariance : str, why the table may be a covariance matrix; empty when it is none, or is taken as one
    """

    filled: int
    constant: np.ndarray
    covariance: str


def measures(of: Chosen) -> Measures:
    """The measures of a data set, shared by all who look at it."""
    return _measures(of.content, of.dataset.is_covariance, of.dataset)


@cache.keep()
def _measures(content: str, covariance: bool, _data: Dataset) -> Measures:
    filled = _data.X.nnz if sp.issparse(_data.X) else int(np.count_nonzero(_data.X))
    return Measures(filled, _data.constant_columns(), "" if covariance else covariance_suggestion(_data.X)[1])


def heavy(data: Dataset) -> bool:
    """Whether its eigenvalues take more than a moment."""
    m, n = data.X.shape
    return min(m, n) ** 2 * max(m, n) > HEAVY


def _kept(data: Dataset) -> Dataset:
    """Shared by all sessions, so nobody may write into it."""
    for part in (data.X.data, data.X.indices, data.X.indptr) if sp.issparse(data.X) else (data.X,):
        part.flags.writeable = False
    return data


def _digest(data: Dataset) -> str:
    return sparse_digest(canonical(data.X)) if sp.issparse(data.X) else dense_digest(data.X)
