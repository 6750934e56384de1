"""All good answers: the smallest sets of features near the optimum, and the proof that there are no others.

A set of at most k features is good if some component on it explains more than a level, such as 99.9 % of the
best known value. A good set is minimal if it is not good without any of its features. A set is good exactly
if it contains a minimal good set, so these say everything (docs/note.md, *All good answers*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nspca.api import certify
from nspca.bounds.answers import BELOW, AnswerTree, list_answers
from nspca.bounds.fixing.tree import Limits
from nspca.certificate import Certificate, require_about
from nspca.covariance.linalg import Array, oriented
from nspca.errors import (
    Cancelled,
    InvalidOption,
    InvalidProblem,
    shown,
    within_memory,
)
from nspca.local_search import single
from nspca.presentation import phrases
from nspca.presentation.numerals import format_bound_share, proved_ratio, ratio_at_most
from nspca.problem import Problem
from nspca.progress import Report, silent
from nspca.proving import EXHAUSTIVE, Search
from nspca.result import Result
from nspca.selection.membership import Place, Stored, check_known
from nspca.validation.options import check_whole, is_number

if TYPE_CHECKING:
    import pandas as pd

LEAST = 1e-7
"""Least `within`. Rounding and the gap of a proof may hide smaller differences."""
COMPLETE = 1e-8
"""Relative distance between the level asked for and the proved bound that rounding explains."""


@dataclass(frozen=True, eq=False)
class Answers(Stored):
    """Minimal good sets of features, best first, and the bound on every component that contains none of them.

    Attributes
    ----------
    certificate : Certificate
        Proves that bound: ``nspca.verify(data, answers.certificate, problem)``.
    components : (n, m) float64
        A component for each set, on all of its features.
    values : (m,) float64
        What each explains, in the units of the data.
    value : float
        The best known value. It may be above all `values`, as good sets may have fewer than k features.
    level : float
        Level that was asked for, in the units of the data. For the margin it is the best value that is known
        of components that do not contain the first set.
    """

    certificate: Certificate
    components: Array
    values: Array
    value: float
    level: float

    def __repr__(self) -> str:
        return f"{len(self.values)} good answers of {self.components.shape[0]} features\n{self.statement}"

    @property
    def rest(self) -> float:
        """Return the proved bound on every component that contains none of the sets."""
        return self.certificate.upper

    @property
    def share(self) -> float:
        """Return `rest` as a share of the best value, rounded up: whatever explains more contains a set."""
        return ratio_at_most(self.rest, self.value)

    @property
    def is_complete(self) -> bool:
        """Tell whether the bound is the level that was asked for."""
        return self.rest <= self.level * (1 + COMPLETE)

    @property
    def margin(self) -> float:
        """Return how much less than the best value every set explains that does not contain the first set.

        It is a share of the best value, and 0 where nothing is proved: with several sets of which some have
        fewer than k features, ask with ``within=None``.
        """
        if len(self.values) > 1 and any(len(one) < self.certificate.sizes[0] for one in self.supports):
            return 0.0
        others = max(self.rest, float(self.values[1:].max(initial=0.0)))
        return max(0.0, 1 - ratio_at_most(others, self.value))

    @property
    def supports(self) -> list[np.ndarray]:
        """Return the features of each set, forced ones included, in increasing order."""
        forced = np.array(self.certificate.forced, dtype=np.int64)
        return [np.union1d(np.flatnonzero(x), forced).astype(np.int64) for x in self.components.T]

    @property
    def counts(self) -> np.ndarray:
        """Return in how many of the sets each feature is, (n,)."""
        counts = np.zeros(len(self.components), dtype=np.int64)
        for features in self.supports:
            counts[features] += 1
        return counts

    @property
    def places(self) -> list[Place]:
        """Return for every feature whether all good sets have it, none has it, or some, proved.

        A good set here explains more than `rest`. A set of fewer than k features may be joined by any other.
        """
        surely = self.values * (1 - BELOW) > self.rest
        above = [features for features, is_above in zip(self.supports, surely, strict=True) if is_above]
        able = np.zeros((2, len(self.components)), dtype=bool)
        for features in above:
            own = np.isin(np.arange(len(self.components)), features)
            able |= np.array([own | (features.size < self.certificate.sizes[0]), ~own])
        every, some = self.counts == len(self.values), self.counts > 0
        some |= any(features.size < self.certificate.sizes[0] for features in self.supports)
        which = np.select([every & bool(above), ~some, able.all(axis=0)], [0, 1, 2], 3)
        return [(Place.EVERY, Place.NONE, Place.EITHER, Place.OPEN)[i] for i in which]

    @property
    def statement(self) -> str:
        """Return in one or two sentences what is proved."""
        return self.stated()

    def stated(self, names: Sequence[str] | None = None) -> str:
        """Return the statement, with the features of a single set by their `names`, if there are any."""
        k, sets, count = self.certificate.sizes[0], self.supports, len(self.values)
        if self.share >= 1:
            more = "another set may explain as much" if count == 1 else "sets that are not listed may"
            return f"{phrases.things(count, 'good set').capitalize()} found; {more}, as far as is proved."
        if count == 1:
            named = "" if names is None else f": {phrases.listed([names[j] for j in sets[0]])}"
            return phrases.unique((k,), sets[0].size, self.rest, self.value, named)
        above = format_bound_share(self.rest, self.value, 6)
        every = f"every set of at most {k} features that explains more than {above} of the best value"
        return f"Proved: {every} contains one of these {count} sets."

    def exchanges(self, number: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Return the features of the best set that another one lacks, those it has instead, and its loss.

        Parameters
        ----------
        number : int
            Number of the other set, from 0.
        """
        best, other = self.supports[0], self.supports[number]
        loss = 1 - proved_ratio(float(self.values[number]), self.value)
        return np.setdiff1d(best, other), np.setdiff1d(other, best), loss

    @property
    def frame(self) -> "pd.DataFrame":
        """Return a data frame with a row for each set: value, loss, and features that it has and lacks."""
        import pandas as pd  # slow to import, and needed only here

        rows = []
        for number, (features, value) in enumerate(zip(self.supports, self.values.tolist(), strict=True)):
            out, into, loss = self.exchanges(number)
            row = {"set": number + 1, "value": value, "loss": loss, "features": features.tolist()}
            rows.append(row | {"without": out.tolist(), "instead": into.tolist()})
        return pd.DataFrame(rows)


