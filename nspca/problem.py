"""Problems: maximise x'Ax over unit vectors with at most k nonzero entries, nonnegative or of any sign.

Users and specs make a `Problem`. `nspca.solve`, methods, bounds and results take it as their first argument.
"""

import operator
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nspca.covariance.covariance import Covariance
from nspca.covariance.data import RowsCovariance, without_underflow
from nspca.covariance.inputs import SHIFT, from_blocks, from_data, from_matrix
from nspca.covariance.linalg import Array
from nspca.covariance.numbers import real_numbers
from nspca.errors import InvalidProblem, shown, within_memory
from nspca.presentation import drawing, phrases
from nspca.progress import Report, telling
from nspca.validation.features import Features, features_of, features_on_disk, weights_of
from nspca.validation.options import flag, is_whole, one_of

LARGEST = 1e50
"""Largest accepted entry of a component (which has length 1): fourth powers of larger ones overflow."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Sparse PCA of one covariance: ``max x'Ax``, ``|x| = 1``, at most k nonzeros, ``x >= 0`` if `nonneg`.

    Problems are made by `from_data`, `from_shards` or `from_covariance`, and validated once. `k` may be a
    tuple of sizes: then r disjoint components with that many entries each are sought jointly.

    Features that are `forced` may be used freely and count among the k whether they are used or not. So at
    most `room` other features are used. `features` holds names of features and their image shape, where
    known; results are drawn with them.
    """

    covariance: Covariance
    k: int | tuple[int, ...]
    nonneg: bool = True
    forced: tuple[int, ...] = ()
    features: Features | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.covariance, Covariance):
            kind = type(self.covariance).__name__
            raise InvalidProblem(
                f"a problem is made with Problem.from_data or Problem.from_covariance, got a {kind} in place "
                "of the covariance"
            )
        object.__setattr__(self, "k", _sizes(self.k, self.covariance.n))
        object.__setattr__(self, "nonneg", flag("nonneg", self.nonneg))
        object.__setattr__(self, "forced", _forced(self.forced, self.k, self.covariance.n))
        if self.features is not None and len(self.features.names) != self.n:  # a part of the matrix
            object.__setattr__(self, "features", None)

    def __repr__(self) -> str:
        """Describe the problem in two lines: the component that is sought, and the size of the data."""
        A = self.covariance
        m, n = A.shape
        subject = phrases.subject(A.source, A.center, A.scale, weighted=bool(A.weights))
        what = f"{n} features" if A.source == "covariance" else f"{m} samples x {n} features"
        return f"Problem: {phrases.components(self.sizes, self.nonneg, self.forced, subject)}\n{what}"

    def _repr_html_(self) -> str:
        return drawing.block(repr(self))

    @classmethod
    @within_memory()
    def from_data(
        cls,
        X: Any,
        k: int | tuple[int, ...],
        nonneg: bool = True,
        center: bool = True,
        scale: bool = False,
        forced: Any = (),
        report: Report | None = None,
        sample_weight: Any = None,
    ) -> "Problem":
        """Return the problem of data X (m, n), an array, data frame or AnnData; ``A = Z'Z / m``.

        Parameters
        ----------
        X : (m, n) array, data frame, scipy.sparse matrix or AnnData of finite numbers, or a `nspca.Dataset`
            Results use the names of columns, and the names and image shape of a data set. Certificates for
            AnnData are about its X: ``nspca.verify(adata.X, certificate)``. A large .npy file opened with
            ``numpy.load(path, mmap_mode="r")``, or a data set of an HDF5 file opened with h5py, is read in
            blocks and not copied if it has at least as many rows as columns.
        k : int or tuple of int
            Largest number of nonzero entries, 1 <= k <= n.
        nonneg : bool
            Ask for nonnegative components.
        center : bool
            Subtract column means (implicitly for sparse X).
        scale : bool
            Then divide by the population standard deviations; constant columns are refused.
        forced : sequence of int
            Features, by number from 0, that may be used freely and count among the k in any case; k at most.
        report : callable, optional
            ``report(event)`` for every block of the first pass over a table that is read in blocks; may raise
            `Cancelled`. By default the hook of `telling` around the call, if any.
        sample_weight : (m,) array of numbers of at least 0, optional
            Weights w of the samples. The mean is then ``sum w x / sum w`` and A is
            ``sum w (x - mean)(x - mean)' / sum w``, as if row i were repeated w_i times. Samples of weight 0
            are left out. By default the `weights` of a `nspca.Dataset`, if it has some. Certificates are
            about data and weights: ``nspca.verify(X, certificate, sample_weight=w)``.

        Raises
        ------
        InvalidProblem
            The message says what was required, what was got and the way out.
        """
        sample_weight = weights_of(X) if sample_weight is None else sample_weight
        X, features = features_of(X)
        names = getattr(X, "columns", None) if features is None else features.names
        how = flag("center", center), flag("scale", scale), names
        with nullcontext() if report is None else telling(report):
            A = from_data(X, *how, sample_weight)
        return cls(A, k, nonneg, forced, features)

    @classmethod
    @within_memory()
    def from_covariance(
        cls,
        A: Any,
        k: int | tuple[int, ...],
        nonneg: bool = True,
        forced: Any = (),
        repair: str | None = None,
    ) -> "Problem":
        """Return the problem of a symmetric positive semidefinite matrix A (n, n).

        Parameters
        ----------
        A : (n, n) array, data frame, scipy.sparse matrix, or a `nspca.Dataset` that is a covariance
            Used as given.
        k, nonneg, forced
            As for `from_data`.
        repair : "shift" or None
            "shift" accepts a matrix whose smallest eigenvalue is as far below zero as rounding to single
            precision explains. A multiple of the identity is added for the search and the proof. As
            ``x'(A + sI)x - s = x'Ax`` for unit x, values and bounds are stated for A as given.

        Raises
        ------
        InvalidProblem
            Also when A has negative eigenvalues beyond the rounding of its entries. The message names
            `repair` where that helps, and otherwise the multiple of the identity to add.
        """
        if repair is not None:
            one_of("repair", repair, (SHIFT,))
        A, features = features_of(A, covariance=True)
        return cls(from_matrix(A, repair), k, nonneg, forced, features)

    @classmethod
    @within_memory()
    def from_shards(
        cls,
        folder: Any,
        k: int | tuple[int, ...],
        nonneg: bool = True,
        center: bool = True,
        scale: bool = False,
        forced: Any = (),
        client: Any = None,
        report: Report | None = None,
    ) -> "Problem":
        """Return the problem of data that stay on disk, in a folder made by ``python -m nspca shard``.

        Certificates are those of equal sparse data in memory.

        Parameters
        ----------
        folder : str, Path or nspca.Shards
            Any other object with a `shape`, `digest` and `largest` value, and `blocks()` of rows in CSR form
            is accepted. Its `feature_names`, if any, are used by results, and read at the first use.
        k, nonneg, center, scale, forced
            As for `from_data`.
        client : distributed.Client, optional
            Client of a Dask cluster whose workers read the shards, now and in every pass, and share the work
            on proofs. The folder must be at one path for all of them. Results are bitwise equal for any
            number of workers.
        report : callable, optional
            ``report(event)`` for every block of the first pass; may raise `Cancelled`. The default is that of
            `from_data`.

        Raises
        ------
        InvalidData
            For a folder that is incomplete, damaged, or does not match its record. Blocks are checked when
            they are first read.
        """
        if isinstance(folder, str | Path):
            from nspca.shards import Shards

            folder = Shards(folder)
        how = flag("center", center), flag("scale", scale)
        with nullcontext() if report is None else telling(report):
            A = from_blocks(folder, *how, client)
        return cls(A, k, nonneg, forced, features_on_disk(folder))

    @property
    def n(self) -> int:
        """Return the number of features."""
        return self.covariance.n

    @property
    def size(self) -> int:
        """Return the k of a problem for one component.

        Raises
        ------
        InvalidProblem
            When k is a tuple of sizes.
        """
        if isinstance(self.k, tuple):
            raise InvalidProblem(f"one k is required here, got sizes {self.k}; use solve for joint problems")
        return self.k

    @property
    def joint(self) -> bool:
        """Tell whether k is a tuple, so that several components are sought together."""
        return isinstance(self.k, tuple)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the k of every component sought together; for one component, a tuple of one."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    @property
    def room(self) -> int:
        """Return how many features a component may have besides the forced ones."""
        return self.size - len(self.forced)

    @property
    def usable(self) -> np.ndarray:
        """Return the features that a component may use, the forced ones first."""
        if not self.forced:
            return np.arange(self.n)
        others = np.setdiff1d(np.arange(self.n), self.forced) if self.room else ()
        return np.append(self.forced, others).astype(int)

    def with_k(self, k: int | tuple[int, ...]) -> "Problem":
        """Return the problem with the same matrix and another sparsity."""
        return replace(self, k=k)

    def value(self, x: Array) -> float:
        """Return the explained variance ``x'Ax`` of x (n,) on the full A, in the units of the data."""
        explained = np.asarray(self.covariance.explained(self._component(x)))
        return float(without_underflow(self.covariance, explained)) * self.covariance.unit

    def scores(self, X: Array) -> Array:
        """Return the samples along components X (n,) or (n, r): ``Z @ X``, Z centred (scaled), in data units.

        Their mean square is `value`, by the weights of samples that have some. Samples of weight 0 are left
        out. A problem made from a covariance has no samples and raises `InvalidProblem`.
        """
        if not isinstance(self.covariance, RowsCovariance):
            raise InvalidProblem("scores need the samples, got a covariance; make the problem with from_data")
        X = self._numbers(X)
        if X.ndim not in (1, 2) or len(X) != self.n or not moderate(X):
            raise InvalidProblem(
                f"components of this problem have n = {self.n} finite entries of at most {LARGEST:g}, got an "
                f"array of shape {X.shape}"
            )
        scores = (self.covariance.scores(X).T / self.covariance.rows.factors).T
        return np.ldexp(scores, self.covariance.exponent // 2)

    def violation(self, x: Array) -> float:
        """Return how far x (n,) is from feasible: 0 for a unit vector of right sign, at most k nonzeros.

        The distance is the largest of three numbers: ``| |x| - 1 |``; for nonnegative problems the size of
        the most negative entry; and the norm of the entries beyond the k largest, with forced ones set aside.
        """
        x = self._component(x)
        size = np.sort(np.abs(np.delete(x, list(self.forced))))
        beyond = float(np.linalg.norm(size[: max(x.size - max(self.sizes), 0)]))
        negative = float(max(0.0, -x.min(initial=0.0))) if self.nonneg else 0.0
        return max(abs(float(np.linalg.norm(x)) - 1.0), negative, beyond)

    def _numbers(self, x: Any) -> Array:
        return real_numbers(x, "a component", f"give its n = {self.n} numbers", "fill them in")

    def _component(self, x: Any) -> Array:
        x = self._numbers(x)
        if x.shape != (self.n,) or not moderate(x):
            beyond = f"some of them not finite or above {LARGEST:g}"
            numbers = beyond if x.shape == (self.n,) else f"an array of shape {x.shape}"
            raise InvalidProblem(
                f"a component of this problem must be n = {self.n} finite numbers, got {numbers}"
            )
        return x

    @property
    def leading_eigenvalue(self) -> float:
        """Return the leading eigenvalue l1 of A, in the units of the data."""
        return (float(self.covariance.leading(1)[0][0]) - self.covariance.relief) * self.covariance.unit

    @property
    def total_variance(self) -> float:
        """Return the total variance tr A, in the units of the data."""
        return (self.covariance.trace - self.n * self.covariance.relief) * self.covariance.unit


def moderate(X: Array) -> bool:
    """Tell whether all entries are finite and at most `LARGEST` in size."""
    return bool(np.abs(X).max(initial=0.0) <= LARGEST)


def _sizes(k: int | tuple[int, ...], n: int) -> int | tuple[int, ...]:
    """Return a checked k: a whole number, or a tuple of sizes that add up to at most n."""
    if isinstance(k, tuple | list):
        sizes = tuple(_size(size, n) for size in k)
        if not sizes or sum(sizes) > n:
            raise InvalidProblem(
                f"sizes of disjoint components must be at least one number and add up to at most n = {n}, "
                f"got {shown(k)}"
            )
        return sizes
    return _size(k, n)


def _forced(forced: Any, k: Any, n: int) -> tuple[int, ...]:
    found = [*forced] if isinstance(forced, Iterable) and not isinstance(forced, str) else [forced]
    wrong = [one for one in found if not is_whole(one) or not 0 <= one < n]
    if wrong:
        raise InvalidProblem(
            f"forced features are given by numbers from 0 to {n - 1}, got {shown(wrong[0])}; leave it out"
        )
    features = tuple(sorted({int(one) for one in found}))
    if features and isinstance(k, tuple):
        raise InvalidProblem(f"features are forced into one component, got sizes {shown(k)}; ask for one k")
    if features and len(features) > k:
        raise InvalidProblem(
            f"k counts the forced features, so it must be at least {len(features)}, got {k}; force fewer"
        )
    return features


def _size(k: Any, n: int) -> int:
    try:
        size = 0 if isinstance(k, bool | np.bool_) else operator.index(k)
    except TypeError:
        size = 0
    if not 1 <= size <= n:
        raise InvalidProblem(f"k must be a whole number between 1 and n = {n}, got {shown(k)}")
    return size
