"""A sweep as one HTML file that needs nothing: the figure moves offline, the numbers and the recipe are below it."""

from datetime import UTC, datetime
from html import escape

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.browser import figures
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs import request
from nspca.dashboard.runs.request import Request
from nspca.dashboard.shell import words
from nspca.plots import alt_text, kind_words
from nspca.problem import Problem
from nspca.tasks.sweep import EPSNET, PROBABILITY, RANK_3

STYLE = """body { font-family: system-ui, sans-serif; color: #1d2b30; background: #fcfcfa; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .3rem .8rem; text-align: right; }
th { border-bottom: 2px solid #c9d3d5; } td { border-bottom: 1px solid #e3e9ea; } td:last-child, th:last-child { text-align: left; }
pre { background: #f0f3f3; padding: 1rem; overflow-x: auto; } .stand-in { border-left: .3rem solid #d55e00; padding-left: .8rem; }"""


def offer(about: Chosen, problem: Problem, asked: Request, drawn: go.Figure, table: pd.DataFrame, k: int, method: str) -> None:
    """The download; the file is made when it is asked for."""
    code = request.snippet(asked, k, method, about.dataset.is_covariance)
    st.download_button(
        "Report of this sweep, HTML",
        lambda: html(about, problem, asked, drawn, table, code),
        f"{about.stem}-sweep.html",
        "text/html",
        icon=":material/description:",
        on_click="ignore",
        help="One file with the figure, the numbers, the proofs and the recipe; it needs no network.",
    )


def html(about: Chosen, problem: Problem, asked: Request, drawn: go.Figure, table: pd.DataFrame, code: str) -> bytes:
    """The whole report.

    Parameters
    ----------
    drawn : Figure
        As the page shows it.
    table : DataFrame
        Rows ``method, k, value, upper, ratio, kind, seconds`` and those in `nspca.tasks.sweep.OTHERS`.
    code : str
        Python that computes it again.
    """
    data = about.dataset
    figure = go.Figure(drawn).update_layout(font_color="#4b5560")
    picture = figure.to_html(full_html=False, include_plotlyjs=True, config=figures.CONFIG, div_id="sweep")
    warning = '<p class="stand-in">These data are a stand-in, made up to look like the real ones.</p>' if data.source == "stand-in" else ""
    say = "No component can explain more than the number under “Nothing above”; anybody can check that with a certificate and the data."
    others = words.others(table[PROBABILITY].min())
    made = f"nspca {nspca.__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(data.name)}: sweep</title><style>{STYLE}</style></head><body>
<h1>{escape(data.name)}</h1>
<p>{escape(data.provenance)}</p>{warning}
<p>{escape(asked.describe())}. Seed {asked.seed}.</p>
<div role="img" aria-label="{escape(alt_text(drawn))}">{picture}</div>
<h2>What is proved</h2>
<p>{say}</p>
<p>{escape(others)}</p>
{rows(problem, table)}
<h2>Python that computes it again</h2>
<pre>{escape(code)}</pre>
<p><small>{made}</small></p>
</body></html>
""".encode()


def rows(problem: Problem, table: pd.DataFrame) -> str:
    """The sweep as an HTML table: one sentence of proof for each row."""
    unit = problem.leading_eigenvalue or 1.0
    head = ("k", "Method", "Variance", "% of leading eigenvalue", "Nothing above", "Rank-3 bound", "2014 paper's bound", "Proved")
    body = []
    for row in table.itertuples():
        share = f"{words.proof(row.ratio)}, by {kind_words(row.kind)}" if pd.notna(row.ratio) else "nothing yet"
        bounds = (_bound(row.upper), _bound(getattr(row, RANK_3)), _bound(getattr(row, EPSNET)))
        cells = (row.k, row.method, words.number(row.value), f"{100 * row.value / unit:.2f}", *bounds, share)
        body.append("".join(f"<td>{escape(str(cell))}</td>" for cell in cells))
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f"<table><tr>{titles}</tr>{''.join(f'<tr>{cells}</tr>' for cells in body)}</table>"


def _bound(value: float) -> str:
    return words.number(value) if pd.notna(value) else "none"
