"""Covariance matrices of problems: A itself, or data Z with A = Z'Z / m, dense or sparse.

A is never formed for large n.

Everything here is in *unit scale*: the input times a power of two that brings its largest entry to [0.5, 1),
so that 1e-150 and 1e150 work like 1. Multiplying by a power of two is exact; `unit` brings numbers back to
the user's scale.

A `Problem` holds one `Covariance`, made by `nspca.covariance.inputs`. Methods and bounds ask it for products,
columns and blocks, and `explained` gives the values that are shown.
"""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

from nspca.covariance.linalg import (
    Array,
    Indices,
    largest_eigenpairs,
    normalised_columns,
    one_thread_if_quick,
    oriented,
)
from nspca.covariance.moments import squares
from nspca.errors import InvalidProblem, NotConverged, Refused
from nspca.progress import Event, tell

T = TypeVar("T")
DENSE_LIMIT = 4000
"""Largest n (or m) for which an n x n matrix is formed: 128 MB, and a Cholesky factorisation of about a
second.
"""
WHOLE_LIMIT = 10_000
"""Largest n for which A is formed whole when dense data have at least as many rows: 800 MB, no more than the
data. After that a product costs a share n / 2m of one with the data.
"""
FORMED, LEAST_ROWS = 2**34, 512
"""A is formed from blocks of rows, and progress is reported before each. `FORMED` is the number of
multiplications in a block, about a second, and `LEAST_ROWS` the fewest rows.
"""
DIRECT_LIMIT = 1000
"""Up to this size a full symmetric eigensolver is as quick as an iterative one and does not depend on a
start.
"""
RESIDUAL = 1e-8
"""Largest accepted |Au - lu| relative to l1. Solvers only start from u and bounds prove themselves."""
LEAST = 1e-290
"""Smallest variance of data at unit scale. Squares below it have lost digits, so they count as 0."""
HASHED = 2**16
"""Number of entries of a table that are hashed at a time."""
RANK_TOLERANCE = 1e-13
"""Eigenvalues below this times l1 are rounding: they are returned as zero."""


