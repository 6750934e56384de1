"""Preparations of data, as in the papers: image normalisation, logarithms, projections and header fields.

Each step is recorded in the dataset and described in its notes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nspca.data.dataset import Dataset, unique_names
from nspca.errors import InvalidData, NotPrepared, shown

LEVELS = 256  # grey levels of an image
DIRECT = 200  # samples or features up to which a direct eigensolver is as quick as an iterative one
ROUNDING = 2.0**-40
"""Part of its range that a feature keeps where a projection takes all of it: rounding, which standardising
would turn into a feature like any other.
"""


@dataclass(frozen=True)
class Preparation:
    """A preparation step, with its title, its description and its condition.

    Parameters
    ----------
    title : str
        As on a page.
    said : str
        A sentence for the notes of the dataset.
    lacks : callable
        ``lacks(data)``: what the data would need for this step, empty when nothing is missing.
    made : callable
        ``made(data)``: the data with other numbers.
    """

    title: str
    said: str
    lacks: Callable[[Dataset], str]
    made: Callable[[Dataset], Dataset]


def prepare(data: Dataset, *names: str) -> Dataset:
    """Return the same samples with other numbers, or with more features.

    Parameters
    ----------
    data : Dataset
    *names : str
        Keys of `PREPARATIONS`, done in this order.

    Returns
    -------
    Dataset
        ``prepared`` says what was done, in order.

    Raises
    ------
    InvalidData
        For another name, and as `NotPrepared` for data that a step cannot be done to.
    """
    if not isinstance(data, Dataset):
        raise InvalidData(f"A Dataset is prepared, got {type(data).__name__}: make one with nspca.read.")
    for name in names:
        if not isinstance(name, str) or name not in PREPARATIONS:
            raise InvalidData(f"A preparation is one of {', '.join(PREPARATIONS)}, got {shown(name)}.")
        step = PREPARATIONS[name]
        if lacks := step.lacks(data):
            raise NotPrepared(f"“{step.title}” needs {lacks}: leave the data as they are.", name)
        done, notes = (*data.prepared, name), (*data.notes, step.said)
        try:
            data = replace(step.made(data), prepared=done, notes=notes)
        except InvalidData as error:  # numbers beyond float64
            raise NotPrepared(str(error), name) from None
    return data


def _numbers(made: Callable[[Any], Any]) -> Callable[[Dataset], Dataset]:
    """Return a step that changes numbers and nothing else."""

    def step(data: Dataset) -> Dataset:
        X = data.X if sp.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
        return replace(data, X=made(X))

    return step


def _images(data: Dataset) -> str:
    dense = not data.is_covariance and not sp.issparse(data.X)
    return "" if data.image_shape and dense else "images that are not a sparse table"


def _samples(data: Dataset) -> str:
    dense = not data.is_covariance and not sp.issparse(data.X)
    return "" if dense else "a table of samples that is not sparse"


def _a_header(data: Dataset) -> str:
    if data.header is None:
        return "header fields, which this copy came without"
    return _samples(data)


def _above_minus_one(data: Dataset) -> str:
    if data.is_covariance:
        return "a table of samples"
    X: Any = data.X  # SciPy has no types
    least = float((X.data if sp.issparse(X) else X).min(initial=0))
    return "" if least > -1 else f"values above -1, the smallest here is {least:g}"


def _scaled(X: np.ndarray) -> tuple[np.ndarray, int]:
    """Return X times the power of two that brings its largest entry to [0.5, 1), and its exponent.

    The product is exact, and means and ranges of numbers near the end of float64 stay finite.
    """
    exponent = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    return np.ldexp(X, -exponent), exponent


def lee_seung(X: np.ndarray) -> np.ndarray:
    """Normalise the grey levels of every image (row) to mean 1/4 and deviation 1/4, clipped to [0, 1].

    The result has 256 steps, from 0 to 255. An image of one level is left at the mean.
    """
    X = _scaled(X)[0]
    mean, deviation = X.mean(axis=1, keepdims=True), X.std(axis=1, ddof=1, keepdims=True)
    # The mean of equal levels may be a rounding away from them.
    level = (X - mean) / np.where(np.ptp(X, axis=1, keepdims=True) > 0, deviation, np.inf)
    steps: np.ndarray = np.floor((LEVELS - 1) * np.clip(0.25 + 0.25 * level, 0, 1))
    return steps


def equalised(X: np.ndarray) -> np.ndarray:
    """Return the grey levels of every image (row) in [0, 1] with a histogram as flat as it can be.

    One of 256 levels goes to the one whose place in a flat histogram is nearest to its own, as in MATLAB's
    `histeq` with 256 levels, which gives what Table 1 of Asteris et al. 2015 prints for the faces. Levels
    that are not whole numbers from 0 to 255 are first brought there, the range of the whole table to 0-255.
    """
    last = LEVELS - 1
    grey = X
    if X.min() < 0 or X.max() > last or not np.array_equal(X, np.round(X)):
        X = _scaled(X)[0]
        low, high = X.min(), X.max()
        grey = np.round(last * (X - low) / max(high - low, np.finfo(float).tiny))
    return np.array([_flat(image) for image in grey.astype(np.int64)])


def _flat(image: np.ndarray) -> np.ndarray:
    counts = np.bincount(image, minlength=LEVELS)
    reached, wanted = np.cumsum(counts), np.arange(1, LEVELS + 1) * image.size / LEVELS
    slack = np.minimum(np.append(counts[:-1], 0), np.append(0, counts[1:])) / 2
    away = np.round(wanted[:, None] - reached + slack)
    away[away < 0] = image.size  # a level that ends below this one's place is not for it
    flat: np.ndarray = np.argmin(away, axis=0)[image] / (LEVELS - 1)
    return flat


def log2(X: np.ndarray) -> np.ndarray:
    """Return ``log2(x + 1)`` of every entry; a zero stays a zero, so a sparse table stays sparse."""
    logarithms: np.ndarray = np.log1p(X.astype(np.float64)) / np.log(2)
    return logarithms


def off_first(X: np.ndarray) -> np.ndarray:
    """Project centred rows off the first principal component and add the means again.

    Sigg & Buhmann 2008, Section 5.2: otherwise nonnegative weights of faces are no constraint.

    A feature that takes one value only keeps it, and one of which nothing is left takes one from then on.
    """
    varies = X.min(axis=0) < X.max(axis=0)
    if not varies.any():
        return X
    Z, exponent = _scaled(X[:, varies])
    mean = Z.mean(axis=0)
    Z = Z - mean
    v = _leading(Z)
    left = Z - np.outer(Z @ v, v)
    left[:, np.ptp(left, axis=0) <= ROUNDING * np.ptp(Z, axis=0)] = 0.0
    done = X.astype(np.float64)
    done[:, varies] = np.ldexp(mean + left, exponent)
    return done


def with_header(data: Dataset) -> Dataset:
    """Append the header fields as further features.

    The spectra of the 2014 paper seem to have had theirs: with them, standardised, its numbers are
    reproduced.
    """
    assert data.header is not None  # the step has asked
    names, _ = unique_names((*data.feature_names, *data.header_names), "feature")
    return replace(
        data,
        X=np.hstack((data.X, data.header)),
        feature_names=names,
        kind="table",
        axis=None,
        axis_name="",
        image_shape=None,
        header=None,
        header_names=(),
    )


def _leading(Z: np.ndarray) -> np.ndarray:
    """Return the right singular vector (n,) of the largest singular value of Z (m, n).

    It is computed from the smaller of Z'Z and ZZ', and is the same for the same data.
    """
    wide = Z.shape[0] < Z.shape[1]
    gram = Z @ Z.T if wide else Z.T @ Z
    u = _iterated(gram) if len(gram) > DIRECT else None
    if u is None:
        # All of them: LAPACK's solver of a part of the spectrum can find none in a cluster of equal ones.
        u = np.linalg.eigh(gram)[1][:, -1]
    v: np.ndarray = Z.T @ u if wide else u
    v = v / np.linalg.norm(v)
    return v


def _iterated(gram: np.ndarray) -> np.ndarray | None:
    """Return the leading eigenvector by iteration, which is 10 times as quick for thousands of features; None
    when it does not converge.
    """
    start = np.random.default_rng(0).standard_normal(len(gram))
    try:
        vectors: np.ndarray = spla.eigsh(gram, k=1, v0=start)[1]
    except spla.ArpackError:
        return None
    return vectors[:, 0]


PREPARATIONS = {
    "lee-seung": Preparation(
        "Lee–Seung",
        "Grey levels of every image brought to mean 1/4 and deviation 1/4, clipped, in 256 steps.",
        _images,
        _numbers(lee_seung),
    ),
    "equalised": Preparation(
        "Equalised",
        "Grey levels of every image equalised to [0, 1]: a histogram as flat as 256 levels allow.",
        _images,
        _numbers(equalised),
    ),
    "log2": Preparation(
        "log2(x + 1)", "Every value x is replaced by log2(x + 1).", _above_minus_one, _numbers(log2)
    ),
    "off-first": Preparation(
        "First component out",
        "The centred data were projected off their first principal component.",
        _samples,
        _numbers(off_first),
    ),
    "with-header": Preparation(
        "With header fields",
        "The header fields of the samples were taken as further features.",
        _a_header,
        with_header,
    ),
}
"""Every preparation by its name."""
