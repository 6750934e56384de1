"""Random points of the range of A_d with a rank-1 problem at each: Algorithm 3 of the 2014 paper, near-linear
in n.

    maximise x'A_d x = max over unit c of max over feasible x of ((Vc)'x)^2

Idea: if ``(c'c*)^2 >= 1 - eps`` then the rank-1 answer at c reaches ``(1 - eps) OPT(A_d)``, and a uniform c
hits that double cap with probability ``p = I_eps((d-1)/2, 1/2)``.
Guarantee: with ``N = ceil(ln(n)/p)`` samples the answer is within 1 - eps of OPT(A_d) with probability at
least 1 - 1/n (Theorem 2 with its constant); for a sweep over K sparsities ``ln(nK)``. One sort of Vc scores
every k at once.
Cost: O(N n (d + log n)). The same points give the paper's bound on the optimum, `upper_bounds`: it holds with
that probability only, and is nobody's certificate.
Reference: Asteris et al. 2014, Alg. 3, Theorem 2 and Section 7.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from nspca.ascent import single as ascent
from nspca.errors import Refused
from nspca.matrix.linalg import Array, topk_indices
from nspca.options import positive, whole
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status

BATCH_ENTRIES = 1 << 18
"""Entries of Vc handled at once: 2 MB, which stays in the cache."""
REPORT_EVERY = 50
"""Points between two looks at the hook, one by one: some ten milliseconds."""
MOST_SAMPLES = 10_000_000
"""Samples beyond which the method is refused: minutes at n = 361, and the cone search is exact long
before.
"""


@dataclass(frozen=True)
class Options:
    """Options of `epsnet`.

    Attributes
    ----------
    rank : int
        d, the rank of the approximation.
    eps : float
        Accuracy of the net in (0, 1).
    samples : int or None
        Number of random points; None: Theorem 2's N.
    polish : bool
        Improve the answer on the full A afterwards.
    """

    rank: int = 3
    eps: float = 0.1
    samples: int | None = None
    polish: bool = True

    def __post_init__(self):
        whole("rank", self.rank, 1)
        positive("eps", self.eps)
        if self.eps >= 1:
            positive("1 - eps", 1 - self.eps)
        if self.samples is not None:
            whole("samples", self.samples, 1)


def samples_needed(n: int, d: int, eps: float, sparsities: int = 1) -> int:
    """N of Theorem 2: fails with probability at most 1/n for all `sparsities` values of k together; 1 when d
    = 1.
    """
    if d == 1:
        return 1
    p = float(betainc((d - 1) / 2, 0.5, eps))
    if p == 0.0:
        return np.iinfo(np.int64).max
    return max(1, math.ceil((math.log(n) + math.log(sparsities)) / p))


def failure_probability(samples: int, d: int, eps: float, sparsities: int = 1) -> float:
    """Chance that `samples` points miss the cap of some k: ``K (1 - p)^N`` at most."""
    p = 1.0 if d == 1 else float(betainc((d - 1) / 2, 0.5, eps))
    return min(1.0, sparsities * (1 - p) ** samples)


def require(problem: Problem, options: Options, sparsities: int = 1) -> int:
    """How many points are to be drawn; refused when they are more than `MOST_SAMPLES`."""
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
    """Best of N rank-1 answers for one k."""
    return path(problem, [problem.size], options, seed, report)[problem.size]


def path(problem: Problem, ks, options: Options, seed: int = 0, report: Report = silent) -> dict[int, Result]:
    """Best of N rank-1 answers for every k of `ks`, from one set of samples."""
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
        x = ascent.best_of(one, ascent.starts_from(one, V @ c))
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
    problem: Problem, ks, options: Options, seed: int = 0, report: Report = silent
) -> tuple[dict[int, float], float]:
    """The 2014 paper's upper bound on the optimum for every k: the value of Algorithm 3 on A_d over 1 - eps,
    plus ``l_{d+1}``.

    With ``v >= (1 - eps) OPT(A_d)``, which Theorem 2 promises of the value v with a probability,
    ``OPT <= v / (1 - eps) + l_{d+1}``.

    Returns
    -------
    upper : dict
        By k, in the units of the data; not cut at the leading eigenvalue.
    probability : float
        That all of them hold, at least.
    """
    ks = sorted(set(ks))
    d = min(options.rank, problem.n)
    values, vectors = problem.covariance.leading(min(d + 1, problem.n))
    count = require(problem, options, len(ks))
    reached = values_on_low_rank(
        vectors[:, :d] * np.sqrt(values[:d]), ks, problem.nonneg, count, seed, report
    )
    upper = (reached / (1 - options.eps) + values[d:].sum()) * problem.covariance.unit
    return dict(zip(ks, upper.tolist(), strict=True)), 1 - failure_probability(count, d, options.eps, len(ks))


def values_on_low_rank(V: Array, ks, nonneg: bool, count: int, seed: int, report: Report = silent) -> Array:
    """For every k the value of Algorithm 3 on ``A_d = VV'``: the largest ``|V'x|^2`` of the rank-1 answers x
    at the points of `sampled`.
    """
    rng, best = np.random.default_rng(seed), np.zeros(len(ks))
    for done in range(count):
        c = rng.standard_normal(V.shape[1])
        a = V @ (c / np.linalg.norm(c))
        scores, values = np.stack(
            [_at_every_k(V, sign * a, ks, nonneg) for sign in ((1, -1) if nonneg else (1,))], axis=1
        )
        answer = np.argmax(scores, axis=0)  # of the two signs, as the rank-1 problem has it
        best = np.maximum(best, values[answer, np.arange(len(ks))])
        if done % REPORT_EVERY == 0:
            report(Event("sampling", done, count))
    return best


def _at_every_k(V: Array, a: Array, ks, nonneg: bool) -> tuple[Array, Array]:
    """``(a'x)^2`` and ``|V'x|^2`` of the rank-1 answer x at this sign of a, for every k."""
    sizes, last = np.maximum(a, 0.0) if nonneg else np.abs(a), np.asarray(ks) - 1
    order = topk_indices(sizes, max(ks))
    order = order[np.argsort(-sizes[order], kind="stable")]
    x = sizes[order] if nonneg else a[order]
    length = np.cumsum(x * x)[last]
    reached = np.square(np.cumsum(x[:, None] * V[order], axis=0)[last]).sum(axis=1)
    return length, reached / np.where(length > 0, length, 1.0)


def sampled(
    V: Array, ks, nonneg: bool, count: int, seed: int, report: Report = silent
) -> tuple[Array, Array]:
    """For every k the sampled direction (len(ks), d) with the best rank-1 value, and that value
    (len(ks),).
    """
    n, d = V.shape
    rng = np.random.default_rng(seed)
    batch = min(max(1, BATCH_ENTRIES // n), count)
    entries = np.empty((batch, n))  # used again and again: fresh memory costs as much as the arithmetic
    best, directions = np.full(len(ks), -1.0), np.zeros((len(ks), d))
    for start in range(0, count, batch):
        C = rng.standard_normal((min(batch, count - start), d))
        C /= np.linalg.norm(C, axis=1, keepdims=True)
        for sign, scores in rank1_values(np.matmul(C, V.T, out=entries[: len(C)]), ks, nonneg):
            winner = np.argmax(scores, axis=0)
            reached = scores[winner, np.arange(len(ks))]
            better = reached > best
            best[better], directions[better] = reached[better], sign * C[winner[better]]
        report(Event("sampling", min(start + batch, count), count))
    return directions, best


def rank1_values(entries: Array, ks, nonneg: bool) -> Iterator[tuple[float, Array]]:
    """For the sign +1 (and -1 if `nonneg`): sums of the squares of the k largest positive entries of each
    row, (N, len(ks)).

    For all k at once from one sort. Reorders the rows of `entries` (N, n), and drops their signs unless
    `nonneg`.
    """
    n, most = entries.shape[1], max(ks)
    if not nonneg:
        np.abs(entries, out=entries)
    whole = len(ks) > 1 and most > n // 4  # then one sort serves both signs
    if whole:
        entries.sort(axis=1)
    for sign in (1.0, -1.0) if nonneg else (1.0,):
        last = n - most if sign > 0 else most - 1
        if not whole and most < n:
            entries.partition(last, axis=1)
        top = np.maximum(entries[:, last:][:, ::-1] if sign > 0 else -entries[:, : last + 1], 0.0)
        if len(ks) == 1:
            yield sign, np.einsum("ij,ij->i", top, top)[:, None]
        else:
            top = top if whole else np.sort(top, axis=1)[:, ::-1]
            yield sign, np.cumsum(top * top, axis=1)[:, np.asarray(ks) - 1]
