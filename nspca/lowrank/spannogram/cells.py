"""Enumerate the candidate supports of a rank-d problem: the cells of the nonnegative spannogram.

Reference: Asteris et al. 2014, Section 4 and Alg. 2.

For a unit c in R^d let ``I_k+(Vc)`` be the at most k largest positive entries of Vc. The n curves
``c -> (Vc)_i`` and the zero curve cut the sphere into cells on which that set is constant. Every cell is a
pointed cone (V has full rank after reduction), so it has an extreme ray, and at an extreme ray d of the n + 1
curves meet. So every set is found by enumerating the points where d curves meet and the cells around each
point. There are at most ``2^d C(n+1, d)`` sets.

The sets depend on the range of V only, so the enumeration runs on an orthonormal basis of it. `exact` calls
`candidate_supports`. The method `spannogram` asks `enumerable` whether the enumeration can finish.
"""

from collections.abc import Callable, Iterator
from itertools import chain, combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from nspca.covariance.linalg import Array, binary_exponent
from nspca.errors import InvalidProblem, Refused
from nspca.progress import Event, Report, silent

Sets = NDArray[np.bool_]
"""Sets of rows as a mask (count, n); in some functions, a mask (count,)."""
Indices = NDArray[np.intp]
TIE = 1e-10
"""Values closer than this count as tied, where the largest row of the basis has length 1.

A cell thinner than this can be missed, at a relative loss in value of that order. 1e-10 is far above the
rounding of Vc and far below any tolerance shown.
"""
RANK = 1e-12
"""Singular values below this share of the largest are zero: values change by less than ``n`` times it."""
MAX_INTERSECTIONS = 10_000_000
"""Maximum number of intersections: about a minute of one core. For more, use the cone search."""
BLOCK = 1 << 21
"""Maximum entries of a block of intersections x curves, so that progress is reported ten times a second."""


def most_candidates(n: int, d: int, k: int, nonneg: bool = True) -> int:
    """Return the bound ``2^d C(n+1, d)`` on the number of candidate supports.

    Section 4 of Asteris et al. 2014. The signed problem is the nonnegative one on the 2n rows of ``[V; -V]``.
    No more than all k-subsets can occur.
    """
    d, rows = min(n, d), n if nonneg else 2 * n
    return min(2**d * comb(rows + 1, d), sum(comb(n, size) for size in range(k + 1)))


def candidate_supports(V: Array, k: int, report: Report = silent, nonneg: bool = True) -> Indices:
    """Return all supports ``I_k+(Vc)`` over unit c (Alg. 2), up to ties that do not change the value.

    Identical rows are represented by those with the lowest indices. Zero rows never occur.

    Returns
    -------
    supports : (count, k) int64, every row sorted and padded at its end with -1
    """
    n, d = V.shape
    if not 1 <= k <= n:
        raise InvalidProblem(f"k must be between 1 and n = {n}, got {k}")
    rows, alive = enumerable(V, nonneg)
    cells = _cells(
        rows[alive], k, True, d, lambda done, total: report(Event("intersections", done, total, k=k))
    )
    sets = np.zeros((len(cells), len(rows)), bool)
    sets[:, alive] = cells
    if not nonneg:
        sets = _distinct(np.any(sets.reshape(-1, 2, n), axis=1))
    return index_rows(sets, k)


def enumerable(V: Array, nonneg: bool) -> tuple[Array, Sets]:
    """Return the rows of the nonnegative problem equivalent to V (n, d), and a mask of its nonzero rows.

    A signed problem has the rows ``[V; -V]``. The mask has at least one row, even when all are zero.

    Raises
    ------
    Refused : more than `MAX_INTERSECTIONS` points where curves meet
    """
    rows = (V if nonneg else np.concatenate([V, -V])) * 2.0 ** -binary_exponent(
        V
    ) + 0.0  # no -0.0: equal rows must compare equal
    alive: Sets = np.any(rows, axis=1)
    alive[0] |= not alive.any()  # one row has to be there; a zero row is never chosen
    curves, _ = _whitened(rows[alive], True, V.shape[1])
    if (total := comb(len(curves) + 1, curves.shape[1])) > MAX_INTERSECTIONS:
        raise Refused(
            f"at most {MAX_INTERSECTIONS:,} points where curves cross are checked one by one, but "
            f"{len(curves)} curves in {curves.shape[1]} directions may cross in {total:,}; use the method "
            "'cone', which is exact to a tolerance for any number of features"
        )
    return rows, alive


