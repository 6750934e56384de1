"""The verifier on features outside the kept rows with weights: honest certificates, liars, brute force."""

import numpy as np
import pytest
import scipy.sparse as sp

from nspca.checker import matrix, remainder, verify
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
from tests.strategies import counts


def weighted(data, k, nonneg, rng, size=None, tau=None, room=None, **recipe):
    """An honest certificate with weights on random kept rows, by dense matrices and eigenvalues."""
    A, exponent = unit_matrix(data, **recipe)
    n, l1 = len(A), max(np.linalg.eigvalsh(A)[-1], 0.0)
    size = int(rng.integers(0, n)) if size is None else size
    R = rng.permutation(n)[:size]
    O, at = np.setdiff1d(np.arange(n), R), np.ix_(R, R)
    entries = A if nonneg else abs(A)
    tau = float(rng.uniform(0.01, 1.1) * max(entries.max(), 1e-3)) if tau is None else tau
    W, M = random_parts(rng, A, R, rng.choice(["clip", "noise", "negative", "none"]))
    if W is not None:
        W = (W + W.T) / 2
        W = np.minimum(W, tau) if nonneg else np.clip(W, -tau, tau)
    N = np.maximum(entries - tau, 0) * (1 if nonneg else np.sign(A))
    NOO, NOR = abs(N[np.ix_(O, O)]), N[np.ix_(O, R)]
    y = 2.0 ** rng.uniform(-3, 3, O.size)
    if rng.random() < 0.7:
        above = 1.01 * np.linalg.eigvalsh(NOO)[-1] + 1e-3
        y = np.linalg.solve(above * np.eye(O.size) - NOO, np.ones(O.size))
    d = NOO @ y / y
    room = l1 * rng.choice([1e-3, 0.05, 0.5]) if room is None else room
    t = d.max(initial=0.0) + room + SLACK * l1
    K = NOR.T @ np.diag(1 / (t - d)) @ NOR if t > d.max() else np.zeros((size, size))
    left = A[at] + K - (0 if W is None else W) - (0 if M is None else (M + M.T) / 2)
    values, Q = np.linalg.eigh(left) if size else (np.zeros(0), np.zeros((0, 0)))
    U = np.ascontiguousarray(Q[:, ::-1][:, :1] * np.sqrt(np.maximum(values[::-1][:1] - t, 0)))
    rest = np.linalg.eigvalsh(left - U @ U.T)[-1] if size else 0.0
    t = max(t, rest) + SLACK * (l1 + abs(K).sum())
    h = np.zeros(size) if M is None else heights(M, k, nonneg)
    F, tree = Search(U, tau, h, k, nonneg, min(k, O.size)).run()
    F += SLACK * l1
    witness = {"rows": R, "tau": np.array([tau]), "y": y, "claims": np.array([t, F]), "U": U}
    witness["tree"] = np.array(tree, np.uint8)
    witness |= {name: part for name, part in (("W", W), ("M", M)) if part is not None}
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
        **recipe,
    )


def varying(name, rng):
    """One of the problems without constant columns, which cannot be scaled."""
    X = drawn(name, rng, [0])
    return X[:, np.ptp(X, axis=0) > 1e-9 * np.abs(X).max(initial=1e-300)]


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("name", sorted(set(PROBLEMS) - {"zero", "one sample"}))
@pytest.mark.parametrize("count", [9, pytest.param(300, marks=pytest.mark.long)])
def test_honest_certificates_are_accepted_and_not_below_brute_force(name, nonneg, count):
    rng = np.random.default_rng(sum(name.encode()) + nonneg)
    for number in range(count):
        recipe, X = {}, drawn(name, rng, [-100, 0, 100])
        if number % 3 == 1:
            X, recipe = varying(name, rng), {"scale": True}
        elif number % 3 == 2:
            X, recipe = as_covariance(X, rng), {"source": "covariance", "center": False}
        n = X.shape[1]
        k = int(rng.integers(1, n + 1))
        c = weighted(X, k, nonneg, rng, **recipe)
        A, exponent = unit_matrix(X, **recipe)
        best = brute(A, k, nonneg)
        value = np.ldexp(verify(X, c), -exponent)
        assert best * (1 - 1e-12) <= value <= np.ldexp(c.upper, -exponent)


def forged(c, rng):
    """A change of the certificate that may make it false: weights, threshold, claims, rows, entries of W."""
    y, (t, F) = c.witness["y"].copy(), c.witness["claims"]
    kind = int(rng.integers(8))
    at = int(rng.integers(y.size)) if y.size else 0
    if kind == 0 and y.size:
        y[at] = rng.choice([0.0, -1.0, -1e-300, 1e-300, 1e300, np.nan, np.inf, 2.0**60, 2.0**-60])
    elif kind == 1:
        y = y * 2.0 ** rng.uniform(-6, 6, y.size)
    elif kind == 2:
        y = -y
    change = {"y": y}
    if kind == 3:
        change["tau"] = c.witness["tau"] * rng.choice([0.0, 0.5, 0.9, 1 - 1e-6])
        F = F * float(change["tau"][0] / c.witness["tau"][0])
    elif kind == 4:
        t = t * rng.choice([0.0, 0.3, 0.8, 0.99, -1.0])
    elif kind == 5:
        change["rows"] = rng.permutation(c.shape[1])[: c.witness["rows"].size]
    elif kind == 6 and "W" in c.witness:
        W = c.witness["W"] + rng.standard_normal(c.witness["W"].shape) * 0.1
        change["W"] = (W + W.T) / 2
    elif kind == 7:
        change["y"] = rng.permutation(y)
    change["claims"] = np.array([t, F])
    upper = max(t + F, 0.0) * 2.0**c.exponent
    return changed(c, upper=float(np.nextafter(upper * (1 + 1e-15), np.inf)), **change)


