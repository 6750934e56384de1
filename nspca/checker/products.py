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
AT_ONCE = 2**16
"""Maximum products that are found entry by entry together, or twice that: they stay in the cache."""


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
    keys : (p,), row * width + place, increasing; every place is below the width
    """

    def __init__(self, count: int, rows: Array, places: Array, values: Array) -> None:
        self.count, self.width = count, 1 + int(places.max(initial=0))
        keys = rows * self.width + places
        order = np.argsort(keys)
        self.keys, self.rows = keys[order], rows[order]
        self.places, self.values = places[order], values[order]

    def until(self, place: int) -> Array:
        """Return for each row the number of the first entry whose feature has at least this place."""
        return np.searchsorted(self.keys, np.arange(self.count) * self.width + min(place, self.width))

    def product(self, a: int, b: int, c: int, d: int) -> Array:
        """Return Y_I'Y_J (b - a, d - c) for the features I in places a to b and J in places c to d.

        Each sum has as many additions as it has terms that are not 0, at most: 0 + 0 is exact.
        """
        mine = np.flatnonzero((self.places >= a) & (self.places < b))
        rows, first, last = self.rows[mine], self.until(c), self.until(d)
        lengths = (last - first)[rows]
        if COST * lengths.sum() > self.count * (b - a) * (d - c):
            own = self.dense(a, b)
            return own.T @ (own if (a, b) == (c, d) else self.dense(c, d))
        total, ends = np.zeros((b - a) * (d - c)), np.cumsum(lengths)
        begins, base = first[rows] - (ends - lengths), (self.places[mine] - a) * (d - c) - c
        cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1:].sum(), AT_ONCE), side="right")
        for some in np.split(np.arange(mine.size), np.unique(cuts)):
            long = lengths[some]
            start = int(ends[some[0]] - long[0]) if some.size else 0
            other = np.repeat(begins[some], long) + np.arange(start, start + int(long.sum()))
            to = np.repeat(base[some], long) + self.places[other]
            values = np.repeat(self.values[mine[some]], long) * self.values[other]
            np.add.at(total, to, values)
        return total.reshape(b - a, d - c)

    def dense(self, a: int, b: int) -> Array:
        """Return the columns in places a to b as a dense array."""
        D, here = np.zeros((self.count, b - a)), (self.places >= a) & (self.places < b)
        D[self.rows[here], self.places[here] - a] = self.values[here]
        return D