@within_memory()
def answers(
    problem: Problem,
    result: Result,
    within: float | None = 0.001,
    most: int = 1000,
    seconds: float | None = None,
    nodes: int | None = None,
    client: Any = None,
    report: Report | None = None,
) -> Answers:
    """Return all minimal good sets of features, with the proof that every good set contains one of them.

    The search may be stopped at any time. Then less is proved: what contains none of the sets listed so far
    explains at most `Answers.rest`.

    Parameters
    ----------
    problem : Problem
        For one component.
    result : Result
        An answer to it, at best one that is proved optimal.
    within : float or None
        A set is good if it explains more than ``1 - within`` of the best value. The least is 1e-7. None asks
        for the margin: only the set of the best answer is listed, and all others are bounded by the best of
        them.
    most : int
        Number of sets above the level at which the level is raised, so that no more are above.
    seconds, nodes : optional
        Wall time, and number of settled nodes, after which the search ends.
    client : distributed.Client, optional
        Client of a Dask cluster whose workers settle the nodes.
    report : callable, optional
        Gets an `Event` now and then. When it raises `Cancelled`, the attribute `best` of the exception is the
        `Answers` by then.

    Returns
    -------
    Answers

    Raises
    ------
    InvalidOption, InvalidProblem
        For impossible options, several components, a result of another problem, or one that explains nothing.
    """
    if within is not None and not (is_number(within) and LEAST <= within < 1):
        raise InvalidOption(f"within must be a number from {LEAST:g} to 1, or None, got {shown(within)}")
    check_whole("most", most, 1, 10**6)
    limits = Search.of(EXHAUSTIVE, seconds, nodes, client, None).limits or Limits()
    check_known(problem, result)
    if not result.value > 0:
        raise InvalidProblem("good answers are listed near one that explains something, got a value of 0")
    report = silent if report is None else report
    base = result.certificate or certify(problem, result, effort="fast", report=report)
    require_about(problem, base)
    x = single.swaps(problem, single.polish(problem, result.components[:, 0]), report)
    x = x if problem.value(x) > result.value else result.components[:, 0]
    try:
        tree = list_answers(
            problem, x, base, within if within is None else float(within), limits, report, most
        )
    except Cancelled as stop:
        found = None if stop.best is None else _answers_of(problem, stop.best, problem.value(x))
        stop.best = stop.result = found
        raise
    return _answers_of(problem, tree, problem.value(x))


def _answers_of(problem: Problem, tree: AnswerTree, value: float) -> Answers:
    """Return the answers of a tree, best first; `value` is the best that was known before."""
    X = np.zeros((problem.n, len(tree.sets)))
    for column, good in enumerate(tree.sets):
        X[good.features, column] = good.weights
    X = X if problem.nonneg else oriented(X)
    values = np.array([problem.value(x) for x in X.T])
    order = np.argsort(-values, kind="stable")
    unit = problem.covariance.unit
    level = (tree.lower - problem.covariance.relief) * unit
    best = max([value, *values.tolist()])
    return Answers(tree.certificate(), X[:, order], values[order], best, level)
