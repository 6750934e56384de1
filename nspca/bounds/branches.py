"""B8: branch on "feature in the support or not", with the inequality at every node.

At a node some features belong to the support (`fixed`), some cannot (they are left out of A), the others are
free. The restricted problem is bounded as everywhere, with two places where a fixed feature is felt: it is
always among the k terms of the search half, and its row cut has z = 1, which leaves k - |fixed| to the
others. A node starts with what its parent ended with; it is split at the feature whose z is least decided.
The leaves of the tree are the proof: every support belongs to exactly one, so the largest of their bounds is
a bound. Idea: branch and bound (Land and Doig 1960); its bounds are ours.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
from nspca.bounds.dual.rounds import Work, look
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.plan import OVERHEAD, ROUND, Plan
from nspca.bounds.witness import Proof, Witness, lift_of, prove
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, topk_indices
from nspca.local_search import single as ascent
from nspca.lowrank.cones import Budget

RANK = 3
"""Dimensions of a lift: with more, a node costs more than the nodes it saves."""
ROOT_ROUNDS, ROUNDS = 20, 12
"""Rounds of steps at the root and at other nodes, at most."""
STALL = 0.2
"""A node is split when a round closes less than this share of its gap."""
REACHED = 4
"""Points of a lift's bundle, the best, that are tried as answers."""
LEAF = -1
"""Code of a leaf, and of a leaf without a witness."""


@dataclass(frozen=True, eq=False)
class State:
    """What a node hands to its children, on all n features: witness, X, z of the row cuts, the bundle."""

    W: Array
    M: Array
    U: Array
    X: Array
    z: Array
    points: Array

    @classmethod
    def first(cls, kept: Kept, W: Array, X: Array) -> "State":
        """Of the root: W and X of the dual, with a lift and no more."""
        n = len(W)
        U, _ = lift_of(kept, Witness(W), RANK)
        return cls(W, np.zeros_like(W), U, X, np.zeros(n), np.zeros((n, 0)))

    @classmethod
    def of(cls, lift: Lift, witness: Witness, n: int) -> "State":
        """Where a lift and its splitting stand, and a witness that came from it."""
        kept = lift.splitting.kept
        rows = kept.features

        def entries(part: Array | None) -> Array:
            return np.zeros((n, n)) if part is None else kept.spread(part, n)

        def of_rows(part: Array) -> Array:
            full = np.zeros((n, *part.shape[1:]))
            full[rows] = part
            return full

        U = np.zeros((rows.size, 0)) if witness.U is None else witness.U
        W, M, X = entries(witness.W), entries(witness.M), entries(lift.splitting.X)
        return cls(W, M, of_rows(U), X, of_rows(lift.z), of_rows(lift.points))

    def feasible(self, kept: Kept, k: int) -> Array:
        """Those points that a support of the node below can carry, on its rows."""
        rows, room = kept.features, k - kept.fixed
        others = np.setdiff1d(np.arange(len(self.points)), rows)
        used = np.count_nonzero(self.points[rows[kept.fixed :]], axis=0)
        possible = (used <= room) & ~self.points[others].any(axis=0)
        return self.points[np.ix_(rows, np.flatnonzero(possible))]

    def part(self, rows: np.ndarray) -> tuple[Array, Array, Array]:
        """W, M and U on the rows of a node below."""
        at = np.ix_(rows, rows)
        U = self.U[rows]
        return self.W[at], self.M[at], U[:, U.any(axis=0)]


@dataclass(eq=False)
class Node:
    """Features in every support, features that may be, the best proof so far and where it comes from.

    `source` None: the proof needs no witness. `state`: what children go on from; None, and there are none.
    """

    fixed: tuple[int, ...]
    free: np.ndarray
    proof: Proof | None = None
    source: State | None = None
    state: State | None = None
    feature: int = LEAF
    children: tuple["Node", ...] = ()

    def rows(self, k: int) -> np.ndarray:
        """Features of the restricted problem, the fixed ones first."""
        fixed = np.array(self.fixed, dtype=int)
        return fixed if fixed.size == k else np.append(fixed, self.free)

    def without(self, feature: int) -> "Node":
        """The child whose supports do not have a free feature."""
        return Node(self.fixed, self.free[self.free != feature])

    def having(self, feature: int) -> "Node":
        """The child whose supports all have it."""
        return Node((*self.fixed, feature), self.free[self.free != feature])

    @property
    def upper(self) -> float:
        """Its bound; infinite before the first proof."""
        return np.inf if self.proof is None else self.proof.upper

    def walk(self) -> Iterator["Node"]:
        """This node and all below, in preorder: first supports that have a feature, then those without."""
        stack = [self]
        while stack:
            node = stack.pop()
            stack += node.children
            yield node


