"""The data set in force: a sample or an upload, read once per server and found again by its content."""

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.dashboard.shell import state
from nspca.data import SAMPLES, Dataset, Look, load_sample, look_at, original_path, read
from nspca.errors import InvalidData
from nspca.jobs import engine
from nspca.matrix.covariance import canonical, dense_digest, sparse_digest
from nspca.tasks.sweep import make_problem

CHANGES = ("drop", "log2")  # what is done to the data after reading, in this order
HEAVY = 5e9  # multiplications above which an eigenvalue decomposition keeps a person waiting


@dataclass(frozen=True, eq=False)
class Chosen:
    """A data set, how to find it again, and the hash of its numbers."""

    dataset: Dataset
    reference: dict[str, Any]
    content: str

    @property
    def stem(self) -> str:
        """What files about these data are called."""
        return f"{self.reference.get('sample', 'upload')}{'-stand-in' if self.dataset.source == 'stand-in' else ''}"


def chosen() -> Chosen:
    """What the address asks for.

    Raises
    ------
    NSPCAError
        When it is not there, or cannot be read.
    """
    return find(reference(), state.get("w"))


def reference() -> dict[str, Any]:
    """Where the data in force is, and how its file is read."""
    changes = {name: True for name, on in (("log2", state.get("log")), ("drop", state.get("drop"))) if on}
    if state.get("upload") is None:
        return {"sample": state.get("sample"), **changes}
    options = {"id_column": state.get("id"), "label_column": state.get("label"), "features_in_rows": state.get("rows")}
    return {"upload": state.get("upload"), "vocabulary": state.get("vocab"), "covariance": state.get("cov"), **options, **changes}


def find(where: dict[str, Any], workspace: str | None) -> Chosen:
    """The data set that `reference` described."""
    if "sample" in where:
        found = _sample(where["sample"], _version(where["sample"]))
    else:
        # The workspace is part of what is remembered: nobody opens another person's upload by its hash.
        found = _upload(workspace or "", **{name: value for name, value in where.items() if name not in ("file", *CHANGES)})
    if where.get("drop"):
        found = _varying(repr(found.reference), found.content, found)
    return _logged(repr(found.reference), found.content, found) if where.get("log2") else found


@st.cache_resource(max_entries=4, show_spinner=False)
def _logged(reference: str, content: str, _of: Chosen) -> Chosen:
    """The same data with log2(x + 1) in place of every x; a zero stays a zero, so a sparse table stays sparse."""
    data = _of.dataset
    if data.is_covariance:
        return _of
    least = float((data.X.data if sp.issparse(data.X) else data.X).min(initial=0))
    if least <= -1:
        raise InvalidData(f"log2(x + 1) needs values above -1, the smallest here is {least:g}: leave the data as they are.")
    X = np.log1p(data.X.astype(np.float64)) / np.log(2)  # the snippet of a sweep says the same, and has to give the same bits
    data = replace(data, X=X, notes=(*data.notes, "Every value x is replaced by log2(x + 1)."))
    return Chosen(_kept(data), {**_of.reference, "log2": True}, _digest(data))


@st.cache_resource(max_entries=4, show_spinner=False)
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
            f"Left out because they take one value only: {len(constant)} features, the first is {data.feature_names[constant[0]]}.",
        ),
    )
    return Chosen(_kept(data), {**_of.reference, "drop": True}, _digest(data))


def is_stand_in(name: str) -> bool:
    """Whether a sample is shown as a stand-in, known without opening it."""
    return SAMPLES[name].stand_in and original_path(name) is None


def title_of(file: str) -> str:
    """A title from the name of an uploaded file; it is shown and never used as a path."""
    return PurePosixPath(file.replace("\\", "/")).name.partition(".")[0][:60] or "upload"


def _version(name: str) -> str:
    """Changes when a stand-in gives way to the real data, or one copy to another."""
    path = original_path(name) if name in SAMPLES and SAMPLES[name].stand_in else None
    return "" if path is None else f"{path} {path.stat().st_mtime_ns}"


@st.cache_resource(max_entries=6, show_spinner="Opening the sample …")
def _sample(name: str, version: str) -> Chosen:
    data = load_sample(name)
    return Chosen(_kept(data), {"sample": name}, _digest(data))


@st.cache_resource(max_entries=6, show_spinner="Reading the file …")
def _upload(workspace: str, upload: str, vocabulary: str | None, covariance: bool, **options: Any) -> Chosen:
    raw, about = engine().store.get_upload(workspace, upload)
    words = engine().store.get_upload(workspace, vocabulary)[0] if vocabulary else None
    data = read(raw, name=about["name"], vocabulary=words, **options)
    if covariance and not data.is_covariance:
        data = replace(data, is_covariance=True, labels=None, notes=(*data.notes, "The table is taken as a covariance matrix."))
    where = {"upload": upload, "file": about["file"], "vocabulary": vocabulary, "covariance": covariance, **options}
    return Chosen(_kept(data), where, _digest(data))


@st.cache_resource(max_entries=6, show_spinner=False)
def columns(workspace: str, upload: str) -> Look | None:
    """What the first lines of an uploaded table show: its columns, and which could be names or labels."""
    return look_at(engine().store.get_upload(workspace, upload)[0])


@st.cache_resource(max_entries=8, show_spinner="Preparing the covariance …")
def _problem(content: str, covariance: bool, center: bool, scale: bool, _data: Dataset) -> nspca.Problem:
    # A data frame carries the names into the sentence about constant columns.
    X = _data.X if sp.issparse(_data.X) or covariance else pd.DataFrame(_data.X, columns=list(_data.feature_names), copy=False)
    return make_problem(X, covariance, 1, center=center, scale=scale)


def problem(of: Chosen, nonneg: bool, center: bool, scale: bool) -> nspca.Problem:
    """The problem of a data set, shared by all who look at it.

    Raises
    ------
    InvalidProblem
        For constant columns under `scale`, one row, an indefinite covariance, with the way out.
    """
    given = of.dataset.is_covariance
    made = _problem(of.content, given, center and not given, scale and not given, of.dataset)
    return replace(made, nonneg=nonneg)  # both signs share the matrix and its eigenvectors


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
