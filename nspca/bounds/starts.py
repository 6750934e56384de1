"""Where lifts start: a lift is a local optimum, so several subspaces pay."""

from collections.abc import Iterator

import numpy as np

from nspca.bounds.dual import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.lift import climb
from nspca.bounds.plan import CHEAP, Plan
from nspca.bounds.witness import Witness, lifted
from nspca.linalg import Array
from nspca.problem import Problem

TURN = 1.2
"""Length of the random columns added to the unit eigenvectors: enough to leave their neighbourhood, not their side."""


def subspaces(kept: Kept, W: Array, rank: int, plan: Plan, last: Array | None) -> Iterator[Array]:
    """Bases (r, rank): leading eigenvectors of A - sW, those of A turned at random when a round is cheap, the last k's."""
    r, leading = len(kept.block), kept.leading[1][:, :rank]
    parts = plan.parts if r <= CHEAP else (plan.parts[0], plan.parts[-1])
    yield from (basis(kept, part * W, rank) for part in parts)
    rng = np.random.default_rng(0)
    for _ in range(plan.turned if r <= CHEAP else 0):
        yield np.linalg.qr(leading + TURN * rng.standard_normal(leading.shape) / np.sqrt(r))[0]
    if last is not None and last.shape == leading.shape:
        yield last


def basis(kept: Kept, W: Array, rank: int) -> Array:
    """Orthonormal columns (r, rank) spanned by the leading eigenvectors of A - W, filled up with unit vectors."""
    U = lifted(kept, Witness(W), rank)[0].U
    return np.linalg.qr(np.column_stack((U, np.eye(len(U))[:, :rank])))[0][:, :rank]


def first_point(problem: Problem, splitting: Splitting, B: Array) -> Array:
    """A feasible point (r, 1) to begin a bundle with: the best that climbs in the subspace reach at the dual's prices."""
    entries = splitting.entries
    shadow = B.T @ (splitting.A - entries.W) @ B
    values, vectors = np.linalg.eigh((shadow + shadow.T) / 2)
    U = B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    C = np.random.default_rng(0).standard_normal((B.shape[1] + 1, 8))
    X, reached = climb(U, np.sqrt(entries.tau), problem.k, problem.nonneg, C)
    return X[:, [int(np.argmax(reached))]]
