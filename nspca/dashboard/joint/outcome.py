"""Result that the run mechanism hands to the views of the three pages, and the interface of a view."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

import nspca
from nspca.dashboard.joint.subject import Subject
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof.attempts import Attempt
from nspca.jobs import JobState
from nspca.specs import ComponentsSpec


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that is known of a run.

    Parameters
    ----------
    about, of, asked : the subject of the page, the data and the question
    problem : the problem with its total variance
    results : by method, each with the tightest bound that is known
    run_id, now : the run and its state
    live : whether the run goes on
    tried : attempts to prove more
    own : the proof that the run came with
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

    @property
    def is_proved_further(self) -> bool:
        """Tell whether the proof is of another attempt than the run's own."""
        return any(result.certificate is not self.own for result in self.results.values())

    @property
    def best(self) -> str:
        """The method whose components explain most."""
        return max(self.results, key=lambda method: self.results[method].value)

    @property
    def certificate(self) -> nspca.Certificate | None:
        """The proof that all results share."""
        return next((one.certificate for one in self.results.values() if one.certificate), None)

    @property
    def total(self) -> float:
        """The total variance, the base of every percentage on the page; 1 where there is none."""
        return self.problem.total_variance or 1.0

    @property
    def sizes(self) -> str:
        """Return the number and the size of the components in words: ``5 parts of 40 pixels``."""
        return self.about.sized(self.asked.sizes)


@dataclass(frozen=True)
class Section:
    """A part of the page below the answer, drawn when it is chosen.

    Parameters
    ----------
    key : its name in the address
    label : callable
        ``label(about)`` returns what the choice says.
    draw : draws it
    """

    key: str
    label: Callable[[Subject], str]
    draw: Callable[[Outcome], None]


@dataclass(frozen=True)
class View:
    """Functions by which a page draws what was found.

    Parameters
    ----------
    picture : draws the components of the best method, with one control
    rows : draws those of every method, while they come in and for a comparison
    after : the sentence on what to do next
    look : the first section, about one image, topic or component
    again : draws what other samples would give
    figures : figures of what was found, by the name of a file
    """

    picture: Callable[[Outcome], None]
    rows: Callable[[Outcome], None]
    after: Callable[[Outcome], str]
    look: Section
    again: Callable[[Outcome], None]
    figures: Callable[[Outcome], dict[str, go.Figure]]
