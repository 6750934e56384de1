"""Data that stay on disk: A = Z'Z / m from blocks of rows, a pass over them for each question.

A *table* has a `shape`, the `digest` and `largest` value of all, and `blocks()`, which yields its rows in
order as CSR blocks. One block is in memory at a time, so memory does not grow with the rows; `passes` counts
how often all were read. Z is that of `matrix.given`: in unit scale, implicitly centred, columns that are more
than half full written out block by block. Products are fused: Z'(ZX) takes one pass, not two.

What is asked of few features, A on them, is held once it was computed: solvers and bounds work on it.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from nspca.errors import InvalidProblem, Refused
from nspca.matrix import subspace
from nspca.matrix.covariance import DENSE_LIMIT, RESIDUAL, Covariance, MatrixCovariance, SparseCovariance
from nspca.matrix.linalg import Array, largest_eigenpairs
from nspca.matrix.passes import Rows, Table, pieces
from nspca.matrix.subspace import OVERSAMPLING

DENSE_SHARE = 1 / 16
"""Columns with more nonzeros than this share of the rows are multiplied as dense ones."""
WHOLE = DENSE_LIMIT
"""Up to so many features A is formed whole."""
CANDIDATES = 2000
"""Features with the largest variances, on which A is formed first: 32 MB."""
SKETCHED = 20
"""Directions of the sketch that tells features of the same variance apart."""
HELD = 3
"""Blocks of A that are remembered."""


class ShardedCovariance(Covariance):
    """Covariance of a table in row blocks.

    Attributes
    ----------
    rows : Rows
        The data, in passes over their blocks of rows.
    residual : float
        Of the leading eigenpairs, relative to the largest; nan before any were asked for.
    """

    def __init__(self, table: Table, center: bool, scale: bool, names=None):
        self.rows, self.residual = Rows(table, center, scale, names), float("nan")
        exponent = 0 if scale else 2 * self.rows.exponent
        super().__init__(self.rows.n, table.shape, "data", center, scale, table.digest, exponent)
        self._held: list[tuple[np.ndarray, Array]] = []

    @property
    def passes(self) -> int:
        """How often all rows were read."""
        return self.rows.passes

    # --- products -------------------------------------------------------------------------------------------

    @property
    def small(self) -> bool:
        """Whether A is formed whole, so that all that works in memory works on it."""
        return self.n <= WHOLE

    def product(self, X):
        if self.small:
            return self.matrix @ X
        Y = (X.T * self.rows.weight).T
        fixed, total, sums = self.rows.mean @ Y, np.zeros(Y.shape), np.zeros(Y.shape[1:])
        for Z in self.rows.blocks():
            S = Z @ Y - fixed
            total += Z.T @ S
            sums += S.sum(axis=0)
        return ((total - np.multiply.outer(self.rows.mean, sums)).T * self.rows.weight).T / self.rows.m

    def columns(self, features):
        if self.small:
            return self.matrix[:, features]
        features = np.asarray(features, dtype=np.int64)
        total = np.zeros((self.n, features.size))
        for Z in self.rows.blocks():
            for start, D in pieces(Z[:, features], features.size):
                total += Z[start : start + len(D)].T @ D
        return self._centred(total, np.arange(self.n), features)

    def block(self, features):
        """A on some features: in one pass, unless it was formed before on these or more."""
        features = np.asarray(features, dtype=np.int64)
        if self.small:
            return self.matrix[np.ix_(features, features)]
        for held, B in self._held:
            at = np.searchsorted(held, features).clip(max=held.size - 1)
            if np.array_equal(held[at], features):
                return B[np.ix_(at, at)]
        held = np.unique(features)
        if not self._held and not self.scale:  # what is asked next is mostly of these
            wider = np.union1d(held, self.candidates())
            held = wider if wider.size <= DENSE_LIMIT else held
        if held.size > DENSE_LIMIT:
            raise Refused(
                f"a block of A is formed on at most {DENSE_LIMIT} features, got {held.size}; use products"
            )
        self._held = [(held, self._gram_of(held)), *self._held][:HELD]
        return self.block(features)

    def _formed(self):
        return self._gram_of(np.arange(self.n))

    def _gram_of(self, features):
        """``A[features][:, features]``, one pass: dense columns as dense ones, the others as sparse."""
        dense = self.rows.counts[features] > DENSE_SHARE * self.rows.m
        dense |= np.isin(features, self.rows.full)
        d, s = np.flatnonzero(dense), np.flatnonzero(~dense)
        DD, SD, SS = np.zeros((d.size, d.size)), np.zeros((s.size, d.size)), np.zeros((s.size, s.size))
        for Z in self.rows.blocks():
            Z = Z[:, features]
            S = sp.csr_array(Z[:, s])
            for start, D in pieces(Z[:, d], d.size):
                DD += D.T @ D
                SD += S[start : start + len(D)].T @ D
            _add(SS, S.T @ S)
        G = np.empty((features.size, features.size))
        G[np.ix_(d, d)], G[np.ix_(s, s)], G[np.ix_(s, d)], G[np.ix_(d, s)] = DD, SS, SD, SD.T
        G = self._centred(G, features, features)
        return (G + G.T) / 2

    def _centred(self, G, I, J):
        """Sums of products of Z as entries of A."""
        G /= self.rows.m
        G -= np.multiply.outer(self.rows.mean[I], self.rows.mean[J])
        G *= self.rows.weight[I][:, None]
        G *= self.rows.weight[J]
        return G

    @cached_property
    def diagonal(self):
        return self.rows.variances

    def quadratic(self, x):
        support = np.flatnonzero(x)
        if self.small or support.size <= DENSE_LIMIT:
            return float(x[support] @ self.block(support) @ x[support])
        scores = self.scores(x)
        return float(scores @ scores) / self.rows.m

    def scores(self, X: Array) -> Array:
        """``Z @ X``: the samples along components X (n, r), in unit scale."""
        Y = (X.T * self.rows.weight).T
        return np.concatenate([Z @ Y - self.rows.mean @ Y for Z in self.rows.blocks()])

    # --- parts ----------------------------------------------------------------------------------------------

    def candidates(self, least: int = 0) -> np.ndarray:
        """The features with the largest variances, `CANDIDATES` of them, or `least` where that is more; where
        all variances are the same, those with the largest part in a few leading directions, in two passes.
        """
        order = np.argsort(-self.once("sketched", self._sketched), kind="stable")
        return np.sort(order[: max(CANDIDATES, least)])

    def _sketched(self):
        if not self.scale:
            return self.diagonal
        Q = np.random.default_rng(0).standard_normal((self.n, SKETCHED))
        return np.square(self.product(np.linalg.qr(self.product(Q))[0])).sum(axis=1)

    def on(self, features) -> MatrixCovariance:
        """A on some features, in memory and n x n: what solvers work on."""
        B = self.block(features)
        return MatrixCovariance(
            B,
            shape=B.shape,
            source="covariance",
            center=False,
            scale=False,
            digest="",
            exponent=self.exponent,
        )

    def restrict(self, features) -> Covariance:
        """Some features in memory: A on them where A is formed whole; else their data, in one pass, and A on
        them, in another one unless it is held.
        """
        features = np.asarray(features, dtype=np.int64)
        if self.small:
            return self.on(features)
        X = sp.csr_array(sp.vstack([Z[:, features] for Z in self.rows.blocks()], format="csr"))
        recipe = {"center": self.center, "scale": self.scale, "digest": "", "exponent": self.exponent}
        part = SparseCovariance(
            X, self.rows.mean[features], self.rows.weight[features], shape=X.shape, source="data", **recipe
        )
        if features.size <= DENSE_LIMIT:  # written out, the rows might not fit
            part.matrix = self.block(features)
        return part

    def gram(self) -> Array:
        """``ZZ' / m`` (m, m), for few rows: they are held together."""
        if self.rows.m > DENSE_LIMIT:
            raise Refused(
                f"ZZ' is formed for at most {DENSE_LIMIT} rows, got {self.rows.m}; use the features"
            )
        X = sp.csr_array(sp.vstack(list(self.rows.blocks()), format="csr")).multiply(self.rows.weight).tocsr()
        shift = self.rows.mean * self.rows.weight
        cross = X @ shift
        return ((X @ X.T).toarray() - cross[:, None] - cross[None, :] + shift @ shift) / self.rows.m

    def crossed(self, pairs) -> list[Array]:
        """``A[I][:, J]`` for some pairs (I, J) of features, all in one pass."""
        sums = [np.zeros((I.size, J.size)) for I, J in pairs]
        for Y in self.rows.blocks() if pairs else ():
            Y = sp.csc_array(Y)
            for G, (I, J) in zip(sums, pairs, strict=True):
                _add(G, sp.csr_array(Y[:, I].T) @ sp.csr_array(Y[:, J]))
        return [self._centred(G, I, J) for G, (I, J) in zip(sums, pairs, strict=True)]

    # --- eigenpairs -----------------------------------------------------------------------------------------

    def _eigenpairs(self, d):
        if self.small:
            return super()._eigenpairs(d)
        if not np.any(self.diagonal):
            return np.zeros(d), np.zeros((self.n, d))
        start = np.random.default_rng(0).standard_normal((self.n, min(d + OVERSAMPLING, self.n)))
        if self._held:  # the eigenvectors of what is known are near
            features, B = self._held[0]
            known = largest_eigenpairs(B, min(start.shape[1], features.size))[1]
            start[:, : known.shape[1]] *= 1e-6
            start[features, : known.shape[1]] += known
        values, vectors, self.residual = subspace.leading(self.product, start, d, RESIDUAL / 4)
        return values, vectors


def _add(G: Array, part: sp.csr_array) -> None:
    """Add sparse entries to G in place."""
    part = part.tocoo()
    G[part.row, part.col] += part.data


def of_table(table: Table, center: bool, scale: bool) -> ShardedCovariance:
    """Covariance of a table of row blocks.

    Raises
    ------
    InvalidProblem
        For something that is no such table.
    """
    if not hasattr(type(table), "blocks"):
        raise InvalidProblem(
            f"a folder of shards is required, got {type(table).__name__}; make one with "
            "`python -m nspca shard`"
        )
    return ShardedCovariance(table, center, scale, getattr(table, "feature_names", None) if scale else None)
