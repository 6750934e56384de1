"""Form `fixing`: features are fixed in and out, stage after stage, at the nodes of a tree of supports.

A node looks at the sets S of at most k features that have all features that are *in*, and otherwise only
*free* ones. The tree is walked in preorder. At each node its stages come first, then a branch, a leaf or
nothing.

Theorem. Let v >= 0 be any number. Then OPT <= max(v, the largest t + F of the leaves). Below a node of code
CAPPED the t + F of that node may stand for those of its leaves, if it is smaller.
Proof. Let x'Ax > v, and let S be the support of x and the forced features. At the root S is one of the sets.
- A stage that fixes j out proves x'Ax <= t + F <= v for every S that has j: T+j in place of T (`membership`).
  So S does not have j. A stage that fixes j in proves the same for every S without j, by T-j. So S has j.
- A free feature that is branched on is in S or not. So S belongs to one child.
- Where more than k features are in there is no S. Where none is in or free S is empty, and x'Ax = 0 <= v.
  Below a reduced node S has eliminated features alone, and x'Ax <= v as vI - A is positive definite there.
So S arrives at a leaf, which proves x'Ax <= t + F for it, as in `inequality`, or x'Ax <= v by squares.
A node may be *reduced*. With I, J, C, R and mu of the next theorem, its child is about C in place of A, the
free features, and k - |I| in place of k. For |x| = 1 and x_J of length s,
v - x'Ax >= v s^2 - x_J'Cx_J - s^2 |R|^2 / mu. So where x_J'Cx_J + s^2 |R|^2 / mu <= b s^2 is proved for a b,
x'Ax <= max(v, b). What is proved of C at level v holds for A too: a stage, whether it fixes features in or
out, leaves every x'Ax > v in its sets.

Theorem (squares). Let I be the features that are in, S = vI - A_II >= mu I with mu > 0, Y any matrix,
B = A_IJ for the other features J of a set, R = B - SY and C = A_JJ + B'Y + Y'B - Y'SY. Then x'Ax <= v if the
root of the sum of the squares of C on J, plus |R|^2 / mu, is at most v. For x >= 0 only the squares of
positive entries of C count, and B may have any entries no smaller than those of A_IJ. With at most `room`
features in J that sum is at most the largest sum over `room` features j of c_jj^2 and the room - 1 largest
other c_jl^2.
Proof. v - x'Ax = x_I'S x_I - 2 x_I'B x_J + x_J'(vI - A_JJ)x_J is at least x_J'(vI - A_JJ - B'S^-1 B)x_J, and
B'S^-1 B = B'Y + Y'B - Y'SY + R'S^-1 R. The root is the Frobenius norm of C on J, which is no less than its
largest eigenvalue, and for x >= 0 negative entries only lower x_J'C x_J.

Claims about single features: `having` (n,) bounds x'Ax for x_j != 0, and `lacking` (n,) for x_j = 0.
Theorem. They are true if they are at least v, and at least the t + F of each leaf some of whose sets S have
j, for `having`, or some of whose sets lack j or have it because it is forced, for `lacking`.
Proof. S is the support of x and the forced features. So x_j != 0 puts j in S, and x_j = 0 leaves j out of S
unless j is forced. Features eliminated above a reduced node are in each of its sets.

Nobody needs to know whether v is reached. A stage proves nothing about features that it does not fix.

`entry` calls `fixing` for this form. `packing` reads the trees of its components by `Trees`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy import ndarray as Array

from nspca.checker import matrix
from nspca.checker.blocks import Block
from nspca.checker.cover import TOO_SHORT, TopSum, prove_cover, prove_rows
from nspca.checker.inequality import row_heights, spectral_half, top_sum
from nspca.checker.matrix import Found, Matrix
from nspca.checker.mixed import is_never_smallest
from nspca.checker.reading import NO_WITNESS, OF_FEATURES, Arrays, Inequality, Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import TINY, float_up, gamma, is_psd, margin, norm, root_up, topk

NO_CAP = Fraction(10**400)
"""The cap of a node without one: a number above every sum of two floats."""
LEAF, NOTHING_LEFT, SQUARES, REDUCED, CAPPED, COVERED, MIXED = -1, -2, -3, -4, -5, -6, -7
"""Codes of nodes: a leaf, a node without sets, a leaf below the level by squares, a node with one child about
C, without and with a bound of its own, and for `answers` a leaf with a listed set in, and one with a single
set that is not minimal. Any other code is the feature branched on.
"""
MOST_HELD = 2**30
"""Maximum bytes of the matrices C of nodes that wait: reduced nodes below each other have one each."""
NAMES: tuple[str, ...] = ("level", "branch", "stages", "fixed", "features", "use", "claims", "tau")
NAMES += ("tree", "sizes", "rows", "W", "M", "U")
"""Names of the witness arrays of this form."""


def fixing(A: Matrix, recipe: Recipe, arrays: Arrays) -> Fraction:
    """Return the largest of the level v and of t + F of all leaves, once every stage and leaf is proved."""
    arrays.only(*NAMES, *OF_FEATURES)
    return prove_tree(A, recipe, arrays, Claims.read(arrays, A.n, recipe.forced))


def prove_tree(
    A: Matrix,
    recipe: Recipe,
    arrays: Arrays,
    claims: "Claims | None" = None,
    listed: list[Array] | None = None,
) -> Fraction:
    """Return the bound that the only tree of a certificate proves, with claims or `listed` sets."""
    proof = Proof.read(arrays, A.n)
    require(proof.levels.size == 1, f"witness level must be one number, got {proof.levels.size}")
    require(proof.levels[0] >= 0, f"the level must be at least 0, got {float(proof.levels[0])!r}")
    trees = Trees(proof, recipe.nonneg, claims, listed or [])
    trees.smallest = listed is not None and recipe.nonneg and not recipe.forced
    if claims is not None:
        claims.need(np.ones((2, A.n), dtype=bool), Fraction(float(proof.levels[0])))
    proved, _ = trees.prove(Node.root(A, recipe.forced, recipe.k))
    trees.nothing_left_over()
    return proved


@dataclass(frozen=True, eq=False)
class Claims:
    """Claimed bounds (2, n) on x'Ax at unit scale: for x_j != 0, and for x_j = 0."""

    bounds: Array
    forced: tuple[int, ...]

    @classmethod
    def read(cls, arrays: Arrays, n: int, forced: tuple[int, ...]) -> Self | None:
        """Return the claims in the arrays of a certificate about n features; None where there are none."""
        if not set(OF_FEATURES) & set(arrays.named):
            return None
        return cls(np.array([arrays.numbers(name, (n,)) for name in OF_FEATURES]), forced)

    def need(self, told: Array, bound: Fraction) -> None:
        """Refuse claims below a proved bound, among those that the mask `told` (2, n) names."""
        low = told & ~(self.bounds >= float_up(bound))
        for i, j in np.argwhere(low)[:1].tolist():
            sentence = f"answers that {('have', 'lack')[i]} feature {j} are claimed to stay below"
            claim = float(self.bounds[i, j])
            require(False, f"{sentence} {claim!r} at unit scale, but only {float_up(bound)!r} is proved")

    def at_leaf(self, node: "Node", bound: Fraction) -> None:
        """Refuse claims that are below the bound of a leaf at which such an answer may be."""
        unsure = ~node.certain
        unsure[list(self.forced)] = True
        self.need(np.array([node.certain | node.is_free, unsure]), bound)


