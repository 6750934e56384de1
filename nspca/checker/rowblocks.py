"""The matrix A of data that come in blocks of rows: as `matrix`, but no column is ever held whole.

Given is a reader: `shape` and `blocks()`, the rows in order as compressed rows, as often as they are asked
for. It is believed in nothing: what is read in the first pass is hashed block by block, and each later pass
must bring the same blocks.

Y is the float64 matrix that X, times a power of two, becomes when columns that are more than half full are
shifted by a float near their mean. A is *defined* as the covariance of Y, whose exact means are taken off,
with columns times float64 weights if they are scaled: A_ij = (y_i'y_j / m - mean(y_i) mean(y_j)) w_i w_j.
Without centring no mean is taken off, and nothing is shifted.

Roundings. Sums run over pieces of rows, so a term goes through at most `depth` additions. With
r_j = |y_j| / sqrt(m), an entry is off by at most gamma(3 depth + 24) r_i r_j w_i w_j: that of y_i'y_j / m by
depth + 2 roundings, that of the means' product, as mean |y_j| <= r_j, by 2 depth + 4, and 5 to put them
together. A size is at least the root of A_jj and at least r_j w_j / sqrt(2), so it is off by at most
gamma(6 depth + 64) size_i size_j. Of a column at most half full the second adds nothing: there mean^2 is at
most the variance, by Cauchy-Schwarz.
"""

import hashlib
import itertools

import numpy as np

from nspca.checker import matrix
from nspca.checker.matrix import Matrix
from nspca.checker.refusal import require
from nspca.checker.rounding import ROOT_TINY, TINY, gamma

PIECE = 4096
"""Rows looked at together."""
AT_ONCE = 2**22
"""Numbers written out together, of columns that are shifted."""
SUMS = 2**25
"""Sums held together while entries of A are looked at."""


