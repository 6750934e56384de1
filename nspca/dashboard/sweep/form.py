"""What to sweep: the inputs of the sweep page, checked before anything is started."""

from functools import partial

import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.open_data import Chosen, kept, measures
from nspca.dashboard.runs import methods, start
from nspca.dashboard.runs.efforts import EFFORT_HELP, EFFORTS
from nspca.dashboard.runs.sweeps import default_range, finer, usual
from nspca.dashboard.sweep import enough, whatif
from nspca.dashboard.sweep.preview import Preview
from nspca.errors import InvalidProblem
from nspca.result import knee
from nspca.specs import SweepSpec

STEP_HELP = "Left empty, k takes the values 1, 2, 3, 5, 7, 10, 15, 20, … and is finer where the curve bends."
MOST_POINTS = 500  # values of k in one run: a curve on a screen has no more


def asked(chosen: Chosen) -> SweepSpec:
    """The inputs, and the request they add up to.

    Raises
    ------
    InvalidProblem
        When k is out of range; the sentence says what is possible.
    """
    n, forced = chosen.dataset.X.shape[1], kept(chosen)
    columns = st.columns([1, 1, 1, 2], vertical_alignment="bottom")
    sign = columns[-1]
    first, last = (
        column.number_input(
            label, step=1, **state.bind(name, usually if state.get(name) is None else None, whatif.changed)
        )
        for column, label, name, usually in zip(
            columns, ("k from", "to"), ("from", "to"), default_range(n, len(forced)), strict=False
        )
    )
    step = columns[2].number_input(
        "step",
        value=None,
        step=1,
        placeholder="adaptive",
        help=STEP_HELP,
        **state.bind("step", then=whatif.changed),
    )
    with sign:
        signed = st.segmented_control(
            "Weights",
            [False, True],
            format_func={False: "nonnegative", True: "of any sign"}.get,
            required=True,
            **state.bind("signed", then=whatif.changed),
        )
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    with middle:
        effort = st.selectbox(
            "Effort for the proof",
            list(EFFORTS),
            help=EFFORT_HELP,
            **state.bind("effort", _known(state.get("effort")), whatif.changed),
        )
    with right:
        scale = st.toggle(
            "Standardise",
            disabled=chosen.dataset.is_covariance,
            help=" ".join(
                ["Divide every feature by its standard deviation.", measures(chosen).scales]
            ).strip(),
            **state.bind("scale", then=whatif.changed),
        )
    scale = scale and not chosen.dataset.is_covariance
    with left:
        refusals = methods.refusals(chosen, not signed, state.get("center"), scale, forced)
        names = _methods(methods.able(refusals))
    _check(first, last, step, n, len(forced))
    return SweepSpec(
        data=chosen.spec,
        ks=usual(first, last) if step is None else tuple(range(first, last + 1, step)),
        methods=names,
        effort=effort,
        forced=forced,
        keep=state.get("keep") if tuple(state.get("keep")) != forced and forced else (),
        nonneg=not signed,
        center=state.get("center"),
        scale=scale,
    )


def around(asked: SweepSpec, seen: Preview | None) -> SweepSpec:
    """The same, finer where the preview knows that the curve bends and where the wanted share is reached; not
    when a step was given.
    """
    if state.get("step") is not None or seen is None or seen.table is None:
        return asked
    table, ks = seen.table, asked.ks
    bend = knee(table)
    ks = finer(
        ks, max((k for k in ks if k < bend), default=bend), min((k for k in ks if k > bend), default=bend)
    )
    best = seen.problem.leading_eigenvalue
    ks = finer(ks, *enough.between(enough.known(table, enough.wanted() / 100 * best)))
    return asked.but(ks=tuple(k for k in ks if asked.ks[0] <= k <= asked.ks[-1]))


def run_button(chosen: Chosen, request: SweepSpec) -> None:
    """Starts the sweep, and says how long it will take; what takes a moment starts by itself when it was
    changed.
    """
    count = request.total
    label = f"Run {count} problems" if count > 1 else "Run one problem"
    begin, estimate = (partial(does, chosen, request) for does in (whatif.begin, whatif.estimate))
    if start.offer(label, chosen, request, begin, estimate):
        whatif.answer(chosen, request)


def _known(effort: str) -> str:
    return effort if effort in EFFORTS else "fast"


def _methods(able: list[str]) -> list[str]:
    kept = [name for name in state.get("methods") if name in able] or ["auto"]
    about = f"Several methods are drawn in one figure.\n{methods.summaries(able)}"
    return st.multiselect(
        "Methods", able, format_func=methods.label, help=about, **state.bind("methods", kept, whatif.changed)
    ) or ["auto"]


def _check(first: int | None, last: int | None, step: int | None, n: int, kept: int) -> None:
    if first is None or last is None:
        raise InvalidProblem("a sweep needs a first and a last k: fill in the empty field")
    if not 1 <= first <= last <= n:
        raise InvalidProblem(
            f"k must go from at least 1 up to at most {n}, the number of features, got {first} to {last}"
        )
    if first < kept:
        raise InvalidProblem(
            f"k counts the {kept} features that are kept, so it goes from {kept}, got {first}"
        )
    if step is None:
        return
    if not step >= 1:
        raise InvalidProblem(f"the step of k must be at least 1, got {step}")
    if (last - first) // step >= MOST_POINTS:
        raise InvalidProblem(
            f"one run sweeps at most {MOST_POINTS} values of k, got {(last - first) // step + 1}: take a "
            "larger step"
        )
