"""What a sweep takes home: its tables, lists of features, certificates and figures."""

from datetime import UTC, datetime
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import nspca
from nspca.dashboard import export
from nspca.dashboard.app import state, wording
from nspca.dashboard.components.figures import hash_plot
from nspca.dashboard.export import CERTIFICATES, Export, File
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.runs.answer import Answer, bounding
from nspca.dashboard.views import component, statement
from nspca.data.export import name_list, to_gmt, to_rnk
from nspca.plots.sweeps import kind_words
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_bound, format_value, format_value_share
from nspca.problem import Problem
from nspca.specs import SweepSpec
from nspca.specs.published import EPSNET, PROBABILITY, RANK_3

SCORES = "One row for each sample: its name, its score along this component, and its label."
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


def certificates(done: Answer) -> dict[tuple[str, int], tuple[str, nspca.Certificate]]:
    """Return the best certificate of each row with its file name; equal certificates share one."""
    known: dict[int, str] = {}
    named, width = {}, len(str(max(k for _, k in done.sweep)))
    for method, k in done.sweep:
        certificate = done.sweep[method, k].certificate
        if certificate is not None:
            named[method, k] = known.setdefault(id(certificate), f"k{k:0{width}}-{method}"), certificate
    return named


def taken(done: Answer) -> Export:
    """Return what a sweep takes home."""
    of, asked, k = done.of, done.asked, done.k
    ready, missing = sum(k in asked.ks for _, k in done.sweep), ""
    if ready < asked.total:
        missing = f"The run was cancelled: {ready} of {asked.total} problems were ready, and are here."
    known = {} if done.known is None else {"in-or-out": done.known.certificate}
    # A cancelled run ended at the last k, and each k starts from the answer of a smaller one.
    last = max(k for _, k in done.sweep)
    return Export(
        of,
        asked,
        "sweep",
        _files(done),
        dict(certificates(done).values()) | known,
        lambda: proved(done.problem, asked, done.table),
        lambda: figures(done),
        f"{done.id} {done.method} {k} {state.get('within')} {done.drawn and hash_plot(done.drawn)}",
        missing,
        done.own,
        {"k": k, "method": done.method},
        asked.but(ks=sorted({*(k for k in asked.ks if k <= last), *(k for _, k in done.sweep)})),
        statement.state_result(of.dataset, done.problem, done.shown, k, upper=done.limit).text,
    )


