"""The question of the page Sweep: the kind of its runs, the spec in the address, and its form."""

from typing import Any

import streamlit as st

from nspca.dashboard.app import form, state
from nspca.dashboard.open_data import Chosen, forced_features, measures
from nspca.dashboard.runs import cost_estimate, methods
from nspca.dashboard.runs.lookup import Kind
from nspca.dashboard.runs.methods import EFFORT_HELP, EFFORTS, draw_scale, draw_signs, effort, is_scaled
from nspca.errors import InvalidProblem
from nspca.specs import SweepSpec
from nspca.specs.data import keeping
from nspca.specs.question import ks_words, weights_words

POINTS = (1, 1.5, 2, 3, 5, 7)  # default values of k in each power of ten
LARGE = 1000  # number of features above which default sweeps stay below `LARGE_TO`
LARGE_TO = 100
STEP_HELP = "Left empty, k takes the values 1, 2, 3, 5, 7, 10, 15, 20, …"
PLACED = ("nonneg", "center", "scale", "methods", "effort", "keep")
"""Fields of a sweep with a place of their own on the page; the form draws every other one."""
MOST_POINTS = 500  # maximum values of k in a run, as many as a curve on a screen can show
SWEEP = Kind(
    spec=SweepSpec,
    page="sweep",
    key="run",
    anew=("k", "shown"),
    empty="Nothing has run yet. Choose the values of k below and press Compute. The curve then fills in.",
    icon=":material/area_chart:",
    stranger="The run in this address is no sweep. Choose the values of k below and press Compute.",
)


def default_range(n: int, kept: int = 0) -> tuple[int, int]:
    """Return the default first and last k for n features, of which `kept` are forced."""
    return max(1, kept), max(LARGE_TO, kept) if n > LARGE else n


def usual_ks(first: int, last: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 5, 7, 10, 15, 20, 30, ... from `first` to `last`, both included."""
    series = {int(point * 10**power) for power in range(len(str(last))) for point in POINTS}
    return tuple(sorted({first, last} | {k for k in series if first < k < last}))


def differences(asked: SweepSpec, other: SweepSpec) -> str:
    """Return the differences of two sweeps in words; empty if they differ only in data or values of k."""
    said = {
        "center": "centred" if asked.center else "not centred",
        "scale": "standardised" if asked.scale else "not standardised",
        "nonneg": weights_words(asked.nonneg),
        "forced": keeping(len(asked.forced)) if asked.forced else "keeping none",
        "methods": " and ".join(asked.methods),
        "effort": f"{asked.effort} proofs",
    }
    return ", ".join(text for name, text in said.items() if getattr(asked, name) != getattr(other, name))


def question(of: Chosen) -> SweepSpec:
    """Return the question in the address, about the data."""
    n, forced = of.dataset.X.shape[1], forced_features(of)
    first, last = ends(of)
    step = state.get("step")
    _check(first, last, step, n, len(forced))
    ks = usual_ks(first, last) if step is None else tuple(range(first, last + 1, step))
    keep = tuple(state.get("keep"))
    mine = {"ks": ks, "methods": _methods(of), "effort": effort(), "scale": is_scaled(of)}
    mine |= {"forced": forced, "keep": keep if keep != forced and forced else ()}
    return SweepSpec(**state.asked(SweepSpec) | {"data": of.spec, **mine})


def ends(of: Chosen) -> tuple[int, int]:
    """Return the first and the last k in the address, or the defaults."""
    first, last = default_range(of.dataset.X.shape[1], len(forced_features(of)))
    given = state.get("from"), state.get("to")
    return first if given[0] is None else given[0], last if given[1] is None else given[1]


def inputs(of: Chosen) -> None:
    """Draw the inputs, each bound to the address."""
    columns = st.columns([1, 1, 1, 2], vertical_alignment="bottom")
    for column, label, name, value in zip(columns, ("k from", "to"), ("from", "to"), ends(of), strict=False):
        column.number_input(label, step=1, **state.bind(name, value, _changed))
    columns[2].number_input(
        "step",
        value=None,
        step=1,
        placeholder="adaptive",
        help=STEP_HELP,
        **state.bind("step", then=_changed),
    )
    draw_signs(columns[3], _changed)
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    able = methods.able(_refusals(of))
    about = f"Several methods are drawn in one figure.\n{methods.summaries(able)}"
    how: dict[str, Any] = {"then": _changed, "value": list(_methods(of))}
    form.draw(SweepSpec, "methods", left, **how, options=able, format_func=methods.label, help=about)
    form.draw(SweepSpec, "effort", middle, _changed, effort(), options=list(EFFORTS), help=EFFORT_HELP)
    draw_scale(right, of, _changed, measures(of).scales)
    for name, option, _ in SweepSpec.declared():  # options without a place of their own
        if option.query and name not in PLACED:
            form.draw(SweepSpec, name, then=_changed)


def usual(of: Chosen, asked: SweepSpec) -> SweepSpec:
    """Return the question of the first answer: that of the form, with quick proofs."""
    return asked.but(data=of.spec, methods=("auto",), effort="fast")


def line(of: Chosen, asked: SweepSpec) -> str:
    """Return the question in a few words, without options at their defaults."""
    is_short = len(asked.ks) > 2 and not state.get("step")
    ks = f"k = {asked.ks[0]} to {asked.ks[-1]}" if is_short else ks_words(asked.ks)
    settings = [said for said in asked.details() if said != "auto"]
    return ", ".join([ks, *settings, *asked.data.change_words()])


def label(of: Chosen, asked: SweepSpec) -> str:
    """Return the label of the start button, with the time that the answer takes."""
    what = "the full curve" if asked.total > 1 else f"k = {asked.ks[0]:,}"
    return f"Compute {what} ({cost_estimate.took(seconds(of, asked))})"


def seconds(of: Chosen, asked: SweepSpec) -> float:
    """Return the estimated seconds of a sweep."""
    if of.table is not None:
        return cost_estimate.seconds(of, *asked.work)
    return asked.total * cost_estimate.each_k(of, asked.effort)


def _changed() -> None:
    st.session_state[state.CHANGED] = True


def _refusals(of: Chosen) -> dict[str, str | None]:
    return methods.refusals(
        of, not state.get("signed"), state.get("center"), is_scaled(of), forced_features(of)
    )


def _methods(of: Chosen) -> tuple[str, ...]:
    able = methods.able(_refusals(of))
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
