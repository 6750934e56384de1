"""Downloads of several components: single files, and everything as one ZIP.

`JointPage.take_home` calls `of`.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from nspca.dashboard.answer_page import Download, TakeHome
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.buttons import BYTES, PLAIN
from nspca.dashboard.export.archive import File
from nspca.dashboard.export.whole import Contents, Whole
from nspca.dashboard.joint import lists, methods, samples
from nspca.dashboard.joint import names as given_names
from nspca.dashboard.joint.headline import is_unfinished
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.views.component import csv_of
from nspca.data.genesets import clean_name, to_gmt, to_rnk
from nspca.plots.theme import largest_weights
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_bound, format_value, format_value_share
from nspca.proving import EXHAUSTIVE

METHODS, SAMPLES = "variance-by-method", "samples-along-components"
UP, DOWN = "_UP", "_DN"
"""Endings of the two sets of a component with weights of both signs, as in MSigDB."""
RNK_HELP = "All features by their correlation with the scores, for enrichment tools."
GMT_HELP = "One set for each component, for enrichment tools."
CHECK = "Anyone who has the data can check it: python -m nspca verify DATA certificate.npz"


def of(outcome: Outcome, view: View) -> TakeHome:
    """Return the downloads of a finished run."""
    # Files are made where nothing is known of the address, so the names are looked up before.
    named = given_names.given()
    proved = outcome.certificate and outcome.certificate.upper
    drawn = [state.get(name) for name in ("over", "group", "across", "up")]
    key = f"{outcome.run_id} {list(outcome.results)} {drawn} {proved} {sorted(named.items())}"
    return TakeHome(
        whole(outcome),
        key,
        lambda: figures(outcome, view),
        lambda: contents(outcome, named),
        _files(outcome, named),
    )


def _files(outcome: Outcome, named: Mapping[tuple[str, int], str]) -> list[Download]:
    """Return the single files; `named` has the names that the visitor gave to components."""
    about, data, stem = outcome.about, outcome.of.dataset, f"{outcome.of.stem}-{outcome.about.many}"
    title = about.many.capitalize()
    files = [
        Download(
            f"{title}, CSV",
            lambda: csv_of(weights(outcome, named), data),
            f"{stem}.csv",
            help=f"Every {about.feature} of every {about.one} with its weight.",
        ),
        Download(f"{title}, NPZ", lambda: arrays(outcome), f"{stem}.npz", BYTES),
    ]
    if about.kind != "image":
        files.append(
            Download(f"{title}, GMT", lambda: gene_sets(outcome, named), f"{stem}.gmt", PLAIN, GMT_HELP)
        )
    if not data.is_covariance:
        files.append(Download("Scores, CSV", lambda: _scores(outcome), f"{outcome.of.stem}-scores.csv"))
    if about.kind == "table" and outcome.of.table is None:
        number = lists.at(outcome)
        name = f"{about.one}-{number}.rnk"
        make = lambda: ranked_lists(outcome)[name]  # noqa: E731
        label = f"Ranked list of {about.one} {number}, RNK"
        files.append(Download(label, make, f"{outcome.of.stem}-{name}", PLAIN, RNK_HELP))
    files.append(
        Download(
            "Methods, CSV",
            lambda: csv_of(methods.table(outcome)[0], data),
            f"{stem}-methods.csv",
        )
    )
    if outcome.certificate is not None:
        proof = outcome.certificate.of_prepared(data.prepared)
        files.append(
            Download("Certificate, NPZ", proof.to_bytes, f"{stem}-certificate.npz", BYTES, help=CHECK)
        )
    return files


def _scores(outcome: Outcome) -> bytes:
    """Return the scores of the samples along each component as CSV."""
    scores = samples.scores_of(outcome)
    frame = pd.DataFrame() if scores is None else samples.score_table(outcome, scores)
    return csv_of(frame, outcome.of.dataset)


def shown(outcome: Outcome) -> dict[str, str]:
    """Return the best method and the effort of the proof, for `Spec.to_python`."""
    if not outcome.is_proved_further:
        return {"method": outcome.best}
    return {"method": outcome.best, "effort": EXHAUSTIVE}


def weights(outcome: Outcome, named: Mapping[tuple[str, int], str] | None = None) -> pd.DataFrame:
    """Return a table of all weights of all components of all methods, with the visitor's names for them."""
    one, names, rows = outcome.about.one, outcome.of.dataset.feature_names, []
    for method, result in outcome.ordered.items():
        for j, x in enumerate(result.components.T):
            rows += [
                (method, j + 1, rank + 1, names[i], x[i], x[i] ** 2, result.values[j])
                for rank, i in enumerate(largest_weights(x))
            ]
    frame = pd.DataFrame(rows, columns=["method", one, "rank", "feature", "weight", "share", "explained"])
    if named:
        key = zip(frame["method"], frame[one], strict=True)
        frame.insert(2, "name", [named.get(pair, "") for pair in key])
    return frame


def arrays(outcome: Outcome) -> bytes:
    """Return components (n, r), values and feature names of every method as NPZ."""
    buffer, data = io.BytesIO(), outcome.of.dataset
    found: dict[str, Any] = {}
    for method, result in outcome.ordered.items():
        found |= {f"components_{method}": result.components, f"values_{method}": result.values}
    source = f"{data.name} ({wording.SOURCES[data.source]})"
    np.savez_compressed(buffer, feature_names=np.array(data.feature_names), data=np.array(source), **found)
    return buffer.getvalue()


