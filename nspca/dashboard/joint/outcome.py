"""What the frame of the parts and topics pages hands to its views, and what it asks of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

import nspca
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof.attempts import Attempt
from nspca.specs import ComponentsSpec


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is known of a run, for the views.

    `tried` are the attempts to prove more, and `own` is the proof that the run came with; the results have
    the tightest.
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

    @property
    def proved_further(self) -> bool:
        """Whether the proof is of another attempt than the run's own."""
        return any(result.certificate is not self.own for result in self.results.values())

    @property
    def best(self) -> str:
        """The method whose components explain most."""
        return max(self.results, key=lambda method: self.results[method].value)


@dataclass(frozen=True)
class View:
    """How a page draws the components, what it shows about a finished run besides, and what is taken home of
    it.

    `figures` are those that say what was found, by a name that is a file's.
    """

    components: Callable[[Outcome], None]
    more: Callable[[Outcome], None]
    always: Callable[[], None]
    empty: str
    figures: Callable[[Outcome], dict[str, go.Figure]]
