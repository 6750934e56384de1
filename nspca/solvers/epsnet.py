"""Solve a rank-1 problem at random points of the range of A_d: Algorithm 3 of the 2014 paper, near-linear in
n.

    maximise x'A_d x = max over unit c of max over feasible x of ((Vc)'x)^2

Idea: if ``(c'c*)^2 >= 1 - eps`` then the rank-1 answer x at c reaches ``(1 - eps) OPT(A_d)``, and a uniform c
hits that double cap with probability ``p = I_eps((d-1)/2, 1/2)``. The answer with the largest ``|V'x|`` is
kept, which is at least ``|c'V'x|`` for every c.
Guarantee: with ``N = ceil(ln(n)/p)`` samples the answer is within 1 - eps of OPT(A_d) with probability at
least 1 - 1/n. That is Theorem 2, with N in the place of its O(eps^-d log n). A sweep over K sparsities needs
``ln(nK)`` in the place of ``ln(n)``. One sort of Vc serves every k at once.
Cost: O(N n (d + log n)). The same points give the paper's bound on the optimum, `upper_bounds`. It holds with
that probability only, so it is no certificate.
Reference: Asteris et al. 2014, Alg. 3, Theorem 2 and Section 7.
"""

# Called by `nspca.solving`, through `METHODS`; the items of the paper call `upper_bounds`.

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nspca.covariance.linalg import Array, rank1
from nspca.errors import Refused
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions

BATCH_ENTRIES = 1 << 18
"""Maximum entries of Vc, or of rows of V in answers, handled at once: 2 MB, which stay in the cache."""
MOST_SAMPLES = 10_000_000
"""Maximum number of samples: they take minutes at n = 361, where the exact cone search is quicker."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `epsnet`.

    Attributes
    ----------
    rank : int
        d, the rank of the approximation.
    eps : float
        Accuracy of the net in (0, 1).
    samples : int or None
        Number of random points. With None, the number that Theorem 2 needs, see `samples_needed`.
    polish : bool
        Improve the answer on the full A afterwards.
    """

    rank: int = 3
    eps: float = field(default=0.1, metadata={"below": 1})
    samples: int | None = None
    polish: bool = True


def cap(d: int, eps: float) -> float:
    """Return the chance p that a uniform unit c lies in the double cap ``(c'c*)^2 >= 1 - eps``, for d > 1.

    The chance is ``I_eps((d - 1) / 2, 1/2)``, the regularised incomplete beta function.
    """
    from scipy.special import betainc  # slow to import, and needed for this one number

    return float(betainc((d - 1) / 2, 0.5, eps))


def samples_needed(n: int, d: int, eps: float, sparsities: int) -> int:
    """Return the number of points of Theorem 2 for a probability of failure of at most 1/n.

    The probability is that for all `sparsities` values of k together. One point is enough when d = 1.
    """
    if d == 1:
        return 1
    p = cap(d, eps)
    if p == 0.0:
        return np.iinfo(np.int64).max
    return max(1, math.ceil((math.log(n) + math.log(sparsities)) / p))


def failure_probability(samples: int, d: int, eps: float, sparsities: int = 1) -> float:
    """Return an upper bound on the chance that `samples` points miss the cap of some k: ``K (1 - p)^N``."""
    p = 1.0 if d == 1 else cap(d, eps)
    return min(1.0, sparsities * (1 - p) ** samples)


def require(problem: Problem, options: Options, sparsities: int = 1) -> int:
    """Return the number of points to draw; refuse more than `MOST_SAMPLES`."""
    d = min(options.rank, problem.n)
    count = (
        samples_needed(problem.n, d, options.eps, sparsities) if options.samples is None else options.samples
    )
    if count > MOST_SAMPLES:
        raise Refused(
            f"epsnet needs {count:.2g} samples for rank {d} and eps {options.eps:g}, more than "
            f"{MOST_SAMPLES:.0e}; use cone"
        )
    return count


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the best of N sampled rank-1 answers x for one k: the one with the largest ``|V'x|``."""
    return path(problem, [problem.size], options, seed, report)[problem.size]


def path(
    problem: Problem, ks: Iterable[int], options: Options, seed: int = 0, report: Report = silent
) -> dict[int, Result]:
    """Return the answer of `solve` for every k of `ks`, from one set of samples."""
    ks = sorted(set(ks))
    d, count = min(options.rank, problem.n), require(problem, options, len(ks))
    values, vectors = problem.covariance.leading(d)
    V = vectors * np.sqrt(values)
    needed = samples_needed(problem.n, d, options.eps, len(ks))
    directions, best = sampled(V, ks, problem.nonneg, count, seed, report)
    chance = failure_probability(count, d, options.eps, len(ks))
    results = {}
    for k, c, value in zip(ks, directions, best, strict=True):
        one = problem.with_k(k)
        x = rank1(V @ c, k, problem.nonneg)
        x = x if x.any() else ascent.first_feature(one)
        x = ascent.polish(one, x) if options.polish else x
        info = {
            "rank": d,
            "eps": options.eps,
            "samples": count,
            "samples_needed": needed,
            "failure_probability": chance,
        }
        results[k] = Result.of(
            one, x, Status.HEURISTIC, "epsnet", **info, rank_d_value=float(value) * one.covariance.unit
        )
    return results


