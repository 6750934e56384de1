"""Exact optimum of the rank-d problem by enumeration (2014, Alg. 1)."""

from typing import NamedTuple

import numpy as np

from nspca.covariance.linalg import Array, binary_exponent, normalised
from nspca.lowrank.spannogram.cells import BLOCK, Indices, candidate_supports
from nspca.lowrank.spannogram.face import solve_on_support
from nspca.progress import Event, Report, silent

GAP = 1e-12
"""A support is not opened for a gain below this share: the eigenvalue that bounds it is not known better."""


class Exact(NamedTuple):
    """The optimum of the rank-d problem: a unit vector, its value ``|V'x|^2``, and how many supports were
    candidates.
    """

    x: Array
    value: float
    candidates: int


def exact_rank_d(V: Array, k: int, nonneg: bool = True, report: Report = silent) -> Exact:
    """Exact optimum of the rank-d problem (Alg. 1).

    Parameters
    ----------
    V : (n, d) float64, ``A_d = VV'``
    k : int, 1 <= k <= n
    nonneg : bool
        False drops ``x >= 0``: then the value on a support is an eigenvalue.
    report : Report
        Called at every block of intersections and every few supports; what it raises stops the work.

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
    """Lines 5 to 9 of Alg. 1. A support is opened only while its leading eigenvalue is above the best value
    found.
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
    """Leading eigenvalue of every support, and the best x among their eigenvectors (nonnegative: cut at zero,
    either sign).
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
