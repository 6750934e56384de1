"""Fix features of a node in and out by a witness.

The supports that have a feature, or those that lack it, cannot exceed the best known value. A search over
cones proves that for many features at once, and its cover is stored with them as a `Stage`.

`settle` calls `fix` after each bound that a witness has proved. `search` asks `fixable` before a
tree begins.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.eigenvalues import take_up
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Stage, Use
from nspca.bounds.fixing.tasks import Task
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array
from nspca.lowrank.cones import Budget, search
from nspca.lowrank.fixing import at_directions, fixed_rows
from nspca.lowrank.objective import Query

PLAIN = 25
"""Factor on the cap of cones of a plain search, about one row. It makes a cone in a sixth of the time that a
search about every row takes.
"""


def fix(own: Bounding, least: int = 1) -> bool:
    """Fix features by the best witness, restrict the work to what remains, and tell whether any was fixed.

    A use that has fixed no feature is not tried again. No cone is made when the known directions leave fewer
    than `least` features to fix.
    """
    use = own.fixing_use
    if own.done or use is None or use.witness is None or use is own.tried:
        return False
    kept, supports = own.kept, own.supports
    query, lost = own.query(use)
    r, t = len(kept.features), use.t
    F = below(own.target, t, use.paid)
    room = F - own.ground.margin - lost - 8 * UNIT_ROUNDOFF * abs(t)
    known, rows = own.directions(query), kept.features
    query, at = with_one_kind(query, r, own.problem.size)
    outside = len(query.V) > at.size
    tree = outside_proof(own, query, at.size, room, known) if outside else None
    left, needed = np.setdiff1d(supports.possible, rows[at]), rows[:0]
    if tree is None:
        out = np.zeros(len(query.V), dtype=bool)
        out[kept.fixed : at.size + int(outside)] = True
        into = out & (np.arange(len(out)) < at.size)
        found = fixed_rows(query, room, (out, into), known, own.cap, own.quietly, least)
        left = np.union1d(rows[at[found.out[: at.size]]], left if found.out[at.size :].any() else rows[:0])
        needed, tree = rows[at[found.into[: at.size]]], found.tree
    if not left.size and not needed.size:
        own.tried = use if least <= 1 else own.tried
        return False
    take(own, Stage(left, np.sort(needed), replace(use, F=F, tau=query.tau if kept.free else 0.0, tree=tree)))
    return True


def take(own: Bounding, stage: Stage) -> None:
    """Store a stage, and restrict the work to the supports that it leaves."""
    own.stages.append(stage)
    own.carry(own.supports.fix(stage.out, stage.into))
    take_up(own)


def fix_needed(own: Bounding) -> bool:
    """Fix in the feature that a node can least do without by its witness, and tell whether that was proved.

    On the many rows of a core a search that asks of every row takes too many cones. A plain one does not.
    """
    use, kept = own.fixing_use, own.kept
    if own.done or use is None or use.witness is None or kept.free:
        return False
    query, lost = own.query(use)
    F = below(own.target, use.t, use.paid)
    room = F - own.ground.margin - lost - 8 * UNIT_ROUNDOFF * abs(use.t)
    known = own.directions(query)
    if not len(known) or not own.supports.possible.size:
        return False
    lacking = at_directions(query, known)[1]
    lacking[: kept.fixed] = np.inf
    one = int(np.argmin(lacking))
    tree = None
    if lacking[one] <= room:
        others = np.arange(len(query.V)) != one
        h = None if query.h is None else query.h[others]
        tree = plain_proof(own, replace(query, V=query.V[others], h=h), room)
    if tree is None:
        return False
    take(own, Stage(kept.features[:0], kept.features[[one]], replace(use, F=F, tau=0.0, tree=tree)))
    return True


def plain_proof(own: Bounding, query: Query, room: float) -> np.ndarray | None:
    """Return the cover that proves that a query is at most `room`; None where it takes too many cones."""
    cover = search(query, Budget(0.0, goal=room, hopeless=room, cap=PLAIN * own.cap), (), own.quietly)
    return cover.tree if cover.upper <= room else None


def outside_proof(own: Bounding, query: Query, r: int, room: float, known: Array) -> np.ndarray | None:
    """Return the cover that proves of the rows from r on, all of one kind, that no better answer has one.

    None where it takes too many cones. The search is for the largest sum that has one of these rows.
    """
    first = np.concatenate(
        (np.arange(query.fixed), [r], np.arange(query.fixed, r), np.arange(r + 1, len(query.V)))
    )
    h = None if query.h is None else query.h[first]
    asked = replace(query, V=query.V[first], h=h, fixed=query.fixed + 1)
    if query.fixed >= query.k or (len(known) and at_directions(query, known)[0][r] > room):
        return None
    return plain_proof(own, asked, room)


def with_one_kind(query: Query, r: int, k: int) -> tuple[Query, np.ndarray]:
    """Return a query with k of the free rows without U and height, if it has more, and the other rows.

    All these have one and the same term, that of features without a row. The first r rows of the query are
    those of features. The array has the numbers of those among them that keep a row of their own.
    """
    plain = ~query.V[:r].any(axis=1) & (np.zeros(r) if query.h is None else query.h[:r] == 0.0).astype(bool)
    plain[: query.fixed] = False
    if np.count_nonzero(plain) <= k:
        return query, np.arange(r)
    at, same = np.flatnonzero(~plain), np.flatnonzero(plain)[:k]
    chosen = np.concatenate((at, same))
    h = None if query.h is None else query.h[chosen]
    return replace(query, V=query.V[chosen], h=h), at


def fixable(ground: Ground, task: Task, t: float) -> int:
    """Return a cheap upper bound on the number of features that a task's witness, with claim t, can fix.

    The search half is evaluated in the directions of the bundle only. Where its values with a feature, and
    without it, exceed the level there, no cover can fix it. Features without rows are fixed together.
    """
    own = Bounding.of(ground, task)
    own.kept = kept = ground.kept(task.supports)
    if task.witness is None:
        return 0
    if task.warm is None:
        return task.supports.possible.size
    own.points = task.warm.feasible(kept, ground.problem.size)
    stored = task.witness.covering(kept.features)
    query, lost = own.query(Use(stored, t, 0.0, 0.0, np.zeros(0, dtype=np.uint8)))
    directions = own.directions(query)
    if not len(directions):
        return task.supports.possible.size
    having, lacking = at_directions(query, directions)
    r, level = len(kept.features), own.target - t - lost
    with_rows = np.minimum(having, lacking)[kept.fixed : r] <= level
    return int(np.count_nonzero(with_rows)) + (kept.free if (having[r:] <= level).any() else 0)


def below(level: float, t: float, paid: float = 0.0) -> float:
    """Return the largest float F with t + F - paid <= level, in exact arithmetic."""
    exact = Fraction(level) - Fraction(t) + Fraction(paid)  # where terms cancel, a sum of floats is far off
    F = float(exact)
    return F if Fraction(F) <= exact else float(np.nextafter(F, -np.inf))
