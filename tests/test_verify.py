"""The verifier against brute force, honest witnesses and liars. Everything that makes a certificate here is written here."""

import ast
import hashlib
import itertools
import os
import pathlib
import sys
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import scipy.sparse

from nspca.errors import CertificateError
from nspca.verify import verify

module = sys.modules[verify.__module__]
SLACK = 1e-9  # what a maker is asked to leave for the verifier's margins, relative to the largest eigenvalue


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
    version: int = 1
    kind: str = "test"
    probability: float = 0.0
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
    e = int(np.frexp(np.abs(X).max())[1])
    if source == "covariance":
        return np.ldexp(X, -e), e
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1]) if scale else np.ldexp(X, -e)
    Z = X - X.mean(axis=0) * center
    Z = Z / np.sqrt(((X - X.mean(axis=0)) ** 2).mean(axis=0)) if scale else Z
    return Z.T @ Z / len(Z), 0 if scale else 2 * e


def top(v, k, forced=0):
    """Sum of the first `forced`, all nonnegative, and of the largest others, k in all."""
    return v[:forced].sum() + np.sort(np.maximum(v[forced:], 0))[::-1][: k - forced].sum()


def brute(A, k, nonneg):
    """The optimum: a maximiser is an eigenvector of its own support, of one sign when it must be nonnegative."""
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


class Search:
    """A plain cover of the sphere, split depth first until every cone is close to the best direction seen."""

    def __init__(self, U, tau, h, k, nonneg, extra=0, tol=1e-3, depth=14, forced=0):
        self.forced, self.d, self.k, self.nonneg = forced, U.shape[1], k, nonneg
        self.root, self.tol, self.depth = np.sqrt(tau), tol, depth
        self.U, self.h = np.vstack([U, np.zeros((extra, self.d))]), np.append(h, np.zeros(extra))
        self.D = self.d + (tau > 0)
        C = np.random.default_rng(0).standard_normal((300 if self.D > 2 else 3000 if self.D else 0, self.D))
        C[:, self.d :] = abs(C[:, self.d :])
        self.seen = max((top(self.p(c / np.linalg.norm(c)) ** 2 + self.h, k, forced) for c in C), default=0.0)

    def p(self, g):
        own, common = self.U @ g[: self.d], self.root * g[self.d :].sum()
        return np.maximum(own + common, 0) if self.nonneg else abs(own) + common

    def leaf(self, g):
        g = g / np.linalg.norm(g, axis=1, keepdims=True)
        P, G = np.array([self.p(row) for row in g]), g @ g.T
        T = np.array([[top(P[j] * P[l] + self.h * G[j, l], self.k, self.forced) for l in range(self.D)] for j in range(self.D)])
        L = np.linalg.inv(np.linalg.cholesky(G))
        bounds = [np.linalg.eigvalsh(L @ T @ L.T)[-1]] + ([(T / G).max()] if (G > 0).all() else [])
        if not self.h.any():
            V = np.hstack([self.U, np.full((len(self.U), self.D - self.d), self.root)])
            bounds += [top((V**2).sum(axis=1), self.k, self.forced)]
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
            return top(self.h, self.k, self.forced), []
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


def certify(data, k, nonneg=True, d=0, W=None, M=None, rows=None, tau=None, slack=SLACK, tol=1e-3, depth=14, **recipe):
    """An honest certificate of form "inequality" for the given W and M, U from the leading eigenpairs of what they leave."""
    A, exponent = unit_matrix(data, **recipe)
    n, l1 = len(A), np.linalg.eigvalsh(A)[-1]
    R = np.arange(n) if rows is None else np.asarray(rows)
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
        outside = np.ones((n, n), bool)
        outside[np.ix_(R, R)] = False
        entries = np.concatenate([[0.0], A[outside], np.ravel(W) if W is not None else []])
        tau = (max(entries) if nonneg else max(abs(entries))) * (1 + 1e-12) if tau is None else tau
        witness["tau"] = np.array([tau])
    t = t if len(R) == n else max(t, 0.0)
    F, tree = Search(
        U, tau or 0, heights(M, k, nonneg) if M is not None else np.zeros(len(R)), k, nonneg, min(k, n - len(R)), tol, depth
    ).run()
    F = F + slack * l1
    witness |= {"claims": np.array([t, F]), "tree": np.array(tree, np.uint8)}
    upper = np.nextafter(np.ldexp(np.nextafter(t + F, np.inf), exponent), np.inf)
    return Stand("inequality", k, nonneg, data.shape, digest_of(data), exponent, float(upper), witness=witness, **recipe)


def changed(c, upper=None, **arrays):
    """The certificate with other witness arrays (None removes one) and an upper bound that hides nothing."""
    witness = {name: array for name, array in (c.witness | arrays).items() if array is not None}
    return replace(c, witness=witness, upper=c.upper * 1.01 if upper is None else upper)


def refused(data, c, reason, **options):
    with pytest.raises(CertificateError, match=reason):
        verify(data, c, **options)


def spiked(seed, m, n, rank=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, rank)) @ (rng.standard_normal((rank, n)) * 3) + rng.standard_normal((m, n)) + 1


def random_parts(rng, A, R, style):
    """Some W, M: clipped covariance, noise, lopsided, all negative, none."""
    B, r = A[np.ix_(R, R)], len(R)
    noise = rng.standard_normal((r, r)) * abs(B).max(initial=0.0)
    W = {"clip": np.minimum(B, np.median(B)) if r else B, "noise": noise / 4, "negative": -abs(noise) / 4, "none": None}[style]
    M = rng.choice([0.0, 0.1, 1.0]) * (noise if rng.random() < 0.5 else np.triu(noise))
    return W, (M if rng.random() < 0.6 else None)


