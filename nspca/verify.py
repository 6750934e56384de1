"""The sceptic: proves a certificate from the raw data and the numbers of its witness; no eigenvalue, norm or search is trusted.

Theorem. Let x be a unit vector with at most k nonzeros, support I, x >= 0. For ANY W, M (rows m_i), U (rows u_i), tau >= max(0, W_ij):
x'Ax <= t + F  if  lambda_max(A - sym(W) - sym(M) - UU') <= t  and  topk_i(((v_i'c)+)^2 + h_i) <= F for every unit c with c_0 >= 0, where
v_i = (u_i, sqrt(tau)), h_i = (m_ii + sqrt(m_ii^2 + s_i^2)) / 2, s_i = 2-norm of the k-1 largest positive off-diagonal entries of m_i.
Proof. x'Wx <= tau (1'x)^2. x_i m_i'x <= m_ii x_i^2 + s_i x_i sqrt(1 - x_i^2) <= h_i. With c along V'x, c_0 >= 0, Cauchy-Schwarz gives
|U'x|^2 + tau (1'x)^2 = |V'x|^2 = (sum_I v_i'c x_i)^2 <= sum_I ((v_i'c)+)^2. What is left of A is at most t. Add up over I.
Signed x: the same with |W_ij|, |m_ij| and |u_i'c| + sqrt(tau) c_0. Rows not kept: there W_ij = A_ij <= tau, so 0 is left (t >= 0), u_i = 0.
Cones. For c = sum_j a_j g_j, a >= 0: (v_i'c)+ <= sum_j a_j p_ij, p_ij = (v_i'g_j)+ (signed: likewise), so the sum over I is <= a'Ta with
T_jl = topk_i(p_ij p_il + h_i G_jl), G_jl = g_j'g_l, and a'Ga = |c|^2 = 1. So T <= FG entrywise proves the cone, and so does FG - T psd.

A = Z'Z/m, Z the float64 matrix of centred (scaled) data times a power of two, or A = (B + B')/2 for a covariance B. j EPS exceeds gamma_j,
the error of j roundings in any order (Higham, Accuracy and Stability, 2002, Lemma 3.1), TINY what underflow can lose at unit scale.
"""

import hashlib
import itertools
from fractions import Fraction

import numpy as np

from nspca.errors import CertificateError

EPS, TINY, DENSE_LIMIT, LEAF = 1.02 * 2.0**-53, 1e-290, 4000, 255


def verify(data, certificate, allow_probabilistic=False):
    """Upper bound, in the units of the data, that `certificate` proves for `data`; CertificateError says why if it proves none."""
    c = certificate
    require(c.version == 1 and c.form in FORMS, f"version 1 of {list(FORMS)} is known, got version {c.version!r} of {c.form!r}")
    require(allow_probabilistic or c.probability == 0, f"only certain bounds count, this one fails with probability {c.probability}")
    try:
        with np.errstate(all="ignore"):  # what overflows becomes inf or NaN and fails its comparison
            A = Matrix(data, c)
            sizes = [k.__index__() for k in (c.k if c.form == "joint" else (c.k,))]
            require(min(sizes) >= 1 and max(*sizes, len(sizes)) <= A.n, f"k must be between 1 and n = {A.n}, got {c.k}")
            exact = Fraction(FORMS[c.form][0](A, c, *witness(c, A.n), *sizes)) * Fraction(2) ** A.exponent
        value = float(exact) if Fraction(float(exact)) >= exact else float(np.nextafter(float(exact), np.inf))
        require(value <= c.upper < np.inf, f"the upper bound {c.upper!r} is claimed, but only {value!r} is proved")
        return value
    except (TypeError, ValueError, OverflowError, KeyError, AttributeError) as error:  # text for numbers, infinite bounds, missing parts
        raise CertificateError(f"the data or the certificate cannot be read: {error!r}") from error


def require(condition, sentence):
    if not condition:  # conditions are written so that a NaN makes them false
        raise CertificateError(sentence)


def topk(v, k):
    """Sum of the k largest along the last axis of a nonnegative array."""
    n = v.shape[-1]
    return v.sum(axis=-1) if k >= n else np.partition(v, min(n - k, n - 1), axis=-1)[..., n - k :].sum(axis=-1)


