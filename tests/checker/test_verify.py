"""The verifier against brute force, honest witnesses and liars. What makes a certificate here is in
`tests.makers`.
"""

import itertools
import os
import pathlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.checker import blocks as of_rows
from nspca.checker import matrix as module
from nspca.checker import verify
from nspca.errors import CertificateError
from tests.makers import (
    PROBLEMS,
    SLACK,
    Stand,
    as_covariance,
    brute,
    brute_joint,
    certify,
    changed,
    digest_of,
    drawn,
    random_parts,
    refused,
    spiked,
    top,
    unit_matrix,
)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("trials", [3, pytest.param(24, marks=pytest.mark.long)])
def test_never_below_brute_force(name, nonneg, trials, monkeypatch):
    rng = np.random.default_rng(len(name) + 100 * nonneg)
    for trial in range(trials):
        X = drawn(name, rng, [-150, -20, 0, 0, 3, 150])
        n = X.shape[1]
        in_passes(monkeypatch, int(rng.choice([0, 1, 20])), few=bool(rng.random() < 0.3))
        source, center = rng.choice(["data", "data", "covariance"]), bool(rng.random() < 0.7)
        if source == "covariance":
            X = as_covariance(X, rng)
        A, exponent = unit_matrix(X, source, center)
        k = [1, n, int(rng.integers(1, n + 1))][trial % 3]
        rows = None if rng.random() < 0.6 else rng.permutation(n)[: rng.integers(0, n + 1)]
        W, M = random_parts(
            rng, A, np.arange(n) if rows is None else rows, rng.choice(["clip", "noise", "negative", "none"])
        )
        d = min(int(rng.integers(0, 3)), n if rows is None else len(rows))
        c = certify(X, k, nonneg, d, W, M, rows, tol=0.05, depth=5, source=str(source), center=center)
        value, bound = brute(A, k, nonneg), np.ldexp(verify(X, c), -exponent)
        assert value * (1 - 1e-12) <= bound
        assert verify(X, c) <= c.upper
        upper = np.sort(A.diagonal())[::-1][:k].sum() * (1 + SLACK)
        simple = replace(c, form="diagonal", witness={}, upper=float(np.ldexp(upper, exponent)))
        assert value * (1 - 1e-12) <= np.ldexp(verify(X, simple), -exponent) <= upper


def in_passes(monkeypatch, part, few=False):
    """Read tables in passes, `part` numbers at a time; 0 holds them. With `few` A is never formed whole."""
    monkeypatch.undo()
    if part:
        monkeypatch.setattr(of_rows, "HELD", 0)
        monkeypatch.setattr(of_rows, "PART", part)
        monkeypatch.setattr(module, "SUMS", 5)
    if part and few:
        monkeypatch.setattr(module.OfData, "block", module.OfData._computed)


@pytest.mark.parametrize("nonneg", [True, False])
def test_deep_covers_come_close_to_the_optimum(nonneg):
    for seed in range(2):
        X = spiked(seed, 12, 7)
        c = certify(X, 3, nonneg, d=2, tol=1e-4, depth=24)
        F = c.witness["claims"][1]
        assert verify(X, c) <= c.upper
        # U is what is left after the shift: F is the exact optimum of UU' up to the search's tolerance
        exact = brute(c.witness["U"] @ c.witness["U"].T, 3, nonneg)
        assert exact * (1 - 1e-12) <= F <= exact * (1 + 1e-3)
        refused(X, changed(c, claims=np.array([c.witness["claims"][0], exact * (1 - 1e-7)])), "cone .* F =")


def test_returned_bound_is_the_smallest_float_above_the_claims():
    X = np.full((1, 1), 1.0)
    c = certify(X, 1, center=False, slack=0.0)
    c = changed(c, claims=np.array([0.25 + 2.0**-40, 2.0**-60]), tree=np.zeros(0, np.uint8))
    assert verify(X, replace(c, upper=2.0)) == 4 * np.nextafter(0.25 + 2.0**-40, 1)