@dataclass(eq=False)
class Tree(Work[Plan]):
    """The search.

    Parameters
    ----------
    problem : Problem
        Every row of it is kept: for small n only.
    lower : float
        A value known to be reached, in unit scale.
    gap : float
        Relative gap at which a node is done.
    report : callable
        Gets an `Event` of stage "search over supports" every few steps; may raise `Cancelled`.

    Attributes
    ----------
    lower : float
        The largest value reached, and the `point` (n,) that reaches it; None if that is not from here.
    """

    stage = "search over supports"
    point: Array | None = None

    def __post_init__(self):
        self.A, self.k, self.nonneg = self.problem.covariance.matrix, self.problem.size, self.problem.nonneg
        self.total = max(1, int(self.plan.branching / (self.problem.n**2 + OVERHEAD)))
        self.root = self.whole()

    def whole(self) -> Node:
        """All supports: those with the forced features, which may as well be in each."""
        forced = self.problem.forced
        return Node(forced, np.setdiff1d(np.arange(self.problem.n), forced))

    def run(self, W: Array, X: Array) -> None:
        """Bound the root, from W and X of the dual, then split the worst node while there are steps."""
        self.root.state = self.root.source = State.first(self.kept(np.arange(len(W))), W, X)
        heap: list[tuple[float, int, Node]] = []
        made = 0
        rows = self.root.rows(self.k)
        self.reach(rows[topk_indices(np.diag(X)[rows], self.k, len(self.root.fixed))])
        self.bound(self.root, ROOT_ROUNDS)
        waiting: tuple[Node, ...] = (self.root,)
        while True:
            for node in waiting:
                heapq.heappush(heap, (-node.upper, made, node))
                made += 1
            self.upper = -heap[0][0]
            self.tell()
            node = heap[0][2]
            if node.upper <= self.target or node.state is None or self.steps >= self.total:
                return
            waiting = self.split(node, node.state)
            heapq.heappop(heap)

    def split(self, node: Node, state: State) -> tuple[Node, Node]:
        """Both children, bounded, of the split at the feature whose z is least decided; they go on from
        `state`.
        """
        z = state.z[node.free]
        feature = int(node.free[np.argmax(np.minimum(z, 1 - z) + 1e-3 * z)])
        made = node.without(feature), node.having(feature)
        for child in made:
            child.source, child.state = node.source, state
            self.bound(child, ROUNDS)
        node.feature, node.children = feature, made
        return made

    def by_eigenvalues(self) -> bool:
        """The tree of tiny problems, by the leading eigenvalue of all that the supports of a node may use.

        A node is done when that is low enough. False, and nothing is changed, when the plan's work is not.
        """
        root, done, work = self.whole(), [], 0
        stack = [root]
        while stack:
            node = stack.pop()
            rows = node.rows(self.k)
            values, vectors = np.linalg.eigh(self.A[np.ix_(rows, rows)])
            work += rows.size**3
            if rows.size <= self.k:
                self.reach(rows)
            if values[-1] <= self.target:
                done.append((node, rows))
                continue
            if rows.size <= self.k or work > self.plan.eigenvalues:
                return False
            node.feature = int(node.free[np.argmax(np.abs(vectors[len(node.fixed) :, -1]))])
            node.children = node.without(node.feature), node.having(node.feature)
            stack += node.children
        for node, rows in done:
            node.proof = self.prove(self.kept(rows), Witness())
        self.root, self.upper = root, max(node.upper for node, _ in done)
        self.tell()
        return True

    # --- bound of a node ------------------------------------------------------------------------------------
    def bound(self, node: Node, rounds: int) -> None:
        """The best proof: with no witness if that is enough, with the parent's, with a better one."""
        rows, inherited, source = node.rows(self.k), node.state, node.source
        last = rows.size <= self.k  # nothing is left to branch on
        kept = self.kept(rows, 0 if last else len(node.fixed))
        if last:
            node.state = None
            self.reach(rows)
        node.proof, node.source = self.prove(kept, Witness()), None
        if node.upper <= self.target or (last and not self.nonneg):
            return
        if source is not None:
            proof = self.prove(kept, Witness(*source.part(rows)))
            if proof.upper < node.upper:
                node.proof, node.source = proof, source
            if node.upper <= self.target:
                return
        state = self.refine(node, kept, inherited, rounds)
        node.state = None if last else state

    def kept(self, rows: np.ndarray, fixed: int = 0) -> Kept:
        return Kept(rows, self.A[np.ix_(rows, rows)], 0.0, fixed=fixed)

    def refine(self, node, kept, inherited, rounds):
        """Rounds of steps, each followed by a look; where it ended, which is what children go on from.

        The best proof on the way stays with the node.
        """
        lift = self.dual(kept, inherited)
        splitting = lift.splitting

        def keep(witness, proof):
            if proof.upper < node.upper:
                node.proof, node.source = proof, State.of(lift, witness, self.problem.n)

        def attempt(witness, estimate):
            return self.prove(kept, witness, estimate, node.upper)

        own = last = np.inf
        for _ in range(rounds):
            self.advance(splitting, ROUND)
            own = min(own, look(lift, attempt, keep))
            self.tell()
            if node.upper <= self.target or (np.isfinite(last) and last - own < STALL * (own - self.lower)):
                break
            last = own
        values = np.einsum("ij,ij->j", lift.points, kept.block @ lift.points)
        for x in lift.points.T[np.argsort(-values)[:REACHED]]:
            self.reach(kept.features[x != 0])
        return State.of(lift, Witness(splitting.entries.W, lift.cuts.M, lift.U), self.problem.n)

    def dual(self, kept: Kept, start: State) -> Lift:
        """The lift of a node and its splitting, begun where its parent ended."""
        (W, M, U), X = start.part(kept.features), start.X[np.ix_(kept.features, kept.features)]
        splitting = Splitting(kept, self.k, self.nonneg)
        splitting.resume(W, X)
        rank = min(RANK, len(X))
        B = np.linalg.qr(np.column_stack((U, starts.basis(kept, W, rank))))[0][:, :rank]
        points = start.feasible(kept, self.k)
        if points.shape[1] == 0:
            points = starts.first_point(self.problem, splitting, B)
        lift = add_lift(splitting, B, points)
        lift.resume(U, X)
        if M.any():
            lift.cuts.begin(X, M)
        return lift

    def prove(self, kept, witness, estimate=None, best=np.inf):
        limits = {"goal": self.target, "hopeless": best, "known": self.lower}
        budget = Budget(self.gap / 10, **limits, cap=self.plan.cap)
        return prove(self.problem, kept, witness, budget, estimate=estimate, report=self.quietly)

    # --- primal side ----------------------------------------------------------------------------------------
    def reach(self, features: np.ndarray) -> None:
        """Is the best vector on these features, and the forced ones, better than what is known?"""
        support = np.union1d(features, self.problem.forced).astype(int)
        start = np.full(support.size, support.size**-0.5)
        weights = ascent.best_on_support(self.A[np.ix_(support, support)], start, self.nonneg)
        x = np.zeros(len(self.A))
        x[support] = weights
        if self.problem.covariance.quadratic(x) > self.target:
            self.point = ascent.swaps(self.problem, ascent.polish(self.problem, x), self.quietly)
            self.lower = self.problem.covariance.quadratic(self.point)

    # --- result ---------------------------------------------------------------------------------------------
    @property
    def leaves(self) -> list[Node]:
        return [node for node in self.root.walk() if not node.children]

    @property
    def proved(self) -> float:
        """The bound of the tree as it stands; infinite before the first."""
        return max(node.upper for node in self.leaves)

    def certificate(self) -> Certificate:
        """The tree in preorder, for every leaf its claims and which of the witnesses it uses."""
        arrays = {"branch": np.array([node.feature for node in self.root.walk()])}
        arrays |= _packed(self.leaves, self.problem.n)
        return Certificate.of(self.problem, "B8", "branches", self.proved, arrays)


def _packed(leaves: list[Node], n: int) -> dict[str, np.ndarray]:
    """Claims, covers and witnesses of the leaves; a witness that several leaves share is there once."""
    pool: dict[int, tuple[int, State]] = {}
    proofs = [node.proof for node in leaves if node.proof is not None]
    assert len(proofs) == len(leaves)  # a tree with a leaf that has none has no bound to certify
    for node in leaves:
        if node.source is not None:
            pool.setdefault(id(node.source), (len(pool), node.source))
    states = [state for _, state in pool.values()]
    d = max((state.U.shape[1] for state in states), default=0)
    arrays = {
        "use": np.array([LEAF if node.source is None else pool[id(node.source)][0] for node in leaves]),
        "claims": np.array([(proof.t, proof.F) for proof in proofs]),
        "tree": np.concatenate([proof.cover.tree for proof in proofs]),
        "W": np.array([state.W for state in states]).reshape(-1, n, n),
        "M": np.array([state.M for state in states]).reshape(-1, n, n),
        "U": np.zeros((len(states), n, d)),
    }
    for U, state in zip(arrays["U"], states, strict=True):
        U[:, : state.U.shape[1]] = state.U
    return arrays
