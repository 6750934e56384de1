"""The covariance of data: A = Z'Z / m for rows Z in memory or on disk, formed whole only where that pays.

Small A is formed whole, in one pass over blocks of rows, and every later step works on it. Where A is large
and rows are on disk, or sparse and many, a block of A costs a pass: `cheap_blocks` is False. Solvers and
bounds then use few of the features, those with the largest variances and those that an answer pulls. A on
these is formed once and serves later requests.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance import subspace
from nspca.covariance.covariance import DENSE_LIMIT, DIRECT_LIMIT, RESIDUAL, Covariance, MatrixCovariance
from nspca.covariance.linalg import Array, Indices, largest_eigenpairs, normalised_columns
from nspca.covariance.parallel import Part, added, gathered
from nspca.covariance.rows import AT_ONCE, Rows, Table, pieces
from nspca.covariance.subspace import BASIS, OVERSAMPLING
from nspca.covariance.tables import DenseFile, Held
from nspca.covariance.weighing import Weights
from nspca.errors import Refused
from nspca.progress import Event, tell

WHOLE_LIMIT = 10_000
"""Largest n for which A is formed whole from dense rows, at least n of them: 800 MB at most."""
FORMED = DENSE_LIMIT
"""Largest n for which A is formed whole from other rows."""
MANY_ROWS = DIRECT_LIMIT
"""Rows of a sparse table in memory above which a block of many features is not formed again and again."""
STEP, LEAST_ROWS = 2**34, 512
"""A is formed from blocks of dense rows in memory, and progress is reported before each. `STEP` is the number
of multiplications in a block, about a second, and `LEAST_ROWS` the fewest rows.
"""
CANDIDATES = 2000
"""Number of features with the largest variances on which A is formed first: 32 MB."""
SKETCHED = 20
"""Number of directions of the sketch that ranks features of equal variance."""
DENSE_SHARE = 1 / 8
"""Columns with more nonzeros than this share of the rows are multiplied as dense ones."""
DENSE_CROSSED, TOGETHER = 0.03, 32
"""Share of nonzeros from which a column is multiplied with many sparse ones as a dense column, and maximum
dense columns that are multiplied together: their sums stay in the processor cache.
"""
HELD = 3
"""Number of blocks of A that are stored."""
FEW = 64
"""Largest number of features for which A is formed from dense columns, in milliseconds, and not stored."""
WRITTEN_OUT = 2**23
"""Largest number of dense entries of columns from which A is formed for more features, once a block is held.

