"""The verifier on form `fixing`: against brute force, with honest certificates and with forged ones.

The maker here shares nothing with the package. It covers the sphere by its own search, bounds the sets with
and without each feature by sorting, and fixes features at random among those that it may fix.
"""

import functools
import itertools
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from nspca.checker import cover, verify
from nspca.checker import matrix as module
from nspca.checker.cover import TopSum, prove_rows
from nspca.errors import CertificateError
from tests.makers import (
    PROBLEMS,
    SLACK,
    Search,
    Stand,
    as_covariance,
    brute,
    changed,
    digest_of,
    drawn,
    heights,
    random_parts,
    refused,
    spiked,
    unit_matrix,
)
from tests.rowblocks import InMemory


class Recording(Search):
    """A search that remembers the generators of its leaves."""

    def run(self):
        self.leaves = []
        return super().run()

    def leaf(self, g):
        self.latest = g
        return super().leaf(g)

    def grow(self, g, depth):
        bound, codes = super().grow(g, depth)
        if codes == [255]:
            self.leaves.append(g / np.linalg.norm(g, axis=1, keepdims=True))
        return bound, codes

    def bound_each(self, allowed):
        """The largest sum over sets of rows that `allowed` (rows -> list of sets' sums) selects, bounded."""
        if self.D == 0:
            return allowed(self.h)
        worst = 0.0
        for g in self.leaves:
            P, G = np.array([self.p(row) for row in g]), g @ g.T
            T = np.array(
                [[allowed(P[j] * P[l] + self.h * G[j, l]) for l in range(self.D)] for j in range(self.D)]
            )
            L = np.linalg.inv(np.linalg.cholesky(G))
            bounds = [np.linalg.eigvalsh(L @ T @ L.T)[-1]] + ([(T / G).max()] if (G > 0).all() else [])
            worst = max(worst, min(bounds))
        return worst


def with_row(terms, fixed, k, row):
    others = np.delete(terms[fixed:], row - fixed)
    return terms[:fixed].sum() + terms[row] + np.sort(others)[::-1][: k - fixed - 1].sum()


def without_row(terms, fixed, k, row):
    return terms[:fixed].sum() + np.sort(np.delete(terms[fixed:], row - fixed))[::-1][: k - fixed].sum()


