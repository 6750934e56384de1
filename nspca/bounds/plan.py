"""Limits of the efforts "fast", "standard" and "thorough": rows, steps and cones for a certificate.

`PLANS` is for one component, `JOINT_PLANS` for several together. The order of the work is decided in
`search`. `nspca.proving` decides which elementary bounds are tried besides. `planning.costs` says from `rows`
on how many rows a certificate works; its seconds do not follow these limits.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.covariance.covariance import DENSE_LIMIT

ROUND = 40
"""Steps per round. The bound is evaluated after a round."""
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
    """Limits of an effort, for one component or for several together.

    Attributes
    ----------
    rows : increasing numbers of rows that may be kept
    left_out : maximum share of the value that the sum of the sizes times the largest entry left out may reach
    cores : sizes of the dense cores that are tried when safe elimination fails
    whole : of one component, maximum features for a tree right after the dual, if more than `BRANCHED`; of
        several, for keeping all rows where elimination gains nothing, as all variances are equal
    rhos : penalties of the dual relative to the largest eigenvalue, one run of ADMM each
    steps, work : minimum and maximum steps of such a run; and its work, in entries
    ranks : minimum and maximum rank of the first lift; 0 for no lift
    passes : number of ranks that lifts have one after the other, each higher by one
    rounds, lifting : maximum rounds of all lifts together; and their work, in entries
    rho, wait : penalty of a lift relative to the largest eigenvalue; steps before its row cuts begin
    cap, searching : maximum cones per search over the sphere; total of cones times rows after which no
        further search begins
    plain : of one component, ranks of the lifts of the dual alone
    eigenvalues : of one component, work of the enumeration of supports by eigenvalues, n^3 for each node
    branching : of one component, work of the search that fixes features, in entries of all its steps together
    factorised : of several, maximum smaller side of a matrix that is factorised for the bound of Ky Fan
    sets : of several, maximum features for a search over sets, and the maximum nodes of its trees
    """

    rhos: tuple[float, ...]
    steps: tuple[int, int]
    left_out: float
    rows: tuple[int, ...] = (400,)
    cores: tuple[int, ...] = (300,)
    work: float = np.inf
    whole: int = 0
    ranks: tuple[int, int] = (0, 0)
    passes: int = 1
    rounds: int = 30
    lifting: float = 0.0
    rho: float = 1.0
    wait: int = ROUND
    cap: int = 0
    searching: float = np.inf
    plain: tuple[int, ...] = ()
    eigenvalues: float = 0.0
    branching: float = 0.0
    factorised: int = DENSE_LIMIT
    sets: tuple[int, int] = (0, 0)

    def steps_of(self, r: int) -> int:
        """Return the maximum ADMM steps of one run on r kept rows."""
        return int(np.clip(self.work / (r * r + OVERHEAD), *self.steps)) if r else 0

    def lifting_steps(self, r: int) -> int:
        """Return the maximum steps of lifts on r kept rows, a multiple of `ROUND`."""
        if not self.ranks[1]:
            return 0
        return ROUND * int(np.clip(self.lifting / (r * r + OVERHEAD) / ROUND, 1, self.rounds))

    def searched_nodes(self, n: int) -> int:
        """Return the nodes that a search over sets may settle with n features."""
        return self.sets[1] if n <= self.sets[0] else 0


ONE = Plan(
    rhos=(1.0,),
    steps=(16, 16),
    left_out=0.4,
    plain=(2,),
    cap=500,
    eigenvalues=1e6,
    branching=1e5,
)
STANDARD = replace(
    ONE,
    rows=(400, 500, 600, 800, 1000, 1200),
    cores=(150, 300, 600),
    rhos=(4.0,),
    steps=(60, 60),
    plain=(1, 3),
    cap=10_000,
    eigenvalues=5e6,
    branching=3e7,
    ranks=(4, 4),
    rounds=10,
    lifting=2.4e8,
)
PLANS = {
    "fast": ONE,
    "standard": STANDARD,
    "thorough": replace(
        STANDARD,
        rows=(*STANDARD.rows, 1600),
        cores=(150, 300, 600, 1000),
        whole=400,
        cap=200_000,
        branching=2e9,
        passes=3,
        rounds=75,
        lifting=2.4e9,
    ),
}
SEVERAL = Plan(
    rhos=(0.25,),
    steps=(10, 40),
    left_out=0.7,
    work=3e6,
    whole=600,
    factorised=FACTOR_LIMIT,
)
STANDARD_OF_SEVERAL = replace(
    SEVERAL,
    rows=(800, 1200),
    cores=(300, 600),
    whole=1000,
    factorised=DENSE_LIMIT,
    work=1.2e8,
    steps=(30, 300),
    rhos=(0.25, 1.0, 0.0625),
    ranks=(4, 4),
    passes=2,
    lifting=6e8,
    rho=0.25,
    cap=120_000,
    searching=1.5e8,
    sets=(32, 20),
)
JOINT_PLANS = {
    "fast": SEVERAL,
    "standard": STANDARD_OF_SEVERAL,
    "thorough": replace(
        STANDARD_OF_SEVERAL,
        rows=(1200, 1600),
        cores=(300, 1000),
        whole=2000,
        work=6e8,
        steps=(300, 3000),
        passes=3,
        lifting=4e9,
        cap=2_000_000,
        searching=4e9,
        sets=(64, 200),
    ),
}

CORE = replace(STANDARD, cores=(350,), wait=20, rho=2.0, rounds=20)
CORE_OF_SEVERAL = replace(
    STANDARD_OF_SEVERAL,
    cores=(300,),
    rhos=(0.25,),
    ranks=(3, 3),
    passes=1,
    rho=0.5,
    wait=1,
    rounds=20,
)
IN_PARTS = {
    (False, "fast"): (replace(CORE, cap=3000, branching=0.0, rounds=8), 5, 2_500_000),
    (False, "standard"): (CORE, 7, 1_200_000),
    (True, "standard"): (CORE_OF_SEVERAL, 5, 700_000),
}
"""For data that are held in parts, by whether there are several components, and by effort: the plan of a
small core, its least rounds, and the numbers in the data for each round more. Nearly all that is left
outside a core is 0, and many eigenvalues of what is left inside are nearly equal. So row cuts begin early
there, and a proof takes about as long as the solve.
"""


def plan_in_parts(effort: str, several: bool, nonzeros: int) -> Plan | None:
    """Return the plan of a small core of data in parts with so many nonzeros, if there is one."""
    if (several, effort) not in IN_PARTS:
        return None
    plan, least, each = IN_PARTS[several, effort]
    return replace(plan, rounds=min(plan.rounds, least + nonzeros // each), lifting=np.inf)
