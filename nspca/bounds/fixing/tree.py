"""Branch and bound: split the nodes with the largest bounds, and fix features at every node, until none is
open.

A tree can be stopped at any time and proves the largest bound of its leaves. To *settle* a node is to fix
features in and out there, and to bound the remaining supports (`settle`). Nodes are settled in waves of a
fixed size with the value known at the start of the wave. So the tree does not depend on the number of
workers. `search` runs a `FixingTree`, and `disjoint.pricing.ClassTree` is a kind of it.
"""

import heapq
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nspca.bounds.dual.rounds import Work
from nspca.bounds.fixing import tasks
from nspca.bounds.fixing.arrays import packed
from nspca.bounds.fixing.fates import NAMED, Pace, fates, hexed
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import LEAF, Node, Supports, Warm
from nspca.bounds.fixing.settle import settle
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Answer, OutOfTime, Settled, Task
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array
from nspca.covariance.parallel import check_client, waves
from nspca.errors import Cancelled
from nspca.local_search import single as ascent
from nspca.progress import Event

WAVE = 4
"""Number of nodes that are split at once."""
MOST_BYTES = 400 * 2**20
"""Maximum bytes of all witnesses of a tree. A certificate file may have 512 MiB."""
MOST_WARM = 2**30
"""Maximum bytes of starting points for children. Beyond that, children start from the witness alone."""


@dataclass(frozen=True)
class Limits:
    """Limits at which a tree stops before it is complete; None for no limit.

    Attributes
    ----------
    seconds : float or None
        Maximum wall time.
    nodes : int or None
        Maximum number of settled nodes.
    entries : float or None
        Maximum work of the steps of all nodes together, in entries.
    features : int or None
        Maximum free features of a node that is split.
    client : distributed.Client or None
        Dask client whose workers settle the nodes.
    """

    seconds: float | None = None
    nodes: int | None = None
    entries: float | None = None
    features: int | None = None
    client: Any = None

    def helped(self, client: Any) -> "Limits":
        """Return the limits with the client of a table on disk, unless they have a client."""
        return self if self.client is not None else replace(self, client=client)


