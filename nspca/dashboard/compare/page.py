"""The class `ComparePage`: several methods on one problem, at several numbers of features.

The script pages/compare.py hands a `ComparePage` to `answer_page.show`, which calls its methods.
"""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard import answer_page, open_data
from nspca.dashboard.answer_page import AnswerPage, Download, TakeHome
from nspca.dashboard.app import state, wording
from nspca.dashboard.compare import archive, form, sections
from nspca.dashboard.compare.form import COMPARISON
from nspca.dashboard.compare.seen import Compared, Seen
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.inputs import SIGNS
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.views import curve, filling, statement
from nspca.dashboard.views.component import csv_of
from nspca.jobs import JobState
from nspca.plots.compare import ranking_figure, ratios_figure, times_figure, values_figure
from nspca.result import COLUMNS
from nspca.specs import ComparisonSpec
from nspca.specs.method_options import options_words
from nspca.specs.rows import Found, Proved, Row, unpack

HEIGHT = 360
"""Pixels of the curve, so that it stands on the first screen with the sentence and the slider."""


class ComparePage(AnswerPage[ComparisonSpec]):
    """The compare page.

    `AnswerPage` documents the methods. `line` and `label` are texts of the folded form and of the start
    button. `status`, `share` and `filling` follow a run. `view`, `more` and `take_home` show its results.
    """

    kind = COMPARISON

    def question(self, data: Chosen) -> ComparisonSpec:
        return form.question(data)

    def usual(self, data: Chosen) -> ComparisonSpec:
        return form.usual(open_data.row_sample(data))

    def form(self, data: Chosen, asked: ComparisonSpec | None) -> None:
        form.inputs(data)

    def line(self, data: Chosen, asked: ComparisonSpec) -> str:
        sign, scaled = SIGNS[not asked.nonneg], "standardised" * asked.scale
        words = [_size(asked), sign, scaled, *asked.data.change_words()]
        words.append(options_words(asked.options))
        return ", ".join(filter(None, words))

    def label(self, data: Chosen, asked: ComparisonSpec) -> str:
        return f"Compare {_size(asked)}"

    def status(self, run: Watched, now: JobState) -> str:
        return filling.says(now, _ready(now), run.asked.total)

    def share(self, run: Watched, now: JobState) -> float:
        return _ready(now) / run.asked.total

    def filling(self, run: Watched, now: JobState) -> None:
        compared, rows = Compared(run), unpack(now.rows)
        if not rows:
            return
        style: dict[str, Any] = {
            "signed": not run.asked.nonneg,
            "ceiling": compared.ceiling,
            "style": compared.style,
        }
        figure = values_figure(
            known(rows), unit=compared.unit, unit_name=unit_name(), ks=run.asked.ks, **style
        )
        figures.draw(figure.update_layout(height=HEIGHT), "compare_filling", same=run.id)
        filling.refusals(rows)

    def view(self, run: Watched, results: nspca.Sweep) -> Seen:
        seen = Seen(run, results)
        said, headline, below = seen.sentences()
        st.markdown(f"## {wording.unbroken(headline)}")
        st.html(statement.bar(said))
        st.markdown(wording.unbroken(below))
        answer_page.say_instead(seen.k, seen.problem.n)
        if len(seen.ks) > 1:
            noun = wording.noun(run.of.dataset)
            st.select_slider(f"k, the number of {noun}s", seen.ks, **state.bind("k", seen.k))
        curves = values(seen)
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            ranking = partial(
                ranking_figure,
                {name: result.value for name, result in seen.of_k.items()},
                unit=seen.unit,
                unit_name=unit_name(),
                upper=seen.upper,
                limit=said.most_text,
                places=said.digits,
            )
            height = HEIGHT if state.get("present") else None  # as high as the curve
            figures.draw_plot(ranking, "compare_ranking", height, same=run.id)
        with right:
            figures.draw_plot(curves, "compare_values", HEIGHT, same=run.id)
        return seen

    def more(self, run: Watched, results: nspca.Sweep, seen: Seen) -> None:
        filling.refusals(unpack(run.now.rows))
        sections.show(seen)

    def take_home(self, run: Watched, results: nspca.Sweep, seen: Seen) -> TakeHome:
        table = lambda: csv_of(seen.table, run.of.dataset)  # noqa: E731
        return TakeHome(
            archive.whole(seen),
            f"{run.id} {run.now.finished} {curve.axis()} {seen.k}",
            lambda: drawn(seen),
            lambda: archive.contents(seen),
            [Download("All numbers, CSV", table, f"{run.of.stem}-compare.csv")],
        )


def _size(asked: ComparisonSpec) -> str:
    """Return the size of a comparison: "6 methods at 5 values of k"."""
    return f"{wording.things(len(asked.methods), 'method')} at {wording.things(len(asked.ks), 'value')} of k"


def _ready(now: JobState) -> int:
    """Return the number of answers and bounds that a run has found so far."""
    return sum(isinstance(row, Found | Proved) for row in unpack(now.rows))


def known(rows: list[Row]) -> pd.DataFrame:
    """Return a table of values by method and k, with the bound of each k, from the rows of a run so far.

    A bound that is not known yet is NaN.
    """
    table = pd.DataFrame([vars(row) for row in rows if isinstance(row, Found)], columns=list(COLUMNS))
    proofs = {row.k: (row.upper, row.kind) for row in rows if isinstance(row, Proved)}
    table["upper"] = [proofs.get(k, (np.nan, None))[0] for k in table["k"]]
    table["kind"] = [proofs.get(k, (np.nan, None))[1] for k in table["k"]]
    return table


def unit_name() -> str:
    """Return the name of the variance that is 100 % in the figures."""
    return curve.AXES[curve.axis()]


def values(seen: Seen) -> partial[go.Figure]:
    """Return the plot of the curves."""
    how: dict[str, Any] = {"unit": seen.unit, "unit_name": unit_name(), "signed": not seen.asked.nonneg}
    return partial(values_figure, seen.table, **how, **seen.shared)


def drawn(seen: Seen) -> dict[str, go.Figure]:
    """Return the three figures by their file names."""
    of_k = [make(seen.table, **seen.shared) for make in (ratios_figure, times_figure)]
    made = (values(seen)(), *of_k)
    return dict(zip(archive.ABOUT, made, strict=True))
