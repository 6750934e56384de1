"""Bounds with a dense core and weights outside it, against brute force and dense eigenvalues."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.bounds import core
from nspca.bounds.plan import JOINT_PLANS
from nspca.bounds.remainder import collect
from nspca.bounds.search import strongest
from nspca.bounds.witness import Witness, certificate, lifted
from nspca.lowrank.cones import Budget
from scripts.lean import of_numbers
from tests.oracles import brute_force, brute_force_forced, brute_force_joint
from tests.rowblocks import InMemory
from tests.rowblocks import counts as words
from tests.strategies import certify_joint, counts


def table(rng, n):
    """Return a small table of a random kind without constant columns: groups, copies, noise, opposites."""
    m = int(rng.integers(3, 25))
    X = rng.standard_normal((m, n))
    kind = int(rng.integers(4))
    if kind == 0:  # groups of features that go together
        X = rng.standard_normal((m, 2))[:, rng.integers(2, size=n)] + 0.3 * X
    elif kind == 1:  # copies
        X = X[:, rng.integers(max(1, n // 2), size=n)]
    elif kind == 2:  # opposite features
        X = X[:, [0] * n] * rng.choice([-1.0, 1.0], size=n) + 0.1 * X
    return X


def made(problem, rng):
    """Return what `with_core` makes of random rows, a random threshold and a random claim."""
    forced = list(problem.forced)
    others = [int(j) for j in rng.permutation(problem.n) if j not in forced]
    rows = np.array([*forced, *sorted(others[: int(rng.integers(0, len(others) + 1))])], dtype=np.int64)
    entries = problem.covariance.matrix
    top = float(entries.max() if problem.nonneg else np.abs(entries).max())
    tau = float(rng.choice([0.0, 1e-9, rng.uniform(0, top), top]))
    remainder = collect(problem.covariance, problem.nonneg, tau)
    assert remainder.level <= tau
    kept = core.with_core(problem, remainder, rows, tau, float(rng.uniform(0, 2 * top)))
    return rows, tau, kept


def some_witness(kept, problem, rng):
    """Return a witness with any W below tau, any M, and a lift of what they leave of A."""
    r = len(kept.block)
    noise = rng.standard_normal((r, r)) * rng.choice([0.0, 0.1, 1.0])
    W = kept.block + (noise + noise.T) / 2
    W = np.minimum(W, kept.floor) if problem.nonneg else np.clip(W, -kept.floor, kept.floor)
    M = rng.standard_normal((r, r)) * 0.1 if r and rng.random() < 0.4 else None
    witness = Witness(W, M)
    return lifted(kept, witness, int(rng.integers(0, 3)))[0] if r else witness


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_w_above_the_threshold_of_its_core_is_proved_with_the_k_of_its_own(nonneg):
    """The checker forms K with the tau of the certificate, which the largest entry of W raises here."""
    rng, found = np.random.default_rng(2), 0
    for number in range(50):
        n = int(rng.integers(3, 8))
        X, sizes = table(rng, n), (2, 1) if number % 2 else (2,)
        problem = nspca.Problem.from_data(X, sizes if number % 2 else 2, nonneg=nonneg)
        _, _, kept = made(problem, rng)
        if kept is None or kept.folded is None or not kept.folded.any():
            continue
        W = np.clip(kept.block, -1.0, kept.floor + rng.uniform(0.0, 0.3) * np.abs(kept.block).max())
        witness = lifted(kept, Witness(W if nonneg else np.maximum(W, -W.max())), 1)[0]
        if number % 2:
            proved = of_numbers(problem, kept, Witness(witness.W, None, witness.U, np.zeros(len(W))))
        else:
            proved = certificate(problem, kept, witness)[0]
        found += proved.witness["tau"][0] > kept.floor
        best = brute_force_joint(problem.covariance.matrix, sizes, nonneg)[0]
        assert nspca.verify(X, proved, problem) >= best * problem.covariance.unit * (1 - 1e-12)
    assert found > 5


@pytest.mark.parametrize("nonneg", [True, False])
@counts(40, 2000)
def test_bounds_with_weights_are_not_below_brute_force_and_are_verified(nonneg, count):
    rng, found = np.random.default_rng(5), 0
    for _ in range(count):
        n = int(rng.integers(2, 11))
        X, k = table(rng, n), int(rng.integers(1, n + 1))
        forced = (
            tuple(sorted(rng.permutation(n)[: int(rng.integers(0, k))].tolist()))
            if rng.random() < 0.3
            else ()
        )
        problem = nspca.Problem.from_data(X, k, nonneg=nonneg, scale=bool(rng.random() < 0.7), forced=forced)
        A = problem.covariance.matrix
        optimum = brute_force_forced(A, k, forced, nonneg)
        rows, tau, kept = made(problem, rng)
        if kept is None:
            continue
        found += 1
        proved, _ = certificate(problem, kept, some_witness(kept, problem, rng), Budget(tol=1e-3, cap=2000))
        unit = problem.covariance.unit
        assert proved.upper / unit >= optimum * (1 - 1e-13), (n, k, rows, tau)
        assert optimum * (1 - 1e-13) <= nspca.verify(X, proved, problem) / unit <= proved.upper / unit
    assert found > count / 2


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize(("sparse", "tile"), [(True, 7), (False, 300), (True, 900)])
def test_all_entries_above_a_level_are_collected(monkeypatch, nonneg, sparse, tile):
    """Also where the pieces of a strip end before, on and after its diagonal."""
    monkeypatch.setattr("nspca.bounds.remainder.TILE", tile)
    rng = np.random.default_rng(8)
    X = rng.standard_normal((12, 600)) * (rng.random((12, 600)) < 0.5)
    X = X[:, X.std(0) > 0]
    problem = nspca.Problem.from_data(sp.csr_array(X) if sparse else X, 3, nonneg=nonneg, scale=not sparse)
    A = problem.covariance.matrix
    for level in (0.5, 0.8):
        remainder = collect(problem.covariance, nonneg, level * float(A.max()))
        tau = max(remainder.level, level * float(A.max()))
        N = remainder.above(tau).toarray()
        exact = np.maximum((A if nonneg else np.abs(A)) - tau, 0.0)
        assert (exact <= N).all()
        assert np.abs(N - exact).max() < 1e-4 * A.max()
        assert np.array_equal(N, N.T)


def test_more_entries_than_can_be_held_raise_the_level(monkeypatch):
    monkeypatch.setattr("nspca.bounds.remainder.MOST", 3000)
    X = np.random.default_rng(9).standard_normal((20, 600))
    problem = nspca.Problem.from_data(X, 3, scale=True)
    remainder = collect(problem.covariance, True, 0.01)
    assert remainder.sizes.size <= 3000
    A = problem.covariance.matrix
    upper = A[np.triu_indices(600)]
    assert (upper > remainder.level).sum() <= remainder.sizes.size <= (upper > remainder.level - 1e-4).sum()


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("place", ["memory", "blocks"])
@counts(20, 800)
def test_bounds_on_data_in_parts_are_not_below_brute_force(monkeypatch, place, nonneg, count):
    """Pairs of features in reach only, in passes of any size, with features that never vary and copies."""
    for limit in ("FORMED", "MANY_ROWS", "WHOLE_LIMIT"):
        monkeypatch.setattr(f"nspca.covariance.data.{limit}", 0)
    rng, found = np.random.default_rng(14), 0
    for _ in range(count):
        monkeypatch.setattr("nspca.bounds.remainder.NARROWEST", int(rng.choice([1, 2, 16])))
        monkeypatch.setattr("nspca.bounds.remainder.WIDE", int(rng.choice([4, 30, 2**25])))
        monkeypatch.setattr("nspca.bounds.remainder.CANDIDATES", int(rng.choice([1, 4, 2000])))
        n = int(rng.integers(2, 13))
        X, k = table(rng, n) * 10.0 ** rng.uniform(-1, 0, n), int(rng.integers(1, n + 1))
        X = sp.csr_array(X * (rng.random(X.shape) < rng.choice([0.3, 0.7])))
        X = sp.csr_array(X[:, rng.integers(n, size=n)]) if rng.random() < 0.3 else X
        data = X if place == "memory" else InMemory(X, 5)
        make = nspca.Problem.from_data if place == "memory" else nspca.Problem.from_shards
        problem = make(data, k, nonneg=nonneg)
        A = problem.covariance.matrix
        if not A.any():
            continue
        if rng.random() < 0.5:
            problem.covariance.block(np.arange(n))  # held, as after a solve
        sizes = np.triu(A if nonneg else np.abs(A))
        remainder = collect(problem.covariance, nonneg, float(rng.uniform(0.01, 0.9) * sizes.max()))
        tau = max(remainder.level, float(rng.uniform(0, 1) * sizes.max()))
        assert np.all(remainder.above(tau).toarray() >= np.triu(sizes - tau))
        rows = np.sort(rng.permutation(n)[: int(rng.integers(0, n))])
        kept = core.with_core(problem, remainder, rows, tau, float(rng.uniform(0, 2 * sizes.max())))
        if kept is None:
            continue
        found += 1
        proved, _ = certificate(problem, kept, some_witness(kept, problem, rng), Budget(tol=1e-3, cap=2000))
        optimum, unit = brute_force(A, k, nonneg)[0], problem.covariance.unit
        assert proved.upper / unit >= optimum * (1 - 1e-13), (n, k, rows, tau)
        for known in (X, InMemory(X, 3)):
            assert optimum * (1 - 1e-13) <= nspca.verify(known, proved, problem) / unit
    assert found > count / 3


@pytest.mark.parametrize("sizes", [10, (10, 10)])
def test_words_are_proved_with_one_core_in_memory_and_in_blocks(monkeypatch, sizes):
    """Data in parts: the same bound from rows in memory and in blocks, which only needs pairs in reach."""
    monkeypatch.setattr("nspca.covariance.data.FORMED", 500)
    monkeypatch.setattr("nspca.covariance.data.MANY_ROWS", 100)
    monkeypatch.setattr("nspca.checker.matrix.DENSE_LIMIT", 500)
    without_ky_fan = replace(JOINT_PLANS["fast"], factorised=0)  # which proves nearly all of such a table
    monkeypatch.setitem(JOINT_PLANS, "fast", without_ky_fan)
    monkeypatch.setattr("nspca.bounds.rows.LITTLE", 0.0)  # of so small a table the kept rows would do
    X = words(np.random.default_rng(15), 200, 600)
    bounds = []
    for data, make in ((X, nspca.Problem.from_data), (InMemory(X, 100), nspca.Problem.from_shards)):
        problem = make(data, sizes)
        result, A = nspca.solve(problem, certify=None), problem.covariance
        known = problem, A.to_unit(result.value), "fast"
        monkeypatch.setattr(core, "LIFTED_SHARE", None)  # the claim of other tables
        proved = certify_joint(*known) if problem.joint else strongest(*known)[0]
        assert "y" in proved.witness
        bounds.append(proved.upper)
        assert proved.ratio(result.value) > 0.8
        table = InMemory(X, 250) if data is X else X  # the other way than it was proved
        assert result.value <= nspca.verify(table, proved, problem) <= proved.upper
        low = proved.witness | {"claims": proved.witness["claims"] * (1 - 1e-4, 1)}
        with pytest.raises(nspca.CertificateError, match=r"need t =|leaves no room|could not be proved"):
            nspca.verify(X, replace(proved, witness=low))
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-3)
