"""Draw the rank-2 picture of why a sparse problem has few candidate supports: n curves over one angle.

With ``c = (sin phi, cos phi)`` the entries of ``Vc`` are n sinusoids. For one angle the best support is the
set of the k highest curves, so supports change only where two curves cross (Asteris et al. 2014, section 3).

The pages Spannogram and Learn compute `spans`, `curves` and `top_set`, which the browser draws. Angles are in
radians, from -pi/2 to pi/2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


def highest(V: ArrayLike, directions: ArrayLike, k: int, nonneg: bool = True) -> np.ndarray:
    """Return the k largest values of ``(Vc)+`` (signed: ``|Vc|``) for each direction c, unsorted.

    A row never exceeds its own length. So the longest rows are enough in directions where their k-th value is
    above the length of the next row. More rows are read only for the other directions. The result is exact,
    and for a gene table ten times faster than with every row. (n, d) and (p, d) give (p, min(k, n)).
    """
    V, directions = np.asarray(V, float), np.asarray(directions, float)
    k = min(k, len(V))
    length = np.linalg.norm(V, axis=1)
    order = np.argsort(-length, kind="stable")
    out = np.empty((len(directions), k))
    todo, rows = np.arange(len(directions)), min(len(V), max(8 * k, 300))
    while todo.size:
        longest = V[order[:rows]].T
        limit = length[order[rows]] if rows < len(V) else 0.0
        for part in np.array_split(todo, max(1, todo.size * rows // 2_000_000)):
            values = directions[part] @ longest
            values = np.maximum(values, 0) if nonneg else np.abs(values)
            out[part] = np.partition(values, rows - k, axis=1)[:, rows - k :]
        todo = todo[out[todo].min(axis=1) < limit]
        rows = min(len(V), 4 * rows)
    return out


def curves(V: ArrayLike, phi: ArrayLike) -> np.ndarray:
    """Return the values ``v_i(phi) = V_i1 sin(phi) + V_i2 cos(phi)``: (n, 2) and (p,) -> (n, p)."""
    phi = np.asarray(phi, float)
    return np.asarray(V, float) @ np.stack([np.sin(phi), np.cos(phi)])


def top_set(values: ArrayLike, k: int, nonneg: bool = True) -> np.ndarray:
    """Return the sorted indices of the k largest positive values (signed: largest in size). Ties go to the
    lowest index.

    Zeros never belong.
    """
    values = np.asarray(values, float) if nonneg else np.abs(values)
    order = np.argsort(-values, kind="stable")[:k]
    return np.sort(order[values[order] > 0])


@dataclass(frozen=True, eq=False)
class Spans:
    """Objective over a grid of angles, and the intervals of angles between changes of the k highest curves.

    There is one row for c and, in nonnegative problems, one for -c. On a grid an interval narrower than one
    step can be missed, so this is for drawing, not for proofs.
    """

    phi: np.ndarray  # (p,) angles
    objective: np.ndarray  # (s, p) value of the best support at each angle, for each sign
    edges: tuple[np.ndarray, ...]  # for each sign, the ends of its intervals, one more than intervals
    sets: tuple[list[np.ndarray], ...]  # for each sign, the features of the highest curves on each interval

    @property
    def best(self) -> tuple[int, int]:
        """Return the place of the largest objective: 0 for c or 1 for -c, and the number of the angle."""
        sign, at = np.unravel_index(int(np.argmax(self.objective)), self.objective.shape)
        return int(sign), int(at)


def spans(V: ArrayLike, k: int, nonneg: bool = True, count: int = 721) -> Spans:
    """Compute the objective and the support intervals of V (n, 2) over `count` angles of the half circle.

    Nonnegative problems have a row for c and one for -c, which give the same support in signed ones.
    """
    V = np.asarray(V, float)
    phi = np.linspace(-np.pi / 2, np.pi / 2, count)  # both ends are one line
    directions = np.stack([np.sin(phi), np.cos(phi)], axis=1)
    objective, edges, sets = [], [], []
    for sign in (1, -1) if nonneg else (1,):
        top = highest(V, sign * directions, k, nonneg)
        objective.append((top**2).sum(axis=1))
        # A curve never rises above its own amplitude, so one below the lowest k-th value is never lit.
        kept = np.flatnonzero(np.hypot(V[:, 0], V[:, 1]) >= top.min())
        at = [kept[top_set(sign * column, k, nonneg)] for column in curves(V[kept], phi).T]
        new = [0, *(i for i in range(1, count) if not np.array_equal(at[i], at[i - 1]))]
        edges.append(np.array([phi[0], *((phi[i] + phi[i - 1]) / 2 for i in new[1:]), phi[-1]]))
        sets.append([at[i] for i in new])
    return Spans(phi, np.array(objective), tuple(edges), tuple(sets))
