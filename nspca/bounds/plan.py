"""Limits of the efforts "fast", "standard" and "thorough": rows, steps and cones, by the size alone.

Both tables are here: for one component and for several. In which order the work is done, and when it stops
before, is decided in `strongest` and `joint`. Which other bounds are tried beside, and that
"fast" leaves out those that must factorise a large matrix, is decided in `nspca.api`.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.covariance.covariance import DENSE_LIMIT

ROUND = 40
"""Steps between two evaluations; plain ADMM has nearly converged after one or two rounds."""
GROW_EVERY = 5
"""Steps between two looks at the bundle of a lift."""
OVERHEAD = 3e4
"""A step costs n^2 entries and about as much as this many more, whatever n is."""
CLOSED = 1e-9
"""Relative gap at which there is nothing left to do: the size of the rounding slack."""
BRANCHED = 128
"""Up to this many features the tree begins right after the dual, and each feature may be asked about alone.

With more, lifts of the whole problem come before the tree.
"""
FACTOR_LIMIT = 2000
"""Above this size of the smaller side a proof by factorisation takes seconds: left to "standard" and
"thorough".
"""


@dataclass(frozen=True)
class Plan:
    """Limits of an effort for one component.

    Attributes
    ----------
    rows : numbers of rows that may be kept, increasing
    plain : ranks of lifts of the plain dual
    cap : cones per search
    first : steps before the first look; few leave a W that lifts better, many a better B5
    eigenvalues : of the cheapest search over supports, n^3 for every node
    branching : of the search that fixes features, entries of all its steps together
    ranks, rounds : of lifts with row cuts; one lift for each rank, of so many rounds at most
    cores : sizes of the dense cores that are tried where elimination gains nothing, all features weighted
    excesses : thresholds that are tried for each, by how much the bound with an empty core rises there, as a
        share of its gap
    """

    rows: tuple[int, ...]
    plain: tuple[int, ...]
    cap: int
    first: int = ROUND
    eigenvalues: float = 5e6
    branching: float = 0.0
    ranks: tuple[int, ...] = ()
    rounds: int = 0
    cores: tuple[int, ...] = (300,)
    excesses: tuple[float, ...] = (0.0,)

    def rounds_of(self, r: int) -> int:
        """Rounds with r kept rows: fewer, of one lift, where there are more than the plan usually keeps."""
        share = min(1.0, (self.rows[-1] / max(r, 1)) ** 2)
        return max(min(self.rounds, 2), int(self.rounds * share))


PLANS = {
    "fast": Plan(rows=(400,), plain=(2,), cap=500, first=16, eigenvalues=1e6),
    "standard": Plan(
        rows=(400, 500, 600, 800, 1000, 1200),
        plain=(1, 3),
        cap=10000,
        branching=3e7,
        ranks=(4,),
        rounds=6,
        cores=(150, 300, 600),
        excesses=(0.0, 0.3),
    ),
    "thorough": Plan(
        rows=(400, 500, 600, 800, 1000, 1200, 1600),
        plain=(1, 3),
        cap=200_000,
        branching=2e9,
        ranks=(4, 5, 6),
        rounds=25,
        cores=(150, 300, 600, 1000),
        excesses=(0.0, 0.1, 0.3),
    ),
}

IN_PARTS = {
    "fast": replace(PLANS["standard"], cores=(300,), excesses=(0.3,), rounds=8, cap=3000, branching=0.0),
    "standard": replace(PLANS["standard"], cores=(300,), excesses=(0.3,), ranks=(4, 6), rounds=16),
    "thorough": PLANS["thorough"],
}
"""Plans for data that are held in parts. Nearly all that is left outside a core is 0, and many eigenvalues
of what is left inside are nearly equal. So one core has more rounds and dimensions."""
LEAST_ROUNDS, NONZEROS = 3, 500_000
"""Rounds of effort "fast" on data in parts, and numbers in the data for each round more."""


def plan_in_parts(effort: str, nonzeros: int) -> Plan:
    """Return the plan for data in parts; "fast" may take as long as a search for a component does."""
    plan = IN_PARTS[effort]
    rounds = min(plan.rounds, LEAST_ROUNDS + nonzeros // NONZEROS) if effort == "fast" else plan.rounds
    return replace(plan, rounds=rounds)


@dataclass(frozen=True)
class JointPlan:
    """Limits of an effort for several components together.

    Attributes
    ----------
    rows : numbers of rows that may be kept, increasing; the next follows where what is left out matters
    ranks : least and most dimensions of the lift with prices; 0 for no such lift
    passes : lifts, each with a dimension more than the one before
    packing : entries of all its steps together
    cap : cones of a search over the sphere
    searching : rows of the cones of all searches together: no other is begun after those
    cores : sizes of the dense cores that are tried where elimination gains nothing, all others weighted
    whole : most features of which all rows are kept if elimination gains nothing: all variances the same
    factorised : largest smaller side of a table that is factorised as a whole, for the bound of Ky Fan
    work, steps : of one run, in entries, and the fewest and most steps that may make
    rhos : one run each, relative to the largest eigenvalue: the best depends on how fast eigenvalues fall
    grid : tau tried per pass
    stall : share of the gap below which a look has closed nothing
    """

    rows: tuple[int, ...]
    cores: tuple[int, ...]
    whole: int
    factorised: int
    work: float
    steps: tuple[int, int]
    rhos: tuple[float, ...]
    grid: int
    stall: float
    ranks: tuple[int, int] = (0, 0)
    passes: int = 1
    packing: float = 0.0
    cap: int = 0
    searching: float = 0.0

    def steps_of(self, r: int) -> int:
        """Steps with r kept rows."""
        return int(np.clip(self.work / (r * r + OVERHEAD), *self.steps))

    def packing_steps(self, r: int) -> int:
        """Steps with prices and a lift, whole rounds of them."""
        if not self.ranks[1]:
            return 0
        return ROUND * int(np.clip(self.packing / (r * r + OVERHEAD) / ROUND, 1, MOST_ROUNDS))


MOST_ROUNDS = 30
"""Of a lift with prices, however small it is: by then it has converged."""
RHOS = (0.25, 1.0, 0.0625)
JOINT_PLANS = {
    "fast": JointPlan(
        rows=(400,),
        cores=(300,),
        whole=600,
        factorised=FACTOR_LIMIT,
        work=3e6,
        steps=(10, 40),
        rhos=(0.25,),
        grid=5,
        stall=0.05,
    ),
    "standard": JointPlan(
        rows=(800, 1200),
        cores=(300, 600),
        whole=1000,
        factorised=DENSE_LIMIT,
        work=1.2e8,
        steps=(30, 300),
        rhos=RHOS,
        grid=8,
        stall=0.01,
        ranks=(4, 4),
        packing=4e8,
        cap=20000,
        searching=1e8,
    ),
    "thorough": JointPlan(
        rows=(1200, 1600),
        cores=(300, 1000),
        whole=2000,
        factorised=DENSE_LIMIT,
        work=6e8,
        steps=(300, 3000),
        rhos=RHOS,
        grid=16,
        stall=2e-3,
        ranks=(4, 4),
        passes=3,
        packing=4e9,
        cap=2_000_000,
        searching=4e9,
    ),
}
