"""Whole questions for the package, drawn to be awkward: data or a covariance, dense or sparse, far from zero,
tiny, hardly semidefinite.

A `Question` carries the matrix it is about computed another way: rational arithmetic for means and
deviations, so that an offset of 1e12 costs the reference nothing.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tests.strategies import KINDS, factor

OFFSETS = (0.0, 0.0, 1.0, 1e2, 1e4, 1e6, 1e7, 1e9, 1e12)
UNITS = (0, 0, 0, 0, 3, -60, -200, 200, -497, -500)  # powers of two
HARDLY = (1e-9, 1e-12, 1e-14, 3e-15, 1e-16)


class Question(NamedTuple):
    """A question, with its exact matrix in another unit: A is ``2**exponent`` times `unit_A`."""

    about: str
    given: object
    recipe: dict
    k: object
    nonneg: bool
    unit_A: np.ndarray
    exponent: int
    components: int
    rng: np.random.Generator


def questions(count: int, seed: int = 0, n_max: int = 7) -> Iterator[Question]:
    """`count` questions, kinds in turn, the same ones every time."""
    names = list(KINDS)
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        n, d = int(rng.integers(1, n_max + 1)), int(rng.integers(1, 5))
        V = factor(rng, n, d, names[i % len(names)])
        k = int(rng.choice([1, n, rng.integers(1, n + 1), rng.integers(1, n + 1)]))
        draw = [_covariance, _hardly_psd, _data, _data][rng.integers(4)]
        about, given, recipe, unit_A, exponent = draw(rng, V)
        n, components = len(unit_A), 1
        k = min(k, n)
        if n >= 2 and rng.random() < 0.15:
            k, components = (1, int(rng.integers(1, n))), 2
        about = f"{i}: {names[i % len(names)]}, {about}"
        yield Question(about, given, recipe, k, bool(rng.random() < 0.6), unit_A, exponent, components, rng)


def _covariance(rng, V):
    power = int(rng.choice(UNITS))
    A = V @ V.T
    A = np.ldexp(A / (np.abs(A).max() or 1.0), 2 * power)
    given = sp.csr_array(A) if rng.random() < 0.2 else A
    return f"covariance x 2^{2 * power}", given, {}, np.ldexp(A, -2 * power), 2 * power


def _hardly_psd(rng, V):
    """A covariance that rounding, or a little more, has made indefinite: `np.cov`, digits cut off, one entry
    moved, its largest eigenvalue nearly shared.
    """
    n = len(V)
    how = rng.choice(["cov", "rounded", "moved", "one block"])
    if how == "cov":
        A = np.atleast_2d(np.cov(V.T, rowvar=False)) if V.shape[1] > 1 else V @ V.T
    else:
        A = V @ V.T / (np.abs(V @ V.T).max() or 1.0)
    size = rng.choice(HARDLY)
    if how == "rounded":
        A = np.round(A, int(-np.log10(size)))
    if how == "moved":
        i, j = rng.integers(n, size=2)
        A[i, j] += size
        A[j, i] = A[i, j]
    if how == "one block":
        A = np.ones((n, n)) + size * (1 - np.eye(n))
    power = int(rng.choice(UNITS))
    e = int(np.frexp(np.abs(A).max(initial=0.0))[1])
    A = np.ldexp(A, -e)
    return f"{how} {size:g}", np.ldexp(A, 2 * power), {}, (A + A.T) / 2, 2 * power


def _data(rng, V):
    X = V.T.copy()
    if len(X) < 6 and rng.random() < 0.7:
        X = rng.standard_normal((int(rng.integers(2, 12)), len(X))) @ X
    center, scale = bool(rng.random() < 0.7), bool(rng.random() < 0.4)
    sparse = bool(rng.random() < 0.5)
    if sparse and rng.random() < 0.7:
        X = X * (rng.random(X.shape) < rng.choice([0.2, 0.5, 0.9]))
    size = float(np.abs(X).max()) or 1.0
    offset = float(rng.choice(OFFSETS))
    columns = rng.random(X.shape[1]) < rng.choice([0.3, 1.0])
    X = X / size + offset * columns
    power = int(rng.choice(UNITS)) if offset < 1e6 else 0
    X = np.ldexp(X, power)
    recipe = {"center": center, "scale": scale}
    unit_A, exponent = exact_covariance(X, center, scale)
    layout = rng.choice([sp.csr_array, sp.csc_matrix, sp.coo_array])
    return (
        f"{'sparse' if sparse else 'dense'} {X.shape} + {offset:g}, {recipe}",
        layout(X) if sparse else X,
        recipe,
        unit_A,
        exponent,
    )


def exact_covariance(X, center, scale):
    """``Z'Z / m`` in unit scale and its exponent, from exactly centred columns; a column of deviation 0 stays
    0.
    """
    m, n = X.shape
    e = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    Y = np.ldexp(X, -e)
    Z, deviation = np.zeros((m, n)), np.zeros(n)
    for j in range(n):
        column = [Fraction(float(x)) for x in Y[:, j]]
        mean = sum(column) / m
        far = [x - mean for x in column]
        deviation[j] = float(sum(x * x for x in far) / m) ** 0.5
        Z[:, j] = [float(x) for x in (far if center else column)]
    if not scale:
        return Z.T @ Z / m, 2 * e
    Z = Z / np.where(deviation > 0, deviation, 1.0)
    return Z.T @ Z / m, 0
