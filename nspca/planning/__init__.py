"""Cost estimates before a problem is solved: memory, passes over the data, seconds, and the bound to expect.

sizes     rows, columns and nonzeros of a source, from its header where that says them
machine   how fast this machine computes, measured once and kept
costs     the plan
"""

from nspca.planning.costs import Plan, plan, planned
from nspca.planning.sizes import Size

__all__ = ["Plan", "Size", "plan", "planned"]