class Covariance:
    """A symmetric positive semidefinite matrix in unit scale, made by the functions of
    `nspca.covariance.inputs`.

    Attributes
    ----------
    n : int
        Number of features.
    shape : tuple of int
        Shape of the array that the user gave.
    source : str
        "data" or "covariance".
    center, scale : bool
        Whether columns were centred, and divided by their standard deviations.
    digest : str
        Content hash of the array that the user gave; empty for a part of a matrix.
    exponent : int
        A in the user's units is ``2**exponent`` times this matrix.
    client : distributed.Client or None
        Dask client whose workers read the data, and help to prove bounds; None where no workers read them.
    nu : float
        ``A + nu I`` is positive semidefinite: 0 for data, the size of a rounding error for a given matrix.
    shift : float
        Number added to the diagonal of the given matrix to make it positive semidefinite; 0 for most.
    relief : float
        At most the smallest amount by which a diagonal entry grew, rounding included. For unit x the given
        matrix explains at most ``x'Ax - relief``.
    """

    client: Any = None
    nu = 0.0
    shift = 0.0
    relief = 0.0

    def __init__(
        self, n: int, shape: Sequence[int], source: str, center: bool, scale: bool, digest: str, exponent: int
    ) -> None:
        self.n, self.shape, self.source = int(n), tuple(int(s) for s in shape), source
        self.center, self.scale, self.digest, self.exponent = bool(center), bool(scale), digest, int(exponent)
        self._pairs: tuple[Array, Array] | None = None
        self._kept: dict[Hashable, Any] = {}
        if abs(self.exponent) > 1000:
            raise InvalidProblem(
                "variances must fit float64 (about 1e-300 to 1e300), got data that puts them near "
                f"2^{self.exponent}; multiply the data by a constant first"
            )

    @property
    def unit(self) -> float:
        """Return the units of the data per unit of this matrix, a power of two."""
        return float(np.ldexp(1.0, self.exponent))

    def product(self, X: Array) -> Array:
        """Return ``A @ X`` for X (n,) or (n, r)."""
        raise NotImplementedError

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``, (n, len(features))."""
        raise NotImplementedError

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``."""
        raise NotImplementedError

    def quadratic(self, x: Array) -> float:
        """Return ``x'Ax`` in the quickest way, for comparing candidates."""
        support = np.flatnonzero(x)
        return float(x[support] @ self.block(support) @ x[support])

    def explained(self, x: Array) -> float:
        """Return ``x'Ax`` from the data itself, using only the support of x. This number is shown
        to users.
        """
        return self.quadratic(x)

    def given_product(self, X: Array) -> Array:
        """Return the product of the matrix as given, without its shift, with X (n, r)."""
        return self.product(X)

    def to_unit(self, value: float, count: int = 1) -> float:
        """Return the least that this matrix explains, in unit scale, where the given matrix explains `value`.

        Parameters
        ----------
        value : float
            Explained variance in the units of the data.
        count : int
            Number of unit vectors that explain it together.
        """
        return value / self.unit + count * self.relief

    def restrict(self, features: Indices) -> "Covariance":
        """Return the matrix of the given features alone."""
        raise NotImplementedError

    def _part_recipe(self, features: Indices) -> dict[str, Any]:
        """Return the arguments of `Covariance` for the data of some features, which have no digest."""
        return {
            "shape": (self.shape[0], len(features)),
            "source": "data",
            "center": self.center,
            "scale": self.scale,
            "digest": "",
            "exponent": self.exponent,
        }

    def _as_matrix(self, B: Array, **more: Any) -> "MatrixCovariance":
        """Return the block B of this matrix as a matrix in memory, which has no digest."""
        recipe: dict[str, Any] = {"source": "covariance", "center": False, "scale": False, "digest": ""}
        return MatrixCovariance(B, shape=B.shape, exponent=self.exponent, **recipe, **more)

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        raise NotImplementedError

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Return which features (n,) have a variance. For data this includes variances too small
        for float64.
        """
        return self.diagonal != 0

    @property
    def trace(self) -> float:
        """Return the sum of the variances."""
        return float(self.diagonal.sum())

    @property
    def most_formed(self) -> int:
        """Return the largest n for which the whole of A is formed."""
        return DENSE_LIMIT

    @cached_property
    def matrix(self) -> Array:
        """Return A as (n, n); refused for n above `most_formed`."""
        if self.n > self.most_formed:
            raise Refused(
                f"an n x n matrix needs n <= {self.most_formed}, got n = {self.n}; use products, columns or "
                "blocks"
            )
        with one_thread_if_quick(self.n**2 * self.shape[0]):
            return self._formed()

    def _formed(self) -> Array:
        """Return the whole of A; `matrix` calls this once."""
        raise NotImplementedError

    def leading(self, d: int) -> tuple[Array, Array]:
        """Return the d largest eigenvalues (d,) and eigenvectors (n, d), decreasing, after a residual check.

        Columns whose eigenvalue is zero to rounding are zero, so ``U * sqrt(l)`` is right for any d.
        """
        d = min(int(d), self.n)
        if self._pairs is None or self._pairs[0].size < d:
            with one_thread_if_quick(self.n * min(self.n, self.shape[0]) ** 2):
                self._pairs = self._checked(*self._eigenpairs(d))
        return self._pairs[0][:d], self._pairs[1][:, :d]

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, computed at the first call with `key` and stored with the matrix."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _checked(self, values: Array, vectors: Array) -> tuple[Array, Array]:
        """Return eigenpairs with rounding set to zero; raise `NotConverged` when a residual is too large."""
        values = np.maximum(values, 0.0)
        zero = values <= RANK_TOLERANCE * values[0] if values.size else np.zeros(0, bool)
        values, vectors = np.where(zero, 0.0, values), np.where(zero, 0.0, oriented(vectors))
        residual = np.linalg.norm(self.product(vectors) - vectors * values, axis=0).max(initial=0.0)
        if residual > RESIDUAL * max(values[0], 1e-300):
            raise NotConverged(
                f"leading eigenpairs must have a residual below {RESIDUAL:g} l1, got "
                f"{residual / values[0]:.1e} l1"
            )
        return values, vectors

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return d leading eigenpairs, decreasing and not checked; `leading` calls this."""
        if self.n <= DIRECT_LIMIT:
            return largest_eigenpairs(self.matrix, d)
        if not np.any(self.diagonal):
            return np.zeros(d), np.zeros((self.n, d))
        operator = spla.LinearOperator(
            (self.n, self.n), matvec=self.product, matmat=self.product, dtype=np.float64
        )
        start = np.random.default_rng(0).standard_normal(self.n)
        values, vectors = spla.eigsh(operator, k=d, v0=start, which="LA", maxiter=50 * self.n)
        return values[::-1], vectors[:, ::-1]


