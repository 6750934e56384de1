"""The question of the sweep page: the spec in the address, and the form that changes it.

`SweepPage` calls its functions.
"""

from typing import Any

import streamlit as st

from nspca.dashboard.app import form, state
from nspca.dashboard.open_data import Chosen, forced_features, measures
from nspca.dashboard.runs import cost_estimate, methods
from nspca.dashboard.runs.inputs import EFFORT_HELP, EFFORTS, draw_scale, draw_signs, effort, is_scaled
from nspca.dashboard.runs.sweeps import default_range, usual
from nspca.dashboard.sweep import whatif
from nspca.errors import InvalidProblem
from nspca.specs import SweepSpec
from nspca.specs.question import ks_words

STEP_HELP = "Left empty, k takes the values 1, 2, 3, 5, 7, 10, 15, 20, …"
PLACED = ("nonneg", "center", "scale", "methods", "effort", "keep")
"""Fields of a sweep with a place of their own on the page; the form draws every other one."""
MOST_POINTS = 500  # maximum values of k in a run, as many as a curve on a screen can show


def question(chosen: Chosen) -> SweepSpec:
    """Return the question in the address, about the data."""
    n, forced = chosen.dataset.X.shape[1], forced_features(chosen)
    first, last = ends(chosen)
    step = state.get("step")
    _check(first, last, step, n, len(forced))
    ks = usual(first, last) if step is None else tuple(range(first, last + 1, step))
    keep = tuple(state.get("keep"))
    mine = {"ks": ks, "methods": _methods(chosen), "effort": effort(), "scale": is_scaled(chosen)}
    mine |= {"forced": forced, "keep": keep if keep != forced and forced else ()}
    return SweepSpec(**state.asked(SweepSpec) | {"data": chosen.spec, **mine})


def ends(chosen: Chosen) -> tuple[int, int]:
    """Return the first and the last k in the address, or the defaults."""
    first, last = default_range(chosen.dataset.X.shape[1], len(forced_features(chosen)))
    given = state.get("from"), state.get("to")
    return first if given[0] is None else given[0], last if given[1] is None else given[1]


def inputs(chosen: Chosen) -> None:
    """Draw the inputs, each bound to the address."""
    columns = st.columns([1, 1, 1, 2], vertical_alignment="bottom")
    for column, label, name, value in zip(
        columns, ("k from", "to"), ("from", "to"), ends(chosen), strict=False
    ):
        column.number_input(label, step=1, **state.bind(name, value, whatif.changed))
    columns[2].number_input(
        "step",
        value=None,
        step=1,
        placeholder="adaptive",
        help=STEP_HELP,
        **state.bind("step", then=whatif.changed),
    )
    draw_signs(columns[3], whatif.changed)
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    able = methods.able(_refusals(chosen))
    about = f"Several methods are drawn in one figure.\n{methods.summaries(able)}"
    how: dict[str, Any] = {"then": whatif.changed, "value": list(_methods(chosen))}
    form.draw(SweepSpec, "methods", left, **how, options=able, format_func=methods.label, help=about)
    form.draw(SweepSpec, "effort", middle, whatif.changed, effort(), options=list(EFFORTS), help=EFFORT_HELP)
    draw_scale(right, chosen, whatif.changed, measures(chosen).scales)
    for name, option, _ in SweepSpec.declared():  # options without a place of their own
        if option.query and name not in PLACED:
            form.draw(SweepSpec, name, then=whatif.changed)


def line(asked: SweepSpec) -> str:
    """Return the question in a few words, without options at their defaults."""
    is_short = len(asked.ks) > 2 and not state.get("step")
    ks = f"k = {asked.ks[0]} to {asked.ks[-1]}" if is_short else ks_words(asked.ks)
    settings = [said for said in asked.details() if said != "auto"]
    return ", ".join([ks, *settings, *asked.data.change_words()])


def label(chosen: Chosen, asked: SweepSpec) -> str:
    """Return the label of the start button, with the time that the answer takes."""
    what = "the full curve" if asked.total > 1 else f"k = {asked.ks[0]:,}"
    return f"Compute {what} ({cost_estimate.took(whatif.seconds(chosen, asked))})"


def _refusals(chosen: Chosen) -> dict[str, str | None]:
    return methods.refusals(
        chosen, not state.get("signed"), state.get("center"), is_scaled(chosen), forced_features(chosen)
    )


def _methods(chosen: Chosen) -> tuple[str, ...]:
    able = methods.able(_refusals(chosen))
    return tuple(name for name in state.get("methods") if name in able) or ("auto",)


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
