"""Preparations of data, as in the papers: image normalisation, logarithms, projections and header fields.

Each step is recorded in the dataset and described in its notes.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nspca.data.dataset import Dataset
from nspca.data.findings import Finding
from nspca.data.names import unique_names
from nspca.errors import InvalidData, NotPrepared, shown

LEVELS = 256
"""Number of grey levels of an image."""
DIRECT = 200
"""Samples or features up to which a direct eigensolver is as quick as an iterative one."""
ROUNDING = 2.0**-40
"""Range of a projected feature, relative to its range before, up to which it counts as rounding error and is
set to a constant. Standardising would otherwise magnify the rounding error to variance one.
"""


@dataclass(frozen=True)
class Preparation:
    """A preparation step: its title on a page, a sentence for the notes of the dataset, and two functions.

    ``find_lack(data)`` returns the property that the data lack for this step, as a phrase; empty for none.
    ``apply(data)`` returns the data after this step.
    """

    title: str
    note: str
    find_lack: Callable[[Dataset], str]
    apply: Callable[[Dataset], Dataset]


def prepare(data: Dataset, *names: str) -> Dataset:
    """Return a data set after preparation steps such as image normalisation or a logarithm.

    Parameters
    ----------
    data : Dataset
    *names : str
        Keys of `PREPARATIONS`, applied in this order.

    Returns
    -------
    Dataset
        Its ``prepared`` lists the steps in order.

    Raises
    ------
    InvalidData
        For an unknown name. `NotPrepared`, a subclass, for data that a step cannot be applied to.
    """
    if not isinstance(data, Dataset):
        raise InvalidData(f"A Dataset is prepared, got {type(data).__name__}: make one with nspca.read.")
    for name in names:
        if not isinstance(name, str) or name not in PREPARATIONS:
            raise InvalidData(f"A preparation is one of {', '.join(PREPARATIONS)}, got {shown(name)}.")
        step = PREPARATIONS[name]
        if lack := step.find_lack(data):
            raise NotPrepared(f"“{step.title}” needs {lack}: leave the data as they are.", name)
        done, findings = (*data.prepared, name), (*data.findings, Finding(step.note))
        try:
            data = replace(step.apply(data), prepared=done, findings=findings)
        except InvalidData as error:  # numbers beyond float64
            raise NotPrepared(str(error), name) from None
    return data


def _on_numbers(change: Callable[[Any], Any]) -> Callable[[Dataset], Dataset]:
    def step(data: Dataset) -> Dataset:
        X = data.X if sp.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
        return replace(data, X=change(X))

    return step


def _lacks_images(data: Dataset) -> str:
    dense = not data.is_covariance and not sp.issparse(data.X)
    return "" if data.image_shape and dense else "images that are not a sparse table"


def _lacks_samples(data: Dataset) -> str:
    dense = not data.is_covariance and not sp.issparse(data.X)
    return "" if dense else "a table of samples that is not sparse"


def _lacks_header(data: Dataset) -> str:
    if data.header is None:
        return "header fields, which this copy came without"
    return _lacks_samples(data)


def _lacks_range(data: Dataset) -> str:
    if data.is_covariance:
        return "a table of samples"
    X: Any = data.X  # SciPy has no types
    least = float((X.data if sp.issparse(X) else X).min(initial=0))
    return "" if least > -1 else f"values above -1, the smallest here is {least:g}"


def _scale(X: np.ndarray) -> tuple[np.ndarray, int]:
    """Return X in unit scale (largest absolute entry in [0.5, 1)) and the exponent of two that undoes this.

    Scaling by a power of two is exact. Means and ranges of numbers near the limit of float64 stay finite.
    """
    exponent = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    return np.ldexp(X, -exponent), exponent


def lee_seung(X: np.ndarray) -> np.ndarray:
    """Return the images (rows) with grey levels of mean 1/4 and standard deviation 1/4, clipped to [0, 1].

    The result is rounded down to whole numbers from 0 to 255. A constant image gets the mean.
    """
    X = _scale(X)[0]
    mean, deviation = X.mean(axis=1, keepdims=True), X.std(axis=1, ddof=1, keepdims=True)
    # The mean of equal levels may be a rounding away from them.
    level = (X - mean) / np.where(np.ptp(X, axis=1, keepdims=True) > 0, deviation, np.inf)
    steps: np.ndarray = np.floor((LEVELS - 1) * np.clip(0.25 + 0.25 * level, 0, 1))
    return steps


def equalised(X: np.ndarray) -> np.ndarray:
    """Return the images (rows) after histogram equalisation, with grey levels in [0, 1].

    The mapping is that of MATLAB's `histeq` with 256 levels: each level moves to the level of a flat
    histogram that has the nearest cumulative count. Table 1 of Asteris et al. 2015 is reproduced by it for
    the faces. Other values than whole numbers from 0 to 255 are first scaled linearly to 0-255, over the
    range of the whole table.
    """
    last = LEVELS - 1
    grey = X
    if X.min() < 0 or X.max() > last or not np.array_equal(X, np.round(X)):
        X = _scale(X)[0]
        low, high = X.min(), X.max()
        grey = np.round(last * (X - low) / max(high - low, np.finfo(float).tiny))
    return np.array([_equalise_image(image) for image in grey.astype(np.int64)])


def _equalise_image(image: np.ndarray) -> np.ndarray:
    """Return one image of integer levels 0-255 after histogram equalisation, in [0, 1]."""
    counts = np.bincount(image, minlength=LEVELS)
    reached, wanted = np.cumsum(counts), np.arange(1, LEVELS + 1) * image.size / LEVELS
    slack = np.minimum(np.append(counts[:-1], 0), np.append(0, counts[1:])) / 2
    away = np.round(wanted[:, None] - reached + slack)
    away[away < 0] = image.size  # a target level whose cumulative count is too low is not allowed
    flat: np.ndarray = np.argmin(away, axis=0)[image] / (LEVELS - 1)
    return flat


def log2(X: np.ndarray) -> np.ndarray:
    """Return ``log2(x + 1)`` of every entry; a zero stays a zero, so a sparse table stays sparse."""
    logarithms: np.ndarray = np.log1p(X.astype(np.float64)) / np.log(2)
    return logarithms


def off_first(X: np.ndarray) -> np.ndarray:
    """Return X with the first principal component removed from its centred rows, and the means added again.

    Sigg & Buhmann 2008 do this in Section 5.2: the first component of faces is nonnegative anyway, so the
    sign constraint would change nothing. Constant features stay as they are. A feature that the projection
    removes up to rounding becomes constant.
    """
    varies = X.min(axis=0) < X.max(axis=0)
    if not varies.any():
        return X
    Z, exponent = _scale(X[:, varies])
    mean = Z.mean(axis=0)
    Z = Z - mean
    v = _leading_direction(Z)
    left = Z - np.outer(Z @ v, v)
    left[:, np.ptp(left, axis=0) <= ROUNDING * np.ptp(Z, axis=0)] = 0.0
    done = X.astype(np.float64)
    done[:, varies] = np.ldexp(mean + left, exponent)
    return done


def with_header(data: Dataset) -> Dataset:
    """Return the data set with its header fields as further features.

    The spectra of Asteris et al. 2014 seem to include them: standardised, they reproduce its numbers.
    """
    assert data.header is not None  # checked by _lacks_header
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


def _leading_direction(Z: np.ndarray) -> np.ndarray:
    """Return the leading right singular vector (n,) of Z (m, n), from the smaller of Z'Z and ZZ'.

    The result is deterministic. For thousands of features Lanczos iteration is 10 times as quick as all
    eigenvectors; LAPACK's solver for a part of the spectrum can fail on a cluster of equal values.
    """
    is_wide = Z.shape[0] < Z.shape[1]
    gram = Z @ Z.T if is_wide else Z.T @ Z
    u = None
    if len(gram) > DIRECT:
        with suppress(spla.ArpackError):  # no convergence
            u = spla.eigsh(gram, k=1, v0=np.random.default_rng(0).standard_normal(len(gram)))[1][:, 0]
    if u is None:
        u = np.linalg.eigh(gram)[1][:, -1]
    v = Z.T @ u if is_wide else u
    unit: np.ndarray = v / np.linalg.norm(v)
    return unit


PREPARATIONS = {
    "lee-seung": Preparation(
        "Lee–Seung",
        "Grey levels of every image brought to mean 1/4 and deviation 1/4, clipped, in 256 steps.",
        _lacks_images,
        _on_numbers(lee_seung),
    ),
    "equalised": Preparation(
        "Equalised",
        "In every image the grey levels are spread evenly from 0 to 1, so that all are about equally "
        "frequent (histogram equalisation).",
        _lacks_images,
        _on_numbers(equalised),
    ),
    "log2": Preparation(
        "log2(x + 1)", "Every value x is replaced by log2(x + 1).", _lacks_range, _on_numbers(log2)
    ),
    "off-first": Preparation(
        "First component out",
        "The centred data were projected off their first principal component.",
        _lacks_samples,
        _on_numbers(off_first),
    ),
    "with-header": Preparation(
        "With header fields",
        "The header fields of the samples were taken as further features.",
        _lacks_header,
        with_header,
    ),
}
"""Every preparation by its name."""
