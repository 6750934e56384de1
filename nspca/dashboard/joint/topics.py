"""Topics: ranked words per method, the documents that load most on one, and the matching behind it."""

from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint import matching as matching_view
from nspca.dashboard.joint import names as topic_names
from nspca.dashboard.joint import stability
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.joint.views import heading, ordered
from nspca.dashboard.open_data import looked_at
from nspca.dashboard.views.component import labelled
from nspca.data.export import frame_to_csv
from nspca.plots.topics import topic_figure

SUBJECT = Subject(
    "topics",
    "texts",
    "topic",
    "feature",
    "bow-kos",
    "python-docs",
    lambda data: data.image_shape is None,
    8,
    15,
)
MOST_WORDS = 40  # of a topic on the page; the CSV has them all
MOST_COLUMNS = 5
DOCUMENTS = 12
STYLE = """<style>
.nspca-frame { container-type: inline-size; }
.nspca-topics { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr));
  gap: 0.6rem 1rem; margin: 0 0 0.8rem; }
@container (max-width: 640px) {
  .nspca-topics { grid-template-columns: repeat(min(3, var(--columns)), minmax(0, 1fr)); }
}
@container (max-width: 460px) {
  .nspca-topics { grid-template-columns: repeat(min(2, var(--columns)), minmax(0, 1fr)); }
}
.nspca-topics section { min-width: 0; }
.nspca-topics h6 { font-size: 0.85rem; font-weight: 600; margin: 0 0 0.2rem; padding: 0;
  border-bottom: 1px solid rgba(128,128,128,0.4); }
.nspca-topics ol { list-style: none; margin: 0; padding: 0; }
.nspca-topics li { position: relative; display: flex; justify-content: space-between; gap: 0.4rem;
  font-size: 0.88rem; line-height: 1.5;
  margin: 1px 0; padding: 0 0.3rem; border-radius: 3px; }
.nspca-topics li span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nspca-topics li data { font-size: 0.75rem; opacity: 0.75; font-variant-numeric: tabular-nums; }
.nspca-topics li.only span { text-decoration: underline dotted; text-underline-offset: 3px; }
</style>"""


def components(outcome: Outcome) -> None:
    """One row of ranked word lists per method."""
    total, names = outcome.problem.total_variance or 1.0, outcome.of.dataset.feature_names
    results = ordered(outcome.results)
    best = max((m for m in results if nspca.METHODS[m].joint), key=lambda m: results[m].value, default=None)
    known = None if best is None else results[best].components.any(axis=1)
    for method, result in results.items():
        st.markdown(heading(outcome, result))
        beside = (
            None if best is None or method == best else matched(results[best].components, result.components)
        )
        st.html(
            lists(
                result.components,
                result.values / total,
                names,
                known if method != best else None,
                beside,
                called(method),
            )
        )
    if best is not None and len(results) > 1:
        what = "words" if outcome.of.dataset.kind == "words" else "features"
        st.caption(
            f"Topics of the other methods stand where the one of {wording.plain(best)} is that they have "
            "most in common with. "
            f"Dotted lines are under {what} that no topic of {wording.plain(best)} uses. "
            "Bars and numbers are weights."
        )


def called(method: str) -> dict[int, str]:
    """Names that somebody gave to the topics of a method, by their place counted from 0."""
    return {j - 1: name for (whose, j), name in topic_names.given().items() if whose == method}


def matched(X, Y) -> np.ndarray:
    """For each column of X (n, r) the column of Y (n, r) that shares most with it, every one once, so that
    most is shared in all.
    """
    return linear_sum_assignment(-(np.abs(X).T @ np.abs(Y)))[1]


def lists(X, shares, names, known=None, order=None, called=None) -> str:
    """Components (n, r) as lists of names with weights, largest first; names that are not in the mask `known`
    are marked.

    `order` says which component stands in which place, `called` what some of them are called.
    """
    largest = float(np.abs(X).max(initial=0)) or 1.0
    r = X.shape[1]
    columns = -(-r // -(-r // MOST_COLUMNS))  # rows of equal length
    places, called = range(r) if order is None else order, called or {}
    body = "".join(
        _list(f"{j + 1}{' ' * (j in called)}{called.get(j, '')}", X[:, j], shares[j], names, known, largest)
        for j in places
    )
    return (
        f'{STYLE}<div class="nspca-frame"><div class="nspca-topics" '
        f'style="--columns:{columns}">{body}</div></div>'
    )


def _list(title: str, x, share: float, names, known, largest: float) -> str:
    order = np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]
    items = "".join(
        _item(names[i], x[i], largest, known is not None and not known[i]) for i in order[:MOST_WORDS]
    )
    more = f"<li><span>and {len(order) - MOST_WORDS} more</span></li>" if len(order) > MOST_WORDS else ""
    return f"<section><h6>{escape(title)} · {100 * share:.1f} %</h6><ol>{items}{more}</ol></section>"


def _item(name: str, weight: float, largest: float, only: bool) -> str:
    width, colour = 100 * abs(weight) / largest, "217,98,43" if weight < 0 else "42,133,199"
    bar = f"background:linear-gradient(to right,rgba({colour},0.26) {width:.0f}%,transparent {width:.0f}%)"
    safe = escape(str(name))
    return (
        f'<li{" class=only" if only else ""} style="{bar}" '
        f'title="{safe}"><span>{safe}</span><data>{weight:.2f}</data></li>'
    )