class MatrixCovariance(Covariance):
    """A covariance given as a dense matrix A (n, n), or the part of a matrix on some features."""

    whole: "tuple[Covariance, Indices] | None" = None
    """The matrix of which this one is a part, and the features, where products with the whole are cheap."""

    def __init__(
        self, A: Array, nu: float = 0.0, shift: float = 0.0, added: Array | None = None, **recipe: Any
    ) -> None:
        """Hold A (n, n), which is the given matrix plus `added` (n,) on its diagonal where that is given."""
        super().__init__(n=len(A), **recipe)
        self.A, self.nu, self.shift, self.added = A, float(nu), float(shift), added
        if added is not None:
            self.relief = float(np.nextafter(added.min(), -np.inf))  # the subtraction rounds to nearest

    def product(self, X: Array) -> Array:
        """Return ``A @ X``."""
        return self.A @ X

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``."""
        return self.A[:, features]

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``."""
        return self.A[np.ix_(features, features)]

    def _formed(self) -> Array:
        """Return the whole of A."""
        return self.A

    def explained(self, x: Array) -> float:
        """Return what x explains of the matrix as given, without what was added to its diagonal."""
        lost = 0.0 if self.added is None else float(np.square(x) @ self.added)
        return self.quadratic(x) - lost

    def given_product(self, X: Array) -> Array:
        """Return the product of the matrix as given with X, without what was added."""
        return self.A @ X if self.added is None else self.A @ X - self.added[:, None] * X

    def restrict(self, features: Indices) -> "MatrixCovariance":
        """Return the matrix of the given features alone."""
        added = None if self.added is None else self.added[features]
        return self._as_matrix(self.block(features), nu=self.nu, shift=self.shift, added=added)

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        return np.diag(self.A).copy()


class DataCovariance(Covariance):
    """A = Z'Z / m with Z centred and scaled float64. A is defined as the Gram matrix of exactly that Z."""

    def __init__(self, Z: Any, varies: NDArray[np.bool_], **recipe: Any) -> None:
        super().__init__(n=Z.shape[1], **recipe)
        self.Z, self.m, self._varies = Z, Z.shape[0], varies

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Return which features (n,) are not 0; where A is centred, those that do not hold one value."""
        return self._varies

    @property
    def most_formed(self) -> int:
        """Return the largest n for which the whole of A is formed."""
        return WHOLE_LIMIT if self.m >= self.n else DENSE_LIMIT

    @cached_property
    def _small(self) -> bool:
        """Tell whether A is formed whole and used in place of Z."""
        # Once n is not above 2m, a product with A (n^2) costs no more than one with Z and then Z' (2mn).
        return self.n <= min(self.most_formed, 2 * self.m)

    def product(self, X: Array) -> Array:
        """Return ``A @ X``."""
        return self.matrix @ X if self._small else self._cross(self.scores(X))

    def _selected(self, features: Indices | Sequence[int]) -> Array:
        """Return the columns of Z for some features, (m, p), as a dense array."""
        return self.Z[:, features]

    def dense_rows(self, which: slice = slice(None)) -> Array:
        """Return some rows of Z, by default all, as a dense array."""
        return self.Z[which]

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``."""
        if self._small:
            return self.matrix[:, features]
        return self._cross(self._selected(features))

    def _cross(self, S: Array) -> Array:
        """Return ``Z'S / m`` for S (m,) or (m, r)."""
        return self.Z.T @ S / self.m

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``."""
        if self._small:
            return self.matrix[np.ix_(features, features)]
        S = self._selected(features)
        return S.T @ S / self.m

    def _formed(self) -> Array:
        """Return the whole of A."""
        S = self.Z if isinstance(self.Z, np.ndarray) else self._selected(np.arange(self.n))
        step = max(LEAST_ROWS, FORMED // self.n**2)
        if self.m <= step:
            return S.T @ S / self.m
        total = np.zeros((self.n, self.n))
        for start in range(0, self.m, step):
            tell(Event("covariance", start, self.m))
            total += S[start : start + step].T @ S[start : start + step]
        return total / self.m

    def quadratic(self, x: Array) -> float:
        """Return ``x'Ax`` in the quickest way, for comparing candidates."""
        return super().quadratic(x) if self._small else self.explained(x)

    def explained(self, x: Array) -> float:
        """Return ``x'Ax`` as the mean square of the scores."""
        support = np.flatnonzero(x)
        scores = self._selected(support) @ x[support]
        return float(scores @ scores) / self.m

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale."""
        return self.Z @ X

    def restrict(self, features: Indices) -> "DataCovariance":
        """Return the covariance of the given features alone."""
        Z, varies = self._selected(features), self.varies[features]
        return DataCovariance(Z, varies, **self._part_recipe(features))

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        return np.einsum("ij,ij->j", self.Z, self.Z) / self.m

    def gram(self) -> Array:
        """Return ``ZZ' / m`` (m, m), which has the nonzero eigenvalues of A."""
        return self.Z @ self.Z.T / self.m

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return leading eigenpairs, by ``ZZ'`` where there are few samples."""
        if not (self.m < self.n and self.m <= DIRECT_LIMIT):
            return super()._eigenpairs(d)
        r = min(d, self.m)
        values, left = largest_eigenpairs(self.gram(), r)
        vectors = normalised_columns(self._cross(left))
        padding = d - r
        return np.pad(values, (0, padding)), np.pad(vectors, ((0, 0), (0, padding)))


