"""Data that stay on disk: A = Z'Z / m from blocks of rows, a pass over them for each question.

A *table* has a `shape`, the `digest` and `largest` value of all, and `blocks()`, which yields its rows in
order as CSR blocks. One block is in memory at a time, so memory does not grow with the rows; `passes` counts
how often all were read. Z is that of `matrix.given`: in unit scale, implicitly centred, columns that are more
than half full written out block by block. Products are fused: Z'(ZX) takes one pass, not two.

What is asked of few features, A on them, is held once it was computed: solvers and bounds work on it.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from nspca.errors import InvalidProblem, Refused
from nspca.matrix.covariance import (
    DENSE_LIMIT,
    DIRECT_LIMIT,
    RESIDUAL,
    Covariance,
    MatrixCovariance,
    SparseCovariance,
)
from nspca.matrix.given import _enough_rows, _refuse_constant, with_columns
from nspca.matrix.linalg import Array, largest_eigenpairs
from nspca.matrix.moments import STILL

AT_ONCE = 2**22
"""Numbers of a dense piece: 32 MB."""
DENSE_SHARE = 1 / 16
"""Columns with more nonzeros than this share of the rows are multiplied as dense ones."""
CANDIDATES = 2000
"""Features with the largest variances, on which A is formed first: 32 MB."""
MOST_KEPT = 1600
"""Most rows that a bound keeps: what matters of the others is only whether they belong to these."""
HELD = 3
"""Blocks of A that are remembered."""
OVERSAMPLING, BASIS, STEPS = 8, 160, 40
"""Of the subspace iteration: columns beyond those asked for, most columns of a basis, most passes."""


class Table(Protocol):
    """What is read."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def digest(self) -> str: ...

    @property
    def largest(self) -> float: ...

    def blocks(self) -> Iterator[Any]: ...


