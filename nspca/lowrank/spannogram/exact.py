"""Compute the exact optimum of the rank-d problem by enumeration (2014, Alg. 1).

The method `spannogram` calls `exact_rank_d`.
"""

from typing import NamedTuple

import numpy as np

from nspca.covariance.linalg import Array, binary_exponent, normalised
from nspca.lowrank.spannogram.cells import BLOCK, Indices, candidate_supports
from nspca.lowrank.spannogram.face import solve_on_support
from nspca.progress import Event, Report, silent

GAP = 1e-12
"""Relative gain below which a support is not solved, since its leading eigenvalue is not more accurate."""


class Exact(NamedTuple):
    """Optimum of the rank-d problem: a unit vector x, its value ``|V'x|^2``, and the number of candidates."""

    x: Array
    value: float
    candidates: int


def exact_rank_d(V: Array, k: int, nonneg: bool = True, report: Report = silent) -> Exact:
    """Return the exact optimum of the rank-d problem (Alg. 1).

    Parameters
    ----------
    V : (n, d) float64, ``A_d = VV'``
    k : int, 1 <= k <= n
    nonneg : bool
        Whether ``x >= 0``. Without it the value on a support is an eigenvalue.
    report : Report
        Called at every block of intersections and every few supports; may raise `Cancelled`.

    Returns
    -------
    Exact : ``x`` (n,) float64, ``value`` in the units of ``VV'``, ``candidates`` the size of S_d

    Raises
    ------
    Refused : more than `MAX_INTERSECTIONS` points to enumerate
    """
    supports = candidate_supports(V, k, report, nonneg)
    given, V = V, V * 2.0 ** -binary_exponent(V)
    x = _best_support(V, supports, report) if nonneg else _leading(V, supports, nonneg)[1]
    return Exact(x, float(np.square(x @ given).sum()), len(supports))


def _best_support(V: Array, supports: Indices, report: Report) -> Array:
    """Return the best nonnegative x (n,) over all supports (lines 5 to 9 of Alg. 1).

    Supports are solved in the order of their leading eigenvalues, until these are below the best value.
    """
    tops, x = _leading(V, supports, nonneg=True)
    best = float(np.square(x @ V).sum())
    for done, i in enumerate(np.argsort(-tops, kind="stable")):
        if tops[i] <= best * (1 + GAP):
            break
        if done % 64 == 0:
            report(Event("supports", done, len(supports), lower=best))
        support = supports[i][supports[i] >= 0]
        _, c = solve_on_support(V[support])
        if c is None:
            continue
        entries = normalised(np.maximum(V[support] @ c, 0))
        value = float(np.square(entries @ V[support]).sum())
        if value > best:
            best, x = value, np.zeros(len(V))
            x[support] = entries
    report(Event("supports", len(supports), len(supports), lower=best))
    return x


def _leading(V: Array, supports: Indices, nonneg: bool) -> tuple[Array, Array]:
    """Return the leading eigenvalue of every support, and the best x (n,) among their eigenvectors.

    For nonnegative problems negative entries are set to zero, for either sign of an eigenvector.
    """
    n = len(V)
    padded = np.vstack([V, np.zeros((1, V.shape[1]))])
    tops, best, x = [], -1.0, np.zeros(n + 1)
    for rows in np.array_split(supports, max(1, supports.size * V.shape[1] // BLOCK)):
        R = padded[rows]
        values, vectors = np.linalg.eigh(np.swapaxes(R, 1, 2) @ R)
        tops.append(values[:, -1])
        y = np.einsum("skd,sd->sk", R, vectors[:, :, -1])
        for entries in (np.maximum(y, 0), np.maximum(-y, 0)) if nonneg else (y,):
            size = np.square(entries).sum(axis=1)
            reached = np.square(np.einsum("skd,sk->sd", R, entries)).sum(axis=1) / np.where(
                size > 0, size, 1.0
            )
            i = int(np.argmax(reached))
            if reached[i] > best:
                best, x = reached[i], np.zeros(n + 1)
                x[rows[i]] = entries[i]
    return np.concatenate(tops), normalised(x[:n]) if x.any() else np.eye(n)[0]