class Maker:
    """An honest certificate of a random tree with random stages."""

    def __init__(
        self,
        data,
        k,
        nonneg,
        rng,
        level,
        pool=2,
        forced=(),
        kept=1.0,
        grow=0.7,
        depth=4,
        of_features=False,
        **recipe,
    ):
        self.A, self.exponent = unit_matrix(data, **recipe)
        self.n, self.k, self.nonneg, self.rng = len(self.A), k, nonneg, rng
        self.level, self.grow_chance, self.depth = level, grow, depth
        self.slack = SLACK * max(np.linalg.eigvalsh(self.A)[-1], 1e-270)
        self.pool = [self.witness(kept) for _ in range(pool)]
        self.branch, self.stages, self.fixed, self.features = [], [], [], []
        self.use, self.claims, self.tau, self.tree = [], [], [], []
        self.bound, self.fixings, self.leaves, self.forced = level, [], [], forced
        self.claims_of_features = np.full((2, self.n), level) if of_features else None
        self.node(list(forced), [j for j in range(self.n) if j not in forced])
        witness = {
            "level": np.array([level]),
            "branch": np.array(self.branch, dtype=np.int64),
            "stages": np.array(self.stages, dtype=np.int64),
            "fixed": np.array(self.fixed, dtype=np.int64).reshape(-1, 2),
            "features": np.array(self.features, dtype=np.int64),
            "use": np.array(self.use, dtype=np.int64),
            "claims": np.array(self.claims, dtype=float).reshape(-1, 2),
            "tau": np.array(self.tau, dtype=float),
            "tree": np.array(self.tree, dtype=np.uint8),
            "sizes": np.array(
                [(len(R), U.shape[1], M is not None) for R, _, M, U in self.pool], dtype=np.int64
            ),
            "rows": joined([R for R, _, _, _ in self.pool], np.int64),
            "W": joined([W[np.triu_indices(len(R))] for R, W, _, _ in self.pool], np.float64),
            "M": joined([M.ravel() for _, _, M, _ in self.pool if M is not None], np.float64),
            "U": joined([U.ravel() for _, _, _, U in self.pool], np.float64),
        }
        witness["sizes"] = witness["sizes"].reshape(-1, 3)
        if of_features:
            witness |= dict(zip(("having", "lacking"), self.claims_of_features, strict=True))
        upper = np.nextafter(np.ldexp(np.nextafter(self.bound, np.inf), self.exponent), np.inf)
        more = {"witness": witness, "forced": tuple(forced)}
        self.certificate = Stand(
            "fixing", k, nonneg, data.shape, digest_of(data), self.exponent, float(upper), **more, **recipe
        )

    def witness(self, kept):
        rng = self.rng
        R = np.flatnonzero(rng.random(self.n) <= kept)
        W, M = random_parts(rng, self.A, R, rng.choice(["clip", "noise", "negative", "none"]))
        W = np.zeros((len(R), len(R))) if W is None else (W + W.T) / 2
        values, Q = np.linalg.eigh(self.A[np.ix_(R, R)] - W - (0 if M is None else (M + M.T) / 2))
        d = int(rng.integers(0, 3))
        U = Q[:, ::-1][:, :d] * np.sqrt(np.maximum(values[::-1][:d], 0))
        W, M, U = (None if part is None else part.astype(np.float32).astype(float) for part in (W, M, U))
        return R, W, M, U

    def put_use(self, chosen, t, F, tau, tree):
        self.use.append(chosen)
        self.claims.append((t, F))
        self.tau.append(tau)
        self.tree += tree

    def halves(self, I, free, chosen):
        """t, tau, kept and outside features of a use at a node, and its search, run."""
        everything = np.array([*sorted(I), *free], dtype=int)
        if chosen < 0:
            kept, W, M, U = everything, np.zeros((len(everything),) * 2), None, np.zeros((len(everything), 0))
        else:
            R, W, M, U = self.pool[chosen]
            kept = np.array([*sorted(I), *(j for j in free if j in R)], dtype=int)
            at = np.searchsorted(R, kept)
            W, M, U = W[np.ix_(at, at)], None if M is None else M[np.ix_(at, at)], U[at]
        outside = np.setdiff1d(everything, kept)
        B = self.A[np.ix_(kept, kept)] - W - (0 if M is None else (M + M.T) / 2) - U @ U.T
        t = np.linalg.eigvalsh(B)[-1:].sum() + self.slack
        size = (lambda E: E) if self.nonneg else np.abs
        tau = max(0.0, size(W).max(initial=0.0))
        if outside.size:
            live = np.concatenate([kept, outside])
            tau = max(tau, size(self.A[np.ix_(outside, live)]).max()) + self.slack
            t = max(t, 0.0)
        h = np.zeros(len(kept)) if M is None else heights(M, self.k, self.nonneg)
        extra = min(self.k, outside.size)
        search = Recording(U, tau, h, self.k, self.nonneg, extra, 0.05, self.depth, len(I))
        return t, tau, kept, outside, search, search.run()

    def choices(self, I):
        """Numbers of the witnesses whose rows have all of I; -1 for none."""
        return [-1] + [i for i, (R, *_) in enumerate(self.pool) if np.isin(I, R).all()]

    def stage(self, I, free):
        """Fix some features of a node, where something can be fixed; returns the node after that."""
        chosen = int(self.rng.choice(self.choices(I)))
        t, tau, kept, outside, search, (_, tree) = self.halves(I, free, chosen)
        F = np.nextafter(self.level - t, -np.inf)
        most, out, in_ = F - self.slack, [], []
        for j in free:
            row = int(np.flatnonzero(kept == j)[0]) if j in kept else len(kept)
            has = search.bound_each(lambda terms, r=row: with_row(terms, len(I), self.k, r))
            lacks = np.inf
            if j in kept:
                lacks = search.bound_each(lambda terms, r=row: without_row(terms, len(I), self.k, r))
            if has <= most and self.rng.random() < 0.8:
                out.append(j)
            elif lacks <= most and self.rng.random() < 0.8:
                in_.append(j)
        if not out and not in_:
            return None
        self.fixed.append((len(out), len(in_)))
        self.features += [*out, *in_]
        self.fixings.append((list(I), list(free), out, in_))
        self.put_use(chosen, t, F, tau if outside.size else 0.0, tree)
        return self.settled(sorted([*I, *in_]), [j for j in free if j not in out and j not in in_])

    def claim(self, I, free, bound):
        """Raise the claims of all features to what this leaf proves of them."""
        having, lacking = self.claims_of_features
        for j in range(self.n):
            if j in I or j in free:
                having[j] = max(having[j], bound)
            if j not in I or j in self.forced:
                lacking[j] = max(lacking[j], bound)

    def settled(self, I, free):
        return I, free if len(I) < self.k else []

    def node(self, I, free):
        I, free = self.settled(I, free)
        place = len(self.branch)
        self.branch.append(None)
        self.stages.append(0)
        while free and self.rng.random() < 0.7:
            after = self.stage(I, free)
            if after is None:
                break
            I, free = after
            self.stages[place] += 1
        if len(I) > self.k or not (I or free):
            self.branch[place] = -2
            return
        if not free or self.rng.random() >= self.grow_chance:
            self.branch[place] = -1
            chosen = int(self.rng.choice(self.choices(I)))
            t, tau, _, outside, _, (F, tree) = self.halves(I, free, chosen)
            F = F + self.slack
            self.put_use(chosen, t, F, tau if outside.size else 0.0, tree)
            self.bound = max(self.bound, t + F)
            self.leaves.append((list(I), list(free), t + F))
            if self.claims_of_features is not None:
                self.claim(I, free, float(np.nextafter(t + F, np.inf)))
            return
        j = int(self.rng.choice(free))
        self.branch[place] = j
        rest = [i for i in free if i != j]
        self.node(sorted([*I, j]), rest)
        self.node(I, rest)


