"""The one inequality, from which every bound but the simplest is made.

Theorem. Let x be a unit vector with at most k nonzeros, support I, x >= 0. Take ANY W, M (rows m_i), U (rows
u_i) and tau >= max(0, W_ij). If

    lambda_max(A - sym(W) - sym(M) - UU') <= t
    topk_i( ((v_i'c)+)^2 + h_i ) <= F   for every unit c with c_0 >= 0

then x'Ax <= t + F. Here sym(W) = (W + W') / 2, v_i = (u_i, sqrt(tau)), c_0 is the last entry of c, and
h_i = (m_ii + sqrt(m_ii^2 + s_i^2)) / 2, where s_i is the 2-norm of the k - 1 largest positive entries of m_i
besides m_ii. Where I is known to contain some rows, topk may count these whatever their terms.

Proof. (1) x'Wx <= tau (1'x)^2, as x >= 0.
(2) x_i m_i'x <= m_ii x_i^2 + s_i x_i sqrt(1 - x_i^2) <= h_i for i in I, and 0 for the others.
(3) Let c be V'x at length one, so c_0 >= 0. By Cauchy-Schwarz
    |U'x|^2 + tau (1'x)^2 = |V'x|^2 = (sum_I x_i v_i'c)^2 <= sum_I ((v_i'c)+)^2.
(4) A - sym(W) - sym(M) - UU', which is what is left of A, gives at most t. Add up (1) to (3) over I, which
has at most k members. No term is negative, so topk is at least this sum.

Signed x: the same with |W_ij|, |m_ij| and (|u_i'c| + sqrt(tau) c_0)^2.

W, M and U are given on some rows, the kept rows. With a feature outside them W_ij = A_ij, M = 0 and U = 0. So
tau is also at least these A_ij. Nothing is left of A there, which needs t >= 0. The v_i = (0, sqrt(tau)) of
all features outside are equal, so k of them stand for all.
`remainder` checks these A_ij. Where features outside have weights, entries above tau are left of A there, and
`remainder` bounds their effect.

`forms` proves both halves of an inequality, and `fixing` those of every stage and leaf.
"""

import numpy as np
from numpy import ndarray as Array

from nspca.checker import matrix, remainder
from nspca.checker.cover import TopSum
from nspca.checker.matrix import Matrix
from nspca.checker.reading import Inequality, with_cuts
from nspca.checker.refusal import require
from nspca.checker.remainder import Folded
from nspca.checker.rounding import ROOT_TINY, TINY, gamma, is_psd, margin, norm, root_up, topk


def spectral_half(A: Matrix, witness: Inequality, outside: Array, nonneg: bool) -> float:
    """Prove t, and return the threshold tau.

    For several components, if features are outside, or if A has more than the kept rows, t >= 0 is required.
    """
    t, together = witness.t, witness.together
    tau = threshold(witness, nonneg)
    folded = remainder.fold(A, witness, outside, tau, nonneg)
    possible = t >= 0 or (witness.rows.size == A.n and together is None)
    U = witness.U if together is None else np.hstack([together, witness.U])
    proved = possible and stays_below(A, witness, U, folded)
    require(proved, f"lambda_max(A - W - sym(M) - UU') <= t = {t!r} could not be proved")
    return tau


def top_sum(
    witness: Inequality, tau: float, h: Array, outside: int, k: int, fixed: int, nonneg: bool
) -> TopSum:
    """Return the sum that the search half bounds by F, for h_i of the kept rows and a number of features
    outside, for which as many equal rows stand as a support can have.

    The last entry of v_i is sqrt(tau), times the scale of the row. With scales it is rounded up, so that
    products of two such entries are at least W_ij: 4 roundings in `even_entries`, 2 here, 2 of the factor.
    """
    equal_rows, (r, d) = min(k, outside), witness.U.shape
    last = np.full((r + equal_rows, 1), root_up(tau))
    if witness.scales is not None:
        last[:r, 0] *= witness.scales * (1 + gamma(16))
    V = np.pad(witness.U, ((0, equal_rows), (0, 0)))
    return TopSum(np.hstack([V, last]) if tau > 0 else V, d, np.pad(h, (0, equal_rows)), k, fixed, nonneg)


def row_heights(witness: Inequality, k: int, nonneg: bool) -> Array:
    """Return the h_i of the kept rows, less their prices where they have some."""
    h = np.zeros(witness.rows.size) if witness.M is None else heights(witness.M, k, nonneg)
    return h if witness.prices is None else h - witness.prices


def even_entries(witness: Inequality) -> Array | float:
    """Return W_ij / (s_i s_j), where s are the scales of the rows, and W itself without scales.

    An entry above 0 stays so, as it is raised by more than underflow takes.
    """
    W, s = 0.0 if witness.W is None else witness.W, witness.scales
    return W if s is None or witness.W is None else W / np.multiply.outer(s, s) + TINY * np.sign(W)


