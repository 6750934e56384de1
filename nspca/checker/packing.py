"""Form `packing`: several disjoint components, with prices for the features and a tree of their sets.

An answer has sets S_1..S_r of features, no two of which share one, |S_c| <= s_c, and a unit vector x_c that
is 0 outside S_c for each c. A node of the tree has for each component features that are *in* S_c and others
that are *out*. Components of one size with the same features in and out form a *class*.

Theorem (pricing). Let pi >= 0 be any prices, Pi the largest sum of prices that the sets of an answer of the
node can have together, and q_c >= x'Ax - pi(S) for every possible S of c and every unit x that is 0 outside
S. Then sum_c x_c'A x_c <= Pi + sum_c q_c.
Proof. sum_c x_c'A x_c = sum_c (x_c'A x_c - pi(S_c)) + sum_c pi(S_c). The S_c share no feature, so the last
sum is pi of their union, which has at most sum_c s_c features and all that are in.

A tree of form `fixing` with prices proves one q for all components of a class: the largest of its level l
and the bounds of its leaves. Its stages at the root also fix features for every S with x'Ax - pi(S) > l.

Theorem (fixing). Let v be any number, the goal of a pricing. Where l + Pi + (sum of the q of all components
but one of the class) is at most v, every answer above v obeys what the stages at the root fix, in each
component of the class.
Proof. Otherwise x_c'A x_c - pi(S_c) <= l for one component c of the class. Then l may stand for its q_c in
the pricing, and the sum is at most v.

Theorem (branch). Let feature j be free in some classes. Each answer of the node is, after an exchange of
components of one class, an answer of a child: j is in S_c for c the first component of one of these classes,
or j is out everywhere.
Proof. j is in one S_c at most. Components of one class can be exchanged, as the node asks the same of them.

So OPT <= max(the goals, the bounds of the leaves). `entry` calls `packing` for this form.

Form `others` has listed sets T_1..T_r, too, and leaves of code COVERED: each T is in another component. So an
answer above that maximum has T_1..T_r in different components.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import and_, or_
from typing import Self

import numpy as np
from numpy import ndarray as Array

from nspca.checker.cover import TOO_SHORT
from nspca.checker.fixing import COVERED, LEAF, NAMES, NOTHING_LEFT, Node, Proof, Trees, exact_sum
from nspca.checker.matrix import Matrix
from nspca.checker.reading import Arrays, Recipe
from nspca.checker.refusal import require

OWN = ("goals", "split", "pricings", "prices")
"""Names of the witness arrays that this form has besides those of form `fixing`."""


def packing(A: Matrix, recipe: Recipe, arrays: Arrays) -> Fraction:
    """Return the bound of a certificate of form `packing`."""
    arrays.only(*OWN, *NAMES)
    return prove_packing(A, recipe, arrays, [])


def others(A: Matrix, recipe: Recipe, arrays: Arrays) -> Fraction:
    """Return the bound of a certificate of form `others`, on answers without the listed sets."""
    arrays.only(*OWN, *NAMES, "counts", "members")
    return prove_packing(A, recipe, arrays, [sum(1 << j for j in T.tolist()) for T in arrays.sets(A.n)])


def prove_packing(A: Matrix, recipe: Recipe, arrays: Arrays, listed: list[int]) -> Fraction:
    """Return the largest of 0, the `goals` and the bounds of all leaves, once all are proved."""
    split, pricings = arrays.codes("split"), arrays.codes("pricings")
    require(split.size == pricings.size, "witness pricings must have a number for each node of the tree")
    prices = arrays.numbers("prices", (*arrays.need("prices").shape[:1], A.n))
    require(prices.min(initial=0.0) >= 0, "prices must not be negative")
    goals = arrays.numbers("goals", (len(prices),)).tolist()
    trees, proved = Trees(Proof.read(arrays, A.n), recipe.nonneg), max(map(Fraction, (0.0, *goals)))
    waiting: list[Iterator[State]] = [iter([State.root(recipe.sizes)])]
    read = priced = 0
    while waiting:
        state = next(waiting[-1], None)
        if state is None:
            waiting.pop()
            continue
        require(read < split.size, TOO_SHORT)
        code, count = int(split[read]), int(pricings[read])
        read += 1
        require(0 <= count <= len(prices) - priced, f"joint node {read - 1} has no {count} pricings")
        bound, is_left = Fraction(0), True
        for number in range(priced, priced + count):
            require(is_left, f"joint node {read - 1} has a pricing where nothing is left")
            after, bound = prove_pricing(A, state, prices[number], trees, Fraction(goals[number]))
            state, is_left = after or state, after is not None
        priced += count
        if code == NOTHING_LEFT:
            empty = not is_left or state.is_impossible(A.n)
            require(empty, f"joint node {read - 1} is left out, but answers are left in it")
            continue
        require(is_left, f"joint node {read - 1} must have code {NOTHING_LEFT}: nothing is left")
        if code == COVERED:
            homes = [[c for c, into in enumerate(state.into) if not own & ~into] for own in listed]
            apart = bool(homes) and all(homes) and len({c for c, *_ in homes}) == len(homes)
            require(apart, f"the listed sets are not among the features that are in at joint node {read - 1}")
        elif code == LEAF:
            require(count > 0, f"joint node {read - 1} is a leaf without a pricing")
            proved = max(proved, bound)
        else:
            waiting.append(state.children(code, A.n))
    require(read == split.size and priced == len(prices), "joint nodes or prices are left over")
    trees.nothing_left_over()
    return proved


@dataclass(frozen=True)
class State:
    """Demands of a node on the sets of each component: the sizes, the features `into` and the features `out`.

    Sets are whole numbers, with bit j for feature j. So a deep tree of many components needs little memory.
    """

    sizes: tuple[int, ...]
    into: tuple[int, ...]
    out: tuple[int, ...]

    @classmethod
    def root(cls, sizes: tuple[int, ...]) -> Self:
        """Return the state in which nothing is in or out."""
        none = (0,) * len(sizes)
        return cls(sizes, none, none)

    @property
    def classes(self) -> list[list[int]]:
        """Return the classes in the order of their first components."""
        found: dict[tuple[int, int, int], list[int]] = {}
        for c, key in enumerate(zip(self.sizes, self.into, self.out, strict=True)):
            found.setdefault(key, []).append(c)
        return list(found.values())

    def is_impossible(self, n: int) -> bool:
        """Tell whether some component has more features in than its size, or one both in and out, or none in
        and none free.
        """
        parts = zip(self.sizes, self.into, self.out, strict=True)
        return any(
            into.bit_count() > size or into & out or (not into and out.bit_count() == n)
            for size, into, out in parts
        )

    def fixed(self, c: int, out: int, into: int) -> Self:
        """Return the state in which component c has features out and in; what is in is out of all others."""
        outs = tuple(own | (out if i == c else into) for i, own in enumerate(self.out))
        ins = tuple(own | into if i == c else own for i, own in enumerate(self.into))
        return replace(self, into=ins, out=outs)

    def children(self, j: int, n: int) -> Iterator[Self]:
        """Yield the children with j in the first component of each class that may have it, then without j."""
        free = [
            c
            for c, *_ in (self.classes if 0 <= j < n else ())
            if not (self.into[c] | self.out[c]) >> j & 1 and self.into[c].bit_count() < self.sizes[c]
        ]
        require(bool(free), f"feature {j} cannot be branched on: no component may have it")
        yield from (self.fixed(c, 0, 1 << j) for c in free)
        yield replace(self, out=tuple(out | 1 << j for out in self.out))


def number_of(chosen: Array) -> int:
    """Return the set of the features that are chosen (n,) as a whole number."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def chosen_in(number: int, n: int) -> Array:
    """Return which of n features (n,) are in a set that is a whole number."""
    octets = np.frombuffer(number.to_bytes((n + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(octets, count=n, bitorder="little").astype(bool)


def prove_pricing(
    A: Matrix, state: State, pi: Array, trees: Trees, goal: Fraction
) -> tuple[State | None, Fraction]:
    """Prove a pricing, and return the state after what it fixes, and its bound.

    The state is None where no answer above the goal is left.
    """
    require(not state.is_impossible(A.n), "a pricing is at a joint node where nothing is left")
    classes, ends, total = state.classes, [], largest_sum(state, pi)
    for c, *others in classes:
        into, out = (np.flatnonzero(chosen_in(sets[c], A.n)).tolist() for sets in (state.into, state.out))
        start = Node.root(A, into, state.sizes[c], out)
        q, end = trees.prove(start, pi)
        end = replace(end, A=A)  # entries of A are not held for each
        ends.append((q, Fraction(trees.level), start, end))
        total += q * (1 + len(others))
    after: State = state
    for (first, *others), (q, level, start, end) in zip(classes, ends, strict=True):
        if level + total - q > goal:
            continue
        fixed_in = number_of(end.is_in & ~start.is_in)
        fixed_out = number_of(start.is_free & ~end.is_free & ~end.is_in)
        if end.has_no_sets or (fixed_in and others):
            return None, total
        for c in (first, *others):
            after = after.fixed(c, fixed_out, fixed_in)
    return after, total


def largest_sum(state: State, pi: Array) -> Fraction:
    """Return the largest sum of prices of disjoint sets that a state allows, or more."""
    into = chosen_in(reduce(or_, state.into), pi.size)
    possible = ~(into | chosen_in(reduce(and_, state.out), pi.size))
    others = np.sort(pi[possible])[::-1][: max(0, sum(state.sizes) - int(into.sum()))]
    return exact_sum(pi[into]) + exact_sum(others)
