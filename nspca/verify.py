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

EPS, TINY, DENSE_LIMIT, LEAF, CODES = 1.02 * 2.0**-53, 1e-290, 4000, 255, ("tree", "branch", "use")


def verify(data, certificate, allow_probabilistic=False):
    """Upper bound, in the units of the data, that `certificate` proves for `data`; CertificateError says why if it proves none."""
    c = certificate
    try:
        require(c.version == 1 and c.form in FORMS, f"version 1 of {list(FORMS)} is known, got version {c.version!r} of {c.form!r}")
        require(allow_probabilistic or c.probability == 0, f"only certain bounds count, this one fails with probability {c.probability}")
        with np.errstate(all="ignore"):  # what overflows becomes inf or NaN and fails its comparison
            A = Matrix(data, c)
            sizes = [k.__index__() for k in (c.k if c.form == "joint" else (c.k,))]
            require(min(sizes) >= 1 and max(*sizes, len(sizes)) <= A.n, f"k must be between 1 and n = {A.n}, got {c.k}")
            w, *parts = witness(c, A.n)
            exact = Fraction(FORMS[c.form][0](A, c, w, *parts, *sizes)) * Fraction(2) ** A.exponent
            require(all(next(w[name], None) is None for name in CODES), "the trees of the certificate have codes left over")
        value = float(exact) if Fraction(float(exact)) >= exact else float(np.nextafter(float(exact), np.inf))
        require(value <= c.upper < np.inf, f"the upper bound {c.upper!r} is claimed, but only {value!r} is proved")
        return value
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, StopIteration, MemoryError) as error:  # missing parts
        raise CertificateError(f"the data or the certificate cannot be read: {error!r}") from error


def require(condition, sentence):
    if not condition:  # conditions are written so that a NaN makes them false
        raise CertificateError(sentence)


def topk(v, k, fixed=0):
    """Sum of the first `fixed` and the k - fixed largest others along the last axis of a nonnegative array."""
    n, rest = v.shape[-1], v[..., fixed:]
    most = rest if k >= n else np.partition(rest, min(n - k, n - fixed - 1), axis=-1)[..., n - k :]
    return v[..., :fixed].sum(axis=-1) + most.sum(axis=-1)


def is_psd(S, error):
    """True only if every symmetric matrix within spectral distance `error` of S (n, n) is positive semidefinite.

    If Cholesky of S completes, RR' = S + D, |D_ij| <= g/(1-g) sqrt(s_ii s_jj), g = gamma_(n+1), so |D| <= g/(1-g) tr S (Demmel 1989;
    Higham, section 10.1; underflow: Rump, BIT 46, 2006). So it runs on S minus that, minus `error`, minus the rounding of this shift.
    """
    margin = 1.02 * (error + (len(S) + 8) * EPS * np.abs(np.diagonal(S)).sum()) + TINY
    try:
        return np.isfinite(np.linalg.cholesky(S - margin * np.eye(len(S)))).all()
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
        """Z for some features: each a row in memory, so that its mean does not depend on which others are asked for."""
        X = np.ascontiguousarray((self.X[:, J].toarray() if hasattr(self.X, "toarray") else self.X[:, J]).T)
        X = np.ldexp(X, -(np.frexp(np.abs(X).max(axis=1, keepdims=True))[1] if self.scale else self.shift))
        require(not self.scale or (np.ptp(X, axis=1) > 0).all(), "a constant column cannot be scaled to unit variance")
        Z = X - X.mean(axis=1, keepdims=True) if self.center else X
        return (Z / X.std(axis=1, keepdims=True)).T if self.scale else Z.T

    def block(self, I, J):
        return self.columns(I).T @ self.columns(J) / self.m if self.gram else self.A[np.ix_(I, J)]


def witness(c, n):
    w = {name: np.asarray(array) for name, array in c.witness.items()}
    require(set(w) <= set(FORMS[c.form][1].split()), f"form {c.form!r} has the witness arrays {FORMS[c.form][1]!r}, got {sorted(w)}")
    R, p = w.setdefault("rows", np.arange(n)), w["W"].shape[:1] if c.form == "branches" else ()
    r, d = R.size, (min(max(n, 15), width) for width in w.setdefault("U", np.zeros((R.size, 0))).shape[-1:])
    shapes = {"W": (*p, r, r), "M": (*p, r, r), "U": (*p, r, *d), "claims": (*w["use"].shape, 2) if p else (2,), "tau": (1,)}
    for name, a in w.items():
        shape, kinds = (shapes[name], "iuf") if name in shapes else (a.reshape(-1).shape, "iu")
        require(a.dtype.kind in kinds and a.shape == shape and np.isfinite(a).all(), f"witness {name} must be finite, of shape {shape}")
    require(np.unique(R).size == r and np.isin(R, np.arange(n)).all(), f"witness rows must be different numbers from 0 to {n - 1}")
    w = {name: array.astype(np.float64) if name in shapes else array for name, array in w.items()}
    w |= {name: iter(w.get(name, R[:0]).tolist()) for name in CODES}
    return w, R, w["U"], sum(w[name] for name in "WM" if name in w)


