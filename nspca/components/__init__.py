"""Several components, one after another: deflations, a minimum angle, and what such components explain.

`nspca.solve` and the specs call these for answers with several components that are not found together.
"""

from nspca.components.angle import at_an_angle, check_angle
from nspca.components.deflation import DEFLATIONS, check_deflation, check_disjoint, successive
from nspca.components.variance import explained_variances, shares_of_rows

__all__ = [
    "DEFLATIONS",
    "at_an_angle",
    "check_angle",
    "check_deflation",
    "check_disjoint",
    "explained_variances",
    "shares_of_rows",
    "successive",
]
