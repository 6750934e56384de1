"""Parts of the HTML report of a sweep: the figure, and the proved bounds row by row.

The downloads of the page Sweep (`archive`) call `moving` and `proved`.
"""

import pandas as pd
import plotly.graph_objects as go

from nspca.dashboard.app import wording
from nspca.plots import alt_text, kind_words
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_bound, format_value, format_value_share
from nspca.problem import Problem
from nspca.specs import SweepSpec
from nspca.specs.published import EPSNET, PROBABILITY, RANK_3

HEAD = (
    "k",
    "Method",
    "Variance",
    "Of leading eigenvalue",
    "Nothing above",
    "Rank-3 bound",
    "2014 paper's bound",
    "Proved",
)
"""Titles of the columns of `rows`."""


def moving(drawn: go.Figure) -> Markup:
    """Return a figure as HTML with the whole of plotly.js, 5 MB, so that a reader can zoom and point."""
    figure = go.Figure(drawn).update_layout(font_color="#4b5560")
    # The camera saves in the browser; nothing is sent anywhere.
    config = {"displaylogo": False, "showSendToCloud": False, "toImageButtonOptions": {"format": "svg"}}
    picture = figure.to_html(full_html=False, include_plotlyjs=True, config=config, div_id="sweep")
    return render("figure", alt=alt_text(drawn), figure=Markup(picture))


def proved(problem: Problem, asked: SweepSpec, table: pd.DataFrame) -> Markup:
    """Return HTML about the proved bounds of a sweep, row by row."""
    such = "such " if asked.forced else ""
    say = (
        f"No {such}component can explain more than the number under “Nothing above”; anybody can check that "
        "with a certificate and the data."
    )
    others = f"{wording.others(table[PROBABILITY].min())} {wording.OTHERS}"
    return render("proved", lines=(say, others), head=HEAD, rows=rows(problem, table), kind="")


def rows(problem: Problem, table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the texts of the cells of each row of the sweep, in the order of `HEAD`.

    The last cell is a phrase about the proof.
    """
    unit = problem.leading_eigenvalue or 1.0
    body: list[tuple[str, ...]] = []
    for row in table.itertuples():
        share = (
            f"{wording.proof(row.ratio)}, by {kind_words(row.kind)}" if pd.notna(row.ratio) else "nothing yet"
        )
        bounds = (_bound(row.upper), _bound(getattr(row, RANK_3)), _bound(getattr(row, EPSNET)))
        cells = (
            str(row.k),
            str(row.method),
            format_value(row.value),
            format_value_share(row.value, unit),
            *bounds,
            share,
        )
        body.append(cells)
    return body


def _bound(value: float) -> str:
    """Return a bound as text, rounded up; "none" for NaN."""
    return format_bound(value) if pd.notna(value) else "none"
