"""Sums of products of columns of Y over some rows, from sparse entries: the work grows with the entries.

Y is the scaled data of `blocks`, whose `Rows` cut it into a `Piece` after the other and add up their
products.
"""

import numpy as np
from numpy import ndarray as Array

Block = tuple[int, int, int, int]
"""Ranges of places (a, b) and (c, d) in an order of the features."""

COST = 300
"""Time of a product that is found entry by entry, as a multiple of a product in a dense matrix product."""
AT_ONCE = 2**21
"""Maximum products that are found entry by entry together, or twice that."""


class FullPiece:
    """Columns of Y in some rows, as a dense array Y (rows, features)."""

    def __init__(self, Y: Array) -> None:
        self.Y = Y

    def product(self, a: int, b: int, c: int, d: int) -> Array:
        """Return Y_I'Y_J (b - a, d - c) for the features I in places a to b and J in places c to d."""
        return self.Y[:, a:b].T @ self.Y[:, c:d]

    def dense(self, a: int, b: int) -> Array:
        """Return the columns in places a to b."""
        return self.Y[:, a:b]


class Piece:
    """Entries of Y in some rows, in the order of the rows, and of places of the features in each row.

    Attributes
    ----------
    count : number of rows
    rows, places, values : (p,), row, place of the feature and value of each entry
    """

    def __init__(self, count: int, rows: Array, places: Array, values: Array) -> None:
        order = np.argsort(rows * (1 + int(places.max(initial=0))) + places)
        self.count, self.rows = count, rows[order]
        self.places, self.values = places[order], values[order]
        self.starts = np.searchsorted(self.rows, np.arange(count))

    def until(self, place: int) -> Array:
        """Return for each row the number of the first entry whose feature has at least this place."""
        return self.starts + np.bincount(self.rows[self.places < place], minlength=self.count)

    def product(self, a: int, b: int, c: int, d: int) -> Array:
        """Return Y_I'Y_J (b - a, d - c) for the features I in places a to b and J in places c to d.

        Each sum has as many additions as it has terms that are not 0, at most: 0 + 0 is exact.
        """
        mine = np.flatnonzero((self.places >= a) & (self.places < b))
        first, last = self.until(c), self.until(d)
        lengths = (last - first)[self.rows[mine]]
        if COST * lengths.sum() > self.count * (b - a) * (d - c):
            own = self.dense(a, b)
            return own.T @ (own if (a, b) == (c, d) else self.dense(c, d))
        total, ends = np.zeros((b - a) * (d - c)), np.cumsum(lengths)
        cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1:].sum(), AT_ONCE), side="right")
        for some in np.split(np.arange(mine.size), np.unique(cuts)):
            here, long = mine[some], lengths[some]
            each = np.repeat(np.arange(here.size), long)
            other = np.arange(each.size) + np.repeat(first[self.rows[here]] - np.cumsum(long) + long, long)
            to = (self.places[here] - a)[each] * (d - c) + self.places[other] - c
            values = self.values[here][each] * self.values[other]
            total += np.bincount(to, weights=values, minlength=total.size)
        return total.reshape(b - a, d - c)

    def dense(self, a: int, b: int) -> Array:
        """Return the columns in places a to b as a dense array."""
        D, here = np.zeros((self.count, b - a)), (self.places >= a) & (self.places < b)
        D[self.rows[here], self.places[here] - a] = self.values[here]
        return D