PROBLEMS = {
    "wide": lambda rng: spiked(rng.integers(1 << 30), 3, 6),
    "tall": lambda rng: spiked(rng.integers(1 << 30), 9, 5),
    "integers": lambda rng: rng.integers(-2, 3, (6, 5)).astype(float),
    "duplicates": lambda rng: np.repeat(rng.standard_normal((5, 2)), 3, axis=1),
    "negative": lambda rng: rng.standard_normal((8, 1)) * np.array([1, -1, 1, -1, -1.0]) + 1e-3 * rng.standard_normal((8, 5)),
    "zero columns": lambda rng: np.insert(rng.standard_normal((4, 3)), [0, 2], 0.0, axis=1),
    "constant columns": lambda rng: np.insert(rng.standard_normal((4, 3)), [1], 0.3, axis=1),
    "rank one": lambda rng: np.outer(rng.standard_normal(4), rng.standard_normal(6)),
    "one column": lambda rng: rng.standard_normal((5, 1)),
    "one sample": lambda rng: rng.standard_normal((1, 4)),
    "zero": lambda rng: np.zeros((3, 4)),
    "uneven": lambda rng: rng.standard_normal((6, 5)) * 10.0 ** rng.integers(-12, 12, 5),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
def test_never_below_brute_force(name, nonneg):
    rng = np.random.default_rng(len(name) + 100 * nonneg)
    for trial in range(12):
        X = PROBLEMS[name](rng)
        X = X / (np.abs(X).max() or 1) * 10.0 ** rng.choice([-150, -20, 0, 0, 3, 150])
        n = X.shape[1]
        source, center = rng.choice(["data", "data", "covariance"]), bool(rng.random() < 0.7)
        if source == "covariance":
            X = np.cov(X / (np.abs(X).max() or 1), rowvar=False, bias=True).reshape(n, n) * 10.0 ** rng.choice([-250, 0, 250])
        A, exponent = unit_matrix(X, source, center)
        k = [1, n, int(rng.integers(1, n + 1))][trial % 3]
        rows = None if rng.random() < 0.6 else rng.permutation(n)[: rng.integers(0, n + 1)]
        W, M = random_parts(rng, A, np.arange(n) if rows is None else rows, rng.choice(["clip", "noise", "negative", "none"]))
        d = min(int(rng.integers(0, 3)), n if rows is None else len(rows))
        c = certify(X, k, nonneg, d, W, M, rows, tol=0.05, depth=5, source=str(source), center=center)
        value, bound = brute(A, k, nonneg), np.ldexp(verify(X, c), -exponent)
        assert value * (1 - 1e-12) <= bound
        assert verify(X, c) <= c.upper
        for form in ("diagonal", "row"):
            upper = simple_bound(A, k, nonneg, form)
            simple = replace(c, form=form, witness={}, upper=float(np.ldexp(upper * (1 + SLACK), exponent)))
            assert value * (1 - 1e-12) <= np.ldexp(verify(X, simple), -exponent) <= upper * (1 + SLACK)


def simple_bound(A, k, nonneg, form):
    if form == "diagonal":
        return top(np.diag(A), k)
    off = np.maximum(A, 0) if nonneg else abs(A)
    return max(A[i, i] + top(np.delete(off[i], i), k - 1) for i in range(len(A)))


@pytest.mark.parametrize("nonneg", [True, False])
def test_deep_covers_come_close_to_the_optimum(nonneg):
    for seed in range(6):
        X = spiked(seed, 12, 7)
        c = certify(X, 3, nonneg, d=2, tol=1e-4, depth=24)
        F = c.witness["claims"][1]
        assert verify(X, c) <= c.upper
        # U is what is left after the shift, so F is the exact optimum of UU' up to the tolerance of the search
        exact = brute(c.witness["U"] @ c.witness["U"].T, 3, nonneg)
        assert exact * (1 - 1e-12) <= F <= exact * (1 + 1e-3)
        refused(X, changed(c, claims=np.array([c.witness["claims"][0], exact * (1 - 1e-7)])), "cone .* F =")


@pytest.mark.parametrize("power", [-150, -40, 0, 40, 150])
def test_powers_of_two_change_nothing_but_the_exponent(power):
    X = spiked(3, 8, 6)
    base, Y = certify(X, 3, d=2), np.ldexp(X, 3 * power)
    c = replace(base, digest=digest_of(Y), exponent=base.exponent + 6 * power, upper=float(np.ldexp(base.upper, 6 * power)))
    assert verify(Y, c) == np.ldexp(verify(X, base), 6 * power)


def test_returned_bound_is_the_smallest_float_above_the_claims():
    X = np.full((1, 1), 1.0)
    c = certify(X, 1, center=False, slack=0.0)
    c = changed(c, claims=np.array([0.25 + 2.0**-40, 2.0**-60]), tree=np.zeros(0, np.uint8))
    assert verify(X, replace(c, upper=2.0)) == 4 * np.nextafter(0.25 + 2.0**-40, 1)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_sparse_and_dense_have_the_same_verdict(center, scale):
    rng = np.random.default_rng(5)
    X = rng.poisson(0.7, (9, 6)) * rng.integers(1, 50, 6) * 1.0
    S = scipy.sparse.coo_array(X)
    S = scipy.sparse.coo_array((np.append(S.data, [2.0, -2.0]), (np.append(S.row, [1, 1]), np.append(S.col, [2, 2]))), X.shape)
    for rows in (None, np.array([4, 0, 2])):
        dense, sparse = (certify(data, 3, d=1, rows=rows, center=center, scale=scale) for data in (X, S))
        assert verify(X, dense) == verify(S, sparse)
        refused(X, sparse, "digest")
        for form in ("row", "diagonal"):
            bounds = [verify(data, replace(c, form=form, witness={}, upper=1e300)) for data, c in ((X, dense), (S, sparse))]
            assert bounds[0] == pytest.approx(bounds[1], rel=1e-13)  # sums in another order
        low = dense.witness["claims"] * (1 - 1e-5)
        refused(X, changed(dense, claims=low), "proved")
        refused(S, changed(sparse, claims=low), "proved")


def test_frames_and_lists_are_data_and_text_is_not():
    pandas = pytest.importorskip("pandas")
    X = spiked(1, 6, 4)
    c = certify(X, 2, d=1)
    assert verify(pandas.DataFrame(X), c) == verify(X.tolist(), c) == verify(np.asfortranarray(X), c) == verify(X, c)
    refused(pandas.DataFrame([["a", "b"]]), c, "cannot be read")
    refused(X[0], c, "shape")
    refused(X + 0j, c, "real numbers")


def test_small_side_and_dense_route_agree(monkeypatch):
    for seed, d in itertools.product(range(5), range(4)):
        X = spiked(seed, 5, 40, rank=3)
        c = certify(X, 4, d=d, tol=0.3)
        t, F = c.witness["claims"]
        honest = t - SLACK * np.linalg.eigvalsh(unit_matrix(X)[0])[-1]
        dense = -1e-100 * np.eye(40)  # any M takes the dense route
        assert verify(X, c) == verify(X, changed(c, M=dense))
        for bad in (honest * (1 - 1e-7), t / 2, 0.0, -t):
            refused(X, changed(c, claims=np.array([bad, F])), "lambda_max")
            refused(X, changed(c, claims=np.array([bad, F]), M=dense), "lambda_max")
        monkeypatch.setattr(module, "DENSE_LIMIT", 39)
        assert verify(X, c) <= c.upper
        refused(X, changed(c, M=dense), "at most 39 rows")
        monkeypatch.undo()


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("source", ["data", "covariance"])
def test_liars_are_refused_with_the_reason(nonneg, source):
    X = spiked(11, 10, 6)
    X = X if source == "data" else np.cov(X, rowvar=False)
    A, _ = unit_matrix(X, source)
    W = np.clip(A, 0 if nonneg else -np.median(abs(A)), np.median(abs(A)))
    M = np.diag(np.linspace(0, 0.01, 6)) + 0.001
    c = certify(X, 3, nonneg, 2, W, M, source=source)
    assert verify(X, c) <= c.upper
    t, F = c.witness["claims"]
    honest = t - SLACK * np.linalg.eigvalsh(A)[-1]
    w = c.witness
    refused(X, changed(c, claims=np.array([honest - abs(honest) * 1e-7, F])), "lambda_max")
    refused(X, changed(c, claims=np.array([t, F * (1 - 1e-6)])), "cone")
    refused(X, changed(c, W=W + np.eye(6) * 1e-3 * abs(W).max()), "tau")
    refused(X, changed(c, W=W - 0.05 * abs(W).max()), "lambda_max|tau")
    refused(X, changed(c, tau=w["tau"] * (1 - 1e-9)), "tau = .* below the largest entry of W")
    refused(X, changed(c, tau=w["tau"] * 1.1), "cone")
    refused(X, changed(c, M=-M), "lambda_max")
    refused(X, changed(c, M=100 * M), "cone")
    refused(X, changed(c, U=w["U"] * 0.99), "lambda_max")
    refused(X, changed(c, U=w["U"] * 1.01), "cone")
    refused(X, replace(c, k=4), "cone")
    refused(X, changed(c, upper=c.upper * (1 - 1e-8)), "claimed")
    refused(X, replace(c, nonneg=not nonneg), "tau|ends too early|left over|cone")
    refused(X, replace(c, exponent=c.exponent - 2), "exponent")
    assert verify(X, replace(c, k=2)) == verify(X, c)


def test_trees_that_do_not_cover_are_refused():
    X = spiked(2, 10, 6)
    c = certify(X, 3, d=3)
    tree = c.witness["tree"]
    assert len(tree) > 8
    for bad, reason in (
        (tree[:-1], "too early"),
        (tree[:0], "too early"),
        (np.append(tree, np.uint8(255)), "left over"),
        (np.append(tree, np.uint8(1)), "left over"),
        (np.where(tree == 1, 0, tree), "unknown code 0"),
        (np.where(tree == 1, 3, tree), "unknown code 3"),
        (np.where(tree == 1, 4, tree), "unknown code 4"),
        (np.where(tree == 1, 9, tree), "unknown code 9"),
        (-tree.astype(int), "unknown code -"),
        (np.full(8, 255, np.uint8), "cone"),
        (tree.reshape(1, -1), "tree"),
        (tree.astype(float), "tree"),
        (np.tile([1, 1, 255], 60).astype(np.uint8), "too deep"),
        (None, "too early"),
    ):
        refused(X, changed(c, tree=bad), reason)


def test_rows_that_are_not_kept_need_a_large_enough_tau():
    X = spiked(4, 9, 6) * np.array([1, 1, 1, 0.3, 0.2, 0.0])
    A, _ = unit_matrix(X)
    for nonneg in (True, False):
        c = certify(X, 3, nonneg, d=1, rows=[0, 1, 2])
        assert brute(A, 3, nonneg) <= np.ldexp(verify(X, c), -c.exponent) * (1 + 1e-12)
        refused(X, changed(c, tau=c.witness["tau"] * (1 - 1e-9)), "not kept")
        refused(X, changed(c, tau=None), "not kept")
        refused(X, changed(c, rows=np.array([0, 1, 1])), "different numbers")
        refused(X, changed(c, rows=np.array([0, 1, 6])), "different numbers")
        refused(X, changed(c, rows=np.array([-1, 1, 2])), "different numbers")
        refused(X, changed(c, rows=np.array([0.0, 1, 2])), "rows")
        refused(X, changed(c, rows=np.array([0, 1])), "shape")
        refused(X, changed(c, claims=np.array([-1e-3, 100.0])), "lambda_max")
    zeros = certify(X, 3, d=1, rows=[0, 1, 2, 3, 4], tau=0.0)  # a zero column needs no tau at all
    assert verify(X, zeros) <= zeros.upper


def test_signed_covers_are_not_capped_by_the_largest_eigenvalue():
    """U = (1, -1), tau = 1: lambda_max(V'V) = 2, yet x = (1, -1)/sqrt 2 has |U'x|^2 + tau |x|_1^2 = 4."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 4
    c = certify(A, 2, False, source="covariance")
    W, U = np.array([[0.25, -0.25], [-0.25, 0.25]]), np.array([[0.5], [-0.5]])
    witness = {"W": W, "U": U, "claims": np.array([1e-9, 0.5 + 1e-9]), "tree": np.array([255], np.uint8)}
    refused(A, replace(c, witness=witness, upper=1.0), "cone")
    assert verify(A, replace(c, witness=witness | {"claims": np.array([1e-9, 1 + 1e-9])}, upper=2.0)) >= 0.5


def test_negative_row_cuts_cost_nothing_but_in_the_signed_problem():
    """A - M = 1/2 on the sphere: x = (1, 1)/sqrt 2 reaches 0, (1, -1)/sqrt 2 reaches 1."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 4
    for nonneg in (True, False):
        c = certify(A, 2, nonneg, source="covariance")
        w = {"M": np.array([[0.0, -0.5], [-0.5, 0.0]]), "claims": np.array([0.5 + 1e-9, 1e-9]), "tree": None}
        if nonneg:
            assert verify(A, changed(c, **w, upper=1.0)) == pytest.approx(0.25, rel=1e-7)
        else:
            refused(A, changed(c, **w, upper=1.0), "largest h_i sum")
            assert verify(A, changed(c, **w | {"claims": np.array([0.5, 0.5]) + 1e-9}, upper=1.0)) == pytest.approx(0.5, rel=1e-7)


def test_wrong_data_is_refused():
    X = spiked(0, 6, 4)
    c = certify(X, 2, d=1)
    Y = X.copy()
    Y[3, 2] = np.nextafter(Y[3, 2], 9)
    refused(Y, c, "digest")
    refused(X[:5], c, "shape")
    refused(X.T, c, "shape")
    Y[3, 2] = np.nan
    refused(Y, replace(c, digest=digest_of(Y)), "finite")
    refused(X, replace(c, digest="", shape=X.shape), "digest")
    refused(X, replace(c, source="covariance"), "square covariance")
    refused(X, replace(c, source="rumour"), "source")
    refused(X, replace(c, scale=True), "exponent")
    flat = np.insert(X, 1, 0.1, axis=1)
    refused(flat, replace(certify(flat, 2), scale=True, exponent=0), "constant column")
    zero = X * 1.0
    zero[0, 0] = 0.0
    assert verify(np.where(zero == 0, -0.0, zero), d := certify(zero, 2)) == verify(zero, d)


def test_malformed_certificates_are_refused():
    X = spiked(0, 6, 4)
    A, _ = unit_matrix(X)
    c = certify(X, 2, d=1, W=np.minimum(A, 0.1))
    w = c.witness
    for wrong, reason in (
        ({"version": 2}, "version"),
        ({"form": "oracle"}, "oracle"),
        ({"probability": 0.01}, "probability 0.01"),
        ({"probability": float("nan")}, "probability"),
        ({"k": 0}, "k must"),
        ({"k": 5}, "k must"),
        ({"k": -1}, "k must"),
        ({"k": 2.0}, "cannot be read"),
        ({"k": (2, 2)}, "cannot be read"),
        ({"upper": float("nan")}, "claimed"),
        ({"upper": float("inf")}, "claimed"),
        ({"upper": None}, "cannot be read"),
        ({"k": "2"}, "cannot be read"),
        ({"shape": None}, "cannot be read"),
        ({"witness": None}, "cannot be read"),
        ({"upper": -1.0}, "claimed"),
        ({"witness": w | {"magic": np.ones(1)}}, "magic"),
        ({"form": "row"}, "witness arrays"),
        ({"form": "diagonal"}, "witness arrays"),
    ):
        refused(X, replace(c, **wrong), reason)
    for name in ("W", "U", "claims", "tau"):
        for value in (np.nan, np.inf):
            bad = np.array(w[name])
            bad.flat[0] = value
            refused(X, changed(c, **{name: bad}), f"witness {name}")
        refused(X, changed(c, **{name: w[name][..., None]}), f"witness {name}")
        refused(X, changed(c, **{name: w[name].astype(object)}), f"witness {name}")
        refused(X, changed(c, **{name: w[name] + 0j}), f"witness {name}")
    refused(X, changed(c, claims=None), "claims")
    refused(X, changed(c, claims=np.array([1e308, 1e308])), "proved")
    refused(X, changed(c, W=np.full((4, 4), 1e308), tau=np.array([1e308])), "proved")
    refused(X, changed(c, W=np.full((4, 4), -1e308)), "proved")
    refused(X, changed(c, U=np.full((4, 1), 1e200)), "proved")
    refused(X, changed(c, M=np.full((4, 4), 1e200)), "proved")
    refused(X, changed(c, U=np.ones((4, 4)), claims=np.array([1e3, 1e3])), "too early")
    refused(X, changed(c, U=np.ones((4, 60)), claims=np.array([1e3, 1e3])), "witness U")
    refused(X, changed(c, rows=np.zeros(0, int), W=None, U=np.zeros((0, 10**12))), "witness U")
    refused(X, replace(c, form=["row"]), "cannot be read")
    refused(X, None, "cannot be read")
    refused(X, changed(c, U=np.array(1.0)), "witness U")
    assert verify(X, replace(c, probability=0.01), allow_probabilistic=True) == verify(X, c)


def test_lopsided_w_counts_as_its_symmetric_part():
    X = spiked(9, 8, 4)
    A, _ = unit_matrix(X)
    skew = np.triu(np.full((4, 4), 0.01), 1)
    W = np.minimum(A, 0.05)
    c = certify(X, 2, d=1, W=W + skew - skew.T)
    assert verify(X, c) <= c.upper
    assert c.witness["tau"][0] > W.max()


def test_negative_claims_hold_when_w_takes_more_than_everything():
    A = np.eye(3)
    c = certify(A, 2, source="covariance", W=np.eye(3))
    assert c.witness["claims"][0] < 0
    assert 1.0 <= verify(A, c) <= c.upper
    refused(A, changed(c, claims=c.witness["claims"] - [1e-6, 0]), "lambda_max")


@pytest.mark.parametrize("scale", [False, True])
def test_a_column_is_the_same_whatever_is_asked_with_it(scale):
    """Centring what is nearly constant: a mean rounded otherwise would be another matrix, below what the full one reaches."""
    rng = np.random.default_rng(0)
    for m, noise in ((1000, 1e-9), (1000, 1e-12), (30000, 1e-13)):
        Y = np.column_stack((1 + 0.9 * rng.random() + noise * rng.standard_normal(m), rng.random((m, 3))))
        c = Stand("row", 1, True, Y.shape, digest_of(Y), 0 if scale else 2 * int(np.frexp(np.abs(Y).max())[1]), 0.0, scale=scale)
        A = module.Matrix(Y, c)
        whole = A.columns(np.arange(4))
        assert all(np.array_equal(A.columns(np.arange(i, j)), whole[:, i:j]) for i in range(4) for j in range(i + 1, 5))
        for other in (np.asfortranarray(Y), scipy.sparse.csr_array(Y)):
            twin = replace(c, digest=digest_of(other) if scipy.sparse.issparse(other) else c.digest)
            assert np.array_equal(module.Matrix(other, twin).columns(np.array([0])), whole[:, :1])


def test_zero_matrices_are_proved_without_slack():
    for X in (np.zeros((3, 4)), np.full((3, 4), 2.0), scipy.sparse.csr_array((3, 4))):
        c = Stand("inequality", 2, True, X.shape, digest_of(X), 2 * int(np.frexp(abs(X).max())[1]), 0.0)
        for U in (np.zeros((4, 0)), np.zeros((4, 1))):
            tree = np.array([255] * 2 * U.shape[1], np.uint8)
            assert verify(X, replace(c, witness={"claims": np.zeros(2), "U": U, "tree": tree})) == 0.0
        refused(X, replace(c, witness={"claims": np.array([-1e-9, 0])}), "lambda_max")
        for form in ("row", "diagonal"):
            assert verify(X, replace(c, form=form)) == 0.0
        assert verify(X, replace(c, form="joint", k=(1, 2), witness={"claims": np.zeros(2)})) == 0.0
        refused(X, replace(c, form="joint", k=(1, 2), witness={"claims": np.array([-1e-9, 0.0])}), "could not be proved")
        refused(X, replace(c, form="joint", k=(1, 2), witness={"claims": np.array([1e-9, 0.0])}), "claimed")


def test_diagonal_form_asks_a_covariance_to_be_positive_semidefinite():
    A = np.array([[0.1, 1.0], [1.0, 0.1]])
    c = certify(A, 2, source="covariance")
    assert verify(A, replace(c, form="row", witness={}, upper=1.1 * (1 + SLACK))) >= 1.1
    refused(A, replace(c, form="diagonal", witness={}, upper=0.2 * (1 + SLACK)), "positive semidefinite")


def joint_stand(data, sizes, nonneg, W=None, rows=None, **recipe):
    """U from the r - 1 leading eigenpairs of what W leaves, t the next eigenvalue."""
    A, exponent = unit_matrix(data, **recipe)
    R = np.arange(len(A)) if rows is None else np.asarray(rows)
    B = A[np.ix_(R, R)] - (0 if W is None else (W + W.T) / 2)
    outside = np.ones(A.shape, bool)
    outside[np.ix_(R, R)] = False
    entries = np.concatenate([[0.0], A[outside], np.ravel(W) if W is not None else []])
    tau = (max(entries) if nonneg else max(abs(entries))) * (1 + 1e-12)
    values, Q = np.linalg.eigh(B)
    values, Q, r = values[::-1], Q[:, ::-1], len(sizes)
    low = max(0.0, values[r - 1]) if len(values) >= r else 0.0
    U = Q[:, : r - 1] * np.sqrt(np.maximum(values[: r - 1] - low, 0))
    t = low + SLACK * np.linalg.eigvalsh(A)[-1]
    witness = {"tau": np.array([tau]), "U": U, "claims": np.array([t, 0.0])}
    witness |= ({} if W is None else {"W": W}) | ({} if rows is None else {"rows": R})
    upper = float(np.ldexp((r * t + np.sum(U * U) + sum(sizes) * tau) * (1 + 1e-13), exponent))
    return Stand("joint", sizes, nonneg, data.shape, digest_of(data), exponent, upper, witness=witness, **recipe)


def brute_joint(A, sizes, nonneg):
    best, n = 0.0, len(A)
    for owner in itertools.product(range(len(sizes) + 1), repeat=n):
        groups = [[i for i in range(n) if owner[i] == j] for j in range(len(sizes))]
        if all(0 < len(g) <= s for g, s in zip(groups, sizes, strict=True)):
            best = max(best, sum(brute(A[np.ix_(g, g)], len(g), nonneg) for g in groups))
    return best


@pytest.mark.parametrize("nonneg", [True, False])
def test_joint_bounds(nonneg):
    rng = np.random.default_rng(8)
    for trial in range(10):
        X = PROBLEMS[["wide", "tall", "duplicates", "zero columns", "integers"][trial % 5]](rng)
        A, _ = unit_matrix(X)
        n = len(A)
        sizes = [(2, 2), (1, 3), (3,), (1, 1, 1)][trial % 4]
        rows = None if trial % 3 else [0, 2, 1]
        R = np.arange(n) if rows is None else rows
        W = None if trial % 2 else np.clip(A[np.ix_(R, R)], -0.1, 0.1)
        c = joint_stand(X, sizes, nonneg, W, rows)
        bound = np.ldexp(verify(X, c), -c.exponent)
        assert brute_joint(A, sizes, nonneg) * (1 - 1e-12) <= bound
        # nothing is given away: Ky Fan's sum of what W leaves, and tau
        left = A[np.ix_(R, R)] - (0 if W is None else (W + W.T) / 2)
        assert bound <= (top(np.linalg.eigvalsh(left), len(sizes)) + sum(sizes) * c.witness["tau"][0]) * (1 + 1e-7)
        refused(X, replace(c, upper=c.upper * (1 - 1e-6)), "claimed")
        refused(X, replace(c, k=(*sizes, n + 1)), "k must")
        refused(X, replace(c, k=()), "cannot be read")
    diagonal = np.diag([3.0, 2.0, 1.0])
    assert 5 <= verify(diagonal, joint_stand(diagonal, (1, 1), True, source="covariance")) <= 5 * (1 + 4 * SLACK)


@pytest.mark.parametrize("nonneg", [True, False])
def test_joint_liars_are_refused(nonneg):
    X = spiked(6, 9, 6, rank=3)
    A, _ = unit_matrix(X)
    c = joint_stand(X, (2, 3), nonneg, np.clip(A, -0.02, 0.02))
    w, (t, _) = c.witness, c.witness["claims"]
    assert verify(X, c) <= c.upper
    refused(X, changed(c, claims=np.array([t * (1 - 1e-6), 0.0])), "could not be proved")
    refused(X, changed(c, claims=np.array([t * (1 - 1e-6), t])), "could not be proved")
    refused(X, changed(c, claims=np.array([-t, 0.0])), "could not be proved")
    refused(X, changed(c, claims=None), "cannot be read")
    refused(X, changed(c, claims=np.array([t])), "witness claims")
    refused(X, changed(c, U=w["U"] * 0.99), "could not be proved")
    refused(X, changed(c, U=None), "could not be proved")
    refused(X, changed(c, U=w["U"][:-1]), "witness U")
    refused(X, changed(c, U=w["U"] * 1.01, upper=c.upper), "claimed")  # as true, but |U|^2 counts
    refused(X, changed(c, W=w["W"] - 0.01), "tau|could not be proved")
    refused(X, changed(c, tau=w["tau"] * (1 - 1e-9)), "below the largest entry of W")
    refused(X, changed(c, tau=w["tau"] * 1.1, upper=c.upper), "claimed")
    refused(X, changed(c, M=np.zeros((6, 6))), "witness arrays")
    refused(X, changed(c, tree=np.zeros(0, np.uint8)), "witness arrays")
    refused(X, replace(c, k=(2, 4)), "claimed")
    refused(X, replace(c, k=(2, 3, 1)), "claimed")
    identity = np.eye(3)  # A - W is negative, but two components do not have a negative sum of what is left
    honest = joint_stand(identity, (1, 1), nonneg, 2 * identity, source="covariance")
    assert verify(identity, honest) >= 2
    refused(identity, changed(honest, claims=np.array([-0.4, 0.0])), "could not be proved")


def grown(rng, k, fixed, free, chance):
    """Codes in preorder of a random tree, and (fixed, free) of its leaves; first those with the feature."""
    if len(fixed) == k or not free or rng.random() >= chance:
        return [-1], [(fixed, free)]
    i = int(rng.choice(free))
    rest = [j for j in free if j != i]
    halves = [grown(rng, k, child, rest, chance) for child in ([*fixed, i], fixed)]
    return [i, *halves[0][0], *halves[1][0]], halves[0][1] + halves[1][1]


def members(leaf, k):
    """Features left at a leaf, the fixed ones first."""
    fixed, free = leaf
    return [*fixed, *(free if len(fixed) < k else [])]


def pool_of(rng, A, size):
    """W, M (size, n, n) and U (size, n, 2) of random witnesses: the leading pairs of what W and M leave, noise, a column of zeros."""
    n = len(A)
    W, M, U = np.zeros((size, n, n)), np.zeros((size, n, n)), np.zeros((size, n, 2))
    for p in range(size):
        w, m = random_parts(rng, A, np.arange(n), rng.choice(["clip", "noise", "negative", "none"]))
        W[p], M[p] = 0 if w is None else w, 0 if m is None else m
        values, Q = np.linalg.eigh(A - (W[p] + W[p].T) / 2 - (M[p] + M[p].T) / 2)
        pairs = Q[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))
        U[p, :, : pairs.shape[1]] = pairs
        style = rng.integers(4)
        U[p] = [U[p], U[p] * [0, 1], rng.standard_normal((n, 2)) * np.sqrt(A.trace() / n), np.zeros((n, 2))][style]
    return W, M, U


