"""What a vector proves of a set of features: a value that it reaches, or that no smallest set is this one.

Theorem (mixed signs). Let c <= the largest eigenvalue of A_II <= t, and let all entries of (A_II - cI)z and
of (A_II - tI)z be negative. Then I is no smallest set on which an x >= 0 has x'Ax > v, whatever v >= 0 is.
Proof. Let I be such a set, and x its best unit vector. x has no zeros, as fewer features would do. So x is a
local maximum of x'Ax on the sphere, hence a leading vector: A_II x = lx with c <= l <= t. All entries of
y = (A_II - lI)z are negative, being between those for c and t. So y'x < 0, but y'x = z'(A_II - lI)x = 0.

`answers` and `fixing` call these functions.
"""

import numpy as np
from numpy import ndarray as Array

from nspca.checker.matrix import Matrix
from nspca.checker.rounding import gamma, is_psd, margin, norm


def reached(A: Matrix, T: Array, w: Array) -> float:
    """Return a value c with w'Aw >= c w'w for weights w on the features T of A; minus infinity if the square
    of the length of w is not 1 up to 1e-6, or c would be negative.

    Roundings: 2p + 2 in w'Ew for p features.
    """
    E, size, length = A.block(T, T), np.abs(w), float(w @ w)
    lost = margin(2 * T.size + 8, size @ np.abs(E) @ size) + A.lost * size.sum() ** 2
    lost += A.eps * (size @ A.size[T]) ** 2
    above = float(w @ E @ w - 1.01 * lost)
    return above / (length * (1 + gamma(T.size + 16))) if abs(length - 1) <= 1e-6 and above >= 0 else -np.inf


def is_never_smallest(A: Matrix, I: Array) -> bool:
    """Tell whether it is proved that I is no smallest set with x'Ax > v, x >= 0.

    Any z would do. This one makes (A_II - lI)z negative for the computed l, where u has both signs.
    """
    if not I.size:
        return False
    E, size, p = A.block(I, I), A.size[I], I.size
    values, vectors = np.linalg.eigh(E)
    u, l = vectors[:, -1] * np.sign(vectors[:, -1].sum() or 1.0), values[-1]
    below, c = np.maximum(-u, 0), reached(A, I, u)
    error = A.eps * norm(size) ** 2 + A.lost * p + margin(4, 2 * abs(l), norm(E))
    t = l + 4 * (error + gamma(p + 8) * (p * abs(l) + np.abs(np.diagonal(E)).sum()))
    if not (below.any() and c >= 0 and is_psd(t * np.eye(p) - E, error)):
        return False
    less = -1 - u.sum() * below / (below @ below)
    z = np.linalg.pinv(E - l * np.eye(p), rcond=1e-12, hermitian=True) @ less
    error = A.eps * size * (size @ np.abs(z)) + A.lost * np.abs(z).sum()
    error += margin(p + 8, np.abs(E) @ np.abs(z), t * np.abs(z))
    return bool((E @ z - np.minimum(c * z, t * z) + 1.01 * error < 0).all())
