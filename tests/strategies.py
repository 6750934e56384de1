"""Small random problems, degenerate on purpose: ties, duplicates, zero rows, rank lost, signs all against,
scales far apart.

`factor(rng, n, d, kind)` is a V with A = VV'; its transpose is a data matrix with d samples and n features.
`cases` walks through all kinds with random sizes, the same ones every time; `factors` is the same as a
hypothesis strategy.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from nspca.bounds.search import strongest


class Case(NamedTuple):
    """A rank-d problem and the name of what is special about it."""

    kind: str
    V: np.ndarray
    k: int


def _gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def _integer(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(float)


def _signs(rng, n, d):
    return rng.choice([-1.0, 0.0, 1.0], (n, d))


def _duplicate_rows(rng, n, d):
    return rng.standard_normal((max(1, n // 3), d))[rng.integers(0, max(1, n // 3), n)]


def _near_duplicates(rng, n, d):
    return _duplicate_rows(rng, n, d) + 1e-9 * rng.standard_normal((n, d))


def _opposite_rows(rng, n, d):
    V = rng.standard_normal((n, d))
    V[n // 2 : 2 * (n // 2)] = -V[: n // 2]
    return V


def _zero_rows(rng, n, d):
    return rng.standard_normal((n, d)) * (rng.random(n) < 0.5)[:, None]


def _one_row(rng, n, d):
    V = np.zeros((n, d))
    V[rng.integers(n)] = rng.standard_normal(d)
    return V


def _all_zero(rng, n, d):
    return np.zeros((n, d))


def _rank_one(rng, n, d):
    return np.outer(rng.standard_normal(n), rng.standard_normal(d))


def _rank_deficient(rng, n, d):
    return rng.standard_normal((n, max(1, d - 1))) @ rng.standard_normal((max(1, d - 1), d))


def _negative_correlations(rng, n, d):
    """Every two rows at an obtuse angle as far as d dimensions allow: the vertices of a simplex, scaled."""
    corners = np.vstack([np.eye(d), -np.ones(d)]) * rng.uniform(0.5, 2, (d + 1, 1))
    return corners[rng.integers(0, d + 1, n)] + 1e-3 * rng.standard_normal((n, d))


def _positive(rng, n, d):
    return rng.random((n, d))


def _equal_norms(rng, n, d):
    V = rng.integers(-1, 2, (n, d)).astype(float)
    V[~V.any(axis=1), 0] = 1.0
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def _orthonormal_columns(rng, n, d):
    """A repeated leading eigenvalue."""
    return np.linalg.qr(rng.standard_normal((max(n, d), d)))[0][:n]


def _on_a_line(rng, n, d):
    """All rows on one affine line (or all curves through one point): any three are dependent."""
    return rng.standard_normal(d) + np.outer(rng.integers(-3, 4, n), rng.standard_normal(d))


def _huge(rng, n, d):
    return 1e8 * rng.standard_normal((n, d))


def _tiny(rng, n, d):
    return 1e-8 * _integer(rng, n, d)


def _mixed_scales(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-6, 7, (n, 1))


def _steep_spectrum(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** (-4 * np.arange(d))


KINDS = {
    function.__name__[1:]: function
    for function in (
        _gaussian,
        _integer,
        _signs,
        _duplicate_rows,
        _near_duplicates,
        _opposite_rows,
        _zero_rows,
        _one_row,
        _all_zero,
        _rank_one,
        _rank_deficient,
        _negative_correlations,
        _positive,
        _equal_norms,
        _orthonormal_columns,
        _on_a_line,
        _huge,
        _tiny,
        _mixed_scales,
        _steep_spectrum,
    )
}


def factor(rng: np.random.Generator, n: int, d: int, kind: str) -> np.ndarray:
    """A random (n, d) factor V of A = VV' of the named kind."""
    return KINDS[kind](rng, n, d)


def cases(count: int, n_max: int = 9, ranks=(1, 2, 3), seed: int = 0) -> Iterator[Case]:
    """`count` problems, the kinds in turn; sizes 1..n_max and k = 1..n (both ends often)."""
    names = list(KINDS)
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        n, d = int(rng.integers(1, n_max + 1)), int(rng.choice(ranks))
        k = int(rng.choice([1, n, rng.integers(1, n + 1), rng.integers(1, n + 1)]))
        kind = names[i % len(names)]
        yield Case(kind, factor(rng, n, d, kind), k)


def counts(few: int, many: int):
    """Run a test on `few` cases, which still meet every kind of `KINDS`, and among the long tests on
    `many`.
    """
    assert few >= len(KINDS)
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.long)])


@st.composite
def factors(draw, n_max: int = 8, ranks=(1, 2, 3)):
    """Hypothesis strategy for a `Case`; it shrinks to few rows, a small rank and an early kind."""
    kind = draw(st.sampled_from(list(KINDS)))
    n, d = draw(st.integers(1, n_max)), draw(st.sampled_from(ranks))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Case(kind, factor(rng, n, d, kind), draw(st.integers(1, n)))


def certify_joint(problem, lower=0.0, effort="standard", report=lambda event: None):
    """Return the bound of several components without a search over their sets."""
    return strongest(problem, lower, effort, report, branching=False)[0]
