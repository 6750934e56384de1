"""Missing values of a table: refused, left out with their samples or features, or replaced by means."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.errors import InvalidData, MissingValues, shown

WAYS = ("refuse", "samples", "features", "mean")
"""Ways to treat missing values; the last three change the data, and a note says how."""

MOST_LOST = 0.2
"""Share of the samples or features that may be left out before means are recommended instead."""


@dataclass(frozen=True)
class Settled:
    """A table without missing values.

    Parameters
    ----------
    X : array or sparse matrix, oriented as in the file
    rows, columns : arrays of int
        Numbers of the rows and columns of the file that are left.
    notes : tuple of str
    """

    X: Any
    rows: np.ndarray
    columns: np.ndarray
    notes: tuple[str, ...] = ()

    def of_rows(self, names: Sequence[Any]) -> Sequence[Any]:
        """Return the names of the rows that are left."""
        return _of(names, self.rows)

    def of_columns(self, names: Sequence[Any]) -> Sequence[Any]:
        """Return the names of the columns that are left."""
        return _of(names, self.columns)


def _of(names: Sequence[Any], kept: np.ndarray) -> Sequence[Any]:
    """Return the names that are kept; the same object when all are."""
    return names if kept.size == len(names) else tuple(names[i] for i in kept)


def check_way(how: str) -> str:
    """Return `how` if it is one of `WAYS`; refuse anything else."""
    if not isinstance(how, str) or how not in WAYS:
        raise InvalidData(f"What to do about missing values is one of {', '.join(WAYS)}, got {shown(how)}.")
    return how


@dataclass(frozen=True)
class Way:
    """A way to treat missing values, and its cost.

    Parameters
    ----------
    how : one of `WAYS`
    lost, of : int
        Samples or features that are left out, of how many; cells that get a mean, of all cells.
    is_recommended : bool
    """

    how: str
    lost: int
    of: int
    is_recommended: bool = False


def ways_out(error: MissingValues, features_in_rows: bool = False) -> tuple[Way, ...]:
    """Return the ways to treat missing values that leave two samples and two features, one recommended.

    Recommended is what leaves out the smaller share, as long as that is at most `MOST_LOST` of all; means
    otherwise, which invent numbers.
    """
    m, n = error.shape if not features_in_rows else error.shape[::-1]
    samples, features = error.rows, error.columns
    if features_in_rows:
        samples, features = features, samples
    found = [Way("features", features, n), Way("samples", samples, m)]
    left = [way for way in found if way.of - way.lost >= 2]
    left.sort(key=lambda way: way.lost / way.of)
    ways = (*left, Way("mean", error.cells, m * n))
    best = ways[0] if left and ways[0].lost <= MOST_LOST * ways[0].of else ways[-1]
    return tuple(replace(way, is_recommended=way is best) for way in ways)


def settle(X: Any, how: str, features_in_rows: bool = False, called: Sequence[str] = ()) -> Settled:
    """Apply `how` to every NaN of X.

    Parameters
    ----------
    X : (m, n) ndarray or scipy.sparse, oriented as in the file
    how : one of `WAYS`
    features_in_rows : bool
        Whether a row of X is a feature; a mean is that of a feature over the samples that have a value.
    called : sequence of str, optional
        What the sentence calls the columns of X, with a space before; by default their numbers from 1.

    Raises
    ------
    MissingValues
        When there are some, and `how` is "refuse".
    InvalidData
        When leaving out leaves less than two samples or two features.
    """
    all_rows, all_columns = np.arange(X.shape[0]), np.arange(X.shape[1])
    i, j = _missing(X)
    if not i.size:
        return Settled(X, all_rows, all_columns)
    if how == "refuse":
        name = called[j[0]] if called else f" {j[0] + 1}"
        where = f"row {i[0] + 1}, column{name} holds none"
        counts = i.size, *_counts(i, j)
        raise MissingValues(refusal(where, *counts), *counts, shape=X.shape)
    if how == "mean":
        return _filled(X, i, j, features_in_rows)
    by_rows = (how == "features") == features_in_rows
    rows, columns = all_rows, all_columns
    if by_rows:
        rows = np.setdiff1d(rows, i)
    else:
        columns = np.setdiff1d(columns, j)
    whole = X.shape[not by_rows]
    out = whole - (rows if by_rows else columns).size
    if whole - out < 2:
        others = "features" if how == "samples" else "samples"
        raise MissingValues(
            f"Leaving out the {how} with missing values would leave {whole - out} of {whole}, at least two "
            f"are needed: put in means, or leave out the {others} that have some.",
            i.size,
            *_counts(i, j),
            shape=X.shape,
        )
    note = (
        f"Left out because of missing values: {out} of {whole} {how} ({_counted(i.size, 'missing value')})."
    )
    return Settled(_part(X, rows, columns), rows, columns, (note,))


def refusal(where: str, cells: int, rows: int, columns: int) -> str:
    """Return the sentence about missing values when the user has not said what to do about them."""
    many = (
        "no other is missing"
        if cells == 1
        else f"{cells} are missing, in {_counted(rows, 'row')} and {_counted(columns, 'column')}"
    )
    way_out = (
        "fill in what is missing, or use the option missing: leave out its samples, leave out its features, "
        "or put in means"
    )
    return f"Every cell must hold a number, but {where} ({many}): {way_out}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _missing(X: Any) -> tuple[np.ndarray, np.ndarray]:
    if X.dtype.kind != "f":
        return np.empty(0, np.intp), np.empty(0, np.intp)
    if not sp.issparse(X):
        rows, columns = np.nonzero(np.isnan(X))
        return rows, columns
    entries = X.tocoo()
    bad = np.isnan(entries.data)
    return entries.row[bad], entries.col[bad]


def _counts(i: np.ndarray, j: np.ndarray) -> tuple[int, int]:
    return np.unique(i).size, np.unique(j).size


def _filled(X: Any, i: np.ndarray, j: np.ndarray, features_in_rows: bool) -> Settled:
    """Replace missing values by means; a feature without any value has no mean and is left out."""
    axis, feature = (1, i) if features_in_rows else (0, j)
    known = X.copy()
    if sp.issparse(known):
        known.data = np.where(np.isnan(known.data), 0.0, known.data)
    else:
        known[i, j] = 0.0
    there = X.shape[axis] - np.bincount(feature, minlength=X.shape[1 - axis])
    means = np.asarray(known.sum(axis=axis)).ravel() / np.maximum(there, 1)
    if sp.issparse(known):
        known = (known + sp.coo_array((means[feature], (i, j)), shape=X.shape)).tocsr()
    else:
        known[i, j] = means[feature]
    left, empty = np.flatnonzero(there), int((there == 0).sum())
    rows, columns = (left, np.arange(X.shape[1])) if features_in_rows else (np.arange(X.shape[0]), left)
    many = int((there[feature] > 0).sum())
    notes: tuple[str, ...] = ()
    if many:
        inside = _counted(np.unique(feature).size - empty, "feature")
        notes += (
            f"Not measured: {_counted(many, 'missing value')} in {inside}, replaced by the mean of the "
            "feature's other values.",
        )
    if empty:
        notes += (f"Left out because it has no value at all: {_counted(empty, 'feature')}.",)
    return Settled(_part(known, rows, columns), rows, columns, notes)


def _part(X: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    X = X if rows.size == X.shape[0] else X[rows]
    return X if columns.size == X.shape[1] else X[:, columns]