def leaf_proof(A, I, forced, k, nonneg, W, M, U, tol, depth):
    """t, F and the cover of the inequality on the features I, of which the first belong to every support."""
    at = np.ix_(I, I)
    B, W, M, U = A[at], W[at], M[at], U[I]
    U = U[:, U.any(axis=0)]
    t = np.linalg.eigvalsh(B - (W + W.T) / 2 - (M + M.T) / 2 - U @ U.T)[-1:].sum()
    tau = np.max(W if nonneg else abs(W), initial=0.0)
    F, tree = Search(U, tau, heights(M, k, nonneg), k, nonneg, 0, tol, depth, forced).run()
    return (t if len(I) == len(A) else max(t, 0.0)), F, tree


def certify_branches(data, k, nonneg, rng, chance=0.7, pool=2, tol=0.05, depth=5, **recipe):
    """An honest certificate of form "branches" of a random tree, with or without a random witness at its leaves; and the leaves."""
    A, exponent = unit_matrix(data, **recipe)
    n, slack = len(A), SLACK * np.linalg.eigvalsh(A)[-1]
    codes, leaves = grown(rng, k, [], list(range(n)), chance)
    W, M, U = pool_of(rng, A, pool)
    use, claims, trees = rng.integers(-1, pool, len(leaves)), [], []
    for j, leaf in zip(use, leaves, strict=True):
        parts = (W[j], M[j], U[j]) if j >= 0 else (np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, 0)))
        t, F, tree = leaf_proof(A, members(leaf, k), len(leaf[0]), k, nonneg, *parts, tol, depth)
        claims.append((t + slack, F + (slack if j >= 0 else 0.0)))
        trees += tree
    witness = {"branch": np.array(codes), "use": use, "W": W, "M": M, "U": U, "claims": np.array(claims), "tree": np.array(trees, np.uint8)}
    upper = np.nextafter(np.ldexp(np.nextafter(max(0.0, *(t + F for t, F in claims)), np.inf), exponent), np.inf)
    c = Stand("branches", k, nonneg, data.shape, digest_of(data), exponent, float(upper), witness=witness, **recipe)
    return c, leaves


