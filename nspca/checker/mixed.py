"""What a vector proves of a set of features: a value that it reaches, or that no smallest set is this one.

Theorem (mixed signs). Let vI - A_II + s uu' be psd for a vector u of squared length L and s > 0, and let
u'A_II u >= c L with c > v. Let p be the smaller of the sums of the squares of the positive and of the
negative entries of u. If p > 1 + L - 2 root((c - v) / s), then I is no smallest set with x'Ax > v for an
x >= 0 on it.
Proof. Let I be such a set, and x its best unit vector. x has no zeros, as fewer features would do. So x is a
local maximum of x'Ax on the sphere, hence a leading vector, and x'Ax >= c. Then
0 <= x'(vI - A + s uu')x <= v - c + s (u'x)^2, so |u'x| >= root((c - v) / s). For x >= 0 the negative entries
of u are at most |x - u|^2, and the positive ones at most |x + u|^2, in squares. One of these two is
1 + L - 2 |u'x|, which is less than p.

`answers` and `fixing` call these functions.
"""

import numpy as np
from numpy import ndarray as Array

from nspca.checker.matrix import Matrix
from nspca.checker.rounding import gamma, is_psd, margin, norm

FAR = 1e-6
"""Largest distance of the squared length of a vector from 1."""


def reached(A: Matrix, T: Array, w: Array) -> float:
    """Return a value c with w'Aw >= c w'w for weights w on the features T of A; minus infinity if w is not of
    unit length up to `FAR`, or c would be negative.
    """
    E, size, length = A.block(T, T), np.abs(w), float(w @ w)
    lost = margin(2 * T.size + 8, size @ np.abs(E) @ size) + A.lost * size.sum() ** 2
    lost += A.eps * (size @ A.size[T]) ** 2
    above = float(w @ E @ w - 1.01 * lost)
    return above / (length * (1 + gamma(T.size + 16))) if abs(length - 1) <= FAR and above >= 0 else -np.inf


def is_never_smallest(A: Matrix, v: float) -> bool:
    """Tell whether it is proved that the set of all features of A is no smallest set with x'Ax > v, x >= 0.

    Any u proves it. The leading vector is best, and an s that is hardly above c - v.
    """
    I, p = np.arange(A.n), A.n
    E = A.block(I, I)
    error = 1.01 * (A.eps * norm(A.size) ** 2 + A.lost * p) + margin(16, v, norm(E))
    u = np.linalg.eigh((E + E.T) / 2)[1][:, -1]
    c = reached(A, I, u)
    if not c > v:
        return is_psd(v * np.eye(p) - E, error)
    s = c - v + 4 * (error + gamma(p + 8) * (v * p + np.abs(np.diagonal(E)).sum()))
    if not is_psd(v * np.eye(p) - E + s * np.outer(u, u), error + margin(8, s)):
        return False
    shorter = min(float(np.square(u[u < 0]).sum()), float(np.square(u[u > 0]).sum()))
    nearest = 1 + float(u @ u) - 2 * np.sqrt((c - v) / s)
    return bool(shorter * (1 - gamma(p + 8)) > nearest + margin(p + 16, 4.0))