def joined(parts, dtype):
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def best_of(A, k, nonneg, I, free):
    """The optimum over the sets that have all of I and otherwise free features, at most k in all."""
    best = -np.inf
    for r in range(min(k - len(I), len(free)) + 1):
        for others in itertools.combinations(free, r):
            S = [*I, *others]
            best = max(best, brute(A[np.ix_(S, S)], len(S), nonneg) if S else 0.0)
    return best


def made(name, nonneg, trial, rng, **more):
    """Data of a kind, and an honest certificate about them."""
    X = drawn(name, rng, [-150, 0, 0, 150])
    n, source = X.shape[1], ["data", "covariance"][(trial + nonneg) % 2]
    X = as_covariance(X, rng) if source == "covariance" else X
    recipe = {"source": source, "center": bool(rng.random() < 0.7)}
    A, _ = unit_matrix(X, **recipe)
    k = [1, n, int(rng.integers(1, n + 1)), int(rng.integers(1, n + 1))][trial % 4]
    forced = tuple(np.flatnonzero(rng.random(n) < 0.3).tolist()[:k]) if trial % 3 == 0 else ()
    best = best_of(A, k, nonneg, list(forced), [j for j in range(n) if j not in forced])
    level = float(max(0.0, best) * rng.choice([0.0, 0.7, 0.95, 1.0, 1.0 + 1e-9, 1.2]))
    maker = Maker(
        X, k, nonneg, rng, level, int(rng.integers(0, 3)), forced, rng.choice([0.6, 1.0]), **more, **recipe
    )
    return X, A, k, best, maker


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("trials", [3, pytest.param(40, marks=pytest.mark.long)])
def test_what_is_proved_is_never_below_brute_force(name, nonneg, trials):
    rng = np.random.default_rng(len(name) + 1000 * nonneg + trials)
    for trial in range(trials):
        X, A, k, best, maker = made(name, nonneg, trial, rng)
        c = maker.certificate
        proved = verify(X, c)
        assert best * (1 - 1e-12) <= np.ldexp(proved, -maker.exponent)
        assert proved <= c.upper
        assert np.ldexp(proved, -maker.exponent) == pytest.approx(maker.bound, rel=1e-12)
        for I, free, out, in_ in maker.fixings:  # the maker's own fixings hold, so the test tests something
            for j in out:
                rest = [i for i in free if i != j]
                assert best_of(A, k, nonneg, sorted([*I, j]), rest) <= maker.level * (1 + 1e-9)
            for j in in_:
                assert best_of(A, k, nonneg, I, [i for i in free if i != j]) <= maker.level * (1 + 1e-9)


