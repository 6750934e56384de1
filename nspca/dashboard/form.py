"""What to sweep: the inputs of the sweep page, checked before anything is started."""

import streamlit as st

import nspca
from nspca.dashboard import running, state
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.request import Request, default_range
from nspca.errors import InvalidProblem

MOST_POINTS = 500  # values of k in one run: a curve on a screen has no more
EFFORTS = {"fast": "fast", "standard": "standard", "thorough": "thorough"}
EFFORT_HELP = "How hard to look for a tight upper bound: fast is seconds, standard tens of seconds, thorough minutes for each k."


def asked(chosen: Chosen) -> Request:
    """The inputs, and the request they add up to.

    Raises
    ------
    InvalidProblem
        When k is out of range; the sentence says what is possible.
    """
    n = chosen.dataset.X.shape[1]
    start = default_range(n)
    first, last, step, sign = st.columns([1, 1, 1, 2], vertical_alignment="bottom")
    values = [
        column.number_input(label, step=1, **state.bind(name, start[i] if state.get(name) is None else None))
        for i, (column, label, name) in enumerate([(first, "k from", "from"), (last, "to", "to"), (step, "step", "step")])
    ]
    with sign:
        signed = st.segmented_control(
            "Weights", [False, True], format_func={False: "nonnegative", True: "of any sign"}.get, required=True, **state.bind("signed")
        )
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    with left:
        methods = _methods(signed)
    with middle:
        effort = st.selectbox("Effort for the proof", list(EFFORTS), help=EFFORT_HELP, **state.bind("effort", _known(state.get("effort"))))
    with right:
        scale = st.toggle(
            "Standardise",
            disabled=chosen.dataset.is_covariance,
            help="Divide every feature by its standard deviation.",
            **state.bind("scale"),
        )
    _check(*values, n)
    return Request(
        data=chosen.reference,
        content=chosen.content,
        first=values[0],
        last=values[1],
        step=values[2],
        methods=tuple(methods),
        effort=effort,
        nonneg=not signed,
        center=state.get("center"),
        scale=scale and not chosen.dataset.is_covariance,
    )


def run_button(chosen: Chosen, request: Request) -> None:
    """The only thing that starts a run."""
    count = len(request.ks) * len(request.methods)
    if st.button(f"Run {count} problems" if count > 1 else "Run one problem", key="run", type="primary", icon=":material/play_arrow:"):
        running.start(chosen, request)
        st.rerun()


def _known(effort: str) -> str:
    return effort if effort in EFFORTS else "fast"


def _methods(signed: bool) -> list[str]:
    able = ["auto", *(name for name, method in nspca.METHODS.items() if (method.signed if signed else method.nonneg) and not method.joint)]
    able = list(dict.fromkeys(able))
    kept = [name for name in state.get("methods") if name in able] or ["auto"]
    summaries = "\n".join(f"- **{name}**: {method.summary}" for name, method in nspca.METHODS.items() if name in able)
    return st.multiselect(
        "Methods", able, help=f"Several methods are drawn in one figure.\n{summaries}", **state.bind("methods", kept)
    ) or ["auto"]


def _check(first: int | None, last: int | None, step: int | None, n: int) -> None:
    if first is None or last is None or step is None:
        raise InvalidProblem("a sweep needs a first k, a last k and a step: fill in the empty field")
    if not 1 <= first <= last <= n:
        raise InvalidProblem(f"k must go from at least 1 up to at most {n}, the number of features, got {first} to {last}")
    if not step >= 1:
        raise InvalidProblem(f"the step of k must be at least 1, got {step}")
    if (last - first) // step >= MOST_POINTS:
        raise InvalidProblem(f"one run sweeps at most {MOST_POINTS} values of k, got {(last - first) // step + 1}: take a larger step")
