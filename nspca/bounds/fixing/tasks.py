"""A `Task`, which is what settling a node takes, and a `Settled`, which is what it returns.

A `FixingTree` makes a `Task` for each node, `waves` brings it to `settle`, and the tree takes over the
`Settled`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from nspca.bounds.fixing.node import Node, Supports, Warm
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.plan import Plan
from nspca.covariance.linalg import Array

ROUNDS = 6
"""Maximum rounds of steps at a node. The count restarts when features are fixed."""

Answer = tuple[np.ndarray, Array]
"""Features (s,) of an answer, and their weights (s,)."""
Narrowed = Callable[[Supports, float, Answer | None], None]
"""Callback with the remaining supports of a node, the best known value, and its answer."""


@dataclass(frozen=True, eq=False)
class Task:
    """A node to settle, and the limits of the work.

    Attributes
    ----------
    supports : Supports
    witness : Stored or None
        Witness of the parent.
    warm : Warm or None
        Starting point from the parent.
    lower : float
        The best known value, in unit scale.
    gap : float
        Relative gap at which a bound closes the node.
    plan : Plan
    rounds : int
        Maximum rounds of steps.
    entries : float
        Work of all steps, in entries, after which no further round begins.
    work : float
        Work of a first enumeration of supports by eigenvalues: r^3 for each part.
    partial : bool
        Whether an unfinished node is returned when the time is over.
    at_level : bool
        Whether `lower` is a level to decide features at, which no better answer raises.
    reducing : bool
        Whether features that are in may be eliminated (`reduction`).
    """

    supports: Supports
    witness: Stored | None
    warm: Warm | None
    lower: float
    gap: float
    plan: Plan
    rounds: int = field(default_factory=lambda: ROUNDS)  # read when a task is made
    entries: float = math.inf
    work: float = 0.0
    partial: bool = False
    at_level: bool = False
    reducing: bool = True


class OutOfTime(Exception):
    """The exception that a report raises inside a node when the seconds of a search are over."""


@dataclass(frozen=True, eq=False)
class Settled:
    """A settled node, a better answer if one was found, the best known value, the steps and their work."""

    node: Node
    answer: Answer | None
    lower: float
    steps: int
    entries: float
