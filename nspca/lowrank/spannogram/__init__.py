"""The nonnegative spannogram: exact rank-d answers by enumeration (Asteris et al. 2014, Sections 3 to 5).

    max  |V'x|^2   over   |x| = 1,  x has at most k nonzeros,  x >= 0          (V is n x d, A_d = VV')

For a fixed unit c in R^d the best x keeps the at most k largest positive entries of Vc (Prop. 3.1), so the
optimal support is one of ``S_d = { I_k+(Vc) : c }`` (eq. 14). `cells` finds all of S_d, `face` solves (P_d)
on one support, `exact` joins them (Alg. 1), and `rank2` finds which curves are on top at every angle of a
rank-2 matrix. The method `spannogram` calls `exact_rank_d`; the page Spannogram and the items of the 2014
paper use the parts.
"""

from nspca.lowrank.spannogram.cells import MAX_INTERSECTIONS, candidate_supports, enumerable, most_candidates
from nspca.lowrank.spannogram.exact import exact_rank_d
from nspca.lowrank.spannogram.face import solve_on_support
from nspca.lowrank.spannogram.rank2 import Band, direction, intervals_rank2

__all__ = [
    "MAX_INTERSECTIONS",
    "Band",
    "candidate_supports",
    "direction",
    "enumerable",
    "exact_rank_d",
    "intervals_rank2",
    "most_candidates",
    "solve_on_support",
]
