"""Cost estimates before a problem is solved: memory, passes over the data, seconds, and the bound to expect.

`nspca.plan` and the command of that name return a `Plan`. Specs estimate their cost for pages with `planned`.
"""

from nspca.data.formats.base import Size
from nspca.planning.costs import Plan, plan, planned, read_size

__all__ = ["Plan", "Size", "plan", "planned", "read_size"]