# --- nodes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the tree, after the stages that were read so far.

    Attributes
    ----------
    A : the matrix, or the part of it whose entries are held, or C
    features : (A.n,) the features of A, in increasing order
    is_in, is_free : (n,) bool, for all n features of the problem
    k : the largest number of features of a set
    origin : for a node about C, the node about A whose features that are in were eliminated; else None
    lost : what the roundings of C may add to a bound
    cap : a bound for all sets of the node, proved by a node with code CAPPED above
    """

    A: "Matrix | Part"
    features: Array
    is_in: Array
    is_free: Array
    k: int
    origin: "Node | None" = None
    lost: float = 0.0
    cap: Fraction = NO_CAP

    @classmethod
    def root(cls, A: Matrix, forced: Sequence[int], k: int, out: Sequence[int] = ()) -> Self:
        """Return the root: the forced features are in, all others but `out` are free unless k are in."""
        is_in = np.zeros(A.n, dtype=bool)
        is_in[list(forced)] = True
        is_free = ~is_in
        is_free[list(out)] = False
        return cls(A, np.arange(A.n), is_in, is_free, k)._without_room()

    @property
    def has_no_sets(self) -> bool:
        """Tell whether more than k features are in, or none is in and none is free."""
        return self.is_in.sum() > self.k or not (self.is_in | self.is_free).any()

    @property
    def certain(self) -> Array:
        """Return which features (n,) are in, here or above a reduced node."""
        return self.is_in if self.origin is None else self.is_in | self.origin.is_in

    def after(self, out: Array | list[int], in_: Array | list[int]) -> Self:
        """Return the node in which the free features `out` and `in_` are fixed."""
        is_in, is_free = self.is_in.copy(), self.is_free.copy()
        is_in[in_] = True
        is_free[out] = is_free[in_] = False
        return replace(self, is_in=is_in, is_free=is_free)._without_room()

    def children(self, j: int) -> tuple[Self, Self]:
        """Return the children with the free feature j, and without it."""
        possible = 0 <= j < self.is_free.size and self.is_free[j] and self.is_in.sum() < self.k
        sentence = f"feature {j} cannot be branched on: it must be free, with fewer than {self.k} features in"
        require(possible, sentence)
        return self.after([], [j]), self.after([j], [])

    def _without_room(self) -> Self:
        """Return the node without free features where k are in."""
        return self if self.is_in.sum() < self.k else replace(self, is_free=np.zeros_like(self.is_free))

    def held(self) -> Self:
        """Return the node with entries of A held where few features are left.

        Nodes that wait hold none of their own, or a chain of branches could fill the memory.
        """
        live = np.flatnonzero(self.is_in | self.is_free)
        if self.A.entries is not None or not 0 < live.size <= matrix.DENSE_LIMIT:
            return self
        return replace(self, A=Part(self.A, live), features=live)


class Part(Matrix):
    """A principal part of A: a matrix of fewer features, which are numbered from 0.

    Computed entries are held where there are at most DENSE_LIMIT features, or where A holds them. `A` is the
    whole matrix, and `rows` (n,) are the features of the part.
    """

    def __init__(self, A: Matrix, rows: Array) -> None:
        self.A, self.rows, self.m, self.n = A, rows, A.m, rows.size
        self.size, self.eps, self.lost, self.more = A.size[rows], A.eps, A.lost, A.more
        self.relative, self.gram = A.relative, A.gram
        few = A.entries is not None or rows.size <= matrix.DENSE_LIMIT
        self.entries = A.block(rows, rows) if few else None
        self.by_rows = A.by_rows and not few

    def columns(self, J: Array) -> Array:
        """Return Z for the features J."""
        return self.A.columns(self.rows[J])

    def block(self, I: Array, J: Array) -> Array:
        """Return A[I, J], as computed."""
        held = self.entries
        return self.A.block(self.rows[I], self.rows[J]) if held is None else held[np.ix_(I, J)]

    def larger(self, order: Array, blocks: list[Block], least: list[float], nonneg: bool) -> Iterator[Found]:
        """Return for every block of A its entries above a level, as `Matrix.larger` does."""
        if self.entries is None:
            return self.A.larger(self.rows[order], blocks, least, nonneg)
        return super().larger(order, blocks, least, nonneg)


class Held(Matrix):
    """A symmetric matrix of given entries, which count as exact: the C of a reduced node."""

    eps, lost, relative, gram, m = 0.0, 0.0, True, False, 0
    entries: Array

    def __init__(self, C: Array) -> None:
        self.entries, self.n = (C + C.T) / 2, len(C)
        self.size = np.sqrt(np.abs(self.entries).max(axis=0, initial=0.0)) * (1 + gamma(8))


# --- uses of witnesses ----------------------------------------------------------------------------


class Trees:
    """The trees of a certificate and their uses of witnesses, read one after the other.

    A *use* is a witness with its claims and its cover at one node: for a stage, or for a leaf.

    Features may have prices pi (n,). Then x'Ax - pi(S) is bounded in the place of x'Ax, where pi(S) adds up
    the prices of a set S. A free feature has the height h_i - pi_i, and the prices of the features that are
    in are taken off t + F. Where no witness is used, M is the diagonal of the prices of the free features,
    and no term is left: x_i^2 pi_i is at most the price of i.

    Attributes
    ----------
    read, trees_read, nodes_read, stages_read, features_read : numbers of uses, trees, nodes, stages and
        features that were read so far
    tree : codes of covers that are not yet read
    level : level v of the tree that was read last
    claims : what is claimed about single features, None for nothing
    listed : the listed sets of features
    smallest : whether only the smallest sets with x'Ax > v count, of x >= 0 that are 0 outside them
    """

    def __init__(
        self, proof: "Proof", nonneg: bool, claims: Claims | None = None, listed: Sequence[Array] = ()
    ):
        self.proof, self.nonneg, self.claims, self.listed = proof, nonneg, claims, listed
        self.prices: np.ndarray | None = None
        self.smallest = False
        self.read, self.tree, self.level = 0, proof.tree, 0.0
        self.trees_read = self.nodes_read = self.stages_read = self.features_read = 0

    def prove(self, node: Node, prices: np.ndarray | None = None) -> tuple[Fraction, Node]:
        """Return the bound that the next tree proves for the sets of `node`, and the root after its
        stages.
        """
        proof, root, self.prices = self.proof, None, prices
        require(self.trees_read < proof.levels.size, f"there is no tree {self.trees_read}")
        self.level = float(proof.levels[self.trees_read])
        self.trees_read += 1
        proved, waiting = Fraction(self.level), [node]
        while waiting:
            read = self.nodes_read
            require(read < proof.branch.size, TOO_SHORT)
            node, code, count = waiting.pop().held(), int(proof.branch[read]), int(proof.stages[read])
            self.nodes_read += 1
            require(0 <= count <= len(proof.fixed) - self.stages_read, f"node {read} has no {count} stages")
            for _ in range(count):
                node = self.prove_stage(node).held()
            root = node if root is None else root
            if code == NOTHING_LEFT:
                require(node.has_no_sets, f"node {read} is left out, but sets of features are left in it")
            elif code == LEAF:
                bound = self.prove_leaf(node)
                proved = max(proved, bound)
                if self.claims is not None:
                    self.claims.at_leaf(node, bound)
            elif code == SQUARES:
                self.prove_squares(node)
            elif code == COVERED:
                covered = any(node.certain[T].all() for T in self.listed)
                require(covered, f"no listed set is among the features that are in at node {read}")
            elif code == MIXED:
                proved_so = self.smallest and self.is_mixed(node)
                require(proved_so, f"the set of node {read} may be a smallest one")
            elif code in (REDUCED, CAPPED):
                require(node.is_in.any(), f"node {read} cannot be reduced: no feature is in")
                waiting.append(self.reduce(node, self.prove_leaf(node) if code == CAPPED else node.cap))
                held = {id(one.A): one.A.entries.nbytes for one in waiting if isinstance(one.A, Held)}
                sentence = f"the matrices C of the nodes above node {read} need more than {MOST_HELD} bytes"
                require(sum(held.values()) <= MOST_HELD, sentence)
            else:
                waiting += reversed(node.children(code))
        assert root is not None  # the loop has begun with it
        return proved, root

    def nothing_left_over(self) -> None:
        """Refuse numbers that no tree has read."""
        proof = self.proof
        ends = (self.trees_read, self.nodes_read, self.stages_read, self.features_read, self.read)
        there = proof.levels, proof.branch, proof.fixed, proof.features, proof.use
        over = ends != tuple(map(len, there)) or self.tree.size > 0
        require(not over, "the certificate has numbers left over that no node of the tree reads")

    def _bound(self, node: Node, witness: Inequality) -> Fraction:
        """Return t + F of a use at a node, exactly, with what roundings of C add and less the prices of I.

        `_next` has lowered F by `node.lost` for the cover, so here that much is added again.
        """
        bound = Fraction(witness.t) + Fraction(witness.F) + Fraction(node.lost)
        return bound if self.prices is None else bound - exact_sum(self.prices[node.is_in])

    def prove_leaf(self, node: Node) -> Fraction:
        """Prove the bound of a leaf for all sets of a node, and return it."""
        f, witness, _, _ = self._next(node)
        self.tree = prove_cover(f, witness.F, self.tree)
        return min(self._bound(node, witness), node.cap)

    def is_mixed(self, node: Node) -> bool:
        """Tell whether a node has a single set, which is proved to be no smallest one."""
        origin, I = node.origin or node, np.flatnonzero(node.certain)
        matrix.require_few(origin.A, I)
        return not node.is_free.any() and is_never_smallest(origin.A, np.searchsorted(origin.features, I))

    def reduce(self, node: Node, cap: Fraction) -> Node:
        """Return the node about C for a node: the features that are in are eliminated from its sets.

        C is always made of A itself: features that are in here, and those eliminated above, are all in I.
        Letters are those of the theorem, and norm_I and norm_J bound the norms of the sizes of I and J. Any
        mu > 0 would do; half of the smallest eigenvalue of S can be proved.

        Roundings: 1 for S; p for B'Y and SY, 2p for Y'SY, p features in I; 6 to add up. The 1 % pays for
        those of `lost` itself.
        """
        require(self.prices is None, "squares and reduced nodes prove nothing of features with prices")
        origin, left = node.origin or node, node.is_in | node.is_free
        node = origin.after(origin.is_free & ~left, origin.is_free & node.is_in)
        free, v, p = np.flatnonzero(node.is_free), self.level, int(node.is_in.sum())
        order = np.concatenate([np.flatnonzero(node.is_in), free])
        matrix.require_few(node.A, order)
        A = Part(node.A, np.searchsorted(node.features, order))
        E, n = A.block(np.arange(A.n), np.arange(A.n)), A.n
        S, B = v * np.eye(p) - E[:p, :p], E[:p, p:]
        B = np.where(B.sum(axis=0) < 0, np.maximum(B, 0), B) if self.nonneg else B
        norm_I, norm_J, norm_S = norm(A.size[:p]), norm(A.size[p:]), norm(S)
        mu = float(np.linalg.eigvalsh(S).min(initial=v)) / 2
        of_entries = A.eps * norm_I**2 + A.lost * n + margin(8, v, norm_S)
        proved = mu > 0 and is_psd(S - mu * np.eye(p), of_entries)
        require(proved, f"v I - A is not proved positive definite on the features that are in, v = {v!r}")
        Y = np.linalg.solve(S, B)
        norm_Y, norm_B = norm(Y), norm(B)
        felt = norm_J + norm_I * norm_Y
        norm_R = norm(B - S @ Y) + margin(p + 8, norm_B, norm_S * norm_Y)
        norm_R += A.eps * norm_I * felt + A.lost * n * (1 + norm_Y)
        lost = A.eps * felt**2 + A.lost * n * (1 + norm_Y) ** 2 + norm_R**2 / mu
        lost += margin(4 * p + 16, norm(E), 2 * norm_B * norm_Y, norm_S * norm_Y**2)
        C = E[p:, p:] + B.T @ Y + Y.T @ B - Y.T @ (S @ Y)
        return Node(Held(C), free, node.is_in & False, node.is_free, node.k - p, node, 1.01 * lost, cap)

    def prove_squares(self, node: Node) -> None:
        """Prove that no set of a node has x'Ax > v, by the squares of C: at most 2k + 5 roundings."""
        child = self.reduce(node, NO_CAP)
        C, room = np.asarray(child.A.entries), child.k
        squares = np.square(np.maximum(C, 0) if self.nonneg else C)
        each = squares.diagonal() + topk(squares * (1 - np.eye(len(C))), max(room - 1, 0))
        total = root_up(topk(each, room) * (1 + gamma(4 * node.k + 64)) + TINY)
        sentence = f"squares do not prove that sets of at most {node.k} features stay below {self.level!r}"
        require(Fraction(total) + Fraction(child.lost) <= Fraction(self.level), sentence)

    def prove_stage(self, node: Node) -> Node:
        """Prove x'Ax <= v for the sets of a node that have a feature that the next stage fixes out, or lack
        one that it fixes in, and return the node after the stage.
        """
        number, free, counts = self.read, node.is_free, self.proof.fixed[self.stages_read]
        end = self.features_read + counts.sum()
        both = self.proof.features[self.features_read : end]
        out, in_ = both[: counts[0]], both[counts[0] :]
        self.stages_read, self.features_read = self.stages_read + 1, end
        inside = bool(both.size) and ((both >= 0) & (both < free.size)).all()
        rising = all((np.diff(part) > 0).all() for part in (out, in_))
        right = inside and rising and free[both].all() and np.unique(both).size == both.size
        require(right, f"use {number} must fix one or more features, each of them free, in increasing order")
        f, witness, kept, outside = self._next(node)
        low_enough = self._bound(node, witness) <= Fraction(self.level)
        require(low_enough, f"t + F of stage use {number} is above the level {self.level!r}")
        of_out, of_in = np.zeros((2, len(f.h)), dtype=bool)
        of_out[: kept.size], of_in[: kept.size] = np.isin(kept, out), np.isin(kept, in_)
        require(of_in.sum() == in_.size, f"use {number} fixes in a feature outside its rows")
        if np.isin(out, outside).any():
            of_out[kept.size] = True  # a proof for one of the equal rows outside holds for all
        self.tree = prove_rows(f, witness.F, of_out, of_in, self.tree)
        return node.after(out, in_)

    def _next(self, node: Node) -> tuple[TopSum, Inequality, Array, Array]:
        """Read the next use, and return its search half, its witness, its kept and its outside features."""
        proof, number = self.proof, self.read
        require(number < proof.use.size, f"witness use cannot be read: node has no use {number}")
        self.read += 1
        require(not node.has_no_sets, f"use {number} is at a node where no sets of features are left")
        chosen, (t, F) = int(proof.use[number]), proof.claims[number].tolist()
        # the claimed F includes what the roundings of C may add, so the cover is proved for less
        F = float(np.nextafter(F - node.lost, -np.inf)) if node.lost else F
        given = None if chosen == NO_WITNESS else proof.witnesses[chosen]
        of_node = node.is_in | node.is_free
        of_rows = of_node if given is None else np.isin(np.arange(of_node.size), given.rows) & of_node
        require(of_rows[node.is_in].all(), f"the rows of use {number} lack a feature that is in")
        kept = np.concatenate([np.flatnonzero(node.is_in), np.flatnonzero(of_rows & node.is_free)])
        outside = np.flatnonzero(of_node & ~of_rows)
        live = np.flatnonzero(of_node)
        A: Any = Part(node.A, np.searchsorted(node.features, live))
        at_kept, at_outside = np.searchsorted(live, kept), np.searchsorted(live, outside)
        W, M, U = (None, None, np.zeros((kept.size, 0))) if given is None else given.on(kept)
        tau = float(proof.tau[number]) if outside.size else None
        witness = Inequality(at_kept, W, M, U, tau, t, (F,), self.tree)
        pi = None if self.prices is None else np.where(node.is_free[kept], self.prices[kept], 0.0)
        if pi is not None and given is None:
            witness = replace(witness, M=np.diag(pi))
        reached, fixed = spectral_half(A, witness, at_outside, self.nonneg), int(node.is_in.sum())
        h = row_heights(witness, node.k, self.nonneg)
        f = top_sum(witness, reached, h, outside.size, node.k, fixed, self.nonneg)
        if pi is not None:
            h = np.zeros_like(f.h) if given is None else f.h - np.pad(pi, (0, len(f.h) - kept.size))
            f = replace(f, h=h)
        return f, witness, kept, outside


