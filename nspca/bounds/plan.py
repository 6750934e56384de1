"""What "fast", "standard" and "thorough" allow, in steps that depend on the size alone."""

from dataclasses import dataclass

import numpy as np

ROUND = 40
"""Steps between two evaluations; plain ADMM has nearly converged after one or two rounds."""
OVERHEAD = 3e4
"""A step costs r^2 entries and about as much as this many more, whatever r is."""
CHEAP = 200
"""Up to this many kept rows a round is cheap enough for many starts."""


@dataclass(frozen=True)
class Plan:
    """What an effort allows.

    Attributes
    ----------
    rows : most kept rows
    work, rounds : of one lift, in entries, and the fewest and most rounds that may make
    plain, improved : ranks of plain lifts and of those improved together with their subspace
    parts, turned : starts of the latter: shares s of A - sW, and how many at random
    cuts : most rows for row cuts
    cap : cones per search
    first : steps before the first look; few leave a W that lifts better, many a better B5
    enough : relative gap at which no other kind of bound is begun
    """

    rows: int
    work: float
    rounds: tuple[int, int]
    plain: tuple[int, ...]
    improved: tuple[int, ...]
    cuts: int
    cap: int
    parts: tuple[float, ...] = (1.0, 0.0)
    turned: int = 0
    first: int = ROUND
    enough: float = 0.0

    def rounds_of(self, r: int) -> int:
        """Most rounds of `ROUND` steps that one lift, or the row cuts, may take with r kept rows."""
        low, high = self.rounds
        return int(np.clip(self.work / (ROUND * (r * r + OVERHEAD)), low, high))


PLANS = {
    "fast": Plan(rows=400, work=5e6, rounds=(1, 2), plain=(2,), improved=(), cuts=0, cap=500, first=16),
    "standard": Plan(
        rows=800, work=2e7, rounds=(3, 8), plain=(1, 3), improved=(3,), cuts=100, cap=3000, parts=(1.0, 0.8, 0.4, 0.0), turned=3
    ),
    "thorough": Plan(
        rows=1000,
        work=2e8,
        rounds=(8, 40),
        plain=(1, 3),
        improved=(3, 4, 5),
        cuts=1000,
        cap=20000,
        parts=(1.0, 0.8, 0.6, 0.4, 0.0),
        turned=12,
    ),
}