def look(outcome: Outcome) -> None:
    """One topic: chosen and named at the left, its words at the right; below, the samples that score highest
    on it.
    """
    data, results = outcome.of.dataset, ordered(outcome.results)
    st.markdown("##### Look at one topic")
    left, right = st.columns([1, 2], gap="medium")
    with left:
        shown = state.get("shown") if state.get("shown") in results else next(iter(results))
        method = st.selectbox("Method", list(results), **state.bind("shown", shown))
        X, names = results[method].components, called(method)
        topic = st.selectbox(
            "Topic",
            list(range(1, X.shape[1] + 1)),
            format_func=lambda j: f"{j}: {names.get(j - 1) or _gist(X[:, j - 1], data.feature_names)}",
            **state.bind("topic", min(max(1, state.get("topic")), X.shape[1])),
        )
        _name(method, topic, names.get(topic - 1, ""), _gist(X[:, topic - 1], data.feature_names))
    with right:
        overall, what = common(data, outcome.of.table is not None)
        figures.draw(
            topic_figure(X[:, topic - 1], data.feature_names, overall, what=what), f"topic_{outcome.run_id}"
        )
    documents(outcome, X[:, topic - 1], topic)
    stability.show(outcome, _recurring)


def _recurring(outcome: Outcome, F: np.ndarray, overlaps: list[float]) -> None:
    """Each topic as the words that come up most, with how often."""
    names, r = outcome.of.dataset.feature_names, F.shape[1]
    most = max(outcome.asked.sizes)
    X = np.where(np.argsort(np.argsort(-F, axis=0, kind="stable"), axis=0) < most, F, 0.0)
    known = outcome.results[outcome.best].components.any(axis=1)
    st.html(lists(X, np.asarray(overlaps).reshape(r), names, known))
    st.caption(
        "Bars and numbers say in which share of the draws a topic has it; dotted lines are under what is in "
        "no topic above. In %: how much of a topic the draws have, weights counted, on average."
    )


def taken(outcome: Outcome) -> dict[str, go.Figure]:
    """The words of each topic of the best method, by name."""
    names, best = outcome.of.dataset.feature_names, outcome.best
    overall, what = common(outcome.of.dataset, outcome.of.table is not None)
    X = ordered(outcome.results)[best].components
    return {
        f"topic-{j:02}-by-{best}": topic_figure(x, names, overall, what=what) for j, x in enumerate(X.T, 1)
    }


def _name(method: str, topic: int, name: str, gist: str) -> None:
    key = f"name_{method}_{topic}"
    about = "Stands above its words and in the CSV; empty takes it back."
    take = lambda: topic_names.give(method, topic, st.session_state[key])  # noqa: E731
    shown = {"max_chars": topic_names.LONGEST, "placeholder": gist, "help": about}
    st.text_input("Name of this topic", on_change=take, **shown, **state.showing(key, name))


def common(data, sampled: bool = False) -> tuple[np.ndarray, str]:
    """How common each feature is, and what that counts: how often a word occurs, and otherwise how much a
    feature varies; `sampled`, among some of the rows.
    """
    if data.is_covariance:
        return np.diag(data.X), "variance"
    if data.kind == "words":
        return np.asarray(data.X.sum(axis=0)).ravel(), f"times in {'some' if sampled else 'all'} documents"
    X = data.X
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = X.multiply(X) if sp.issparse(X) else np.square(X.astype(float))
    variances = np.maximum(np.asarray(squares.mean(axis=0)).ravel() - mean**2, 0.0)
    return variances, f"variance{' in some rows' * sampled}"


def documents(outcome: Outcome, x: np.ndarray, topic: int) -> None:
    """The samples that score highest on x (n,)."""
    data = outcome.of.dataset
    if data.is_covariance:
        st.caption("This data set is a covariance matrix: there are no samples to show along a topic.")
        return
    what = "documents" if data.kind == "words" else "samples"
    try:
        problem = looked_at(outcome.of, outcome.problem)
    except nspca.InvalidProblem:
        st.caption(f"The {what} that load most are left out: some features take one value in a sample.")
        return
    st.markdown(f"##### The {what} that load most")
    if outcome.of.table is not None:
        st.caption(f"Among {len(data.sample_names):,} {what} chosen at random.")
    st.dataframe(
        loading_most(data, problem, x),
        hide_index=True,
        height="content",
        alt=f"The {what} with the largest scores on topic {topic}",
        column_config={
            "score": st.column_config.NumberColumn(
                format="%.4g", help="Along the topic, in the units of the data."
            )
        },
    )
    st.download_button(
        f"{what.capitalize()}, CSV",
        lambda: frame_to_csv(labelled(loading_most(data, problem, x, len(data.sample_names)), data)),
        f"topic-{topic}-{what}.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
    )


def _gist(x, names, most: int = 4) -> str:
    return ", ".join(str(names[i])[:24] for i in np.argsort(-np.abs(x), kind="stable")[:most] if x[i])


def loading_most(data, problem, x, most: int = DOCUMENTS) -> pd.DataFrame:
    """Samples by score along x (n,), largest first, with their labels, and for counts the words of x that
    they contain.
    """
    scores = problem.scores(x)
    what = "documents" if data.kind == "words" else "samples"
    order = np.argsort(-scores, kind="stable")[:most]
    rows = {what[:-1]: [data.sample_names[i] for i in order], "score": scores[order]}
    if data.labels is not None:
        rows["label"] = [str(data.labels[i]) for i in order]
    if data.kind == "words" and sp.issparse(data.X):
        rows["words of the topic in it"] = [_contains(data, i, x) for i in order]
    return pd.DataFrame(rows)


def _contains(data, row: int, x) -> str:
    one = data.X[[row]].tocoo()
    found = [(count, data.feature_names[j]) for j, count in zip(one.coords[1], one.data, strict=True) if x[j]]
    return ", ".join(f"{name} {count:g}" for count, name in sorted(found, key=lambda pair: -pair[0]))


EMPTY = "Nothing has run yet. Choose how many topics of how many features, and press Find; they appear here."
VIEW = View(components, look, matching_view.show, EMPTY, taken)