@dataclass(frozen=True, eq=False)
class Witness:
    """W, M and U of one witness on its r rows, as they are stored.

    `W` has the entries of a symmetric matrix on and above the diagonal, row by row.
    """

    rows: Array  # (r,)
    W: Array  # (r (r + 1) / 2,)
    M: Array | None  # (r, r)
    U: Array  # (r, d)

    def on(self, kept: Array) -> tuple[Array, Array | None, Array]:
        """Return W, M and U on the rows `kept`, in double precision."""
        at, r = np.searchsorted(self.rows, kept), self.rows.size
        first, second = np.minimum.outer(at, at), np.maximum.outer(at, at)
        W = self.W[first * r - first * (first - 1) // 2 + second - first]
        M = None if self.M is None else self.M[np.ix_(at, at)].astype(np.float64)
        return W.astype(np.float64), M, self.U[at].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Proof:
    """All numbers of the trees of a certificate, read once.

    `features` are those of all stages, and `tree` has the codes of all covers, one after the other. `fixed`
    says how many features each stage fixes out and in. `use` has the number of one of `witnesses` for each
    use.
    """

    levels: Array  # (trees,)
    branch: Array  # (nodes,)
    stages: Array  # (nodes,)
    fixed: Array  # (s, 2)
    features: Array
    use: Array  # (u,)
    claims: Array  # (u, 2)
    tau: Array  # (u,)
    tree: Array
    witnesses: list[Witness]

    @classmethod
    def read(cls, arrays: Arrays, n: int) -> Self:
        """Read the proof from the arrays of a certificate about n features."""
        levels = arrays.numbers("level", (arrays.need("level").size,))
        branch, stages, use = (arrays.codes(name) for name in ("branch", "stages", "use"))
        require(branch.size == stages.size, "witness stages must have a number for each node of the tree")
        fixed, witnesses = whole_rows(arrays, "fixed", 2), read_witnesses(arrays, n)
        sentence = f"witness use cannot be read: its numbers go from {NO_WITNESS} to {len(witnesses) - 1}"
        require(all(NO_WITNESS <= number < len(witnesses) for number in use.tolist()), sentence)
        features = arrays.codes("features").astype(int)
        counted = (fixed >= 0).all() and sum(fixed.ravel().tolist()) == features.size
        require(counted, "witness fixed must count the numbers of witness features")
        claims, tau = arrays.numbers("claims", (use.size, 2)), arrays.numbers("tau", (use.size,))
        return cls(levels, branch, stages, fixed, features, use, claims, tau, arrays.codes("tree"), witnesses)


def exact_sum(numbers: np.ndarray) -> Fraction:
    """Return the sum of finite floats without rounding."""
    return sum(map(Fraction, numbers.tolist()), Fraction(0))


def whole_rows(arrays: Arrays, name: str, columns: int) -> Array:
    """Return a witness array of whole numbers with this number of columns."""
    array = np.array(arrays.need(name))
    right = array.dtype.kind in "iu" and array.ndim == 2 and array.shape[1] == columns
    sentence = f"witness {name} must be whole numbers in rows of {columns}, got {array.dtype} {array.shape}"
    require(right and (array.astype(object) < 2**62).all(), sentence)
    return array.astype(int)


def read_witnesses(arrays: Arrays, n: int) -> list[Witness]:
    """Return the witnesses, whose numbers follow each other in the arrays `rows`, `W`, `M` and `U`."""
    sizes = whole_rows(arrays, "sizes", 3).tolist()
    possible = all(0 <= r <= n and 0 <= d <= max(n, 15) and m in (0, 1) for r, d, m in sizes)
    require(possible, f"witness sizes must be at most {n} rows, as many columns, and 0 or 1")
    rows, parts, found = arrays.codes("rows").astype(int), [], []
    lengths = np.array([(r, r * (r + 1) // 2, r * r * m, r * d) for r, d, m in sizes], dtype=object)
    for name, own in zip(("rows", "W", "M", "U"), lengths.reshape(-1, 4).T.tolist(), strict=True):
        array = rows if name == "rows" else np.array(arrays.need(name))
        right = array.shape == (sum(own),) and (name == "rows" or array.dtype in (np.float32, np.float64))
        sentence = f"witness {name} must be {sum(own)} finite numbers, W, M, U of single or double precision"
        require(right and np.isfinite(array).all(), sentence)
        parts.append(np.split(array, np.cumsum(own)[:-1]))
    for (r, d, m), own, W, M, U in zip(sizes, *parts, strict=False):
        rising = ((own >= 0) & (own < n)).all() and (np.diff(own) > 0).all()
        require(rising, f"the rows of a witness must rise, from 0 to {n - 1} at most")
        found.append(Witness(own, W, M.reshape(r, r) if m else None, U.reshape(r, d)))
    return found