def best_of_each(A, k, nonneg, forced):
    """The optimum over the answers that may use each feature, and over those without it; (2, n)."""
    n = len(A)
    free, found = [j for j in range(n) if j not in forced], np.full((2, n), -np.inf)
    for j in range(n):
        if j in forced or len(forced) < k:
            found[0, j] = best_of(A, k, nonneg, sorted({*forced, j}), [i for i in free if i != j])
        for r in range(min(k - len(forced), len(free)) + 1):
            for others in itertools.combinations(free, r):
                S = [i for i in (*forced, *others) if i != j]
                found[1, j] = max(found[1, j], brute(A[np.ix_(S, S)], len(S), nonneg) if S else 0.0)
    return found


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("trials", [2, pytest.param(40, marks=pytest.mark.long)])
def test_claims_about_single_features_are_proved_and_lies_are_refused(name, nonneg, trials):
    rng = np.random.default_rng(len(name) + 1000 * nonneg + trials)
    for trial in range(trials):
        X, A, k, _, maker = made(name, nonneg, trial, rng, of_features=True)
        c, truth = maker.certificate, best_of_each(A, k, nonneg, maker.forced)
        assert verify(X, c) <= c.upper
        for claim, best, exact in zip(("having", "lacking"), truth, maker.claims_of_features, strict=True):
            assert (exact >= best - 1e-12 * A.trace()).all()
            liable = np.flatnonzero(best > 1e-9 * A.trace())
            for j in rng.permutation(liable)[:2]:
                lie = exact.copy()
                lie[j] = best[j] * (1 - 1e-6)
                refused(X, changed(c, **{claim: lie}), "claim")
            if maker.level > 0:  # below the level nothing is proved
                refused(X, changed(c, **{claim: exact * 0 - 1.0}), "claimed to stay below")


def test_claims_about_single_features_below_reduced_nodes_count_eliminated_features():
    """Feature 0 is eliminated, so every set of the leaf has it; it is forced, so an answer may lack it."""
    A = np.diag([0.5, 0.25, 0.25, 0.125])
    c = by_squares(A, 2, True, (0,), 0.6, [], 0, source="covariance")
    more = {"branch": np.array([-4, -1]), "stages": np.zeros(2, dtype=np.int64), "use": np.array([-1])}
    more |= {"claims": np.array([[0.7, 1e-9]]), "tau": np.zeros(1)}
    high, low = np.full(4, 0.8), np.array([0.6, 0.8, 0.8, 0.8])
    c = replace(c, upper=1.0)
    assert verify(A, changed(c, **more)) <= c.upper
    assert verify(A, changed(c, **more, having=high, lacking=high)) <= c.upper
    refused(A, changed(c, **more, having=low, lacking=high), "have feature 0")
    refused(A, changed(c, **more, having=high, lacking=low), "lack feature 0")


def by_squares(X, k, nonneg, forced, level, branch, exponent, **recipe):
    """A certificate that is nothing but leaves by squares, two for each feature branched on."""
    none, real = np.zeros(0, dtype=np.int64), np.zeros(0)
    witness = {"level": np.array([level]), "branch": np.array([*branch, *[-3] * (len(branch) + 1)])}
    witness |= {"stages": np.zeros(2 * len(branch) + 1, dtype=np.int64), "fixed": none.reshape(0, 2)}
    witness |= dict.fromkeys(("features", "use", "rows"), none) | {"sizes": none.reshape(0, 3)}
    witness |= dict.fromkeys(("tau", "W", "M", "U"), real)
    witness |= {"claims": real.reshape(0, 2), "tree": np.zeros(0, dtype=np.uint8)}
    upper = float(np.nextafter(np.ldexp(level, exponent), np.inf))
    more = {"witness": witness, "forced": forced}
    return Stand("fixing", k, nonneg, X.shape, digest_of(X), exponent, upper, **more, **recipe)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("trials", [3, pytest.param(100, marks=pytest.mark.long)])