def gene_sets(outcome: Outcome, named: Mapping[tuple[str, int], str] | None = None) -> bytes:
    """Return the components of the best method as GMT; see `signed_sets`."""
    best, named = outcome.best, named or {}
    X = outcome.shown.components
    about, sets, known = f"{outcome.of.dataset.name}, {best}", [], set()
    for j, x in enumerate(X.T, 1):
        name = clean_name(named.get((best, j), "")) or f"{outcome.of.stem}_{outcome.about.one}_{j}"
        name = f"{name}_{j}" if name in known else name
        known.add(name)
        sets += [
            (title, about, members)
            for title, members in signed_sets(name, outcome.of.dataset.feature_names, x)
        ]
    return to_gmt(sets)


def signed_sets(name: str, names: Sequence[str], x: np.ndarray) -> list[tuple[str, list[str]]]:
    """Return the features of a component x (n,) as named sets, largest weight first.

    A component with weights of both signs gives two sets, whose names end with `UP` and `DOWN`.
    """
    up, down = ([str(names[i]) for i in largest_weights(x) if x[i] * sign > 0] for sign in (1, -1))
    return [(f"{name}{UP}", up), (f"{name}{DOWN}", down)] if up and down else [(name, up or down)]


def ranked_lists(outcome: Outcome) -> dict[str, bytes]:
    """Return a ranked list (RNK) by file name: all features by their correlation with a component's scores.

    Enrichment tools need all features, not only those of a component. For a covariance, the correlations are
    computed from its entries. A folder has no lists, since its rows are not in memory.
    """
    data = outcome.of.dataset
    X = outcome.shown.components
    if outcome.of.table is not None:
        return {}
    if data.is_covariance:
        spread = np.sqrt(np.clip(np.diag(data.X), 0, None))
        length = np.sqrt(np.clip(np.einsum("ij,ij->j", X, data.X @ X), 0, None))
        sizes = np.outer(spread, length)
        R = np.divide(data.X @ X, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    else:
        scores = samples.scores_of(outcome)
        if scores is None:
            return {}
        R = samples.correlations(data.X, scores)
    return {
        f"{outcome.about.one}-{j}.rnk": to_rnk(data.feature_names, np.round(r, 8))
        for j, r in enumerate(R.T, 1)
    }


def figures(outcome: Outcome, view: View) -> dict[str, go.Figure]:
    """Return the figures of the result, by name."""
    found = {METHODS: methods.cumulative(outcome), **view.figures(outcome)}
    mapped = samples.drawn(outcome)
    return found if mapped is None else found | {SAMPLES: mapped}


def contents(outcome: Outcome, named: Mapping[tuple[str, int], str] | None = None) -> Contents:
    """Return the content of the ZIP besides its figures; `named` has the visitor's names for components."""
    return Contents(
        _tables(outcome, named),
        {} if outcome.certificate is None else {outcome.about.many: outcome.certificate},
        "the proof: it bounds what any method can explain",
        _proved(outcome),
    )


def _tables(outcome: Outcome, named: Mapping[tuple[str, int], str] | None) -> dict[str, File]:
    """Return the tables of the ZIP, by path."""
    data, about = outcome.of.dataset, outcome.about
    frames = {
        "methods": (methods.table(outcome)[0], "what each method found, in numbers"),
        "components": (weights(outcome, named), "the weights of all components, with names"),
    }
    scores = None if data.is_covariance else samples.scores_of(outcome)
    if scores is not None:
        frames["scores"] = (samples.score_table(outcome, scores), "the samples along each component")
    files = {f"tables/{name}.csv": File(csv_of(frame, data), said) for name, (frame, said) in frames.items()}
    if about.kind == "table":
        said = "one set of features for each component, for enrichment tools"
        files["enrichment/components.gmt"] = File(gene_sets(outcome, named), said)
        said = f"all {about.feature}s by their correlation with the scores of a component"
        for name, content in ranked_lists(outcome).items():
            files[f"enrichment/{name}"] = File(content, said)
            said = ""
    return files


def whole(outcome: Outcome) -> Whole:
    """Return the description of the result for its export."""
    about, asked = outcome.about, outcome.asked
    late = [method for method in asked.methods if method not in outcome.results]
    stopped = [method for method, result in outcome.results.items() if is_unfinished(result)]
    missing = f"Not here: {wording.listed(late)}. " if late else ""
    missing += f"Stopped before its end: {wording.listed(stopped)}." if stopped else ""
    return Whole(outcome.of, asked, about.many, missing, shown=shown(outcome))


def _proved(outcome: Outcome) -> Markup:
    """Return HTML with a row for each method, and the proved bound."""
    rows = []
    for method, result in outcome.ordered.items():
        cells = (
            method,
            format_value(result.value),
            format_value_share(result.value, outcome.total),
            wording.proof(result.ratio),
        )
        rows.append(cells)
    head = ("Method", "Variance", "Of the total", "Proved")
    many = outcome.about.count(outcome.asked.r)
    signs = " with nonnegative weights" if outcome.problem.nonneg else ""
    none = "Nothing is proved here."
    if outcome.certificate is not None:
        upper = format_bound(outcome.certificate.upper)
        none = f"No {many}{signs} of these sizes that do not overlap explain more than {upper}."
    return render("proved", lines=(none,), head=head, rows=rows, kind="")
