"""The bound of a'Ta for a >= 0 with a'Ga = 1, against all faces of the cone, and the edge to split."""

import itertools

import numpy as np
import pytest

from nspca.lowrank import copositive


def exact(G, T):
    """Return the largest ``a'Ta / a'Ga``, a >= 0; inside some face it is a generalised eigenvalue."""
    best, D = T.diagonal().max(), len(G)
    for r in range(2, D + 1):
        for face in itertools.combinations(range(D), r):
            at = np.ix_(face, face)
            L = np.linalg.cholesky(G[at])
            values, Y = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, T[at]).T))
            A = np.linalg.solve(L.T, Y)
            inside = (A >= -1e-12).all(axis=0) | (A <= 1e-12).all(axis=0)
            best = max(best, values[inside].max(initial=0.0))
    return best


def cones_with(rng, D, spread, alike):
    """G of generators that lie in one orthant, and T >= 0 that is G times a number but for `alike`."""
    g = 1 + spread * rng.random((40, D, D))
    g /= np.linalg.norm(g, axis=2, keepdims=True)
    G = g @ g.transpose(0, 2, 1)
    E = rng.random((40, D, D)) * alike
    return G, 3 * G + E + E.transpose(0, 2, 1)


def known(G, T):
    return (T / G).reshape(len(G), -1).max(axis=1)


@pytest.mark.parametrize("D", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("spread", "alike"), [(10.0, 1.0), (0.3, 1.0), (0.3, 0.01), (0.01, 1e-6), (1.0, 0.0)]
)
def test_the_bound_is_between_the_exact_one_and_the_largest_ratio(D, spread, alike):
    rng = np.random.default_rng(D)
    G, T = cones_with(rng, D, spread, alike)
    bound, before = copositive.lowered(G, T, known(G, T)), known(G, T)
    truth = np.array([exact(*pair) for pair in zip(G, T, strict=True)])
    assert (bound >= truth * (1 - 1e-12)).all()
    assert (bound <= before).all()


def test_orthants_whose_generators_have_no_product():
    T = np.abs(np.random.default_rng(1).standard_normal((20, 4, 4)))
    T = T + T.transpose(0, 2, 1)
    G = np.broadcast_to(np.eye(4), T.shape)
    top = np.linalg.eigvalsh(T)[:, -1]
    bound = copositive.lowered(G, T, 10 * top)
    # without a positive entry to leave out it is the largest eigenvalue, whose vector is nonnegative
    assert (bound >= top * (1 - 1e-12)).all() and (bound < 1.2 * top).all()


def test_zero_sums_have_the_bound_zero():
    G = np.broadcast_to(np.eye(3), (2, 3, 3))
    assert (copositive.lowered(G, np.zeros((2, 3, 3)), np.ones(2)) <= copositive.ROOM).all()


def test_the_edge_that_makes_the_bound_large_is_split_unless_it_is_short():
    g = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.2]])
    g /= np.linalg.norm(g, axis=1)[:, None]
    G = g @ g.T
    T = G.copy()
    T[0, 1] = T[1, 0] = G[0, 1] + 0.1
    assert copositive.dearest(G[None], T[None]).tolist() == [[0, 1]]
    assert copositive.dearest(G[None], G[None]).tolist() == [[1, 2]]  # nothing weighs: the longest
    near = g.copy()
    near[1] = g[0] + 1e-3 * g[1]
    near /= np.linalg.norm(near, axis=1)[:, None]
    G = near @ near.T
    T = G.copy()
    T[0, 1] = T[1, 0] = G[0, 1] + 0.1
    edge = copositive.dearest(G[None], T[None])[0].tolist()
    assert edge != [0, 1]