def test_squares_are_accepted_at_no_level_below_brute_force(name, nonneg, trials):
    """Levels from far below the optimum to where everybody accepts, with and without a branch."""
    rng = np.random.default_rng(len(name) + 500 * nonneg + trials)
    accepted = positive = 0
    for trial in range(trials):
        X = drawn(name, rng, [-150, 0, 0, 150])
        n, source = X.shape[1], ["data", "covariance"][trial % 2]
        X = as_covariance(X, rng) if source == "covariance" else X
        recipe = {"source": source, "center": bool(rng.random() < 0.7)}
        A, exponent = unit_matrix(X, **recipe)
        k = int(rng.integers(1, n + 1))
        forced = tuple(np.flatnonzero(rng.random(n) < 0.3).tolist()[:k]) if trial % 3 == 0 else ()
        free = [j for j in range(n) if j not in forced]
        best = best_of(A, k, nonneg, list(forced), free)
        positive += best > 0
        for factor in (0.3, 0.9, 1 - 1e-6, 1 - 1e-10, 1 + 1e-9, 1.001, 1.1, 2.0, 20.0):
            branch = [int(rng.choice(free))] if free and len(forced) < k and rng.random() < 0.5 else []
            level = float(max(best, 0.0) * factor)
            c = by_squares(X, k, nonneg, forced, level, branch, exponent, **recipe)
            try:
                verify(X, c)
            except CertificateError:
                continue
            accepted += 1
            assert level >= best * (1 - 1e-12)
    assert accepted >= positive


@pytest.mark.parametrize("branch", [[-3], [-4, -3], [-5, -3]])
def test_a_level_that_is_an_eigenvalue_of_the_features_in_is_refused(branch):
    A = np.diag([0.5, 0.25, 0.25, 0.125])
    c = by_squares(A, 2, True, (0,), 0.5, [], 0, source="covariance")
    more = {"branch": np.array(branch), "stages": np.zeros(len(branch), dtype=np.int64)}
    if -5 in branch:
        more |= {"use": np.array([-1]), "claims": np.array([[0.6, 0.0]]), "tau": np.zeros(1)}
    refused(A, changed(c, **more), "not proved positive definite on the features that are in")


@functools.cache
def a_certificate(seed=0, fixings=3, **more):
    """A certificate with at least so many stages, branches and both kinds of fixing; tests only read it."""
    for trial in range(seed, seed + 400):
        rng = np.random.default_rng(trial)
        X = spiked(trial, 12, 7) * np.array([8, 6, 4, 3, 2, 1, 0.5])
        A, _ = unit_matrix(X)
        level = brute(A, 3, True) * 1.02
        maker = Maker(X, 3, True, rng, float(level), 2, grow=0.9, **more)
        outs = sum(len(out) for _, _, out, _ in maker.fixings)
        ins = sum(len(in_) for _, _, _, in_ in maker.fixings)
        if len(maker.fixings) >= fixings and outs > 2 and ins > 1 and max(maker.branch) >= 0:
            return X, maker
    raise AssertionError("no such certificate was found")


def test_sparse_data_and_blocks_of_rows_are_the_same_matrix(monkeypatch):
    monkeypatch.setattr(module, "DENSE_LIMIT", 5)  # below n = 6: entries are not held at the root
    X = spiked(3, 20, 6) * np.array([9, 6, 4, 2, 1, 0.5])
    S, (A, _) = sp.csr_array(X), unit_matrix(X)
    level, outside = brute(A, 2, True) * 1.01, 0
    for seed in range(6):
        maker = Maker(X, 2, True, np.random.default_rng(seed), level, 2, kept=0.7)
        c = replace(maker.certificate, digest=digest_of(S))
        try:
            bound = verify(S, c)
        except CertificateError as error:
            assert "at most 5 rows" in str(error)  # a use without a witness at the root keeps all six
            continue
        outside += bool(maker.tau[0])
        assert bound == pytest.approx(verify(X, maker.certificate), rel=1e-12)
        assert verify(InMemory(S, 7), c) == pytest.approx(bound, rel=1e-12)
    assert outside


def test_single_precision_is_read_as_the_same_numbers():
    X, maker = a_certificate()  # its weights are numbers of single precision
    c = maker.certificate
    single = {name: c.witness[name].astype(np.float32) for name in ("W", "M", "U")}
    assert all((array == c.witness[name]).all() for name, array in single.items())
    assert verify(X, changed(c, **single)) == verify(X, c)


