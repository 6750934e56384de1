"""What to compare: methods, values of k, the sign; checked before anything starts."""

import streamlit as st

import nspca
from nspca.dashboard import chosen, compare_jobs, state, words
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.compare_request import BASELINE, FIRST, SIGNS, CompareRequest, able, default_ks, read_ks
from nspca.dashboard.form import EFFORT_HELP, EFFORTS

FUNCTION = "nspca.compare_tasks:run_compare"


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
    text = first.text_input("Values of k", help="Numbers and ranges: 5, 10, 20-25.", **state.bind("ks", state.get("ks") or default))
    signed = second.segmented_control(
        "Weights", [False, True], format_func=lambda signed: SIGNS[not signed], required=True, **state.bind("signed")
    )
    effort = state.get("effort") if state.get("effort") in EFFORTS else "fast"
    effort = third.selectbox("Effort for the proof", list(EFFORTS), help=EFFORT_HELP, **state.bind("effort", effort))
    with last.container(height=76, border=False, vertical_alignment="center"):
        help_scale = "Divide every feature by its standard deviation."
        scale = st.toggle("Standardise", disabled=covariance, help=help_scale, **state.bind("scale")) and not covariance
    reasons = able(not signed, covariance)
    methods = _methods(reasons)
    _cannot(reasons)
    ks = read_ks(text, n)
    request = CompareRequest(
        of.reference, of.content, ks, tuple(methods), effort, not signed, state.get("center") and not covariance, scale
    )
    label = f"Compare {words.things(len(methods), 'method')} at {words.things(len(ks), 'value')} of k"
    if st.button(label, key="run", type="primary", icon=":material/play_arrow:", disabled=not methods):
        _start(of, request)
        st.rerun()


def _methods(reasons: dict[str, str]) -> list[str]:
    can = [name for name, reason in reasons.items() if not reason]
    kept = [name for name in state.get("rivals") or FIRST if name in can]
    summaries = "\n".join(f"- **{name}**: {nspca.METHODS[name].summary}" for name in can if name in nspca.METHODS)
    return st.multiselect(
        "Methods",
        can,
        format_func=lambda name: f"{name} (baseline)" if name in nspca.METHODS and nspca.METHODS[name].baseline else name,
        help=f"- **auto**: several starts, the exact low-rank answer among them, then swaps\n{summaries}\n\n{BASELINE.capitalize()}.",
        placeholder="Choose at least one method",
        **state.bind("rivals", kept),
    )


def _cannot(reasons: dict[str, str]) -> None:
    cannot = [f"**{name}** {reason}" for name, reason in reasons.items() if reason]
    if cannot:
        st.caption(f"Not offered here: {'; '.join(cannot)}.")


def _start(of: Chosen, asked: CompareRequest) -> None:
    chosen.problem(of, asked.nonneg, asked.center, asked.scale)  # what cannot be a problem is said here, not by a worker
    arguments = {"X": of.dataset.X, "covariance": of.dataset.is_covariance, "request": asked.to_dict()}
    title = f"{of.dataset.name}, {words.things(len(asked.methods), 'method')} compared"
    state.put(compare=compare_jobs.start(FUNCTION, arguments, title), k=None)