@pytest.mark.parametrize("stored", ["sparse", "dense"])
def test_a_table_in_the_other_storage_is_named_as_the_reason(stored):
    X = np.random.default_rng(3).poisson(1.0, (20, 6)).astype(float)
    given, other = (sp.csr_array(X), X) if stored == "sparse" else (X, sp.csr_array(X))
    certificate = nspca.certify(nspca.Problem.from_data(given, 2))
    assert nspca.verify(given, certificate) <= certificate.upper
    with pytest.raises(CertificateError, match=f"about the {stored} table of these numbers"):
        nspca.verify(other, certificate)
    with pytest.raises(CertificateError, match="digests differ"):
        nspca.verify(other + other, certificate)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_sparse_and_dense_have_the_same_verdict(center, scale):
    rng = np.random.default_rng(5)
    X = rng.poisson(0.7, (9, 6)) * rng.integers(1, 50, 6) * 1.0
    S = sp.coo_array(X)
    S = sp.coo_array(
        (np.append(S.data, [2.0, -2.0]), (np.append(S.row, [1, 1]), np.append(S.col, [2, 2]))), X.shape
    )
    for rows in (None, np.array([4, 0, 2])):
        dense, sparse = (certify(data, 3, d=1, rows=rows, center=center, scale=scale) for data in (X, S))
        assert verify(X, dense) == verify(S, sparse)
        refused(X, sparse, "digest")
        bounds = [
            verify(data, replace(c, form="diagonal", witness={}, upper=1e300))
            for data, c in ((X, dense), (S, sparse))
        ]
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-13)  # sums in another order
        low = dense.witness["claims"] * (1 - 1e-5)
        refused(X, changed(dense, claims=low), "proved")
        refused(S, changed(sparse, claims=low), "proved")


def test_frames_and_lists_are_data_and_text_is_not():
    pandas = pytest.importorskip("pandas")
    X = spiked(1, 6, 4)
    c = certify(X, 2, d=1)
    assert (
        verify(pandas.DataFrame(X), c)
        == verify(X.tolist(), c)
        == verify(np.asfortranarray(X), c)
        == verify(X, c)
    )
    refused(pandas.DataFrame([["a", "b"] * 2] * 6), c, "cannot be read|real numbers")
    refused([[1, 2], [3]], c, "got lists of different lengths")
    refused({"a": [1, 2]}, c, r"must have shape \(6, 4\), got \(\)")
    refused([[10**400] * 4] * 6, c, "float64 holds exactly")
    refused([[2**1024 - 1] * 4] * 6, c, "float64 holds exactly")
    refused([[2**1023] * 4] * 6, c, "digests differ")
    refused(X[0], c, "shape")
    refused(X + 0j, c, "real numbers")


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("center, scale", [(True, False), (True, True), (False, False), (False, True)])
def test_a_table_read_in_passes_has_the_matrix_and_the_proof_of_one_that_is_held(
    nonneg, center, scale, monkeypatch, tmp_path
):
    """All features are left out but those of a core, so every entry of A is looked at."""
    X = spiked(3, 40, 12) + 7
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    A, _ = unit_matrix(X, center=center, scale=scale)
    size = np.sqrt(np.diag(A))
    c = certify(X, 3, nonneg, d=1, rows=[4, 1, 7], center=center, scale=scale)
    whole, bound = module.matrix_of(X, c), verify(X, c)
    for table, part in itertools.product((X, mapped, np.asfortranarray(X)), (1, 31)):
        in_passes(monkeypatch, part)
        for limit in (4000, 3):
            monkeypatch.setattr(module, "DENSE_LIMIT", limit)
            passes = module.matrix_of(table, c)
            assert passes.by_rows and passes.rows.held is None and not whole.by_rows
            assert np.allclose(passes.size, whole.size, rtol=1e-12)
            assert np.all(np.abs(A) <= np.outer(passes.size, passes.size) * (1 + 1e-12))
            error = passes.eps * np.outer(size, size) + 1e-15
            few = np.array([5, 0, 3])
            assert np.all(np.abs(passes.block(few, few) - A[np.ix_(few, few)]) <= error[np.ix_(few, few)])
            assert verify(table, c) == pytest.approx(bound, rel=1e-13)
            low = c.witness["tau"] * (1 - 1e-9)
            refused(table, changed(c, tau=low), "not kept")


