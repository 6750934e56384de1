"""The verifier on trees of supports: against brute force, honest ones and liars."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from nspca.checker import matrix as module
from nspca.checker import verify
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
    top,
    unit_matrix,
)


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
    """W, M (size, n, n) and U (size, n, 2) of random witnesses: the leading pairs of what W and M leave,
    noise, a column of zeros.
    """
    n = len(A)
    W, M, U = np.zeros((size, n, n)), np.zeros((size, n, n)), np.zeros((size, n, 2))
    for p in range(size):
        w, m = random_parts(rng, A, np.arange(n), rng.choice(["clip", "noise", "negative", "none"]))
        W[p], M[p] = 0 if w is None else w, 0 if m is None else m
        values, Q = np.linalg.eigh(A - (W[p] + W[p].T) / 2 - (M[p] + M[p].T) / 2)
        pairs = Q[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))
        U[p, :, : pairs.shape[1]] = pairs
        style = rng.integers(4)
        U[p] = [U[p], U[p] * [0, 1], rng.standard_normal((n, 2)) * np.sqrt(A.trace() / n), np.zeros((n, 2))][
            style
        ]
    return W, M, U


def leaf_proof(A, I, fixed, k, nonneg, W, M, U, tol, depth):
    """t, F and the cover of the inequality on the features I, of which the first belong to every support."""
    at = np.ix_(I, I)
    B, W, M, U = A[at], W[at], M[at], U[I]
    U = U[:, U.any(axis=0)]
    t = np.linalg.eigvalsh(B - (W + W.T) / 2 - (M + M.T) / 2 - U @ U.T)[-1:].sum()
    tau = np.max(W if nonneg else abs(W), initial=0.0)
    F, tree = Search(U, tau, heights(M, k, nonneg), k, nonneg, 0, tol, depth, fixed).run()
    return (t if len(I) == len(A) else max(t, 0.0)), F, tree


def certify_branches(data, k, nonneg, rng, chance=0.7, pool=2, tol=0.05, depth=5, forced=(), **recipe):
    """An honest certificate of form "branches" of a random tree, with or without a random witness at its
    leaves; and the leaves.
    """
    A, exponent = unit_matrix(data, **recipe)
    n, slack = len(A), SLACK * np.linalg.eigvalsh(A)[-1]
    codes, leaves = grown(rng, k, [*forced], [j for j in range(n) if j not in forced], chance)
    W, M, U = pool_of(rng, A, pool)
    use, claims, trees = rng.integers(-1, pool, len(leaves)), [], []
    for j, leaf in zip(use, leaves, strict=True):
        parts = (W[j], M[j], U[j]) if j >= 0 else (np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, 0)))
        t, F, tree = leaf_proof(A, members(leaf, k), len(leaf[0]), k, nonneg, *parts, tol, depth)
        claims.append((t + slack, F + (slack if j >= 0 else 0.0)))
        trees += tree
    witness = {
        "branch": np.array(codes),
        "use": use,
        "W": W,
        "M": M,
        "U": U,
        "claims": np.array(claims),
        "tree": np.array(trees, np.uint8),
    }
    upper = np.nextafter(
        np.ldexp(np.nextafter(max(0.0, *(t + F for t, F in claims)), np.inf), exponent), np.inf
    )
    more = {"witness": witness, "forced": tuple(forced)}
    c = Stand("branches", k, nonneg, data.shape, digest_of(data), exponent, float(upper), **more, **recipe)
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
@pytest.mark.parametrize("trials", [3, pytest.param(12, marks=pytest.mark.long)])
def test_branches_are_never_below_brute_force(name, nonneg, trials):
    rng = np.random.default_rng(len(name) + 1000 * nonneg)
    for trial in range(trials):
        X = drawn(name, rng, [-150, 0, 0, 150])
        n = X.shape[1]
        source, center = ["data", "covariance"][(trial + nonneg) % 2], bool(rng.random() < 0.7)
        if source == "covariance":
            X = as_covariance(X, rng)
        A, exponent = unit_matrix(X, source, center)
        k = [1, n, int(rng.integers(1, n + 1))][trial % 3]
        pool = int(rng.integers(0, 3))
        c, leaves = certify_branches(
            X, k, nonneg, rng, rng.choice([0.0, 0.5, 0.8]), pool, source=source, center=center
        )
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
        assert {frozenset(fixed) for fixed, _ in leaves if len(fixed) == k} == set(
            map(frozenset, itertools.combinations(range(6), k))
        )
        best = brute(A, k, False)
        assert best <= np.ldexp(verify(X, c), -exponent) <= best * (1 + 1e-6)
        assert verify(X, replace(c, nonneg=True)) == verify(X, c)


@pytest.mark.parametrize("nonneg", [True, False])
def test_fixed_features_count_and_no_others(nonneg):
    """A leaf's F, proved by a deep cover, is the optimum of UU' + tau 11' over its own supports: those with
    its fixed features.
    """
    A = 1e-3 * np.eye(6)  # so t = 1e-3 will do, whatever UU' + tau 11' takes
    rng = np.random.default_rng(4)
    for trial in range(8):
        k, tau = 3, 0.01 if trial % 2 else 0.0  # two dimensions either way
        size = (
            0.02 if trial < 4 else 2.0
        )  # of the features that are fixed, which would be chosen last or first
        U = (
            np.column_stack([0.3 + rng.random((6, 2 - trial % 2)), np.zeros(6)])
            * np.array([[size, size, 1, -1, 1, 1]]).T
        )
        W = np.full((6, 6), tau)
        both = ([1, 0], [2, 3, 4, 5]), ([1], [2, 3, 4, 5]), ([], [0, 2, 3, 4, 5])
        leaves = both if trial % 4 < 2 else (([0], [1, 2, 3, 4, 5]), ([], [1, 2, 3, 4, 5]))
        claims, exact, trees = [], [], []
        for leaf in leaves:
            fixed, I = len(leaf[0]), members(leaf, k)
            F, tree = Search(
                U[I][:, U[I].any(axis=0)], tau, np.zeros(len(I)), k, nonneg, 0, 1e-4, 24, fixed
            ).run()
            C = U[I] @ U[I].T
            sets = [[*range(fixed), *s] for s in itertools.combinations(range(fixed, len(I)), k - fixed)]
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
        c = Stand(
            "branches", k, nonneg, A.shape, digest_of(A), int(np.frexp(1e-3)[1]), 1e9, "covariance", witness=w
        )
        scale = np.ldexp(1.0, -c.exponent)  # the certificate is in unit scale, as the numbers above are not
        w = (
            c.witness
            | {name: c.witness[name] * scale for name in ("W", "claims")}
            | {"U": c.witness["U"] * np.sqrt(scale)}
        )
        assert verify(A, replace(c, witness=w)) == pytest.approx(max(t + F for t, F in claims), rel=1e-12)
        for at, value in enumerate(exact):
            assert value * (1 - 1e-12) <= claims[at][1] <= value * (1 + 2e-3)
            low = w["claims"].copy()
            low[at, 1] = value * scale * (1 - 1e-7)
            refused(A, replace(c, witness=w | {"claims": low}), "cone .* F =")


@pytest.mark.parametrize("nonneg", [True, False])
def test_rows_that_count_are_not_filtered_out(nonneg):
    """One cone, sqrt(tau) in every row, so the h_i alone decide who is among the k: the fixed ones, large or
    small, and the best others.
    """
    A, k, tau = np.diag([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]), 4, 0.125
    exponent = int(np.frexp(0.5)[1])
    w = {"branch": np.array([0, 1, -1, -1, -1]), "use": np.array([0, -1, -1]), "tree": np.array([255])}
    w |= {"W": np.full((1, 6, 6), tau), "U": np.zeros((1, 6, 0))}
    for h in list(itertools.permutations([0.0, 0.0625, 0.125, 0.25, 0.375, 0.5]))[::7]:
        M, F = np.diag(h), k * tau + top(np.array(h), k, 2)
        for factor in (1 + 1e-9, 1 - 1e-9):
            witness = w | {"M": M[None], "claims": np.array([[0.6, F * factor], [0.6, 10.0], [0.6, 10.0]])}
            c = Stand(
                "branches", k, nonneg, A.shape, digest_of(A), exponent, 100.0, "covariance", witness=witness
            )
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
    codes, leaves, use = (
        [2, 4, -1, -1, -1],
        [([2, 4], [0, 1, 3, 5]), ([2], [0, 1, 3, 5]), ([], [0, 1, 3, 4, 5])],
        [0, -1, 1],
    )
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
        refused(
            X,
            changed(c, use=np.array(use)),
            "lambda_max|left over|too early|unknown code|cone|largest h_i sum",
        )
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
    assert verify(X, changed(c, **free, branch=np.array([2, -1, 4, -1, -1]), upper=1e6)) == np.ldexp(
        200.0, c.exponent
    )
    refused(X, changed(c, **free, branch=np.array([2, -1, 2, -1, -1]), upper=1e6), "feature 2 cannot")
    whole = {name: array[:1] for name, array in free.items() if array is not None}
    assert verify(X, changed(c, **whole, tree=None, branch=np.array([-1]), upper=1e6)) == np.ldexp(
        200.0, c.exponent
    )


def test_swapped_children_are_refused():
    """What is proved without a feature says nothing about the supports with it."""
    A = np.diag([4.0, 1.0, 1.0]) / 8
    A[0, 1] = A[1, 0] = 1 / 8
    with_0, without_0 = np.linalg.eigvalsh(A)[-1] * (1 + SLACK), (1 + SLACK) / 8
    pool = {"W": np.zeros((0, 3, 3)), "M": np.zeros((0, 3, 3)), "U": np.zeros((0, 3, 0))}
    w = pool | {
        "branch": np.array([0, -1, -1]),
        "use": np.array([-1, -1]),
        "claims": np.array([[with_0, 0], [without_0, 0]]),
    }
    exponent = int(np.frexp(0.5)[1])
    w["claims"] = np.ldexp(w["claims"], -exponent)
    for nonneg, k in itertools.product((True, False), (1, 2, 3)):
        c = Stand("branches", k, nonneg, A.shape, digest_of(A), exponent, 1.0, "covariance", witness=w)
        if k == 1:
            assert (
                verify(A, changed(c, claims=np.ldexp([[0.5 * (1 + SLACK), 0], [without_0, 0]], -exponent)))
                >= 0.5
            )
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
    refused(X, replace(c, k=(3,)), "k must be of whole numbers")


def test_branches_are_for_few_features(monkeypatch):
    X, c, _ = branching_example()
    monkeypatch.setattr(module, "DENSE_LIMIT", 6)
    assert verify(X, c) <= c.upper
    monkeypatch.setattr(module, "DENSE_LIMIT", 5)
    refused(X, c, "at most 5 features")


def test_zero_branches():
    X = np.zeros((3, 4))
    pool = {"W": np.zeros((1, 4, 4)), "M": np.zeros((1, 4, 4)), "U": np.zeros((1, 4, 2))}
    w = pool | {
        "branch": np.array([3, 0, -1, -1, -1]),
        "use": np.array([0, -1, 0]),
        "claims": np.zeros((3, 2)),
    }
    for nonneg, k in itertools.product((True, False), (2, 4)):
        c = Stand("branches", k, nonneg, X.shape, digest_of(X), 0, 0.0, witness=w)
        assert verify(X, c) == 0.0
        for at in np.ndindex(3, 2):
            low = np.zeros((3, 2))
            low[at] = -1e-9
            refused(X, changed(c, claims=low, upper=0.0), "lambda_max|F =")
    everything = {
        "branch": np.array([0, -1, 1, -1, 2, -1, 3, -1, -1]),
        "use": np.full(5, -1),
        "claims": np.zeros((5, 2)),
    }
    assert verify(X, changed(c, **everything, upper=0.0)) == 0.0  # its last leaf has no features
