"""Search for the best certificate on some kept rows: the bounds to try, their order, and when to stop.

The order is threshold (B4) when rows are eliminated, then the dual (B5) and its lift (B6). With few features
a tree follows (B8, `tree_stage`). With many, W, M, U and the subspace are improved together (B6 until the row
cuts begin, then B9), once for each rank; a tree begins with that witness if it fixes anything. Everything
stops as soon as the gap is closed.

`strongest` runs one `BoundSearch` on the rows of safe elimination, and `core_search` one for each core.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.best_bound import STALL
from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
from nspca.bounds.dual.rounds import look
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.lifts import RANK
from nspca.bounds.fixing.tasks import ROUNDS
from nspca.bounds.plan import ROUND
from nspca.bounds.tree_stage import TreeStage
from nspca.bounds.witness import Witness
from nspca.local_search import single as ascent
from nspca.problem import Problem

WORTH = 0.3
"""Share of the gap that a lift must promise to close before it is searched. In what may be the last round,
any promise is searched.
"""
ROOT_ROUNDS = 20
"""Rounds of steps at the root of a tree on few features."""
NEARLY = 1e-6
"""Relative gap below which no lift follows a tree. It would close little more, in ten times the work."""
PATIENCE = 4
"""A lift ends when PATIENCE rounds in a row close less than the share STALL of the gap. The bound loosens for
a while when the row cuts begin, hence several rounds.
"""


def least(problem: Problem, kept: Kept) -> float:
    """Return a lower limit of all bounds with these kept rows.

    For any W, tau is at least the floor, so the search half is at least k times the floor.
    """
    return -np.inf if kept.rows is None or not kept.free else problem.size * kept.floor + kept.outside


@dataclass(eq=False, kw_only=True)
class BoundSearch(TreeStage):
    """The search for the best certificate on some kept rows.

    Attributes
    ----------
    resumed : dict of ndarray or None
        Arrays of the tree to continue, the argument `resume` of `strongest`.
    """

    resumed: dict[str, np.ndarray] | None = None

    def run(self) -> None:
        """Search for the best certificate."""
        problem, kept = self.problem, self.kept
        if self.resumed is not None:
            self.resume_tree(self.resumed)
            return
        r = len(kept.block)
        ranks, rounds = self.plan.ranks, self.plan.rounds_of(r)
        ranks = ranks[:1] if rounds < self.plan.rounds else ranks
        self.total = ROUND * (1 if not ranks else 3 + len(ranks) * rounds)
        if self.is_small and self.plan.eigenvalues:
            if self.lower == 0.0:  # without a known value hardly any part of the supports can be closed
                self.point = ascent.swaps(problem, ascent.polish(problem, ascent.first_feature(problem)))
                self.lower = problem.covariance.quadratic(self.point)
            self.run_tree(None, work=self.plan.eigenvalues)
            if self.closed:
                return
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0 or self.no_room(least(problem, kept)):
            return
        if kept.fixed == problem.size:  # all features are forced, so the eigenvalue is a good bound
            self.offer(Witness(), kind="B0")
        if not self.kept.leading[0][0] > 0:  # A is zero on the kept rows
            self.offer(Witness())
            return
        plain = self.dual()
        whole = self.is_small or 1 < problem.n <= self.plan.whole
        at_once = kept.weights is None and (whole or (self.limits is not None and r > 1))
        if at_once and self.plan.branching and not self.closed:
            self.run_tree(self.first_witness(plain), self.warm_of(plain), ROOT_ROUNDS)
            nearly = self.upper <= self.lower * (1 + NEARLY)
            if nearly or self.limits is not None or self.is_small:
                return
        ranks = tuple(min(rank, r) for rank in ranks)
        for some in (ranks,) if kept.weights is not None else ((rank,) for rank in ranks):
            if some and not self.closed and not self.is_late:
                self.lift(plain, some)

    def dual(self) -> Splitting:
        """Try B5 and plain B6 by ADMM, and return the splitting.

        A second, larger penalty rho is tried as well, since its W often has a better lift.
        """
        splitting = self.splitting()
        self.advance(splitting, self.plan.first)
        self.offer_plain(splitting.entries.W)
        if self.plan.ranks and not self.closed:
            self.advance(splitting, ROUND)
            self.offer_plain(splitting.entries.W)
            other = self.splitting(rho=4.0)
            before = self.upper
            self.advance(other, ROUND)
            self.offer_plain(other.entries.W)
            splitting = other if self.upper < before else splitting
        return splitting

    def lift(self, plain: Splitting, ranks: tuple[int, ...]) -> None:
        """Improve a lift of the first rank, and go on with it in more dimensions if there are more ranks.

        `plain` is the splitting of `dual`, whose W and X are the starting point. Where a witness decides many
        features, a tree goes on with the lift.
        """
        count = None if self.kept.weights is None else 1
        splitting, W, rank = self.splitting(self.plan.rho, count), plain.entries.W, ranks[0]
        splitting.resume(W, plain.X)
        B = starts.basis(self.kept, W, rank)
        lift = add_lift(splitting, B, starts.first_point(self.problem, plain, B), self.plan.wait)
        for rank in ranks:
            if rank > lift.B.shape[1]:
                lift.rebase(starts.basis(self.kept, splitting.entries.W, rank))
            self.improve(splitting, lift, rank)
            if self.closed or self.is_late or self.decisive is not None:
                break
        if self.decisive is not None:
            rounds = ROUNDS if self.limits is None else ROOT_ROUNDS
            self.run_tree(self.decisive, self.warm_of(splitting, lift.points, lift), rounds)
            self.decisive = None

    def improve(self, splitting: Splitting, lift: Lift, rank: int) -> None:
        """Try B6, then B9: rounds of steps, each followed by an evaluation, until the gap hardly closes."""
        own, idle = np.inf, 0
        rounds = self.plan.rounds_of(len(self.kept.block))
        in_search = self.limits is not None
        may_begin = self.plan.branching > 0 and self.lower > 0
        may_begin &= in_search or (self.kept.weights is None and rank <= RANK)

        def enough(witness: Witness, t: float) -> bool:
            known = self.warm_of(splitting, lift.points, lift)
            return may_begin and self.is_decisive(witness, t, known)

        for number in range(1, rounds + 1):
            self.advance(splitting, ROUND)
            last = number == rounds or idle == PATIENCE - 1
            worth = 0.0 if last else WORTH * (self.upper - self.lower)
            below = -np.inf if in_search and not last else self.upper - worth
            reached = look(lift, self.prove, self.keep, below, enough, in_search)
            if self.decisive is not None:
                break
            closed_little = np.isfinite(own) and own - reached < STALL * max(own - self.lower, 0.0)
            idle = idle + 1 if closed_little else 0
            # at this rate the bound known before stays better
            hopeless = (
                number >= PATIENCE and reached - (rounds - number) * max(own - reached, 0.0) > self.known
            )
            own = min(own, reached)
            if self.closed or idle == PATIENCE or hopeless or self.is_late:
                break
