"""Draw the curve of variance against k with its proved region, during a run and as a clickable figure."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components import figures
from nspca.plots.sweeps import sweep_figure
from nspca.presentation.phrases import method_name
from nspca.problem import Problem
from nspca.specs import SweepSpec
from nspca.specs.published import OTHERS, PROBABILITY
from nspca.specs.rows import unpack

AXIS_HELP = """The papers divide by the variance along the main direction, the first principal component.
It is the leading eigenvalue.
The total variance is the sum over all features."""
AXES = {"leading": "the main direction", "total": "the total variance"}
BOUNDS = {"ours": "our bound", "paper": "the 2014 paper's bound", "both": "both"}
COLUMNS = ["method", "k", "value", "upper", "ratio", "kind", "seconds", *OTHERS]


def switches() -> None:
    """Draw the switches of the curve: base of the percentages, and bound."""
    with st.container(horizontal=True, vertical_alignment="center"):
        words = {name: f"% of {said}" for name, said in AXES.items()}
        choose_one("Variance in % of", "axis", words, help=AXIS_HELP)
        choose_one("Bound", "bound", BOUNDS)


def axis() -> str:
    """Return the chosen base of the percentages: "leading" or "total"."""
    return state.get_one_of("axis", AXES, "leading")


def _bounds() -> str:
    return state.get_one_of("bound", BOUNDS, "ours")


def plot(problem: Problem, frame: pd.DataFrame, asked: SweepSpec, **options: Any) -> partial[go.Figure]:
    """Return the plot of the rows of a sweep with the choices of the switches, for `figures.draw_plot`."""
    unit = problem.leading_eigenvalue if axis() == "leading" else problem.total_variance
    return partial(
        sweep_figure,
        frame,
        unit=unit or 1.0,
        all_ks=sorted({*asked.ks, *frame["k"]}),
        ceiling=problem.leading_eigenvalue,
        unit_name=AXES[axis()],
        signed=not asked.nonneg,
        bounds=_bounds(),
        **options,
    )


def _say_others(frame: pd.DataFrame) -> None:
    if _bounds() != "ours" and len(frame):
        st.caption(wording.others(frame[PROBABILITY].astype(float).min()), help=wording.OTHERS)


def filling(
    problem: Problem,
    rows: tuple[dict[str, Any], ...],
    asked: SweepSpec,
    before: tuple[pd.DataFrame, float, str] | None = None,
) -> None:
    """Draw the curve of an unfinished run from its packed rows so far; `before` is as in `sweep_figure`."""
    frame = pd.DataFrame([vars(row) for row in unpack(rows)], columns=COLUMNS)
    drawn = plot(problem, frame, asked, before=before)
    figures.draw_plot(drawn, "filling", same=_same(asked))
    _say_others(frame)


def _same(asked: SweepSpec) -> str:
    """Return a text about data and range of k. The browser resets a zoom when this text changes."""
    return f"{asked.content} {asked.ks[0]} {asked.ks[-1]}"


def clickable(asked: SweepSpec, drawn: partial[go.Figure], frame: pd.DataFrame, height: int) -> None:
    """Draw the curve that `plot` returned for the rows `frame`. A click shows the component at that k."""

    def take(point: list[Any]) -> None:
        k, method = point
        state.put(k=int(k), shown=str(method))

    figures.draw_plot(drawn, "curve", height, take, _same(asked))
    _say_others(frame)


def choose(methods: Sequence[str], method: str) -> None:
    """Draw the choice of a method where there are several."""
    if len(methods) > 1:
        st.selectbox("Method", list(methods), format_func=method_name, **state.bind("shown", method))
