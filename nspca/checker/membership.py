"""Largest sums with each row and without it, which stages of a tree need to fix features.

Theorem. Let the proof of a bound add up terms over a set I of at most k features outside which x is 0. The
largest sum over sets with j bounds every x with x_j != 0, since j is in each of its sets I. The largest sum
over sets without j bounds every x with x_j = 0, since j can be removed from its I. Let T be the largest sum
of all, which takes the fixed terms and the `room` = k - fixed largest others. Then these largest sums are

    T+j = T - (last term taken, not a fixed one - term of j)+    of the sets with j,
    T-j = T - (term of j - first term not taken)+            of those without; T - term of j if j is fixed

If there are at most `room` other terms, the last one taken and the first not taken count as 0. If there is no
room, no set has a j that is not fixed, and T+j is not used. In the one inequality the terms are entries
p_ij p_il + h_i G_jl of matrices, and T+j, T-j take the place of T in each cone of the cover.

`fixing` proves with `RowClaims` that a stage may fix a feature.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy import ndarray as Array

from nspca.checker.cover import AT_ONCE, TopSum, cover
from nspca.checker.refusal import require
from nspca.checker.rounding import margin

Taken = tuple[Array, Array, Array]
"""The result of `taken`: T, the last term taken besides the fixed ones, and the first term not taken."""


def taken(terms: Array, fixed: int, room: int) -> Taken:
    """Return T, the last term taken besides the `fixed` first ones, and the first term not taken.

    Terms are along the last axis. Those of fixed rows are >= 0, and negative others count as 0.
    """
    free = np.maximum(terms[..., fixed:], 0)
    count, T = free.shape[-1], terms[..., :fixed].sum(axis=-1)
    if room >= count:
        return T + free.sum(axis=-1), np.zeros(T.shape), np.zeros(T.shape)
    if room == 0:
        return T, np.zeros(T.shape), np.full(T.shape, np.inf)
    free = np.partition(free, (count - room - 1, count - room), axis=-1)
    return T + free[..., count - room :].sum(axis=-1), free[..., count - room], free[..., count - room - 1]


def with_each(terms: Array, fixed: int, sums: Taken) -> Array:
    """Return T+j for every one of some terms, along the last axis; `sums` is `taken` of all terms."""
    T, last, _ = sums
    short = np.maximum(last[..., None] - terms, 0)
    short[..., :fixed] = 0
    return T[..., None] - short


def without_each(terms: Array, fixed: int, sums: Taken) -> Array:
    """Return T-j for every one of some terms, along the last axis; `sums` is `taken` of all terms."""
    T, _, following = sums
    lost = np.maximum(terms - following[..., None], 0)
    lost[..., :fixed] = terms[..., :fixed]
    return T[..., None] - lost


@dataclass(frozen=True, eq=False)
class RowClaims:
    """Claims for single rows of a sum f on the sphere that is at most F; inf where there is no claim.

    `having` and `lacking` have a bound F_j for each row of f, and `rows` the features of the kept rows.
    """

    f: TopSum
    F: float
    having: Array
    lacking: Array
    rows: Array

    def few(self) -> Self:
        """Return the claims with at most k + 1 of each kind of equal free rows, and one claim for a kind.

        Rows of a kind have equal T+j and T-j, and their claims are equal too. `taken` reads the k + 1 largest
        terms of free rows, which are the same without the rest.
        """
        f, seen, before = self.f, Counter[int | bytes](), []
        for i, row in enumerate(np.column_stack((f.V, f.h, self.having, self.lacking))):
            kind = i if i < f.fixed else row.tobytes()
            before.append(seen[kind])
            seen[kind] += 1
        left, first = np.flatnonzero(np.array(before) <= f.k), np.array(before) == 0
        having, lacking = (np.where(first, claims, np.inf)[left] for claims in (self.having, self.lacking))
        f, rows = replace(f, V=f.V[left], h=f.h[left]), self.rows[left[left < self.rows.size]]
        return replace(self, f=f, having=having, lacking=lacking, rows=rows)

    def prove(self, tree: Array) -> Array:
        """Prove all claims below F, cone by cone, and return the codes that are left; F itself is proved
        already.
        """
        f = self.f
        lowest = min(self.having.min(initial=np.inf), self.lacking.min(initial=np.inf))
        if lowest >= self.F:
            return tree
        step = max(1, AT_ONCE // max(1, f.V.size * (f.D + 1), f.D * f.D))
        unread = tree
        for g, after in cover(f, tree, step) if f.D else [(np.zeros((1, 0, 0)), tree)]:
            unread = after
            G, terms = self.terms(g)
            T, last, following = taken(terms, f.fixed, f.k - f.fixed)
            far = ~f.stays_below(G, T, np.full(len(T[0]), lowest), self.error)
            sums = T[:, far], last[:, far], following[:, far]
            asked = ("have", self.having, with_each), ("lack", self.lacking, without_each)
            for verb, claims, change in asked:
                rows = np.flatnonzero(claims < self.F)
                some, fixed = terms[:, :, rows][:, far], int((rows < f.fixed).sum())
                self.compare(verb, rows, claims[rows], G[:, far], change(some, fixed, sums))
        return unread

    def terms(self, g: Array) -> tuple[Array, Array]:
        """Return G_jl (pairs, cones) and the terms p_ij p_il + h_i G_jl (pairs, cones, n)."""
        f = self.f
        if f.D == 0:
            return np.ones((1, 1)), f.h[None, None, :]
        p, G = f.at(g), f.products(g)
        return G, np.array([p[:, j] * p[:, l] + f.h * G[e, :, None] for e, (j, l) in enumerate(f.edges)])

    def compare(self, verb: str, rows: Array, claims: Array, G: Array, sums: Array) -> None:
        """Refuse unless the sums (pairs, cones, r) of some rows (r,) stay below their claims (r,)."""
        cones, at = np.nonzero(~(sums + self.error <= claims * G[:, :, None]).all(axis=0))
        proved = self.f.stays_below(G[:, cones], sums[:, cones, at], claims[at], self.error)
        if not proved.all():
            row, kept = int(rows[at[np.argmin(proved)]]), self.rows
            who = f"feature {kept[row]}" if row < kept.size else "a feature outside the kept rows"
            require(False, f"the claim for answers that {verb} {who} is below what is proved of them")

    @property
    def error(self) -> float:
        """Bound the joint error of a sum and F G_jl, as computed.

        Roundings: k + 2D + 7 as in `TopSum.error`, and 2D + 7 for each of the two terms that are exchanged.
        """
        return margin(self.f.k + 8 * self.f.D + 32, 3 * self.f.mass, abs(self.F))