def _files(done: Answer) -> dict[str, File]:
    data, k, x, stem = done.of.dataset, done.k, done.x, done.of.stem
    noun, shown, csv = wording.noun(data), f"of k = {k}, {done.method}", component.csv_of
    names = component.used_names(data.feature_names, x)
    paths = {key: f"{CERTIFICATES}{name}.npz" for key, (name, _) in certificates(done).items()}
    least = bounding(done.sweep)
    numbered = [paths[least[key]] if key in least else "" for key in done.sweep]
    files = {
        "report": File(
            lambda: _report(done),
            label="Report of this sweep, HTML",
            name=f"{stem}-sweep.html",
            help="One file with the figure, the numbers, the proofs and the recipe; it needs no network.",
            alone=True,
        ),
        "tables/sweep.csv": File(
            lambda: csv(done.table.assign(certificate=numbered), data),
            "what was found and proved, one row for each method and k",
            "Sweep, CSV",
        ),
        "component": File(
            lambda: csv(component.weights(data, x, done.known), data),
            label="Component, CSV",
            name=f"{stem}-k{k}.csv",
            alone=True,
        ),
        "tables/components.csv": File(
            lambda: csv(component.all_weights(data, done.sweep), data),
            "the weights of every component of the sweep",
        ),
        "lists/features.txt": File(
            lambda: name_list(names).encode(),
            f"the features {shown}, one on each line",
            f"{noun.capitalize()}s in use, TXT",
            f"{stem}-k{k}-{noun}s.txt",
            "One name on each line, the largest weight first.",
        ),
        "lists/ranked.rnk": File(
            lambda: to_rnk(data.feature_names, x),
            f"the features {shown} with their weights, for GSEA",
            "Ranked list, RNK",
            f"{stem}-k{k}.rnk",
            "Name and weight on each line, for enrichment tools such as GSEA.",
        ),
        "lists/components.gmt": File(
            lambda: _sets(done),
            "the features of every component of the sweep as sets",
            "Every component of the sweep, GMT",
            f"{stem}-sweep.gmt",
            "One set on each line, for enrichment tools.",
        ),
    }
    if done.own and done.of.table is None and not data.is_covariance:
        files["tables/scores.csv"] = File(
            lambda: _scores(done),
            f"the score of every sample along the component {shown}",
            "Scores of the samples, CSV",
            f"{stem}-k{k}-scores.csv",
            SCORES,
        )
    known = done.known
    if known is not None:
        within = f"within {100 * known.share:g} % of the optimum"
        partners = np.array([*data.feature_names, ""])  # the last name stands for no partner
        rows = {"feature": partners[:-1], "partner": partners[known.partner], "share": known.share}
        files["tables/in-or-out.csv"] = File(
            lambda: csv(known.frame.assign(**rows), data),
            f"for every feature whether all answers {within} have it, none, or it can be exchanged, and what "
            "it costs",
        )
        files["in-or-out"] = File(
            known.certificate.of_prepared(data.prepared).to_bytes,
            label="In or out, proved, NPZ",
            name=f"{stem}-k{k}-in-or-out.npz",
            help="The certificate of what is solid: `python -m nspca verify` proves it again.",
            alone=True,
        )
    return files


def _sets(done: Answer) -> bytes:
    data = done.of.dataset
    return to_gmt(
        (
            f"k{k}_{method}",
            f"{data.name}, component of {method} with at most {k} features",
            component.weights(data, done.sweep[method, k].components[:, 0])["feature"],
        )
        for method, k in done.sweep
    )


def _scores(done: Answer) -> bytes:
    data = done.of.dataset
    rows = pd.DataFrame({"sample": list(data.sample_names), "score": done.problem.scores(done.x)})
    if data.labels is not None:
        rows["label"] = data.labels
    return component.csv_of(rows, data)


def _titled(drawn: partial[go.Figure]) -> go.Figure:
    return partial(drawn, has_slider=False)()


def _report(done: Answer) -> bytes:
    assert done.drawn is not None  # the page has drawn it
    home = taken(done)
    return home.report(
        export.moving(_titled(done.drawn)), done.asked.to_python(**home.shown), datetime.now(UTC)
    )


def figures(done: Answer) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    data, x = done.of.dataset, done.x
    assert done.drawn is not None  # the page has drawn it
    shown = f"component-of-k-{done.k}-{done.method}"
    drawn = {"variance-by-k": _titled(done.drawn), shown: component.plot(data, x, done.known)()}
    try:
        seen = scored_problem(done.of, done.problem)
    except nspca.InvalidProblem:  # a sample of rows with a constant feature has no figures of samples
        return drawn
    if not data.is_covariance:
        drawn[f"samples-along-{shown}"] = component.along(data, seen, x)()
    heat_map = component.mapped(data, seen, x)
    return drawn if heat_map is None else drawn | {f"heat-map-of-{shown}": heat_map()}


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
    """Return the texts of the cells of each row of the sweep, in the order of `HEAD`."""
    unit, body = problem.leading_eigenvalue or 1.0, []
    for row in table.itertuples():
        value, share = format_value(row.value), format_value_share(row.value, unit)
        limits = [getattr(row, name) for name in ("upper", RANK_3, EPSNET)]
        bounds = [format_bound(limit) if pd.notna(limit) else "none" for limit in limits]
        proof = "nothing yet"
        if pd.notna(row.ratio):
            proof = f"{wording.proof(row.ratio)}, by {kind_words(row.kind)}"
        body.append((str(row.k), str(row.method), value, share, *bounds, proof))
    return body
