"""Hold every fixing of the search for the optimum against brute force, on small and degenerate problems.

    python -m benchmarks.fixings [--count N] [--seed S]

Makes trees for problems of up to 14 features: random ones, ties, duplicate and zero columns, opposed
features, rank 1, k = 1 and k = n, forced features, features without rows, and levels below the optimum. A
feature that a stage fixes out, or in, is wrong if an answer with it, or without it, exceeds the level. Prints
how many features were fixed and how many of them wrongly; `nspca.verify` must accept each tree.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import nspca
from benchmarks.shared import arguments, say
from nspca.bounds import elimination
from nspca.bounds.fixing import eigenvalues, lifts, settle
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import REDUCED, Node, Supports
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import Witness, lifted

LARGEST = 14
PLAN = replace(PLANS["fast"], cap=400)
TREES = 4
"""Trees made of each problem, with a level, a witness and rows of their own."""
LEAN = ((eigenvalues, "COUNTED", 0.0), (lifts, "RANK", 2), (settle, "FIX_CAP", 400))
"""Supports are not gone through, which would leave nothing to fix, and small problems need no large lifts."""
CLOSE = 1e-9
"""Relative excess over a level that the rounding of the oracle explains."""
KINDS = ("plain", "ties", "duplicates", "zeros", "positive", "rank 1", "opposed", "graded")


def tables(count: int, seed: int) -> Iterator[tuple[np.ndarray, int, np.random.Generator]]:
    """Yield tables, each with k, and random numbers for what is made of it."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind, n, m = KINDS[number % len(KINDS)], int(rng.integers(4, LARGEST + 1)), int(rng.integers(1, 20))
        X = rng.standard_normal((m, n))
        if kind == "ties":
            X = np.round(X)
        elif kind == "duplicates":
            X[:, rng.integers(n, size=max(1, n // 3))] = X[:, :1]
        elif kind == "zeros":
            X[:, rng.integers(n, size=max(1, n // 4))] = 0.0
        elif kind == "positive":
            X = np.abs(X)
        elif kind == "rank 1":
            X = np.outer(X[:, 0], X[0])
        elif kind == "opposed":
            X[:, 1::2] = -X[:, : len(X[0, 1::2])] + 0.1 * X[:, 1::2]
        elif kind == "graded":
            X = X * np.geomspace(3.0, 0.1, n)
        k = int(rng.choice([1, n, *rng.integers(1, n + 1, size=4)]))
        if X.any():
            yield X, k, rng


def values_of_sets(A: np.ndarray, nonneg: bool) -> np.ndarray:
    """Return for every set of features, as a bit mask, the largest x'Ax of unit x whose support it is.

    Nonnegative maximisers are leading eigenvectors of one sign of their own support. A set without one has
    -inf: its best answer has a smaller support.
    """
    n = len(A)
    found = np.full(2**n, -np.inf)
    sets = np.arange(2**n)
    bits = (sets[:, None] >> np.arange(n)) & 1
    sizes = bits.sum(axis=1)
    for size in range(1, n + 1):
        own = sets[sizes == size]
        rows = np.nonzero(bits[own])[1].reshape(-1, size)
        values, vectors = np.linalg.eigh(A[rows[:, :, None], rows[:, None, :]])
        top = vectors[:, :, -1]
        largest = np.argmax(np.abs(top), axis=1)
        top = top * np.sign(np.take_along_axis(top, largest[:, None], axis=1))
        found[own] = np.where((top >= -1e-9).all(axis=1) | (not nonneg), values[:, -1], -np.inf)
    return found


@dataclass(eq=False)
class Oracle:
    """Brute force for the answers of one problem, in unit scale."""

    values: np.ndarray
    n: int
    k: int

    def best(self, supports: Supports, having: int | None = None, lacking: int | None = None) -> float:
        """Return the largest value of answers in `supports` that have a feature, or lack one."""
        into = sum(1 << int(j) for j in supports.into) | (0 if having is None else 1 << having)
        able = into | sum(1 << int(j) for j in supports.possible)
        if lacking is not None:
            able &= ~(1 << lacking)
        sets = np.arange(2**self.n)
        room = np.bitwise_count(sets | into) <= self.k
        return float(self.values[room & ((sets & ~able) == 0)].max(initial=0.0))


def wrong_fixings(root: Node, supports: Supports, oracle: Oracle) -> tuple[int, int]:
    """Return how many features a tree fixes, and how many of them wrongly."""
    fixed, wrong, waiting = 0, 0, [(root, supports)]
    while waiting:
        node, supports = waiting.pop()
        for stage in node.stages:
            level = stage.use.t + stage.use.F
            high = level * (1 + CLOSE) + 1e-300
            wrong += sum(oracle.best(supports, having=int(j)) > high for j in stage.out)
            wrong += sum(oracle.best(supports, lacking=int(j)) > high for j in stage.into)
            fixed += stage.out.size + stage.into.size
            supports = supports.fix(stage.out, stage.into)
        if node.feature == REDUCED:  # its child is about the same supports
            waiting.append((node.children[0], supports))
        elif node.children:
            one, none = np.array([node.feature]), np.zeros(0, dtype=np.int64)
            waiting.append((node.children[0], supports.fix(none, one)))
            waiting.append((node.children[1], supports.fix(one, none)))
    return fixed, wrong


def tried(X: np.ndarray, k: int, nonneg: bool, rng: np.random.Generator) -> tuple[int, int]:
    """Return how many features the trees of one problem fix, and how many of them wrongly."""
    n = X.shape[1]
    forced: tuple[int, ...] = ()
    if rng.random() < 0.2:
        forced = tuple(sorted(map(int, rng.choice(n, int(rng.integers(0, k + 1)), replace=False))))
    problem = nspca.Problem.from_data(X, k, nonneg, center=False, forced=forced)
    A = problem.covariance.matrix
    oracle = Oracle(values_of_sets(A, nonneg), n, k)
    whole = Supports(
        np.array(forced, dtype=np.int64), np.setdiff1d(problem.usable, forced).astype(np.int64), k
    )
    total = np.zeros(2, dtype=int)
    for _ in range(TREES):
        total += one_tree(problem, X, oracle, whole, rng)
    return int(total[0]), int(total[1])


def one_tree(
    problem: nspca.Problem, X: np.ndarray, oracle: Oracle, whole: Supports, rng: np.random.Generator
) -> tuple[int, int]:
    """Return how many features one tree of a problem fixes, and how many of them wrongly."""
    best, n = oracle.best(whole), problem.n
    few = rng.random() < 0.3
    kept = elimination.keep(problem, int(rng.integers(1, n + 1))) if few else elimination.all_rows(problem)
    tree = FixingTree(
        problem=problem,
        plan=PLAN,
        lower=best * float(rng.choice([1.0, 1.0, 1.0, 0.97, 0.8])),
        ground=Ground.of(problem, kept),
        limits=Limits(nodes=3),
    )
    witness = None
    if len(kept.block):
        W = elimination.search_threshold(kept, problem)[1]
        witness = Stored.of(kept.features, lifted(kept, Witness(W), int(rng.integers(1, 4)))[0])
    tree.begin(witness, None, int(rng.integers(0, 3)))
    tree.run()
    assert tree.root is not None  # no limit of time
    proof = tree.certificate()
    if proof.upper < best * problem.covariance.unit * (1 - CLOSE):
        raise AssertionError(f"a bound below brute force: {proof.upper!r}, k = {problem.k}")
    nspca.verify(X, proof, problem)
    return wrong_fixings(tree.root, whole, oracle)


def main() -> None:
    """Print the counts."""
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=1000, help="problems of each sign (default 1000)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for module, name, value in LEAN:
        setattr(module, name, value)
    started, total = time.process_time(), np.zeros((2, 2), dtype=int)
    for sign, nonneg in enumerate((True, False)):
        for X, k, rng in tables(args.count, args.seed + sign):
            total[sign] += tried(X, k, nonneg, rng)
    for name, (fixed, wrong) in zip(("nonnegative", "signed"), total, strict=True):
        say(f"{name}: {args.count} problems, {fixed} fixings, {wrong} wrong")
    fixed, wrong = total.sum(axis=0)
    say(f"together: {fixed} fixings, {wrong} wrong, {time.process_time() - started:.0f} CPU s")


if __name__ == "__main__":
    main()
