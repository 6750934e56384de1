"""The one inequality behind every bound, and the spectral half of its witness.

For any symmetric W, square M (rows m_i) and U (n, d), nonnegative problem:

    OPT <= lambda_max(A - W - sym(M) - UU') + max over unit c of topk_i( ((v_i'c)+)^2 + h_i ),
    v_i = (u_i, sqrt(tau)),  tau = max(0, max W_ij),
    h_i = (m_ii + sqrt(m_ii^2 + s_i^2)) / 2,  s_i = 2-norm of the k-1 largest positive off-diagonal entries of m_i.

Proof. Take a feasible x with support I. (1) x'Wx <= tau (1'x)^2. (2) With t_i = x_i^2,
x'Mx = sum_I x_i (m_i'x) <= sum_I m_ii t_i + s_i sqrt(t_i (1 - t_i)) <= sum_I h_i. (3) |U'x|^2 + tau (1'x)^2 = |V'x|^2
= max_c ((Vc)'x)^2 <= max_c sum_I ((v_i'c)+)^2 by Cauchy-Schwarz. (4) What is left of A is at most lambda_max. Add; |I| <= k
and the terms are >= 0. Signed problem: tau = max |W_ij|, |.| in s_i, and (|u_i'c| + sqrt(tau) c_0)^2, c_0 >= 0, in (3).
"""

import numpy as np

from nspca.covariance import DENSE_LIMIT, Covariance
from nspca.errors import NotConverged, Refused
from nspca.linalg import UNIT_ROUNDOFF, Array, is_positive_definite

SLACK = 16
"""Times the a priori rounding error of a spectral claim that is left for whoever checks it by other arithmetic."""
SEARCH_SLACK = 1e-10
"""The same for the search over c, relative to topk |v_i|^2 (there the errors are a few dozen roundoffs)."""


def spectral_claim(A: Covariance, U: Array, estimate: float) -> float:
    """A number t with ``lambda_max(A - UU') <= t``, proved here by Cholesky, a little above `estimate`.

    Uses the m x m side above the dense limit, so n x n is never formed for 72 x 12582.

    Raises
    ------
    Refused
        When neither side can be factorised (both above the dense limit).
    """
    if min(A.n, A.shape[0]) > DENSE_LIMIT:
        raise Refused(f"a spectral bound needs min(m, n) <= {DENSE_LIMIT}, got {A.shape[0]} x {A.n}; use the variance bound instead")
    prove = _features_side if A.n <= DENSE_LIMIT else _samples_side
    t = max(estimate, 0.0)
    step = 1e-9 * max(t, 1e-3 * A.trace)
    while True:
        proved, raised = prove(A, U, t)
        if proved:
            return raised
        if t > A.trace:
            raise NotConverged(f"a factorisation must prove lambda_max <= {t:.6g}, but it broke off; the matrix is badly scaled")
        # The estimate was too low (clustered eigenvalues), or U leaves nothing and the small side needs room for rounding.
        t, step = t + step, 4 * step


def _features_side(A, U, t):
    n, samples = A.n, A.shape[0] if A.source == "data" else 1
    B = A.matrix - U @ U.T
    error = (n + 10) * (n * t + np.abs(np.diag(B)).sum()) + (samples + U.shape[1] + 20) * (A.trace + np.sum(U * U))
    t += SLACK * UNIT_ROUNDOFF * error
    return is_positive_definite(t * np.eye(n) - B - (SLACK / 2 * UNIT_ROUNDOFF * error) * np.eye(n)) or error == 0, t


def _samples_side(A, U, t):
    """t I - ZZ'/m + CY' + YC' - Y(tI + U'U)Y' psd for any Y proves it (Schur complement), C = ZU / sqrt(m)."""
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
