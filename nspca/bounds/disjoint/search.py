"""Search for the best disjoint components: the joint node with the largest bound first, until none is open.

At a node prices are found, and a tree for each class of components proves a bound with them. What that fixes
for every better answer narrows the node. Where the linear program behind the prices stays above the best
value, no prices can close the node, and it is branched on: a feature belongs to one of the components, or to
none.

`search.strongest` runs a `JointTree`. A *state* says for each component which features it must have and
cannot have; the components of one size for which it says the same are a *class*.
"""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nspca.bounds.disjoint.arrays import packed_joint, unpacked_joint
from nspca.bounds.disjoint.branching import choose_row, search_answers
from nspca.bounds.disjoint.columns import Columns, Prices
from nspca.bounds.disjoint.node import JointNode
from nspca.bounds.disjoint.pricing import NO_GOAL, Base, Means, Pricing, aims
from nspca.bounds.disjoint.state import State
from nspca.bounds.dual.rounds import Work
from nspca.bounds.fixing.fates import NAMED, Pace, fates, hexed
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Supports
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import MOST_BYTES, Limits
from nspca.bounds.plan import CLOSED
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array
from nspca.errors import Cancelled
from nspca.progress import Event, silent

STEP = 40
"""Nodes that a tree of a joint node gets before the search decides again what to work on."""
NARROWED = 3
"""Maximum pricings of one node that fix features."""
WHOLE = 1e-9
"""Relative excess of a linear program over the best value that is taken for rounding."""
SHARE = 0.5
"""Trees of a node that must be branched on stop at the bound of the linear program plus this share of its
distance from the best value.
"""


