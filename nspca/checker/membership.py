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

`fixing` proves with `prove_rows` that a stage may fix its features.
"""

from collections import Counter
from dataclasses import replace

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


def few_of_a_kind(f: TopSum, out: Array, in_: Array) -> tuple[TopSum, Array, Array]:
    """Return f with at most k + 1 of each kind of equal free rows, and masks with one row of a kind.

    Rows of a kind have equal T+j and T-j. `taken` reads the k + 1 largest terms of free rows, which are the
    same without the rest.
    """
    seen, before = Counter[bytes](), [0] * f.fixed
    for row in np.column_stack((f.V, f.h, out, in_))[f.fixed :]:
        kind = row.tobytes()
        before.append(seen[kind])
        seen[kind] += 1
    left, first = np.array(before) <= f.k, np.array(before) == 0
    return replace(f, V=f.V[left], h=f.h[left]), (out & first)[left], (in_ & first)[left]


def prove_rows(f: TopSum, F: float, out: Array, in_: Array, tree: Array) -> Array:
    """Prove that T+j of each row j of the mask `out` (n,), and T-j of each of `in_`, is at most F on the
    sphere; return the codes that are left.
    """
    f, out, in_ = few_of_a_kind(f, out, in_)
    error, unread = error_of(f, F), tree
    step = max(1, AT_ONCE // max(1, f.V.size * (f.D + 1), f.D * f.D))
    for g, after in cover(f, tree, step) if f.D else [(np.zeros((1, 0, 0)), tree)]:
        unread = after
        G, terms = terms_of(f, g)
        T, last, following = taken(terms, f.fixed, f.k - f.fixed)
        far = ~f.stays_below(G, T, np.full(len(T[0]), F), error)
        sums = T[:, far], last[:, far], following[:, far]
        G, terms = G[:, far], terms[:, far]
        for verb, mask, change in (("have", out, with_each), ("lack", in_, without_each)):
            rows = np.flatnonzero(mask)
            changed = change(terms[:, :, rows], int((rows < f.fixed).sum()), sums)
            cones, at = np.nonzero(~(changed + error <= F * G[:, :, None]).all(axis=0))
            proved = f.stays_below(G[:, cones], changed[:, cones, at], np.full(len(cones), F), error)
            require(proved.all(), f"sets that {verb} a feature are not proved to stay below F = {F!r}")
    return unread


def terms_of(f: TopSum, g: Array) -> tuple[Array, Array]:
    """Return G_jl (pairs, cones) and the terms p_ij p_il + h_i G_jl (pairs, cones, n) of some cones."""
    if f.D == 0:
        return np.ones((1, 1)), f.h[None, None, :]
    p, G = f.at(g), f.products(g)
    return G, np.array([p[:, j] * p[:, l] + f.h * G[e, :, None] for e, (j, l) in enumerate(f.edges)])


def error_of(f: TopSum, F: float) -> float:
    """Bound the joint error of a sum and F G_jl, as computed.

    Roundings: k + 2D + 7 as in `TopSum.error`, and 2D + 7 for each of the two terms that are exchanged.
    """
    return margin(f.k + 8 * f.D + 32, 3 * f.mass, abs(F))
