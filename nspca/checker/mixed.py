"""What a vector proves of a set of features: a value that it reaches, or that no smallest set is this one.

Theorem (mixed signs). Let lI - A_II + s uu' be psd for a number l, a vector u of squared length L and s > 0,
and let u'A_II u >= c L with c > l. Let p be the smaller of the sums of the squares of the positive and of the
negative entries of u. If p > 1 + L - 2 root((c - l) / s), then I is no smallest set on which an x >= 0 has
x'Ax > v, whatever v >= 0 is.
Proof. Let I be such a set, and x its best unit vector. x has no zeros, as fewer features would do. So x is a
local maximum of x'Ax on the sphere, hence a leading vector, and x'Ax >= c. Then
0 <= x'(lI - A + s uu')x <= l - c + s (u'x)^2, so |u'x| >= root((c - l) / s). For x >= 0 the squares of the
negative entries of u add up to at most |x - u|^2, and those of the positive ones to at most |x + u|^2. One of
these two is 1 + L - 2 |u'x|, which is less than p.

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


def is_never_smallest(A: Matrix) -> bool:
    """Tell whether it is proved that the set of all features of A is no smallest set with x'Ax > v, x >= 0.

    Any u and l would do. Best are the leading vector, and the middle between the two largest eigenvalues.
    """
    I, p = np.arange(A.n), A.n
    E = A.block(I, I)
    values, vectors = np.linalg.eigh((E + E.T) / 2)
    u, middle = vectors[:, -1], float(values[-2:].mean())
    c = reached(A, I, u)
    if p < 2 or not c > middle:
        return False
    error = 1.01 * (A.eps * norm(A.size) ** 2 + A.lost * p) + margin(16, abs(middle), norm(E))
    s = c - middle + 4 * (error + gamma(p + 8) * (abs(middle) * p + np.abs(np.diagonal(E)).sum()))
    if not is_psd(middle * np.eye(p) - E + s * np.outer(u, u), error + margin(8, s)):
        return False
    shorter = min(float(np.square(u[u < 0]).sum()), float(np.square(u[u > 0]).sum()))
    nearest = 1 + float(u @ u) - 2 * np.sqrt((c - middle) / s)
    return bool(shorter * (1 - gamma(p + 8)) > nearest + margin(p + 16, 4.0))
