"""Certificates made for the verifier by code that shares nothing with the package: honest ones, and ways to
change them.
"""

import hashlib
import itertools
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import scipy.sparse

from nspca.checker import verify
from nspca.errors import CertificateError

SLACK = 1e-9  # room for the margins of the verifier, relative to the largest eigenvalue


@dataclass(frozen=True, eq=False)
class Stand:
    """The attributes of the contract, and nothing else."""

    form: str
    k: object
    nonneg: bool
    shape: tuple
    digest: str
    exponent: int
    upper: float
    source: str = "data"
    center: bool = True
    scale: bool = False
    weights: str = ""
    version: int = 1
    kind: str = "test"
    forced: tuple = ()
    witness: dict = field(default_factory=dict)


def digest_of(data):
    if scipy.sparse.issparse(data):
        S = scipy.sparse.csr_array(data).astype(float)
        S.sum_duplicates()
        S.eliminate_zeros()
        S.sort_indices()
        parts = [S.indptr.astype("<i8"), S.indices.astype("<i8"), S.data.astype("<f8")]
        head = f"sparse {S.shape[0]} {S.shape[1]}"
    else:
        parts, head = [np.ascontiguousarray(data, "<f8") + 0.0], f"dense {data.shape[0]} {data.shape[1]}"
    return hashlib.sha256(head.encode() + b"".join(p.tobytes() for p in parts)).hexdigest()


def unit_matrix(data, source="data", center=True, scale=False):
    """A at unit scale and its exponent."""
    X = np.ascontiguousarray(data.toarray() if scipy.sparse.issparse(data) else data, float)
    if source == "covariance":
        e = int(np.frexp(np.abs(X).max())[1])
        return np.ldexp(X, -e), e
    e = exponent_of(X, center and not scale)
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1]) if scale else np.ldexp(X, -e)
    Z = X - X.mean(axis=0) * center
    Z = Z / np.sqrt(((X - X.mean(axis=0)) ** 2).mean(axis=0)) if scale else Z
    return Z.T @ Z / len(Z), 0 if scale else 2 * e


def exponent_of(X, centred):
    """The exponent of the unit scale of data: of centred ones, that of the columns that vary."""
    columns = [x for x in X.T if not centred or len(set(x.tolist())) > 1]
    return int(np.frexp(np.abs(columns).max(initial=0.0))[1])


def top(v, k, fixed=0):
    """Sum of the first `fixed`, all nonnegative, and of the largest others, k in all."""
    return v[:fixed].sum() + np.sort(np.maximum(v[fixed:], 0))[::-1][: k - fixed].sum()


def brute(A, k, nonneg):
    """The optimum: a maximiser is an eigenvector of its own support, of one sign when it must be
    nonnegative.
    """
    n, best = len(A), 0.0
    for r in [k] if not nonneg else range(1, k + 1):
        for I in itertools.combinations(range(n), r):
            values, Q = np.linalg.eigh(A[np.ix_(I, I)])
            if not nonneg:
                best = max(best, values[-1])
                continue
            for q in Q.T:
                q = q * np.sign(q.sum() or 1)
                if q.min() >= -1e-13:
                    best = max(best, q @ A[np.ix_(I, I)] @ q / (q @ q))
    return best


def brute_joint(A, sizes, nonneg):
    """The optimum over disjoint components that use a feature each at least."""
    best, n = 0.0, len(A)
    for owner in itertools.product(range(len(sizes) + 1), repeat=n):
        groups = [[i for i in range(n) if owner[i] == j] for j in range(len(sizes))]
        if all(0 < len(g) <= s for g, s in zip(groups, sizes, strict=True)):
            best = max(best, sum(brute(A[np.ix_(g, g)], len(g), nonneg) for g in groups))
    return best


