"""Covariance of many features held in parts: A on some of them, formed once, and products with the rest.

Solvers and bounds use few of the features: those with the largest variances, and those that an answer pulls.
A on these is formed in one pass over blocks of rows and serves later requests. The rows are on disk
(`nspca.covariance.sharded`) or in memory (`nspca.covariance.large`). Both are `Parts`; bounds and methods ask
whether a covariance is one, and then for few features at a time.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance import subspace
from nspca.covariance.covariance import DENSE_LIMIT, RESIDUAL, Covariance, MatrixCovariance
from nspca.covariance.linalg import Array, Indices, largest_eigenpairs
from nspca.covariance.subspace import OVERSAMPLING
from nspca.covariance.tree import Join, Part, added
from nspca.errors import Refused

CANDIDATES = 2000
"""Number of features with the largest variances on which A is formed first: 32 MB."""
SKETCHED = 20
"""Number of directions of the sketch that ranks features of equal variance."""
AT_ONCE = 2**22
"""Maximum entries of a dense piece: 32 MB."""
DENSE_CROSSED, TOGETHER = 0.03, 32
"""Share of nonzeros from which a column is multiplied with many sparse ones as a dense column, and maximum
dense columns that are multiplied together: their sums stay in the processor cache.
"""
HELD = 3
"""Number of blocks of A that are stored."""


class Centred(Protocol):
    """Rows of ``Z = (Y - 1 mean') * weight`` in blocks of Y, in unit scale, sparse or dense.

    `counts` are the nonzeros of the columns; `folded` joins ``kernel(Y, *arguments)`` over all blocks.
    """

    @property
    def m(self) -> int:
        """Number of rows."""

    @property
    def mean(self) -> Array:
        """Means of the columns of Y, (n,); 0 without centring."""

    @property
    def weight(self) -> Array:
        """Factors of the columns, (n,)."""

    @property
    def counts(self) -> Any:
        """Number of nonzeros of each column of Y, (n,)."""

    def folded(self, join: Join, kernel: Any, *arguments: Any) -> Part:
        """Return ``kernel(Y, *arguments)`` for all blocks Y, joined by `join`."""


class Parts(Covariance):
    """A covariance that is held on some of its features.

    Attributes
    ----------
    dense_share : float
        Columns with more nonzeros than this share of the rows are multiplied as dense ones.
    residual : float
        Residual of the leading eigenpairs relative to the largest eigenvalue; nan before they are computed.
    """

    dense_share: float

    def __init__(self, **recipe: Any) -> None:
        super().__init__(**recipe)
        self.residual = float("nan")
        self._held: list[tuple[np.ndarray, Array]] = []
        self._part: tuple[np.ndarray, MatrixCovariance] | None = None

    @property
    def rows(self) -> Centred:
        """Return the data."""
        raise NotImplementedError

    @property
    def passes(self) -> int:
        """Return how often all rows were read."""
        raise NotImplementedError

    @property
    def small(self) -> bool:
        """Tell whether A is formed whole, so that methods for data in memory work on it."""
        return False

    def held(self, features: Indices) -> Array | None:
        """Return A on some features, None unless a stored block contains them."""
        for known, B in self._held:
            at = np.searchsorted(known, features).clip(max=known.size - 1)
            if np.array_equal(known[at], features):
                return B[np.ix_(at, at)]
        return None

    def block(self, features: Indices) -> Array:
        """Return A on some features, from a stored block that contains them or else in one pass."""
        features = np.asarray(features, dtype=np.int64)
        found = self.held(features)
        if found is not None:
            return found
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

    def _formed(self) -> Array:
        """Return the whole of A, in one pass."""
        return self._gram_of(np.arange(self.n))

    def _gram_of(self, features: Indices) -> Array:
        """Compute ``A[features][:, features]`` in one pass, dense columns as dense arrays."""
        dense = self.rows.counts[features] > self.dense_share * self.rows.m
        d, s = np.flatnonzero(dense), np.flatnonzero(~dense)
        DD, SD, SS = self.rows.folded(added, _products, features, d, s)
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
        G /= self.rows.m
        G -= np.multiply.outer(self.rows.mean[I], self.rows.mean[J])
        G *= self.rows.weight[I][:, None]
        G *= self.rows.weight[J]
        return G

    def crossed(self, pairs: Sequence[tuple[Indices, Indices]]) -> list[Array]:
        """Return ``A[I][:, J]`` for some pairs (I, J) of features, all in one pass."""
        sums = self.rows.folded(added, _crossed, pairs) if pairs else ()
        return [self._centred(G, I, J) for G, (I, J) in zip(sums, pairs, strict=True)]

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

    def on(self, features: Indices) -> MatrixCovariance:
        """Return A on some features, n x n, for solvers; the last one is kept with its properties."""
        if self._part is None or not np.array_equal(self._part[0], features):
            self._part = features, self._as_matrix(self.block(features))
        return self._part[1]

    def by_subspaces(self, d: int) -> tuple[Array, Array]:
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


def _products(
    Y: Any, features: Indices, d: NDArray[np.int64], s: NDArray[np.int64]
) -> tuple[Array, Array, Array]:
    """Return ``Y_d'Y_d``, ``Y_s'Y_d`` and ``Y_s'Y_s`` for the columns of some features of Y.

    `d` and `s` are places in `features`, of columns that are multiplied as dense and as sparse ones.
    """
    Y = Y if features.size == Y.shape[1] and (np.diff(features) > 0).all() else Y[:, features]
    S = sp.csr_array(Y[:, s])
    DD, SD = np.zeros((d.size, d.size)), np.zeros((s.size, d.size))
    for start, D in pieces(Y[:, d] if s.size else Y, d.size):
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


def pieces(X: Any, width: int) -> Iterator[tuple[int, Array]]:
    """Yield rows of X as dense arrays of at most `AT_ONCE` entries, each with the number of its first row."""
    step = max(1, AT_ONCE // max(width, 1))
    for start in range(0, X.shape[0] if width else 0, step):
        part = X[start : start + step]
        yield start, part if isinstance(part, np.ndarray) else part.toarray()
