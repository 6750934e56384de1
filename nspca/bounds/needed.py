"""Prove, one feature after the other, that every good answer has it.

For each feature the supports are split in two. Those without the feature must have a bound below a level.
Those with it are split further at the next feature. The resulting chain is a tree of the form `branches`,
with one leaf for each feature and one for the supports that have all features. `membership` calls `chain`.
"""

from collections.abc import Sequence

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports, Use, Warm
from nspca.bounds.fixing.settle import settle
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.plan import PLANS, ROUND
from nspca.bounds.witness import Witness, lifted
from nspca.problem import Problem
from nspca.progress import Report, silent

RANK = 3
"""Dimensions of the first lift."""
NO_WITNESS = -1
"""Code of a leaf in `branch`, and of a leaf without a witness in `use`."""


def chain(
    problem: Problem, features: Sequence[int], level: float, gap: float, report: Report = silent
) -> dict[str, np.ndarray] | None:
    """Return the arrays of a tree which proves that every answer above ``level (1 + gap)`` has some features.

    Parameters
    ----------
    problem : Problem
    features : sequence of int
        Features to prove, in this order. The chain ends at the first that is not proved.
    level : float
        Value in unit scale.
    gap : float
        Relative margin: a feature is proved if the bound without it is at most ``level (1 + gap)``.
    report : callable

    Returns
    -------
    arrays : dict of ndarray, or None
        `branch`, `use`, `claims`, `W`, `M`, `U` of the form `branches`; None if the first feature is not
        proved.
    """
    kept = elimination.keep(problem, problem.n)
    splitting = Splitting(kept, problem.size, problem.nonneg)
    for _ in range(ROUND):
        splitting.step()
    witness, _ = lifted(kept, Witness(splitting.entries.W), RANK)
    vectors = splitting.vectors.astype(np.float64)
    warm = Warm(kept.features, splitting.weights.astype(np.float64), vectors, np.zeros((len(vectors), 0)))
    ground = Ground.of(problem, kept)

    def bound(supports: Supports, start: Stored | None, warm: Warm | None) -> Node:
        """Return a node with a proved bound for some supports, from a witness and a warm start."""
        # The arrays of a chain cannot hold fixed features or an enumeration.
        task = Task(supports, start, warm, level, gap, PLANS["standard"], only_bounding=True)
        return settle(ground, task, report).node

    forced, none = np.array(problem.forced, dtype=np.int64), np.zeros(0, dtype=np.int64)
    supports = Supports(forced, np.setdiff1d(problem.usable, forced), problem.size)
    whole = bound(supports, Stored.of(kept.features, witness), warm)
    if whole.leaf is None or whole.upper <= level * (1 + gap):
        return None
    start, asked, leaves = (whole.leaf.witness, whole.warm), [], []
    for feature in features:
        one = np.array([feature], dtype=np.int64)
        if not np.isin(one, supports.possible):
            break
        without = bound(supports.fix(one, none), *start)
        if without.leaf is None or without.upper > level * (1 + gap):
            break
        asked.append(int(feature))
        leaves.append(without.leaf)
        supports = supports.fix(none, one)
    if not asked:
        return None
    rest = bound(supports, *start)
    assert rest.leaf is not None
    branch = [*asked, *[NO_WITNESS] * (len(asked) + 1)]
    return {"branch": np.array(branch)} | _arrays([rest.leaf, *reversed(leaves)], problem.n)


def _arrays(leaves: list[Use], n: int) -> dict[str, np.ndarray]:
    """Return the arrays of the leaves: the distinct witnesses, and for each leaf its claims and its witness.

    `W`, `M`, `U` hold the witnesses on all n features. `use` has the number of the witness of each leaf.
    """
    pool: dict[int, tuple[int, Stored]] = {}
    for leaf in leaves:
        if leaf.witness is not None:
            pool.setdefault(id(leaf.witness), (len(pool), leaf.witness))
    stored = [one for _, one in pool.values()]
    d = max((one.U.shape[1] for one in stored), default=0)
    W, M, U = np.zeros((len(stored), n, n)), np.zeros((len(stored), n, n)), np.zeros((len(stored), n, d))
    for number, one in enumerate(stored):
        at = np.ix_(one.rows, one.rows)
        W[number][at] = one.W
        M[number][at] = 0.0 if one.M is None else one.M
        U[number][one.rows, : one.U.shape[1]] = one.U
    use = [NO_WITNESS if leaf.witness is None else pool[id(leaf.witness)][0] for leaf in leaves]
    claims = np.array([(leaf.t, leaf.F) for leaf in leaves])
    return {"use": np.array(use), "claims": claims, "W": W, "M": M, "U": U}
