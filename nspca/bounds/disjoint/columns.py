"""Prices of features from a linear program over sets of features, the columns.

    max sum_S value(S) y_S   over   y >= 0,   sum over the sets S with feature j of y_S <= 1  for every j,
    sum over the sets S of a class of y_S <= number of components of the class

A class is the components of equal size for which the same features are in and out. value(S) is x'Ax of the
best component x on S. A class may take fewer sets than it has components: x'Ax on S is at most what S without
j and j alone explain together, as A is positive semidefinite, so this gains nothing. The multipliers of the
features are their prices pi.
The multiplier of a class is the largest value(S) - pi(S) over its columns, where pi(S) is the sum of the
prices of S. Better columns for the prices are found by ascents from many points, and join. The steps between
prices are damped, since the multipliers of few columns swing.
Any prices that are not negative are valid, so nothing here is a proof. `search.JointTree` holds one pool of
`Columns` and asks it for the prices of each of its nodes.
Source: column generation for set packing; du Merle et al. 1999 for the damping.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from nspca.bounds.disjoint.state import State
from nspca.covariance.linalg import Array, topk_sum
from nspca.local_search.single import best_on_support

ROUNDS = 80
"""Number of linear programs for one state, at most."""
STARTS = 32
"""Random starts of the ascents in each round, besides features and columns in use."""
LEADING = 48
"""Maximum features whose columns of A are starts of ascents, and maximum columns in use that are."""
CLIMB = 25
"""Maximum steps of an ascent. Most ascents have stopped by then."""
DAMPED = 0.6
"""Weight of the best prices so far in the prices of the next round."""
CLOSE = 1e-9
"""Relative distance of the linear program from the bound of the ascents at which prices have settled."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices for the features of a state, and the solution of the linear program behind them.

    Attributes
    ----------
    pi : (r,) float64
        Price of each row of the matrix, at least 0.
    tops : tuple of float
        For each class the largest value(S) - pi(S) of the known sets S that its components may have.
    program : float
        Value of the linear program over all columns known.
    shares : list of (class, column, share)
        The columns that the linear program takes: number of the class, set, and y_S.
    """

    pi: Array
    tops: tuple[float, ...]
    program: float
    shares: list[tuple[int, tuple[int, ...], float]]

    @property
    def is_whole(self) -> bool:
        """Tell whether the program takes whole columns, which are an answer of the problem then."""
        return bool(self.shares) and all(share > 1 - 1e-6 for _, _, share in self.shares)


class Columns:
    """Pool of sets of rows of A (r, r), in the order in which they were added.

    `values` has the value of the best component of each set.
    """

    def __init__(self, A: Array, nonneg: bool):
        self.A, self.nonneg, self.values = A, nonneg, dict[tuple[int, ...], float]()
        self._incidence = sp.csc_array((len(A), 0))

    def add(self, features: Sequence[int] | np.ndarray) -> tuple[int, ...]:
        """Add a set of rows and the value of its best component, and return the set, sorted."""
        key = tuple(np.unique(np.asarray(features, dtype=np.int64)).tolist())
        if key not in self.values:
            x = self.best(key)
            self.values[key] = float(x @ self.A[np.ix_(key, key)] @ x)
        return key

    def best(self, S: tuple[int, ...]) -> Array:
        """Return the weights (s,) of the best component that a local search finds on a set."""
        own = np.array(S, dtype=np.int64)
        start = np.full(own.size, own.size**-0.5)
        return best_on_support(self.A[np.ix_(own, own)], start, self.nonneg)

    def prices(self, state: State, first: Array | None = None) -> Prices:
        """Return prices for a state whose features are the rows of A; `first` are prices to begin near."""
        rng, classes = np.random.default_rng(0), state.classes
        for c, *_ in classes:
            must, free = state.must(c), state.free(c)
            best = free[np.argsort(-self.A[free, free], kind="stable")[: state.sizes[c] - must.size]]
            self.add(np.append(must, best) if must.size + best.size else [0])
        centre, reached, count = first, np.inf, 0
        best = np.zeros(len(self.A)) if first is None else first
        for round_ in range(ROUNDS):
            if len(self.values) > count:  # the solution for the same columns is the same
                found, count = self.program(state, classes), len(self.values)
            pi = found.pi
            if centre is not None and round_ < ROUNDS - 2:
                pi = DAMPED * centre + (1 - DAMPED) * found.pi
            tops = [self.climb(state, c, pi, found, rng) for c, *_ in classes]
            bound = float(topk_sum(pi, sum(state.sizes)))
            bound += sum(top * len(own) for top, own in zip(tops, classes, strict=True))
            if bound < reached:
                best, centre, reached = pi, pi, bound
            if reached - found.program <= CLOSE * abs(found.program):
                break
        last = self.program(state, classes) if len(self.values) > count else found
        known = tuple(self.top(state, c, best) for c, *_ in classes)
        return Prices(best, known, last.program, last.shares)

    @property
    def incidence(self) -> sp.csc_array:
        """Return the matrix (n, p) that is 1 where a known set has a row."""
        before = self._incidence.shape[1]
        if before < len(self.values):
            sets = list(itertools.islice(self.values, before, None))
            rows, ends = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
            new = sp.csc_array((np.ones(rows.size), rows, ends), (len(self.A), len(sets)))
            self._incidence = sp.hstack((self._incidence, new), format="csc")
        return self._incidence

    def held(self, state: State, c: int) -> np.ndarray:
        """Return the numbers (.,) of the known sets that component c may have."""
        marks = np.zeros((3, state.n))
        marks[0, list(state.into[c])] = marks[1, list(state.out[c])] = marks[2] = 1.0
        into, out, sizes = marks @ self.incidence
        return np.flatnonzero((into == len(state.into[c])) & (out == 0) & (sizes <= state.sizes[c]))

    def top(self, state: State, c: int, pi: Array) -> float:
        """Return the largest value(S) - pi(S) of the known sets S that component c may have."""
        own = self.held(state, c)
        return float((np.array(list(self.values.values())) - pi @ self.incidence)[own].max())

    def program(self, state: State, classes: list[list[int]]) -> Prices:
        """Solve the linear program over the known columns that the classes may have; return its prices.

        Where the solver gives up, all prices are 0 and no column is taken: both are valid.
        """
        from scipy.optimize import linprog  # takes a tenth of a second to load, and few questions need it

        n, number, values = len(self.A), len(classes), np.array(list(self.values.values()))
        held, known = [self.held(state, own[0]) for own in classes], list(self.values)
        which, group = np.concatenate(held), np.repeat(np.arange(number), [own.size for own in held])
        sets = self.incidence[:, which]
        of_class = sp.csc_array((np.ones(group.size), (group, np.arange(group.size))), (number, group.size))
        packing, gains = sp.vstack((sets, of_class), format="csc"), values[which]
        scale = max(float(gains.max(initial=0.0)), 1e-300)
        solved = linprog(
            -gains / scale,
            A_ub=packing,
            b_ub=np.append(np.ones(n), [len(own) for own in classes]),
            method="highs",
        )
        if solved.status:
            tops = tuple(float(values[own].max()) for own in held)
            bound = sum(top * len(own) for top, own in zip(tops, classes, strict=True))
            return Prices(np.zeros(n), tops, bound, [])
        duals = np.maximum(-solved.ineqlin.marginals, 0.0) * scale
        pi, tops = duals[:n], tuple(duals[n:].tolist())
        taken = np.flatnonzero(solved.x > 1e-9)
        shares = [(int(group[i]), known[which[i]], float(solved.x[i])) for i in taken]
        return Prices(pi, tops, -float(solved.fun) * scale, shares)

    def climb(self, state: State, c: int, pi: Array, found: Prices, rng: np.random.Generator) -> float:
        """Add sets that component c may have, found by ascents at the prices `pi`.

        Return the largest value(S) - pi(S) known. `found` is the last solution, whose columns are starts.
        """
        n, must, free = len(self.A), state.must(c), state.free(c)
        allowed = np.concatenate((must, free))
        if not free.size:
            return self.values[self.add(must)] - float(pi[must].sum())
        X = np.zeros((n, STARTS + min(LEADING, allowed.size)))
        X[allowed, :STARTS] = rng.standard_normal((allowed.size, STARTS))
        worth = allowed[np.argsort(-(self.A[allowed, allowed] - pi[allowed]), kind="stable")]
        for i, j in enumerate(worth[:LEADING]):
            X[allowed, STARTS + i] = self.A[allowed, j]
        used = sorted(found.shares, key=lambda one: -one[2])[:LEADING]
        more = np.zeros((n, len(used)))
        for i, (_, S, _) in enumerate(used):
            more[list(S), i] = 1.0
        more[~np.isin(np.arange(n), allowed)] = 0.0
        X = np.hstack((X, more))
        X = np.abs(X) if self.nonneg else X
        X = X[:, X.any(axis=0)]
        X, chosen = self._ascend(X / np.linalg.norm(X, axis=0), pi, must, free, state.sizes[c])
        best = self.top(state, c, pi)
        for S in {tuple(np.flatnonzero(column).tolist()) for column in chosen.T}:
            if S and S not in self.values and state.holds(c, S):
                self.add(S)
            if S in self.values:
                best = max(best, self.values[S] - float(pi[list(S)].sum()))
        return best

    def _ascend(
        self, X: Array, pi: Array, must: np.ndarray, free: np.ndarray, size: int
    ) -> tuple[Array, np.ndarray]:
        """Return points (r, c) after ascents from X (r, c), and their supports as columns of a mask (r, c).

        Every support has the rows `must`, rows of `free` that add more than their price, and at most `size`
        rows in all.
        """
        room, mask = min(size - must.size, free.size), np.zeros(X.shape, dtype=bool)
        for _ in range(CLIMB):
            Y = self.A @ X
            value = np.maximum(np.einsum("ij,ij->j", X, Y), 1e-300)
            part = np.maximum(Y, 0.0) if self.nonneg else Y
            scores = (part * part / value - pi[:, None])[free]
            top = np.argpartition(-scores, room - 1, axis=0)[:room]
            keep = np.take_along_axis(scores, top, axis=0) > 0
            new = np.zeros(X.shape, dtype=bool)
            new[must] = True
            at, column = np.nonzero(keep)
            new[free[top[at, column]], column] = True
            X = np.where(new, part, 0.0)
            length = np.linalg.norm(X, axis=0)
            empty = length == 0
            X[:, ~empty] /= length[~empty]
            if empty.any():
                X[(must if must.size else free)[0], empty] = 1.0
            if np.array_equal(new, mask):
                break
            mask = new
        return X, mask