FORGERIES = {
    "a level below t + F": ({"level": lambda a: a * 0.9}, "above the level"),
    "a negative level": ({"level": lambda a: -a}, "level must be at least 0"),
    "a level that is no number": ({"level": lambda a: a * np.nan}, "must be finite"),
    "a stage too many at a node": ({"stages": lambda a: first_up(a)}, "."),
    "a stage left out": ({"stages": lambda a: first_down(a)}, "."),
    "a child left out": ({"branch": lambda a: a[:-1], "stages": lambda a: a[:-1]}, "ends too early"),
    "a node too many": (
        {"branch": lambda a: np.append(a, -2), "stages": lambda a: np.append(a, 0)},
        "left over",
    ),
    "a leaf called empty": ({"branch": lambda a: np.where(a == -1, -2, a)}, "."),
    "an unknown code": ({"branch": lambda a: np.where(a == -1, -99, a)}, "cannot be branched on"),
    "leaves said to be reduced nodes": ({"branch": lambda a: np.where(a == -1, -4, a)}, "."),
    "leaves said to be bounds above reduced nodes": ({"branch": lambda a: np.where(a == -1, -5, a)}, "."),
    "leaves said to be by squares": (
        {"branch": lambda a: np.where(a == -1, -3, a)},
        "squares do not prove|could not be proved",
    ),
    "a feature that is not there": ({"features": lambda a: a + 7}, "must fix one or more features"),
    "a feature twice": ({"features": lambda a: a * 0}, "must fix one or more features"),
    "a use of a witness that is not there": ({"use": lambda a: a + 5}, "its numbers go from -1"),
    "a use too many": (
        {
            "use": lambda a: np.append(a, -1),
            "claims": lambda a: np.vstack([a, a[-1:]]),
            "tau": lambda a: np.append(a, 0.0),
        },
        "left over",
    ),
    "a spectral half that is too small": ({"claims": lambda a: a - [[1e-3 * abs(a).max(), 0.0]]}, "."),
    "codes left over": ({"tree": lambda a: np.append(a, 255).astype(np.uint8)}, "left over"),
    "codes missing": ({"tree": lambda a: a[:-1]}, "."),
    "sizes beyond the rows": ({"sizes": lambda a: a + np.array([[1, 0, 0]])}, "."),
    "rows that fall": ({"rows": lambda a: a[::-1].copy()}, "must rise"),
    "an array missing": ({"tau": lambda a: None}, "it is missing"),
    "whole numbers as weights": ({"W": lambda a: np.zeros(a.shape, int)}, "single or double precision"),
    "weights that are no numbers": ({"U": lambda a: a * np.inf}, "."),
}


def first_up(a):
    a = a.copy()
    a[0] += 1
    return a


def first_down(a):
    a = a.copy()
    a[np.flatnonzero(a)[0]] -= 1
    return a


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_part_is_refused(forgery):
    changes, reason = FORGERIES[forgery]
    X, maker = a_certificate(depth=3)
    c = maker.certificate
    assert verify(X, c) <= c.upper
    refused(X, changed(c, **{name: change(c.witness[name]) for name, change in changes.items()}), reason)


def test_a_stage_cannot_fix_more_than_its_cover_proves():
    """A free feature added to any stage is refused, or the certificate still proves nothing false."""
    tried = refusals = 0
    for seed in range(6):
        X, maker = a_certificate(seed=10 * seed)
        c, best, start = maker.certificate, brute(maker.A, 3, True), 0
        for number, (_, free, out, in_) in enumerate(maker.fixings):
            end = start + len(out) + len(in_)
            for j, side in itertools.product(sorted({*free} - {*out, *in_}), (0, 1)):
                both = [sorted([*out, j]), in_] if side == 0 else [out, sorted([*in_, j])]
                before, after = c.witness["features"][:start], c.witness["features"][end:]
                features = np.concatenate([before, *both, after]).astype(int)
                fixed = c.witness["fixed"].copy()
                fixed[number, side] += 1
                tried += 1
                try:
                    bound = verify(X, changed(c, features=features, fixed=fixed))
                except CertificateError:
                    refusals += 1
                    continue
                assert np.ldexp(bound, -maker.exponent) >= best * (1 - 1e-12)
            start = end
    assert tried > 20 and refusals > tried / 2


def mutated(c, rng):
    """The certificate with one or two of its numbers changed."""
    witness = {name: array.copy() for name, array in c.witness.items()}
    for _ in range(int(rng.integers(1, 3))):
        name = str(rng.choice(sorted(witness)))
        array = witness[name]
        if not array.size:
            continue
        at = tuple(int(rng.integers(size)) for size in array.shape)
        if array.dtype.kind == "f":
            array[at] *= rng.choice([0.0, 0.5, 0.99, 1.01, 2.0, -1.0])
        elif name == "tree":
            array[at] = rng.choice([255, 0, 1, 2, 3, 5])
        else:
            array[at] += rng.choice([-2, -1, 1, 2])
    return replace(c, witness=witness, upper=float(c.upper * rng.choice([0.3, 0.8, 1.0, 1.01])))


