"""Trees of fixed features, as tests of bounds make them."""

from nspca.bounds import elimination
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import PLANS


def tree_on(problem, lower, kept=None, plan=PLANS["fast"], gap=1e-9, **limits):
    """Return a tree that has not begun, on all rows or on those of `kept`."""
    ground = Ground.of(problem, elimination.all_rows(problem) if kept is None else kept)
    return FixingTree(
        problem=problem, plan=plan, lower=lower, gap=gap, ground=ground, limits=Limits(**limits)
    )