def brute_leaf(A, leaf, k, nonneg):
    """The optimum over the supports of one leaf: what a fixed feature gets may be 0."""
    fixed, free = leaf
    best = -np.inf
    for r in range(min(k - len(fixed), len(free)) + 1):
        for others in itertools.combinations(free, r):
            I = [*fixed, *others]
            best = max(best, brute(A[np.ix_(I, I)], len(I), nonneg)) if I else max(best, 0.0)
    return best


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
def test_branches_are_never_below_brute_force(name, nonneg):
    rng = np.random.default_rng(len(name) + 1000 * nonneg)
    for trial in range(6):
        X = PROBLEMS[name](rng)
        X = X / (np.abs(X).max() or 1) * 10.0 ** rng.choice([-150, 0, 0, 150])
        n = X.shape[1]
        source, center = ["data", "covariance"][trial // 3], bool(rng.random() < 0.7)
        if source == "covariance":
            X = np.cov(X / (np.abs(X).max() or 1), rowvar=False, bias=True).reshape(n, n) * 10.0 ** rng.choice([-250, 0, 250])
        A, exponent = unit_matrix(X, source, center)
        k = [1, n, int(rng.integers(1, n + 1))][trial % 3]
        pool = int(rng.integers(0, 3))
        c, leaves = certify_branches(X, k, nonneg, rng, rng.choice([0.0, 0.5, 0.8]), pool, source=source, center=center)
        bound = np.ldexp(verify(X, c), -exponent)
        assert verify(X, c) <= c.upper
        assert brute(A, k, nonneg) * (1 - 1e-12) <= bound
        for leaf, claims in zip(leaves, c.witness["claims"], strict=True):
            assert brute_leaf(A, leaf, k, nonneg) * (1 - 1e-12) <= claims.sum()
        assert bound == pytest.approx(max(0.0, c.witness["claims"].sum(axis=1).max()), rel=1e-12)


@pytest.mark.parametrize("source", ["data", "covariance"])
def test_a_tree_down_to_the_supports_is_exact(source):
    """Without a witness anywhere: the largest eigenvalue of all k x k blocks."""
    X = spiked(21, 9, 6)
    X = X if source == "data" else np.cov(X, rowvar=False)
    A, exponent = unit_matrix(X, source)
    for k in (1, 2, 6):
        c, leaves = certify_branches(X, k, False, np.random.default_rng(k), 1.0, 0, source=source)
        assert {frozenset(fixed) for fixed, _ in leaves if len(fixed) == k} == set(map(frozenset, itertools.combinations(range(6), k)))
        best = brute(A, k, False)
        assert best <= np.ldexp(verify(X, c), -exponent) <= best * (1 + 1e-6)
        assert verify(X, replace(c, nonneg=True)) == verify(X, c)


@pytest.mark.parametrize("nonneg", [True, False])
def test_fixed_features_count_and_no_others(nonneg):
    """A leaf's F, proved by a deep cover, is the optimum of UU' + tau 11' over its own supports: those with its fixed features."""
    A = 1e-3 * np.eye(6)  # so t = 1e-3 will do, whatever UU' + tau 11' takes
    rng = np.random.default_rng(4)
    for trial in range(8):
        k, tau = 3, 0.01 if trial % 2 else 0.0  # two dimensions either way
        size = 0.02 if trial < 4 else 2.0  # of the features that are fixed, which would be chosen last or first
        U = np.column_stack([0.3 + rng.random((6, 2 - trial % 2)), np.zeros(6)]) * np.array([[size, size, 1, -1, 1, 1]]).T
        W = np.full((6, 6), tau)
        both = ([1, 0], [2, 3, 4, 5]), ([1], [2, 3, 4, 5]), ([], [0, 2, 3, 4, 5])
        leaves = both if trial % 4 < 2 else (([0], [1, 2, 3, 4, 5]), ([], [1, 2, 3, 4, 5]))
        claims, exact, trees = [], [], []
        for leaf in leaves:
            forced, I = len(leaf[0]), members(leaf, k)
            F, tree = Search(U[I][:, U[I].any(axis=0)], tau, np.zeros(len(I)), k, nonneg, 0, 1e-4, 24, forced).run()
            C = U[I] @ U[I].T
            sets = [[*range(forced), *s] for s in itertools.combinations(range(forced, len(I)), k - forced)]
            exact.append(max(cone_value(C[np.ix_(s, s)], U[I][s], tau, nonneg) for s in sets))
            claims.append((1e-3 + 1e-9, F + 1e-9))
            trees += tree
        assert size > 1 or exact[0] < 0.99 * max(exact)  # what is fixed is felt
        w = {
            "branch": np.array(leaves[0][0] + [-1] * len(leaves)),
            "use": np.zeros(len(leaves), int),
            "W": W[None],
            "M": np.zeros((1, 6, 6)),
            "U": U[None],
        }
        w |= {"claims": np.array(claims), "tree": np.array(trees, np.uint8)}
        c = Stand("branches", k, nonneg, A.shape, digest_of(A), int(np.frexp(1e-3)[1]), 1e9, "covariance", witness=w)
        scale = np.ldexp(1.0, -c.exponent)  # the certificate is in unit scale, as the numbers above are not
        w = c.witness | {name: c.witness[name] * scale for name in ("W", "claims")} | {"U": c.witness["U"] * np.sqrt(scale)}
        assert verify(A, replace(c, witness=w)) == pytest.approx(max(t + F for t, F in claims), rel=1e-12)
        for at, value in enumerate(exact):
            assert value * (1 - 1e-12) <= claims[at][1] <= value * (1 + 2e-3)
            low = w["claims"].copy()
            low[at, 1] = value * scale * (1 - 1e-7)
            refused(A, replace(c, witness=w | {"claims": low}), "cone .* F =")


@pytest.mark.parametrize("nonneg", [True, False])
def test_rows_that_count_are_not_filtered_out(nonneg):
    """One cone, sqrt(tau) in every row, so the h_i alone decide who is among the k: the fixed ones, large or small, and the best others."""
    A, k, tau = np.diag([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]), 4, 0.125
    exponent = int(np.frexp(0.5)[1])
    w = {"branch": np.array([0, 1, -1, -1, -1]), "use": np.array([0, -1, -1]), "tree": np.array([255])}
    w |= {"W": np.full((1, 6, 6), tau), "U": np.zeros((1, 6, 0))}
    for h in list(itertools.permutations([0.0, 0.0625, 0.125, 0.25, 0.375, 0.5]))[::7]:
        M, F = np.diag(h), k * tau + top(np.array(h), k, 2)
        for factor in (1 + 1e-9, 1 - 1e-9):
            witness = w | {"M": M[None], "claims": np.array([[0.6, F * factor], [0.6, 10.0], [0.6, 10.0]])}
            c = Stand("branches", k, nonneg, A.shape, digest_of(A), exponent, 100.0, "covariance", witness=witness)
            if factor > 1:
                assert verify(A, c) == pytest.approx(10.6)
            else:
                refused(A, c, "cone")


def cone_value(C, U, tau, nonneg):
    """Largest x'(UU' + tau |x|_1^2)x on one support: for signed x over all its signs."""
    ones = np.ones(len(U))
    patterns = [ones] if nonneg else [np.array(s) for s in itertools.product((1.0, -1.0), repeat=len(U))]
    return max(brute(C * np.outer(s, s) + tau, len(U), True) for s in patterns)


def branching_example(nonneg=True, source="data"):
    """Two branchings by hand, features 2 and 4, with the witnesses 0, none and 1 at the leaves; k = 3."""
    X = spiked(13, 10, 6)
    X = X if source == "data" else np.cov(X, rowvar=False)
    A, exponent = unit_matrix(X, source)
    n, k, slack = 6, 3, SLACK * np.linalg.eigvalsh(A)[-1]
    W, M, U = np.zeros((2, n, n)), np.zeros((2, n, n)), np.zeros((2, n, 2))
    W[0] = np.clip(A, -np.median(abs(A)), np.median(abs(A)))
    M[1] = np.diag(np.linspace(0.01, 0.02, n)) + 0.001
    for p in range(2):
        values, Q = np.linalg.eigh(A - W[p] - M[p])
        U[p] = Q[:, :-3:-1] * np.sqrt(values[:-3:-1] - values[-3])
    codes, leaves, use = [2, 4, -1, -1, -1], [([2, 4], [0, 1, 3, 5]), ([2], [0, 1, 3, 5]), ([], [0, 1, 3, 4, 5])], [0, -1, 1]
    claims, trees = [], []
    for j, leaf in zip(use, leaves, strict=True):
        parts = (W[j], M[j], U[j]) if j >= 0 else (W[0] * 0, M[0] * 0, U[0] * 0)
        t, F, tree = leaf_proof(A, members(leaf, k), len(leaf[0]), k, nonneg, *parts, 1e-3, 14)
        claims.append((t + slack, F + slack))
        trees.append(tree)
    w = {"branch": np.array(codes), "use": np.array(use), "W": W, "M": M, "U": U, "claims": np.array(claims)}
    w["tree"] = np.array(list(itertools.chain(*trees)), np.uint8)
    upper = float(np.ldexp(max(t + F for t, F in claims) * (1 + 1e-12), exponent))
    return X, Stand("branches", k, nonneg, X.shape, digest_of(X), exponent, upper, source, witness=w), trees


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("source", ["data", "covariance"])
def test_branch_liars_are_refused_with_the_reason(nonneg, source):
    X, c, trees = branching_example(nonneg, source)
    w, slack = c.witness, 2 * SLACK * np.linalg.eigvalsh(unit_matrix(X, source)[0])[-1]
    assert verify(X, c) <= c.upper
    for leaf, (t, F) in enumerate(w["claims"]):
        low = w["claims"].copy()
        low[leaf, 0] = t - slack - 1e-7 * t
        refused(X, changed(c, claims=low), "lambda_max")
        low[leaf] = -t, F
        refused(X, changed(c, claims=low), "lambda_max")
        low[leaf] = t, F * (1 - 1e-2) - slack
        refused(X, changed(c, claims=low), "cone .* F =|largest h_i sum")
    refused(X, changed(c, upper=c.upper * (1 - 1e-8)), "claimed")
    for name, factor, reason in (
        ("U", 0.99, "lambda_max"),
        ("U", 1.02, "cone"),
        ("W", 1.02, "lambda_max|cone"),
        ("M", -1, "lambda_max"),
        ("M", 100, "cone"),
    ):
        refused(X, changed(c, **{name: w[name] * factor}), reason)
    refused(X, changed(c, W=-w["W"]), "lambda_max|left over|too early|unknown code|cone")
    refused(X, replace(c, k=4), "cone|lambda_max")  # what was claimed for 3 features
    assert verify(X, replace(c, k=2)) == verify(X, c)  # supports of 2 features are in those of 3
    # witnesses of other leaves, and none where one is needed
    for use in ([1, -1, 1], [-1, -1, 1], [0, -1, 0], [0, -1, -1], [0, 0, 1]):
        refused(X, changed(c, use=np.array(use)), "lambda_max|left over|too early|unknown code|cone|largest h_i sum")
    # leaves in another order: proofs of other supports
    for order in ([1, 0, 2], [2, 1, 0], [0, 2, 1]):
        tree = np.array(list(itertools.chain(*(trees[i] for i in order))), np.uint8)
        lie = changed(c, use=w["use"][order], claims=w["claims"][order], tree=tree)
        refused(X, lie, "lambda_max|left over|too early|unknown code|cone")


def test_branchings_that_leave_supports_out_are_refused():
    X, c, _ = branching_example()
    for branch, reason in (
        ([2, 4, -1, -1], "supports, are missing"),
        ([2, 4], "supports, are missing"),
        ([], "supports, are missing"),
        ([2, 4, -1, -1, -1, -1], "left over"),
        ([2, 4, -1, -1, -1, 0], "left over"),
        ([2, -1, -1], "proved"),
        ([-1], "proved"),
        ([2, 2, -1, -1, -1], "feature 2 cannot be branched on"),  # it is fixed
        ([2, -1, 2, -1, -1], "proved"),  # the leaf comes before the branching below
        ([2, 4, -1, -1, 6], "feature 6 cannot"),
        ([2, 4, -1, -1, -2], "feature -2 cannot"),
        ([2, 4, -1, -1, 255], "feature 255 cannot"),
        ([6, 4, -1, -1, -1], "feature 6 cannot"),
        ([2, 4, 0, 1, -1, -1, -1, -1, -1], "feature 1 cannot .* 3 are fixed"),
        ([2, 4, 4, -1, -1, -1, -1], "feature 4 cannot"),
        ([3, 4, -1, -1, -1], "lambda_max|left over|too early|cone"),
        ([4, 2, -1, -1, -1], "lambda_max|left over|too early|cone"),
    ):
        refused(X, changed(c, branch=np.array(branch, int)), reason)
    # below "without 2" feature 2 cannot come back, whatever is claimed there
    free = {"use": np.full(3, -1), "claims": np.full((3, 2), 100.0), "tree": None}
    assert verify(X, changed(c, **free, upper=1e6)) == np.ldexp(200.0, c.exponent)
    assert verify(X, changed(c, **free, branch=np.array([2, -1, 4, -1, -1]), upper=1e6)) == np.ldexp(200.0, c.exponent)
    refused(X, changed(c, **free, branch=np.array([2, -1, 2, -1, -1]), upper=1e6), "feature 2 cannot")
    whole = {name: array[:1] for name, array in free.items() if array is not None}
    assert verify(X, changed(c, **whole, tree=None, branch=np.array([-1]), upper=1e6)) == np.ldexp(200.0, c.exponent)


def test_swapped_children_are_refused():
    """What is proved without a feature says nothing about the supports with it."""
    A = np.diag([4.0, 1.0, 1.0]) / 8
    A[0, 1] = A[1, 0] = 1 / 8
    with_0, without_0 = np.linalg.eigvalsh(A)[-1] * (1 + SLACK), (1 + SLACK) / 8
    pool = {"W": np.zeros((0, 3, 3)), "M": np.zeros((0, 3, 3)), "U": np.zeros((0, 3, 0))}
    w = pool | {"branch": np.array([0, -1, -1]), "use": np.array([-1, -1]), "claims": np.array([[with_0, 0], [without_0, 0]])}
    exponent = int(np.frexp(0.5)[1])
    w["claims"] = np.ldexp(w["claims"], -exponent)
    for nonneg, k in itertools.product((True, False), (1, 2, 3)):
        c = Stand("branches", k, nonneg, A.shape, digest_of(A), exponent, 1.0, "covariance", witness=w)
        if k == 1:
            assert verify(A, changed(c, claims=np.ldexp([[0.5 * (1 + SLACK), 0], [without_0, 0]], -exponent))) >= 0.5
        assert verify(A, c) >= brute(A, k, nonneg)
        refused(A, changed(c, claims=w["claims"][::-1]), "lambda_max")
        refused(A, changed(c, claims=w["claims"][[1, 1]]), "lambda_max")
        refused(A, changed(c, branch=np.array([1, -1, -1])), "lambda_max")


def test_malformed_branches_are_refused():
    X, c, _ = branching_example()
    w = c.witness
    use, branch, tree, claims = (w[name] for name in ("use", "branch", "tree", "claims"))
    for arrays, reason in (
        ({"use": use[:-1]}, "witness claims"),
        ({"use": use[:-1], "claims": claims[:-1]}, "cannot be read"),
        ({"use": np.append(use, -1)}, "witness claims"),
        ({"use": np.append(use, -1), "claims": claims[[0, 1, 2, 2]]}, "left over"),
        ({"claims": claims[:-1]}, "witness claims"),
        ({"claims": claims[[0, 1, 2, 2]]}, "witness claims"),
        ({"claims": claims.ravel()}, "witness claims"),
        ({"claims": claims[:, :1]}, "witness claims"),
        ({"claims": np.where(claims == claims[1, 0], np.nan, claims)}, "witness claims"),
        ({"tree": tree[:-1]}, "ends too early"),
        ({"tree": None}, "ends too early"),
        ({"tree": np.append(tree, np.uint8(255))}, "left over"),
        ({"tree": tree.astype(float)}, "witness tree"),
        ({"tree": tree.reshape(1, -1)}, "witness tree"),
        ({"use": np.array([0, -1, 2])}, "proved|cannot be read|cone|left over"),  # number 2 is past the pool
        ({"use": np.array([0, -1, 3])}, "cannot be read"),
        ({"use": np.array([3, -1, 1])}, "cannot be read"),
        ({"use": np.array([0, -4, 1])}, "cannot be read"),
        ({"use": np.array([0, 2**63, 1], np.uint64)}, "cannot be read"),
        ({"use": use.reshape(1, -1)}, "witness"),
        ({"use": use.reshape(-1, 1), "claims": claims[:, None]}, "witness use"),
        ({"use": use.astype(float)}, "witness use"),
        ({"use": None}, "cannot be read"),
        ({"branch": branch.astype(float)}, "witness branch"),
        ({"branch": branch.reshape(1, -1)}, "witness branch"),
        ({"branch": branch.astype(object)}, "witness branch"),
        ({"branch": branch >= 0}, "witness branch"),
        ({"branch": None}, "supports, are missing"),
        ({"W": w["W"][0]}, "witness"),
        ({"W": w["W"][:1]}, "witness"),
        ({"W": w["W"][:, :5, :5]}, "witness W"),
        ({"W": w["W"][..., None]}, "witness W"),
        ({"W": np.array(1.0)}, "witness"),
        ({"W": None}, "cannot be read"),
        ({"M": w["M"][:1]}, "witness M"),
        ({"M": w["M"][:, :, :5]}, "witness M"),
        ({"M": None}, "cannot be read"),
        ({"U": w["U"][:1]}, "witness U"),
        ({"U": w["U"][0]}, "witness U"),
        ({"U": w["U"][:, :5]}, "witness U"),
        ({"U": None}, "witness U"),
        ({"U": w["U"] * np.inf}, "witness U"),
        ({"rows": np.arange(6)}, "witness arrays"),
        ({"tau": np.array([1.0])}, "witness arrays"),
    ):
        refused(X, changed(c, **arrays), reason)
    for name in ("W", "M", "U"):
        bad = w[name].copy()
        bad.flat[0] = np.nan
        refused(X, changed(c, **{name: bad}), f"witness {name}")
        refused(X, changed(c, **{name: np.full(w[name].shape, 1e308)}), "proved|left over|too early")
        refused(X, changed(c, **{name: np.full(w[name].shape, -1e308)}), "proved|left over|too early")
    for form in ("inequality", "joint", "row", "diagonal"):
        refused(X, replace(c, form=form, k=(1, 1) if form == "joint" else 3), "witness arrays")
    refused(X, replace(c, k=(3,)), "cannot be read")


def test_branches_are_for_few_features(monkeypatch):
    X, c, _ = branching_example()
    monkeypatch.setattr(module, "DENSE_LIMIT", 6)
    assert verify(X, c) <= c.upper
    monkeypatch.setattr(module, "DENSE_LIMIT", 5)
    refused(X, c, "at most 5 features")


def test_zero_branches():
    X = np.zeros((3, 4))
    pool = {"W": np.zeros((1, 4, 4)), "M": np.zeros((1, 4, 4)), "U": np.zeros((1, 4, 2))}
    w = pool | {"branch": np.array([3, 0, -1, -1, -1]), "use": np.array([0, -1, 0]), "claims": np.zeros((3, 2))}
    for nonneg, k in itertools.product((True, False), (2, 4)):
        c = Stand("branches", k, nonneg, X.shape, digest_of(X), 0, 0.0, witness=w)
        assert verify(X, c) == 0.0
        for at in np.ndindex(3, 2):
            low = np.zeros((3, 2))
            low[at] = -1e-9
            refused(X, changed(c, claims=low, upper=0.0), "lambda_max|F =")
    everything = {"branch": np.array([0, -1, 1, -1, 2, -1, 3, -1, -1]), "use": np.full(5, -1), "claims": np.zeros((5, 2))}
    assert verify(X, changed(c, **everything, upper=0.0)) == 0.0  # its last leaf has no features


def real(name):
    folder = os.environ.get("NSPCA_DATA")
    if not folder:
        pytest.skip("NSPCA_DATA names no folder with the real data sets")
    return np.load(pathlib.Path(folder) / name, allow_pickle=False)["X"]


def test_faces_leave_room_for_the_margins():
    X = real("cbcl_faces.npz")
    A, _ = unit_matrix(X)
    for nonneg in (True, False):
        c = certify(X, 40, nonneg, d=3, tol=0.05, depth=12)
        assert verify(X, c) <= c.upper
        refused(X, changed(c, claims=c.witness["claims"] * [1 - 1e-7, 1]), "lambda_max")
    tau = np.quantile(A, 0.7)
    c = certify(X, 40, d=1, W=np.minimum(A, tau), tol=0.05)
    assert verify(X, c) <= c.upper
    c = joint_stand(X, (40,) * 5, True, np.minimum(A, tau))
    assert verify(X, c) <= c.upper
    for form in ("row", "diagonal"):
        upper = np.ldexp(simple_bound(A, 40, True, form) * (1 + SLACK), c.exponent)
        assert verify(X, replace(c, form=form, k=40, witness={}, upper=float(upper))) <= upper


def test_genes_go_through_the_small_side():
    X = real("leukemia_mll.npz")
    e = int(np.frexp(np.abs(X).max())[1])
    Z = np.ldexp(X, -e)
    Z = Z - Z.mean(axis=0)
    _, s, Q = np.linalg.svd(Z / np.sqrt(len(Z)), full_matrices=False)
    U = Q[:3].T * np.sqrt(s[:3] ** 2 - s[3] ** 2)
    F, tree = Search(U, 0.0, np.zeros(len(U)), 50, True, tol=0.2, depth=6).run()
    claims = np.array([s[3] ** 2, F]) * (1 + SLACK)
    witness = {"U": U, "claims": claims, "tree": np.array(tree, np.uint8)}
    c = Stand("inequality", 50, True, X.shape, digest_of(X), 2 * e, float(np.ldexp(claims.sum() * (1 + 1e-15), 2 * e)), witness=witness)
    assert verify(X, c) <= c.upper
    refused(X, changed(c, claims=claims * [1 - 1e-7, 1]), "lambda_max")
    refused(X, changed(c, claims=claims * [1, 1 - 1e-6]), "cone")
    for form in ("row", "diagonal"):
        assert verify(X, replace(c, form=form, witness={}, upper=1e300)) > np.ldexp(F / 2, 2 * e)
    diag = (Z * Z).mean(axis=0)
    kept = np.argsort(-diag)[:300]
    rest = np.setdiff1d(np.arange(Z.shape[1]), kept)
    tau = max((Z[:, rest[i : i + 512]].T @ Z / len(Z)).max() for i in range(0, len(rest), 512)) * (1 + 1e-12)
    t = np.linalg.eigvalsh(Z[:, kept].T @ Z[:, kept] / len(Z))[-1] * (1 + SLACK)
    claims = np.array([t, 50 * tau * (1 + SLACK)])
    witness = {"rows": kept, "tau": np.array([tau]), "claims": claims, "tree": np.array([255], np.uint8)}
    c = replace(c, witness=witness, upper=float(np.ldexp(claims.sum() * (1 + 1e-15), 2 * e)))
    assert verify(X, c) <= c.upper
    refused(X, changed(c, tau=np.array([tau * (1 - 1e-9)])), "not kept")


def test_the_sceptic_stays_alone_and_short():
    source = pathlib.Path(module.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source)
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module)
    assert imported == {"hashlib", "itertools", "fractions", "numpy", "nspca.errors"}
    prose = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            prose |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = [line for number, line in enumerate(source.splitlines(), 1) if line.strip() and number not in prose]
    assert len(lines) <= 200
    assert max(map(len, lines)) <= 140
