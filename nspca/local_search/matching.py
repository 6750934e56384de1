"""Assign features to components exactly, the matching step of joint sparse PCA, as a transportation problem.

SciPy's assignment on s_j equal columns per component is not used. With 50 features a component it takes 5 to
15 times as long, and a solve makes hundreds of matchings. With 10 features the two are level.

    maximise  sum_j sum_{i in I_j} Q_ij   over disjoint I_1 .. I_r with |I_j| = s_j,   Q >= 0 (n, r)

The 2015 paper builds a bipartite graph with s_j equal slots per component (Alg. 4) and solves an assignment
problem. Equal slots are one sink with a capacity, so the graph that matters has r nodes: an edge a -> b says
what is gained when a feature moves from component a to b. The solution takes three steps:

1. Keep the sum(s) best features of each column. No other can be needed, because one of these is free
   whenever a worse one is used.
2. Set prices. In turn, a few times, component j lowers its price until s_j features prefer it. Every such
   state is optimal for the numbers of features assigned so far.
3. Fill the slots that are still free, along successive best paths. An unused feature enters some component,
   which passes one of its own to the next, until the path reaches a component with a free slot.

`disjoint` calls `assign` at every step of an ascent. The method `bipartite` lists `every_matching` of a tiny
problem, from which `best_labels` chooses.

Reference: Asteris et al. 2015, Algorithms 2 and 4, Lemma 2.1; Ahuja, Magnanti, Orlin 1993, section 9.7
(successive shortest paths).
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from nspca.covariance.linalg import Array, topk_mask
from nspca.errors import InvalidProblem, NotConverged

SWEEPS = 30
"""Maximum rounds of prices. Augmenting paths complete the matching, so this affects speed only."""
LISTED = 2000
"""Maximum number of matchings to list. Up to here, computing all their totals is faster than one search."""
CYCLES = 1000
"""Maximum cycles in a matching. Each raises the total by more than the tolerance, and they are rare."""
ROUNDING = 2.0**-48
"""Tolerance between two paths, relative to the largest weight: 16 roundings of sums of weights."""


def assign(weights: Array, sizes: Sequence[int]) -> np.ndarray:
    """Return the matching of largest total weight.

    Parameters
    ----------
    weights : (n, r) float64, >= 0
    sizes : sequence of r int
        Features per component, >= 1, adding up to at most n.

    Returns
    -------
    labels : (n,) int
        Component of every feature, -1 for unused; component j has exactly ``sizes[j]``. Ties go to the lowest
        index.

    Raises
    ------
    InvalidProblem
        When the sizes do not fit.
    """
    n, wanted = weights.shape[0], np.asarray(sizes, dtype=np.int64)
    if wanted.shape != weights.shape[1:] or wanted.min(initial=n) < 1 or wanted.sum() > n:
        raise InvalidProblem(
            f"matching needs {weights.shape[1]} sizes of at least 1 that add up to at most n = {n}, got "
            f"{wanted.tolist()}"
        )
    rows = candidates(weights, int(wanted.sum()))
    Q = weights[rows]
    found = _paths(Q, wanted, _priced(Q, wanted))
    labels = np.full(n, -1)
    labels[rows] = found
    return labels


def every_matching(n: int, sizes: Sequence[int]) -> np.ndarray | None:
    """Return all labels (l, n) that give `sizes` features of n to components, -1 for unused features.

    None where there are more than `LISTED`.
    """
    left, count = n, 1
    for size in sizes:
        count *= math.comb(left, size)
        left -= size
    return _listed(n, tuple(sizes)) if count <= LISTED else None


@lru_cache(maxsize=8)
def _listed(n: int, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    labels = np.full((1, n), -1)
    for j, size in enumerate(sizes):
        chosen = [(row, I) for row in labels for I in combinations(np.flatnonzero(row < 0), size)]
        labels = np.array([row for row, _ in chosen])
        for row, (_, I) in zip(labels, chosen, strict=True):
            row[list(I)] = j
    return labels


def best_labels(weights: Array, labels: np.ndarray) -> np.ndarray:
    """Return for each of the weights (N, n, r) the matching of largest total among `labels` (l, n); (N, n).

    For tables so small that every matching can be listed this is one product for many points, where `assign`
    takes a point at a time.
    """
    taken = labels[:, :, None] == np.arange(weights.shape[2])
    totals = weights.reshape(len(weights), -1) @ taken.reshape(len(labels), -1).T.astype(float)
    return labels[np.argmax(totals, axis=1)]


def candidates(weights: Array, needed: int) -> np.ndarray:
    """Return the features among the `needed` best of some component: no other can be needed."""
    return np.flatnonzero(topk_mask(weights.T, needed).any(axis=0))


def total(weights: Array, labels: NDArray[np.int64]) -> float:
    """Return the total weight of a matching."""
    used = np.flatnonzero(labels >= 0)
    return float(weights[used, labels[used]].sum())


def _priced(Q: Array, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels that give each feature the component with the largest ``Q_ij - price_j >= 0``.

    No component gets more features than its size.

    Prices only fall, so a component keeps what it has until another takes it away.
    """
    (n, r), columns = Q.shape, np.ascontiguousarray(Q.T)
    net = np.full((r, n), -np.inf)  # by component: maxima over a short last axis take ten times as long
    prices, labels = [np.inf] * r, np.full(n, -1)
    for _ in range(SWEEPS):
        moved = False
        for j, size in enumerate(sizes.tolist()):
            net[j] = -np.inf
            margin = columns[j] - net.max(axis=0, initial=0.0)
            spare, level = n - 1 - size, 0.0
            if spare >= 0:
                level = max(0.0, float(np.partition(margin, spare)[spare]))
            if level < prices[j] or np.count_nonzero(labels == j) < size:
                moved |= _take(labels, j, margin, min(level, prices[j]), size)
                moved |= level < prices[j]
                prices[j] = min(level, prices[j])
            net[j] = columns[j] - prices[j]
        if not moved:
            break
    return labels


