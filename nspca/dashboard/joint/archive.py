"""Everything of a run of parts or topics as one ZIP. No Streamlit calls of its own."""

from collections.abc import Mapping
from datetime import datetime
from html import escape

import pandas as pd
import plotly.graph_objects as go

from nspca.dashboard.app import wording
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.export.archive import File
from nspca.dashboard.export.whole import Contents, Whole
from nspca.dashboard.joint import views
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.views.component import labelled
from nspca.data.export import frame_to_csv
from nspca.presentation.numerals import format_bound, format_value, format_value_share

METHODS = "variance-by-method"


def whole(outcome: Outcome) -> Whole:
    """What is said of all of it."""
    about, asked = outcome.about, outcome.asked
    line = f"Asked: {asked.describe().asked}. Seed {asked.seed}."
    late = [method for method in asked.methods if method not in outcome.results]
    left_out = [method for method, result in outcome.results.items() if views.unfinished(result)]
    line += f" Not here: {wording.listed(late)}." if late else ""
    line += f" Stopped before its end: {wording.listed(left_out)}." if left_out else ""
    return Whole(outcome.of, asked, about.key, line)


def figures(outcome: Outcome, view: View) -> dict[str, go.Figure]:
    """The figures that say what was found, by name."""
    return {METHODS: views.cumulative(outcome), **view.figures(outcome)}


def pack(
    outcome: Outcome,
    weights: pd.DataFrame,
    drawn: Mapping[str, go.Figure],
    pictures: Mapping[str, Picture],
    made: datetime,
) -> bytes:
    """The ZIP.

    Parameters
    ----------
    weights : of all components, with the names that somebody gave them
    drawn : from `figures`
    pictures : the same as files; those that are missing are left out
    made : datetime
        In UTC.
    """
    data = outcome.of.dataset
    certificate = next((r.certificate for r in outcome.results.values() if r.certificate), None)
    methods = frame_to_csv(labelled(views.table(outcome)[0], data))
    contents = Contents(
        drawn,
        pictures,
        {name: name.replace("-", " ") for name in drawn},
        {
            "tables/methods.csv": File(methods, "what each method found, in numbers"),
            "tables/components.csv": File(
                frame_to_csv(labelled(weights, data)), "the weights of all components"
            ),
        },
        {} if certificate is None else {outcome.about.key: certificate},
        "the proof: it bounds what any method can explain",
        _proved(outcome),
        shown=views.shown(outcome),
    )
    return whole(outcome).pack(contents, made)


def _proved(outcome: Outcome) -> str:
    """A row for each method, and what none can exceed."""
    total = outcome.problem.total_variance or 1.0
    body = ""
    for method, result in views.ordered(outcome.results).items():
        cells = (
            method,
            format_value(result.value),
            format_value_share(result.value, total),
            wording.proof(result.ratio),
        )
        body += f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    head = "".join(f"<th>{title}</th>" for title in ("Method", "Variance", "Of the total", "Proved"))
    upper = next((r.certificate.upper for r in outcome.results.values() if r.certificate), None)
    many = outcome.about.count(outcome.asked.r)
    signs = " with nonnegative weights" if outcome.problem.nonneg else ""
    none = (
        f"No {many}{signs} of these sizes that do not overlap explain more than {format_bound(upper)}."
        if upper
        else "Nothing is proved here."
    )
    return f"<p>{escape(none)}</p>\n<table><tr>{head}</tr>{body}</table>"
