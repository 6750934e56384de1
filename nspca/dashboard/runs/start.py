"""Start runs of pages and of sections; `of` is the open data set, and `asked` the question about it."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import state
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.runs.lookup import Kind
from nspca.dashboard.runs.tasks import engine
from nspca.errors import Refused
from nspca.specs import ComparisonSpec, ProblemSpec, Spec

LEFT_OUT = ("w", "present", "slide", "before")
"""Values of an address that the list of runs does not open again."""


def start(spec: Spec, page: str | None = None, **given: Any) -> str:
    """Start a run in this workspace, or join a run with an equal question; return its id."""
    arguments = {"spec": spec.to_plain(), **given}
    page = open_page(spec) if page is None else page
    title = spec.describe().title
    return engine().submit(spec.kind, arguments, workspace=state.workspace(), title=title, page=page)


def open_page(spec: Spec) -> str:
    """Return the address of the open page as it is now, at the k of a question."""
    name = st.session_state.get(state.OPEN) or ""
    query = {one: text for one, text in state.link().items() if one not in LEFT_OUT}
    if isinstance(spec, ComparisonSpec) or not isinstance(spec, ProblemSpec):
        query |= spec.to_query()
    k = getattr(spec, "k", None)
    if isinstance(k, int):
        query |= {at: str(k) for at in ("k", "digit_k") if name in state.VALUES[at].pages.split()}
    return f"{name}?{urlencode(query)}"


def own_page(kind: Kind, asked: ProblemSpec) -> str:
    """Return the address of a page that shows a run by its id, which the list of runs fills in."""
    return f"{kind.page}?{urlencode(asked.to_query())}&{kind.key}="


def of_page(kind: Kind, of: Chosen, asked: ProblemSpec) -> None:
    """Start the run of a page, or join a run with an equal question, and name it in the address."""
    open_data.problem_of(of, asked)
    if sentence := cost_estimate.refusal(of, *asked.work):
        raise Refused(sentence)
    run = start(asked, own_page(kind, asked), **of.given)
    state.put(**{kind.key: run}, **dict.fromkeys(kind.anew))