def threshold(A, c, w, R):
    """tau, once it is at least every W_ij (signed: |W_ij|) and every A_ij with i or j not kept, and the number of such rows."""
    top = float(np.max(w.get("W", 0.0) if c.nonneg else np.abs(w.get("W", 0.0)), initial=0.0))
    tau = float(w["tau"][0]) if "tau" in w else top
    require(tau >= top, f"tau = {tau} is below the largest entry of W, {top}")
    out = np.setdiff1d(np.arange(A.n), R) if c.form != "branches" else R[:0]  # there the others are left out of A altogether
    for I in A.chunks(out[np.argsort(-A.size[out])]):
        for J in A.chunks(np.flatnonzero(A.size * A.size[I[0]] > tau)):
            E = A.block(I, J) if c.nonneg else np.abs(A.block(I, J))
            worst = (E + A.eps * np.outer(A.size[I], A.size[J])).max() + TINY * A.gram
            require(worst <= tau, f"tau = {tau} is below an entry of A in a row that is not kept, {worst}")
    return tau, out.size


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


def single(A, c, w, R, U, N, k, fixed=0):
    """t + F; in the rows not kept nothing is left of A (t >= 0), and they are equal: k of them stand for all."""
    (t, F), (tau, others) = map(float, w["claims"]), threshold(A, c, w, R)
    require((R.size == A.n or t >= 0) and spectral(A, R, N, U, t), f"lambda_max(A - W - sym(M) - UU') <= t = {t!r} could not be proved")
    h = np.zeros(R.size)
    if "M" in w:
        M, m = w["M"], w["M"].diagonal()
        s = np.sqrt(topk(np.where(np.eye(R.size, dtype=bool), 0.0, np.maximum(M, 0) if c.nonneg else np.abs(M)) ** 2, k - 1))
        h = np.maximum(0, (m + np.sqrt(m * m + s * s)) / 2) + (k + 16) * EPS * (np.abs(m) + s) + 1e-150 * M.any(axis=1)
    U, h = (np.concatenate([part, np.zeros((min(k, others), *part.shape[1:]))]) for part in (U, h))
    check_cover(U, np.nextafter(np.sqrt(tau), np.inf) if tau > 0 else 0.0, h, k, fixed, c.nonneg, w["tree"], F)
    return Fraction(t) + Fraction(F)


def branches(A, c, w, R, U, N, k):
    """Features are branched on: first come the supports with it, then those without, so every support belongs to one leaf.

    There A is left with the features that a support may have, the `fixed` ones, which it has, first.
    """
    require(A.n <= DENSE_LIMIT, f"at most {DENSE_LIMIT} features can be branched on, got {A.n}")
    A.A, A.gram, best, claims = A.block(R, R), False, Fraction(0), iter(w["claims"])
    W, M, U = (np.concatenate([w[name], np.zeros((1, *w[name].shape[1:]))]) for name in "WMU")  # number -1 is no witness

    def split(node, i):
        require(i in node[1] and len(node[0]) < k, f"feature {i} cannot be branched on: it is fixed or left out, or {k} are fixed")
        free = [j for j in node[1] if j != i]
        return (node[0], free), ((*node[0], i), free)

    for fixed, free in walk(w["branch"], -1, ((), R.tolist()), split):
        I, j = np.array([*fixed, *(free if len(fixed) < k else ())], dtype=int), next(w["use"])
        leaf, V = {"W": W[j][np.ix_(I, I)], "M": M[j][np.ix_(I, I)], "claims": next(claims), "tree": w["tree"]}, U[j][I]
        best = max(best, single(A, c, leaf, I, V[:, V.any(axis=0)], leaf["W"] + leaf["M"], k, len(fixed)))
    return best


def walk(codes, leaf, root, split):
    """Leaves of a tree whose codes come in preorder; `split` gives the second child, then the first."""
    stack = [root]
    while stack:
        node, code = stack.pop(), next(codes, None)
        require(code is not None, "a tree of the certificate ends too early: a part of the sphere, or supports, are missing")
        if code == leaf:
            yield node
        else:
            stack += split(node, code)


