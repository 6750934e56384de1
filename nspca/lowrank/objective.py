"""Evaluate f at directions, and bound it on many cones of the sphere at once.

    f(c) = topk_i( p_i(c)^2 + h_i ),   p_i(c) = (v_i'c)+   (signed: |u_i'c| + sqrt(tau) c_0)

On the cone of unit generators g_1..g_D, with G_jl = g_j'g_l and T_jl = topk_i(p_ij p_il + h_i G_jl),

    max of f over the cone  <=  min( max_jl T_jl / G_jl ,  lambda_max(T, G) ,  `copositive.lowered` ).

Proofs are in docs/note.md. `cones` searches with an `Objective`, and `fixing` bounds the same f where
single rows matter. Callers of a search describe f by a `Query`.
"""

from dataclasses import dataclass

import numpy as np

from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_entries, topk_mask, topk_sum
from nspca.lowrank import copositive

TERMS = 2**16
"""Maximum of rows times D for cones processed together: their numbers fit into the processor cache."""
DROP_SHARE = 0.8
"""Rows are left out of a cone only if at most this share of them remains; otherwise it does not pay."""
ROUNDING = 64
"""Error of a computed bound, in unit roundoffs times D and topk|v|^2; every bound is raised by it."""
APART = 1e-12
"""Smallest product of generators for which the ratio T_jl / G_jl is used as a bound."""
TIED = 1e-12
"""Relative distance up to which a row counts as tied with the last of the k rows."""
WIDE = 0.3
"""Smallest product of generators in a cone for which rows are ruled out; in wider cones hardly any row is."""


@dataclass(frozen=True, eq=False)
class Query:
    """The function f that is maximised over the sphere.

    Attributes
    ----------
    V : (n, d) float64
    k : int
    h : (n,) float64, optional
        Constants added row by row; None for the plain rank-d problem. Negative constants, for rows with a
        price, are allowed for rows that are not fixed.
    tau : float
        When positive, adds a coordinate ``c_0 >= 0`` in which every row has the entry ``sqrt(tau)``.
    nonneg : bool
        Whether f takes the positive part of ``v_i'c`` or, if false, its absolute value.
    fixed : int
        Number of first rows that are always among the k, as at a node of a search over supports.
    scales : (n,) float64, optional
        Positive factors of the rows' entries in the coordinate c_0, which are ``sqrt(tau)`` times these.
    """

    V: Array
    k: int
    h: Array | None = None
    tau: float = 0.0
    nonneg: bool = True
    fixed: int = 0
    scales: Array | None = None

    @property
    def sizes(self) -> Array:
        """Squared lengths of the rows (n,) of V, with their entries in the coordinate c_0."""
        flat = self.tau if self.scales is None else self.tau * self.scales**2
        return np.einsum("ij,ij->i", self.V, self.V) + flat


@dataclass(eq=False)
class Cones:
    """Several cones, each with the rows that can be among the k largest somewhere in it.

    Attributes
    ----------
    generators : (c, D, D) whole numbers, one generator a row
    lengths : (c, D) lengths of the generators
    G, T : (c, D, D) as in the module docstring
    rows : c arrays of row numbers, increasing
    """

    generators: Array
    lengths: Array
    G: Array
    T: Array
    rows: list[np.ndarray]


@dataclass(eq=False)
class Halves:
    """The halves of c cones that were split at the middle of an edge.

    The first half has the middle in place of the first end of the edge, the second in place of the other.

    Attributes
    ----------
    generators, lengths, G, T : (2c, ...)
    edges : (c, 2)
    middle, value : (c, D) unit directions, and f there
    parents : c arrays of row numbers
    rows : (c, r), or (1, r) where cones share rows; row numbers of `parents`, padded to equal length
    p, linear : (c, D + 1, r), values and linear parts of these rows at the generators and at the middle
    """

    generators: Array
    lengths: Array
    G: Array
    T: Array
    edges: np.ndarray
    middle: Array
    value: Array
    parents: list[np.ndarray]
    rows: np.ndarray
    p: Array
    linear: Array


