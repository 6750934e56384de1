"""A quadratic program over the simplex, for the weights of a bundle: dozens of variables, most end at 0."""

import numpy as np

from nspca.matrix.linalg import Array

PIVOTS = 200
"""Changes of the active set at most; stopping early gives a feasible point that is less good."""


def simplex_program(H: Array, c: Array, w: Array) -> Array:
    """Minimiser (p,) over the simplex of ``c'w + w'Hw/2``, H (p, p) psd, by active sets from a feasible w."""
    w, active, tol = w.copy(), w > 0, 1e-10 * float(np.abs(c).max())
    for _ in range(PIVOTS):
        i = np.flatnonzero(active)
        K = np.ones((i.size + 1, i.size + 1))
        K[:-1, :-1], K[-1, -1] = H[np.ix_(i, i)], 0.0
        K[range(i.size), range(i.size)] += 1e-9 * np.trace(K) / i.size + 1e-300
        new, old = np.linalg.solve(K, np.append(-c[i], 1.0))[:-1], w[i]
        if new.min() >= 0:
            w[i] = new
            gradient = c + H @ w
            j = int(np.argmin(gradient))
            if active[j] or gradient[j] >= gradient @ w - tol:
                break
            active[j] = True
        else:
            ratios = np.where(new < 0, old / np.where(new < 0, old - new, 1.0), np.inf)
            w[i] = np.where(ratios <= ratios.min(), 0.0, np.maximum(old + ratios.min() * (new - old), 0.0))
            active[i[ratios <= ratios.min()]] = False
            w /= w.sum()
    return w