def upper_bounds(
    problem: Problem, ks: Iterable[int], options: Options, seed: int, report: Report
) -> tuple[dict[int, float], float]:
    """Return the 2014 paper's upper bound on the optimum for every k, which holds with a probability.

    Let v be the value of Algorithm 3 on A_d. By Theorem 2, ``v >= (1 - eps) OPT(A_d)`` with a probability.
    Then ``OPT <= v / (1 - eps) + l_{d+1}``.

    Returns
    -------
    upper : dict
        By k, in the units of the data; not cut at the leading eigenvalue.
    probability : float
        Lower bound on the probability that all these bounds hold.
    """
    ks = sorted(set(ks))
    d = min(options.rank, problem.n)
    values, vectors = problem.covariance.leading(min(d + 1, problem.n))
    count = require(problem, options, len(ks))
    _, reached = sampled(vectors[:, :d] * np.sqrt(values[:d]), ks, problem.nonneg, count, seed, report)
    upper = (reached / (1 - options.eps) + values[d:].sum()) * problem.covariance.unit
    return dict(zip(ks, upper.tolist(), strict=True)), 1 - failure_probability(count, d, options.eps, len(ks))


def sampled(
    V: Array, ks: Sequence[int], nonneg: bool, count: int, seed: int, report: Report = silent
) -> tuple[Array, Array]:
    """Return for every k the best sampled direction (len(ks), d) and its value (len(ks),).

    The best direction is that whose rank-1 answer x has the largest ``|V'x|^2``.
    """
    n, d = V.shape
    rng, every = np.random.default_rng(seed), np.arange(len(ks))
    batch = min(max(1, BATCH_ENTRIES // max(n, max(ks) * d)), count)
    best, directions = np.full(len(ks), -1.0), np.zeros((len(ks), d))
    for start in range(0, count, batch):
        C = rng.standard_normal((min(batch, count - start), d))
        C /= np.linalg.norm(C, axis=1, keepdims=True)
        signs, values = answers(V, C, ks, nonneg)
        winner = np.argmax(values, axis=0)
        better = values[winner, every] > best
        winner, here = winner[better], every[better]
        best[better] = values[winner, here]
        directions[better] = signs[winner, here][:, None] * C[winner]
        report(Event("sampling", min(start + batch, count), count))
    return directions, best


def answers(V: Array, C: Array, ks: Sequence[int], nonneg: bool) -> tuple[Array, Array]:
    """Return the sign and the value of the rank-1 answer at every row c of C (N, d), for every k.

    The sign is that of c or -c, whichever has the answer x with the larger ``(x'Vc)^2``. The value is
    ``|V'x|^2``. Both arrays are (N, len(ks)).
    """
    entries = C @ V.T
    scores, values = _at_every_k(V, entries, ks, nonneg)
    signs = np.ones_like(scores)
    if nonneg:
        scores_below, below = _at_every_k(V, -entries, ks, nonneg)
        signs[scores_below > scores] = -1.0
        values = np.where(signs > 0, values, below)
    return signs, values


def _at_every_k(V: Array, entries: Array, ks: Sequence[int], nonneg: bool) -> tuple[Array, Array]:
    """Return ``(a'x)^2`` and ``|V'x|^2`` of the answer x to each row a of `entries` (N, n), for every k.

    The answer has the k largest entries of a, brought to length 1.
    """
    sizes = np.maximum(entries, 0.0) if nonneg else np.abs(entries)
    order = _largest(sizes, max(ks))
    if len(ks) > 1:
        by_size = np.argsort(np.take_along_axis(sizes, order, axis=1), axis=1)[:, ::-1]
        order = np.take_along_axis(order, by_size, axis=1)
    x = np.take_along_axis(sizes if nonneg else entries, order, axis=1)
    if len(ks) == 1:
        lengths, sums = np.einsum("ij,ij->i", x, x)[:, None], np.einsum("ij,ijd->id", x, V[order])[:, None]
    else:
        last = np.asarray(ks) - 1
        lengths = np.cumsum(x * x, axis=1)[:, last]
        sums = np.cumsum(x[:, :, None] * V[order], axis=1)[:, last]
    return lengths, np.square(sums).sum(axis=2) / np.where(lengths > 0, lengths, 1.0)


def _largest(sizes: Array, k: int) -> NDArray[np.intp]:
    """Return the positions (N, k) of the k largest entries of each row of `sizes` (N, n), in any order.

    Partitioning values is four times as quick as partitioning positions. It suffices where the k-th value of
    each row has no ties.
    """
    n = sizes.shape[1]
    level = np.partition(sizes, n - k, axis=1)[:, n - k]
    places = np.flatnonzero(sizes >= level[:, None])
    if places.size == len(sizes) * k:
        return places.reshape(-1, k) % n
    return np.argpartition(sizes, n - k, axis=1)[:, n - k :]