class Objective:
    """The function f of a query, in D coordinates: its values at directions, and bounds on cones.

    `extra` tells whether there is a c_0: the last column of V, or `flat` where signs matter. `margin` bounds
    the rounding error of a bound. `padded` and `raised` are V and h with a row of zeros. `level` is the
    median of h, which is taken off when rows are compared.
    """

    def __init__(self, query: Query):
        V = np.asarray(query.V, dtype=np.float64)
        n, d = V.shape
        self.k, self.h, self.nonneg, self.fixed = min(query.k, n), query.h, query.nonneg, query.fixed
        self.root_tau, self.extra, self.scales = float(np.sqrt(query.tau)), query.tau > 0, query.scales
        flat = np.full(n, self.root_tau) * (1.0 if query.scales is None else query.scales)
        # Nonnegative: the extra coordinate is one more column; signed: it stays outside |.|.
        self.V = np.column_stack((V, flat)) if self.extra and self.nonneg else V
        self.D = d + self.extra
        size = query.sizes if self.h is None else query.sizes + np.abs(self.h)
        self.margin = ROUNDING * UNIT_ROUNDOFF * max(self.D, 1) * float(self.total(size))
        # One more row, whose terms are zero, pads the rows of cones that are processed together.
        self.padded = np.vstack((self.V, np.zeros(self.V.shape[1])))
        self.flat = np.append(flat, 0.0) if self.extra and not self.nonneg else None
        self.raised = None if self.h is None else np.append(self.h, 0.0)
        self.level = 0.0 if self.h is None else float(np.median(self.h))

    def total(self, terms: Array) -> Array:
        """Return the sum of the k largest terms along the last axis; negative terms count as 0."""
        return topk_sum(terms, self.k, self.fixed)

    def _total(self, terms: Array) -> Array:
        """Return the totals of `total`, using the array of terms as scratch space."""
        if self.fixed:
            return self.total(terms)
        if self.raised is not None:
            np.maximum(terms, 0.0, out=terms)
        return largest_entries(terms, self.k).sum(axis=-1)

    # --- at directions --------------------------------------------------------------------------------------
    def at(self, C: Array) -> tuple[Array, Array]:
        """Return f (c,) at directions C (c, D), and its gradients (c, D), which have other lengths than 1."""
        linear = C[:, : self.V.shape[1]] @ self.V.T
        p = np.maximum(linear, 0.0) if self.nonneg else np.abs(linear)
        if self.flat is not None:
            p += C[:, -1:] * self.flat[:-1]
        terms = p * p if self.h is None else p * p + self.h
        keep = topk_mask(terms, self.k, self.fixed) & (terms >= 0)
        own = np.flatnonzero(keep.any(axis=0))
        keep = keep[:, own]
        p, terms = np.where(keep, p[:, own], 0.0), np.where(keep, terms[:, own], 0.0)
        gradients = (p if self.nonneg else p * np.sign(linear[:, own])) @ self.V[own]
        if self.flat is not None:
            sums = p.sum(axis=1) if self.scales is None else p @ self.scales[own]
            gradients = np.column_stack((gradients, self.root_tau * sums))
        return terms.sum(axis=1), gradients

    # --- on cones -------------------------------------------------------------------------------------------
    def whole(self, generators: Array) -> tuple[Cones, Array]:
        """Return cones with these generators (c, D, D) and with all rows, and their bounds."""
        D, n = self.D, len(self.V)
        lengths = np.linalg.norm(generators, axis=2)
        unit = generators / lengths[..., None]
        G = unit @ unit.transpose(0, 2, 1)
        T = np.empty_like(G)
        together = max(1, TERMS // max(1, n * D))
        for first in range(0, len(unit), together):
            own = slice(first, first + together)
            p, _ = self.values(unit[own], np.arange(n))
            for j in range(D):
                T[own, j] = self.total(self.terms(p, p[:, j], G[own, j], self.h))
        cones = Cones(generators, lengths, G, T, [np.arange(n)] * len(generators))
        return cones, self.bounds(G, T, -np.inf)

    def values(self, directions: Array, rows: np.ndarray) -> tuple[Array, Array]:
        """Return p (..., D, r) at directions (..., D, D') for rows (..., r), and plain ``v_i'c``."""
        V = self.padded[rows].swapaxes(-1, -2)
        linear = (directions if self.flat is None else directions[..., :-1]) @ V
        p = np.maximum(linear, 0.0) if self.nonneg else np.abs(linear)
        if self.flat is not None:
            p += directions[..., -1:] * self.flat[rows][..., None, :]
        return p, linear

    def terms(self, p: Array, q: Array, g: Array, h: Array | None) -> Array:
        """Return ``p_i q_i + h_i g`` for values p (..., D, r) and q (..., r) at directions.

        The products of the directions are g (..., D).
        """
        out = p * q[..., None, :]
        if h is not None:
            out += h[..., None, :] * g[..., None]
        return out

    def split(self, cones: Cones) -> "Halves":
        """Split each cone at the middle of the edge that makes its bound large, without new bounds."""
        c, D = cones.lengths.shape
        every, edges = np.arange(c), copositive.dearest(cones.G, cones.T)
        middle = cones.generators[every, edges[:, 0]] + cones.generators[every, edges[:, 1]]
        length = np.linalg.norm(middle, axis=1)
        directions = np.concatenate((cones.generators, middle[:, None]), axis=1)
        directions /= np.column_stack((cones.lengths, length))[..., None]
        first = cones.rows[0]
        rows = first[None] if all(part is first for part in cones.rows) else self._padded(cones.rows)
        p, linear = self.values(directions, rows if len(rows) > 1 else rows[0])
        g = (directions @ directions[:, D, :, None])[..., 0]
        g[:, D] = 1.0
        terms = self.terms(p, p[:, D], g, None if self.raised is None else self.raised[rows])
        t = self._total(terms)
        generators, lengths, G, T = (
            np.repeat(part, 2, axis=0) for part in (cones.generators, cones.lengths, cones.G, cones.T)
        )
        replaced, both = edges.ravel(), np.arange(2 * c)
        generators[both, replaced] = np.repeat(middle, 2, axis=0)
        lengths[both, replaced] = np.repeat(length, 2)
        for part, new in ((G, np.repeat(g, 2, axis=0)), (T, np.repeat(t, 2, axis=0))):
            part[both, replaced] = part[both, :, replaced] = new[:, :D]
            part[both, replaced, replaced] = new[:, D]
        return Halves(
            generators, lengths, G, T, edges, directions[:, D], t[:, D], cones.rows, rows, p, linear
        )

    def bounds(self, G: Array, T: Array, enough: float) -> Array:
        """Return bounds (c,) of f on cones with margin: the smallest of the three in the module docstring.

        Where the first bound is at most `enough`, the others are not computed.
        """
        flat = G.reshape(len(G), -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = (T.reshape(len(T), -1) / flat).max(axis=1)
        out = np.where(flat.min(axis=1) > APART, ratios, np.inf)
        open_ = out > enough
        if open_.any():
            out[open_] = np.minimum(out[open_], largest_ratio(G[open_], T[open_]))
            open_ = (out > enough) & np.isfinite(out)
            out[open_] = copositive.lowered(G[open_], T[open_], out[open_])
        return out + self.margin

    def remaining(self, halves: "Halves", which: np.ndarray) -> list[np.ndarray]:
        """Return the rows of some halves, without rows that at least k others exceed everywhere in the cone.

        T of any two directions in the cone does not change without these rows. Terms are compared as
        ``p p' + h g``, with g from the smallest product of two directions to 1.
        """
        rows = [halves.parents[one // 2] for one in which]
        nearest = halves.G[which].reshape(which.size, -1).min(axis=1)
        narrow = np.flatnonzero(nearest > WIDE)
        if narrow.size and self.fixed < self.k < halves.rows.shape[1]:
            for one, kept in zip(narrow, self._left(halves, which[narrow], nearest[narrow]), strict=True):
                if kept.size < DROP_SHARE * rows[one].size:
                    rows[one] = kept
        return rows

    def _left(self, halves: "Halves", which: np.ndarray, nearest: Array) -> list[np.ndarray]:
        """Return the rows that can be among the k largest in each half; `nearest` is its least G_jl."""
        D, parent, every = self.D, which // 2, np.arange(which.size)
        replaced = halves.edges.ravel()[which]
        p = halves.p[parent, :D]
        p[every, replaced] = halves.p[parent, D]
        most, least = p.max(axis=1) ** 2, p.min(axis=1) ** 2
        padded = halves.rows[parent if len(halves.rows) > 1 else np.zeros_like(parent)]
        if not self.nonneg:
            linear = halves.linear[parent, :D]
            linear[every, replaced] = halves.linear[parent, D]
            one_sign = (linear.min(axis=1) >= 0) | (linear.max(axis=1) <= 0)
            last = (halves.generators[which, :, -1] / halves.lengths[which]).min(axis=1)
            flat = np.zeros((1, 1)) if self.flat is None else last[:, None] * self.flat[padded]
            least = np.where(one_sign, least, flat**2)
        if self.raised is not None:
            h = self.raised[padded] - self.level
            smaller = h * nearest[:, None]
            most, least = most + np.maximum(h, smaller), least + np.minimum(h, smaller)
        filled = padded == len(self.V)
        most[filled], least[filled] = -np.inf, -np.inf
        # the (k - fixed)-th largest of the others
        kth = largest_entries(least[:, self.fixed :], self.k - self.fixed)[:, 0]
        keep = (most >= (kth - TIED * np.abs(kth))[:, None]) & ~filled
        keep[:, : self.fixed] = True
        return [padded[one, keep[one]] for one in range(which.size)]

    def _padded(self, rows: list[np.ndarray]) -> np.ndarray:
        """Return row numbers as one array (c, r), padded with the number of the zero row."""
        sizes = [part.size for part in rows]
        if min(sizes) == max(sizes):
            return np.array(rows)
        out = np.full((len(rows), max(sizes)), len(self.V))
        for line, part in zip(out, rows, strict=True):
            line[: part.size] = part
        return out


def largest_ratio(G: Array, T: Array) -> Array:
    """Return lambda_max(T, G) for each pair of matrices (c, D, D).

    The largest T_jj times G is subtracted first. In a small cone T is nearly this multiple of G, and the
    difference keeps digits that whitening by an ill-conditioned G would lose. The bound is inf for a cone so
    narrow that its generators are equal up to rounding.
    """
    base = np.einsum("cii->ci", T).max(axis=1)
    try:
        L = np.linalg.cholesky(G)
    except np.linalg.LinAlgError:
        L = np.full((1, 1), np.nan)
    if not np.isfinite(L).all():  # where LAPACK does not raise
        if len(G) == 1:
            return np.full(1, np.inf)
        return np.concatenate([largest_ratio(G[i : i + 1], T[i : i + 1]) for i in range(len(G))])
    half = np.linalg.solve(L, T - base[:, None, None] * G)
    whitened = np.linalg.solve(L, half.swapaxes(1, 2))
    return base + np.linalg.eigvalsh(whitened)[:, -1]