@pytest.mark.parametrize("count", [360, pytest.param(30000, marks=pytest.mark.long)])
def test_a_certificate_changed_at_random_proves_nothing_false(count):
    accepted, rng = 0, np.random.default_rng(5)
    for trial in range(count // 30):
        X, _, _, best, maker = made(
            list(PROBLEMS)[trial % len(PROBLEMS)],
            bool(trial % 2),
            trial,
            np.random.default_rng(trial),
            depth=3,
        )
        for _ in range(30):
            try:
                bound = verify(X, mutated(maker.certificate, rng))
            except CertificateError:
                continue
            accepted += 1
            assert np.ldexp(bound, -maker.exponent) >= best * (1 - 1e-12)
    assert accepted


def largest_sum(h, k, inside, others):
    """Return the largest sum of h over at most k rows: all of `inside`, and any of `others`."""
    most = range(min(k - len(inside), len(others)) + 1)
    return max(h[[*inside, *some]].sum() for count in most for some in itertools.combinations(others, count))


def test_a_row_is_fixed_just_above_the_largest_sum_with_it_or_without_it():
    """Without V the largest sums are those of h, which brute force over sets of rows gives for each row."""
    rng, tried = np.random.default_rng(8), 0
    for _ in range(40):
        n = int(rng.integers(1, 7))
        k = int(rng.integers(1, n + 1))
        fixed, h = int(rng.integers(0, k + 1)), rng.choice([-0.5, 0.1, 0.2, 0.4, 0.7], n)
        h[:fixed] = abs(h[:fixed])
        f = TopSum(np.zeros((n, 0)), 0, h, k, fixed, True)
        for j, name in itertools.product(range(n), ("having", "lacking")):
            inside, others = [*range(fixed)], [*range(fixed, n)]
            if name == "having" and j >= fixed:
                if fixed == k:
                    continue  # no set has this row
                inside, others = [*inside, j], [i for i in others if i != j]
            elif name == "lacking":
                inside, others = ([i for i in part if i != j] for part in (inside, others))
            room, alike = k - (name == "lacking" and j < fixed), [j]
            if j >= fixed:  # rows of one kind are fixed together
                alike = fixed + np.flatnonzero(h[fixed:] == h[j])
            best = largest_sum(h, room, inside, others)
            for claim, is_true in ((best + 1e-9, True), (best - 1e-9, False)):
                masks = {one: np.zeros(n, dtype=bool) for one in ("having", "lacking")}
                masks[name][alike] = True
                tried += 1
                with nullcontext() if is_true else pytest.raises(CertificateError, match="sets that"):
                    prove_rows(f, claim, masks["having"], masks["lacking"], np.zeros(0, np.uint8))
    assert tried > 300


def test_equal_rows_that_are_left_out_change_no_verdict(monkeypatch):
    """Rows have few values and any masks, so that kinds have many rows, fixed in, fixed out or neither."""
    rng, few, tried = np.random.default_rng(4), cover.few_of_a_kind, 0
    for _ in range(120):
        n, D, k = (int(rng.integers(*ends)) for ends in ((4, 9), (0, 3), (1, 4)))
        fixed, at, kind = int(rng.integers(0, k)), np.arange(n), rng.integers(0, 2, n)
        V, h = rng.choice([0.3, 0.6], (2, D))[kind], rng.choice([0.1, 0.4], 2)[kind]
        f, codes = TopSum(V, D, h, k, fixed, True), np.full(2**D if D else 0, 255, np.uint8)
        fate = rng.choice(3, n, p=rng.dirichlet([1, 1, 1]))
        out, in_ = (fate == 1) & (at >= fixed), fate == 2
        if not (out | in_).any():
            continue
        low, high = -f.mass, 2 * f.mass

        def is_proved(F, f=f, out=out, in_=in_, codes=codes):
            try:
                return not cover.prove_rows(f, F, out, in_, codes).size
            except CertificateError:
                return False

        with monkeypatch.context() as patch:
            patch.setattr(cover, "few_of_a_kind", lambda *whole: whole)
            for _ in range(20):
                middle = (low + high) / 2
                low, high = (low, middle) if is_proved(middle) else (middle, high)
        room = 1e-4 * f.mass
        tried += few(f, out, in_)[0].h.size < n
        assert is_proved(high + room) and not is_proved(low - room)
    assert tried > 20
