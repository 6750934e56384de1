"""Define `Outcome`, the result that the page Components draws, and `View`, which draws it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import plotly.graph_objects as go

import nspca
from nspca.dashboard.joint.subject import Subject
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof.attempts import Attempt
from nspca.jobs import JobState
from nspca.specs import ComponentsSpec
from nspca.specs.optimum import Standing

SECTION = "section"
"""Key of the box below the answer that holds the chosen section."""


def order_of(result: nspca.Result) -> np.ndarray:
    """Return the numbers of the components (r,) of a result in the order in which a page shows them.

    Components that were found together are sorted by their variance. Others keep the order in which they were
    found.
    """
    if not nspca.METHODS[result.method].joint:
        return np.arange(len(result.values))
    return np.argsort(-result.values, kind="stable")


def in_order(result: nspca.Result) -> nspca.Result:
    """Return a result with its components in the order of `order_of`."""
    order = order_of(result)
    return replace(result, components=result.components[:, order], values=result.values[order])


@dataclass(frozen=True, eq=False)
class Outcome:
    """Results of a run about several components, with everything needed to draw them.

    Parameters
    ----------
    about : subject of the page
    of : data of the run
    asked : question of the run
    problem : problem with its total variance
    results : result of each method, with the tightest known certificate; components have the order of the
        sizes in `asked`
    run_id, now : identity and state of the run
    live : whether the run is unfinished
    upper : bound that an unfinished run or search has proved so far, infinite before there is one
    tried : searches for better components
    own : certificate that the run itself computed
    """

    about: Subject
    of: Chosen
    asked: ComponentsSpec
    problem: nspca.Problem
    results: dict[str, nspca.Result]
    run_id: str
    live: bool
    tried: Sequence[Attempt] = ()
    own: nspca.Certificate | None = None
    now: JobState | None = None
    upper: float = math.inf

    @property
    def limit(self) -> float:
        """The smallest proved bound on any other choice, in the units of the data; infinite without one."""
        return min(self.upper, math.inf if self.certificate is None else self.certificate.upper)

    @property
    def is_proved_further(self) -> bool:
        """True when a later attempt gave a tighter certificate than the run itself."""
        return any(result.certificate is not self.own for result in self.results.values())

    @property
    def best(self) -> str:
        """Name of the method whose components explain most variance."""
        return max(self.results, key=lambda method: self.results[method].value)

    @cached_property
    def ordered(self) -> dict[str, nspca.Result]:
        """The results with their components in the order in which the page shows them."""
        return {method: in_order(result) for method, result in self.results.items()}

    @property
    def shown(self) -> nspca.Result:
        """The result of the best method, with its components in the order in which the page shows them."""
        return self.ordered[self.best]

    @property
    def certificate(self) -> nspca.Certificate | None:
        """Certificate shared by all results, None without one."""
        return next((one.certificate for one in self.results.values() if one.certificate), None)

    @property
    def total(self) -> float:
        """Total variance, the base of every percentage on the page; 1 when it is zero or unknown."""
        return self.problem.total_variance or 1.0

    @property
    def sizes(self) -> str:
        """Number and size of the components sought, such as ``5 parts, each of 40 pixels``."""
        return self.about.sized(self.asked.sizes)


@dataclass(frozen=True)
class Section:
    """Section of the page below the answer, drawn when a visitor selects it.

    Parameters
    ----------
    key : name of the section in the address
    label : callable
        ``label(about)`` returns the text of the option.
    draw : callable that draws the section
    """

    key: str
    label: Callable[[Subject], str]
    draw: Callable[[Outcome], None]


@dataclass(frozen=True)
class View:
    """Functions by which a page draws an `Outcome`.

    Parameters
    ----------
    picture : draws the components of the best method, with one control
    rows : draws the components of every method, during the run and in a comparison
    after : returns the sentence on what to do next
    look : first section, about one part, topic or component
    again : draws the stability of the components under resampling
    figures : returns the figures for export, by file name
    fates : draws which features of components are certain, possible or ruled out in a search for better ones
    """

    picture: Callable[[Outcome], None]
    rows: Callable[[Outcome], None]
    after: Callable[[Outcome], str]
    look: Section
    again: Callable[[Outcome], None]
    figures: Callable[[Outcome], dict[str, go.Figure]]
    fates: Callable[[Outcome, nspca.Result, Standing], None]
