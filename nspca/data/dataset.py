"""The class `Dataset`: one table, frozen and checked, which `nspca.read` returns and every page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from nspca.data.findings import Finding, as_findings
from nspca.data.names import Names, numbered, unique_names
from nspca.errors import InvalidData, shown
from nspca.presentation.phrases import things
from nspca.validation.features import numbers_of
from nspca.validation.options import is_whole

Source = Literal["real", "copy", "relative", "user"]
Kind = Literal["image", "spectrum", "words", "table"]
ROUNDING = 1e-8
"""Largest difference between a covariance and its transpose, relative to its largest entry. A file with eight
digits rounds that much.
"""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with samples in rows and features in columns, with names, labels and provenance.

    Parameters
    ----------
    name : str
        Short name shown to the user.
    X : (m, n) ndarray (float64 or uint8) or scipy.sparse CSR of float64
        Finite; the (n, n) matrix itself when `is_covariance`.
    feature_names, sample_names : tuple of str, or `Numbered`
        n and m names, each list without duplicates.
    labels : (m,) ndarray or None
        Groups of the samples.
    image_shape : (rows, columns) or None
        Size in pixels of the image that the n features of a sample form, row by row.
    source : "real", "copy", "relative" or "user"
        A copy has the shape of the original, and other values; a relative is shown in its place.
    kind : "image", "spectrum", "words" or "table"
        The picture that pages draw of a component.
    axis : (n,) float64 or None
        Position of each feature on a scale, such as its wavelength; `axis_name` names scale and unit.
    is_covariance : bool
        X is a symmetric covariance or correlation matrix.
    provenance : str
        One line: content, origin and licence.
    findings : tuple of Finding
        What reading decided and what it suspects, each with the option that turns it, and other changes.
        Plain sentences are taken too. `notes` are the same as sentences.
    options : mapping
        The options of reading that were given or found.
    label_columns : mapping of str to (m,) ndarray
        Columns of groups by name, from the file and from a sample annotation. `labelled` makes one of them
        the labels.
    label_name : str
        Name of the column that `labels` came from; empty when it has none.
    texts : tuple of str or None
        The text of each sample, for samples that are documents. Long ones are shortened.
    prepared : tuple of str
        Names of the preparations that `nspca.data.prepare` applied, in order.
    header : (m, q) float64 or None
        Numbers of each sample that are not features, such as the position of a star. `header_names` are
        their names.
    weights : (m,) float64 or None
        Weights of the samples, at least 0, which problems and certificates of this data set use.
    """

    name: str
    X: Any  # np.ndarray or sp.csr_array, which has no types
    feature_names: Names
    sample_names: Names
    labels: np.ndarray | None = None
    image_shape: tuple[int, int] | None = None
    source: Source = "user"
    kind: Kind = "table"
    axis: np.ndarray | None = None
    axis_name: str = ""
    is_covariance: bool = False
    provenance: str = ""
    findings: tuple[Finding, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    label_columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    label_name: str = ""
    texts: tuple[str, ...] | None = None
    prepared: tuple[str, ...] = ()
    header: np.ndarray | None = None
    header_names: tuple[str, ...] = ()
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Refuse lengths, values and shapes that do not fit each other."""
        object.__setattr__(self, "findings", as_findings(self.findings))
        X = self.X
        _check_kind(X)
        m, n = X.shape
        check_enough(m, n)
        lengths = {
            "feature names": (self.feature_names, n),
            "sample names": (self.sample_names, m),
            "labels": (self.labels, m),
            "axis": (self.axis, n),
            "rows of the header": (self.header, m),
            "texts": (self.texts, m),
            "weights": (self.weights, m),
            **{f'labels "{name}"': (labels, m) for name, labels in self.label_columns.items()},
        }
        for what, (values, wanted) in lengths.items():
            if values is not None and (not hasattr(values, "__len__") or len(values) != wanted):
                got = len(values) if hasattr(values, "__len__") else shown(values)
                raise InvalidData(f"The table is {m} x {n}, so {wanted} {what} are needed, got {got}.")
        if self.image_shape is not None:
            _check_image(self.image_shape, n)
        if self.is_covariance:
            _check_covariance(X)
        _check_finite(self)

    def __repr__(self) -> str:
        m, n = self.X.shape
        return f"Dataset {self.name}: {m} samples x {n} features"

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings as sentences, each with the option of `nspca.read` that turns it."""
        return tuple(map(str, self.findings))

    def noting(self, *said: Finding | str) -> "Dataset":
        """Return the data set with further findings or plain sentences."""
        return replace(self, findings=(*self.findings, *as_findings(said)))

    def constant_columns(self) -> np.ndarray:
        """Return the indices of the constant features, which have no variance."""
        if sp.issparse(self.X):
            low, high = self.X.min(axis=0).toarray().ravel(), self.X.max(axis=0).toarray().ravel()
        else:
            low, high = self.X.min(axis=0), self.X.max(axis=0)
        return np.flatnonzero(low == high)

    def only(self, features: Sequence[int | str]) -> "Dataset":
        """Return the data set restricted to some features, given by number (from 0) or by name.

        An image keeps its grid: all other pixels become 0.

        Raises
        ------
        InvalidData
            For an unknown feature, and when fewer than two are given.
        """
        kept = self.numbers(features)
        first = f"the first is {self.feature_names[kept[0]]}"
        many = f"{things(len(kept), 'feature')} of {len(self.feature_names)}"
        return _keep_features(self, kept, f"Only {many} on request, {first}.")

    def without(self, features: Sequence[int | str]) -> "Dataset":
        """Return the data set without some features; see `only`."""
        out = self.numbers(features)
        kept = np.setdiff1d(np.arange(len(self.feature_names)), out)
        first = f"the first is {self.feature_names[out[0]]}"
        return _keep_features(self, kept, f"Without {things(len(out), 'feature')} on request, {first}.")

    def together(self, features: Sequence[int | str], name: str = "") -> "Dataset":
        """Return the data set with some features merged into one.

        The merged feature is the sum of the given ones over the square root of their number. It takes the
        place of the first. A unit weight on the merged feature therefore stands for equal weights of norm
        one on its parts, so variances before and after can be compared.

        Parameters
        ----------
        features : by number (from 0) or by name, at least two
        name : str
            Name of the merged feature; ``A + B`` or ``A + 3 more`` when empty.

        Raises
        ------
        InvalidData
            For an unknown feature, for fewer than two, when no other feature remains, and for images, whose
            pixels form a grid.
        """
        return _merge_features(self, self.numbers(features), name)

    def numbers(self, features: Sequence[int | str]) -> np.ndarray:
        """Return the sorted numbers of features that are given by number (from 0) or by name."""
        return numbers_of(features, self.feature_names)

    def rows(self, kept: Sequence[int] | np.ndarray) -> "Dataset":
        """Return the data set with the samples `kept` (numbers from 0), in the given order.

        Names, labels, label columns, texts and header numbers are restricted in the same way.
        """
        at = np.asarray(kept, dtype=np.intp)
        return replace(
            self,
            X=self.X[at],
            sample_names=tuple(self.sample_names[i] for i in at),
            labels=None if self.labels is None else self.labels[at],
            label_columns={name: labels[at] for name, labels in self.label_columns.items()},
            texts=None if self.texts is None else tuple(self.texts[i] for i in at),
            header=None if self.header is None else self.header[at],
            weights=None if self.weights is None else self.weights[at],
        )

    def labelled(self, name: str) -> "Dataset | None":
        """Return the data set with the column `name` of `label_columns` as its labels.

        The result equals that of reading the file with `label_column=name`. Returns None when there is no
        such column; the file must then be read again.
        """
        if name not in self.label_columns:
            return None
        offer = ("label_column", name)
        return replace(
            self,
            labels=self.label_columns[name],
            label_name=name,
            findings=tuple(one for one in self.findings if (one.option, one.value) != offer),
        )

    def transposed(self) -> "Dataset":
        """Return the data set with rows and columns exchanged.

        What describes the old rows and columns, such as labels and image shape, is dropped.
        """
        m, n = self.X.shape
        rows, columns = self.sample_names, self.feature_names
        T: Any = self.X.T
        return Dataset(
            self.name,
            T.tocsr() if sp.issparse(T) else np.ascontiguousarray(T),
            numbered("feature", m) if rows == numbered("sample", m) else rows,
            numbered("sample", n) if columns == numbered("feature", n) else columns,
            source=self.source,
            is_covariance=self.is_covariance,
            provenance=self.provenance,
            findings=(*self.findings, Finding("Features were in rows; the table was transposed.")),
            options=self.options,
            prepared=self.prepared,
        )


def _keep_features(data: Dataset, kept: np.ndarray, note: str) -> Dataset:
    """Return a data set with the features `kept` (sorted numbers) and one more note; see `Dataset.only`."""
    if len(kept) < 2:
        raise InvalidData(f"At least two features must be left, got {len(kept)}: leave out fewer.")
    X: Any = data.X
    findings = (*data.findings, Finding(note))
    if data.image_shape is not None and not data.is_covariance:
        mask = np.zeros(X.shape[1], dtype=X.dtype)
        mask[kept] = 1
        X = X.multiply(mask).tocsr() if sp.issparse(X) else X * mask
        if sp.issparse(X):
            X.eliminate_zeros()
        return replace(data, X=X, findings=findings)
    names = tuple(data.feature_names[j] for j in kept)
    return replace(
        data,
        X=X[kept][:, kept] if data.is_covariance else X[:, kept],
        feature_names=names,
        sample_names=names if data.is_covariance else data.sample_names,
        axis=None if data.axis is None else data.axis[kept],
        image_shape=None,
        findings=findings,
    )


def _merge_features(data: Dataset, group: np.ndarray, name: str) -> Dataset:
    """Return a data set with the features `group` (sorted numbers) merged; see `Dataset.together`."""
    if len(group) < 2:
        raise InvalidData(f"At least two features become one, got {len(group)}: name more.")
    if data.image_shape is not None and not data.is_covariance:
        raise InvalidData(
            f"Pixels of an image cannot become one, got {len(group)}: an image needs its whole grid."
        )
    n, first = len(data.feature_names), group[0]
    kept = np.setdiff1d(np.arange(n), group[1:])
    if len(kept) < 2:
        raise InvalidData(f"At least two features must be left, got {len(kept)}: put fewer together.")
    place, weight = np.searchsorted(kept, np.arange(n)), np.ones(n)
    place[group], weight[group] = np.searchsorted(kept, first), len(group) ** -0.5
    note = f"{things(len(group), 'feature')} as one on request, the first is {data.feature_names[first]}."
    P: Any = sp.csr_array((weight, (np.arange(n), place)), shape=(n, len(kept)))
    X: Any = data.X @ P
    X = P.T @ X if data.is_covariance else X

    def rename_features(names: Names) -> Names:
        others = names[group[1]] if len(group) == 2 else f"{len(group) - 1} more"
        one = name or f"{names[first]} + {others}"
        return unique_names([one if j == first else names[j] for j in kept], "feature")[0]

    return replace(
        data,
        X=X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X),
        feature_names=rename_features(data.feature_names),
        sample_names=rename_features(data.sample_names) if data.is_covariance else data.sample_names,
        axis=None if data.axis is None else np.bincount(place, data.axis) / np.bincount(place),
        image_shape=None,
        findings=(*data.findings, Finding(note)),
    )


