"""Limits of the efforts "fast", "standard" and "thorough": rows, steps and cones for a certificate.

`PLANS` is for one component, `JOINT_PLANS` for several together. The order of the work is decided in
`bound_search` and `joint`. `nspca.proving` decides which elementary bounds are tried besides.
`planning.costs` says from `rows` on how many rows a certificate works; its seconds do not follow these
limits.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.covariance.covariance import DENSE_LIMIT

ROUND = 40
"""ADMM steps per round. The bound is evaluated after a round; plain ADMM nearly converges in one or two."""
GROW_EVERY = 5
"""Steps between two searches for new points of the bundle of a lift."""
OVERHEAD = 3e4
"""Fixed cost of a step, in entries. A step on n rows costs n^2 + OVERHEAD entries."""
CLOSED = 1e-9
"""Relative gap that counts as closed: the size of the rounding errors of a proof."""
BRANCHED = 128
"""Maximum features for which every effort begins a tree right after the dual (see `Plan.whole`), and maximum
free features of a node that an effort other than "exhaustive" splits.
"""
FACTOR_LIMIT = 2000
"""Maximum smaller side of a matrix that the effort "fast" factorises. Larger ones take seconds."""


@dataclass(frozen=True)
class Plan:
    """Limits of an effort for one component.

    Attributes
    ----------
    rows : increasing numbers of rows that may be kept
    plain : ranks of the lifts of the plain dual (B6)
    cap : maximum cones per search over the sphere
    first : steps before the first evaluation; few steps give a W that lifts better, many a better B5
    eigenvalues : work of the enumeration of supports by eigenvalues, n^3 for each node
    branching : work of the search that fixes features, in entries of all its steps together
    whole : maximum features for which that search begins right after the dual, if more than `BRANCHED`. With
        more, a lift of the whole problem comes first, and the search begins once it leaves few undecided
    ranks : ranks of the lifts with row cuts (B9), one lift for each
    rounds : maximum rounds of each such lift
    wait : steps of such a lift before its row cuts begin
    rho : penalty parameter of such a lift, relative to the largest eigenvalue
    cores : sizes of the dense cores that are tried when safe elimination fails
    excesses : thresholds tried for each core, given by the rise of the bound with an empty core, as a share
        of its gap
    """

    rows: tuple[int, ...]
    plain: tuple[int, ...]
    cap: int
    first: int = ROUND
    eigenvalues: float = 5e6
    branching: float = 0.0
    whole: int = 0
    ranks: tuple[int, ...] = ()
    rounds: int = 0
    wait: int = ROUND
    rho: float = 1.0
    cores: tuple[int, ...] = (300,)
    excesses: tuple[float, ...] = (0.0,)

    def rounds_of(self, r: int) -> int:
        """Return the maximum rounds of a lift on r kept rows; fewer when r exceeds the usual number."""
        share = min(1.0, (self.rows[-1] / max(r, 1)) ** 2)
        return max(min(self.rounds, 2), int(self.rounds * share))


PLANS = {
    "fast": Plan(rows=(400,), plain=(2,), cap=500, first=16, eigenvalues=1e6, branching=1e5),
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
        whole=400,
        ranks=(4, 5, 6),
        rounds=25,
        cores=(150, 300, 600, 1000),
        excesses=(0.0, 0.1, 0.3),
    ),
}

ONE_CORE = replace(PLANS["standard"], rounds=20, wait=20, rho=2.0, cores=(350,), excesses=(0.3,))
IN_PARTS = {
    "fast": replace(ONE_CORE, rounds=8, cap=3000, branching=0.0),
    "standard": ONE_CORE,
    "thorough": PLANS["thorough"],
}
"""Plans for data that are held in parts. Nearly all that is left outside a core is 0, and many eigenvalues
of what is left inside are nearly equal. So one core has more rounds, and row cuts begin earlier. On 10 000 x
20 000 counts a lift that went on in six dimensions took twice as long, half of it for searches. With the
penalty of other lifts 14 rounds proved .968 of 120 000 x 50 000 counts, and with this one .976.
"""
GROWING = {"fast": (5, 2_500_000), "standard": (7, 1_200_000)}
"""Least rounds of an effort on data in parts, and numbers in the data for each round more: the search takes
longer with more numbers, and a proof should take no longer than that.
"""


def plan_in_parts(effort: str, nonzeros: int) -> Plan:
    """Return the plan for data in parts, whose rounds grow with the `nonzeros` of the data (`GROWING`)."""
    plan = IN_PARTS[effort]
    if effort not in GROWING:
        return plan
    least, more = GROWING[effort]
    return replace(plan, rounds=min(plan.rounds, least + nonzeros // more))


@dataclass(frozen=True)
class JointPlan:
    """Limits of an effort for several components together.

    Attributes
    ----------
    rows : increasing numbers of rows that may be kept; the next is tried if what is left out limits the bound
    ranks : minimum and maximum rank of the lift with prices; 0 for no such lift
    passes : number of ranks that the lift has one after the other, each higher by one
    worth : least share of the gap that a search before the end of a lift must promise to close
    patience : rounds of the last lift that may close hardly anything before it ends
    after : effort whose proof comes first; its last lift is gone on from where the rows allow it
    packing : work of all steps with prices and a lift, in entries
    cap : maximum cones per search over the sphere
    searching : total of cones times rows after which no further search begins
    cores : sizes of the dense cores that are tried when safe elimination fails
    whole : maximum features for keeping all rows when elimination gains nothing: all variances are equal
    factorised : maximum smaller side of a matrix that is factorised as a whole, for the bound of Ky Fan
    work : work of one run of ADMM, in entries
    steps : minimum and maximum steps of one run
    rhos : penalties relative to the largest eigenvalue, one run each; the best depends on the eigenvalues
    stall : share of the gap below which an evaluation counts as having closed nothing
    rho : penalty parameter of the lift with prices, relative to the largest eigenvalue of A
    wait : steps of that lift before its row cuts begin
    few : minimum and maximum rounds of such a lift on a small core of data in parts; 0 where there is none
    sets : maximum features for a search over sets, and the maximum nodes of its trees
    """

    rows: tuple[int, ...]
    cores: tuple[int, ...]
    whole: int
    factorised: int
    work: float
    steps: tuple[int, int]
    rhos: tuple[float, ...]
    stall: float
    ranks: tuple[int, int] = (0, 0)
    passes: int = 1
    worth: float = 0.0
    patience: int = 4
    after: str = ""
    packing: float = 0.0
    cap: int = 0
    searching: float = 0.0
    rho: float = 0.25
    wait: int = ROUND
    few: tuple[int, int] = (0, 0)
    sets: tuple[int, int] = (0, 0)

    def in_parts(self, nonzeros: int) -> "JointPlan":
        """Return the plan for a small core of data in parts: a lift whose rounds grow with the `nonzeros`.

        On 10 000 x 20 000 counts a search in three dimensions takes .1 s, and one in four 2 s. Row cuts that
        begin at once save 40 steps there, and the larger penalty some more.
        """
        least, most = self.few
        rounds, size = min(most, least + nonzeros // JOINT_NONZEROS), self.cores[0]
        return replace(
            self,
            cores=(size,),
            rhos=self.rhos[:1],
            ranks=(3, 3),
            passes=1,
            packing=min(self.packing, rounds * ROUND * (size**2 + OVERHEAD)),
            rho=0.5,
            wait=1,
        )

    def searched_nodes(self, n: int) -> int:
        """Return the nodes that a search over sets may settle with n features."""
        return self.sets[1] if n <= self.sets[0] else 0

    def steps_of(self, r: int) -> int:
        """Return the maximum ADMM steps of one run on r kept rows."""
        return int(np.clip(self.work / (r * r + OVERHEAD), *self.steps))

    def packing_steps(self, r: int) -> int:
        """Return the maximum steps with prices and a lift on r kept rows, a multiple of `ROUND`."""
        if not self.ranks[1]:
            return 0
        return ROUND * int(np.clip(self.packing / (r * r + OVERHEAD) / ROUND, 1, MOST_ROUNDS))


JOINT_NONZEROS = 700_000
"""Numbers in data in parts for each round more of a lift on a small core. The search for the components takes
longer with more numbers, and the proof about as long as that search."""
MOST_ROUNDS = 30
"""Maximum rounds of a lift with prices. Every benchmark row had converged by then."""
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
        stall=0.01,
        ranks=(4, 4),
        passes=2,
        packing=6e8,
        cap=120_000,
        searching=1.5e8,
        few=(5, 20),
        sets=(32, 20),
    ),
    "thorough": JointPlan(
        rows=(1200, 1600),
        cores=(300, 1000),
        whole=2000,
        factorised=DENSE_LIMIT,
        work=6e8,
        steps=(300, 3000),
        rhos=RHOS,
        stall=2e-3,
        ranks=(4, 4),
        passes=3,
        worth=1.0,
        patience=8,
        after="standard",
        packing=4e9,
        cap=2_000_000,
        searching=4e9,
        sets=(64, 200),
    ),
}
