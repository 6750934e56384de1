"""Expectation-maximisation for sparse, nonnegative, or sparse nonnegative PCA.

    maximise x'Ax over unit x with at most k nonzeros (and x >= 0), A = Z'Z / m

Idea: EM for a one-dimensional probabilistic PCA without noise. E-step: scores y = Zw. M-step: the w that
reconstructs Z best from y is f/h with f = Z'y and h = y'y. With an l1 bound chosen so that k entries remain,
the (k+1)-th magnitude is subtracted from every entry (the closed form of the axis-aligned descent of Alg. 2).
With w >= 0, negative entries are dropped first. Since w is brought to length 1, h does not matter. Since f =
m Aw, the data enter by products only. At the end the best weights on the support are taken ("variational
renormalisation", the "opt" curves).
Guarantee: a local minimum of the l2 reconstruction error for a fixed l1 bound (Prop. 3.2). A fixed k lets the
l1 bound differ from step to step. There is no bound on the optimum.
Cost: O(n^2) per step, O(mn) from wide data.
Reference: Sigg & Buhmann 2008, Algorithms 1 and 2, eq. 12-17. All starts run side by side, as columns of one
matrix.
"""

# Called by `nspca.solving`, through `METHODS`; `penalised` has the form with a penalty.

from dataclasses import dataclass, field

import numpy as np

from nspca.covariance.linalg import Array, normalised_columns, rank1_columns
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions

STARTS = ("range", "paper")
"""Kinds of starts; see `Options.starts`."""
PENALTIES = ("covariance", "step")
"""Places of the penalty that keeps components at an angle; see `Options.penalty`."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `em`.

    Attributes
    ----------
    restarts : int
        Number of starts, at least 1.
    starts : str
        Kind of starts for nonnegative weights. "paper" takes random unit vectors of the nonnegative orthant,
        which mostly end in one place. "range" takes one such vector, and then positive parts of random points
        of the range of A, which find far more on wide data. For any sign both take the first principal
        component, as the paper, and then random unit vectors.
    iterations : int
        Maximum number of EM steps. A start that has not converged by then is used as it is.
    tol : float
        A start has converged once its cosine with the step before is above 1 - tol.
    polish : bool
        Improve the answer by power steps on the full A. Without it the answer is that of the paper.
    penalty : str
        Where the penalty is added that keeps components at an angle: to the matrix ("covariance", as for
        every method), or to the M-step ("step", the paper's eq. 17 with the term of eq. 20; weights are not
        renormalised then).
    """

    restarts: int = 10
    starts: str = field(default="range", metadata={"choices": STARTS})
    iterations: int = 300
    tol: float = 1e-9
    polish: bool = True
    penalty: str = field(default="covariance", metadata={"choices": PENALTIES})


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the best component of all starts after renormalisation."""
    W, steps = iterated(problem, starts(problem, options.restarts, seed, options.starts), options, report)
    plain = W[:, np.unique(W != 0, axis=1, return_index=True)[1]] if W.shape[1] > 1 else W
    X = ascent.on_supports(problem, plain)
    x = ascent.best_of(problem, X)
    info = {
        "starts": options.restarts,
        "iterations": steps,
        "converged": steps < options.iterations,
        "supports": plain.shape[1],
    }
    info["plain_value"] = max(problem.value(w) for w in plain.T)
    x = ascent.polish(problem, x) if options.polish else x
    return Result.of(problem, x, Status.HEURISTIC, "em", **info)


def starts(problem: Problem, count: int, seed: int, kind: str = "range") -> Array:
    """Return dense unit starts (n, count); see `Options.starts`."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((problem.n, count))
    if problem.nonneg and kind == "paper":
        W = np.abs(W)
    elif problem.nonneg:
        plain = np.abs(W)
        W = np.maximum(problem.covariance.product(W), 0.0)
        W[:, 0] = plain[:, 0]
    else:
        W[:, 0] = problem.covariance.leading(1)[1][:, 0]
    return normalised_columns(W)


def iterated(problem: Problem, W: Array, options: Options, report: Report = silent) -> tuple[Array, int]:
    """Run EM from every column of W (n, r); return unit columns of at most k nonzeros, and the steps."""
    A, k, nonneg = problem.covariance, problem.size, problem.nonneg
    W, active = W.copy(), np.arange(W.shape[1])
    for step in range(options.iterations):
        new = m_step(A.product(W[:, active]), k, nonneg)
        cosine = np.einsum("ij,ij->j", W[:, active], new)
        W[:, active] = new
        active = active[cosine < 1 - options.tol]
        report(Event("em", step, options.iterations, k=k, payload={"moving": int(active.size)}))
        if active.size == 0:
            return replace_zero_columns(problem, W), step + 1
    return replace_zero_columns(problem, W), options.iterations


def m_step(F: Array, k: int, nonneg: bool) -> Array:
    """Return the constrained M-step for every column f of F (n, r), brought to length 1.

    The step is soft thresholding at the (k+1)-th magnitude. Where k + 1 or more entries share the largest
    magnitude, nothing would be left; then the first k of them are kept.
    """
    size = np.maximum(F, 0.0) if nonneg else np.abs(F)
    n = F.shape[0]
    level = np.partition(size, n - k - 1, axis=0)[n - k - 1] if k < n else np.zeros(F.shape[1])
    left = np.maximum(size - level, 0.0)
    norms = np.linalg.norm(left, axis=0)
    W = left / np.where(norms > 0, norms, 1.0)
    W = W if nonneg else np.copysign(W, F)
    tied = norms == 0
    W[:, tied] = rank1_columns(F[:, tied], k, nonneg)
    return W


def replace_zero_columns(problem: Problem, W: Array) -> Array:
    """Replace the zero columns of W by a feasible unit vector, in place, and return W.

    A column is zero when A maps its start to a vector without an entry of the right sign.
    """
    dead = ~W.any(axis=0)
    W[:, dead] = ascent.first_feature(problem)[:, None]
    return W
