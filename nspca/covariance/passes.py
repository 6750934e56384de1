"""Read a table on disk in passes over its rows: facts about its columns, and sums over blocks of Z.

A pass applies one function of this package to every block and joins the results in the order of
`nspca.covariance.tree`. Local runs and runs on the workers of a Dask client give bitwise equal results. A
`ShardedCovariance` has one `Rows`, and a pass is one call of `Rows.folded`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance import distributed
from nspca.covariance.inputs import refuse_constant, require_two_rows, with_columns
from nspca.covariance.linalg import Array, one_thread, scaled
from nspca.covariance.moments import STILL
from nspca.covariance.numbers import refuse_rounded
from nspca.covariance.parts import pieces
from nspca.covariance.tree import Join, Part, added, folded
from nspca.progress import tell

GONE = 5000
"""Binary exponent of columns that count as 0: every float divided by 2**GONE is 0."""
NORMAL = 2.0**-900
"""Least size of a number in unit scale that has certainly not lost digits."""


class Table(Protocol):
    """A table on disk that can be read in blocks of rows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def digest(self) -> str:
        """Content hash of the table."""

    @property
    def largest(self) -> float:
        """Largest absolute value in the table."""

    def blocks(self) -> Iterator[Any]:
        """Yield the rows in order, as CSR blocks."""


@dataclass(frozen=True, eq=False)
class Scale:
    """Transformation of table rows into Y: a power of two (for all or per column), a shift of dense columns.

    Numbers are divided by ``2**exponents``. The columns `full` are made dense, and `shift` is taken off them.
    """

    exponents: Any
    full: np.ndarray
    shift: Array | None = None

    def of(self, X: sp.csr_array) -> Any:
        """Return a block of rows in unit scale, with full columns shifted.

        The block is a dense array where most columns are full, and sparse otherwise.
        """
        columns = isinstance(self.exponents, np.ndarray)
        if self.shift is not None and 2 * self.full.size > X.shape[1]:
            D = scaled(X.toarray(), -np.asarray(self.exponents))
            D[:, self.full] -= self.shift
            return D
        exponents = self.exponents[X.indices] if columns else self.exponents
        Y = sp.csr_array((np.ldexp(X.data, -exponents), X.indices, X.indptr), shape=X.shape)
        if self.full.size:
            Y = with_columns(Y, self.full, Y[:, self.full].toarray() - self.shift)
        return Y


@dataclass(frozen=True, eq=False)
class BlockFunction:
    """Function that a pass applies to every block X of the table; it is sent to workers.

    The function is ``kernel(Y, *arguments)``, where `scale` turns X into Y.
    """

    scale: Scale
    kernel: Any
    arguments: tuple[Any, ...]

    def __call__(self, X: sp.csr_array) -> Iterator[Array]:
        """Yield the arrays of the kernel for a block X of the table."""
        refuse_rounded(X.data, "data")
        with one_thread():  # the last bits of a sum depend on the number of threads
            yield from self.kernel(self.scale.of(X), *self.arguments)


