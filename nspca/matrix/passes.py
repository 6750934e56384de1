"""A table on disk in passes over its rows: counts, means, weights and variances of its columns, and Z block
by block.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from nspca.matrix.given import enough_rows, refuse_constant, with_columns
from nspca.matrix.linalg import Array
from nspca.matrix.moments import STILL
from nspca.matrix.parts import pieces


class Table(Protocol):
    """What is read."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def digest(self) -> str: ...

    @property
    def largest(self) -> float: ...

    def blocks(self) -> Iterator[Any]: ...


class Rows:
    """The rows of a table as those of ``Z = (Y - 1 mean') * weight``, Y sparse.

    Attributes
    ----------
    m, n : int
    exponent : int
        Of the unit scale.
    passes : int
        How often all rows were read.
    counts : (n,) int
        Nonzeros of the columns.
    mean, weight, variances : (n,)
    full : (some,) int
        Columns that are written out and shifted before their mean is taken off.
    """

    def __init__(self, table: Table, center: bool, scale: bool, names=None):
        self.table, self.center, self.scale, self.passes = table, center, scale, 0
        self.m, self.n = table.shape
        enough_rows(self.m, center or scale)
        self.exponent = int(np.frexp(table.largest)[1])
        self.exponents: Any = self.exponent
        self.shift: Array | None = None
        self.full = np.zeros(0, dtype=np.int64)
        self._measure(names)

    def _measure(self, names) -> None:
        """Means, weights and variances: in the pass that checks the files, and where columns are written out
        or scaled in one more.
        """
        m, n = self.m, self.n
        self.counts = np.zeros(n, dtype=np.int64)
        sums, squares, largest = np.zeros(n), np.zeros(n), np.zeros(n)
        for X in self.blocks():
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
                refuse_constant(constant, names)
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
        for X in self.blocks():
            for _, D in pieces(X[:, full], full.size):
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

    def blocks(self) -> Iterator[sp.csr_array]:
        """All rows in order, in unit scale, with full columns shifted; one pass."""
        self.passes += 1
        columns = isinstance(self.exponents, np.ndarray)
        for X in self.table.blocks():
            exponents = self.exponents[X.indices] if columns else self.exponents
            Z = sp.csr_array((np.ldexp(X.data, -exponents), X.indices, X.indptr), shape=X.shape)
            if self.full.size:
                Z = with_columns(Z, self.full, Z[:, self.full].toarray() - self.shift)
            yield Z
