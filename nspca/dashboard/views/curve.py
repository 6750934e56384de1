"""Draw the curve of variance against k with its proved region, during a run and as a clickable figure.

The sweep page uses it. `asked` is the question of the sweep.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import cache, state, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components import figures
from nspca.plots import sweep_figure
from nspca.presentation.phrases import method_name
from nspca.problem import Problem
from nspca.specs import SweepSpec
from nspca.specs.published import OTHERS, PROBABILITY
from nspca.specs.rows import unpack

AXIS_HELP = """The papers divide by the variance of the first principal component, the leading eigenvalue.
The total variance is the sum over all features."""
AXES = {"leading": "the first principal component", "total": "the total variance"}
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
    """Return the plot of the rows of a sweep with the choices of the switches, for `figures.draw_plot`.

    `options` go to `nspca.plots.sweep_figure`.
    """
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


def _probability(frame: pd.DataFrame) -> float:
    return frame[PROBABILITY].astype(float).min()


def _say_others(probability: float) -> None:
    st.caption(wording.others(probability), help=wording.OTHERS)


def filling(
    problem: Problem,
    rows: tuple[dict[str, Any], ...],
    asked: SweepSpec,
    beside: str = "",
    options: Callable[[], dict[str, Any]] = dict,
) -> None:
    """Draw the curve of an unfinished run from its rows so far. All sessions share one prepared figure.

    Parameters
    ----------
    rows : packed rows of the run
    beside : text that differs when `options` differ, for the cache
    options : function that returns more options of `nspca.plots.sweep_figure`; called for new rows only,
        because the page looks every second
    """

    def make() -> tuple[dict[str, Any], float]:
        frame = pd.DataFrame([vars(row) for row in unpack(rows)], columns=COLUMNS)
        drawn = plot(problem, frame, asked, total=len(asked.ks) * len(asked.methods), **options())()
        return figures.prepared(drawn, "filling", _same(asked)), _probability(frame)

    made, probability = _filled(asked, f"{axis()} {_bounds()} {beside}", id(rows), len(rows), rows, make)[1]
    figures.put(made, "filling")
    if _bounds() != "ours" and rows:
        _say_others(probability)


@cache.keep()
def _filled(
    asked: SweepSpec, how: str, which: int, count: int, _rows: Any, _make: Callable[[], Any]
) -> tuple[Any, Any]:
    """Return the rows, and the prepared curve with its probability as `_make` computes them, cached.

    The cache key has the question, a text about how it is drawn, and the `id` and number of the rows. Holding
    the rows keeps that id from being given to other rows.
    """
    return _rows, _make()


def _same(asked: SweepSpec) -> str:
    """Return a text about data and range of k. The browser resets a zoom when this text changes."""
    return f"{asked.content} {asked.ks[0]} {asked.ks[-1]}"


def clickable(asked: SweepSpec, drawn: partial[go.Figure], frame: pd.DataFrame, height: int) -> None:
    """Draw the curve that `plot` returned for the rows `frame`. A click shows the component at that k."""

    def take(point: list[Any]) -> None:
        k, method = point
        state.put(k=int(k), shown=str(method))

    figures.draw_plot(drawn, "curve", height, take, _same(asked))
    if _bounds() != "ours" and len(frame):
        _say_others(_probability(frame))


def choose(methods: Sequence[str], method: str) -> None:
    """Draw the choice of a method where there are several."""
    if len(methods) > 1:
        st.selectbox("Method", list(methods), format_func=method_name, **state.bind("shown", method))