class Search:
    """A plain cover of the sphere, split depth first until every cone is close to the best direction seen."""

    def __init__(self, U, tau, h, k, nonneg, extra=0, tol=1e-3, depth=14, fixed=0):
        self.fixed, self.d, self.k, self.nonneg = fixed, U.shape[1], k, nonneg
        self.root, self.tol, self.depth = np.sqrt(tau), tol, depth
        self.U, self.h = np.vstack([U, np.zeros((extra, self.d))]), np.append(h, np.zeros(extra))
        self.D = self.d + (tau > 0)
        C = np.random.default_rng(0).standard_normal((300 if self.D > 2 else 3000 if self.D else 0, self.D))
        C[:, self.d :] = abs(C[:, self.d :])
        C /= np.linalg.norm(C, axis=1, keepdims=True)
        own, common = C[:, : self.d] @ self.U.T, self.root * C[:, self.d :].sum(axis=1, keepdims=True)
        P = np.maximum(own + common, 0) if nonneg else abs(own) + common
        v = P**2 + self.h
        best = v[:, :fixed].sum(axis=1) + np.sort(v[:, fixed:], axis=1)[:, ::-1][:, : k - fixed].sum(axis=1)
        self.seen = best.max(initial=0.0)

    def p(self, g):
        own, common = self.U @ g[: self.d], self.root * g[self.d :].sum()
        return np.maximum(own + common, 0) if self.nonneg else abs(own) + common

    def leaf(self, g):
        g = g / np.linalg.norm(g, axis=1, keepdims=True)
        P, G = np.array([self.p(row) for row in g]), g @ g.T
        T = np.array(
            [
                [top(P[j] * P[l] + self.h * G[j, l], self.k, self.fixed) for l in range(self.D)]
                for j in range(self.D)
            ]
        )
        L = np.linalg.inv(np.linalg.cholesky(G))
        bounds = [np.linalg.eigvalsh(L @ T @ L.T)[-1]] + ([(T / G).max()] if (G > 0).all() else [])
        if not self.h.any():
            V = np.hstack([self.U, np.full((len(self.U), self.D - self.d), self.root)])
            bounds += [top((V**2).sum(axis=1), self.k, self.fixed)]
        return min(bounds)

    def grow(self, g, depth):
        bound, G = self.leaf(g), g @ g.T
        if depth == 0 or self.D == 1 or bound <= self.seen * (1 + self.tol):
            return bound, [255]
        length = np.sqrt(np.diag(G))
        cosine = G / np.outer(length, length) + 2 * np.tri(self.D)
        j, l = np.unravel_index(cosine.argmin(), cosine.shape)
        bound, codes = 0.0, [j * self.D + l]
        for i in (j, l):
            child = g.copy()
            child[i] = g[j] + g[l]
            b, tree = self.grow(child, depth - 1)
            bound, codes = max(bound, b), codes + tree
        return bound, codes

    def run(self):
        if self.D == 0:
            return top(self.h, self.k, self.fixed), []
        bound, tree = 0.0, []
        for signs in itertools.product((1, -1), repeat=self.D):
            if (self.d < self.D and signs[-1] < 0) or (not self.nonneg and self.d and signs[0] < 0):
                continue
            b, codes = self.grow(np.diag(signs).astype(float), self.depth)
            bound, tree = max(bound, b), tree + codes
        return bound, tree


def heights(M, k, nonneg):
    off = np.maximum(M, 0) if nonneg else abs(M)
    np.fill_diagonal(off, 0)
    s2 = np.sort(off**2, axis=1)[:, ::-1][:, : k - 1].sum(axis=1)
    return (np.diag(M) + np.sqrt(np.diag(M) ** 2 + s2)) / 2


