"""Missing values of a table: refused, left out with their samples or features, or replaced by means.

Reading calls `settle`. A refusal carries `ways_out`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.errors import MissingValues, Way
from nspca.presentation.phrases import things

MOST_LOST = 0.2
"""Share of the samples or features that may be left out before means are recommended instead."""


@dataclass(frozen=True)
class Settled:
    """A table without missing values, and the numbers of the rows and columns of the file that were kept."""

    X: Any
    rows: np.ndarray
    columns: np.ndarray
    notes: tuple[str, ...] = ()

    def of_rows(self, names: Sequence[Any]) -> Sequence[Any]:
        """Return the names of the rows that were kept."""
        return _select(names, self.rows)

    def of_columns(self, names: Sequence[Any]) -> Sequence[Any]:
        """Return the names of the columns that were kept."""
        return _select(names, self.columns)


def _select(names: Sequence[Any], kept: np.ndarray) -> Sequence[Any]:
    """Return the names at the positions `kept`; `names` itself when all are kept."""
    return names if kept.size == len(names) else tuple(names[i] for i in kept)


def ways_out(
    cells: int, rows: int, columns: int, shape: tuple[int, int], features_in_rows: bool = False
) -> tuple[Way, ...]:
    """Return the ways to treat missing values that keep two samples and two features, the best first.

    The best way leaves out the smaller share, if that is at most `MOST_LOST`. Otherwise it is means, although
    they invent numbers. Cells, rows and columns with missing values are counted as in the file.
    """
    kinds = ("features", "samples") if features_in_rows else ("samples", "features")
    found = zip((rows, columns), shape, kinds, strict=True)
    left = sorted((lost / of, how, lost, of) for lost, of, how in found if of - lost >= 2)
    ways = [
        Way("missing", how, f"Leave out {things(lost, how.removesuffix('s'))} of {of:,}")
        for _, how, lost, of in left
    ]
    invented = f"{things(cells, 'number')} of {shape[0] * shape[1]:,}"
    mean = Way("missing", "mean", f"Put in means, which invents {invented}")
    return (*ways, mean) if left and left[0][0] <= MOST_LOST else (mean, *ways)


def settle(
    X: Any,
    how: str,
    features_in_rows: bool = False,
    place: Callable[[int, int], str] = lambda row, column: f"row {row + 1}, column {column + 1}",
) -> Settled:
    """Return X, oriented as in the file, without missing values (NaN), treated in the way `how`.

    Means are taken over the known values of a feature. `place` returns the words for a row and a column of X
    in the error. At least two samples and features are kept.
    """
    rows, columns = np.arange(X.shape[0]), np.arange(X.shape[1])
    i, j = _find_missing(X)
    if not i.size:
        return Settled(X, rows, columns)
    counts = i.size, np.unique(i).size, np.unique(j).size
    ways = ways_out(*counts, X.shape, features_in_rows)
    if how == "refuse":
        nouns = ("feature", "sample") if features_in_rows else ("sample", "feature")
        many = f"{i.size} are missing, in {things(counts[1], nouns[0])} and {things(counts[2], nouns[1])}"
        raise MissingValues(
            f"Every cell must hold a number, but {place(int(i[0]), int(j[0]))} holds none "
            f"({many if i.size > 1 else 'no other is missing'}): fill in what is missing.",
            ways,
        )
    if how == "mean":
        return _fill_means(X, i, j, features_in_rows)
    by_rows = (how == "features") == features_in_rows
    rows, columns = (np.setdiff1d(rows, i), columns) if by_rows else (rows, np.setdiff1d(columns, j))
    whole, kept = X.shape[not by_rows], (rows if by_rows else columns).size
    if kept < 2:
        raise MissingValues(
            f"Leaving out the {how} with missing values would leave {kept} of {whole}, at least two are "
            "needed: fill in what is missing.",
            [way for way in ways if way.value != how],
        )
    out, cells = f"{whole - kept:,} of {whole:,} {how}", things(i.size, "missing value")
    note = f"Left out because of missing values: {out} ({cells})."
    return Settled(X[rows] if by_rows else X[:, columns], rows, columns, (note,))


def _find_missing(X: Any) -> tuple[np.ndarray, np.ndarray]:
    if X.dtype.kind != "f":
        return np.empty(0, np.intp), np.empty(0, np.intp)
    if not sp.issparse(X):
        rows, columns = np.nonzero(np.isnan(X))
        return rows, columns
    entries = X.tocoo()
    bad = np.isnan(entries.data)
    return entries.row[bad], entries.col[bad]


def _fill_means(X: Any, i: np.ndarray, j: np.ndarray, features_in_rows: bool) -> Settled:
    """Return X with its NaN entries (i, j) replaced by means. Features without any value are left out."""
    axis, feature = (1, i) if features_in_rows else (0, j)
    known = X.copy()
    (known.data if sp.issparse(X) else known)[np.isnan(X.data if sp.issparse(X) else X)] = 0.0
    there = X.shape[axis] - np.bincount(feature, minlength=X.shape[1 - axis])
    means = np.asarray(known.sum(axis=axis)).ravel() / np.maximum(there, 1)
    if sp.issparse(known):
        known = (known + sp.coo_array((means[feature], (i, j)), shape=X.shape)).tocsr()
    else:
        known[i, j] = means[feature]
    left, empty, many = np.flatnonzero(there), int((there == 0).sum()), int((there[feature] > 0).sum())
    rows, columns = (left, np.arange(X.shape[1])) if features_in_rows else (np.arange(X.shape[0]), left)
    notes: tuple[str, ...] = ()
    if many:
        inside = things(np.unique(feature).size - empty, "feature")
        notes += (
            f"Not measured: {things(many, 'missing value')} in {inside}, replaced by the mean of the "
            "feature's other values.",
        )
    if empty:
        notes += (f"Left out because it has no value at all: {things(empty, 'feature')}.",)
        known = known[left] if features_in_rows else known[:, left]
    return Settled(known, rows, columns, notes)