def _take(labels: NDArray[np.int64], j: int, margin: Array, price: float, size: int) -> bool:
    """Give component j the features that prefer it at this price, then unused ones that are indifferent.

    Returns True if the component got any feature.
    """
    mine = labels == j
    free = size - np.count_nonzero(mine)
    indices = ((margin > price) & ~mine).nonzero()[0][: max(free, 0)]
    if indices.size < free:
        level = ((margin == price) & (labels < 0)).nonzero()[0]
        indices = np.concatenate((indices, level[: free - indices.size]))
    labels[indices] = j
    return indices.size > 0


def _paths(Q: Array, sizes: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Complete the matching `labels`, in place, by best augmenting paths until every component has its size.

    Gains of up to the tolerance are ignored. So among weights that nearly tie, a matching on the way need not
    be the best of its sizes, and a path can meet a component twice: then the features go round this cycle.
    """
    tolerance = ROUNDING * float(Q.max(initial=0.0))
    missing = sizes - np.bincount(labels[labels >= 0], minlength=sizes.size)
    cycles = 0
    while missing.any():
        free = np.flatnonzero(labels < 0)
        entering = np.argmax(Q[free], axis=0)
        gain, previous, moves = _best_paths(Q, labels, Q[free[entering], np.arange(sizes.size)], tolerance)
        last = int(np.argmax(np.where(missing > 0, gain, -np.inf)))
        path, first = [last], int(previous[last])
        while first >= 0 and first not in path:
            path.append(first)
            first = int(previous[first])
        if first >= 0:
            cycles += 1
            path = [*path[path.index(first) :], first]
        for to, origin in pairwise(path):
            labels[moves[origin, to]] = to
        if first < 0:
            labels[free[entering[path[-1]]]] = path[-1]
            missing[last] -= 1
        if cycles > CYCLES:
            raise NotConverged(
                f"a matching must be complete after {CYCLES} cycles; the weights must be finite numbers"
            )
    return labels


def _best_paths(
    Q: Array, labels: NDArray[np.int64], entry: Array, tolerance: float
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return for each component the gain of the best path to it, its predecessor, and the moved features.

    The predecessor is -1 where the path begins.
    """
    r = Q.shape[1]
    edges, moves = np.full((r, r), -np.inf), np.zeros((r, r), dtype=np.int64)
    for a in range(r):
        members = np.flatnonzero(labels == a)
        if members.size:
            change = Q[members] - Q[members, a][:, None]
            best = np.argmax(change, axis=0)
            edges[a], moves[a] = change[best, np.arange(r)], members[best]
    np.fill_diagonal(edges, -np.inf)
    gain, previous = entry.copy(), np.full(r, -1)
    for _ in range(r):
        through = gain[:, None] + edges
        best = np.argmax(through, axis=0)
        reached = through[best, np.arange(r)]
        better = reached > gain + tolerance
        if not better.any():
            break
        gain[better], previous[better] = reached[better], best[better]
    return gain, previous, moves
