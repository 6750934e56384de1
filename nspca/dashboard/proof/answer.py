"""The answer that a page shows, which it hands to every section about it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import nspca
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.attempts import Attempt
from nspca.dashboard.views.nouns import Nouns, nouns_of
from nspca.jobs import JobState
from nspca.presentation.numerals import proved_ratio
from nspca.problem import Problem
from nspca.specs.optimum import Standing


def display_order(result: nspca.Result) -> np.ndarray:
    """Return the numbers of the components (r,) of a result in the order in which a page shows them.

    Components that were found together are sorted by their variance. Others keep the order in which they were
    found.
    """
    if not nspca.METHODS[result.method].joint:
        return np.arange(len(result.values))
    return np.argsort(-result.values, kind="stable")


def in_order(result: nspca.Result) -> nspca.Result:
    """Return a result with its components in the order of `display_order`."""
    order = display_order(result)
    return replace(result, components=result.components[:, order], values=result.values[order])


@dataclass(frozen=True, eq=False)
class Answer:
    """Results of a question, with everything that is needed to draw and to export them."""

    of: Chosen  # of, asked: data and question
    asked: Any
    problem: Problem  # the problem of the question, with the variances that count as 100 %
    sweep: nspca.Sweep  # results by method and k, or by method and number of components
    # k, method: what is shown: a number of features, or the sizes of several components, and a method (of
    # several components that with the largest value)
    k: Any
    method: str
    # searches for a better answer, newest first; their answers and proofs may be better
    tried: Sequence[Attempt] = ()
    # whether the visitor owns the run; a shared one is not searched further, and its data stay
    own: bool = True
    id: str = ""  # id, now: id of the run, and its state where a section follows it
    now: JobState | None = None
    is_partial: bool = False  # whether methods of the run are still at work
    # bound that an unfinished run or search has proved so far, infinite before there is one
    upper: float = math.inf
    known: nspca.Membership | None = None  # membership of the features, if computed
    drawn: partial[go.Figure] | None = None  # plot of the curve, if drawn

    @property
    def shown(self) -> nspca.Result:
        """The shown result."""
        return self.results[self.method]

    @property
    def x(self) -> np.ndarray:
        """The (first) component that is shown, (n,)."""
        return self.shown.components[:, 0]

    @property
    def results(self) -> dict[str, nspca.Result]:
        """The results at the shown k, or of as many components as are shown, by method."""
        shown = self.k if isinstance(self.k, int) else len(self.k)
        return {method: self.sweep[method, k] for method, k in self.sweep if k == shown}

    @cached_property
    def ordered(self) -> dict[str, nspca.Result]:
        """The `results` with their components in the order in which a page shows them."""
        return {method: in_order(result) for method, result in self.results.items()}

    @property
    def displayed(self) -> nspca.Result:
        """The shown result with its components in the order in which a page shows them."""
        return self.ordered[self.method]

    @cached_property
    def nouns(self) -> Nouns:
        """The nouns of components and features of the data."""
        return nouns_of(self.of.dataset)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each method and k, with the best bound of each k."""
        return proofs.table(self.sweep)

    @property
    def total(self) -> float:
        """Total variance of the data, 1 when it is zero or unknown."""
        return self.problem.total_variance or 1.0

    @property
    def certificate(self) -> nspca.Certificate | None:
        """The certificate of what is shown."""
        return self.shown.certificate

    @property
    def bounding(self) -> nspca.Certificate | None:
        """The certificate with the least bound on what is shown, which may be about more features."""
        shown = self.k if isinstance(self.k, int) else len(self.k)
        row = proofs.bounding(self.sweep).get((self.method, shown))
        return None if row is None else self.sweep[row].certificate

    @property
    def limit(self) -> float:
        """The smallest proved bound on any other choice, in the units of the data; infinite without one."""
        return min(self.upper, math.inf if self.bounding is None else self.bounding.upper)

    @property
    def ratio(self) -> float:
        """The proved share of the best possible; 0 without a proof."""
        return proved_ratio(self.shown.value, self.limit)

    @property
    def is_proved_further(self) -> bool:
        """Tell whether the best proof comes from a search after the run."""
        return self.certificate is not None and any(one.certificate is self.certificate for one in self.tried)

    @property
    def noun(self) -> str:
        """What one component is called."""
        return getattr(self.asked, "noun", "component")

    @property
    def many(self) -> bool:
        """Tell whether the answer has several components."""
        return len(self.shown.values) > 1

    @property
    def mine(self) -> list[Attempt]:
        """The searches that began with an answer of the method of what is shown, newest first."""
        return [one for one in self.tried if one.k == self.k and one.spec.method == self.shown.method]

    @property
    def working(self) -> Attempt | None:
        """The search that is waiting or running; None without one."""
        return next((attempt for attempt in self.mine if not attempt.now.ended), None)

    def standing(self, now: JobState | None = None) -> Standing | None:
        """Return the last standing that `now` or one of the searches in `mine` reported; None without one."""
        states = [attempt.now for attempt in self.mine]
        for state in states if now is None else [now, *states]:
            found = Standing.of(state.event, *self.shown.components.shape)
            if found is not None:
                return found
        return None
