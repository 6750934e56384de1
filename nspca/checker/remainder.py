"""Bound entries above tau in rows that are not kept, by weights of features and a correction K on the kept
rows.

Let R be the kept rows and O the features outside. Entries of A with a feature in O are split into W + N with
N >= 0, N symmetric and W <= tau (signed: |W_ij| <= tau).

Theorem. Let y > 0 on O, d_i = (|N_OO| y)_i / y_i, and g_i + d_i <= t with g_i > 0 wherever row i of N_OR is
not zero, d_i <= t elsewhere. With K = N_RO diag(1 / g) N_OR, summed over the rows i of N_OR that are not
zero, let lambda_max(A_RR + K - W_RR - sym(M) - UU') <= t. Then x'(A - W - sym(M) - UU')x <= t |x|^2.
Proof. 2 |N_ij x_i x_j| <= |N_ij| (x_i^2 y_j / y_i + x_j^2 y_i / y_j), so x_O'N_OO x_O <= sum_i d_i x_i^2. And
2 x_i (N_OR x_R)_i <= g_i x_i^2 + (N_OR x_R)_i^2 / g_i, so 2 x_O'N_OR x_R <= sum_i g_i x_i^2 + x_R'K x_R. Add
what is left on R: at most t |x_O|^2 + t |x_R|^2.

Without weights N must be 0; that is `inequality.threshold`. The floats computed for N *are* N, as W = A - N
is whatever is left; so all that has to hold is A_ij - N_ij <= tau, and signed A_ij - N_ij >= -tau.

Roundings. Of an entry E of A, off by eps size_i size_j + lost: 2 for N, with sizes |E|, tau and that error;
the code has 8. Of d: one for each of at most |O| products and sums, and 1 to divide. Of g: 3. Of an entry of
K: 2 to divide by the root, twice, 1 to multiply, and one for each sum.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy import ndarray as Array

from nspca.checker import matrix
from nspca.checker.matrix import Matrix
from nspca.checker.reading import Inequality, Joint
from nspca.checker.refusal import require
from nspca.checker.rounding import TINY, gamma

Folded: TypeAlias = tuple[Array, float]
"""K (r, r), and the size of its rounding error in spectral norm."""
TOGETHER = 2**24
"""Maximum numbers of Z in memory for a piece of the features: 128 MB."""
WIDEST = 1024
"""Maximum features in a piece: a block of A then has 8 MB."""
LIGHTEST, HEAVIEST = 2.0**-60, 2.0**60
"""Smallest and largest allowed weight: what underflows in d is then less than TINY."""


def fold(A: Matrix, witness: Inequality | Joint, outside: Array, tau: float, nonneg: bool) -> Folded | None:
    """Return K (r, r) and the size of its rounding error in spectral norm, or None where K is 0.

    Weights with a d_i above t are refused.
    """
    if witness.y is None or not outside.size:
        return None
    y = weights(A, witness, outside)
    d = levels(A, outside, y, tau, nonneg)
    most, t = float(d.max()), witness.t
    require(most <= t, f"the features outside the kept rows need t = {most!r} at least, claimed is {t!r}")
    return across(A, witness, outside, d, tau, nonneg)


def weights(A: Matrix, witness: Inequality | Joint, outside: Array) -> Array:
    """Return the weights of the features outside, in their order."""
    y = np.ones(A.n)
    y[np.setdiff1d(np.arange(A.n), witness.rows)] = witness.y
    words = f"witness y must have weights between {LIGHTEST!r} and {HEAVIEST!r}"
    require(((y >= LIGHTEST) & (y <= HEAVIEST)).all(), words)
    return y[outside]


def pieces(A: Matrix, features: Array) -> Iterator[Array]:
    """Yield consecutive pieces of some features whose blocks of A fit in memory together."""
    # A that is read in rows needs a pass for each block, so pieces are as large as memory allows
    width = matrix.DENSE_LIMIT // 2 if A.by_rows else max(1, min(WIDEST, TOGETHER // A.m))
    for start in range(0, features.size, width):
        yield features[start : start + width]


def beside(A: Matrix, I: Array) -> Callable[[Array], Array]:
    """Return a function of J that returns a new array A[I, J]; the columns of I are formed once."""
    if A.by_rows or not A.gram:
        return lambda J: np.array(A.block(I, J))
    Z = A.columns(I).T

    def block(J: Array) -> Array:
        E = Z @ A.columns(J)
        E /= A.m
        return E

    return block


def above(
    A: Matrix, I: Array, J: Array, block: Callable[[Array], Array], tau: float, nonneg: bool
) -> tuple[Array, Array | None] | None:
    """Return |N[I, J]| and a mask of negative N (signed problems), or None where no entry can exceed tau."""
    largest = A.size[I].max() * A.size[J].max()
    if largest <= tau:
        return None
    error = (A.eps * largest + A.lost) * (1 + gamma(8)) + gamma(8) * (largest + tau)
    N = block(J)
    negative = None if nonneg else N < 0
    if not nonneg:
        np.abs(N, out=N)
    N -= tau - error
    np.maximum(N, 0.0, out=N)
    possible = nonneg or tau >= 3 * error or not N.any()
    require(possible, f"tau = {tau} is not more than the rounding of an entry of A")
    return N, negative


def levels(A: Matrix, outside: Array, y: Array, tau: float, nonneg: bool) -> Array:
    """Return upper bounds on the d_i.

    Pieces are read from the largest sizes to the smallest, so the loop ends once no entry can exceed tau.
    """
    order = np.argsort(-A.size[outside], kind="stable")
    totals, parts, felt = np.zeros(outside.size), list(pieces(A, order)), False
    for number, at in enumerate(parts):
        block = beside(A, outside[at])
        for other in parts[number:]:
            found = above(A, outside[at], outside[other], block, tau, nonneg)
            if found is None:
                break
            N = np.maximum(found[0], found[0].T) if other is at else found[0]
            felt = felt or bool(N.any())
            totals[at] += N @ y[other]
            if other is not at:
                totals[other] += y[at] @ N
    return totals / y * (1 + gamma(outside.size + len(parts) + 16)) + TINY * felt


def across(
    A: Matrix, witness: Inequality | Joint, outside: Array, d: Array, tau: float, nonneg: bool
) -> Folded | None:
    """Return K and its error from N between the kept rows and the features outside, or None where K is 0."""
    rows, t = witness.rows, witness.t
    K, size, used, count = np.zeros((rows.size, rows.size)), 0.0, 0, 0
    block = beside(A, rows)
    for at in pieces(A, np.arange(outside.size)) if rows.size else ():
        found = above(A, rows, outside[at], block, tau, nonneg)
        if found is None:
            continue
        N, negative = found
        felt = np.flatnonzero(N.any(axis=0))
        if not felt.size:
            continue
        N = N[:, felt] if negative is None else np.where(negative[:, felt], -N[:, felt], N[:, felt])
        gain = (t - d[at[felt]]) - gamma(8) * t
        require((gain > 0).all(), f"t = {t!r} leaves no room for a feature outside the kept rows")
        B = N / np.sqrt(gain)
        K = K + B @ B.T
        size, used, count = size + float(np.sum(B * B)), used + felt.size, count + 1
    return (K, gamma(used + count + 16) * size + TINY * (1 + size)) if used else None
