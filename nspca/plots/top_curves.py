"""Compute the k highest curves in many directions at once, for the drawings of `spannogram` and `sphere`."""

import numpy as np
from numpy.typing import ArrayLike


def highest(V: ArrayLike, directions: ArrayLike, k: int, nonneg: bool = True) -> np.ndarray:
    """Return the k largest values of ``(Vc)+`` (signed: ``|Vc|``) for each direction c, unsorted.

    A row never exceeds its own length. So the longest rows are enough in directions where their k-th value is
    above the length of the next row. More rows are read only for the other directions. The result is exact,
    and for a gene table ten times faster than with every row.

    Parameters
    ----------
    V : (n, d)
    directions : (p, d) unit vectors
    k : int

    Returns
    -------
    values : (p, min(k, n)) float64
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