def certify(
    data,
    k,
    nonneg=True,
    d=0,
    W=None,
    M=None,
    rows=None,
    tau=None,
    slack=SLACK,
    tol=1e-3,
    depth=14,
    forced=(),
    **recipe,
):
    """An honest certificate of form "inequality" for the given W and M, U from the leading eigenpairs of what
    they leave. With forced features, rows begin with these.
    """
    A, exponent = unit_matrix(data, **recipe)
    n, l1 = len(A), max(0.0, np.linalg.eigvalsh(A)[-1])
    R = np.arange(n) if rows is None else np.asarray(rows, dtype=int)
    outside = np.setdiff1d(forced if len(forced) == k else np.arange(n), R).astype(int)
    witness = {} if rows is None else {"rows": R}
    B = A[np.ix_(R, R)].copy()
    for name, part in (("W", W), ("M", M)):
        if part is not None:
            witness[name] = part
            B -= (part + part.T) / 2
    values, Q = np.linalg.eigh(B)
    values, Q = values[::-1], Q[:, ::-1]
    U = Q[:, :d] * np.sqrt(np.maximum(values[:d] - values[d : d + 1].sum(), 0))
    if d:
        witness["U"] = U
    t = np.linalg.eigvalsh(B - U @ U.T)[-1:].sum() + slack * l1  # no row kept: 0
    if W is not None or rows is not None:
        entries = np.concatenate([[0.0], np.ravel(A[outside]), np.ravel(W) if W is not None else []])
        tau = (max(entries) if nonneg else max(abs(entries))) * (1 + 1e-12) if tau is None else tau
        witness["tau"] = np.array([tau])
    t = t if len(R) == n else max(t, 0.0)
    F, tree = Search(
        U,
        tau or 0,
        heights(M, k, nonneg) if M is not None else np.zeros(len(R)),
        k,
        nonneg,
        min(k, outside.size),
        tol,
        depth,
        len(forced),
    ).run()
    F = F + slack * l1
    witness |= {"claims": np.array([t, F]), "tree": np.array(tree, np.uint8)}
    upper = np.nextafter(np.ldexp(np.nextafter(t + F, np.inf), exponent), np.inf)
    return Stand(
        "inequality",
        k,
        nonneg,
        data.shape,
        digest_of(data),
        exponent,
        float(upper),
        witness=witness,
        forced=tuple(forced),
        **recipe,
    )


def changed(c, upper=None, **arrays):
    """The certificate with other witness arrays (None removes one) and an upper bound that hides nothing."""
    witness = {name: array for name, array in (c.witness | arrays).items() if array is not None}
    return replace(c, witness=witness, upper=c.upper * 1.01 if upper is None else upper)


def refused(data, c, reason, **options):
    with pytest.raises(CertificateError, match=reason):
        verify(data, c, **options)


def spiked(seed, m, n, rank=2):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((m, rank)) @ (rng.standard_normal((rank, n)) * 3)
        + rng.standard_normal((m, n))
        + 1
    )


def random_parts(rng, A, R, style):
    """Some W, M: clipped covariance, noise, lopsided, all negative, none."""
    B, r = A[np.ix_(R, R)], len(R)
    noise = rng.standard_normal((r, r)) * abs(B).max(initial=0.0)
    W = {
        "clip": np.minimum(B, np.median(B)) if r else B,
        "noise": noise / 4,
        "negative": -abs(noise) / 4,
        "none": None,
    }[style]
    M = rng.choice([0.0, 0.1, 1.0]) * (noise if rng.random() < 0.5 else np.triu(noise))
    return W, (M if rng.random() < 0.6 else None)


PROBLEMS = {
    "wide": lambda rng: spiked(rng.integers(1 << 30), 3, 6),
    "tall": lambda rng: spiked(rng.integers(1 << 30), 9, 5),
    "integers": lambda rng: rng.integers(-2, 3, (6, 5)).astype(float),
    "duplicates": lambda rng: np.repeat(rng.standard_normal((5, 2)), 3, axis=1),
    "negative": lambda rng: (
        rng.standard_normal((8, 1)) * np.array([1, -1, 1, -1, -1.0]) + 1e-3 * rng.standard_normal((8, 5))
    ),
    "zero columns": lambda rng: np.insert(rng.standard_normal((4, 3)), [0, 2], 0.0, axis=1),
    "constant columns": lambda rng: np.insert(rng.standard_normal((4, 3)), [1], 0.3, axis=1),
    "rank one": lambda rng: np.outer(rng.standard_normal(4), rng.standard_normal(6)),
    "one column": lambda rng: rng.standard_normal((5, 1)),
    "one sample": lambda rng: rng.standard_normal((1, 4)),
    "zero": lambda rng: np.zeros((3, 4)),
    "uneven": lambda rng: rng.standard_normal((6, 5)) * 10.0 ** rng.integers(-12, 12, 5),
}


def drawn(name, rng, powers):
    """One of the problems at a random power of ten."""
    X = PROBLEMS[name](rng)
    return X / (np.abs(X).max() or 1) * 10.0 ** rng.choice(powers)


def as_covariance(X, rng):
    """Its covariance, at a random scale of its own."""
    n = X.shape[1]
    return np.cov(X / (np.abs(X).max() or 1), rowvar=False, bias=True).reshape(n, n) * 10.0 ** rng.choice(
        [-250, 0, 250]
    )
