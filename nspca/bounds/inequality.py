"""The one inequality behind every bound, and the spectral half of its witness.

For any symmetric W, square M (rows m_i) and U (n, d), nonnegative problem:

    OPT <= lambda_max(A - W - sym(M) - UU') + max over unit c of topk_i( ((v_i'c)+)^2 + h_i ),
    v_i = (u_i, sqrt(tau)),  tau = max(0, max W_ij),
    h_i = (m_ii + sqrt(m_ii^2 + s_i^2)) / 2,
    s_i = 2-norm of the k-1 largest positive off-diagonal entries of m_i.

Proof. Take a feasible x with support I. (1) x'Wx <= tau (1'x)^2. (2) With t_i = x_i^2, x'Mx = sum_I x_i
(m_i'x) <= sum_I m_ii t_i + s_i sqrt(t_i (1 - t_i)) <= sum_I h_i. (3) |U'x|^2 + tau (1'x)^2 = |V'x|^2 = max_c
((Vc)'x)^2 <= max_c sum_I ((v_i'c)+)^2 by Cauchy-Schwarz. (4) What is left of A is at most lambda_max. Add;
|I| <= k and the terms are >= 0. Signed problem: tau = max |W_ij|, |.| in s_i, and in (3) c_0 >= 0 and
(|u_i'c| + sqrt(tau) c_0)^2.

The first term is the spectral half, whose proved value is the claim t (`spectral_claim`). The second term is
the search half, whose claim is F. `witness` proves both halves of a witness. `elementary` and `lowrank` call
`spectral_claim` themselves.
"""

from typing import Any

import numpy as np

from nspca.covariance.covariance import DENSE_LIMIT, Covariance
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, is_positive_definite, topk_sum
from nspca.errors import NotConverged, Refused

SLACK = 16
"""Margin of a spectral claim, as a multiple of its a priori rounding error. A checker that computes in a
different way needs this margin.
"""
SEARCH_SLACK = 1e-10
"""Least margin of the search over c, relative to topk |v_i|^2. `search_slack` raises it for large k."""
TINY = 1e-149
"""Entries below this size may vanish in the checker, for a matrix whose leading eigenvalue is 1."""


def search_slack(k: int, D: int) -> float:
    """Return the relative rounding error that a cone in D dimensions with sums of k terms may have.

    The error is at most D times that of one entry.
    """
    return max(SEARCH_SLACK, 4 * D * (k + 8 * D + 32) * UNIT_ROUNDOFF)


def spectral_claim(
    A: Covariance, U: Array, estimate: float, rows: np.ndarray | None = None, N: Array | None = None
) -> float:
    """Return a number t with ``lambda_max(A - N - UU') <= t`` on the kept rows, proved by Cholesky.

    Of few samples, and above the dense limit, an m x m matrix is factorised.

    Parameters
    ----------
    A : Covariance
    U : (r, d) float64
    estimate : float
        Guess of the smallest t. The result is a little above the guess, and further above when the guess is
        too low.
    rows : (r,) int, optional
        Kept rows, None for all rows. With kept rows t >= 0, since A - N - UU' is 0 on the other rows.
    N : (r, r) float64, optional
        The symmetric matrix W + sym(M), None for zero.

    Raises
    ------
    Refused
        When neither side can be factorised (both above the dense limit).
    """
    size = A.n if rows is None else len(rows)
    side = size if rows is not None or N is not None else min(A.n, A.shape[0])
    if side > DENSE_LIMIT:
        shape, way_out = f"{A.shape[0]} x {size}", "use the variance bound instead"
        raise Refused(f"a spectral bound needs min(m, n) <= {DENSE_LIMIT}, got {shape}; {way_out}")
    few_samples = rows is None and N is None and A.has_samples and 2 * A.shape[0] <= size
    if size <= DENSE_LIMIT and not few_samples:
        B = A.matrix if rows is None else A.block(rows)
        trace = float(np.trace(B))
        total = float(np.sum(U * U)) + (0.0 if N is None else float(np.linalg.norm(N)))
        S = B - U @ U.T if N is None else B - N - U @ U.T
        samples, sizes = A.shape[0] if A.source == "data" else 1, trace + total
        # Features that are not constant, and yet too small to be squared, leave a block of zeros.
        underflown = not sizes and A.varies[slice(None) if rows is None else rows].any()
        sizes += TINY if sizes or underflown else 0.0

        def prove(t: float) -> tuple[bool, float]:
            """Return whether t is proved with an r x r matrix, and t raised by a margin."""
            return _features_side(S, t, (samples + U.shape[1] + 20) * sizes)
    else:
        trace, total = A.trace, 0.0

        def prove(t: float) -> tuple[bool, float]:
            """Return whether t is proved with an m x m matrix, and t raised by a margin."""
            return _samples_side(A, U, t)

    t = estimate if rows is None and N is not None else max(estimate, 0.0)
    step = 1e-9 * max(abs(t), 1e-3 * (trace + total))
    while True:
        proved, raised = prove(t)
        if proved:
            return raised
        if t > trace + total:
            broken = f"a factorisation must prove lambda_max <= {t:.6g}, but it broke off"
            raise NotConverged(f"{broken}; the matrix is badly scaled")
        # The estimate was too low (clustered eigenvalues), or U leaves nothing and the small side needs room
        # for rounding.
        t, step = t + step, 4 * step


