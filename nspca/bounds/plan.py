"""What "fast", "standard" and "thorough" allow, in steps that depend on the size alone."""

from dataclasses import dataclass

ROUND = 40
"""Steps between two evaluations; plain ADMM has nearly converged after one or two rounds."""
GROW_EVERY = 5
"""Steps between two looks at the bundle of a lift."""
OVERHEAD = 3e4
"""A step costs n^2 entries and about as much as this many more, whatever n is."""
BRANCHED = 128
"""Up to this many features supports are searched: every witness of a node has 2 n^2 numbers."""


@dataclass(frozen=True)
class Plan:
    """What an effort allows.

    Attributes
    ----------
    rows : most kept rows
    plain : ranks of lifts of the plain dual
    cap : cones per search
    first : steps before the first look; few leave a W that lifts better, many a better B5
    eigenvalues : of the cheapest search over supports, n^3 for every node
    branching : of the search over supports, entries of all its steps together
    ranks, rounds : of lifts with row cuts; one lift for each rank, of so many rounds at most
    enough : relative gap at which no other rank is begun
    """

    rows: int
    plain: tuple[int, ...]
    cap: int
    first: int = ROUND
    eigenvalues: float = 5e6
    branching: float = 0.0
    ranks: tuple[int, ...] = ()
    rounds: int = 0
    enough: float = 1e-9


PLANS = {
    "fast": Plan(rows=400, plain=(2,), cap=500, first=16, eigenvalues=1e6),
    "standard": Plan(rows=800, plain=(1, 3), cap=10000, branching=3e7, ranks=(3, 4), rounds=6, enough=5e-3),
    "thorough": Plan(rows=1000, plain=(1, 3), cap=20000, branching=2e9, ranks=(3, 4), rounds=25),
}
