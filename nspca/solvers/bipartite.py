"""Find disjoint components by the 2015 paper: a net of directions with a matching at each point of the net.

    maximise  tr X'VV'X = max over C with unit columns of max over X of sum_j (x_j'Vc_j)^2,   X disjoint, s_j
    entries each,   VV' a low-rank approximation of A

Idea: with C given, the best X is a matching on the squares of W = VC and, on each support, W itself
(Cauchy-Schwarz). So try a net of C and keep the best X. If every column of the best C has a net point within
eps/2, then ``(x'Vc)^2 >= (1 - eps/2)^2 |V'x|^2 >= (1 - eps) |V'x|^2`` at that point, for the optimal x.
Guarantee: at least ``1 - eps`` of the optimum for VV' (Theorem 1), hence ``(1 - eps) OPT - 2 r |A - VV'|``
for A with r components (Theorem 2). The paper writes k for r, r for the rank of VV', and s for the entries.
The net has ``(4/eps)^(rank r)`` points. Beyond tiny cases `samples` random points are tried instead. This is
the early termination of the experiments in the paper, and has no guarantee.
Cost: one matching per point. Where all matchings can be listed, one product with the list serves many points.
Reference: Asteris, Papailiopoulos, Kyrillidis, Dimakis 2015, Algorithms 1-4, Theorems 1 and 2, section 5.
"""

# Called by `nspca.solving`, through `METHODS`.

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from nspca.covariance import sketch
from nspca.covariance.linalg import Array, normalised_columns, rank1_columns
from nspca.local_search import disjoint
from nspca.local_search.matching import every_matching
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions

FULL_NET = 100_000
"""Maximum points of a full net: half a minute at a third of a millisecond per matching."""
BLOCK = 100
"""Number of points between two progress reports."""
ROUNDING = 2.0**-48
"""Squared length, relative to the longest, below which a column of V is rounding and is left out."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `bipartite`.

    Attributes
    ----------
    rank : int
        Rank of the sketch; the paper's experiments use 4.
    eps : float
        Accuracy of the net in (0, 1).
    samples : int
        Number of random points when the full net would have more than `FULL_NET`.
    sketch : str
        A key of `nspca.covariance.sketch.SKETCHES`.
    climbs : int
        Number of the best points from which the search climbs on the sketch, which is not in the paper.
    polish : bool
        Climb on the full A afterwards, which is not in the paper.
    """

    rank: int = 4
    eps: float = field(default=0.1, metadata={"below": 1})
    samples: int = 2000
    sketch: str = field(default="svd", metadata={"choices": tuple(sketch.SKETCHES)})
    climbs: int = field(default=0, metadata={"least": 0})
    polish: bool = False


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the best answer of all points; `info` has the kind of points and their guarantee."""
    A, sizes, nonneg = problem.covariance, problem.sizes, problem.nonneg
    report(Event("sketch"))
    stand_in = sketch.make(options.sketch, A, options.rank)
    V, r = _reduced(stand_in.V), len(sizes)
    d = V.shape[1]
    size = net_size(d, options.eps, nonneg) ** r
    full = size <= FULL_NET
    count = size if full else options.samples
    points = net_points(d, r, options.eps, nonneg) if full else random_points(d, r, count, seed)
    X, reached, done = np.zeros((problem.n, r)), -1.0, 0
    best = _Best(options.climbs)
    for C in points:
        for Y, value in candidates(V, C, sizes, nonneg):
            if value > reached:
                X, reached = Y.copy(), value
            best.offer(V, Y, value)
        done += len(C)
        report(
            Event("full net" if full else "random points", done, count, lower=disjoint.value(A, X) * A.unit)
        )
    starts = best.directions()
    for j, C in enumerate(starts):
        Y, value = disjoint.climb_factor(V, normalised_columns(C), sizes, nonneg)
        if value > reached:
            X, reached = Y, value
        report(Event("climbs on the sketch", j + 1, len(starts), lower=disjoint.value(A, X) * A.unit))
    info = {
        "rank": d,
        "eps": options.eps,
        "sketch": options.sketch,
        "search": ("full net" if full else "stopped early: random points instead of the net")
        + (f", then {len(starts)} climb{'s' * (len(starts) > 1)} on the sketch" if starts else ""),
        "points": count,
        "net_points": theorem_size(d, r, options.eps),
        "promise": 1 - options.eps if full else 0.0,
        "loss": stand_in.loss(r) * A.unit,
        "sketch_value": reached * A.unit,
    }
    if options.polish:
        X = disjoint.climb(A, X, sizes, nonneg)[0]
    return Result.of(problem, X, Status.HEURISTIC, "bipartite", **info)


class _Best:
    """The best answers that were offered, at most `most` of them.

    Answers have different supports, because climbs from equal supports mostly lead to one answer.
    """

    def __init__(self, most: int):
        self.most, self.beyond = most, -math.inf if most else math.inf
        self.kept: dict[bytes, tuple[float, Array]] = {}  # by the supports, in any order: value and V'X

    def offer(self, V: Array, X: Array, value: float) -> None:
        """Keep an answer X (n, r) if its value on the sketch V is among the best."""
        if value <= self.beyond:
            return
        supports = b"".join(sorted(np.packbits(x != 0).tobytes() for x in X.T))
        if value <= self.kept.get(supports, (-math.inf,))[0]:
            return
        self.kept[supports] = value, V.T @ X
        if len(self.kept) > self.most:
            del self.kept[min(self.kept, key=lambda one: self.kept[one][0])]
        if len(self.kept) == self.most:
            self.beyond = min(value for value, _ in self.kept.values())

    def directions(self) -> list[Array]:
        """Return ``V'X`` (d, r) of every answer, the best first."""
        return [C for _, C in sorted(self.kept.values(), key=lambda one: one[0], reverse=True)]