class ShardedCovariance(Covariance):
    """Covariance of a table in row blocks.

    Attributes
    ----------
    passes : int
        How often all rows were read.
    residual : float
        Of the leading eigenpairs, relative to the largest; nan before any were asked for.
    """

    def __init__(self, table: Table, center: bool, scale: bool, names=None):
        m, n = table.shape
        _enough_rows(m, center or scale)
        exponent = int(np.frexp(table.largest)[1])
        super().__init__(n, (m, n), "data", center, scale, table.digest, 0 if scale else 2 * exponent)
        self.table, self.m, self.passes, self.residual = table, m, 0, float("nan")
        self.shift: Array | None = None
        self.full = np.zeros(0, dtype=np.int64)
        self.exponents: Any = exponent
        self._blocks_held: list[tuple[np.ndarray, Array]] = []
        self._measure(names)

    def _measure(self, names) -> None:
        """Means, weights and variances: in the pass that checks the files, and where columns are written out
        or scaled in one more.
        """
        m, n = self.shape
        self.counts = np.zeros(n, dtype=np.int64)
        sums, squares, largest = np.zeros(n), np.zeros(n), np.zeros(n)
        for X in self._rows():
            self.counts += np.bincount(X.indices, minlength=n)
            sums += np.bincount(X.indices, weights=X.data, minlength=n)
            squares += np.bincount(X.indices, weights=X.data * X.data, minlength=n)
            if self.scale:
                largest = np.maximum(largest, abs(X).max(axis=0).toarray().ravel())
        self.mean, self.weight = np.zeros(n), np.ones(n)
        compared = self.center or self.scale
        full = np.flatnonzero(2 * self.counts > m) if compared else self.full
        if compared and not self.scale and not full.size:
            self.mean = sums / m
        elif compared:
            own = np.frexp(largest)[1] if self.scale else np.zeros(n, dtype=np.int64)
            self.exponents = self.exponents + own
            means = np.ldexp(sums, -own) / m
            sums, squares, plain, still = self._second(full, means[full])
            variance = squares / m - (sums / m) ** 2
            if self.scale:
                constant = self.counts == 0
                constant[full] = still
                _refuse_constant(constant, names)
                self.weight = 1 / np.sqrt(variance)
            if self.center:
                self.mean, self.full, self.shift = sums / m, full, means[full]
            else:
                squares[full] = plain
        self.variances = (squares / m - self.mean**2) * self.weight**2

    def _second(self, full, shift):
        """Sums and sums of squares of every column, those that are more than half full shifted; the latter
        not shifted; and which of these hold one value.
        """
        n = self.n
        sums, squares, plain = np.zeros(n), np.zeros(n), np.zeros(full.size)
        low, high = np.full(full.size, np.inf), np.full(full.size, -np.inf)
        for X in self._rows():
            for _, D in _pieces(X[:, full], full.size):
                low, high = np.minimum(low, D.min(axis=0)), np.maximum(high, D.max(axis=0))
                plain += (D * D).sum(axis=0)
                C = D - shift
                sums[full] += C.sum(axis=0)
                squares[full] += (C * C).sum(axis=0)
            rest = ~np.isin(X.indices, full)
            at, values = X.indices[rest], X.data[rest]
            sums += np.bincount(at, weights=values, minlength=n)
            squares += np.bincount(at, weights=values * values, minlength=n)
        still = high - low <= STILL * np.maximum(np.abs(low), np.abs(high))
        return sums, squares, plain, still

    def _rows(self) -> Iterator[sp.csr_array]:
        """All rows in order, in unit scale, with full columns shifted; one pass."""
        self.passes += 1
        columns = isinstance(self.exponents, np.ndarray)
        for X in self.table.blocks():
            exponents = self.exponents[X.indices] if columns else self.exponents
            Z = sp.csr_array((np.ldexp(X.data, -exponents), X.indices, X.indptr), shape=X.shape)
            if self.full.size:
                Z = with_columns(Z, self.full, Z[:, self.full].toarray() - self.shift)
            yield Z

    # --- products -------------------------------------------------------------------------------------------

    @property
    def _small(self) -> bool:
        return self.n <= DENSE_LIMIT

    def product(self, X):
        if self._small:
            return self.matrix @ X
        Y = (X.T * self.weight).T
        fixed, total, sums = self.mean @ Y, np.zeros(Y.shape), np.zeros(Y.shape[1:])
        for Z in self._rows():
            S = Z @ Y - fixed
            total += Z.T @ S
            sums += S.sum(axis=0)
        return ((total - np.multiply.outer(self.mean, sums)).T * self.weight).T / self.m

    def columns(self, features):
        if self._small:
            return self.matrix[:, features]
        features = np.asarray(features, dtype=np.int64)
        total = np.zeros((self.n, features.size))
        for Z in self._rows():
            for start, D in _pieces(Z[:, features], features.size):
                total += Z[start : start + len(D)].T @ D
        return self._centred(total, np.arange(self.n), features)

    def block(self, features):
        """A on some features: in one pass, unless it was formed before on these or more."""
        features = np.asarray(features, dtype=np.int64)
        if self._small:
            return self.matrix[np.ix_(features, features)]
        for held, B in self._blocks_held:
            at = np.searchsorted(held, features).clip(max=held.size - 1)
            if np.array_equal(held[at], features):
                return B[np.ix_(at, at)]
        held = np.unique(features)
        if held.size > DENSE_LIMIT:
            raise Refused(
                f"a block of A is formed on at most {DENSE_LIMIT} features, got {held.size}; use products"
            )
        self._blocks_held = [(held, self._gram_of(held)), *self._blocks_held][:HELD]
        return self.block(features)

    def _formed(self):
        return self._gram_of(np.arange(self.n))

    def _gram_of(self, features):
        """``A[features][:, features]``, one pass: dense columns as dense ones, the others as sparse."""
        dense = self.counts[features] > DENSE_SHARE * self.m
        dense |= np.isin(features, self.full)
        d, s = np.flatnonzero(dense), np.flatnonzero(~dense)
        DD, SD, SS = np.zeros((d.size, d.size)), np.zeros((s.size, d.size)), np.zeros((s.size, s.size))
        for Z in self._rows():
            Z = Z[:, features]
            S = sp.csr_array(Z[:, s])
            for start, D in _pieces(Z[:, d], d.size):
                DD += D.T @ D
                SD += S[start : start + len(D)].T @ D
            _add(SS, S.T @ S)
        G = np.empty((features.size, features.size))
        G[np.ix_(d, d)], G[np.ix_(s, s)], G[np.ix_(s, d)], G[np.ix_(d, s)] = DD, SS, SD, SD.T
        G = self._centred(G, features, features)
        return (G + G.T) / 2

    def _centred(self, G, I, J):
        """Sums of products of Z as entries of A."""
        G /= self.m
        G -= np.multiply.outer(self.mean[I], self.mean[J])
        G *= self.weight[I][:, None]
        G *= self.weight[J]
        return G

    @cached_property
    def diagonal(self):
        return self.variances

    def explained(self, x):
        return self.quadratic(x)

    def scores(self, X: Array) -> Array:
        """``Z @ X``: the samples along components X (n, r), in unit scale."""
        Y = (X.T * self.weight).T
        return np.concatenate([Z @ Y - self.mean @ Y for Z in self._rows()])

    # --- parts ----------------------------------------------------------------------------------------------

    def candidates(self, least: int = 0) -> np.ndarray:
        """The features with the largest variances, `CANDIDATES` of them, or `least` where that is more."""
        order = np.argsort(-self.diagonal, kind="stable")
        return np.sort(order[: max(CANDIDATES, least)])

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

    def restrict(self, features) -> SparseCovariance:
        """The data of some features, in memory; one pass, or none where A is known on them, and one."""
        features = np.asarray(features, dtype=np.int64)
        X = sp.csr_array(sp.vstack([Z[:, features] for Z in self._rows()], format="csr"))
        recipe = {"center": self.center, "scale": self.scale, "digest": "", "exponent": self.exponent}
        part = SparseCovariance(
            X, self.mean[features], self.weight[features], shape=X.shape, source="data", **recipe
        )
        if features.size <= DENSE_LIMIT:  # written out, the rows might not fit
            part.matrix = self.block(features)
        return part

    def gram(self) -> Array:
        """``ZZ' / m`` (m, m), for few rows: they are held together."""
        if self.m > DENSE_LIMIT:
            raise Refused(f"ZZ' is formed for at most {DENSE_LIMIT} rows, got {self.m}; use the features")
        X = sp.csr_array(sp.vstack(list(self._rows()), format="csr")).multiply(self.weight).tocsr()
        shift = self.mean * self.weight
        cross = X @ shift
        return ((X @ X.T).toarray() - cross[:, None] - cross[None, :] + shift @ shift) / self.m

    def peaks(self, nonneg: bool) -> tuple[Array, float]:
        """Largest entry (signed: in absolute value) of every row, right where it exceeds the returned level;
        one pass besides that for the block of `candidates`.

        The level is at most the peak of the `MOST_KEPT` + 1st row, and at least the first variance that is no
        candidate's. An entry of a candidate j with another i is only looked at where A_ii A_jj is above the
        square of the level: by Cauchy-Schwarz the others stay below.
        """
        sign = (lambda B: B) if nonneg else np.abs
        order = np.argsort(-self.diagonal, kind="stable")
        inside, outside = order[:CANDIDATES], order[CANDIDATES:]
        found = np.zeros(self.n)
        found[inside] = sign(self.block(inside)).max(axis=1)
        if not outside.size:
            return found, 0.0
        place = min(MOST_KEPT, inside.size - 1)
        level = float(np.partition(found[inside], inside.size - 1 - place)[inside.size - 1 - place])
        level = max(level, float(self.diagonal[outside[0]]))
        size = np.sqrt(self.diagonal)
        tiers = self._tiers(size, inside, outside, level)
        sums = [np.zeros((I.size, J.size)) for J, I in tiers]
        for Z in self._rows() if tiers else ():
            Z = sp.csc_array(Z)
            for G, (J, I) in zip(sums, tiers, strict=True):
                _add(G, sp.csr_array(Z[:, I].T) @ sp.csr_array(Z[:, J]))
        for G, (J, I) in zip(sums, tiers, strict=True):
            B = sign(self._centred(G, I, J))
            found[I] = np.maximum(found[I], B.max(axis=1))
            found[J] = np.maximum(found[J], B.max(axis=0))
        return found, level

    @staticmethod
    def _tiers(size, inside, outside, level):
        """Pairs of feature sets (J, I) that hold every pair of a candidate j and another i with
        ``size_i size_j > level``; each about twice as long in J as the one before.
        """
        tiers, start, reach = [], 0, 16
        while start < inside.size:
            J = inside[start : start + reach]
            count = int(np.searchsorted(-size[outside] * size[J[0]], -level, side="left"))
            if not count:
                break
            tiers.append((J, outside[:count]))
            start, reach = start + reach, 2 * reach
        return tiers

    # --- eigenpairs -----------------------------------------------------------------------------------------

    def _eigenpairs(self, d):
        if self._small:
            if self.n <= DIRECT_LIMIT:
                return largest_eigenpairs(self.matrix, d)
            return super()._eigenpairs(d)
        if not np.any(self.diagonal):
            return np.zeros(d), np.zeros((self.n, d))
        return self._subspace(d)

    def _subspace(self, d):
        """Block subspace iteration: a basis grows by the residuals of its Ritz vectors, a pass each, and is
        brought down to these when it is full. It begins with random directions, and with the eigenvectors of
        what is held.
        """
        width = min(d + OVERSAMPLING, self.n)
        start = np.random.default_rng(0).standard_normal((self.n, width))
        if self._blocks_held:
            features, B = self._blocks_held[0]
            known = largest_eigenpairs(B, min(width, features.size))[1]
            start[:, : known.shape[1]] *= 1e-6
            start[features, : known.shape[1]] += known
        Q = np.linalg.qr(start)[0]
        image = self.product(Q)
        for _ in range(STEPS):
            H = Q.T @ image
            values, Y = largest_eigenpairs((H + H.T) / 2, width)
            U, AU = Q @ Y, image @ Y
            R = AU - U * values
            lengths = np.linalg.norm(R, axis=0)
            self.residual = float(lengths[:d].max() / max(values[0], 1e-300))
            going = lengths > RESIDUAL / 100 * max(values[0], 1e-300)
            if self.residual <= RESIDUAL / 4 or not going.any():
                break
            if Q.shape[1] + width > BASIS:
                Q, image = U, AU
            new = _beside(Q, R[:, going] / lengths[going])
            if not new.shape[1]:
                break
            Q, image = np.hstack((Q, new)), np.hstack((image, self.product(new)))
        return values[:d], U[:, :d]


def _pieces(X: sp.csr_array, width: int) -> Iterator[tuple[int, Array]]:
    """Rows of X written out, so many at a time that they stay small, each with the number of its first."""
    step = max(1, AT_ONCE // max(width, 1))
    for start in range(0, X.shape[0] if width else 0, step):
        yield start, X[start : start + step].toarray()


def _beside(Q: Array, X: Array) -> Array:
    """Orthonormal columns for what the unit columns of X have outside the span of Q, but for rounding."""
    X = X - Q @ (Q.T @ X)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, s > 1e-8][:, : Q.shape[0] - Q.shape[1]]
    U = U - Q @ (Q.T @ U)  # once more for what the first time left by rounding
    return np.linalg.qr(U)[0]


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
