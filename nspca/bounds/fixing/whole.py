"""Turn the witness of a dense core with weights into one that a tree can begin with.

A tree works on rows without weights for the features outside (`core`). Its rows are all features that have an
entry above tau, the threshold of the witness, at which W ends outside the core. The spectral half is proved
on these rows instead of by weights. A few rows of the certificate replace thousands of weights.

`search` calls `without_weights` where the lift of a core may fix all features outside it.
"""

import numpy as np

from nspca.bounds.elimination import Kept, peaks
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.remainder import entry_error
from nspca.bounds.witness import Witness
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.problem import Problem


def without_weights(problem: Problem, kept: Kept, stored: Stored) -> tuple[Kept, Stored] | None:
    """Return kept rows without weights and the witness on them; None where they are too many to be found.

    `stored` is a witness on the rows of `kept`, those of a core.
    """
    A, nonneg, forced = problem.covariance, problem.nonneg, np.array(problem.forced, dtype=np.int64)
    tau = max(kept.floor, float(np.max(stored.W if nonneg else np.abs(stored.W), initial=0.0)))
    largest, level = peaks(A, nonneg)
    features = np.union1d(np.flatnonzero(largest > tau), stored.rows)
    if level > tau or features.size > DENSE_LIMIT:
        return None
    rows = np.concatenate((forced, np.setdiff1d(features, forced)))
    others = np.setdiff1d(np.arange(A.n), features)
    floor = max(level, float(largest[others].max(initial=0.0))) + entry_error(A)
    block = A.block(rows)
    W = np.minimum(block, tau) if nonneg else np.clip(block, -tau, tau)
    M, U = np.zeros_like(W), np.zeros((rows.size, stored.U.shape[1]))
    own = np.flatnonzero(np.isin(rows, stored.rows))
    witness = stored.at(rows[own])
    W[np.ix_(own, own)], U[own] = witness.W, witness.U
    if witness.M is not None:
        M[np.ix_(own, own)] = witness.M
    one = Stored.of(rows, Witness(W, None if witness.M is None else M, U))
    return None if one is None else (Kept(rows, block, floor, others.size, forced.size), one)
