"""What several components take home: tables, gene lists, the certificate and figures."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from nspca.dashboard.app import state, wording
from nspca.dashboard.export import Export, File
from nspca.dashboard.joint import lists, methods, samples
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.component import csv_of
from nspca.data.export import clean_name, to_gmt, to_rnk
from nspca.plots.theme import largest_weights
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_bound, format_value, format_value_share
from nspca.proving import EXHAUSTIVE
from nspca.result import Status

METHODS, SAMPLES = "variance-by-method", "samples-along-components"
UP, DOWN = "_UP", "_DN"  # endings of the two sets of a component with weights of both signs, as in MSigDB
RNK_HELP = "All features by their correlation with the scores, for enrichment tools."
CHECK = "Anyone who has the data can check it: python -m nspca verify DATA certificate.npz"


def taken(answer: Answer, drawn: Callable[[Answer], Mapping[str, go.Figure]], headline: str = "") -> Export:
    """Return what the components take home; `drawn` returns the figures of their view."""
    nouns, asked, proof = answer.nouns, answer.asked, answer.certificate
    # Files are made where nothing is known of the address, so the names are looked up before.
    named = lists.given_names()
    chosen = [state.get(name) for name in ("group", "across", "up")]
    late = [method for method in asked.methods if method not in answer.results]
    stopped = [name for name, result in answer.results.items() if result.status is Status.CANCELLED]
    missing = f"Not here: {wording.listed(late)}. " if late else ""
    missing += f"Stopped before its end: {wording.listed(stopped)}." if stopped else ""
    return Export(
        answer.of,
        asked,
        nouns.many,
        files(answer, named),
        {} if proof is None else {nouns.many: proof},
        lambda: _proved(answer),
        lambda: figures(answer, drawn(answer)),
        f"{answer.id} {list(answer.results)} {chosen} {proof and proof.upper} {sorted(named.items())}",
        missing=missing,
        headline=headline,
        shown=shown(answer),
    )


def files(answer: Answer, named: Mapping[tuple[str, int], str]) -> dict[str, File]:
    """Return the tables and lists of the components, by their path in the ZIP."""
    nouns, data, stem = answer.nouns, answer.of.dataset, f"{answer.of.stem}-{answer.nouns.many}"
    title, csv, proof = nouns.many.capitalize(), csv_of, answer.certificate
    found = {
        "tables/components.csv": File(
            lambda: csv(weights(answer, named), data),
            "the weights of all components, with names",
            f"{title}, CSV",
            f"{stem}.csv",
            f"Every {nouns.feature} of every {nouns.one} with its weight.",
        ),
        "arrays": File(lambda: arrays(answer), label=f"{title}, NPZ", name=f"{stem}.npz", alone=True),
    }
    if nouns.kind != "image":
        found["enrichment/components.gmt"] = File(
            lambda: gene_sets(answer, named),
            "one set of features for each component, for enrichment tools",
            f"{title}, GMT",
            f"{stem}.gmt",
            "One set for each component, for enrichment tools.",
            alone=nouns.kind == "words",
        )
    scores = None if data.is_covariance else samples.scores_of(answer)
    if scores is not None:
        found["tables/scores.csv"] = File(
            lambda: csv(samples.score_table(answer, scores), data),
            "the samples along each component",
            "Scores, CSV",
        )
    if nouns.kind == "table" and answer.of.table is None and (data.is_covariance or scores is not None):
        said = f"all {nouns.feature}s by their correlation with the scores of a component"
        for j in range(1, answer.asked.r + 1):
            name, is_shown = f"{nouns.one}-{j}.rnk", j == lists.chosen_number(answer)
            label = f"Ranked list of {nouns.one} {j}, RNK" if is_shown else ""
            make = lambda name=name: ranked_lists(answer)[name]  # noqa: E731
            found[f"enrichment/{name}"] = File(make, said, label, "", RNK_HELP)
            said = ""
    found["tables/methods.csv"] = File(
        lambda: csv(methods.table(answer)[0], data),
        "what each method found, in numbers",
        "Methods, CSV",
        f"{stem}-methods.csv",
    )
    if proof is not None:
        made = proof.of_prepared(data.prepared).to_bytes
        name = f"{stem}-certificate.npz"
        found["certificate"] = File(made, label="Certificate, NPZ", name=name, help=CHECK, alone=True)
    return found


def shown(answer: Answer) -> dict[str, str]:
    """Return the best method and the effort of the proof, for `Spec.to_python`."""
    if not answer.is_proved_further:
        return {"method": answer.method}
    return {"method": answer.method, "effort": EXHAUSTIVE}


def weights(answer: Answer, named: Mapping[tuple[str, int], str] | None = None) -> pd.DataFrame:
    """Return a table of all weights of all components of all methods, with the visitor's names for them."""
    one, names, rows = answer.nouns.one, answer.of.dataset.feature_names, []
    for method, result in answer.ordered.items():
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


