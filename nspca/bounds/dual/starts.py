"""Begin a lift from the W and X of a related problem: the subspace, the first points and the first prices.

`dual_search` and `fixing.lifts` call `begin_lift`, and `dual_search` `first_prices` for several components.
"""

from collections.abc import Callable

import numpy as np

from nspca.bounds.dual.bundle import CLIMBS, Sought, climb
from nspca.bounds.dual.lift import ENTERING, GAP, Lift, add_lift
from nspca.bounds.dual.rowcuts import WAIT
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.weights import Curvature, descend
from nspca.bounds.witness import Witness, lift_of
from nspca.covariance.linalg import Array, topk_sum

LOOKS = 40
"""Number of price updates before the first step. They are cheap, since no matrix of the size of A is used."""
FIRST_BEND, BEND = 0.3, 0.05
"""Penalty parameter `Priced.bend`: before the first step relative to the largest value of a point over k,
then relative to the largest price.
"""


def begin_lift(
    splitting: Splitting,
    witness: Witness,
    X: Array,
    rank: int,
    counts: tuple[tuple[int, int], ...],
    *,
    points: Array | None = None,
    wait: int = WAIT,
    priced: bool = False,
) -> Lift:
    """Return a lift in the leading subspace of A - W that goes on from a witness and X (r, r).

    Without U the lift begins with that of `lift_of`. `counts` has each size with its number of components.
    Without feasible `points` (r, p) of the first size, climbs find some. Further parameters are those of
    `add_lift`.
    """
    W = np.zeros(X.shape) if witness.W is None else witness.W
    splitting.resume(W, X)
    plain, _ = lift_of(splitting.kept, Witness(W), rank)
    B = np.linalg.qr(np.column_stack((plain, np.eye(len(W))[:, :rank])))[0][:, :rank]
    found = first_points(splitting, plain, counts) if points is None or not points.size else [points]
    lift = add_lift(splitting, B, found, counts, wait, priced)
    lift.resume(plain if witness.U is None else witness.U, X)
    if witness.M is not None and lift.cuts.wait:
        lift.cuts.begin(splitting.X, witness.M)
    return lift


def first_points(splitting: Splitting, U: Array, counts: tuple[tuple[int, int], ...]) -> list[Array]:
    """Return feasible points (r, p) for each size of `counts`, found by climbs with a lift U (r, d)."""
    C = np.random.default_rng(0).standard_normal((U.shape[1] + 1, CLIMBS))
    root_tau, none, fixed = np.sqrt(splitting.entries.tau), np.zeros(len(U)), splitting.kept.fixed
    priced = len(counts) > 1 or counts[0][1] > 1
    sought = (Sought(size, splitting.nonneg, fixed, priced) for size, _ in counts)
    found = (climb(U, root_tau, one, C, none)[0] for one in sought)
    return [np.unique(X.round(9), axis=1) for X in found]


def first_prices(lift: Lift, most: int, tell: Callable[[], None], moving: bool = False) -> None:
    """Set the prices of a lift to good ones for its present U and tau.

    The bound for the points of the bundle, ``topk(pi) + sum_j max_p (value_p - pi(I_p))``, is minimised by
    the method of multipliers while climbs add new points. The best prices are kept.

    Parameters
    ----------
    lift : Lift
    most : int
        Sum of the sizes: the number of prices in topk.
    tell : callable
        Called after every update; may raise `Cancelled`.
    moving : bool
        Whether the scales of rows move as well. They should where they are all 1 so far.
    """
    prices, bound = lift.prices, np.inf
    assert prices is not None
    best = prices.values
    for look in range(LOOKS):
        tops = lift.grow()
        values = lift.values(lift.U, np.zeros(lift.splitting.n), lift.splitting.entries.tau)
        if not look:
            prices.bend = FIRST_BEND * float(values.max()) / lift.k
        if prices.bend <= 0.0:
            return  # U and tau are zero
        reached = float(topk_sum(prices.values, most) + lift.totals @ tops)
        if reached < bound:
            best, bound = prices.values, reached
        supports = lift.supports

        def cost(w: Array, values: Array = values, supports: Array = supports) -> float:
            """Return the penalty of the prices less the value of the points, at weights w."""
            return float(prices.cost(supports @ w) - values @ w)

        def slopes(w: Array, values: Array = values, supports: Array = supports) -> tuple[Array, Curvature]:
            """Return the gradient, and a function that returns parts of the Hessian, of the cost."""
            first, second = prices.slopes(supports @ w)

            def curvature(chosen: np.ndarray | slice) -> Array:
                """Return the rows and columns of the Hessian for some points."""
                some = supports[:, chosen]
                return some.T @ (second[:, None] * some)

            return first @ supports - values, curvature

        lift.share = descend(cost, slopes, lift.share, lift.group, GAP * float(values.max()), ENTERING)
        prices.settle(lift.z)
        if moving:
            lift.move_scales()
        tell()
    prices.values = best
    top = float(best.max())
    prices.bend = BEND * top if top > 0 else prices.bend
