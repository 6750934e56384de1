"""Downloads of a sweep: single files, and everything as one ZIP.

`SweepPage.view` makes a `Finished`, and `SweepPage.take_home` calls `take_home`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import nspca
from nspca.dashboard.answer_page import Download, TakeHome
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.buttons import BYTES, PLAIN
from nspca.dashboard.components.figures import hash_plot
from nspca.dashboard.export import page
from nspca.dashboard.export.archive import File
from nspca.dashboard.export.whole import CERTIFICATES, Contents, Whole
from nspca.dashboard.open_data import Chosen, scored_problem
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.attempts import Attempt, Proof
from nspca.dashboard.sweep import report
from nspca.dashboard.views import component
from nspca.data import genesets
from nspca.problem import Problem
from nspca.specs import SweepSpec

SCORES = "One row for each sample: its name, its score along this component, and its label."
CURVE, COMPONENT, SAMPLES, MAP = "variance-by-k", "component", "samples", "heat-map"


@dataclass(frozen=True, eq=False)
class Finished:
    """A finished sweep in the state that its page shows.

    Parameters
    ----------
    about, asked : data and question
    problem : the problem with the sign of the question
    sweep : the results
    tried : searches for the optimum, whose answers and proofs may be better than those of the sweep
    table : rows of the sweep with the best bound of each k
    k, method : the component that is shown
    own : whether the visitor owns the data, so that downloads may contain them
    known : membership of the features, if computed
    drawn : plot of the curve
    """

    about: Chosen
    problem: Problem
    asked: SweepSpec
    sweep: nspca.Sweep
    tried: list[Attempt]
    table: pd.DataFrame
    k: int
    method: str
    own: bool = True
    known: nspca.Membership | None = None
    drawn: partial[go.Figure] | None = None

    @property
    def scored(self) -> bool:
        """Tell whether scores can be downloaded: samples are in memory, and the visitor owns the data."""
        return self.own and self.about.table is None and not self.about.dataset.is_covariance

    @property
    def proof(self) -> Proof | None:
        """The best proof about the shown component."""
        return proofs.best(self.shown, self.tried, self.k)

    @property
    def certificate(self) -> nspca.Certificate | None:
        """The certificate of the best proof about the shown component."""
        return None if self.proof is None else self.proof.certificate

    @property
    def shown(self) -> nspca.Result:
        """The result of the shown component."""
        return self.sweep[self.method, self.k]

    @property
    def whole(self) -> Whole:
        """The description of the sweep for its ZIP."""
        ready, total, missing = len(self.sweep), self.asked.total, ""
        if ready < total:
            missing = f"The run was cancelled: {ready} of {total} problems were ready, and are here."
        shown = {"k": self.k, "method": self.method}
        return Whole(self.about, self.asked, "sweep", missing, self.own, shown)


def take_home(done: Finished, name: str) -> TakeHome:
    """Return the downloads of a sweep; `name` is the id of its run."""
    curve, about = done.drawn, done.about
    assert curve is not None
    data, k, x = about.dataset, done.k, done.shown.components[:, 0]
    files = [
        Download(
            "Report of this sweep, HTML",
            lambda: _report(done, curve()),
            f"{about.stem}-sweep.html",
            "text/html",
            "One file with the figure, the numbers, the proofs and the recipe; it needs no network.",
        ),
        Download(
            "Sweep, CSV",
            lambda: component.csv_of(done.table, data),
            f"{about.stem}-sweep.csv",
        ),
        Download(
            "Component, CSV",
            lambda: component.csv_of(component.weights(data, x, done.known), data),
            f"{about.stem}-k{k}.csv",
        ),
    ]
    files += _lists(done)
    if done.known is not None:
        proof = done.known.certificate.of_prepared(data.prepared)
        files.append(
            Download(
                "In or out, proved, NPZ",
                proof.to_bytes,
                f"{about.stem}-k{k}-in-or-out.npz",
                BYTES,
                "The certificate of what is solid: `python -m nspca verify` proves it again.",
            )
        )
    return TakeHome(
        done.whole,
        f"{name} {done.method} {k} {state.get('within')} {hash_plot(curve)}",
        lambda: figures(done, curve()),
        lambda: contents(done),
        files,
    )


def _lists(done: Finished) -> list[Download]:
    """Return files for other programs: features, ranked list, all components, and scores if there are any."""
    data, k, x, stem = done.about.dataset, done.k, done.shown.components[:, 0], done.about.stem
    names = component.used_names(data.feature_names, x)
    noun = wording.noun(data)
    files = [
        Download(
            f"{noun.capitalize()}s in use, TXT",
            lambda: genesets.name_list(names).encode(),
            f"{stem}-k{k}-{noun}s.txt",
            PLAIN,
            "One name on each line, the largest weight first.",
        ),
        Download(
            "Ranked list, RNK",
            lambda: genesets.to_rnk(data.feature_names, x),
            f"{stem}-k{k}.rnk",
            PLAIN,
            "Name and weight on each line, for enrichment tools such as GSEA.",
        ),
        Download(
            "Every component of the sweep, GMT",
            lambda: _sets(done),
            f"{stem}-sweep.gmt",
            PLAIN,
            "One set on each line, for enrichment tools.",
        ),
    ]
    if done.scored:
        name = f"{stem}-k{k}-scores.csv"
        files.append(Download("Scores of the samples, CSV", lambda: _scores(done), name, help=SCORES))
    return files


def _sets(done: Finished) -> bytes:
    """Return the features of every component of the sweep as a GMT file."""
    data = done.about.dataset
    return genesets.to_gmt(
        (
            f"k{k}_{method}",
            f"{data.name}, component of {method} with at most {k} features",
            component.weights(data, done.sweep[method, k].components[:, 0])["feature"],
        )
        for method, k in done.sweep
    )


def _scores(done: Finished) -> bytes:
    """Return the scores of the samples along the shown component as CSV, with labels if there are any."""
    data = done.about.dataset
    rows = pd.DataFrame(
        {"sample": list(data.sample_names), "score": done.problem.scores(done.shown.components[:, 0])}
    )
    if data.labels is not None:
        rows["label"] = data.labels
    return component.csv_of(rows, data)


def _report(done: Finished, curve: go.Figure) -> bytes:
    """Return the HTML report of a sweep, with an interactive curve."""
    return page.html(
        done.about,
        datetime.now(UTC),
        what=done.whole.what,
        asked=done.whole.line,
        pictures=report.moving(curve),
        proved=report.proved(done.problem, done.asked, done.table),
        code=done.asked.to_python(**done.whole.shown),
    )


def figures(done: Finished, curve: go.Figure) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    data, x = done.about.dataset, done.shown.components[:, 0]
    drawn = {CURVE: curve, COMPONENT: component.plot(data, x, done.known)()}
    try:
        seen = scored_problem(done.about, done.problem)
    except nspca.InvalidProblem:  # a sample of rows with a constant feature has no figures of samples
        return drawn
    if not data.is_covariance:
        drawn[SAMPLES] = component.along(data, seen, x)()
    heat_map = component.mapped(data, seen, x)
    return drawn if heat_map is None else drawn | {MAP: heat_map}


def contents(done: Finished) -> Contents:
    """Return the content of the ZIP of a sweep, besides its figures."""
    certificates, named = _certificates(done)
    shown = f"the component of k = {done.k}, {done.method}"
    captions = {
        CURVE: "the curve with its bounds",
        COMPONENT: shown,
        SAMPLES: f"the samples along {shown}",
        MAP: f"samples and features of {shown}",
    }
    # A cancelled run ended at the last k, and each k starts from the answer of a smaller one.
    last = max(k for _, k in done.sweep)
    data = done.about.dataset
    every = component.csv_of(component.all_weights(data, done.sweep), data)
    return Contents(
        {
            "tables/sweep.csv": File(
                _rows(done, named), "what was found and proved, one row for each method and k"
            ),
            "tables/components.csv": File(every, "the weights of every component of the sweep"),
            **_features(done),
            **_for_others(done),
        },
        certificates if done.known is None else certificates | {"in-or-out": done.known.certificate},
        "the proofs; tables/sweep.csv says which row each is of",
        report.proved(done.problem, done.asked, done.table),
        captions,
        done.asked.but(ks=[k for k in done.asked.ks if k <= last]),
    )


def _certificates(
    done: Finished,
) -> tuple[dict[str, nspca.Certificate], dict[tuple[str, int], str]]:
    """Return the distinct best certificates by file name, and the file name of each row."""
    known: dict[int, str] = {}
    found: dict[str, nspca.Certificate] = {}
    named = {}
    width = len(str(max(k for _, k in done.sweep)))
    for method, k in done.sweep:
        proof = proofs.best(done.sweep[method, k], done.tried, k)
        if proof is None:
            continue
        name = known.setdefault(id(proof.certificate), f"k{k:0{width}}-{method}")
        found[name] = proof.certificate
        named[method, k] = f"{CERTIFICATES}{name}.npz"
    return found, named


def _rows(done: Finished, named: Mapping[tuple[str, int], str]) -> bytes:
    """Return the table of the sweep as CSV, with the name of the certificate of each row."""
    files = [named.get((row.method, row.k), "") for row in done.table.itertuples()]
    return component.csv_of(done.table.assign(certificate=files), done.about.dataset)


def _features(done: Finished) -> dict[str, File]:
    """Return the table of all features with their membership; empty without a membership."""
    if done.known is None:
        return {}
    data, known = done.about.dataset, done.known
    names = np.array([*data.feature_names, ""])  # the last name stands for no partner
    rows = known.frame.assign(feature=names[:-1], partner=names[known.partner], share=known.share)
    within = f"within {100 * known.share:g} % of the optimum"
    return {
        "tables/in-or-out.csv": File(
            component.csv_of(rows, data),
            f"for every feature whether all answers {within} have it, none, or it can be exchanged, and what "
            "it costs",
        ),
    }


def _for_others(done: Finished) -> dict[str, File]:
    """Return files for other programs: lists of features, and the scores of the samples."""
    shown = f"of k = {done.k}, {done.method}"
    features, ranked, sets, *scores = _lists(done)
    files = {
        "lists/features.txt": File(features.make(), f"the features {shown}, one on each line"),
        "lists/ranked.rnk": File(ranked.make(), f"the features {shown} with their weights, for GSEA"),
        "lists/components.gmt": File(sets.make(), "the features of every component of the sweep as sets"),
    }
    for one in scores:
        files["tables/scores.csv"] = File(
            one.make(), f"the score of every sample along the component {shown}"
        )
    return files