class Rows:
    """Rows of a table as rows of ``Z = (Y - 1 mean') * weight``, Y sparse unless most columns are full.

    Parameters
    ----------
    table : Table
    center, scale : bool
    names : sequence of str, optional
        Names of the columns, for errors.
    client : optional
        Client of a Dask cluster whose workers read the table.

    Attributes
    ----------
    m, n : int
    exponent : int
        Exponent of the unit scale.
    passes : int
        Number of times that all rows were read.
    counts : (n,) int
        Nonzeros of the columns.
    mean, weight, variances : (n,)
    varies : (n,) bool
        Columns that are not 0 and, with centring, do not hold one value.
    full : (some,) int
        Columns that are made dense and shifted before centring.
    """

    def __init__(
        self, table: Table, center: bool, scale: bool, names: Sequence[str] | None = None, client: Any = None
    ) -> None:
        self.table, self.center, self.scale, self.passes = table, center, scale, 0
        self.client = client
        self.m, self.n = table.shape
        require_two_rows(self.m, center or scale)
        self.exponent = int(np.frexp(table.largest)[1])
        self.full = np.zeros(0, dtype=np.int64)
        self._scale = Scale(self.exponent, self.full)
        self._measure(names)

    def _measure(self, names: Sequence[str] | None) -> None:
        """Compute means, weights and variances in the pass that checks the files, and in one more if needed.

        The second pass is needed for scaling and for columns that are made dense.
        """
        m, n = self.m, self.n
        needs_extremes = self.center or self.scale
        if self.scale:
            self._scale = self._given
        self.counts, sums, squares, extremes = self.folded(_join_with_maximum, _sum_columns, needs_extremes)
        self.mean, self.weight, self.varies = np.zeros(n), np.ones(n), self.counts > 0
        if self.center and not self.scale:
            sums, squares = self._without_constants(sums, squares, extremes)
        full = np.flatnonzero((2 * self.counts > m) & self.varies) if needs_extremes else self.full
        if needs_extremes and not self.scale and not full.size:
            self.mean = sums / m
        elif needs_extremes:
            own = np.frexp(_largest(extremes))[1] if self.scale else np.zeros(n, dtype=np.int64)
            self._scale = Scale(self._scale.exponents + own, self.full)
            means = np.ldexp(sums, -own) / m
            found = self.folded(_join_with_maximum, _sum_shifted, full, means[full])
            sums, squares, plain, (high, low) = found
            if self.scale:
                constant = self.counts == 0
                constant[full] = high + low <= STILL * np.maximum(np.abs(low), np.abs(high))
                refuse_constant(constant, names)
                self.weight = 1 / np.sqrt(squares / m - (sums / m) ** 2)
            if self.center:
                self.mean, self.full = sums / m, full
                self._scale = Scale(self._scale.exponents, full, means[full])
            else:
                squares[full] = plain
        self.variances = (squares / m - self.mean**2) * self.weight**2

    def _without_constants(self, sums: Array, squares: Array, extremes: Array) -> tuple[Array, Array]:
        """Return sums and sums of squares of the columns, with 0 for those that hold one value.

        Such columns are 0 from now on. Where they are the largest by far, the unit scale becomes that of the
        others, in two more passes.
        """

        def constant() -> NDArray[np.bool_]:
            """Return which columns hold one value, by the last extremes."""
            return (self.counts == self.m) & (extremes[0] == -extremes[1])

        still = constant() & (_largest(extremes) >= NORMAL)
        if not still.any():
            return sums, squares
        if _largest(extremes)[~still].max(initial=0.0) < 0.5:
            self._scale = self._given
            *_, extremes = self.folded(_join_with_maximum, _sum_columns, True)
            still = constant()
            own = np.frexp(_largest(extremes)[~still].max(initial=0.0))[1]
            self.exponent = int(own + self._given.exponents)
            self._scale = Scale(np.where(still, GONE, self.exponent), self.full)
            _, sums, squares, _ = self.folded(_join_with_maximum, _sum_columns, False)
        self._scale = Scale(np.where(still, GONE, self.exponent), self.full)
        self.varies[still], sums[still], squares[still] = False, 0.0, 0.0
        return sums, squares

    @property
    def _given(self) -> Scale:
        """Return the scale that leaves numbers as given, unless sums of them might overflow."""
        return Scale(max(self.exponent - 900, 0), self.full)

    def folded(self, join: Join, kernel: Callable[..., Iterable[Array]], *arguments: Any) -> Part:
        """Return ``kernel(Y, *arguments)`` for the blocks Y of rows, joined in the order of the tree.

        Each call takes one pass over the data.
        """
        self.passes += 1
        function = BlockFunction(self._scale, kernel, arguments)
        if self.client is not None:
            return distributed.folded(self.client, self.table, function, join, tell)
        return folded((function(X) for X in self.table.blocks()), join)


def _sum_columns(Y: Any, needs_extremes: bool) -> Part:
    """Return counts, sums and sums of squares of every column, and its extremes if needed.

    The extremes are the largest entry and the largest negative of one, with zeros that are not stored left
    out.
    """
    n = Y.shape[1]
    counts = np.bincount(Y.indices, minlength=n)
    sums, squares = np.zeros(n), np.zeros(n)  # float64 also for a block without entries
    sums += np.bincount(Y.indices, weights=Y.data, minlength=n)
    with np.errstate(over="ignore"):  # squares of numbers as given may overflow; they are not used
        squares += np.bincount(Y.indices, weights=Y.data * Y.data, minlength=n)
    extremes = np.full((2, n if needs_extremes else 0), -np.inf)
    for one, sign in zip(extremes, (1.0, -1.0), strict=True):
        if needs_extremes:
            np.maximum.at(one, Y.indices, sign * Y.data)
    return counts, sums, squares, extremes


def _largest(extremes: Array) -> Array:
    """Return the largest absolute value of every column; 0 where nothing is stored."""
    return np.maximum(extremes.max(axis=0), 0.0)


def _sum_shifted(Y: Any, full: NDArray[np.int64], shift: Array) -> Part:
    """Return sums and sums of squares of all columns, full ones shifted, and facts about full columns.

    The facts are their sums of squares without the shift, their largest value, and the largest of their
    negatives.
    """
    n = Y.shape[1]
    sums, squares, plain = np.zeros(n), np.zeros(n), np.zeros(full.size)
    largest = np.full((2, full.size), -np.inf)
    for _, D in pieces(Y[:, full], full.size):
        largest = np.maximum(largest, (D.max(axis=0), -D.min(axis=0)))
        plain += (D * D).sum(axis=0)
        C = D - shift
        sums[full] += C.sum(axis=0)
        squares[full] += (C * C).sum(axis=0)
    rest = ~np.isin(Y.indices, full)
    at, values = Y.indices[rest], Y.data[rest]
    sums += np.bincount(at, weights=values, minlength=n)
    squares += np.bincount(at, weights=values * values, minlength=n)
    return sums, squares, plain, largest


def _join_with_maximum(one: Part, other: Iterable[Any]) -> Part:
    """Join two results: the last arrays by their maximum, all others by their sum."""
    *sums, largest = one
    *more, larger = other
    return (*added(tuple(sums), tuple(more)), np.maximum(largest, larger))