def check_enough(m: int, n: int, aside: str = "") -> None:
    """Refuse a table of less than two samples or features.

    `aside` is a phrase for the error about columns that are not features; it begins with a space.
    """
    if m < 2 or n < 2:
        raise InvalidData(
            f"At least two samples and two features are needed, got {things(m, 'sample')} and "
            f"{things(n, 'feature')}{aside}."
        )


def _check_kind(X: Any) -> None:
    if not isinstance(X, np.ndarray) and not (sp.issparse(X) and X.format == "csr"):
        kind = X.format if sp.issparse(X) else type(X).__name__
        raise InvalidData(
            f"A NumPy array or a scipy.sparse table in CSR form is needed, got {kind}: convert it."
        )
    if X.ndim != 2:
        raise InvalidData(f"A table with rows and columns is needed, got an array with {X.ndim} dimensions.")
    if X.dtype.kind not in "biuf":
        raise InvalidData(f"Every value must be a real number, got type {X.dtype}: convert it.")
    if isinstance(X, np.ma.MaskedArray) and (masked := int(np.ma.getmaskarray(X).sum())):
        raise InvalidData(f"Every value must be there, got {masked} masked ones: fill them in.")


def _check_image(shape: Any, n: int) -> None:
    if not isinstance(shape, tuple | list) or [*map(is_whole, shape)] != [True, True]:
        raise InvalidData(f"The shape of an image is its rows and columns, got {shown(shape)}.")
    if shape[0] * shape[1] != n:
        raise InvalidData(f"An image of {shape[0]} x {shape[1]} pixels does not have {n} features.")


def _check_finite(data: Dataset) -> None:
    if data.X.dtype.kind in "ub":
        return
    X: Any = data.X  # SciPy has no types
    bad = ~np.isfinite(X.data if sp.issparse(X) else X)
    if not bad.any():
        return
    if sp.issparse(X):
        bad = sp.csr_array((bad, X.indices, X.indptr), X.shape)
    row, column = (int(i[0]) for i in bad.nonzero())
    raise InvalidData(
        f'Every value must be a finite number, but sample "{data.sample_names[row]}", feature '
        f'"{data.feature_names[column]}" is {X[row, column]}: fill it in, or remove the row or the column.'
    )


def _check_covariance(A: np.ndarray) -> None:
    if A.shape[0] != A.shape[1]:
        raise InvalidData(f"A covariance has as many rows as columns, got {A.shape[0]} x {A.shape[1]}.")
    gap = float(np.abs(A - A.T).max())
    if gap > ROUNDING * float(np.abs(A).max()):
        raise InvalidData(f"A covariance is symmetric, this differs from its transpose by up to {gap:.3g}.")
