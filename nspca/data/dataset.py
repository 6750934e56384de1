"""One table, frozen and checked: what every reader returns and every page shows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from nspca.errors import InvalidData

Source = Literal["real", "stand-in", "user"]
Kind = Literal["image", "spectrum", "words", "table"]
# Probe sets and accession numbers of arrays and sequencers; symbols such as TP53 are looked at separately, because S1, S2, ... look alike.
_PROBE = re.compile(r"_[a-z]?_?[as]t$|_at$|^AFFX|^ENS[A-Z]*[GTP]\d{6,}|^[NX][MR]_\d+|^ILMN_\d+|^cg\d{6,}|^(probe|gene)[ _-]?\d+$")
_SYMBOL = re.compile(r"^[A-Z]{2,}[A-Z0-9-]{1,10}$")
# Digits (1797 x 64) and faces (2429 x 361) have up to 28 times more samples than features, so a shape alone says little below this.
_MANY_TIMES = 50


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples in rows, features in columns, with their names and what is known about them.

    Parameters
    ----------
    name : str
        Short name shown to the user; a stand-in says so in it.
    X : (m, n) ndarray (float64 or uint8) or scipy.sparse CSR of float64
        Finite; the (n, n) matrix itself when `is_covariance`.
    feature_names, sample_names : tuple of str
        n and m names, each list without duplicates.
    labels : (m,) ndarray or None
        Groups of the samples.
    image_shape : (rows, columns) or None
        How the n features of a sample form an image, row by row.
    source : "real", "stand-in" or "user"
    kind : "image", "spectrum", "words" or "table"
        What a component is drawn as.
    axis : (n,) float64 or None
        Where each feature lies, `axis_name` says on what scale and in what unit.
    is_covariance : bool
        X is a symmetric covariance or correlation matrix.
    provenance : str
        One line: what this is, from where, under which licence.
    notes : tuple of str
        What reading changed or found out.
    """

    name: str
    X: np.ndarray | sp.csr_array
    feature_names: tuple[str, ...]
    sample_names: tuple[str, ...]
    labels: np.ndarray | None = None
    image_shape: tuple[int, int] | None = None
    source: Source = "user"
    kind: Kind = "table"
    axis: np.ndarray | None = None
    axis_name: str = ""
    is_covariance: bool = False
    provenance: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        X = self.X
        if getattr(X, "ndim", 0) != 2:
            raise InvalidData(f"A table with rows and columns is needed, got an array with {getattr(X, 'ndim', 0)} dimensions.")
        m, n = X.shape
        if m < 2 or n < 2:
            raise InvalidData(f"At least two samples and two features are needed, got {_count(m, 'sample')} and {_count(n, 'feature')}.")
        lengths = {
            "feature names": (self.feature_names, n),
            "sample names": (self.sample_names, m),
            "labels": (self.labels, m),
            "axis": (self.axis, n),
        }
        for what, (values, wanted) in lengths.items():
            if values is not None and len(values) != wanted:
                raise InvalidData(f"The table is {m} x {n}, so {wanted} {what} are needed, got {len(values)}.")
        if self.image_shape is not None and self.image_shape[0] * self.image_shape[1] != n:
            raise InvalidData(f"An image of {self.image_shape[0]} x {self.image_shape[1]} pixels does not have {n} features.")
        if self.is_covariance:
            _check_covariance(X)
        self._check_finite()

    def _check_finite(self) -> None:
        if self.X.dtype.kind in "ub":
            return
        X: Any = self.X  # SciPy has no types
        values = X.data if sp.issparse(X) else X
        bad = ~np.isfinite(values)
        if not bad.any():
            return
        if sp.issparse(X):
            entry = int(np.argmax(bad))
            row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
        else:
            row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidData(
            f'Every value must be a finite number, but sample "{self.sample_names[row]}", feature "{self.feature_names[column]}" is '
            f"{self.X[row, column]}: fill it in, or remove the row or the column."
        )

    def constant_columns(self) -> np.ndarray:
        """Indices of the features that take one value only (they carry no variance)."""
        if sp.issparse(self.X):
            low, high = self.X.min(axis=0).toarray().ravel(), self.X.max(axis=0).toarray().ravel()
        else:
            low, high = self.X.min(axis=0), self.X.max(axis=0)
        return np.flatnonzero(low == high)

    def transposed(self) -> "Dataset":
        """Rows and columns exchanged; labels and image shape belonged to the old rows and columns and are dropped."""
        m, n = self.X.shape
        features = numbered("feature", m) if self.sample_names == numbered("sample", m) else self.sample_names
        samples = numbered("sample", n) if self.feature_names == numbered("feature", n) else self.feature_names
        T: Any = self.X.T
        X = T.tocsr() if sp.issparse(T) else np.ascontiguousarray(T)
        notes = (*self.notes, "Features were in rows; the table was transposed.")
        return replace(
            self,
            X=X,
            feature_names=features,
            sample_names=samples,
            labels=None,
            image_shape=None,
            kind="table",
            axis=None,
            axis_name="",
            notes=notes,
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _check_covariance(A: np.ndarray) -> None:
    if A.shape[0] != A.shape[1]:
        raise InvalidData(f"A covariance has as many rows as columns, got {A.shape[0]} x {A.shape[1]}.")
    gap = float(np.abs(A - A.T).max())
    if gap > 1e-8 * float(np.abs(A).max()):
        raise InvalidData(f"A covariance is symmetric, this one differs from its transpose by up to {gap:.3g}.")


def unique_names(names: Sequence[str], what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names as they are, empty ones numbered and repeated ones told apart; and a note when that happened.

    Parameters
    ----------
    names : sequence of str
    what : str
        "feature" or "sample", used for empty names and in the note.

    Returns
    -------
    names, notes : tuples of str
    """
    names = [name if name.strip() else f"{what} {i}" for i, name in enumerate(names, 1)]
    taken, out, changed = set(names), [], []
    seen: dict[str, int] = {}
    for name in names:
        if name not in seen:
            seen[name] = 1
            out.append(name)
            continue
        changed.append(name)
        candidate = name
        while candidate in taken:
            seen[name] += 1
            candidate = f"{name} ({seen[name]})"
        taken.add(candidate)
        out.append(candidate)
    notes = (f'{_count(len(changed), f"repeated {what} name")} got a number, the first is "{changed[0]}".',) if changed else ()
    return tuple(out), notes


def numbered(what: str, count: int) -> tuple[str, ...]:
    """``("sample 1", "sample 2", ...)``: the names when a file has none."""
    return tuple(f"{what} {i}" for i in range(1, count + 1))


def pixel_names(shape: tuple[int, int]) -> tuple[str, ...]:
    """Names of the pixels of an image, row by row, counted from 1 at the top left."""
    return tuple(f"row {r} column {c}" for r in range(1, shape[0] + 1) for c in range(1, shape[1] + 1))


def features_in_rows_suggestion(X: np.ndarray, sample_names: Sequence[str] = (), feature_names: Sequence[str] = ()) -> tuple[bool, str]:
    """Whether the rows of a table look like features (genes) rather than samples.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, only its shape is used
    sample_names, feature_names : sequences of str
        The names of its rows and columns as they were read.

    Returns
    -------
    suggested : bool
    sentence : str
        What was seen and what the switch would do; empty when there is nothing to say.
    """
    m, n = X.shape
    if m <= n:
        return False, ""
    if _are_genes(sample_names) and not _are_genes(feature_names):
        reason = f'row names such as "{sample_names[0]}" look like genes or probes'
    elif m >= _MANY_TIMES * n and tuple(sample_names[:2]) not in ((), numbered("sample", 2)) and _are_numbered(feature_names):
        reason = f'it has far more rows than columns, with column names such as "{feature_names[0]}"'
    else:
        return False, ""
    return (
        True,
        f"This table has {m} rows and {n} columns, and {reason}: switch on “features are in rows” to get {n} samples with {m} features.",
    )


def _are_genes(names: Sequence[str]) -> bool:
    looked_at = list(names[:200])
    probes = sum(bool(_PROBE.search(name)) for name in looked_at)
    symbols = [name for name in looked_at if _SYMBOL.match(name)]
    stems = {name.rstrip("-0123456789") for name in symbols}
    return bool(looked_at) and max(probes, len(symbols) if len(stems) > len(symbols) / 3 else 0) >= 0.8 * len(looked_at)


def _are_numbered(names: Sequence[str]) -> bool:
    stems = {name.rstrip("0123456789") for name in names}
    return len(stems) <= max(1, len(names) // 10) and stems != {"feature "}
