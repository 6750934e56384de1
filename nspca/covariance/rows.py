"""Rows ``Z = (Y - f mean') * weight`` behind a covariance, with Y in blocks of rows, in memory or on disk.

A *table* has a `shape`, a `digest`, its `largest` absolute value, and `blocks()`, which yields its rows in
order as CSR or dense arrays, as often as asked. `Rows` measures the columns of a table in a few passes, and
then applies functions of this package to every block of Y. Their results are joined in the order of
`nspca.covariance.parallel`, so a pass gives the same bits here and on the workers of a Dask client.

The factors f of the rows are 1, unless samples in memory have weights. The rows of Y are then multiplied
by f.

A table in memory is one block. It is held as Y: a dense one centred and weighted, so that Y is Z, and a
sparse one by rows and by columns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance.linalg import Array, Indices, one_thread, scaled
from nspca.covariance.moments import STILL
from nspca.covariance.numbers import refuse_rounded
from nspca.covariance.parallel import Join, Part, added, folded, folded_on_workers
from nspca.errors import InvalidProblem
from nspca.progress import tell

GONE = 5000
"""Binary exponent of columns that count as 0: every float divided by 2**GONE is 0."""
NORMAL = 2.0**-900
"""Least size of a number in unit scale that has certainly not lost digits."""
AT_ONCE = 2**22
"""Maximum entries of a dense piece: 32 MB."""
SECOND_ORDER = 2**31
"""Maximum bytes of a sparse table in column order; beyond, columns are taken out of rows."""


class Table(Protocol):
    """A table that can be read in blocks of rows."""

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
        """Yield the rows in order, as CSR or dense blocks."""


@dataclass(frozen=True, eq=False)
class Scale:
    """Transformation of table rows into Y: a power of two (for all or per column), a shift of full columns.

    Numbers are divided by ``2**exponents``. The columns `full` are made dense, and `shift` is taken off them.
    """

    exponents: Any
    full: np.ndarray
    shift: Array | None = None

    def of(self, X: Any) -> Any:
        """Return a block of rows in unit scale, with full columns shifted.

        The block is a dense array where X is or where most columns are full, and sparse otherwise.
        """
        if isinstance(X, np.ndarray) or (self.shift is not None and 2 * self.full.size > X.shape[1]):
            D = scaled(X if isinstance(X, np.ndarray) else X.toarray(), -np.asarray(self.exponents))
            if self.shift is not None:
                whole = self.full.size == D.shape[1]
                D[:, slice(None) if whole else self.full] -= self.shift
            return D
        exponents = self.exponents[X.indices] if isinstance(self.exponents, np.ndarray) else self.exponents
        Y = sp.csr_array((np.ldexp(X.data, -exponents), X.indices, X.indptr), shape=X.shape)
        if self.full.size:
            Y = with_columns(Y, self.full, Y[:, self.full].toarray() - self.shift)
        return Y


@dataclass(frozen=True, eq=False)
class BlockFunction:
    """Function that a pass applies to every block X of the table; it is sent to workers.

    The function is ``kernel(Y, *arguments)``, where `scale` turns X into Y; None leaves X as it is.
    """

    scale: Scale | None
    kernel: Any
    arguments: tuple[Any, ...]

    def __call__(self, X: Any) -> Iterator[Array]:
        """Yield the arrays of the kernel for a block X of the table."""
        refuse_rounded(X if isinstance(X, np.ndarray) else X.data, "data")
        with one_thread():  # the last bits of a sum depend on the number of threads
            yield from self.kernel(X if self.scale is None else self.scale.of(X), *self.arguments)


class Rows:
    """Rows of a table as rows of ``Z = (Y - f mean') * weight``, Y sparse unless most columns are full.

    Parameters
    ----------
    table : Table
    center, scale : bool
    names : sequence of str, optional
        Names of the columns, for errors.
    client : optional
        Client of a Dask cluster whose workers read the table.
    in_memory : bool
        Whether the table is one block that is held.
    factors : (m,) float64, optional
        Factors f of the rows of a table in memory; see `nspca.covariance.weighing.Weights`.

    Attributes
    ----------
    m, n : int
    held : (m, n) array or None
        Y of a table in memory.
    exponent : int
        Exponent of the unit scale.
    passes : int
        Number of times that all rows were read.
    counts : (n,) int
        Nonzeros of the columns.
    mean, weight, variances : (n,)
    factors : (m,) or (1,)
        Factors f of the rows; a single 1 without weights.
    varies : (n,) bool
        Columns that are not 0 and, with centring, do not hold one value.
    """

    def __init__(
        self,
        table: Table,
        center: bool,
        scale: bool,
        names: Sequence[str] | None = None,
        client: Any = None,
        in_memory: bool = False,
        factors: Array | None = None,
    ) -> None:
        self.table, self.center, self.scale, self.passes = table, center, scale, 0
        self.client, self.held = client, None
        self.m, self.n = table.shape
        self.factors = np.ones(1) if factors is None else factors
        require_two_rows(self.m, center or scale)
        self.exponent = int(np.frexp(table.largest)[1])
        self._none = np.zeros(0, dtype=np.int64)
        self._scale = Scale(self.exponent, self._none)
        self._measure(names)
        if in_memory:
            self._hold(is_weighted=factors is not None)

    def _measure(self, names: Sequence[str] | None) -> None:
        """Compute means, weights and variances in the pass that checks the files, and in one more if needed.

        The second pass is needed for scaling and for columns that are made dense.
        """
        m, n = self.m, self.n
        needs_extremes = self.center or self.scale
        if self.scale:
            self._scale = self._given
        self.counts, sums, squares, extremes = self._sums(needs_extremes)
        self.mean, self.weight, self.varies = np.zeros(n), np.ones(n), self.counts > 0
        if self.center and not self.scale:
            sums, squares = self._without_constants(sums, squares, extremes)
        full = np.flatnonzero((2 * self.counts > m) & self.varies) if needs_extremes else self._none
        if needs_extremes and not self.scale and not full.size:
            self.mean = sums / m
        elif needs_extremes:
            own = np.frexp(_largest(extremes))[1] if self.scale else np.zeros(n, dtype=np.int64)
            self._scale = Scale(self._scale.exponents + own, self._none)
            means = np.ldexp(sums, -own) / m
            found = self.fold(_join_with_maximum, _sum_shifted, full, means[full])
            sums, squares, plain, (high, low) = found
            if self.scale:
                constant = self.counts == 0
                constant[full] = high + low <= STILL * np.maximum(np.abs(low), np.abs(high))
                refuse_constant(constant, names)
                self.weight = 1 / np.sqrt(squares / m - (sums / m) ** 2)
            if self.center:
                self.mean = sums / m
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
            return (self.counts == self.m) & (extremes[0] == -extremes[1])

        still = constant() & (_largest(extremes) >= NORMAL)
        if not still.any():
            return sums, squares
        if _largest(extremes)[~still].max(initial=0.0) < 0.5:
            self._scale = self._given
            *_, extremes = self._sums(True)
            still = constant()
            own = np.frexp(_largest(extremes)[~still].max(initial=0.0))[1]
            self.exponent = int(own + self._given.exponents)
            self._scale = Scale(np.where(still, GONE, self.exponent), self._none)
            _, sums, squares, _ = self._sums(False)
        self._scale = Scale(np.where(still, GONE, self.exponent), self._none)
        self.varies[still], sums[still], squares[still] = False, 0.0, 0.0
        return sums, squares

    def _sums(self, needs_extremes: bool) -> Part:
        """Return the results of `_sum_columns` in the present scale, in one pass."""
        self.passes += 1
        function = BlockFunction(None, _sum_columns, (self._scale, needs_extremes))
        return self._folded(_join_with_maximum, function)

    @property
    def _given(self) -> Scale:
        """Return the scale that leaves numbers as given, unless sums of them might overflow."""
        return Scale(max(self.exponent - 900, 0), self._none)

    def _hold(self, is_weighted: bool) -> None:
        """Hold Y of the only block; of a dense one, Y becomes Z."""
        (X,) = self.table.blocks()
        self.held, self.passes = self._scale.of(X), 0
        if is_weighted:
            self._weigh()
        if isinstance(self.held, np.ndarray):
            self.held -= np.outer(self.factors, self.mean)
            self.held *= self.weight
            self.mean, self.weight = np.zeros(self.n), np.ones(self.n)
            self.variances = np.einsum("ij,ij->j", self.held, self.held) / self.m
        del self.table

    def _weigh(self) -> None:
        """Multiply the rows of the held Y by their factors; compute weighted means and variances."""
        Y: Any = self.held
        w = np.square(self.factors)
        mean = w @ Y / self.m
        if isinstance(Y, np.ndarray):
            variances = np.einsum("i,ij,ij->j", w, Y - mean, Y - mean) / self.m
            Y *= self.factors[:, None]
        else:
            of_entries = np.repeat(w, np.diff(Y.indptr)) / self.m
            far = of_entries * np.square(Y.data - mean[Y.indices])
            share = np.bincount(Y.indices, weights=of_entries, minlength=self.n)
            variances = np.bincount(Y.indices, weights=far, minlength=self.n) + (1 - share) * mean**2
            Y.data *= np.repeat(self.factors, np.diff(Y.indptr))
        if self.scale:
            self.weight = 1 / np.sqrt(variances)
        self.mean = mean if self.center else np.zeros(self.n)
        self.variances = (variances + (0 if self.center else mean**2)) * self.weight**2

    @cached_property
    def by_columns(self) -> Any:
        """Return the held Y, a sparse one in column order unless a second copy is too large."""
        Y: Any = self.held
        is_small = sp.issparse(Y) and Y.data.nbytes + Y.indices.nbytes <= SECOND_ORDER
        return sp.csc_array(Y) if is_small else Y

    def fold(
        self, join: Join, kernel: Callable[..., Iterable[Array]], *arguments: Any, columns: bool = False
    ) -> Part:
        """Return ``kernel(Y, *arguments)`` for the blocks Y of rows, joined in the order of the tree.

        Each call takes one pass over the data. A kernel of few `columns` gets a held Y in column order.
        """
        self.passes += 1
        if self.held is not None:
            return tuple(kernel(self.by_columns if columns else self.held, *arguments))
        return self._folded(join, BlockFunction(self._scale, kernel, arguments))

    def _folded(self, join: Join, function: BlockFunction) -> Part:
        """Return the results of a function for all blocks of the table, read here or by workers."""
        if self.client is not None:
            return folded_on_workers(self.client, self.table, function, join, tell)
        return folded((function(X) for X in self.table.blocks()), join)

    def selected(self, features: Indices | Sequence[int] | slice) -> Array:
        """Return columns of Z (m, p), dense, of rows that are held."""
        if isinstance(self.held, np.ndarray):
            return self.held[:, features]
        means = np.outer(self.factors, self.mean[features])
        return (self.by_columns[:, features].toarray() - means) * self.weight[features]

    def part(self, features: Indices, Y: Any) -> "Rows":
        """Return the rows of some features in memory; Y (m, p) are their columns of Y."""
        part = copy(self)
        part.__dict__.pop("by_columns", None)
        part.n, part.held, part.client, part.passes = len(features), Y, None, 0
        for name in ("mean", "weight", "varies", "counts", "variances"):
            setattr(part, name, getattr(self, name)[features])
        return part


def require_two_rows(m: int, is_centred_or_scaled: bool) -> None:
    """Refuse data of fewer than 2 rows when they are to be centred or scaled."""
    if is_centred_or_scaled and m < 2:
        raise InvalidProblem(
            f"centring or scaling needs at least 2 rows (samples), got {m}; is the table the other way round?"
        )


def refuse_constant(constant: NDArray[np.bool_], names: Any) -> None:
    """Refuse to scale when any column is `constant` (n,); the error lists columns by `names` or by number."""
    found = np.flatnonzero(constant)
    if found.size:
        shown = ", ".join(str(names[j]) if names is not None else str(j + 1) for j in found[:5])
        more = f" and {found.size - 5} more" if found.size > 5 else ""
        raise InvalidProblem(
            f"scaling needs columns that vary, got constant columns {shown}{more}; drop them or turn "
            "scaling off"
        )


def with_columns(X: Any, which: NDArray[np.int64], C: Any) -> Any:
    """Return sparse X (m, n) with the columns `which` replaced by the columns of the dense C."""
    if which.size == 0:
        return X
    rest = np.setdiff1d(np.arange(X.shape[1]), which)
    order = np.argsort(np.concatenate((rest, which)))
    return sp.csr_array(sp.hstack((X[:, rest], sp.csr_array(C)), format="csc")[:, order])


def pieces(X: Any, width: int) -> Iterator[tuple[int, Array]]:
    """Yield rows of X as dense arrays of at most `AT_ONCE` entries, each with the number of its first row."""
    step = max(1, AT_ONCE // max(width, 1))
    for start in range(0, X.shape[0] if width else 0, step):
        part = X[start : start + step]
        yield start, part if isinstance(part, np.ndarray) else part.toarray()


def _sum_columns(X: Any, scale: Scale, needs_extremes: bool) -> Part:
    """Return counts of nonzeros of a block X, and sums, sums of squares and, if needed, extremes of Y.

    The extremes are the largest entry and the largest negative of one, with zeros that are not stored left
    out. A number that underflows in Y still counts.
    """
    n, Y = X.shape[1], scale.of(X)
    counts, sums, squares = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n)
    extremes = np.full((2, n if needs_extremes else 0), -np.inf)
    with np.errstate(over="ignore"):  # squares of numbers as given may overflow; they are not used
        if isinstance(Y, np.ndarray):
            counts += np.count_nonzero(X, axis=0)
            for _, D in pieces(Y, n):
                sums += D.sum(axis=0)
                squares += np.einsum("ij,ij->j", D, D)
                if needs_extremes:
                    extremes = np.maximum(extremes, (D.max(axis=0), -D.min(axis=0)))
            return counts, sums, squares, extremes
        counts += np.bincount(Y.indices, minlength=n)
        sums += np.bincount(Y.indices, weights=Y.data, minlength=n)
        squares += np.bincount(Y.indices, weights=Y.data * Y.data, minlength=n)
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
    dense = isinstance(Y, np.ndarray)
    for _, D in pieces(Y if full.size == n else Y[:, full], full.size):
        largest = np.maximum(largest, (D.max(axis=0), -D.min(axis=0)))
        plain += np.einsum("ij,ij->j", D, D)
        C = D - shift
        sums[full] += C.sum(axis=0)
        squares[full] += np.einsum("ij,ij->j", C, C)
    if dense:
        rest = np.setdiff1d(np.arange(n), full)
        for _, D in pieces(Y[:, rest], rest.size):
            sums[rest] += D.sum(axis=0)
            squares[rest] += np.einsum("ij,ij->j", D, D)
        return sums, squares, plain, largest
    others = ~np.isin(Y.indices, full)
    at, values = Y.indices[others], Y.data[others]
    sums += np.bincount(at, weights=values, minlength=n)
    squares += np.bincount(at, weights=values * values, minlength=n)
    return sums, squares, plain, largest


def _join_with_maximum(one: Part, other: Iterable[Any]) -> Part:
    """Join two results: the last arrays by their maximum, all others by their sum."""
    *sums, largest = one
    *more, larger = other
    return (*added(tuple(sums), tuple(more)), np.maximum(largest, larger))
