"""What to compare: methods, values of k, the sign; checked before anything starts."""

import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.compare.kinds import (
    BASELINE,
    COMPARISON,
    LARGE,
    QUICK,
    SIGNS,
    SOME,
    default_ks,
    read_ks,
)
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import methods, options, start
from nspca.dashboard.runs.efforts import EFFORT_HELP, EFFORTS
from nspca.specs import ComparisonSpec
from nspca.specs.comparison import DEFAULT as FIRST


def show(of: Chosen) -> None:
    """The inputs, and the button that starts the run.

    Raises
    ------
    InvalidProblem
        When k is out of range; the sentence says what is possible.
    """
    n, covariance = of.dataset.X.shape[1], of.dataset.is_covariance
    first, second, third, last = st.columns([2.1, 2.2, 1.7, 1.8])
    default = ", ".join(map(str, default_ks(n)))
    text = first.text_input(
        "Values of k",
        help="Numbers and ranges: 5, 10, 20-25.",
        **state.bind("ks", state.get("ks") or default),
    )
    signed = second.segmented_control(
        "Weights",
        [False, True],
        format_func=lambda signed: SIGNS[not signed],
        required=True,
        **state.bind("signed"),
    )
    effort = state.get("effort") if state.get("effort") in EFFORTS else "fast"
    effort = third.selectbox(
        "Effort for the proof", list(EFFORTS), help=EFFORT_HELP, **state.bind("effort", effort)
    )
    with last.container(height=76, border=False, vertical_alignment="center"):
        help_scale = "Divide every feature by its standard deviation."
        scale = (
            st.toggle("Standardise", disabled=covariance, help=help_scale, **state.bind("scale"))
            and not covariance
        )
    center = state.get("center") and not covariance
    refusals = methods.refusals(of, not signed, center, scale)
    rivals = _rivals(methods.able(refusals))
    _cannot(refusals)
    changed = options.form(rivals)
    ks = read_ks(text, n)
    request = ComparisonSpec(
        data=of.spec,
        ks=ks,
        methods=rivals or FIRST[:1],
        effort=effort,
        options=changed,
        nonneg=not signed,
        center=center,
        scale=scale,
    )
    label = f"Compare {wording.things(len(rivals), 'method')} at {wording.things(len(ks), 'value')} of k"
    begin = lambda: start.of_page(COMPARISON, of, request)  # noqa: E731
    start.offer(label, of, request, begin, disabled=not rivals)


def usual(of: Chosen) -> ComparisonSpec:
    """What the page answers before anybody asks: the inputs as they are at first; of many features at fewer
    k, by fewer methods.
    """
    n, center = of.dataset.X.shape[1], not of.dataset.is_covariance
    able = methods.able(methods.refusals(of, True, center, False))
    by = tuple(name for name in (QUICK if n > LARGE else FIRST) if name in able)
    ks = default_ks(n)[:: 2 if n > SOME else 1]
    return ComparisonSpec(data=of.spec, ks=ks, methods=by, center=center)


def _rivals(can: list[str]) -> list[str]:
    kept = [name for name in state.get("rivals") or FIRST if name in can]
    return st.multiselect(
        "Methods",
        can,
        format_func=methods.label,
        help=f"{methods.summaries(can)}\n\n{BASELINE.capitalize()}.",
        placeholder="Choose at least one method",
        **state.bind("rivals", kept),
    )


def _cannot(refusals: dict[str, str | None]) -> None:
    cannot = [f"- {_named(name, sentence)}" for name, sentence in refusals.items() if sentence]
    if cannot:
        st.caption("\n".join(["Not offered here:", *cannot]))


def _named(name: str, sentence: str) -> str:
    """The sentence behind the name, which most sentences begin with."""
    begins = sentence.startswith(f"{name} ")
    return (
        f"**{name}** {wording.plain(sentence.removeprefix(name))}"
        if begins
        else f"**{name}**: {wording.plain(sentence)}"
    )
