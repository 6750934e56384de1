"""Solve (P_d), the best point of a given support: ``max |Rc|^2, |c| = 1, Rc >= 0`` (2014, Section 5).

`exact` solves the candidate supports with it, and `teaching` the support that a visitor looks at.
"""

import numpy as np

from nspca.covariance.linalg import Array

FEASIBLE = 1e-10
"""Tolerance of ``Rc >= 0``, where rows of R have length 1.

Negative entries are cut from x afterwards, so x itself is always feasible.
"""


def solve_on_support(R: Array) -> tuple[float, Array | None]:
    """Return the maximum of ``|Rc|^2`` over ``|c| = 1, Rc >= 0``, and a c that reaches it.

    This is (P_d), solved by the recursive active-constraint algorithm of Section 5.

    The leading eigenvector of R'R is the answer if one sign of it is feasible. Otherwise some constraint is
    active: restrict c to its null space and recurse. Active constraints are taken in increasing order, and a
    face whose leading eigenvalue is not above the best value so far is left out. A repeated leading
    eigenvalue is no special case: an optimum inside the eigenspace can be moved along it, at no loss, until
    one more constraint is active. Zero rows constrain nothing.

    Parameters
    ----------
    R : (k, d) float64, the rows of V on the support

    Returns
    -------
    value : float, ``-inf`` when no c is feasible
    c : (d,) unit vector or None
    """
    d = R.shape[1]
    scale = np.abs(R).max(initial=0.0)
    if scale == 0:
        return 0.0, np.eye(d)[0]
    R = R / scale
    length = np.sqrt(np.square(R).sum(axis=1))
    rows = length > 0
    H = np.unique(R[rows] / length[rows, None], axis=0)
    _, c = _best_on_face(R.T @ R, H, np.eye(d), 0, -np.inf)
    return (-np.inf, None) if c is None else (float(np.square(np.maximum(R @ c, 0)).sum()) * scale * scale, c)


def _best_on_face(Q: Array, H: Array, B: Array, start: int, floor: float) -> tuple[float, Array | None]:
    """Return the maximum of c'Qc over unit c in span B with ``Hc >= 0``, and its c.

    Constraints before `start` are not made active. The result is (floor, None) if no value exceeds `floor`.
    """
    values, vectors = np.linalg.eigh(B.T @ Q @ B)
    if values[-1] <= floor:
        return floor, None
    u = B @ vectors[:, -1]
    for c in (u, -u):
        if (H @ c >= -FEASIBLE).all():
            return values[-1], c
    slopes = H @ B
    length = np.sqrt(np.square(slopes).sum(axis=1))
    binding = [i for i in range(start, len(H)) if length[i] > FEASIBLE]
    if B.shape[1] == 2:
        return _best_end(
            Q, H, B @ np.stack([-slopes[binding, 1], slopes[binding, 0]]) / length[binding], floor
        )
    best = None
    for i in binding if B.shape[1] > 1 else ():
        floor, c = _best_on_face(Q, H, B @ np.linalg.svd(slopes[i : i + 1])[2][1:].T, i + 1, floor)
        best = best if c is None else c
    return floor, best


def _best_end(Q: Array, H: Array, ends: Array, floor: float) -> tuple[float, Array | None]:
    """Return the value and the point of the best feasible end of an arc, or (floor, None).

    This is (P_2), Fig. 2, when the eigenvector is outside. `ends` (d, count) are taken with either sign.
    """
    ends = np.concatenate([ends, -ends], axis=1)
    values = np.where(
        (H @ ends >= -FEASIBLE).all(axis=0), np.einsum("de,df,fe->e", ends, Q, ends, optimize=True), -np.inf
    )
    top = int(np.argmax(values)) if values.size else -1
    return (float(values[top]), ends[:, top]) if values.size and values[top] > floor else (floor, None)