def _cells(points: Array, k: int, anchored: bool, limit: int, beat: Callable[[int, int], None]) -> Sets:
    """Return a mask (count, m) of every set of the k largest of the m values ``points @ c``.

    More than d curves may meet in a point, because of ties, duplicates or any other degenerate position. The
    order around such a point is found by this function one dimension lower, for the curves that meet there.

    Parameters
    ----------
    anchored : bool
        Whether only values above zero count, so that a set has at most k. Otherwise exactly k are taken, and
        only differences of rows matter.
    limit : int
        Maximum number of dimensions; the others are rounding.
    beat : callable
        ``beat(done, total)`` is called for every block of intersections.
    """
    curves, place = _whitened(points, anchored, limit)
    e = curves.shape[1]
    if e <= 1:
        return _cells_on_line(curves[place, :1].sum(axis=1), k, anchored)
    corners = np.vstack([curves, np.zeros((1, e))]) if anchored else curves
    copies = np.bincount(place).astype(np.float32)
    total, done, found, local = comb(len(corners), e), 0, [], {}
    for subset in _blocks(len(corners), e, max(1, BLOCK // len(points))):
        beat(done, total)
        c, t = _meeting_points(corners[subset], anchored)
        gap = c @ curves.T
        gap -= t[:, None]
        above, near = gap > TIE, gap >= -TIE
        # Vectorised float32 products of 0 and 1 can raise flags for lanes beyond the array.
        with np.errstate(invalid="ignore"):
            more, upto = (mask.astype(np.float32) @ copies for mask in (above, near))
        at_zero = (t == 0) if anchored else np.zeros(len(t), bool)
        changes = (more < k) & np.where(at_zero, upto > more, upto > k)
        above, tied, at_zero = above[changes][:, place], (near ^ above)[changes][:, place], at_zero[changes]
        r = k - above.sum(axis=1)
        simple = tied.sum(axis=1) == e - at_zero
        found += list(_around_simple(above[simple], tied[simple], r[simple], at_zero[simple]))
        for row in np.flatnonzero(~simple):
            key = tied[row].tobytes(), int(r[row]), bool(at_zero[row])
            if key not in local:
                local[key] = _cells(
                    curves[place[tied[row]]], key[1], key[2], e - 1, lambda *_, now=done: beat(now, total)
                )
            sets = np.repeat(above[row : row + 1], len(local[key]), axis=0)
            sets[:, tied[row]] = local[key]
            found.append(sets)
        found = [_distinct(np.concatenate(found))] if found else []
        done += len(subset)
    beat(total, total)
    return found[0]


def _whitened(points: Array, anchored: bool, limit: int) -> tuple[Array, Indices]:
    """Return the distinct rows in orthonormal coordinates of their span, and the row of each point.

    The largest row has length 1. Reducing to the rank makes every cell a pointed cone; equal rows stay equal.
    """
    distinct, place = np.unique(points, axis=0, return_inverse=True)
    if not anchored:
        distinct = distinct - distinct.mean(axis=0)
    left, s, _ = np.linalg.svd(distinct, full_matrices=False)
    curves = left[:, :limit][:, s[:limit] > RANK * s.max(initial=0.0)]
    return curves / max(
        np.sqrt(np.square(curves).sum(axis=1)).max(initial=0.0), np.finfo(float).tiny
    ), place.ravel()


def _cells_on_line(values: Array, k: int, anchored: bool) -> Sets:
    """Return the sets for rank 1, from c = 1 and c = -1 (Section 3.1).

    For rank 0 all curves are equal, and the first k stand for all.
    """
    sets = np.zeros((2, len(values)), bool)
    for row, signed in zip(sets, (values, -values), strict=True):
        first = np.argsort(-signed, kind="stable")[:k]
        row[first[signed[first] > TIE] if anchored else first] = True
    return _distinct(sets)


def _meeting_points(corners: Array, anchored: bool) -> tuple[Array, Array]:
    """Return unit c with ``(v_1 - v_j)'c = 0`` for the e rows of every subset, and their common value t.

    Subsets whose rows do not determine c are left out. With `anchored`, the sign of c is that with t > 0, and
    both signs are returned where t = 0. Otherwise both signs are always returned.
    """
    edges = corners[:, 1:] - corners[:, :1]
    length = np.sqrt(np.square(edges).sum(axis=2, keepdims=True))
    Q, R = np.linalg.qr(np.swapaxes(edges / np.where(length > 0, length, 1.0), 1, 2), mode="complete")
    fixed = (np.abs(np.diagonal(R, axis1=1, axis2=2)) > TIE).all(axis=1)
    c = Q[fixed, :, -1]
    t = np.einsum("se,se->s", corners[fixed, 0], c)
    if not anchored:
        return np.concatenate([c, -c]), np.concatenate([t, -t])
    c, t = np.where(t < 0, -1.0, 1.0)[:, None] * c, np.abs(t)
    t[t <= TIE] = 0.0
    return np.concatenate([c, -c[t == 0]]), np.concatenate([t, t[t == 0]])


def _around_simple(above: Sets, tied: Sets, r: Indices, at_zero: Sets) -> Iterator[Sets]:
    """Yield the sets around points in general position, where the curves that meet are affinely independent.

    Then any r of these curves are on top in some cell; at zero, any at most r of them.
    """
    for zero in (False, True):
        for size in np.unique(r[at_zero == zero]):
            here = (at_zero == zero) & (r == size)
            width = int(tied[here][0].sum())
            columns = np.nonzero(tied[here])[1].reshape(-1, width)
            for count in range(min(size, width) + 1) if zero else (size,):
                for pick in combinations(range(width), count):
                    sets = above[here]
                    np.put_along_axis(sets, columns[:, pick], True, axis=1)
                    yield _distinct(sets)


def _blocks(m: int, size: int, rows: int) -> Iterator[Indices]:
    """Yield all subsets of `size` out of m numbers, in blocks of at most `rows` subsets."""
    subsets = combinations(range(m), size)
    while (block := np.fromiter(chain.from_iterable(islice(subsets, rows)), np.intp)).size:
        yield block.reshape(-1, size)


def _distinct(sets: Sets) -> Sets:
    """Return the different rows of a mask, compared in packed form."""
    packed = np.packbits(sets, axis=1)
    kept = np.unique(packed.view(f"V{packed.shape[1]}").ravel())
    return np.unpackbits(kept.view(np.uint8).reshape(len(kept), -1), axis=1, count=sets.shape[1]).view(bool)


def index_rows(sets: Sets, k: int) -> Indices:
    """Return the sets of a mask (count, m) as indices (count, k), every row sorted and padded with -1."""
    row, column = np.nonzero(sets)
    slot = np.arange(len(row)) - np.searchsorted(row, row)
    supports = np.full((len(sets), k), -1)
    supports[row, slot] = column
    return supports
