"""Bound entries above tau in rows that are not kept, by weights of features and a correction K on the kept
rows.

Let R be the kept rows and O the features outside. Entries of A with a feature in O are split into W + N with
N >= 0, N symmetric and W_ij <= tau s_i s_j (signed: |W_ij|), with scales s, which are 1 on O.

Theorem. Let y > 0 on O, d_i = (|N_OO| y)_i / y_i, and g_i + d_i <= t with g_i > 0 wherever row i of N_OR is
not zero, d_i <= t elsewhere. With K = N_RO diag(1 / g) N_OR, summed over the rows i of N_OR that are not
zero, let lambda_max(A_RR + K - W_RR - sym(M) - UU') <= t. Then x'(A - W - sym(M) - UU')x <= t |x|^2.
Proof. 2 |N_ij x_i x_j| <= |N_ij| (x_i^2 y_j / y_i + x_j^2 y_i / y_j), so x_O'N_OO x_O <= sum_i d_i x_i^2. And
2 x_i (N_OR x_R)_i <= g_i x_i^2 + (N_OR x_R)_i^2 / g_i, so 2 x_O'N_OR x_R <= sum_i g_i x_i^2 + x_R'K x_R. Add
what is left on R: at most t |x_O|^2 + t |x_R|^2.

Without weights N must be 0. The floats computed for N *are* N, as W = A - N
is whatever is left; so all that has to hold is A_ij - N_ij <= tau s_j, and signed A_ij - N_ij >= -tau s_j.

Roundings. Of an entry E of A, off by eps size_i size_j + lost: 3 for N, with sizes |E|, tau s_j, which is at
most |E| where N is not 0, and that error; the code has 8. Where N is 0 and tau s_j is more than twice
size_i size_j, no rounding matters. Of d: one for each of at most |O| products and sums, and 1 to divide. Of
g: 3. Of an entry of K: 2 to divide by the root, twice, 1 to multiply, and one for each sum.

`inequality` calls `fold` for every witness that leaves out features.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy import ndarray as Array

from nspca.checker.matrix import Matrix, entries_above, require_few
from nspca.checker.reading import Inequality
from nspca.checker.refusal import require
from nspca.checker.rounding import TINY, gamma

Folded: TypeAlias = tuple[Array, float]
"""K and the size of its rounding error in spectral norm."""

LIGHTEST, HEAVIEST = 2.0**-60, 2.0**60
"""Smallest and largest allowed weight: what underflows in d is then less than TINY."""


def fold(A: Matrix, witness: Inequality, outside: Array, tau: float, nonneg: bool) -> Folded | None:
    """Return K (r, r) and the size of its rounding error in spectral norm, or None where K is 0.

    Weights with a d_i above t are refused. Without weights, any entry of A above tau times the least scale is
    refused: an entry has m + 1 roundings of its own, and its sum with its error has 2.
    """
    if not outside.size:
        return None
    limits = np.full(A.n, tau)
    limits[witness.rows] *= 1.0 if witness.scales is None else witness.scales
    if witness.y is None:
        level = min(tau, float(limits.min()))  # a row that is not kept has scale 1
        for second in (None, witness.rows):
            for i, j, E, _ in entries_above(A, outside, second, level, nonneg):
                own = (E if nonneg else np.abs(E)) + A.eps * A.size[i] * A.size[j] + A.lost
                sentence = f"tau = {tau} is below an entry of A in a row that is not kept"
                require((own <= level).all(), sentence)
        return None
    y = np.ones(A.n)
    y[np.setdiff1d(np.arange(A.n), witness.rows)] = witness.y
    sentence = f"witness y must have weights between {LIGHTEST!r} and {HEAVIEST!r}"
    require(((y >= LIGHTEST) & (y <= HEAVIEST)).all(), sentence)
    d = levels(A, outside, y, limits, nonneg)
    most, t = float(d.max()), witness.t
    require(most <= t, f"the features outside the kept rows need t = {most!r} at least, claimed is {t!r}")
    return across(A, witness, outside, d, limits, nonneg)


def entries_of_n(
    A: Matrix, first: Array, second: Array | None, limits: Array, nonneg: bool
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (i, j, N_ij) for the pairs of `entries_above`; all other entries of N are 0. An entry with j
    keeps at most limits_j, tau s_j, for W.
    """
    tau = float(limits[first if second is None else second].min(initial=np.inf))
    for i, j, E, error in entries_above(A, first, second, tau, nonneg):
        N = np.maximum((E if nonneg else np.abs(E)) - (limits[j] - error), 0.0)
        possible = nonneg or tau >= 3 * error or not N.any()
        require(possible, f"tau = {tau} is not more than the rounding of an entry of A")
        yield i, j, N if nonneg else np.copysign(N, E)


def levels(A: Matrix, outside: Array, y: Array, limits: Array, nonneg: bool) -> Array:
    """Return upper bounds (n,) on the d_i of the features outside, and 0 for the kept rows."""
    totals, felt = np.zeros(A.n), False
    for i, j, N in entries_of_n(A, outside, None, limits, nonneg):
        N, other, felt = np.abs(N), i != j, felt or bool(N.any())
        totals += np.bincount(i, weights=N * y[j], minlength=A.n)
        totals += np.bincount(j[other], weights=(N * y[i])[other], minlength=A.n)
    return totals / y * (1 + gamma(outside.size + 16)) + TINY * felt


def across(
    A: Matrix, witness: Inequality, outside: Array, d: Array, limits: Array, nonneg: bool
) -> Folded | None:
    """Return K and its error from N between the kept rows and the features outside, or None where K is 0."""
    rows, t = witness.rows, witness.t
    require_few(A, rows)  # a small file may name many rows, and K is dense
    K, size, used = np.zeros((rows.size, rows.size)), 0.0, 0
    place = np.zeros(A.n, dtype=int)
    place[rows] = np.arange(rows.size)
    for i, j, N in entries_of_n(A, outside, rows, limits, nonneg):
        i, j, N = i[N != 0], j[N != 0], N[N != 0]
        felt, at = np.unique(i, return_inverse=True)
        gain = (t - d[felt]) - gamma(8) * t
        require((gain > 0).all(), f"t = {t!r} leaves no room for a feature outside the kept rows")
        B = np.zeros((rows.size, felt.size))
        B[place[j], at] = N / np.sqrt(gain)[at]
        K = K + B @ B.T
        size, used = size + float(np.sum(B * B)), used + felt.size
    return (K, gamma(2 * used + 16) * size + TINY * (1 + size)) if used else None