@dataclass(eq=False, kw_only=True)
class JointTree(Work):
    """Search over the sets of all components.

    Attributes
    ----------
    ground : Ground
        The kept rows, without prices.
    limits : Limits
    witness : Stored or None
        Witness that every tree tries first.
    first : (n,) float64 or None
        Prices near which the root begins.
    point : (n, r) float64 or None
        An answer better than the one that was known, if the search met one.
    known : float
        A bound that is proved already, in unit scale. No larger bound is reported.
    resumed : dict of ndarray or None
        Arrays of the tree of an earlier search (a certificate of form `packing`), to go on from.
    base, columns : Base, Columns
        The features that have rows, and the pool of sets from which prices are found.
    root : JointNode
    leaves : list of JointNode
        The nodes that are open, as far as is known, and no longer open ones for a while.
    ended : float
        Largest bound of the leaves that are not open any more, and largest goal of an earlier search.
    nodes, held : int
        Number of settled nodes of all trees; and bytes of the witnesses of the trees that are left.
    ends : float
        Time of `time.monotonic` at which the search ends; inf without a limit.
    before : Certificate or None
        Certificate before the last branch whose children prove less.
    pace : Pace
        When it is computed again which features are certain or possible.
    """

    stage = "proving the optimum"
    gap: float = 5 * CLOSED
    ground: Ground
    limits: Limits = field(default_factory=Limits)
    witness: Stored | None = None
    first: Array | None = None
    point: Array | None = None
    known: float = np.inf
    resumed: dict[str, np.ndarray] | None = None

    def __post_init__(self) -> None:
        self.base = Base(self.problem, self.ground)
        self.columns = Columns(self.base.A, self.problem.nonneg)
        self.root = JointNode(State.root(self.problem.sizes, self.problem.n))
        self.ends = np.inf if self.limits.seconds is None else time.monotonic() + self.limits.seconds
        self.leaves, self.ended = [self.root], -np.inf
        self.nodes = self.held = 0
        self.before: Certificate | None = None
        self.pace = Pace()

    def run(self, answer: Array | None = None) -> None:
        """Search until nothing is open or a limit is reached; `answer` (n, r) has the known components."""
        if answer is not None:
            features = self.base.features
            for x in answer[features].T:
                if x.any():
                    self.columns.add(np.flatnonzero(x))
        first = None if self.first is None else self.first[self.base.features]
        try:
            if self.resumed is not None:
                self.root = unpacked_joint(self.resumed, self.base, self.means())
                nodes = list(self.root.walk())
                pricings = [pricing for node in nodes for pricing in node.pricings]
                self.leaves = [node for node in nodes if not node.children]
                self.ended = max([-np.inf, *(pricing.goal for pricing in pricings)])
                self.held = sum(pricing.held for pricing in pricings)
                self.improve_all()
            else:
                self.look_for_answers(first)
                if self.prepare(self.root, first, self.witness):
                    self.improve_all()
        except Cancelled:
            self.report = silent
            raise
        self.pace = Pace()  # the last event has fates in any case
        self.tell()

    def look_for_answers(self, first: Array | None) -> None:
        """Look for better answers by linear programs alone; `first` are prices (r,) to begin near."""
        rows = self.base.of_rows(State.root(self.problem.sizes, self.problem.n))
        if rows.is_impossible:
            return
        for found in search_answers(self.columns, rows, first, self.lower * (1 + WHOLE)):
            self.take(*found)
            self.tell()
            if self.stopped:
                break

    def improve_all(self) -> None:
        """Work on the open node with the largest bound until none is open, or a limit is reached."""
        while not self.stopped:
            node = max(self.open, key=lambda one: one.estimate, default=None)
            if node is None:
                break
            self.improve(node)
            self.tell()

    @property
    def open(self) -> list[JointNode]:
        """The nodes without children whose bound is above the target and may still be improved."""
        still = [node for node in self.leaves if not node.is_stuck and node.estimate > self.target]
        if len(still) < len(self.leaves):
            over = [node.estimate for node in self.leaves if node.is_stuck or node.estimate <= self.target]
            self.leaves, self.ended = still, max(self.ended, *over)
        return still

    @property
    def stopped(self) -> bool:
        most, ended = self.limits.nodes, time.monotonic() > self.ends
        return ended or (most is not None and self.nodes >= most) or self.held > MOST_BYTES

    # --- nodes ----------------------------------------------------------------------------------------------
    def prepare(self, node: JointNode, first: Array | None, witness: Stored | None) -> bool:
        """Give a node prices and a bound, and fix what can be fixed; return whether the node has a bound.

        `first` are prices (r,) to begin near, and `witness` is tried first.
        """
        narrowed = 0
        while not node.is_empty:
            assert node.state is not None  # it is not empty
            rows = self.base.of_rows(node.state)
            if rows.is_impossible:
                return False  # only features without rows are left for a component
            node.prices = self.columns.prices(rows, first)
            self.take(rows, node.prices)
            pricing = self.begin(node.state, node.prices, witness)
            if pricing is None:
                return False
            node.pricings.append(pricing)
            self.tell()
            near = node.prices.pi
            if pricing.estimate <= self.target or narrowed == NARROWED or not self.narrow(node):
                return True
            narrowed, first = narrowed + 1, near
        return True

    def begin(self, state: State, prices: Prices, witness: Stored | None) -> Pricing | None:
        """Return a pricing with the prices found; None where the time is over before it has a bound."""
        pi, levels = self.base.spread(prices.pi), aims(prices, state, self.lower * (1 + CLOSED))
        made = Pricing.begin(self.base, state, pi, levels, self.means(), witness)
        self.count(made)
        if made.is_ready:
            return made
        self.held -= made.held
        return None

    def count(self, made: Pricing) -> None:
        """Count the nodes and the bytes of the trees of a new pricing."""
        self.nodes += sum(tree.nodes for tree in made.trees)
        self.held += made.held

    def means(self) -> Means:
        seconds = max(0.0, self.ends - time.monotonic()) if np.isfinite(self.ends) else None
        return Means(self.plan, self.tell, seconds, self.limits.client)

    def revive(self, node: JointNode) -> None:
        """Give a node that was read from a certificate prices, and its trees the levels that they aim at."""
        state, pricing = node.state, node.pricings[-1]
        assert state is not None  # it is open
        rows, pi = self.base.of_rows(state), pricing.pi[self.base.features]
        node.prices = prices = self.columns.prices(rows, pi)
        self.take(rows, prices)
        if pricing.goal != NO_GOAL:
            node.is_stuck = not self.prepare(node, pi, self.witness)
            return
        tops = tuple(self.columns.top(rows, c, pi) for c, *_ in rows.classes)
        pairs = zip(tops, rows.classes, strict=True)
        program = float(pricing.largest_sum) + sum(top * len(own) for top, own in pairs)
        levels = aims(replace(prices, tops=tops, program=program), state, self.lower * (1 + CLOSED))
        for tree, level in zip(pricing.trees, levels, strict=True):
            tree.lower = level

    def narrow(self, node: JointNode) -> bool:
        """Fix features by the last pricing of a node for all answers above the best value.

        Return whether any feature was fixed.

        The pricing that fixes takes the place of the one that bounds, whose witnesses it has.
        """
        last, state = node.pricings[-1], node.state
        assert state is not None  # it is not empty
        levels = last.levels(self.lower)
        leaves = [None if tree.root is None else tree.root.leaf for tree in last.trees]
        witnesses = [leaf.witness for leaf in leaves if leaf is not None and leaf.witness is not None]
        if len(witnesses) < len(levels):
            return False
        made = Pricing.fixing(last, levels, self.lower, witnesses, self.tell)
        self.count(made)
        after = made.after() if made.is_ready else state
        if after == state:
            self.held -= made.held
            return False
        node.pricings[-1], node.state, node.prices = made, after, None
        self.held -= last.held
        return True

    def take(self, rows: State, prices: Prices) -> None:
        """Take whole columns as an answer if they are better than what is known; `rows` is their state.

        The program may leave out components that would add nothing. Each of them gets an unused feature.
        There are enough of these, as the sizes add up to at most n.
        """
        if not prices.is_whole or prices.program <= self.lower * (1 + WHOLE):
            return
        X, classes = np.zeros((self.problem.n, len(self.problem.sizes))), [*map(iter, rows.classes)]
        for g, S, _ in prices.shares:
            X[self.base.features[list(S)], next(classes[g])] = self.columns.best(S)
        without, unused = np.flatnonzero(~X.any(axis=0)), np.flatnonzero(~X.any(axis=1))
        X[unused[: without.size], without] = 1.0
        self.lower, self.point = prices.program, X

    def improve(self, node: JointNode) -> None:
        """Let the trees of a node grow, or branch on it where its prices cannot close it."""
        if node.prices is None:
            self.revive(node)
            return
        prices, pricing = node.prices, node.pricings[-1]
        excess = max(0.0, prices.program - self.lower)
        enough = max(self.target, prices.program + SHARE * excess)
        if pricing.estimate > enough and self.grow(pricing):
            if self.better_columns(pricing) and not self.stopped:
                self.reprice(node)
            return
        node.is_stuck = not self.branch(node)

    def grow(self, pricing: Pricing) -> bool:
        """Let the tree with the largest excess grow; return whether one could."""
        pairs = [(tree.reached - tree.target, tree) for tree in pricing.trees if tree.heap]
        excess, tree = max(pairs, key=lambda pair: pair[0], default=(0.0, None))
        if tree is None or excess <= 0:
            return False
        left = np.inf if self.limits.nodes is None else self.limits.nodes - self.nodes
        tree.limits = replace(tree.limits, nodes=tree.nodes + int(min(STEP, max(left, 1))))
        tree.ends = self.ends
        nodes, held = tree.nodes, tree.held
        tree.run()
        self.nodes, self.held = self.nodes + tree.nodes - nodes, self.held + tree.held - held
        return True

    def better_columns(self, pricing: Pricing) -> bool:
        """Add the sets that trees found above their levels to the columns; return whether there are any."""
        found = False
        for tree in pricing.trees:
            if tree.point is not None:
                own = np.flatnonzero(tree.point[self.base.features])
                found |= tuple(own.tolist()) not in self.columns.values
                self.columns.add(own)
                tree.point = None
        return found

    def reprice(self, node: JointNode) -> None:
        """Price a node anew after better columns were found; the old pricing stays if time is over."""
        state, before = node.state, node.pricings[-1]
        assert state is not None and node.prices is not None  # the node is open
        rows = self.base.of_rows(state)
        prices = self.columns.prices(rows, node.prices.pi)
        self.take(rows, prices)
        made = self.begin(state, prices, self.witness)
        if made is not None:
            self.held -= before.held
            node.prices, node.pricings[-1] = prices, made

    def branch(self, node: JointNode) -> bool:
        """Give a node its children; return whether it could be branched on."""
        state, prices = node.state, node.prices
        assert state is not None and prices is not None  # the node is open
        row = self.row_of(state, prices)
        if row is None:
            return False
        feature = int(self.base.features[row])
        children: list[JointNode] = []
        for child_state in state.children(feature):
            child = JointNode(child_state)
            if not child.is_empty and (self.stopped or not self.prepare(child, prices.pi, self.witness)):
                self.held -= sum(one.held for other in (*children, child) for one in other.pricings)
                return self.stopped  # the node stays a leaf; unless a limit is reached, for good
            children.append(child)
        if max(child.estimate for child in children) > node.estimate:
            self.keep()
        node.feature, node.children = feature, children
        node.prices = None
        if node.pricings[-1].goal == NO_GOAL:
            self.held -= node.pricings.pop().held
        self.leaves = [*(leaf for leaf in self.leaves if leaf is not node), *children]
        return True

    def row_of(self, state: State, prices: Prices) -> int | None:
        """Return the row that a state is branched on; None where the program takes whole columns."""
        return choose_row(self.columns, self.base.of_rows(state), prices, self.lower)

    # --- what it says ---------------------------------------------------------------------------------------
    @property
    def proved(self) -> float:
        """Return the bound that is proved so far, up to rounding; infinite before the root has one."""
        return max([self.lower, self.ended, *(node.estimate for node in self.leaves)])

    def certificate(self) -> Certificate | None:
        """Return the certificate of the present tree; None before the root has a bound."""
        if not np.isfinite(self.proved):
            return None
        arrays, upper = packed_joint(self.root)
        now = Certificate.of(self.problem, "J8", "packing", upper, arrays)
        before = self.before
        return now if before is None or now.upper <= before.upper else before.with_unfinished(arrays)

    def keep(self) -> None:
        """Keep the certificate of the present tree, as children may prove less when they begin."""
        self.before = self.certificate()
        if self.before is not None:
            self.before = self.before.with_unfinished(None)
            self.known = min(self.known, self.before.upper / self.problem.covariance.unit)

    def tell(self) -> None:
        unit, upper = self.problem.covariance.unit, min(self.proved, self.known)
        shown = upper * unit if np.isfinite(upper) else None
        total, nodes = self.limits.nodes or 0, self.nodes
        payload = {"nodes": nodes, **self.pace.of(self.standing)}
        self.report(Event(self.stage, nodes, total, self.lower * unit, shown, payload=payload))

    def standing(self) -> dict[str, Any]:
        """Return the number of open nodes of all trees, and the fates of the features as texts.

        The texts have a mask (n, r): whether every better answer, its components numbered suitably, has a
        feature in a component, and whether one may.
        """
        left = [node for node in self.leaves if node.estimate > self.target]
        said: dict[str, Any] = {"open": sum(max(1, node.waiting) for node in left)}
        if self.problem.n * len(self.problem.sizes) <= NAMED:
            certain, possible = self.fates(left)
            said |= {"certain": hexed(certain), "possible": hexed(possible)}
        return said

    def fates(self, left: list[JointNode]) -> tuple[np.ndarray, np.ndarray]:
        """Return masks (n, r) of what every better answer has, and of what one may have, by open nodes."""
        supports: list[list[Supports]] = [[] for _ in self.problem.sizes]
        for node in left:
            assert node.state is not None  # it is open
            for c, k in enumerate(self.problem.sizes):
                free = np.intersect1d(node.state.free(c), self.ground.everything)
                supports[c].append(Supports(node.state.must(c), free, k))
        both = [fates(of_one, self.problem.n) for of_one in supports]
        certain, possible = (np.stack(masks, axis=1) for masks in zip(*both, strict=True))
        return certain, possible