def cover(codes, D, d, nonneg):
    """Generators (cones, D, D) of the leaves, at length one: g_j + g_l splits cone(g_j, g_l, ...) in two, integers keep that exact.

    c_0 >= 0 is enough, and signed problems do not feel the sign of the other coordinates.
    """

    def split(cone, code):
        (j, l), first, second = divmod(code, D), cone.copy(), cone.copy()
        require(0 <= j < l < D, f"the tree of the cover has the unknown code {code}")
        first[j] = second[l] = cone[j] + cone[l]
        require(np.abs(first[j]).max() <= 2.0**52, "the tree of the cover is too deep for exact integers")
        return second, first

    signs = (s for s in itertools.product((1.0, -1.0), repeat=D) if (d == D or s[-1] > 0) and (d == 0 or s[0] > 0 or nonneg))
    leaves = [cone for s in signs for cone in walk(codes, LEAF, np.diag(s), split)]
    return np.array(leaves) / np.linalg.norm(leaves, axis=2, keepdims=True)


def check_cover(U, root, h, k, fixed, nonneg, codes, F):
    """Prove topk_i(((v_i'c)+)^2 + h_i) <= F on every cone, v_i = (u_i, root); `error` covers T and F G of one cone.

    All at once if V'V bounds what h leaves of F; not for signed x with c_0, whose cross terms can exceed its own. In a cone the
    errors add up to 2 error (sum a)^2, which is at most 2 error a'Ga / min G: little in a small cone.
    """
    d, D = U.shape[1], U.shape[1] + (root > 0)
    cones = cover(codes, D, d, nonneg) if D else []
    V = np.hstack([U, np.full((len(U), D - d), root)])
    mass = topk((V * V).sum(axis=1), k, fixed) + topk(h, k, fixed)
    error = (k + 8 * D + 32) * EPS * (mass + abs(F)) + TINY * (V.any() or h.any())
    rest, margin = F - topk(h, k, fixed) - error, (len(V) + 8) * EPS * (np.sum(V * V) + abs(F)) + TINY
    capped = mass + error <= F or (D > 0 and (nonneg or root == 0) and is_psd(rest * np.eye(D) - V.T @ V, margin))
    require(D > 0 or capped, f"the {k} largest h_i sum to {mass}, above F = {F!r}")
    for start in range(0, 0 if capped else len(cones), step := max(1, 2**19 // max(1, V.size))):
        g = cones[start : start + step]
        P = np.maximum(g @ V.T, 0) if nonneg else np.abs(g[..., :d] @ U.T) + root * g[..., d:].sum(axis=-1, keepdims=True)
        G, T = g @ g.transpose(0, 2, 1), np.empty((len(g), D, D))
        low, high = P.min(axis=1) ** 2 + h * G.min(axis=(1, 2))[:, None], P.max(axis=1) ** 2 + h * (1 + 8 * EPS)  # terms of a row
        least = np.partition(low[:, fixed:], len(V) - k, axis=1)[:, len(V) - k, None] if fixed < k < len(V) else 0.0
        keep = ~(high < least).all(axis=0) | (np.arange(len(V)) < fixed)  # rows that are always below k - fixed others do not count
        P, kept = P[:, :, keep], h[keep]
        for j, l in itertools.combinations_with_replacement(range(D), 2):
            T[:, j, l] = T[:, l, j] = topk(P[:, j] * P[:, l] + kept * G[:, j, l, None], k, fixed)
        for i in np.flatnonzero(~(T + error <= F * G).all(axis=(1, 2))):
            proved = is_psd((F - 2 * error / max(G[i].min(), TINY)) * G[i] - T[i], 0.0) or is_psd(F * G[i] - T[i], D * error)
            require(proved, f"cone {start + i} of {len(cones)} is not proved to stay below F = {F!r}")


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
    t, (tau, _) = float(w["claims"][0]), threshold(A, c, w, R)
    require(t >= 0 and spectral(A, R, N, U, t), f"A - W <= tI + UU' with t = {t!r} could not be proved")
    return len(sizes) * Fraction(t) + Fraction(np.sum(U * U) * (1 + (U.size + 1) * EPS)) + sum(sizes) * Fraction(tau)


FORMS = {"inequality": (single, "rows W M U tau claims tree"), "branches": (branches, "branch use W M U claims tree")}
FORMS |= {"joint": (joint, "rows W U tau claims"), "diagonal": (diagonal, ""), "row": (row, "")}
