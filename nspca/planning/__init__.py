"""Cost estimates before a problem is solved: memory, passes over the data, seconds, and the bound to expect.

sizes     rows, columns and nonzeros of a source, from the probe of its reader
machine   the speed of this machine, measured once and kept
costs     the plan: memory, passes and seconds

`nspca.plan` and the command of that name return a `Plan`. Specs estimate their cost for pages with `planned`.
"""

from nspca.data.formats import Size
from nspca.planning.costs import Plan, plan, planned

__all__ = ["Plan", "Size", "plan", "planned"]
