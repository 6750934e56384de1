"""Exchanges of features between disjoint components, and with the unused ones, on the full A: where matching
ascent stops.

Three kinds of move: feature u, unused, replaces i in component a (or fills a free place there); i of a and j
of b change places; j of b replaces i in a, and an unused feature (or nothing) replaces j in b. A replacement
is judged by the best vector in the span of x without i and e_j, a 2 x 2 eigenvalue: a value that is reached,
so a positive gain is real. When no move gains, the most promising are solved on their supports. Every move
taken raises the sum; rows that cannot matter soon are left out of sight, and the look is repeated with others
until nothing gains.
"""

from dataclasses import dataclass

import numpy as np

from nspca.ascent.disjoint import climb, told, value
from nspca.ascent.removal import without_each
from nspca.ascent.single import best_on_support
from nspca.matrix.covariance import Covariance
from nspca.matrix.linalg import Array, normalised, topk_indices
from nspca.progress import Event, Report, silent

STEP_CAP = 400
"""Moves at most within one view of the rows; stopping early only leaves gain behind."""
VIEWS = 8
"""Changes of view at most, for the same reason."""
TRIED = 24
"""Moves solved on their supports when no estimate promises a gain."""
IN_SIGHT = 600
"""Rows kept in sight: a dense block of this size is formed in milliseconds."""
LARGE = 1000
"""Features in all components beyond which single exchanges are not tried."""
LEAST = 1e-10
"""Relative gain below which a move is rounding."""


@dataclass(frozen=True)
class Move:
    """Features leave and enter: ``changes`` holds (component, leaving or -1, entering or -1)."""

    gain: float
    changes: tuple[tuple[int, int, int], ...]


def exchange(A: Covariance, X: Array, sizes, nonneg: bool, report: Report = silent) -> Array:
    """Moves, then ascent on the full A, in turn until neither gains; X (n, r), never below where it came
    from.

    Components of more than `LARGE` features are left as they are: one feature among so many is not worth a
    search.
    """
    reached = value(A, X)
    if sum(sizes) > LARGE:
        return X
    for view in range(VIEWS):
        report(Event("exchanges", view, VIEWS, lower=reached * A.unit, payload=told(X)))
        rows = in_sight(A, X, nonneg)
        Y = np.zeros_like(X)
        Y[rows] = moved(A.block(rows), X[rows], sizes, nonneg, report)
        Y, total = climb(A, Y, sizes, nonneg)
        if not total > reached * (1 + LEAST):
            break
        X, reached = Y, total
    return X


def in_sight(A: Covariance, X: Array, nonneg: bool, least: int = 0) -> np.ndarray:
    """The supports and the features that come nearest to belonging to one of them, `IN_SIGHT` in all, or
    `least` when that is more.
    """
    used = X.any(axis=1)
    room = max(IN_SIGHT, 2 * int(np.count_nonzero(used)), least)
    if A.n <= room:
        return np.arange(A.n)
    image = A.product(X)
    quadratics = np.einsum("ij,ij->j", X, image)
    pull = np.square(np.maximum(image, 0.0) if nonneg else image) / np.where(quadratics > 0, quadratics, 1.0)
    return topk_indices(np.where(used, np.inf, pull.max(axis=1) + 1e-6 * A.diagonal), room)


def moved(B: Array, X: Array, sizes, nonneg: bool, report: Report = silent) -> Array:
    """Moves for the dense matrix B (p, p) until none gains."""
    for step in range(STEP_CAP):
        report(Event("exchanges", step, STEP_CAP))
        better = _step(B, X, sizes, nonneg)
        if better is None:
            break
        X = better
    return X


def _step(B, X, sizes, nonneg):
    """X after the first of the most promising moves that gains, None if none does."""
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


def _moves(B, X, image, sizes, nonneg):
    """The most promising moves of each kind for every component and pair."""
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


def _places(one, other, a, b):
    """The best i of a and j of b to change places."""
    mine, theirs = one[0][one[0] >= 0], other[0][other[0] >= 0]
    part = one[1][: mine.size, theirs] + other[1][: theirs.size, mine].T
    i, j = np.unravel_index(np.argmax(part), part.shape)
    return Move(float(part[i, j]), ((a, mine[i], theirs[j]), (b, theirs[j], mine[i])))


def _fillers(table, unused):
    """For every feature of a component: the unused one (-1: none) that would best take its place, and what
    that gains.
    """
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


def _largest(table, count=6):
    """Flat positions of the largest entries, decreasing."""
    flat = table.ravel()
    top = topk_indices(flat, min(count, flat.size))
    return top[np.argsort(-flat[top], kind="stable")]


def _replacements(B, x, image, size, nonneg):
    """Features that may leave x (last row -1: none need to), gains for every feature that may enter, gains of
    leaving alone.
    """
    support = np.flatnonzero(x)
    total, left = float(x @ image), without_each(B[np.ix_(support, support)], x[support])
    alpha, cross = left.values, left.pulls(B[:, support], image)
    out, alone = support, alpha - total
    if support.size < size:
        alpha, cross, out = np.append(alpha, total), np.vstack((cross, image)), np.append(support, -1)
    cross = np.maximum(cross, 0.0) if nonneg else cross
    gamma = np.diag(B)[None, :]
    gains = (alpha[:, None] + gamma + np.hypot(alpha[:, None] - gamma, 2 * cross)) / 2 - total
    gains[:, support] = -np.inf
    if support.size == 1:
        alone = np.full(1, -np.inf)  # a component keeps at least one feature
    return out, gains, alone


def _applied(B, X, move, nonneg):
    """X after a move, with the best vectors on the supports that changed, and the sum of their values."""
    Y, total = X.copy(), 0.0
    for j, leaving, entering in move.changes:
        features = np.flatnonzero(X[:, j])
        features = features[features != leaving]
        if entering >= 0:
            features = np.sort(np.append(features, entering))
        block, start = B[np.ix_(features, features)], X[features, j]
        if entering >= 0:
            at = int(np.searchsorted(features, entering))
            entry = _entry(block, start, float(block[at] @ start), at)
            start[at] = max(entry, 0.0) if nonneg else entry
        y = best_on_support(block, normalised(start), nonneg)
        Y[:, j] = 0.0
        Y[features, j] = y
        total += float(y @ block @ y)
    return Y, total


def _entry(block, start, pull, at):
    """The entry for a new feature that is best in the span of the others and it: the 2 x 2 eigenvector."""
    length = float(np.linalg.norm(start))
    if length == 0.0:
        return 1.0
    alpha, gamma, cross = float(start @ block @ start) / length**2, float(block[at, at]), pull / length
    vector = np.linalg.eigh(np.array([[alpha, cross], [cross, gamma]]))[1][:, 1]
    if vector[0] < 0:
        vector = -vector
    return length * vector[1] / max(vector[0], 1e-12)