@pytest.mark.parametrize("nonneg", [True, False])
@counts(100, 20000)
def test_no_forgery_puts_a_bound_below_the_optimum(nonneg, count):
    rng, names, refusals = np.random.default_rng(11), sorted(set(PROBLEMS) - {"zero", "one sample"}), 0
    for _ in range(count):
        X = varying(str(rng.choice(names)), rng)
        n = X.shape[1]
        k = int(rng.integers(1, n + 1))
        c = weighted(X, k, nonneg, rng, scale=True)
        best = brute(unit_matrix(X, scale=True)[0], k, nonneg)
        f = forged(c, rng)
        try:
            assert verify(X, f) >= best * (1 - 1e-12)
        except CertificateError:
            refusals += 1
    assert count / 5 < refusals < count


def test_forged_weights_and_claims_are_refused():
    X = spiked(3, 20, 8)
    c = weighted(X, 3, True, np.random.default_rng(1), size=3, tau=0.3, room=0.1, scale=True)
    y, rows = c.witness["y"], c.witness["rows"]
    for value in (0.0, -1.0, 1e300, 1e-300):
        refused(X, changed(c, y=np.r_[value, y[1:]]), "witness y must have weights between")
    refused(X, changed(c, y=np.r_[np.nan, y[1:]]), "witness y must be finite")
    for count in (8, 0):
        refused(X, changed(c, y=np.ones(count)), "witness y must be finite, of shape")
    refused(X, changed(c, y=None), "below an entry of A in a row that is not kept")
    O = np.setdiff1d(np.arange(8), rows)
    level = (np.maximum(unit_matrix(X, scale=True)[0] - 0.3, 0)[np.ix_(O, O)] @ y / y).max()
    for t, reason in (
        (level * (1 - 1e-9), "features outside the kept rows need t ="),
        (level * (1 + 1e-14), "leaves no room|could not be proved|need t ="),
    ):  # the search half could be anything
        refused(X, changed(c, claims=np.array([t, 1e9]), upper=1e10), reason)


@pytest.mark.parametrize(("i", "j"), [(i, j) for i in range(5) for j in range(i + 1, 5)])
def test_every_entry_of_the_remainder_counts(i, j):
    """One entry of A, 0.9, is above tau = 0.1; feature 0 is kept. Without the entry t = 0.95 would do."""
    A = np.eye(5)
    A[i, j] = A[j, i] = 0.9
    how = {"source": "covariance", "center": False}
    unit = 2.0 ** -unit_matrix(A, source="covariance")[1]

    def stand(t):
        witness = {"claims": np.array([t, 0.2 * (1 + 1e-9)]), "W": np.array([[0.1]]), "tau": np.array([0.1])}
        witness = {name: part * unit for name, part in witness.items()}
        witness |= {"rows": np.array([0]), "y": np.ones(4), "tree": np.array([255], np.uint8)}
        exponent = unit_matrix(A, source="covariance")[1]
        return Stand("inequality", 2, True, A.shape, digest_of(A), exponent, t + 0.21, witness=witness, **how)

    assert verify(A, stand(1.9)) >= brute(A, 2, True) == pytest.approx(1.9)
    refused(A, stand(0.95), "need t =" if i else "could not be proved")


@pytest.mark.parametrize("nonneg", [True, False])
def test_pieces_of_any_width_and_sizes_prove_the_same(monkeypatch, nonneg):
    rng = np.random.default_rng(12)
    for scale in (True, False):
        X = spiked(5, 9, 12) * (1 if scale else 10.0 ** rng.uniform(-3, 0, 12))
        c = weighted(X, 4, nonneg, rng, size=4, scale=scale)
        monkeypatch.undo()
        whole = verify(X, c)
        for width in (1, 2, 5):
            monkeypatch.setattr(matrix, "WIDEST", width)
            assert verify(X, c) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("limit", [4000, 5])
def test_sparse_tables_and_blocks_of_rows_prove_the_same(monkeypatch, nonneg, limit):
    rng = np.random.default_rng(13)
    dense = spiked(6, 40, 11) * (rng.random((40, 11)) < 0.5)
    X = sp.csr_array(dense)
    c = weighted(X, 4, nonneg, rng, size=4, tau=0.2, scale=True)
    monkeypatch.setattr("nspca.checker.matrix.DENSE_LIMIT", limit)
    assert verify(X, c) == verify(InMemory(X, 7), c)


def test_more_rows_than_can_be_factorised_are_refused_before_a_matrix_is_made(monkeypatch):
    """A small file that names nearly all features of a wide table must not take gigabytes."""
    X = np.random.default_rng(5).standard_normal((4, 30))
    honest = weighted(X, 2, True, np.random.default_rng(6), size=12)
    verify(X, honest)
    monkeypatch.setattr(matrix, "DENSE_LIMIT", 11)
    monkeypatch.setattr(remainder, "entries_of_n", never_after_levels(remainder.entries_of_n))
    with pytest.raises(CertificateError, match="at most 11 rows can be factorised"):
        verify(X, honest)


def never_after_levels(entries):
    """Return `entries_of_n` that fails when it is asked for pairs of features outside and kept rows."""

    def asked(A, first, second, *more):
        assert second is None, "K is being made"
        return entries(A, first, second, *more)

    return asked