The features of the requests then change at every step, so such an A is not stored.
"""
LEAST = 1e-290
"""Smallest variance of data at unit scale. Squares below it have lost digits, so they count as 0."""


class RowsCovariance(Covariance):
    """A = Z'Z / m for `Rows` of Z.

    Attributes
    ----------
    rows : Rows
    residual : float
        Residual of the leading eigenpairs relative to the largest eigenvalue; nan before few products gave
        them.
    """

    def __init__(self, rows: Rows, **recipe: Any) -> None:
        super().__init__(n=rows.n, **recipe)
        self.rows, self.m, self.client, held = rows, rows.m, rows.client, rows.held
        self.diagonal = rows.variances
        self.on_disk, self.Z = held is None, held if isinstance(held, np.ndarray) else None
        of_dense_file = self.on_disk and isinstance(rows.table, DenseFile)
        self.has_samples = not self.on_disk or of_dense_file
        self.nonzeros = self.m * self.n if self.Z is not None else int(rows.counts.sum())
        # In memory a product with A (n^2) costs no more than one with Z and then Z' (2mn) if n is at most 2m.
        is_full = 2 * self.nonzeros >= self.m * self.n or of_dense_file
        limit = WHOLE_LIMIT if is_full and self.m >= self.n else FORMED
        self.small = self.n <= limit and (self.on_disk or self.n <= 2 * self.m)
        self.most_formed = max(DENSE_LIMIT, self.n * self.small)
        # Scaled features in memory are always formed from their columns: rare ones then have the variance of
        # all others, so no small set of features suffices.
        is_sparse = self.Z is None and self.n > FORMED and self.m > MANY_ROWS and not self.scale
        self.cheap_blocks = self.small or not (self.on_disk or is_sparse)
        self.residual = float("nan")
        self._held: list[tuple[np.ndarray, Array]] = []
        self._part: tuple[np.ndarray, MatrixCovariance] | None = None

    # --- how A is reached -----------------------------------------------------------------------------------

    @property
    def passes(self) -> int:
        """Return how often all rows were read."""
        return self.rows.passes

    @cached_property
    def table(self) -> Any:
        """Y in memory (m, n): Z where it is dense, otherwise ``Z = (Y - f mean') * weight``."""
        if not self.on_disk:
            return self.rows.held
        return np.concatenate(self.rows.fold(gathered, _centred_rows, self.rows.mean, self.rows.weight))

    def dense_table(self) -> Array:
        """Return Z in memory (m, n) as a dense array, also of sparse data."""
        return self.rows.selected(slice(None)) if sp.issparse(self.table) else self.table

    # --- products and entries -------------------------------------------------------------------------------

    def product(self, X: Array) -> Array:
        """Return ``A @ X``, in at most one pass."""
        if self.small:
            return self.matrix @ X
        if not self.on_disk:
            return self._back(self.scores(X)) / self.m
        Y = (X.T * self.rows.weight).T
        total, sums = self.rows.fold(added, _fused, Y, self.rows.mean @ Y)
        return ((total - np.multiply.outer(self.rows.mean, sums)).T * self.rows.weight).T / self.m

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale."""
        if self.Z is not None:
            return self.Z @ X
        Y = (X.T * self.rows.weight).T
        if not self.on_disk:
            return self.table @ Y - np.multiply.outer(self.rows.factors, self.rows.mean @ Y)
        return np.concatenate(self.rows.fold(gathered, _along, Y, self.rows.mean @ Y))

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``, in at most one pass."""
        if self.small:
            return self.matrix[:, features]
        features = np.asarray(features, dtype=np.int64)
        if not self.on_disk:
            self.rows.passes += 1
            return self._back(self.rows.selected(features)) / self.m
        (total,) = self.rows.fold(added, _with_all, features)
        return self._centred(total, np.arange(self.n), features)

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``: stored, from dense columns, or in one pass."""
        if self.small:
            return self.matrix[np.ix_(features, features)]
        features = np.asarray(features, dtype=np.int64)
        found = self.held(features)
        if found is not None:
            return found
        is_little = features.size <= FEW or (self._held and features.size * self.m <= WRITTEN_OUT)
        if not self.on_disk and (self.cheap_blocks or is_little or features.size > DENSE_LIMIT):
            S = self.rows.selected(features)
            return S.T @ S / self.m
        wanted = np.unique(features)
        if not self._held and not self.scale:  # later requests are mostly about these candidates
            wider = np.union1d(wanted, self.candidates())
            wanted = wider if wider.size <= DENSE_LIMIT else wanted
        if wanted.size > DENSE_LIMIT:
            raise Refused(
                f"a block of A is formed on at most {DENSE_LIMIT} features, got {wanted.size}; use products"
            )
        self._held = [(wanted, self._gram_of(wanted)), *self._held][:HELD]
        found = self.held(features)
        assert found is not None  # the new block holds them
        return found

    def held(self, features: Indices) -> Array | None:
        """Return A on some features, None unless a stored block contains them."""
        for known, B in self._held:
            at = np.searchsorted(known, features).clip(max=known.size - 1)
            if np.array_equal(known[at], features):
                return B[np.ix_(at, at)]
        return None

    def crossed(self, pairs: Sequence[tuple[Indices, Indices]]) -> list[Array]:
        """Return ``A[I][:, J]`` for some pairs (I, J) of features, all in one pass."""
        sums = self.rows.fold(added, _crossed, pairs, columns=True) if pairs else ()
        return [self._centred(G, I, J) for G, (I, J) in zip(sums, pairs, strict=True)]

    def _formed(self) -> Array:
        """Return the whole of A, in one pass."""
        if self.Z is None:
            return self._gram_of(np.arange(self.n))
        step, total = max(LEAST_ROWS, STEP // self.n**2), np.zeros((self.n, self.n))
        if self.m <= step:
            return self.Z.T @ self.Z / self.m
        for start in range(0, self.m, step):
            tell(Event("covariance", start, self.m))
            total += self.Z[start : start + step].T @ self.Z[start : start + step]
        return total / self.m

    def _gram_of(self, features: Indices) -> Array:
        """Compute ``A[features][:, features]`` in one pass, dense columns as dense arrays."""
        dense = self.rows.counts[features] > DENSE_SHARE * self.m
        d, s = np.flatnonzero(dense), np.flatnonzero(~dense)
        DD, SD, SS = self.rows.fold(added, _products, features, d, s, columns=True)
        G = DD
        if s.size:
            G = np.empty((features.size, features.size))
            G[np.ix_(d, d)], G[np.ix_(s, s)], G[np.ix_(s, d)], G[np.ix_(d, s)] = DD, SS, SD, SD.T
        G = self._centred(G, features, features)
        G += G.T
        G /= 2
        return G

    def _centred(self, G: Array, I: Indices, J: Indices) -> Array:
        """Return ``A[I][:, J]`` from the sums ``G = Y_I'Y_J`` over all rows; G is changed."""
        G /= self.m
        G -= np.multiply.outer(self.rows.mean[I], self.rows.mean[J])
        G *= self.rows.weight[I][:, None]
        G *= self.rows.weight[J]
        return G

    def gram(self) -> Array:
        """Return ``ZZ' / m`` (m, m) for few rows, which has the nonzero eigenvalues of A."""
        if self.Z is not None:
            return self.Z @ self.Z.T / self.m
        if self.on_disk and self.m > DENSE_LIMIT:
            raise Refused(f"ZZ' is formed for at most {DENSE_LIMIT} rows, got {self.m}; use the features")
        X = self._sparse_columns(slice(None)).multiply(self.rows.weight).tocsr()
        shift = self.rows.mean * self.rows.weight
        cross, f = np.outer(X @ shift, self.rows.factors), self.rows.factors
        return ((X @ X.T).toarray() - cross - cross.T + shift @ shift * np.outer(f, f)) / self.m

    def _sparse_columns(self, features: Any) -> sp.csr_array:
        if not self.on_disk:
            return sp.csr_array(self.rows.by_columns[:, features])
        return sp.csr_array(sp.vstack(self.rows.fold(gathered, _selected, features), format="csr"))

    # --- values ---------------------------------------------------------------------------------------------

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Return which features (n,) are not 0; where A is centred, those that do not hold one value."""
        return self.rows.varies

    def quadratic(self, x: Array) -> float:
        support = np.flatnonzero(x)
        if self.small or (self.on_disk and support.size <= DENSE_LIMIT):
            return float(x[support] @ self.block(support) @ x[support])
        B = self.held(support)
        return self.explained(x) if B is None else float(x[support] @ B @ x[support])

    def explained(self, x: Array) -> float:
        """Return ``x'Ax`` as the mean square of the scores, or from a block of A where rows are on disk."""
        support = np.flatnonzero(x)
        if self.on_disk and (self.small or support.size <= DENSE_LIMIT):
            return self.quadratic(x)
        scores = self.scores(x) if self.on_disk else self.rows.selected(support) @ x[support]
        return float(scores @ scores) / self.m

    # --- some of the features -------------------------------------------------------------------------------

    def restrict(self, features: Indices) -> Covariance:
        """Return the covariance of some features in memory: A on them, or their data."""
        features = np.asarray(features, dtype=np.int64)
        if self.on_disk and self.small:
            return self.on(features)
        Y = self._sparse_columns(features) if self.Z is None else self.Z[:, features]
        part = RowsCovariance(self.rows.part(features, Y), **self._part_recipe(features))
        if part.small and self.Z is None and features.size <= DENSE_LIMIT:
            # forming A again from sparse data would take seconds for thousands of words
            part.matrix = self.block(features)
        return part

    def on(self, features: Indices) -> MatrixCovariance:
        """Return A on some features, n x n, for solvers; the last one is kept with its properties.

        It remembers the whole matrix for starting points, where rows are in memory.
        """
        if self._part is None or not np.array_equal(self._part[0], features):
            self._part = features, self._as_matrix(self.block(features))
            if not self.on_disk:
                self._part[1].whole = self, features
        return self._part[1]

    def candidates(self, least: int = 0) -> np.ndarray:
        """Return the features with the largest variances: `CANDIDATES`, or `least` if larger.

        When data are scaled, so that all variances are equal, features are ranked by their part in a few
        leading directions, in two passes.
        """
        order = np.argsort(-self.once("sketched", self._rank_values), kind="stable")
        return np.sort(order[: max(CANDIDATES, least)])

    def _rank_values(self) -> Array:
        """Return numbers (n,) that rank features: variances or, of scaled data, parts in few directions."""
        if not self.scale:
            return self.diagonal
        Q = np.random.default_rng(0).standard_normal((self.n, SKETCHED))
        return np.square(self.product(np.linalg.qr(self.product(Q))[0])).sum(axis=1)

    # --- eigenpairs -----------------------------------------------------------------------------------------

    @property
    def is_factorised(self) -> bool:
        if self.on_disk:
            return self.small and self.n <= DIRECT_LIMIT
        return min(self.n, self.m) <= DIRECT_LIMIT

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return leading eigenpairs: by ``ZZ'`` for few samples in memory, by few products in parts."""
        if not self.on_disk and self.m < self.n and self.m <= DIRECT_LIMIT:
            r = min(d, self.m)
            values, left = largest_eigenpairs(self.gram(), r)
            vectors = normalised_columns(self._back(left))
            padding = d - r
            return np.pad(values, (0, padding)), np.pad(vectors, ((0, 0), (0, padding)))
        if not self.cheap_blocks and (self.on_disk or 4 * d <= BASIS):
            pairs = self._by_subspaces(d)
            if self.on_disk or self.residual <= RESIDUAL / 2:
                return pairs
        return super()._eigenpairs(d)

    def _back(self, S: Array) -> Array:
        """Return ``Z'S`` for S (m, r) and rows that are held."""
        if self.Z is not None:
            return self.Z.T @ S
        Y: Any = self.rows.held
        centred = Y.T @ S - np.multiply.outer(self.rows.mean, (S.T * self.rows.factors).sum(axis=-1))
        return (centred.T * self.rows.weight).T

    def _by_subspaces(self, d: int) -> tuple[Array, Array]:
        """Compute leading eigenpairs by few products, starting from the stored block; set `residual`."""
        if not np.any(self.diagonal):
            return np.zeros(d), np.zeros((self.n, d))
        start = np.random.default_rng(0).standard_normal((self.n, min(d + OVERSAMPLING, self.n)))
        if self._held:  # eigenvectors of the stored block are good starts
            features, B = self._held[0]
            known = largest_eigenpairs(B, min(start.shape[1], features.size))[1]
            start[:, : known.shape[1]] *= 1e-6
            start[features, : known.shape[1]] += known
        values, vectors, self.residual = subspace.leading(self.product, start, d, RESIDUAL / 4)
        return values, vectors


def of_table(
    table: Table,
    center: bool,
    scale: bool,
    names: Sequence[str] | None = None,
    client: Any = None,
    weights: Weights | None = None,
) -> RowsCovariance:
    """Return the covariance of a table, in memory or read in blocks, here or by workers of a Dask client.

    `weights` are those of the rows of a table in memory, which are the kept ones.
    """
    factors = None if weights is None else weights.factors
    rows = Rows(table, center, scale, names, client, isinstance(table, Held), factors)
    exponent = 0 if scale else 2 * rows.exponent
    recipe: dict[str, Any] = {"center": center, "scale": scale, "digest": table.digest, "exponent": exponent}
    recipe["weights"] = "" if weights is None else weights.digest
    return RowsCovariance(rows, shape=table.shape, source="data", **recipe)


def without_underflow(A: Covariance, values: Array) -> Array:
    """Return values x'Ax at unit scale, with 0 for those below `LEAST`, which underflow has spoilt."""
    return np.where(values < LEAST, 0.0, values) if A.source == "data" else values


def _fused(Y: Any, X: Array, fixed: Array) -> Part:
    """Return ``Y'S`` and the sums of the columns of S, ``S = YX - fixed``, for a block Y of rows."""
    S = Y @ X - fixed
    return Y.T @ S, np.asarray(S.sum(axis=0))


def _with_all(Y: Any, features: Indices) -> Part:
    """Return ``Y'Y_J`` (n, p) for some columns J of a block Y of rows."""
    total = np.zeros((Y.shape[1], features.size))
    for start, D in pieces(Y[:, features], features.size):
        total += Y[start : start + len(D)].T @ D
    return (total,)


def _along(Y: Any, X: Array, fixed: Array) -> Part:
    return (Y @ X - fixed,)


def _selected(Y: Any, features: Any) -> Part:
    return (sp.csr_array(Y[:, features]),)


def _centred_rows(Y: Any, mean: Array, weight: Array) -> Part:
    return (((Y if isinstance(Y, np.ndarray) else Y.toarray()) - mean) * weight,)


def _products(
    Y: Any, features: Indices, d: NDArray[np.int64], s: NDArray[np.int64]
) -> tuple[Array, Array, Array]:
    """Return ``Y_d'Y_d``, ``Y_s'Y_d`` and ``Y_s'Y_s`` for the columns of some features of Y.

    `d` and `s` are places in `features`, of columns that are multiplied as dense and as sparse ones.
    """
    Y = Y if features.size == Y.shape[1] and (np.diff(features) > 0).all() else Y[:, features]
    S = sp.csr_array(Y[:, s])
    DD, SD = np.zeros((d.size, d.size)), np.zeros((s.size, d.size))
    for start, D in pieces(sp.csr_array(Y[:, d]) if s.size else Y, d.size):
        DD += D.T @ D
        SD += S[start : start + len(D)].T @ D
    return DD, SD, (S.T @ S).toarray()


def _crossed(Y: Any, pairs: Sequence[tuple[Indices, Indices]]) -> Iterator[Array]:
    """Yield ``Y_I'Y_J`` for each pair (I, J), one pair at a time because together they are large.

    Columns of J with many entries are multiplied as dense ones.
    """
    Y = sp.csc_array(Y)
    for I, J in pairs:
        left, right = sp.csr_array(Y[:, I].T), Y[:, J]
        many = np.diff(right.indptr) > DENSE_CROSSED * Y.shape[0]
        G = np.empty((I.size, J.size))
        d, s = np.flatnonzero(many), np.flatnonzero(~many)
        G[:, s] = (left @ sp.csr_array(right[:, s])).toarray()
        step = max(1, min(TOGETHER, AT_ONCE // max(Y.shape[0], 1)))
        by_rows = sp.csc_array(left) if d.size else left
        for some in (d[start : start + step] for start in range(0, d.size, step)):
            G[:, some] = by_rows @ right[:, some].toarray()
        yield G