@dataclass(eq=False, kw_only=True)
class FixingTree(Work):
    """The branch and bound search.

    Attributes
    ----------
    problem : Problem
    ground : Ground
    limits : Limits
    lower : float
        The best known value, in unit scale.
    point : (n,) float64 or None
        Component with the value `lower`, if this search found it.
    nodes : int
        Number of settled nodes.
    known_upper : float or None
        A bound that was proved before, in the units of the data. No larger bound is reported.
    asked : sequence of int
        Features that are branched on before all others, in this order.
    at_level : bool
        Whether `lower` is a level to decide features at, which no better answer raises.
    rounds : int
        Maximum rounds of steps of a lift at a node below the root.
    root : Node or None
        None before the root is settled.
    heap : list of (minus the bound, number, Node)
        Open nodes, the one with the largest bound first.
    made, held, warm : int
        Nodes ever opened; bytes of all witnesses; bytes of all starting points of open nodes.
    known : set of int
        Identities of the witnesses that `held` counts.
    parted, stuck, lost : list of Node
        Nodes being split; open nodes that cannot be branched on; and such nodes below reduced ones.
    reducing : bool
        Whether nodes may be reduced. Once there are `lost` nodes, none is.
    pace : Pace
        When fates are computed again.
    rest : Supports or None
        Supports left at the root while the root is being settled.
    cancelled : Cancelled or None
        Raised at the root, and again once what is proved at the root is kept.
    """

    stage = "proving the optimum"
    ground: Ground
    limits: Limits = field(default_factory=Limits)
    point: Array | None = None
    nodes: int = 0
    known_upper: float | None = None
    asked: Sequence[int] = ()
    at_level: bool = False
    rounds: int = field(default_factory=lambda: tasks.ROUNDS)
    root: Node | None = None

    def __post_init__(self) -> None:
        check_client(self.limits.client)
        self.heap: list[tuple[float, int, Node]] = []
        self.made, self.held, self.warm = 0, 0, 0
        self.known: set[int] = set()
        self.parted: list[Node] = []
        self.stuck: list[Node] = []
        self.lost: list[Node] = []
        self.reducing = True
        self.pace = Pace()
        self.rest: Supports | None = None
        self.cancelled: Cancelled | None = None
        self.ends = np.inf if self.limits.seconds is None else time.monotonic() + self.limits.seconds

    def all_sets(self) -> Supports:
        return Supports.of(self.problem, self.ground.everything)

    def begin(
        self, witness: Stored | None, warm: Warm | None = None, rounds: int = 0, work: float = 0.0
    ) -> None:
        """Settle the root and open its nodes; the arguments are those of `Task`.

        A root whose work is cut short, also by `Cancelled`, keeps the features fixed by then.
        """
        task = Task(self.all_sets(), witness, warm, self.lower, self.gap, self.plan, rounds, self.left, work)
        task = replace(task, partial=True, at_level=self.at_level)
        self.heap = []
        try:
            settled = settle(self.ground, task, self.quietly, self.narrow)
            self.root = settled.node
            self.taken(settled)
            for node in self.root.walk():
                self.open(node)
            self.tell()
        except OutOfTime:
            pass
        if self.cancelled is not None:
            raise self.cancelled

    def narrow(self, supports: Supports, lower: float, answer: Answer | None) -> None:
        """Record the remaining supports of the root while it is being settled, and a better answer."""
        self.rest = supports
        if answer is not None and lower > self.lower:
            self.point = np.zeros(self.problem.n)
            self.point[answer[0]], self.lower = answer[1], lower
        self.watch()

    def resume(self, root: Node) -> None:
        """Continue a tree that was stopped: find its open nodes."""
        self.root = root
        level = max(node.level for node in root.walk())  # features cannot be eliminated at a lower one
        self.lower = max(self.lower, level / (1 + self.gap))
        for node in root.walk():
            self.count(node)
            if node.leaf is not None and node.upper > self.target:
                node.scores = self.by_variance(node)
                self.open(node)
        self.tell()

    def run(self) -> None:
        """Split the nodes with the largest bounds until none is open or a limit is reached."""
        wave = waves(self.limits.client, self.quietly, self.watch)
        try:
            while not self.stopped and (parents := self.worst() or self.restored()):
                tasks = [task for node in parents for task in self.tasks(node)]
                self.split(parents, wave(settle, self.ground, tasks))
        except OutOfTime:
            pass
        self.pace = Pace()  # the last event has fates in any case
        self.tell()

    @property
    def stopped(self) -> bool:
        limits = self.limits
        return (
            time.monotonic() > self.ends
            or (limits.nodes is not None and self.nodes >= limits.nodes)
            or self.left <= 0
            or (limits.features is not None and self.widest > limits.features)
            or self.held > MOST_BYTES
        )

    @property
    def left(self) -> float:
        """Work that is left of the limit, in entries."""
        return np.inf if self.limits.entries is None else self.limits.entries - self.entries

    @property
    def widest(self) -> int:
        """Number of free features of the open node with the largest bound; 0 without an open node."""
        return self.heap[0][2].supports.possible.size if self.heap else 0

    def worst(self) -> list[Node]:
        """Remove and return the open nodes with the largest bounds, at most `WAVE`."""
        taken: list[Node] = []
        while self.heap and len(taken) < WAVE and -self.heap[0][0] > self.target:
            taken.append(heapq.heappop(self.heap)[2])
        self.warm -= sum(node.warm.nbytes for node in taken if node.warm is not None)
        return taken

    def restored(self) -> list[Node]:
        """Return reduced nodes below which an open node has no feature left to branch on, as open ones again.

        The bound of such a node on what is left of A (`reduction`) is above the level, but one on A itself
        may be below. From then on no node is reduced.
        """
        lost, self.lost = {id(node) for node in self.lost if node.upper > self.target}, []
        if not lost or self.root is None:
            return []
        self.reducing, waiting, opened = False, [self.root], []
        while waiting:
            node = waiting.pop()
            if node.roof is None or not any(id(one) in lost for one in node.walk()):
                waiting += node.children
                continue
            node.leaf, node.roof, node.feature, node.children = node.roof, None, LEAF, ()
            node.scores = self.by_variance(node)
            opened.append(node)
        for node in opened:
            self.open(node)
        return self.worst()

    def by_variance(self, node: Node) -> Array:
        """Return branching scores without a witness; features without rows cannot be branched on."""
        free, part = node.supports.possible, self.ground.part
        own = np.isin(free, part.features)
        scores = np.full(free.size, np.inf)
        scores[own] = -part.block(free[own]).diagonal()
        return scores

    def parts(self, node: Node) -> list[Supports]:
        """Return the supports of the two children of a node: with the feature branched on, and without it."""
        none, one = np.zeros(0, dtype=np.int64), node.supports.possible[[int(np.argmin(node.scores))]]
        return [node.supports.fix(none, one), node.supports.fix(one, none)]

    def tasks(self, node: Node) -> Iterable[Task]:
        assert node.leaf is not None  # it is open
        for supports in self.parts(node):
            own = (node.leaf.witness, node.warm, self.lower, self.gap, self.plan, self.rounds, self.left)
            yield Task(supports, *own, at_level=self.at_level, reducing=self.reducing)

    def split(self, parents: list[Node], settled: Iterable[Settled]) -> None:
        """Attach the settled parts to their parents. Parents without all their parts stay open."""
        waiting, outcomes = list(parents), iter(settled)
        self.parted = waiting
        try:
            while waiting:
                parent = waiting[0]
                parts = [next(outcomes) for _ in self.parts(parent)]
                for one in parts:
                    one.node.share(parent.leaf)
                    one.node.lower_caps(parent.cap)
                nodes = [self.taken(one) for one in parts]
                self.attach(parent, nodes)
                for child in nodes:
                    for node in child.walk():
                        self.open(node)
                del waiting[0]
                self.tell()
        finally:
            self.parted = []
            for parent in waiting:
                self.open(parent)

    def attach(self, node: Node, parts: list[Node]) -> None:
        node.branch(int(node.supports.possible[int(np.argmin(node.scores))]), parts[0], parts[1])

    def taken(self, settled: Settled) -> Node:
        """Take over value, answer and work of a settled node, and return the node.

        A better answer is improved by a local search, unless features have prices.
        """
        self.nodes, self.steps = self.nodes + 1, self.steps + settled.steps
        self.entries += settled.entries
        self.count(settled.node)
        if settled.answer is not None and settled.lower >= self.lower:
            x = np.zeros(self.problem.n)
            x[settled.answer[0]] = settled.answer[1]
            self.point, self.lower = x, settled.lower
            if self.ground.prices is not None:
                return settled.node
            self.point = ascent.swaps(self.problem, ascent.polish(self.problem, x), self.quietly)
            self.lower = max(settled.lower, self.problem.covariance.quadratic(self.point))
        return settled.node

    def count(self, node: Node) -> None:
        """Add the bytes of the witnesses of a node, each once, to the total."""
        for one in node.walk():
            for use in one.uses:
                self.held += use.tree.nbytes + 24
                if use.witness is not None and id(use.witness) not in self.known:
                    self.known.add(id(use.witness))
                    self.held += use.witness.nbytes

    def open(self, node: Node) -> None:
        """Add a node to the open nodes if its bound does not close it."""
        if node.leaf is None or node.upper <= self.target:
            return
        if not node.supports.possible.size:
            if node.supports.gone.size:
                self.lost.append(node)
            return
        if not np.isfinite(node.scores).any():
            self.stuck.append(node)
            return  # only features without rows remain, and those cannot be branched on
        first = next((j for j in self.asked if j in node.supports.possible), None)
        if first is not None:
            node.scores = np.where(node.supports.possible == first, -np.inf, node.scores)
        self.push(node)

    def push(self, node: Node) -> None:
        """Add a node to the heap of open nodes, with its starting point if there is room for it."""
        if node.warm is not None and self.warm + node.warm.nbytes > MOST_WARM:
            node.warm = None
        self.warm += 0 if node.warm is None else node.warm.nbytes
        heapq.heappush(self.heap, (-node.upper, self.made, node))
        self.made += 1

    # --- results --------------------------------------------------------------------------------------------
    @property
    def proved(self) -> float:
        """Bound proved so far, in unit scale; infinite before the root is settled."""
        if self.root is None:
            return np.inf
        return max(max((node.upper for node in self.root.walk()), default=0.0), self.target, 0.0)

    def certificate(self) -> Certificate:
        assert self.root is not None  # `proved` is finite
        arrays, upper = packed(self.root)
        return Certificate.of(self.problem, "B8", "fixing", upper, arrays)

    def quietly(self, event: Event) -> None:
        """Report for an inner search: allows cancelling, without showing the events of the inner search."""
        self.watch()

    def watch(self) -> None:
        """Report from inside the work on a node; raise `OutOfTime` when the time is over.

        A search that is cancelled at its root has no time left either: `begin` keeps the root, and raises it.
        """
        if time.monotonic() > self.ends:
            raise OutOfTime
        try:
            self.tell()
        except Cancelled as stop:
            if self.root is not None:
                raise
            self.cancelled = stop
            raise OutOfTime from stop

    def certain_supports(self) -> Supports:
        """Return the supports of the last node before more than one child may hold a better answer."""
        node = self.root
        assert node is not None  # the caller has looked
        while len(left := [one for one in node.children if one.children or one.upper > self.target]) == 1:
            node = left[0]
        return node.supports

    def tell(self) -> None:
        unit = self.problem.covariance.unit
        nodes = [node for _, _, node in self.heap] + self.parted + self.stuck + self.lost
        left = [node for node in nodes if node.upper > self.target]
        upper = max((node.upper for node in left), default=self.target)
        known = np.inf if self.known_upper is None else self.known_upper
        shown = min(known, upper * unit if self.root is not None else np.inf)
        fixed = self.certain_supports() if self.root is not None else None
        into = 0 if fixed is None else fixed.certain.size
        out = 0 if fixed is None else self.problem.n - into - fixed.possible.size
        open_ = len(left) if self.root is not None else 1
        words = f"{into} in, {out} out, {open_} open"
        self.report(
            Event(
                self.stage,
                self.nodes,
                self.limits.nodes or 0,
                self.lower * unit,
                shown if np.isfinite(shown) else None,
                self.problem.size,
                words,
                {"open": open_, "nodes": self.nodes} | self.pace.of(lambda: self.fates(left)),
            )
        )

    def fates(self, left: list[Node]) -> dict[str, str]:
        """Return the certain and the possible features as texts for a progress event."""
        supports = [node.supports for node in left]
        if self.root is None and self.rest is not None and not self.rest.is_empty:
            supports = [self.rest]
        if (self.root is None and not supports) or self.problem.n > NAMED:
            return {}
        masks = zip(("certain", "possible"), fates(supports, self.problem.n), strict=True)
        return {name: hexed(mask) for name, mask in masks}
