"""The covariance matrix of a problem, which is never formed for large n, and that of a matrix in memory.

Covariances of data in memory are in `nspca.covariance.data`. Everything here is in *unit scale*: the input
times a power of two that brings its largest entry to [0.5, 1), so that 1e-150 and 1e150 work like 1. For
centred data the largest entry is that of the columns that do not hold one value. Multiplying by a power of
two is exact, and `unit` brings numbers back to the user's scale.

A `Problem` holds one `Covariance`, made by `nspca.covariance.inputs`. Methods and bounds ask it for products,
columns and blocks, and `explained` gives the values that are shown.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

from nspca.covariance.linalg import Array, Indices, largest_eigenpairs, one_thread_if_quick, oriented
from nspca.errors import InvalidProblem, NotConverged, Refused

T = TypeVar("T")
DENSE_LIMIT = 4000
"""Largest n (or m) for which an n x n matrix is formed: 128 MB, and a second for a Cholesky factor."""
DIRECT_LIMIT = 1000
"""Up to this size a full symmetric eigensolver is as quick as an iterative one, and needs no start."""
TOGETHER = 16
"""Eigenpairs that a factorisation gives at once, in which more of them take hardly longer."""
RESIDUAL = 1e-8
"""Largest accepted |Au - lu| relative to l1. Solvers only start from u and bounds prove themselves."""
MOST_EXPONENT = 1000
"""Largest power of two, up or down, near which variances may lie: float64 holds them with room to spare."""
RANK_TOLERANCE = 1e-13
"""Eigenvalues below this times l1 are rounding: they are returned as zero."""


class Covariance:
    """A symmetric positive semidefinite matrix in unit scale, made by `nspca.covariance.inputs`.

    The attributes from `small` to `Z` say what the matrix can do, and what that costs.

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
    weights : str
        Content hash of the weights of the samples; empty where they have none.
    exponent : int
        A in the user's units is ``2**exponent`` times this matrix.
    nonzeros : int
        Number of entries of the data, for sparse data of those that are not 0.
    small : bool
        Whether A is formed whole and used in place of the data.
    most_formed : int
        The largest n for which the whole of A is formed.
    cheap_blocks : bool
        Whether a block of A costs no pass over many rows.
    has_samples : bool
        Whether the samples are in memory, or may be brought there.
    on_disk : bool
        Whether the samples are read from disk in each pass.
    Z : (m, n) float64 or None
        Dense data that are held in memory, None for other data.
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

    small, cheap_blocks, has_samples, on_disk = True, True, False, False
    most_formed = DENSE_LIMIT
    Z: Array | None = None
    client: Any = None
    nu = 0.0
    shift = 0.0
    relief = 0.0

    def __init__(
        self,
        n: int,
        shape: Sequence[int],
        source: str,
        center: bool,
        scale: bool,
        digest: str,
        exponent: int,
        weights: str = "",
    ) -> None:
        self.n, self.shape, self.source = int(n), tuple(int(s) for s in shape), source
        self.center, self.scale, self.digest, self.exponent = bool(center), bool(scale), digest, int(exponent)
        self.weights, self.nonzeros = weights, self.shape[0] * self.n
        self._pairs: dict[int, tuple[Array, Array, Array]] = {}
        self._kept: dict[Hashable, Any] = {}
        if abs(self.exponent) > MOST_EXPONENT:
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
        """Return ``x'Ax`` from the data itself, by the support of x alone. Users see this number."""
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
        """Return which features (n,) have a variance, for data also one too small for float64."""
        return self.diagonal != 0

    @property
    def trace(self) -> float:
        return float(self.diagonal.sum())

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
        raise NotImplementedError

    def leading(self, d: int) -> tuple[Array, Array]:
        """Return the d largest eigenvalues (d,) and eigenvectors (n, d), decreasing, after a residual check.

        Columns whose eigenvalue is zero to rounding are zero, so ``U * sqrt(l)`` is right for any d.
        """
        d = min(int(d), self.n)
        # what is asked of a factorisation may not depend on what was asked before
        count = min(-(-d // TOGETHER) * TOGETHER, self.n) if self.is_factorised else d
        key = count if self.is_factorised else 0
        if key not in self._pairs or self._pairs[key][0].size < d:
            with one_thread_if_quick(self.n * min(self.n, self.shape[0]) ** 2):
                values, vectors = self._without_rounding(*self._eigenpairs(count))
                self._pairs[key] = values, vectors, self._residuals(values, vectors)
        values, vectors, residuals = self._pairs[key]
        residual = residuals[:d].max(initial=0.0)
        if residual > RESIDUAL * max(values[0], 1e-300):
            raise NotConverged(
                f"leading eigenpairs must have a residual below {RESIDUAL:g} l1, got "
                f"{residual / values[0]:.1e} l1"
            )
        return values[:d], vectors[:, :d]

    @property
    def is_factorised(self) -> bool:
        """Return whether leading eigenpairs come from a factorisation, and not from products with vectors."""
        return self.n <= DIRECT_LIMIT

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return ``make()``, computed at the first call with `key` and stored with the matrix."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _without_rounding(self, values: Array, vectors: Array) -> tuple[Array, Array]:
        values = np.maximum(values, 0.0)
        zero = values <= RANK_TOLERANCE * values[0] if values.size else np.zeros(0, bool)
        return np.where(zero, 0.0, values), np.where(zero, 0.0, oriented(vectors))

    def _residuals(self, values: Array, vectors: Array) -> Array:
        """Return ``|Au - lu|`` (d,) of eigenpairs, which `leading` checks."""
        return np.linalg.norm(self.product(vectors) - vectors * values, axis=0)

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return d leading eigenpairs, decreasing and not checked; `leading` calls this."""
        if self.is_factorised:
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
        return self.A @ X

    def columns(self, features: Indices | Sequence[int]) -> Array:
        return self.A[:, features]

    def block(self, features: Indices) -> Array:
        return self.A[np.ix_(features, features)]

    def _formed(self) -> Array:
        return self.A

    def explained(self, x: Array) -> float:
        """Return what x explains of the matrix as given, without what was added to its diagonal."""
        lost = 0.0 if self.added is None else float(np.square(x) @ self.added)
        return self.quadratic(x) - lost

    def given_product(self, X: Array) -> Array:
        """Return the product of the matrix as given with X, without what was added."""
        return self.A @ X if self.added is None else self.A @ X - self.added[:, None] * X

    def restrict(self, features: Indices) -> "MatrixCovariance":
        added = None if self.added is None else self.added[features]
        return self._as_matrix(self.block(features), nu=self.nu, shift=self.shift, added=added)

    @cached_property
    def diagonal(self) -> Array:
        return np.diag(self.A).copy()
