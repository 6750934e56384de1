"""Disjoint components found together, against brute force over all families of disjoint supports."""

import numpy as np
import pytest

import nspca
from nspca.errors import Cancelled, InvalidOption
from tests.oracles import brute_force_joint
from tests.strategies import cases


def feasible(result, sizes, nonneg):
    X = result.components
    assert np.allclose(np.linalg.norm(X, axis=0), 1)
    assert np.all((X != 0).sum(axis=1) <= 1) and all((x != 0).sum() <= s for x, s in zip(X.T, sizes, strict=True))
    assert not nonneg or X.min() >= 0


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("sizes", [(2, 2), (1, 3), (1, 1, 2)])
def test_never_above_brute_force_and_nearly_always_at_it(nonneg, sizes):
    reached = total = 0
    for case in cases(40, n_max=6, ranks=(2, 3, 7), seed=61):
        A = case.V @ case.V.T
        if len(A) < sum(sizes):
            continue
        result = nspca.solve(nspca.Problem.from_covariance(A, sizes, nonneg), "joint", certify=None)
        feasible(result, sizes, nonneg)
        optimum = brute_force_joint(A, sizes, nonneg)[0]
        assert result.value <= optimum * (1 + 1e-9) + 1e-300, case
        reached += result.value >= optimum * (1 - 1e-9)
        total += 1
    assert total >= 8 and reached >= 0.95 * total


def test_components_of_one_size_and_auto_for_sizes_are_the_joint_method():
    X = np.random.default_rng(0).standard_normal((40, 15))
    problem = nspca.Problem.from_data(X, 3)
    together = nspca.solve(problem, "joint", components=3, certify=None)
    assert together.value == nspca.solve(problem.with_k((3, 3, 3)), certify=None).value
    assert together.value >= nspca.solve(problem, components=3).value * (1 - 1e-9)
    assert nspca.solve(problem, "joint", certify=None).components.shape == (15, 1)


def test_sizes_need_a_joint_method_and_the_right_number():
    problem = nspca.Problem.from_data(np.random.default_rng(1).standard_normal((20, 9)), (2, 3))
    with pytest.raises(InvalidOption, match=r"finds components together \(.*joint"):
        nspca.solve(problem, "tpower")
    with pytest.raises(InvalidOption, match="number of sizes, 2, got 3"):
        nspca.solve(problem, components=3)


def test_deterministic_and_cancelled_at_once():
    problem = nspca.Problem.from_data(np.random.default_rng(2).standard_normal((30, 20)), (4, 4))
    one, two = (nspca.solve(problem, "joint", certify=None, seed=3) for _ in range(2))
    assert np.array_equal(one.components, two.components)
    seen = []

    def stop(event):
        seen.append(event)
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        nspca.solve(problem, "joint", report=stop)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("name", "file", "rows", "center", "factor", "sizes", "nonneg", "reach"),
    [
        ("bow-kos", None, None, False, 1, (15,) * 8, False, 62.6),
        ("leukemia", None, None, True, 1, (40,) * 5, False, 5.64e9),
        ("arcene", "arcene.npz", 100, True, 1, (40,) * 5, False, 1.116e7),
        ("mfeat", "mfeat_pix.npz", None, True, 1, (40,) * 5, False, 566.0),
        ("cbcl", None, None, True, 255, (40,) * 5, True, 7.123),
    ],
)
def test_published_totals_are_passed(nspca_data, monkeypatch, name, file, rows, center, factor, sizes, nonneg, reach):
    monkeypatch.setenv("NSPCA_DATA", str(nspca_data))
    X = np.load(nspca_data / file)["X"][:rows] if file else nspca.load_sample(name).X
    X = X / factor if factor != 1 else X
    result = nspca.solve(nspca.Problem.from_data(X, sizes, nonneg, center=center), "joint", certify=None)
    feasible(result, sizes, nonneg)
    assert result.value >= reach