class SparseCovariance(DataCovariance):
    """Covariance of sparse X with implicit centring: ``Z = (X - 1 mean') * weight`` is never formed whole.

    The mean of a column is at most its standard deviation, so the difference loses no digits.
    """

    def __init__(self, X: Any, mean: Array, weight: Array, varies: NDArray[np.bool_], **recipe: Any) -> None:
        super().__init__(X, varies, **recipe)
        self.mean, self.weight = mean, weight

    @property
    def most_formed(self) -> int:
        """Return the largest n for which the whole of A is formed, from a dense copy of the data."""
        return DENSE_LIMIT

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale."""
        Y = (X.T * self.weight).T
        return self.Z @ Y - self.mean @ Y

    def _selected(self, features: Indices | Sequence[int]) -> Array:
        """Return the columns of Z for some features, (m, p), as a dense array."""
        return (self.Z[:, features].toarray() - self.mean[features]) * self.weight[features]

    def dense_rows(self, which: slice = slice(None)) -> Array:
        """Return some rows of Z, by default all, as a dense array."""
        return (self.Z[which].toarray() - self.mean) * self.weight

    def _cross(self, S: Array) -> Array:
        """Return ``Z'S / m`` for S (m,) or (m, r)."""
        centred = self.Z.T @ S - np.multiply.outer(self.mean, S.sum(axis=0))
        return (centred.T * self.weight).T / self.m

    def restrict(self, features: Indices) -> "SparseCovariance":
        """Return the covariance of the given features alone."""
        X, parts = self.Z[:, features], (self.mean[features], self.weight[features], self.varies[features])
        part = SparseCovariance(X, *parts, **self._part_recipe(features))
        if self._small:  # forming A again from sparse data would take seconds for thousands of words
            part.matrix = self.matrix[np.ix_(features, features)]
        return part

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        return squares(self.Z, self.mean) / self.m * self.weight**2

    def gram(self) -> Array:
        """Return ``ZZ' / m`` (m, m), which has the nonzero eigenvalues of A."""
        return sparse_gram(self.Z, self.mean, self.weight)


def sparse_gram(X: sp.csr_array, mean: Array, weight: Array) -> Array:
    """Return ``ZZ' / m`` (m, m) for ``Z = (X - 1 mean') * weight`` and sparse X (m, n)."""
    X = X.multiply(weight).tocsr()
    shift = mean * weight
    cross = X @ shift
    return ((X @ X.T).toarray() - cross[:, None] - cross[None, :] + shift @ shift) / X.shape[0]


def without_underflow(A: Covariance, values: Array) -> Array:
    """Return values x'Ax at unit scale, with 0 for those below `LEAST`, which underflow has spoilt."""
    return np.where(values < LEAST, 0.0, values) if A.source == "data" else values


def canonical(X: sp.spmatrix) -> sp.csr_array:
    """Return X as a float64 CSR copy, `summed` and with sorted indices, so that equal data have equal
    hashes.
    """
    X = summed(X).astype(np.float64)
    X.sort_indices()
    return X


def summed(X: sp.spmatrix) -> sp.csr_array:
    """Return X as a CSR copy with duplicates summed and zeros removed.

    Duplicates are summed in their own type, as `toarray` does. So the result is equal whether or not the
    caller has summed them.
    """
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def dense_digest(X: Array) -> str:
    """Return the content hash of a dense array; certificates and specs name their data by it."""
    m, n = X.shape
    digest, rows = hashlib.sha256(f"dense {m} {n}".encode()), max(1, HASHED // max(n, 1))
    for start in range(0, m, rows):
        # Adding 0 leaves no negative zero.
        digest.update((np.ascontiguousarray(X[start : start + rows], dtype="<f8") + 0.0).data)
    return digest.hexdigest()


def sparse_digest(X: sp.csr_array) -> str:
    """Return the content hash of a canonical CSR array; certificates and specs name their data by it."""
    m, n = X.shape
    parts = (X.indptr.astype("<i8"), X.indices.astype("<i8"), X.data.astype("<f8"))
    return hashlib.sha256(f"sparse {m} {n}".encode() + b"".join(part.tobytes() for part in parts)).hexdigest()