def threshold(witness: Inequality, nonneg: bool) -> float:
    """Return tau, after proving that W_ij <= tau s_i s_j (signed: |W_ij|) for the scales s of the rows."""
    W = even_entries(witness)
    top = float(np.max(W if nonneg else np.abs(W), initial=0.0))
    tau = top if witness.tau is None else witness.tau
    require(tau >= top, f"tau = {tau} is below the largest entry of W, {top}")
    return tau


def heights(M: Array, k: int, nonneg: bool) -> Array:
    """Return upper bounds on the h_i of the theorem, at least 0: k roundings for s, 5 from there."""
    off = np.maximum(M, 0) if nonneg else np.abs(M)
    off = np.where(np.eye(len(M), dtype=bool), 0.0, off)
    m, s = M.diagonal(), np.sqrt(topk(off**2, k - 1))
    h = np.maximum(0, (m + np.sqrt(m * m + s * s)) / 2)
    return h + gamma(k + 16) * (np.abs(m) + s) + ROOT_TINY * M.any(axis=1)


def stays_below(A: Matrix, witness: Inequality, U: Array, folded: Folded | None) -> bool:
    """Tell whether lambda_max(A + K - W - sym(M) - UU') <= t is proved on the kept rows.

    `folded` is K with the size of its error, None for 0.
    """
    rows, t, N = witness.rows, witness.t, with_cuts(witness.W, witness.M)
    plain = (N is None or not N.any()) and folded is None
    if plain and not A.size[rows].any() and not U.any():
        return t >= 0
    few_samples = A.m <= matrix.DENSE_LIMIT or not A.by_rows
    if plain and A.gram and A.m < rows.size and t > 0 and few_samples:
        # The small side uses up a part t / lambda_max(A) of the margin; the large side, if it can be formed,
        # uses none.
        if small_side(A, rows, U, t):
            return True
        if rows.size > matrix.DENSE_LIMIT:
            return False
    return large_side(A, rows, N, U, t, folded)


def large_side(A: Matrix, rows: Array, N: Array | None, U: Array, t: float, folded: Folded | None) -> bool:
    """Tell whether S = tI - (A + K - sym(N) - UU') is proved psd on these rows; N = None stands for 0.

    The errors eps size_i size_j of A's entries have norm eps |size|^2 at most, and those of a covariance,
    eps |A_ij|, that of eps A on these rows. TINY and roundings to spare pay for `A.lost` (rule UNDERFLOW).
    Roundings besides: 3 for an entry of A, 5 for N = W + M, d + 2 for UU', 1 for t, 4 for K.
    """
    matrix.require_few(A, rows)
    r, d = U.shape
    B = A.block(rows, rows)
    left = B if N is None else B - (N + N.T) / 2
    K: Array | float
    K, of_K = (0.0, 0.0) if folded is None else folded
    left = left + K
    if not (A.eps or A.lost or U.any() or left.any() or (N is not None and N.any())):
        return t >= 0  # a zero matrix of exact entries, which no margin can be taken from
    S = t * np.eye(r) - (left - U @ U.T)
    of_entries = A.eps * (norm(B) if A.relative else np.sum(A.size[rows] ** 2))
    of_N = 0.0 if N is None else norm(N)
    sizes = (norm(B), of_N, norm(U) ** 2, abs(t), norm(K))
    return is_psd(S, of_entries + of_K + margin(d + 8, *sizes))


def small_side(A: Matrix, rows: Array, U: Array, t: float) -> bool:
    """Tell whether lambda_max(Z'Z / m - UU') <= t, t > 0, is proved by a matrix as large as the number m of
    samples.

    Theorem. With B = ZU and K = tI + U'U (not the K of `remainder`) it is enough that, for ANY Y (m, d),
    S = tI - (ZZ' - BY' - YB' + YKY') / m is psd.
    Proof. tI + UU' >= Z'Z / m  <=>  tI >= (ZZ' - B K^-1 B') / m, by Schur complements and Woodbury's formula;
    and (B - YK) K^-1 (B - YK)' >= 0 says B K^-1 B' >= BY' + YB' - YKY'.

    Roundings: r for ZZ', r + d for BY', r + 1 + 2d for YKY', 5 to add them up, 1 for t; twice those of Z.
    """
    m, r, d = A.m, rows.size, U.shape[1]
    ZZ, B = np.zeros((m, m)), np.zeros((m, d))
    for J in matrix.split(np.arange(r), m):
        Z = A.columns(rows[J])
        ZZ = ZZ + Z @ Z.T
        B = B + Z @ U[J]
    K = t * np.eye(d) + U.T @ U
    Y = B @ np.linalg.pinv(K, hermitian=True) if np.isfinite(K).all() else B
    S = t * np.eye(m) - (ZZ - B @ Y.T - Y @ B.T + Y @ K @ Y.T) / m
    z, u, y = np.sqrt(m * np.sum(A.size[rows] ** 2)), norm(U), norm(Y)
    sizes = (z * z + 2 * z * u * y + (d * t + u * u) * y * y) / m
    return is_psd(S, margin(r + 3 * d + 16 + A.more, sizes, t) + TINY * (1 + y) ** 2)
