"""Exchange features of disjoint components, also with unused ones, once matching ascent has stopped.

Three kinds of move exist. An unused feature u replaces i in component a, or fills a free place there. Feature
i of a and j of b change places. Feature j of b replaces i in a, and an unused feature (or nothing) replaces j
in b.

A replacement is judged by the best vector in the span of x without i and e_j, a 2 x 2 eigenvalue. The most
promising are then solved on their supports, and the first that gains is taken.
Every move taken raises the sum. Rows that cannot matter soon are left out of the current view; other views
follow until nothing gains. The method `joint` calls `exchange`, and `outside` does for answers of large data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array, normalised, topk_indices
from nspca.local_search.disjoint import climb, event_payload, value
from nspca.local_search.removal import replacements
from nspca.local_search.single import best_on_support, best_with
from nspca.progress import Event, Report, silent

Table: TypeAlias = tuple[NDArray[np.int64], Array, Array]
"""Leaving features (l,), gains of every replacement (l, p), and gains of leaving without one (s,).

See `_replacements`. The number -1 among the leaving features stands for none.
"""
STEP_CAP = 400
"""Maximum moves within one view of the rows. Stopping early only gives up gain."""
VIEWS = 8
"""Maximum views of the rows. Stopping early only gives up gain."""
TRIED = 24
"""Maximum number of moves, the most promising first, that are solved on their supports in one step."""
IN_SIGHT = 600
"""Number of rows in a view: a dense block of this size is formed in milliseconds."""
LARGE = 1000
"""Number of features in all components beyond which single exchanges are not tried."""
LEAST = 1e-10
"""Relative gain below which a move is rounding."""


@dataclass(frozen=True)
class Move:
    """One exchange: ``changes`` holds (component, leaving or -1, entering or -1), ``gain`` its estimate."""

    gain: float
    changes: tuple[tuple[int, int, int], ...]


def exchange(A: Covariance, X: Array, sizes: Sequence[int], nonneg: bool, report: Report = silent) -> Array:
    """Alternate moves and ascent on the full A until neither gains. The result (n, r) is never below X.

    Components of more than `LARGE` features are left as they are: one feature among so many is not worth a
    search.
    """
    reached = value(A, X)
    if sum(sizes) > LARGE:
        return X
    for view in range(VIEWS):
        report(Event("exchanges", view, VIEWS, lower=reached * A.unit, payload=event_payload(X)))
        rows = in_sight(A, X, nonneg)
        Y = np.zeros_like(X)
        Y[rows] = apply_moves(A.block(rows), X[rows], sizes, nonneg, report)
        Y, total = climb(A, Y, sizes, nonneg)
        if not total > reached * (1 + LEAST):
            break
        X, reached = Y, total
    return X


def in_sight(A: Covariance, X: Array, nonneg: bool, least: int = 0) -> np.ndarray:
    """Return the supports and the features nearest to joining one, `IN_SIGHT`, or `least` if larger."""
    used = X.any(axis=1)
    room = max(IN_SIGHT, 2 * int(np.count_nonzero(used)), least)
    if A.n <= room:
        return np.arange(A.n)
    image = A.product(X)
    quadratics = np.einsum("ij,ij->j", X, image)
    pull = np.square(np.maximum(image, 0.0) if nonneg else image) / np.where(quadratics > 0, quadratics, 1.0)
    return topk_indices(np.where(used, np.inf, pull.max(axis=1) + 1e-6 * A.diagonal), room)


def apply_moves(B: Array, X: Array, sizes: Sequence[int], nonneg: bool, report: Report) -> Array:
    """Apply moves for the dense matrix B (p, p) until none gains, and return the components."""
    for step in range(STEP_CAP):
        report(Event("exchanges", step, STEP_CAP))
        better = _step(B, X, sizes, nonneg)
        if better is None:
            break
        X = better
    return X


def _step(B: Array, X: Array, sizes: Sequence[int], nonneg: bool) -> Array | None:
    """Return X after the first of the most promising moves that gains, None if none does."""
    image = B @ X
    values = np.einsum("ij,ij->j", X, image)
    moves = [
        move for move in _moves(B, X, image, sizes, nonneg) if move.gain > -np.inf
    ]  # not every kind is possible
    for move in sorted(moves, key=lambda move: -move.gain)[:TRIED]:
        Y, reached = _applied(B, X, move, nonneg)
        if reached - sum(values[j] for j, _, _ in move.changes) > LEAST * values.sum():
            return Y
    return None


def _moves(B: Array, X: Array, image: Array, sizes: Sequence[int], nonneg: bool) -> list[Move]:
    """Return the most promising moves of each kind for every component and pair."""
    r = X.shape[1]
    unused = np.flatnonzero(~X.any(axis=1))
    tables = [_replacements(B, X[:, j], image[:, j], sizes[j], nonneg) for j in range(r)]
    found = []
    for a, (out, gains, _) in enumerate(tables):
        part = gains[:, unused]
        for at in _largest(part):
            i, j = np.unravel_index(at, part.shape)
            found.append(Move(float(part[i, j]), ((a, int(out[i]), int(unused[j])),)))
    for b in range(r):
        inside, filler, filled = _fillers(tables[b], unused)
        for a in range(r):
            if a == b:
                continue
            part = tables[a][1][:, inside] + filled
            i, j = np.unravel_index(np.argmax(part), part.shape)
            found.append(
                Move(float(part[i, j]), ((a, tables[a][0][i], inside[j]), (b, inside[j], filler[j])))
            )
            if a < b:
                found.append(_places(tables[a], tables[b], a, b))
    return found


def _places(one: Table, other: Table, a: int, b: int) -> Move:
    """Return the best move in which a feature i of a and a feature j of b change places."""
    mine, theirs = one[0][one[0] >= 0], other[0][other[0] >= 0]
    part = one[1][: mine.size, theirs] + other[1][: theirs.size, mine].T
    i, j = np.unravel_index(np.argmax(part), part.shape)
    return Move(float(part[i, j]), ((a, mine[i], theirs[j]), (b, theirs[j], mine[i])))


def _fillers(table: Table, unused: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Return the features of a component, for each its best unused replacement (-1: none), and its gain."""
    out, gains, alone = table
    inside = out[out >= 0]
    filler, filled = np.full(inside.size, -1), alone.copy()
    if unused.size:
        part = gains[: inside.size, unused]
        best = np.argmax(part, axis=1)
        values = part[np.arange(inside.size), best]
        better = values > filled
        filler[better], filled[better] = unused[best[better]], values[better]
    return inside, filler, filled


