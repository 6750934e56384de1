"""Find the strongest certificate that an effort buys: on dense cores, or on the rows of safe elimination.

`core_search` tries cores, and `bound_search` has the bounds to try on some rows, their order, and when to
stop. Budgets are counts of steps that depend on the size alone, never on the clock, so the same input gives
the same certificate. Only `Limits` of a caller may name seconds.

`nspca.proving` calls `strongest` for `solve`, `certify` and every k of a sweep, after cheaper bounds.
"""

import time
from dataclasses import replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.bound_search import BoundSearch, least
from nspca.bounds.core_search import CoreSearch
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import PLANS, Plan, plan_in_parts
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, one_thread
from nspca.errors import Cancelled, InvalidOption
from nspca.problem import Problem
from nspca.progress import Report, silent

LEFT_OUT = 0.4
"""Maximum share of the value that k times the largest eliminated entry may reach."""
MOST_ROWS = 800
"""Maximum rows of safe elimination where a core may be tried. With more, a core proves as much in a third of
the time.
"""


def opening(plan: Plan) -> Plan:
    """Return the plan of the core with which a search for the optimum begins."""
    return replace(plan, cores=(600,), excesses=(0.3,), ranks=(4, 5, 6), rounds=8)


def strongest(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
    known: float = np.inf,
    limits: Limits | None = None,
    resume: dict[str, np.ndarray] | None = None,
    branching: bool = True,
) -> tuple[Certificate | None, Array | None]:
    """Return the best certificate that `effort` buys, and a better component if the search found one.

    Its kind is B4 to B9, or B0 where all k features are forced.

    Parameters
    ----------
    problem : Problem
    lower : float
        The best known value, in unit scale; 0 for none. It decides when to stop and how finely to search.
    effort : "fast" (a fraction of a second on small tables), "standard" (seconds) or "thorough" (minutes)
    report : callable
        Gets an `Event` of stage "dual" every few steps; raises `Cancelled` to stop. The exception then
        carries the best certificate.
    known : float
        A bound that is already proved, in unit scale. Work that cannot improve it is left out.
    limits : Limits, optional
        Limits of the search that branches, instead of those of the plan.
    resume : dict of ndarray, optional
        Arrays of the tree of a search on this problem (a certificate of the form "fixing"), to continue.
    branching : bool
        Whether features may be fixed and supports branched on. If not, the certificate has the form
        "inequality".

    Returns
    -------
    certificate : Certificate or None
        None when A is zero, when more features are forced than rows may be kept, and when no bound is better
        than `known`. With `limits` it also holds the tree of an unfinished search, whatever its bound.
    point : (n,) ndarray or None
        A component better than `lower`, if the search found one.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    plan = PLANS[effort] if branching else replace(PLANS[effort], branching=0.0, eigenvalues=0.0)
    if problem.covariance.trace == 0.0 or len(problem.forced) > plan.rows[-1]:
        return None, None
    # The matrices are small: several BLAS threads would spend most time waiting for each other.
    with one_thread():
        searched = limits is not None or resume is not None
        few = plan.rows if problem.n <= plan.rows[-1] else tuple(min(r, MOST_ROWS) for r in plan.rows)
        first: Certificate | None = None
        began, point = time.monotonic(), None
        if resume is None and core.pays(problem, few, LEFT_OUT * lower, lower):
            A = problem.covariance
            if core.few_in_reach(A):
                plan = plan_in_parts(effort, A.nonzeros)
            plan = plan if limits is None else opening(plan)
            cores = CoreSearch(problem, plan, max(lower, 0.0), report, known, limits=limits)
            first, point = cores.run()
            if limits is None or cores.has_tree or cores.closed:
                return first, point
            known, lower = cores.upper, cores.lower
        kept = kept_rows(problem, plan, lower, np.inf if searched else known)
        if kept is None:
            return first, point
        run = BoundSearch(problem=problem, plan=plan, lower=max(lower, 0.0), report=report, kept=kept)
        run.upper, run.known, run.best, run.point, run.began = known, known, first, point, began
        run.limits, run.resumed = limits, resume
        try:
            run.run()
            return run.with_tree, run.point
        except Cancelled as stop:
            stop.best, stop.point = run.with_tree, run.point
            raise


def kept_rows(problem: Problem, plan: Plan, lower: float, known: float) -> Kept | None:
    """Return the kept rows of safe elimination; None if no bound with them can be below `known`.

    The number of rows grows with k, so that eliminated entries do not determine tau.
    """
    kept = elimination.keep(problem, elimination.enough_rows(problem, plan.rows, LEFT_OUT * lower))
    return kept if least(problem, kept) < known else None
