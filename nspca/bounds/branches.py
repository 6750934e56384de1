"""B8: branch on "feature in the support or not", with the inequality at every node.

At a node some features belong to the support (`fixed`), some cannot (they are left out of A), the others are free. The
restricted problem is bounded as everywhere, with two places where a fixed feature is felt: it is always among the k terms of
the search half, and its row cut has z = 1, which leaves k - |fixed| to the others. A node starts with what its parent ended
with; it is split at the feature whose z is least decided. The leaves of the tree are the proof: every support belongs to
exactly one, so the largest of their bounds is a bound. Idea: branch and bound (Land and Doig 1960); its bounds are ours.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nspca import ascent
from nspca.bounds import starts
from nspca.bounds.dual import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.lift import Lift
from nspca.bounds.plan import GROW_EVERY, OVERHEAD, ROUND, Plan
from nspca.bounds.witness import Proof, Witness, largest, lifted, prove
from nspca.certificate import Certificate
from nspca.cones import Stop
from nspca.linalg import Array, topk_indices
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

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
    """What a node hands to its children, on all n features: the witness, X and the bundle of the dual, z of the row cuts."""

    W: Array
    M: Array
    U: Array
    X: Array
    z: Array
    points: Array

    def witness(self, rows: np.ndarray) -> Witness:
        """Its part on the rows of a node below."""
        at = np.ix_(rows, rows)
        U = self.U[rows]
        return Witness(self.W[at], self.M[at], U[:, U.any(axis=0)])


@dataclass(eq=False)
class Node:
    """Features in every support, features that may be, the best proof so far and the state it comes from (None: no witness)."""

    fixed: tuple[int, ...]
    free: np.ndarray
    proof: Proof | None = None
    source: State | None = None
    state: State | None = None
    feature: int = LEAF
    children: tuple = ()

    def rows(self, k: int) -> np.ndarray:
        """Features of the restricted problem, the fixed ones first."""
        return np.array(self.fixed, dtype=int) if len(self.fixed) == k else np.append(np.array(self.fixed, dtype=int), self.free)

    def without(self, feature: int) -> "Node":
        """The child whose supports do not have a free feature."""
        return Node(self.fixed, self.free[self.free != feature])

    def having(self, feature: int) -> "Node":
        """The child whose supports all have it."""
        return Node((*self.fixed, feature), self.free[self.free != feature])

    @property
    def upper(self) -> float:
        return self.proof.upper

    def walk(self) -> Iterator["Node"]:
        """This node and all below, in preorder: first the supports that have a feature, then those without."""
        stack = [self]
        while stack:
            node = stack.pop()
            stack += node.children
            yield node


class Tree:
    """The search.

    Parameters
    ----------
    problem : Problem
        Every row of it is kept: for small n only.
    lower : float
        A value known to be reached, in unit scale.
    closed : float
        Relative gap at which a node is done.
    report : callable
        Gets an `Event` of stage "search over supports" every few steps; may raise `Cancelled`.

    Attributes
    ----------
    lower : float
        The largest value reached, and the `point` (n,) that reaches it; None if that is not from here.
    """

    def __init__(self, problem: Problem, plan: Plan, lower: float, closed: float, report: Report = silent):
        self.problem, self.plan, self.lower, self.closed, self.report = problem, plan, lower, closed, report
        self.A, self.k, self.nonneg = problem.covariance.matrix, problem.k, problem.nonneg
        self.point, self.steps, self.most = None, 0, max(1, int(plan.branching / (problem.n**2 + OVERHEAD)))
        self.root, self.upper = Node((), np.arange(problem.n)), np.inf

    @property
    def target(self) -> float:
        return self.lower * (1 + self.closed)

    def run(self, W: Array, X: Array) -> None:
        """Bound the root, from W and X of the dual, then split the worst node until all are done or the steps are used up."""
        n = len(W)
        U = lifted(Kept(np.arange(n), self.A, 0.0), Witness(W), RANK)[0].U
        self.root.state = self.root.source = State(W, np.zeros_like(W), U, X, np.zeros(n), np.zeros((n, 0)))
        heap, made = [], 0
        self.reach(topk_indices(np.diag(X), self.k))
        self.bound(self.root, ROOT_ROUNDS)
        waiting = [self.root]
        while True:
            for node in waiting:
                heapq.heappush(heap, (-node.upper, made, node))
                made += 1
            self.upper = -heap[0][0]
            self.tell()
            node = heap[0][2]
            if node.upper <= self.target or node.state is None or self.steps >= self.most:
                return
            waiting = self.split(node)
            heapq.heappop(heap)

    def split(self, node: Node) -> tuple[Node, Node]:
        """Both children, bounded, of the split at the feature whose z is least decided."""
        z = node.state.z[node.free]
        feature = int(node.free[np.argmax(np.minimum(z, 1 - z) + 1e-3 * z)])
        made = node.without(feature), node.having(feature)
        for child in made:
            child.source, child.state = node.source, node.state
            self.bound(child, ROUNDS)
        node.feature, node.children = feature, made
        return made

    def by_eigenvalues(self) -> bool:
        """The tree of tiny problems: a node is done when the leading eigenvalue of all that its supports may use is low enough.

        False, and nothing is changed, when the plan's work is not enough.
        """
        root, done, work = Node((), np.arange(self.problem.n)), [], 0
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
            node.proof = self.prove(Kept(rows, self.A[np.ix_(rows, rows)], 0.0), Witness(), 0)
        self.root, self.upper = root, max(node.upper for node, _ in done)
        self.tell()
        return True

    # --- bound of a node ----------------------------------------------------------------------------------------------
    def bound(self, node: Node, rounds: int) -> None:
        """The best proof at the node: without a witness if that is enough, with its parent's witness, with a better one."""
        rows, fixed, inherited, source = node.rows(self.k), len(node.fixed), node.state, node.source
        kept = Kept(rows, self.A[np.ix_(rows, rows)], 0.0)
        if rows.size <= self.k:
            fixed, node.state = 0, None  # nothing is left to branch on
            self.reach(rows)
        node.proof, node.source = self.prove(kept, Witness(), 0), None
        if node.upper <= self.target or (rows.size <= self.k and not self.nonneg):
            return
        if source is not None:
            proof = self.prove(kept, source.witness(rows), fixed)
            if proof.upper < node.upper:
                node.proof, node.source = proof, source
            if node.upper <= self.target:
                return
        state = self.refine(node, kept, rows, fixed, inherited, rounds)
        node.state = state if rows.size > self.k else None

    def refine(self, node, kept, rows, fixed, inherited, rounds):
        """Rounds of steps, each followed by two looks: the lift as it is, and the plain lift of W and M, whose subspace it takes.

        Returns where it ended: what children go on from. The best proof on the way stays with the node.
        """
        splitting, lift = self.dual(kept, inherited, rows, fixed)
        own = last = np.inf
        for _ in range(rounds):
            self.advance(splitting, lift)
            base = Witness(splitting.entries.W, lift.M)
            plain, left = lifted(kept, base, RANK)
            grown = Witness(base.W, base.M, lift.U)
            for witness, estimate in ((grown, largest(kept, grown)), (plain, left)):
                proof = self.prove(kept, witness, fixed, estimate, node.upper)
                if witness is grown and proof.cover.direction.size == grown.U.shape[1] + 1:
                    lift.grow(proof.cover.direction[:, None])
                own = min(own, proof.upper)
                if proof.upper < node.upper:
                    node.proof, node.source = proof, self.state(rows, witness, splitting, lift)
            if plain.U.shape[1] == lift.B.shape[1]:
                lift.rebase(np.linalg.qr(plain.U)[0])
            self.tell()
            if node.upper <= self.target or last - own < STALL * (own - self.lower):
                break
            last = own
        values = np.einsum("ij,ij->j", lift.points, kept.block @ lift.points)
        for x in lift.points.T[np.argsort(-values)[:REACHED]]:
            self.reach(rows[x != 0])
        return self.state(rows, Witness(splitting.entries.W, lift.M, lift.U), splitting, lift)

    def dual(self, kept, start: State, rows, fixed):
        """The splitting of a node, begun where its parent ended."""
        witness, X = start.witness(rows), start.X[np.ix_(rows, rows)]
        splitting = Splitting(kept, self.k, self.nonneg)
        splitting.resume(witness.W, X)
        rank = min(RANK, len(X))
        B = np.linalg.qr(np.column_stack((witness.U, starts.basis(kept, witness.W, rank))))[0][:, :rank]
        points = self.feasible(start.points, rows, fixed)
        if points.shape[1] == 0:
            points = starts.first_point(self.problem, splitting, B, fixed)
        lift = Lift(splitting, B, points, self.k, self.nonneg, forced=fixed)
        lift.resume(witness.U, X, witness.M if witness.M.any() else None)
        return splitting, lift

    def feasible(self, points, rows, fixed):
        """Those points that a support of the node can carry, on its rows."""
        others = np.setdiff1d(np.arange(len(points)), rows)
        possible = (np.count_nonzero(points[rows[fixed:]], axis=0) <= self.k - fixed) & ~points[others].any(axis=0)
        return points[np.ix_(rows, np.flatnonzero(possible))]

    def advance(self, splitting, lift):
        for _ in range(ROUND):
            splitting.step()
            self.steps += 1
            if self.steps % GROW_EVERY == 0:
                lift.grow()
                self.tell()

    def prove(self, kept, witness, fixed, estimate=None, best=np.inf):
        stop = Stop(goal=self.target, hopeless=best, known=self.lower)
        options = {"tol": self.closed / 10, "stop": stop, "cap": self.plan.cap, "report": self.quietly}
        return prove(self.problem, kept, witness, estimate=estimate, forced=fixed, **options)

    def state(self, rows, witness, splitting, lift):
        n = len(self.A)
        full = {name: np.zeros((n, n)) for name in "WMX"} | {"z": np.zeros(n)}
        full |= {"U": np.zeros((n, witness.U.shape[1])), "points": np.zeros((n, lift.points.shape[1]))}
        at = np.ix_(rows, rows)
        full["W"][at], full["X"][at] = witness.W, splitting.X
        if witness.M is not None:
            full["M"][at] = witness.M
        full["U"][rows], full["points"][rows], full["z"][rows] = witness.U, lift.points, lift.z
        return State(**full)

    # --- primal side --------------------------------------------------------------------------------------------------
    def reach(self, features: np.ndarray) -> None:
        """Is the best vector on these features better than what is known?"""
        support = np.sort(features)
        start = np.full(support.size, support.size**-0.5)
        weights = ascent.best_on_support(self.A[np.ix_(support, support)], start, self.nonneg)
        x = np.zeros(len(self.A))
        x[support] = weights
        if self.problem.covariance.quadratic(x) > self.lower * (1 + self.closed):
            self.point = ascent.swaps(self.problem, ascent.polish(self.problem, x), self.quietly)
            self.lower = self.problem.covariance.quadratic(self.point)

    # --- progress and result ------------------------------------------------------------------------------------------
    def quietly(self, event):
        self.tell()

    def tell(self):
        unit = self.problem.covariance.unit
        upper = self.upper * unit if np.isfinite(self.upper) else None
        self.report(Event("search over supports", self.steps, max(self.most, self.steps), self.lower * unit, upper, self.k))

    @property
    def leaves(self) -> list[Node]:
        return [node for node in self.root.walk() if not node.children]

    @property
    def proved(self) -> float:
        """The bound of the tree as it stands; infinite before the first."""
        return max(np.inf if node.proof is None else node.upper for node in self.leaves)

    def certificate(self) -> Certificate:
        """The tree in preorder, for every leaf its claims and which of the witnesses it uses."""
        use, claims, trees, pool = [], [], [], {}
        for node in self.leaves:
            use.append(LEAF if node.source is None else pool.setdefault(id(node.source), (len(pool), node.source))[0])
            claims.append((node.proof.t, node.proof.F))
            trees.append(node.proof.cover.tree)
        states = [state for _, state in pool.values()]
        n, d = len(self.A), max((state.U.shape[1] for state in states), default=0)
        arrays = {
            "branch": np.array([node.feature for node in self.root.walk()]),
            "use": np.array(use),
            "claims": np.array(claims),
            "tree": np.concatenate(trees),
        }
        arrays["W"] = np.array([state.W for state in states]).reshape(-1, n, n)
        arrays["M"] = np.array([state.M for state in states]).reshape(-1, n, n)
        arrays["U"] = np.zeros((len(states), n, d))
        for U, state in zip(arrays["U"], states, strict=True):
            U[:, : state.U.shape[1]] = state.U
        return Certificate.of(self.problem, "B8", "branches", max(t + F for t, F in claims), arrays)
