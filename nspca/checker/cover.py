"""Search half of the inequality: topk_i( ((v_i'c)+)^2 + h_i ) <= F for unit c with c_0 >= 0, proved cone by
cone.

Theorem. On a cone c = sum_j a_j g_j, a >= 0, |c| = 1, let p_ij = (v_i'g_j)+ (signed: |u_i'g_j| +
sqrt(tau) g_j0), G_jl = g_j'g_l and T_jl = topk_i(p_ij p_il + h_i G_jl). If FG - T is psd, or
is so with its positive entries off the diagonal put to 0, then the sum is at most F on the cone.
Proof. The positive part is convex and positively homogeneous, so (v_i'c)+ <= sum_j a_j p_ij. As a_j a_l >= 0
and a'Ga = |c|^2 = 1, the sum over any k rows is at most sum_jl a_j a_l (sum_i p_ij p_il + h_i G_jl) <= a'Ta.
Putting positive entries to 0 makes a'(FG - T)a no larger, as a >= 0. Either way a'(FG - T)a >= 0, so
a'Ta <= F a'Ga = F. If no entry of FG - T is negative, only a diagonal is left, which is psd.

Generators g_j are whole numbers until they are brought to length one. So a cone and its two halves, split at
g_j + g_l, are the same set exactly.

The forms `inequality`, `fixing` and `joint` prove their search halves with `prove_cover`. Stages of a tree
fix features by the largest sums with each row and without it, which `prove_rows` bounds.

Theorem. Let the proof of a bound add up terms over a set I of at most k features outside which x is 0. The
largest sum over sets with j bounds every x with x_j != 0, since j is in each of its sets I. The largest sum
over sets without j bounds every x with x_j = 0, since j can be removed from its I. Let T be the largest sum
of all, which takes the fixed terms and the `room` = k - fixed largest others. Then these largest sums are

    T+j = T - (last term taken, not a fixed one - term of j)+    of the sets with j,
    T-j = T - (term of j - first term not taken)+            of those without; T - term of j if j is fixed

If there are at most `room` other terms, the last one taken and the first not taken count as 0. If there is no
room, no set has a j that is not fixed, and T+j is not used. In the one inequality the terms are entries
p_ij p_il + h_i G_jl of matrices, and T+j, T-j take the place of T in each cone of the cover.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy import ndarray as Array

from nspca.checker.refusal import require
from nspca.checker.rounding import TINY, are_psd, is_psd, margin, topk

TOO_SHORT = "a tree of the certificate ends too early: a part of the sphere, or supports, are missing"
"""Sentence of the refusal of a tree whose codes end before all its leaves are read."""
CONE_LEAF = 255
"""Code of a cone that is not split; `fixing.LEAF` is the code of a leaf in a tree of supports."""
WHOLE = 2.0**52
"""Largest size up to which sums of whole numbers are exact."""
AT_ONCE = 2**19
"""Approximate number of entries p_ij in memory at once: 4 MB."""


@dataclass(frozen=True, eq=False)
class TopSum:
    """The function f(c) = topk_i( ((v_i'c)+)^2 + h_i ), where the first `fixed` rows are always among the k.

    topk counts negative terms as 0, so h may be negative for rows that are not fixed.
    V (n, D) has the d columns of U; one more, sqrt(tau) throughout, if that is not 0. Without `nonneg` the
    problem is signed, and |u_i'c| + sqrt(tau) c_0 takes the place of (v_i'c)+.
    """

    V: Array
    d: int
    h: Array
    k: int
    fixed: int
    nonneg: bool

    @property
    def D(self) -> int:
        """Return the dimension of the space whose sphere is covered; d, unless c_0 is one of its
        coordinates.
        """
        return self.V.shape[1]

    @cached_property
    def of_h(self) -> float:
        """Return topk h, negative entries counted as 0."""
        return topk(np.maximum(self.h, 0), self.k, self.fixed)

    @cached_property
    def mass(self) -> float:
        """Return topk |v_i|^2 + topk |h|, which bounds f(c) for unit c and the sizes of its terms."""
        return self.of_V + topk(np.abs(self.h), self.k, self.fixed)

    @cached_property
    def of_V(self) -> float:
        """Return topk |v_i|^2."""
        return topk((self.V * self.V).sum(axis=1), self.k, self.fixed)

    def error(self, F: float) -> float:
        """Bound the joint error of T_jl and F G_jl, as computed.

        Roundings: D + 2 for p_ij and for G_jl, as g_j is rounded too; 2D + 5 for p_ij p_il, one more for the
        sum with h_i G_jl, k to add up, 1 to compare: k + 2D + 7.
        """
        return margin(self.k + 8 * self.D + 32, self.mass, abs(F))

    def at(self, g: Array) -> Array:
        """Return p (cones, D, n) for generators (cones, D, D)."""
        if self.nonneg:
            return np.maximum(g @ self.V.T, 0)
        d = self.d
        return np.abs(g[..., :d] @ self.V[:, :d].T) + g[..., d:] @ self.V[:, d:].T

    @cached_property
    def edges(self) -> list[tuple[int, int]]:
        """Return the pairs j <= l of generators."""
        return list(itertools.combinations_with_replacement(range(self.D), 2)) or [(0, 0)]

    def products(self, g: Array) -> Array:
        """Return G_jl (pairs, cones) for generators (cones, D, D)."""
        G = g @ g.transpose(0, 2, 1)
        return np.array([G[:, j, l] for j, l in self.edges])

    def stays_below(self, G: Array, T: Array, F: Array, error: float) -> Array:
        """Tell whether a'Ta <= F a'Ga is proved for all a >= 0, by its entries or by Cholesky, for each cone.

        G and T are (pairs, cones), and F is (cones,). FG - T is off by `error` in each entry, with its
        positive ones put to 0 as well; so by D error in norm. Or, as a >= 0: these errors, and those of
        forming S, come to at most 2 error (sum a)^2 <= 2 error a'Ga / min G, which is little in a small cone.
        """
        proved = (T + error <= F * G).all(axis=0)
        rest = np.flatnonzero(~proved)
        if self.D > 1 and rest.size:
            G, T, F = G[:, rest], T[:, rest], F[rest]
            S = (F - 2 * error / np.maximum(G.min(axis=0), TINY)) * G - T
            whole, lost, edges = F * G - T, self.D * error, self.edges
            off = np.array([j != l for j, l in edges])[:, None]
            negative = np.where(off, np.minimum(whole, 0), whole)
            proved[rest] = are_psd(negative, edges, lost) | are_psd(S, edges) | are_psd(whole, edges, lost)
        return proved


def prove_cover(f: TopSum, F: float, tree: Array) -> Array:
    """Prove f <= F on the cover at the beginning of the codes `tree`; return the codes that are left."""
    is_proved, proved = bounded_at_once(f, F), 0
    require(is_proved or f.D > 0, f"the {f.k} largest h_i sum to {f.mass}, above F = {F!r}")
    for cones, after in cover(f, tree, max(1, AT_ONCE // max(1, f.V.size, f.D * f.D))):
        if not is_proved:
            prove_cones(f, F, cones, proved)
        proved, tree = proved + len(cones), after
    return tree


def cover(f: TopSum, tree: Array, at_once: int) -> Iterator[tuple[Array, Array]]:
    """Yield cones that cover all c with c_0 >= 0, at most `at_once` at a time, and the codes after them.

    Cones (cones, D, D) have generators of length one. If D = 0, nothing is to be covered.
    """
    cones = cones_of(f, tree) if f.D else iter(())
    while piece := list(itertools.islice(cones, at_once)):
        whole = np.array([cone for cone, _ in piece])
        yield whole / np.linalg.norm(whole, axis=2, keepdims=True), tree[piece[-1][1] :]


def cones_of(f: TopSum, tree: Array) -> Iterator[tuple[Array, int]]:
    """Yield each cone (D, D) of a cover in preorder, with the number of codes read.

    Signed problems are unchanged when all signs but that of c_0 change, so half of the orthants suffice. Each
    needs a code. One cone is split and put together again in place, which is exact: so memory does not grow
    with the depth. `path` has the codes of the halves that it is in, complemented for second halves.
    """
    below, mirrored, read, path = f.d < f.D, not f.nonneg and f.d > 0, 0, list[int]()
    require(len(tree) >> (f.D - below - mirrored), TOO_SHORT)
    for signs in itertools.product((1.0, -1.0), repeat=f.D):
        cone, is_open = np.diag(signs), not ((below and signs[-1] < 0) or (mirrored and signs[0] < 0))
        while is_open:
            require(read < len(tree), TOO_SHORT)
            code, read = int(tree[read]), read + 1
            if code != CONE_LEAF:
                join(cone, *divmod(code, f.D))
                path.append(code)
                continue
            yield cone.copy(), read
            while path and path[-1] < 0:
                j, l = divmod(~path.pop(), f.D)
                cone[l] -= cone[j]
            is_open = bool(path)
            if is_open:
                j, l = divmod(path.pop(), f.D)
                cone[j] -= cone[l]
                cone[l] += cone[j]
                path.append(~(j * f.D + l))


def join(cone: Array, j: int, l: int) -> None:
    """Replace g_j of a cone (D, D) by g_j + g_l: this is the first half where j, l is split."""
    require(0 <= j < l, f"the tree of the cover has the unknown code {j * len(cone) + l}")
    cone[j] += cone[l]
    require(np.abs(cone[j]).max() <= WHOLE, "the tree of the cover is too deep for exact integers")


def bounded_at_once(f: TopSum, F: float) -> bool:
    """Tell whether f <= F is proved on the whole sphere, by topk |v_i|^2 + topk h <= F, or by c'V'Vc + topk h
    <= F.

    Not by V'V for signed x with c_0: (|u_i'c| + sqrt(tau) c_0)^2 can be larger than (v_i'c)^2.
    Roundings: n for an entry of V'V, 1 to subtract that entry; those of F - topk h are part of `error`.
    """
    if not (f.V.any() or f.h.any()):
        return F >= 0
    error = f.error(F)
    if f.of_V + f.of_h + error <= F:
        return True
    if f.D == 0 or (f.d < f.D and not f.nonneg):
        return False
    S = (F - f.of_h - error) * np.eye(f.D) - f.V.T @ f.V
    return is_psd(S, margin(len(f.V) + 8, np.sum(f.V * f.V), abs(F)))


def prove_cones(f: TopSum, F: float, g: Array, first: int) -> None:
    """Prove f <= F on each of some cones (cones, D, D), or refuse; `first` is the number of the first one."""
    G, p = f.products(g), f.at(g)
    keep = ~droppable(f, G, p)
    p, h = p[:, :, keep], f.h[keep]
    terms = (p[:, j] * p[:, l] + h * G[e, :, None] for e, (j, l) in enumerate(f.edges))
    T = np.array([topk(np.maximum(own, 0), f.k, f.fixed) for own in terms])
    proved = f.stays_below(G, T, np.full(len(g), F), f.error(F))
    which = first + int(np.argmin(proved))
    require(proved.all(), f"cone {which} is not proved to stay below F = {F!r}")


def droppable(f: TopSum, G: Array, p: Array) -> Array:
    """Return which rows (n,) always stay below k - fixed others, so that T_jl of these cones ignores them.

    A term p_ij p_il + h_i G_jl lies between `low` and `high`, also as computed (rule ORDER).
    """
    n = len(f.h)
    if not f.fixed < f.k < n:
        return np.zeros(n, dtype=bool)
    least, most = (f.h * end(G, axis=0)[:, None] for end in (np.min, np.max))
    low = p.min(axis=1) ** 2 + np.minimum(least, most)
    high = p.max(axis=1) ** 2 + np.maximum(least, most)
    enough = np.partition(low[:, f.fixed :], n - f.k, axis=1)[:, n - f.k, None]
    below = (high < enough).all(axis=0)
    below[: f.fixed] = False
    return below


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
