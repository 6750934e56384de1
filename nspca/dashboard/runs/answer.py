"""An answer: a run with its data, problem and results, which a page hands to every section about it."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import nspca
from nspca.dashboard.app.wording import Nouns, nouns_of
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.open_folder import Outline
from nspca.jobs import JobState
from nspca.presentation.numerals import proved_ratio
from nspca.problem import Problem
from nspca.specs import OptimumSpec
from nspca.specs.optimum import Standing
from nspca.specs.published import OTHERS

NO_RUN = JobState("", "done")
AUTOMATIC = 10
"""Seconds of the search that a page starts by itself, and shares with everybody who looks at these data."""


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


@dataclass(frozen=True)
class Attempt:
    """A search for the optimum at one k, or for sizes of several components.

    A search is *exhausted* if it could do no more, although its time was not over.
    """

    id: str  # id, now: of the run
    k: int | tuple[int, ...]
    now: JobState
    certificate: nspca.Certificate | None  # the certificate so far
    spec: OptimumSpec
    answer: nspca.Result | None = None  # the best answer

    @property
    def is_automatic(self) -> bool:
        """Tell whether a page began the search, and not the visitor."""
        return self.spec.seconds == AUTOMATIC

    @property
    def seconds(self) -> float | None:
        """Wall seconds of the attempt so far; None before its start."""
        return None if self.now.started is None else (self.now.finished or time.time()) - self.now.started

    @property
    def is_exhausted(self) -> bool:
        """Tell whether the search ended before its time was over."""
        if self.now.state != "done":
            return False
        return self.seconds is not None and self.seconds < self.spec.seconds


@dataclass(frozen=True, eq=False)
class Answer:
    """A run with its data, question, problem and results, and what of them a page shows.

    Each page and each section gets one, and `dataclasses.replace` makes another of it. Without a run of its
    own, as on the page Home, it is an answer whose run is done.
    """

    of: Chosen  # of, asked: data, as they are opened now, and question
    asked: Any
    problem: Problem  # the problem of the question, with the variances that count as 100 %
    # results by method and k, or by method and number of components; empty as long as the run has none
    sweep: nspca.Sweep = field(default_factory=lambda: nspca.Sweep({}))
    # k, method: what is shown: a number of features, or the sizes of several components, and a method (of
    # several components that with the largest value)
    k: Any = None
    method: str = ""
    # searches for a better answer, newest first; their answers and proofs may be better
    tried: Sequence[Attempt] = ()
    now: JobState = NO_RUN  # state of the run
    # whether no other person shared the run; a shared one is not searched further, and its data stay
    own: bool = True
    is_default: bool = False  # whether the run is one that nobody asked for, which all visitors share
    is_partial: bool = False  # whether methods of the run are still at work
    # bound that an unfinished run or search has proved so far, infinite before there is one
    upper: float = math.inf
    known: nspca.Membership | None = None  # membership of the features, if computed
    drawn: partial[go.Figure] | None = None  # plot of the curve, if drawn

    @property
    def id(self) -> str:
        """Id of the run; empty without one."""
        return self.now.id

    @property
    def is_asked(self) -> bool:
        """Whether this visitor has asked for the run."""
        return self.own and not self.is_default

    @property
    def is_measured(self) -> bool:
        """Whether the variances of the problem are known; a worker computes those of a folder."""
        A = self.problem.covariance
        return not isinstance(A, Outline) or A.is_measured

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
        return table(self.sweep)

    @property
    def total(self) -> float:
        """Total variance of the data, 1 when it is zero or unknown."""
        return self.problem.total_variance or 1.0

    def shares(self, result: nspca.Result) -> list[str]:
        """Return the share of every component of a result in the total variance, in their order."""
        return [f"{100 * float(value) / self.total:.1f} %" for value in np.asarray(result.values)]

    @property
    def certificate(self) -> nspca.Certificate | None:
        """The certificate of what is shown."""
        return self.shown.certificate

    @property
    def bounding(self) -> nspca.Certificate | None:
        """The certificate with the least bound on what is shown, which may be about more features."""
        shown = self.k if isinstance(self.k, int) else len(self.k)
        row = bounding(self.sweep).get((self.method, shown))
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


def bounding(sweep: nspca.Sweep) -> dict[tuple[str, int], tuple[str, int]]:
    """Return for each proved row of a sweep the row whose certificate has the least bound on it.

    A bound for more features holds for fewer, too. Among equal bounds a row keeps its own.
    """
    found: dict[tuple[str, int], tuple[str, int]] = {}
    uppers = {key: one.certificate.upper for key, one in sweep.results.items() if one.certificate is not None}
    best = None
    for _, keys in groupby(sorted(uppers, key=lambda key: -key[1]), key=lambda key: key[1]):
        here = [*keys]
        best = min([*here, *([] if best is None else [best])], key=uppers.__getitem__)
        found |= {key: best if uppers[best] < uppers[key] else key for key in here}
    return found


def table(sweep: nspca.Sweep) -> pd.DataFrame:
    """Return the frame of a sweep, with both published bounds, NaN where they were not computed.

    The bound of a row is the one of `bounding`.
    """
    others = {name: [result.info.get(name) for result in sweep.results.values()] for name in OTHERS}
    rows = sweep.frame.assign(**others).astype(dict.fromkeys((*OTHERS, "upper", "ratio"), float))
    least = bounding(sweep)
    for i, key in enumerate(sweep):
        proof = sweep[least.get(key, key)].certificate
        if proof is not None and proof.upper < rows.at[i, "upper"]:
            ratio = proved_ratio(rows.at[i, "value"], proof.upper)
            rows.loc[i, ["upper", "ratio", "kind"]] = [proof.upper, ratio, proof.kind]
    return rows
