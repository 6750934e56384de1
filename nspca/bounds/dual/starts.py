"""Where lifts start: a subspace and a first point of the bundle."""

import numpy as np

from nspca.bounds.dual.lift import climb
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.witness import Witness, lift_of
from nspca.matrix.linalg import Array
from nspca.problem import Problem


def basis(kept: Kept, W: Array, rank: int) -> Array:
    """Orthonormal (r, rank), spanned by the leading eigenvectors of A - W, filled up with unit vectors."""
    U, _ = lift_of(kept, Witness(W), rank)
    return np.linalg.qr(np.column_stack((U, np.eye(len(U))[:, :rank])))[0][:, :rank]


def first_point(problem: Problem, splitting: Splitting, B: Array) -> Array:
    """A feasible point (r, 1) to begin a bundle with: the best that climbs in the subspace reach."""
    entries = splitting.entries
    shadow = B.T @ (splitting.A - entries.W) @ B
    values, vectors = np.linalg.eigh((shadow + shadow.T) / 2)
    U = B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    C = np.random.default_rng(0).standard_normal((B.shape[1] + 1, 8))
    none, fixed = np.zeros(len(B)), splitting.kept.fixed
    X, _, reached = climb(U, np.sqrt(entries.tau), problem.size, problem.nonneg, C, none, fixed)
    return X[:, [int(np.argmax(reached))]]