@pytest.mark.parametrize("part", [0, 12])
def test_a_table_that_changes_while_it_is_read_is_refused(part, monkeypatch):
    """Each pass could bring another table: that of the digest first, and then one with a smaller bound."""
    X = spiked(5, 30, 6)
    c = certify(X, 3, d=1)
    low = changed(c, claims=c.witness["claims"] / 4, upper=c.upper / 4)
    in_passes(monkeypatch, part)
    plain, blocks = of_rows.floats, []
    monkeypatch.setattr(of_rows, "floats", lambda B: (blocks.append(len(B)), plain(B))[1])
    verify(X, c)
    total = len(blocks)
    assert total > 4 if part else total == 3
    for first in range(total // 4 if part else 1, total):
        seen = itertools.count()
        changing = lambda B, seen=seen, first=first: plain(B) / (2 if next(seen) >= first else 1)  # noqa: E731
        monkeypatch.setattr(of_rows, "floats", changing)
        for claimed in (c, low):
            refused(X, claimed, "not what it was when it was read first|digests differ")


def test_small_side_and_dense_route_agree(monkeypatch):
    for seed, d in itertools.product(range(2), range(4)):
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
            assert verify(
                A, changed(c, **w | {"claims": np.array([0.5, 0.5]) + 1e-9}, upper=1.0)
            ) == pytest.approx(0.5, rel=1e-7)


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
        ({"k": 0}, "k must"),
        ({"k": 5}, "k must"),
        ({"k": -1}, "k must"),
        ({"k": 2.0}, "k must be of whole numbers"),
        ({"k": (2, 2)}, "k must be of whole numbers"),
        ({"upper": float("nan")}, "claimed"),
        ({"upper": float("inf")}, "claimed"),
        ({"upper": None}, "upper must be a number"),
        ({"k": "2"}, "k must be of whole numbers"),
        ({"shape": None}, "cannot be read"),
        ({"witness": None}, "cannot be read"),
        ({"upper": -1.0}, "claimed"),
        ({"witness": w | {"magic": np.ones(1)}}, "magic"),
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
    refused(X, replace(c, form=["diagonal"]), "cannot be read")
    refused(X, None, "cannot be read")
    refused(X, changed(c, U=np.array(1.0)), "witness U")


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


@pytest.mark.parametrize("held", [0, 2**25])
@pytest.mark.parametrize("scale", [False, True])
def test_a_column_is_the_same_whatever_is_asked_with_it(scale, held, monkeypatch):
    """Centring what is nearly constant: a mean rounded otherwise would be another matrix, below what the full
    one reaches.
    """
    monkeypatch.setattr(of_rows, "HELD", held)
    monkeypatch.setattr(of_rows, "PART", 4000)
    rng = np.random.default_rng(0)
    for m, noise in ((1000, 1e-9), (1000, 1e-12), (30000, 1e-13)):
        Y = np.column_stack((1 + 0.9 * rng.random() + noise * rng.standard_normal(m), rng.random((m, 3))))
        c = Stand(
            "diagonal",
            1,
            True,
            Y.shape,
            digest_of(Y),
            0 if scale else 2 * int(np.frexp(np.abs(Y).max())[1]),
            0.0,
            scale=scale,
        )
        A = module.matrix_of(Y, c)
        whole = A.columns(np.arange(4))
        assert all(
            np.array_equal(A.columns(np.arange(i, j)), whole[:, i:j])
            for i in range(4)
            for j in range(i + 1, 5)
        )
        other = np.asfortranarray(Y)
        assert np.array_equal(module.matrix_of(other, c).columns(np.array([0])), whole[:, :1])


class SetInFile:
    """A two-dimensional data set that notes which rows are read, and has the module of those of h5py."""

    __module__ = "h5py.made"

    def __init__(self, X, change=lambda B: B):
        self.X, self.shape, self.change, self.reads = X, X.shape, change, []

    def __getitem__(self, rows):
        self.reads.append(len(self.X[rows]))
        return self.change(self.X[rows])


@pytest.mark.parametrize("center", [True, False])
def test_data_sets_of_hdf5_are_read_in_blocks_and_their_shapes_are_checked(center, monkeypatch):
    X = spiked(3, 40, 7)
    c = certify(X, 3, center=center, d=2)
    in_passes(monkeypatch, 35)
    given = SetInFile(X)
    assert verify(given, c) == verify(X, c)
    assert max(given.reads) == 5 and sum(given.reads) % 40 == 0
    for change in (
        np.ravel,
        np.transpose,
        lambda B: B.reshape(-1, 5),
        lambda B: B[:-1],
        lambda B: B[:, :, None],
    ):
        refused(SetInFile(X, change), c, "row of the data must have 7 numbers")
    refused(SetInFile(X, lambda B: B + 1e-9), c, "digests differ")


def test_zero_matrices_are_proved_without_slack():
    for X in (np.zeros((3, 4)), np.full((3, 4), 2.0), sp.csr_array((3, 4))):
        c = Stand("inequality", 2, True, X.shape, digest_of(X), 0, 0.0)
        for U in (np.zeros((4, 0)), np.zeros((4, 1))):
            tree = np.array([255] * 2 * U.shape[1], np.uint8)
            assert verify(X, replace(c, witness={"claims": np.zeros(2), "U": U, "tree": tree})) == 0.0
        refused(X, replace(c, witness={"claims": np.array([-1e-9, 0])}), "lambda_max")
        assert verify(X, replace(c, form="diagonal")) == 0.0
        none = {"U": np.zeros((4, 0))}
        assert verify(X, replace(c, form="joint", k=(1, 2), witness=none | {"claims": np.zeros(2)})) == 0.0
        refused(
            X,
            replace(c, form="joint", k=(1, 2), witness=none | {"claims": np.array([-1e-9, 0.0])}),
            "could not be proved",
        )
        claimed = none | {"claims": np.array([1e-9, 0.0])}
        refused(X, replace(c, form="joint", k=(1, 2), witness=claimed), "claimed")


def test_diagonal_form_asks_a_covariance_to_be_positive_semidefinite():
    A = np.array([[0.1, 1.0], [1.0, 0.1]])
    c = certify(A, 2, source="covariance")
    refused(A, replace(c, form="diagonal", witness={}, upper=0.2 * (1 + SLACK)), "positive semidefinite")


def joint_stand(data, sizes, nonneg, W=None, rows=None, **recipe):
    """Return a joint certificate: U from the r - 1 leading eigenpairs of A - W, t the next eigenvalue."""
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
    return Stand(
        "joint", sizes, nonneg, data.shape, digest_of(data), exponent, upper, witness=witness, **recipe
    )


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
        assert bound <= (top(np.linalg.eigvalsh(left), len(sizes)) + sum(sizes) * c.witness["tau"][0]) * (
            1 + 1e-7
        )
        refused(X, replace(c, upper=c.upper * (1 - 1e-6)), "claimed")
        refused(X, replace(c, k=(*sizes, n + 1)), "k must")
        refused(X, replace(c, k=()), "cannot be read")
    diagonal = np.diag([3.0, 2.0, 1.0])
    assert (
        5 <= verify(diagonal, joint_stand(diagonal, (1, 1), True, source="covariance")) <= 5 * (1 + 4 * SLACK)
    )


def test_joint_bounds_are_added_up_to_the_last_unit():
    """The proved bound is never below the exact sum of the claims, and a bound one unit lower is refused."""
    rng = np.random.default_rng(10)
    for trial in range(60):
        X = rng.standard_normal((9, 6)) @ rng.standard_normal((6, 6))
        sizes = [(1,) * 6, (2, 2), (1, 2, 3)][trial % 3]
        c = joint_stand(X, sizes, True, None if trial % 2 else rng.standard_normal((6, 6)) / 50)
        w = {name: [Fraction(x) for x in np.ravel(array)] for name, array in c.witness.items()}
        exact = len(sizes) * w["claims"][0] + sum(u * u for u in w["U"]) + sum(sizes) * w["tau"][0]
        proved = verify(X, replace(c, upper=1e300))
        assert exact * Fraction(2) ** c.exponent <= Fraction(proved)
        assert proved <= float(exact * Fraction(2) ** c.exponent) * (1 + 1e-13)
        assert verify(X, replace(c, upper=proved)) == proved
        refused(X, replace(c, upper=np.nextafter(proved, 0)), "claimed")


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
    refused(X, changed(c, U=None), "witness U cannot be read: it is missing")
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
    upper = np.ldexp(np.sort(A.diagonal())[::-1][:40].sum() * (1 + SLACK), c.exponent)
    assert verify(X, replace(c, form="diagonal", k=40, witness={}, upper=float(upper))) <= upper


@pytest.mark.parametrize("k", [2, (2, 1)])
def test_claims_beyond_float64_are_refused_in_words(k):
    """A table of zeros proves any claim of at least 0, and two claims of 1e308 add up beyond all floats."""
    X = np.zeros((6, 5))
    made = nspca.solve(nspca.Problem.from_data(X, k), "auto" if k == 2 else "joint").certificate
    witness = {"claims": np.array([1e308, 1e308])}
    witness |= {"tree": np.zeros(0, np.uint8)} if k == 2 else {"U": np.zeros((5, 0))}
    forged = replace(made, form="inequality" if k == 2 else "joint", witness=witness, upper=1e308)
    refused(X, forged, "the bound that is claimed is beyond all float64 numbers")
    one = np.array([1e307, 1e307])
    assert verify(X, replace(forged, witness={**witness, "claims": one})) > 1e307