def candidates(V: Array, C: Array, sizes: Sequence[int], nonneg: bool) -> Iterator[tuple[Array, float]]:
    """Yield the X (n, r) of Algorithm 2 at every point of C (N, d, r), and its ``tr X'VV'X``."""
    if len(sizes) == 1:
        X = rank1_columns(V @ C[:, :, 0].T, sizes[0], nonneg)
        X[0, ~X.any(axis=0)] = 1.0
        for j, value in enumerate(np.square(V.T @ X).sum(axis=0).tolist()):
            yield X[:, j : j + 1], value
        return
    every = every_matching(len(V), sizes)
    if every is None:
        for c in C:
            X = disjoint.candidate(V @ c, sizes, nonneg)
            yield X, float(np.square(V.T @ X).sum())
        return
    found = disjoint.candidates(V @ C, every, nonneg)
    for X, value in zip(found, np.square(V.T @ found).sum(axis=(1, 2)).tolist(), strict=True):
        yield X, value


def theorem_size(d: int, r: int, eps: float) -> float:
    """Return ``(4/eps)^(d r)``, the number of points in Theorem 1; inf beyond the range of float64."""
    digits = d * r * math.log10(4 / eps)
    return 10.0**digits if digits < 308 else math.inf


def net_size(d: int, eps: float, nonneg: bool) -> int:
    """Return the number of points of `net` in d dimensions."""
    return (2 if nonneg else 1) * d * _cells(d, eps) ** (d - 1)


def _cells(d: int, eps: float) -> int:
    return math.ceil(2 * math.sqrt(d - 1) / eps)


def net(d: int, eps: float, nonneg: bool) -> Array:
    """Return unit vectors (N, d) within eps/2 of every unit vector (signed problems: of it or its negative).

    The surface of the cube [-1, 1]^d is cut into cells of side ``h <= eps / sqrt(d - 1)``, and their centres
    are normalised. A unit c scaled to the surface lies within ``h sqrt(d - 1) / 2 <= eps/2`` of a centre.
    Both points are outside the unit ball. Normalising projects them on the ball, which cannot increase their
    distance. Opposite faces differ by sign only.
    """
    m = _cells(d, eps)
    ticks = (2 * np.arange(m) + 1) / max(m, 1) - 1
    inner = np.array(list(product(ticks, repeat=d - 1)))
    faces = np.concatenate([np.insert(inner, axis, 1.0, axis=1) for axis in range(d)])
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    return np.concatenate((faces, -faces)) if nonneg else faces


def net_points(d: int, r: int, eps: float, nonneg: bool) -> Iterator[Array]:
    """Yield the r-th Cartesian power of `net`, in blocks (N, d, r)."""
    one = net(d, eps, nonneg)
    count = len(one) ** r
    for start in range(0, count, BLOCK):
        columns = np.unravel_index(np.arange(start, min(start + BLOCK, count)), (len(one),) * r)
        yield one[np.stack(columns)].transpose(1, 2, 0)


def random_points(d: int, r: int, count: int, seed: int) -> Iterator[Array]:
    """Yield `count` points with independent columns, uniform on the sphere, in blocks (N, d, r)."""
    rng = np.random.default_rng(seed)
    for start in range(0, count, BLOCK):
        C = rng.standard_normal((min(BLOCK, count - start), d, r))
        yield C / np.linalg.norm(C, axis=1, keepdims=True)


def _reduced(V: Array) -> Array:
    """Return V without columns of rounding, with signs that do not depend on order or signs of features.

    The signs follow from the first column. So equal random points give equal answers for tables that differ
    only in the order or the signs of features.
    """
    lengths = np.square(V).sum(axis=0)
    kept = lengths > ROUNDING * lengths.max()
    V = V[:, kept] if kept.any() else V[:, :1]
    return V * np.where(np.sign(V[:, 0]) @ V < 0, -1.0, 1.0)