def _largest(table: Array, count: int = 6) -> NDArray[np.int64]:
    flat = table.ravel()
    top = topk_indices(flat, min(count, flat.size))
    return top[np.argsort(-flat[top], kind="stable")]


def _replacements(B: Array, x: Array, image: Array, size: int, nonneg: bool) -> Table:
    """Return the features that may leave x, the gain of every replacement, and the gain of leaving alone.

    The last row is -1 when x has a free place, so that no feature need leave.
    """
    support, total = np.flatnonzero(x), float(x @ image)
    block, has_room = B[np.ix_(support, support)], support.size < size
    alone, values = replacements(block, B[:, support], x[support], image, np.diag(B), has_room, nonneg)
    gains = values - total
    gains[:, support] = -np.inf
    # a component keeps at least one feature
    alone = alone - total if support.size > 1 else np.full(1, -np.inf)
    return np.append(support, -1) if has_room else support, gains, alone


def _applied(B: Array, X: Array, move: Move, nonneg: bool) -> tuple[Array, float]:
    """Return X after a move, with the best vectors on the changed supports, and the sum of their values."""
    Y, total = X.copy(), 0.0
    for j, leaving, entering in move.changes:
        features = np.flatnonzero(X[:, j])
        features = features[features != leaving]
        if entering >= 0:
            features = np.sort(np.append(features, entering))
        block, start = B[np.ix_(features, features)], X[features, j]
        y = (
            best_with(block, start, int(np.searchsorted(features, entering)), nonneg)
            if entering >= 0
            else best_on_support(block, normalised(start), nonneg)
        )
        Y[:, j] = 0.0
        Y[features, j] = y
        total += float(y @ block @ y)
    return Y, total