def _features_side(B: Array, t: float, forming: float) -> tuple[bool, float]:
    """Return whether ``lambda_max(B) <= t`` is proved by Cholesky, and t raised by a margin.

    `forming` is the a priori rounding error of B in units of roundoff.
    """
    n = len(B)
    error = (n + 10) * (n * abs(t) + np.abs(np.diag(B)).sum()) + forming
    t += SLACK * UNIT_ROUNDOFF * error
    S = t * np.eye(n) - B - (SLACK / 2 * UNIT_ROUNDOFF * error) * np.eye(n)
    return is_positive_definite(S) or error == 0, t


def _samples_side(A: Any, U: Array, t: float) -> tuple[bool, float]:
    """Return whether ``lambda_max(A - UU') <= t`` is proved with an m x m matrix, and t raised by a margin.

    The proof is that tI - ZZ'/m + CY' + YC' - Y(tI + U'U)Y' is psd for some Y, with C = ZU/sqrt(m) (Schur
    complement).
    """
    m = A.shape[0]
    gram = A.once("gram", A.gram)
    C = A.scores(U) / np.sqrt(m)
    K = U.T @ U
    scale = A.trace + np.sum(U * U)
    t += SLACK * UNIT_ROUNDOFF * ((m + 10) * (m * t + A.trace) + (A.n + 20) * 4 * scale)
    if t == 0.0:
        return True, t
    K = K + t * np.eye(U.shape[1])
    Y = np.linalg.solve(K, C.T).T if U.shape[1] else C
    cross = C @ Y.T
    S = t * np.eye(m) - gram + cross + cross.T - Y @ K @ Y.T
    error = (m + 10) * np.abs(np.diag(S)).sum() + (A.n + 20) * 2 * scale
    return is_positive_definite(S - SLACK / 4 * UNIT_ROUNDOFF * error * np.eye(m)), t


def threshold(W: Array | None, nonneg: bool, floor: float = 0.0) -> float:
    """Return tau, the maximum of 0, `floor` and every W_ij (signed: |W_ij|)."""
    if W is None or W.size == 0:
        return max(0.0, floor)
    return max(0.0, floor, float(W.max() if nonneg else np.abs(W).max()))


def heights(M: Array, k: int, nonneg: bool) -> Array:
    """Return the heights ``h_i = (m_ii + sqrt(m_ii^2 + s_i^2)) / 2`` of the row cuts M (r, r), at least 0."""
    diagonal = np.diag(M).copy()
    other = np.maximum(M, 0.0) if nonneg else np.abs(M)
    np.fill_diagonal(other, 0.0)
    squares = topk_sum(other * other, k - 1) if k > 1 else np.zeros(len(M))
    return np.maximum((diagonal + np.sqrt(diagonal**2 + squares)) / 2, 0.0)