def is_psd(S, error):
    """True only if every symmetric matrix within spectral distance `error` of S (..., n, n) is positive semidefinite.

    If Cholesky of S completes, RR' = S + D, |D_ij| <= g/(1-g) sqrt(s_ii s_jj), g = gamma_(n+1), so |D| <= g/(1-g) tr S (Demmel 1989;
    Higham, section 10.1; underflow: Rump, BIT 46, 2006). So it runs on S minus that, minus `error`, minus the rounding of this shift.
    """
    margin = 1.02 * (error + (S.shape[-1] + 8) * EPS * np.abs(np.diagonal(S, axis1=-2, axis2=-1)).sum(axis=-1)) + TINY
    try:
        return np.isfinite(np.linalg.cholesky(S - margin[..., None, None] * np.eye(S.shape[-1]))).all()
    except np.linalg.LinAlgError:  # not positive definite
        return False


class Matrix:
    """The unit-scale A in blocks: |A_ij| <= size_i size_j, and a computed entry is off by at most eps size_i size_j (+ TINY for Z'Z/m)."""

    def __init__(self, data, c):
        require(not np.iscomplexobj(data), "the data must be real numbers")
        sparse = hasattr(data, "tocsr")
        X = data.tocsr().astype(np.float64) if sparse else np.ascontiguousarray(data, dtype=np.float64)
        if sparse:
            X.sum_duplicates()
            X.eliminate_zeros()
        require(X.ndim == 2 and tuple(c.shape) == X.shape and min(X.shape) > 0, f"the data must have shape {c.shape}, got {X.shape}")
        parts = [X.indptr.astype("<i8"), X.indices.astype("<i8"), X.data.astype("<f8")] if sparse else [X.astype("<f8") + 0.0]
        digest = hashlib.sha256(b"".join([f"{'sparse' if sparse else 'dense'} {X.shape[0]} {X.shape[1]}".encode(), *parts])).hexdigest()
        require(digest == c.digest, "the data is not the data of the certificate: the digests differ")
        require(np.isfinite(parts[-1]).all(), "the data must be finite numbers")
        (self.m, self.n), self.center, self.scale, self.gram = X.shape, c.center, c.scale, c.source == "data"
        self.shift = int(np.frexp(np.abs(parts[-1]).max(initial=0.0))[1])
        if self.gram:
            self.X, self.exponent, self.eps = X.tocsc() if sparse else X, 0 if c.scale else 2 * self.shift, (self.m + 8) * EPS
            blocks = (self.columns(J) for J in self.chunks(np.arange(self.n)))
            self.size = np.concatenate([np.sqrt((Z * Z).sum(axis=0) / self.m) + 1e-150 * Z.any(axis=0) for Z in blocks]) * (1 + self.eps)
        else:
            require(c.source == "covariance" and self.m == self.n, f"the source must be data or a square covariance, got {c.source!r}")
            B = np.ldexp(X.toarray() if sparse else X, -self.shift)
            self.A, self.exponent, self.eps = (B + B.T) / 2, self.shift, 0.0 if np.array_equal(B, B.T) else 2 * EPS
            self.size = np.sqrt(np.abs(self.A).max(axis=0)) * (1 + 8 * EPS)
        require(c.exponent == self.exponent, f"the exponent of the unit scale is {self.exponent}, the certificate says {c.exponent}")

    def chunks(self, J):
        width = max(1, min(512, 2**22 // self.m))
        return [J[i : i + width] for i in range(0, len(J), width)]

    def columns(self, J):
        X = np.ascontiguousarray(self.X[:, J].toarray() if hasattr(self.X, "toarray") else self.X[:, J])
        X = np.ldexp(X, -(np.frexp(np.abs(X).max(axis=0))[1] if self.scale else self.shift))
        require(not self.scale or (np.ptp(X, axis=0) > 0).all(), "a constant column cannot be scaled to unit variance")
        Z = X - X.mean(axis=0) if self.center else X
        return Z / X.std(axis=0) if self.scale else Z

    def block(self, I, J):
        return self.columns(I).T @ self.columns(J) / self.m if self.gram else self.A[np.ix_(I, J)]


def witness(c, n):
    w = {name: np.asarray(array) for name, array in c.witness.items()}
    require(set(w) <= set(FORMS[c.form][1].split()), f"form {c.form!r} has the witness arrays {FORMS[c.form][1]!r}, got {sorted(w)}")
    R = w.setdefault("rows", np.arange(n))
    r, d = R.size, w.setdefault("U", np.zeros((R.size, 0))).shape[-1:]
    shapes = {"W": (r, r), "M": (r, r), "U": (r, *d), "claims": (2,), "tau": (1,), "rows": (r,), "tree": w.get("tree", R).reshape(-1).shape}
    for name, array in w.items():
        good = array.dtype.kind in ("iu" if name in ("rows", "tree") else "iuf") and array.shape == shapes[name]
        require(good and np.isfinite(array).all(), f"witness {name} must be finite numbers of shape {shapes[name]}, got {array.shape}")
    require(np.unique(R).size == r and np.isin(R, np.arange(n)).all(), f"witness rows must be different numbers from 0 to {n - 1}")
    w = {name: array if name in ("rows", "tree") else array.astype(np.float64) for name, array in w.items()}
    return w, R, w["U"], sum(w[name] for name in "WM" if name in w)


def threshold(A, c, w, R):
    """tau, once it is at least every W_ij (signed: |W_ij|) and every A_ij with i or j not kept."""
    W = np.append(w.get("W", 0.0), 0.0)
    top = float((W if c.nonneg else np.abs(W)).max())
    tau = float(w["tau"][0]) if "tau" in w else top
    require(tau >= top, f"tau = {tau} is below the largest entry of W, {top}")
    out = np.setdiff1d(np.arange(A.n), R)
    for I in A.chunks(out[np.argsort(-A.size[out])]):
        for J in A.chunks(np.flatnonzero(A.size * A.size[I[0]] > tau)):
            E = A.block(I, J) if c.nonneg else np.abs(A.block(I, J))
            worst = (E + A.eps * np.outer(A.size[I], A.size[J])).max() + TINY * A.gram
            require(worst <= tau, f"tau = {tau} is below an entry of A in a row that is not kept, {worst}")
    return tau


def spectral(A, R, N, U, t):
    """Is lambda_max(A - sym(N) - UU') <= t on R proved? By Cholesky of t - it, or of an m x m matrix if that is smaller and N is absent.

    For ANY Y (m, d), with B = ZU and K = tI + U'U, t > 0, it is enough that tI - (ZZ' - BY' - YB' + YKY')/m is psd, since
    tI + UU' >= Z'Z/m <=> tI >= (ZZ' - B inv(K) B')/m (Schur complement, Woodbury) and (B - YK) inv(K) (B - YK)' >= 0.
    """
    if not (A.size[R].any() or U.any() or np.any(N)):
        return t >= 0
    d, u, trace = U.shape[1], np.linalg.norm(U), np.sum(A.size[R] ** 2)
    if not np.any(N) and A.gram and A.m < R.size and t > 0:
        G, B, K, z = np.zeros((A.m, A.m)), np.zeros((A.m, d)), t * np.eye(d) + U.T @ U, np.sqrt(A.m * trace)
        for J in A.chunks(np.arange(R.size)):
            Z = A.columns(R[J])
            G, B = G + Z @ Z.T, B + Z @ U[J]
        Y = B @ np.linalg.pinv(K, hermitian=True) if np.isfinite(K).all() else B
        y, S = np.linalg.norm(Y), t * np.eye(A.m) - (G - B @ Y.T - Y @ B.T + Y @ K @ Y.T) / A.m
        error = (R.size + 3 * d + 16) * EPS * ((z * z + 2 * z * u * y + (d * t + u * u) * y * y) / A.m + t)
        proved = is_psd(S, error + TINY * (1 + y) ** 2)
        if proved or R.size > DENSE_LIMIT:  # this route loses a part t / lambda_max(A) of the room there is, the next one does not
            return proved
    require(not A.gram or R.size <= DENSE_LIMIT, f"at most {DENSE_LIMIT} rows can be factorised, the witness keeps {R.size}")
    B = A.block(R, R)
    S = t * np.eye(R.size) - (B - (N + np.transpose(N)) / 2 - U @ U.T)
    error = A.eps * trace + (d + 8) * EPS * (np.linalg.norm(B) + np.linalg.norm(N) + u * u + abs(t)) + TINY
    return is_psd(S, error)


def single(A, c, w, R, U, N, k):
    """t + F; in the rows not kept nothing is left of A (t >= 0), and they are equal: k of them stand for all."""
    t, F, tau = *map(float, w["claims"]), threshold(A, c, w, R)
    require((R.size == A.n or t >= 0) and spectral(A, R, N, U, t), f"lambda_max(A - W - sym(M) - UU') <= t = {t!r} could not be proved")
    h = np.zeros(R.size)
    if "M" in w:
        M, m = w["M"], w["M"].diagonal()
        off = np.where(np.eye(R.size, dtype=bool), 0.0, np.maximum(M, 0) if c.nonneg else np.abs(M))
        s = np.sqrt(topk(off * off, k - 1))
        h = np.maximum(0, (m + np.sqrt(m * m + s * s)) / 2) + (k + 16) * EPS * (np.abs(m) + s) + 1e-150 * M.any(axis=1)
    U, h = (np.concatenate([part, np.zeros((min(k, A.n - R.size), *part.shape[1:]))]) for part in (U, h))
    check_cover(U, np.nextafter(np.sqrt(tau), np.inf) if tau > 0 else 0.0, h, k, c.nonneg, w.get("tree", np.zeros(0, int)), F)
    return Fraction(t) + Fraction(F)


def cover(tree, D, d, nonneg):
    """Generators (cones, D, D) of the leaves, at length one: g_j + g_l splits cone(g_j, g_l, ...) in two, integers keep that exact."""
    codes, leaves = iter(tree.tolist()), []
    for signs in itertools.product((1.0, -1.0), repeat=D):
        if (d < D and signs[-1] < 0) or (d and signs[0] < 0 and not nonneg):
            continue  # c_0 >= 0 is enough, and signed problems do not feel the sign of the other coordinates
        stack = [np.diag(signs)]
        while stack:
            cone, code = stack.pop(), next(codes, None)
            require(code is not None, "the tree of the cover ends too early: a part of the sphere is missing")
            if code == LEAF:
                leaves.append(cone)
                continue
            (j, l), first, second = divmod(code, max(D, 1)), cone.copy(), cone.copy()
            require(0 <= j < l < D, f"the tree of the cover has the unknown code {code}")
            first[j] = second[l] = cone[j] + cone[l]
            require(np.abs(first[j]).max() <= 2.0**52, "the tree of the cover is too deep for exact integers")
            stack += [second, first]
    require(next(codes, None) is None, "the tree of the cover has codes left over")
    return np.array(leaves) / np.linalg.norm(leaves, axis=2, keepdims=True)


def check_cover(U, root, h, k, nonneg, tree, F):
    """Prove topk_i(((v_i'c)+)^2 + h_i) <= F on every cone, v_i = (u_i, root); `error` covers T and F G of one cone.

    All at once if V'V bounds what h leaves of F; not for signed x with c_0, whose cross terms can exceed its own.
    """
    d, D = U.shape[1], U.shape[1] + (root > 0)
    cones = cover(tree, D, d, nonneg) if D or tree.size else []
    V = np.hstack([U, np.full((len(U), D - d), root)])
    mass = topk((V * V).sum(axis=1), k) + topk(h, k)
    error = (k + 8 * D + 32) * EPS * (mass + abs(F)) + TINY * (V.any() or h.any())
    rest, margin = F - topk(h, k) - error, (len(V) + 8) * EPS * (np.sum(V * V) + abs(F)) + TINY
    capped = mass + error <= F or (D > 0 and (nonneg or root == 0) and is_psd(rest * np.eye(D) - V.T @ V, margin))
    require(D > 0 or capped, f"the {k} largest h_i sum to {mass}, above F = {F!r}")
    for start in range(0, 0 if capped else len(cones), step := max(1, 2**19 // max(1, V.size))):
        g = cones[start : start + step]
        P = np.maximum(g @ V.T, 0) if nonneg else np.abs(g[..., :d] @ U.T) + root * g[..., d:].sum(axis=-1, keepdims=True)
        G, T = g @ g.transpose(0, 2, 1), np.empty((len(g), D, D))
        low, high = P.min(axis=1) ** 2 + h * G.min(axis=(1, 2))[:, None], P.max(axis=1) ** 2 + h  # of a row's terms for all j, l
        keep = ~(high < np.partition(low, -min(k, len(V)), axis=1)[:, -min(k, len(V)), None]).all(axis=0)  # k rows are always above others
        P, kept = P[:, :, keep], h[keep]
        for j, l in itertools.combinations_with_replacement(range(D), 2):
            T[:, j, l] = T[:, l, j] = topk(P[:, j] * P[:, l] + kept * G[:, j, l, None], k)
        for i in np.flatnonzero(~(T + error <= F * G).all(axis=(1, 2))):
            low = G[i].min()  # the errors add up to 2 error (sum a)^2 <= 2 error a'Ga / low at most, little in a small cone
            proved = (low > 0 and is_psd((F - 2 * error / low) * G[i] - T[i], 0.0)) or is_psd(F * G[i] - T[i], D * error)
            require(proved, f"cone {start + i} of {len(cones)} is not proved to stay below F = {F!r}")


def supports(A, c, w, R, U, N, k):
    """x'Ax <= t if tI - A_II is psd for every set I of k features."""
    t, every, full = float(w["claims"][0]), itertools.combinations(range(A.n), k), A.block(R, R)
    error = A.eps * topk(A.size**2, k) + 8 * EPS * (abs(t) + np.abs(full).max()) + TINY
    while len(I := np.array(list(itertools.islice(every, 2**16)))):
        require(is_psd(t * np.eye(k) - full[I[:, :, None], I[:, None, :]], error), f"a support has more than t = {t!r}, or as much")
    return t


def diagonal(A, c, w, R, U, N, k):
    """x'Ax <= tr A_II + (k-1) nu when A >= -nu; a Gram matrix has nu = 0, a covariance must show that nu is a rounding error."""
    if A.gram:
        return topk(A.size**2, k) * (1 + (k + 8) * EPS)
    nu = 8 * (A.n + 8) * EPS * np.abs(A.A.diagonal()).sum() + TINY * 1e9
    require(is_psd(A.A + nu * np.eye(A.n), (A.eps + EPS) * np.linalg.norm(A.A)), "the covariance is not proved positive semidefinite")
    return topk(np.maximum(A.A.diagonal(), 0), k) * (1 + (k + 8) * EPS) + k * nu * A.A.any()


def row(A, c, w, R, U, N, k):
    """x'Ax <= the largest row sum of the positive part of A_II, its diagonal as it is."""
    best, error = 0.0, topk(A.size, k) * (A.eps + (k + 8) * EPS) * (1 + (k + 8) * EPS) + 1e-130
    for I in A.chunks(np.arange(A.n)):
        E, at = np.hstack([A.block(I, J) for J in A.chunks(np.arange(A.n))]), (np.arange(I.size), I)
        a, E[at] = E[at], 0.0
        best = max(best, (a + topk(np.maximum(E, 0) if c.nonneg else np.abs(E), k - 1) + A.size[I] * error).max())
    return best


def joint(A, c, w, R, U, N, *sizes):
    """P = sum x_j x_j' is a projection of rank r, 1'|P|1 <= sum s_j: tr PA <= r t + tr UU' + tau sum s_j if A - W <= tI + UU', t >= 0."""
    r, tau = len(sizes), threshold(A, c, w, R)
    if A.gram and not np.any(N):
        s, Q = np.linalg.svd(A.columns(R) / np.sqrt(A.m), full_matrices=False)[1:]
        s, Q = s * s, Q.T
    else:
        s, Q = (part[..., ::-1] for part in np.linalg.eigh(A.block(R, R) - (N + np.transpose(N)) / 2))
    low = max(0.0, s[r - 1]) if r <= len(s) else 0.0
    U = Q[:, : r - 1] * np.sqrt(np.maximum(s[: r - 1] - low, 0))  # the best U and t, were there no rounding; any others would do
    scale = np.sum(A.size[R] ** 2) + np.linalg.norm(N)
    t = next((float(t) for t in low + scale * 4.0 ** np.arange(-26, -10) if spectral(A, R, N, U, float(t))), None)
    require(t is not None, "the sum of the largest eigenvalues of A - W could not be proved")
    return r * Fraction(t) + Fraction(np.sum(U * U, axis=0).sum() * (1 + (R.size + r) * EPS)) + sum(sizes) * Fraction(tau)


FORMS = {"inequality": (single, "rows W M U tau claims tree"), "joint": (joint, "rows W tau"), "supports": (supports, "claims")}
FORMS |= {"diagonal": (diagonal, ""), "row": (row, "")}
