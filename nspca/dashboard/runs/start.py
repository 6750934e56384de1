"""Start of a run, and the button for it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.runs.lookup import Kind
from nspca.dashboard.runs.tasks import engine
from nspca.errors import Refused
from nspca.specs import ProblemSpec, Spec


def button(
    label: str,
    begin: Callable[[], Any],
    key: str = "run",
    type: str = "primary",
    icon: str = ":material/play_arrow:",
    **look: Any,
) -> None:
    """Draw a button that starts a run: a click calls `begin`, and the page then shows the run."""
    buttons.button(label, key, begin, type=type, icon=icon, **look)


def offer(
    label: str,
    of: Chosen,
    asked: ProblemSpec,
    begin: Callable[[], Any],
    beside: Callable[[], Any] = lambda: None,
    disabled: bool = False,
) -> bool:
    """Draw the start button with what stands beside it. Return False, and say why, where this server cannot
    do it.
    """
    sentence = cost_estimate.refusal(of, *asked.work)
    with st.container(horizontal=True, vertical_alignment="center"):
        button(label, begin, disabled=disabled or bool(sentence))
        beside()
    cost_estimate.say(sentence)
    return not sentence


def start(spec: Spec, **given: Any) -> str:
    """Start a run for this person, or join one that asks the same; return its id.

    Parameters
    ----------
    **given
        Data that are open already, by the names of the arguments of the spec's `run`.
    """
    arguments = {"spec": spec.to_plain(), **given}
    return engine().submit(spec.kind, arguments, viewer=state.workspace(), title=spec.describe().title)


def of_page(kind: Kind, of: Chosen, asked: ProblemSpec) -> None:
    """Start the run of a page, or join one that asks the same; the address then names it.

    Raises
    ------
    InvalidProblem
        For what cannot be a problem: that is said here, not by a worker.
    Refused
        For what this server cannot do.
    """
    open_data.problem_of(of, asked)
    if sentence := cost_estimate.refusal(of, *asked.work):
        raise Refused(sentence)
    state.put(**{kind.key: start(asked, **of.given)}, **dict.fromkeys(kind.anew))