def arrays(answer: Answer) -> bytes:
    """Return components (n, r), values and feature names of every method as NPZ."""
    buffer, data = io.BytesIO(), answer.of.dataset
    found: dict[str, Any] = {}
    for method, result in answer.ordered.items():
        found |= {f"components_{method}": result.components, f"values_{method}": result.values}
    source = f"{data.name} ({wording.SOURCES[data.source]})"
    np.savez_compressed(buffer, feature_names=np.array(data.feature_names), data=np.array(source), **found)
    return buffer.getvalue()


def gene_sets(answer: Answer, named: Mapping[tuple[str, int], str] | None = None) -> bytes:
    """Return the components of the best method as GMT; see `signed_sets`."""
    best, named = answer.method, named or {}
    X = answer.displayed.components
    about, sets, known = f"{answer.of.dataset.name}, {best}", [], set()
    for j, x in enumerate(X.T, 1):
        name = clean_name(named.get((best, j), "")) or f"{answer.of.stem}_{answer.nouns.one}_{j}"
        name = f"{name}_{j}" if name in known else name
        known.add(name)
        sets += [
            (title, about, members)
            for title, members in signed_sets(name, answer.of.dataset.feature_names, x)
        ]
    return to_gmt(sets)


def signed_sets(name: str, names: Sequence[str], x: np.ndarray) -> list[tuple[str, list[str]]]:
    """Return the features of a component x (n,) as named sets, largest weight first.

    A component with weights of both signs gives two sets, whose names end with `UP` and `DOWN`.
    """
    up, down = ([str(names[i]) for i in largest_weights(x) if x[i] * sign > 0] for sign in (1, -1))
    return [(f"{name}{UP}", up), (f"{name}{DOWN}", down)] if up and down else [(name, up or down)]


def ranked_lists(answer: Answer) -> dict[str, bytes]:
    """Return a ranked list (RNK) by file name: all features by their correlation with a component's scores.

    Enrichment tools need all features, not only those of a component. For a covariance, the correlations are
    computed from its entries. A folder has no lists, since its rows are not in memory.
    """
    data = answer.of.dataset
    X = answer.displayed.components
    if answer.of.table is not None:
        return {}
    if data.is_covariance:
        spread = np.sqrt(np.clip(np.diag(data.X), 0, None))
        length = np.sqrt(np.clip(np.einsum("ij,ij->j", X, data.X @ X), 0, None))
        sizes = np.outer(spread, length)
        R = np.divide(data.X @ X, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    else:
        scores = samples.scores_of(answer)
        if scores is None:
            return {}
        R = samples.correlations(data.X, scores)
    return {
        f"{answer.nouns.one}-{j}.rnk": to_rnk(data.feature_names, np.round(r, 8))
        for j, r in enumerate(R.T, 1)
    }


def figures(answer: Answer, drawn: Mapping[str, go.Figure]) -> dict[str, go.Figure]:
    """Return the figures of the result by name, with those of its view."""
    found = {METHODS: methods.cumulative(answer), **drawn}
    mapped = samples.drawn(answer)
    return found if mapped is None else found | {SAMPLES: mapped}


def _proved(answer: Answer) -> Markup:
    rows = []
    for method, result in answer.ordered.items():
        cells = (
            method,
            format_value(result.value),
            format_value_share(result.value, answer.total),
            wording.proof(result.ratio),
        )
        rows.append(cells)
    head = ("Method", "Variance", "Of the total", "Proved")
    many = answer.nouns.count(answer.asked.r)
    signs = " with nonnegative weights" if answer.problem.nonneg else ""
    none = "Nothing is proved here."
    if answer.certificate is not None:
        upper = format_bound(answer.certificate.upper)
        none = f"No {many}{signs} of these sizes that do not overlap explain more than {upper}."
    return render("proved", lines=(none,), head=head, rows=rows, kind="")