class RowMatrix(Matrix):
    """A for blocks of its features, each in a pass over the rows; all of it in one where it is not large."""

    by_rows = True

    def __init__(self, data, recipe):
        shape = tuple(int(s) for s in data.shape)
        right = len(shape) == 2 and shape == tuple(recipe.shape) and min(shape) > 0
        require(right, f"the data must have shape {tuple(recipe.shape)}, got {shape}")
        require(recipe.source == "data", f"rows are data, the certificate is about a {recipe.source!r}")
        (self.m, self.n), self.reader, self.entries, self.relative = shape, data, None, False
        self.center, self.scale, self.prints = recipe.center, recipe.scale, None
        self.whole, self.piece = None, PIECE
        self._read(recipe.digest)
        self.exponent = 0 if self.scale else 2 * int(self.shift_of_all)
        words = f"the exponent of the unit scale is {self.exponent}, the certificate says {recipe.exponent}"
        require(recipe.exponent == self.exponent, words)

    # --- passes ---------------------------------------------------------------------------------------------

    def passed(self):
        """The blocks (starts, columns, values), each copied and looked at: the same ones in every pass."""
        rows, prints = 0, []
        for number, X in enumerate(self.reader.blocks()):
            starts, columns = (np.array(part, "<i8") for part in (X.indptr, X.indices))
            values = np.array(X.data, "<f8")
            self._in_order(starts, columns, values)
            rows += starts.size - 1
            own = hashlib.sha256()
            for part in (starts, columns, values):
                own.update(part.data)
            prints.append(own.digest())
            same = self.prints is None or prints[-1] == (self.prints[number : number + 1] or [None])[0]
            require(same, f"block {number} of the data is not what it was when it was read first")
            yield starts, columns, values
        require(rows == self.m, f"the data must have {self.m} rows, got {rows}")
        require(self.prints in (None, prints), "the data have fewer blocks than when they were read first")
        self.prints = prints

    def _in_order(self, starts, columns, values):
        """Compressed rows whose columns rise, with finite numbers that are not 0: one table, one hash."""
        flat = starts.ndim == columns.ndim == values.ndim == 1 and starts.size > 0
        agree = flat and starts[0] == 0 and starts[-1] == columns.size == values.size
        require(agree and (np.diff(starts) >= 0).all(), "the parts of the data disagree")
        inside = ((columns >= 0) & (columns < self.n)).all()
        rising = np.diff(columns) > 0
        rising[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < columns.size)] - 1] = True
        require(inside and rising.all(), "the columns of a row of the data must rise, and be there")
        require(np.isfinite(values).all() and values.all(), "the data must be finite numbers, zeros left out")

    def _read(self, wanted):
        """Three passes: the content hash takes the parts one after the other. With each goes what is known by
        then: counts and sizes; means; sums and sums of squares of Y.
        """
        n, digest = self.n, hashlib.sha256(f"sparse {self.m} {self.n}".encode())
        before, counts, largest = 0, np.zeros(n, dtype=np.int64), np.zeros(n)
        for number, (starts, columns, values) in enumerate(self.passed()):
            digest.update(starts[bool(number) :] + before)
            before += int(starts[-1])
            counts += np.bincount(columns, minlength=n)
            np.maximum.at(largest, columns, np.abs(values))
        self.shift_of_all = np.frexp(largest.max(initial=0.0))[1]
        self.exponents = np.frexp(largest)[1] if self.scale else np.full(n, self.shift_of_all)
        sums = np.zeros(n)
        for _, columns, values in self.passed():
            digest.update(columns)
            sums += np.bincount(columns, weights=self.unit(columns, values), minlength=n)
        full = 2 * counts > self.m if self.center or self.scale else np.zeros(n, dtype=bool)
        self.shifts = np.where(full, sums / self.m, 0.0)
        self.piece = max(1, min(PIECE, AT_ONCE // max(1, int(np.count_nonzero(full)))))
        squares, plain, same = np.zeros(n), np.zeros(n), full.copy()
        sums, pieces, first = np.zeros(n), 0, None
        for starts, columns, values in self.passed():
            digest.update(values)
            for at, y in self.pieces(starts, columns, values):
                pieces += 1
                sums += np.bincount(at[1], weights=y, minlength=n)
                squares += np.bincount(at[1], weights=y * y, minlength=n)
            if self.scale:
                first = self.still(starts, columns, values, same, first)
                z = self.unit(columns, values)
                plain += np.bincount(columns, weights=z * z, minlength=n)
        right = digest.hexdigest() == wanted
        require(right, "the data is not the data of the certificate: the digests differ")
        self._sizes_of(sums, squares, plain, pieces, same | (counts == 0))

    def _sizes_of(self, sums, squares, plain, pieces, constant):
        """Means, weights and sizes."""
        m, n, any_ = self.m, self.n, squares > 0
        depth = min(m + 1, self.piece + pieces + 1)
        self.weights = np.ones(n)
        if self.scale:
            require(not constant.any(), "a constant column cannot be scaled to unit variance")
            variance = squares / m - (sums / m) ** 2
            require((variance > 0).all(), "a constant column cannot be scaled to unit variance")
            self.weights = 1 / np.sqrt(variance)
        if not self.center:  # nothing was shifted but for the deviations
            squares = plain if self.scale else squares
            self.shifts, any_ = np.zeros(n), squares > 0
        self.means = sums / m if self.center else np.zeros(n)
        own = gamma(3 * depth + 24)
        r = np.sqrt(squares / m) * (1 + own) + ROOT_TINY * any_
        size = r
        if self.center:
            left = np.maximum(squares / m - self.means**2, 0.0)
            size = np.maximum(np.sqrt(left + own * r * r), r * np.sqrt(0.5)) + ROOT_TINY * any_
        self.size = size * self.weights * (1 + own + gamma(16))
        self.eps, self.more = gamma(6 * depth + 64), 6 * depth + 64
        self.lost = TINY * max(1.0, float(self.weights.max()) ** 2)

    def still(self, starts, columns, values, same, first):
        """Which full columns hold one value, zeros included, as far as they were read; that value."""
        X = np.zeros(self.n) if first is None else first
        full = np.flatnonzero(same)
        for start in range(0, starts.size - 1, self.piece):
            D = self.dense(starts[start : start + self.piece + 1], columns, values, full)
            if first is None and len(D):
                first = X
                X[full] = D[0]
            same[full] &= (X[full] == D).all(axis=0)
        return first

    # --- Y --------------------------------------------------------------------------------------------------

    def unit(self, columns, values):
        """Values times their power of two."""
        return np.ldexp(values, -self.exponents[columns])

    def pieces(self, starts, columns, values):
        """Entries of Y ((rows, columns), y), some rows at a time; shifted columns have one in every row."""
        shifted = np.flatnonzero(self.shifts)
        apart = np.zeros(self.n, dtype=bool)
        apart[shifted] = True
        for start in range(0, starts.size - 1, self.piece):
            part = starts[start : start + self.piece + 1]
            here = slice(part[0], part[-1])
            at, rows = columns[here], np.repeat(np.arange(part.size - 1), np.diff(part))
            y = self.unit(at, values[here])
            if shifted.size:
                D = self.dense(part, columns, values, shifted) - self.shifts[shifted]
                rest = ~apart[at]
                rows = np.concatenate((rows[rest], np.repeat(np.arange(len(D)), shifted.size)))
                at = np.concatenate((at[rest], np.tile(shifted, len(D))))
                y = np.concatenate((y[rest], D.ravel()))
            yield (rows, at), y

    def dense(self, part, columns, values, J):
        """The columns J of the rows of `part`, at unit scale, not shifted."""
        place = np.full(self.n, -1)
        place[J] = np.arange(len(J))
        at = columns[part[0] : part[-1]]
        rows, to = np.repeat(np.arange(part.size - 1), np.diff(part)), place[at]
        D = np.zeros((part.size - 1, len(J)))
        keep = to >= 0
        D[rows[keep], to[keep]] = self.unit(at, values[part[0] : part[-1]])[keep]
        return D

    def written_out(self, J):
        """The columns J of Y, piece by piece."""
        for starts, columns, values in self.passed():
            for start in range(0, starts.size - 1, self.piece):
                part = starts[start : start + self.piece + 1]
                yield self.dense(part, columns, values, J) - self.shifts[J]

    # --- A --------------------------------------------------------------------------------------------------

    def columns(self, J):
        """Z for the features J, of few rows: Y without its means, times the weights."""
        Y = np.concatenate(list(self.written_out(J)))
        return (Y - self.means[J]) * self.weights[J]

    def block(self, I, J):
        """A[I, J], computed."""
        if self.n <= matrix.DENSE_LIMIT:
            if self.whole is None:
                self.whole = self._gram(np.arange(self.n))
            return self.whole[np.ix_(I, J)]
        both = np.union1d(I, J)
        few = both.size <= 2 * matrix.DENSE_LIMIT
        require(few, f"at most {matrix.DENSE_LIMIT} rows are looked at together, got {both.size}")
        at = [np.searchsorted(both, part) for part in (I, J)]
        return self._gram(both)[np.ix_(*at)]

    def _gram(self, J):
        G = np.zeros((len(J), len(J)))
        for Y in self.written_out(J):
            G += Y.T @ Y
        return self.finished(G, J, J)

    def finished(self, sums, I, J):
        """Entries of A from the sums y_i'y_j."""
        G = sums / self.m - np.outer(self.means[I], self.means[J])
        return G * self.weights[I][:, None] * self.weights[J]

    def largest_outside(self, outside, tau, nonneg):
        """At least every A_ij (signed: |A_ij|) with i among `outside` that is not at most tau by its sizes.

        For a feature j the others in reach are the first ones of `outside`, the largest first. Their products
        with y_j are added up over the rows in which j is not 0.
        """
        order = outside[np.argsort(-self.size[outside], kind="stable")]
        reach = np.zeros(self.n, dtype=np.int64)
        for j in np.flatnonzero(self.size * self.size[order[:1]].max(initial=0.0) > tau):
            reach[j] = np.count_nonzero(self.size[order] * self.size[j] > tau)
        waiting, worst = np.flatnonzero(reach), -np.inf
        while waiting.size and worst <= tau:
            count = max(1, int(np.searchsorted(np.cumsum(reach[waiting]), SUMS)))
            group, waiting = waiting[:count], waiting[count:]
            sums = self._products(group, order, reach)
            for j, found in zip(group, sums, strict=True):
                I = order[: found.size]
                E = self.finished(found[:, None], I, np.array([j]))[:, 0]
                E = (E if nonneg else np.abs(E)) + self.eps * self.size[I] * self.size[j]
                worst = max(worst, float(E.max()))
        return worst + self.lost

    def _products(self, group, order, reach):
        """y_j'y_i for every j of a group and the first reach[j] features i of `order`; one pass."""
        rank = np.full(self.n, self.n)
        rank[order] = np.arange(order.size)
        wanted, number = np.zeros(self.n, dtype=bool), np.full(self.n, -1)
        wanted[group], number[group] = True, np.arange(group.size)
        most, sums = int(reach[group].max()), [np.zeros(int(reach[j])) for j in group]
        for block in self.passed():
            for (rows, at), y in self.pieces(*block):
                near = rank[at] < most
                by_row = np.argsort(rows[near], kind="stable")
                others, factors = rank[at[near]][by_row], y[near][by_row]
                ends = np.searchsorted(rows[near][by_row], np.arange(rows.max(initial=-1) + 2))
                mine = np.flatnonzero(wanted[at])
                mine = mine[np.argsort(number[at[mine]], kind="stable")]
                bounds = np.searchsorted(number[at[mine]], np.arange(group.size + 1))
                for j, (start, end) in enumerate(itertools.pairwise(bounds)):
                    if start == end:
                        continue
                    own = mine[start:end]
                    first, lengths = ends[rows[own]], np.diff(ends)[rows[own]]
                    index = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(
                        lengths.sum()
                    )
                    keep = others[index] < sums[j].size
                    weights = (factors[index] * np.repeat(y[own], lengths))[keep]
                    sums[j] += np.bincount(others[index][keep], weights=weights, minlength=sums[j].size)
        return sums
