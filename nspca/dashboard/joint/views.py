"""What parts and topics have in common: the gain and the proof in words, a table of the methods, cumulative variance, exports."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.browser import figures
from nspca.dashboard.browser.live import live_plot
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.joint.request import snippet
from nspca.dashboard.proof import panel as proof_panel
from nspca.dashboard.runs import methods
from nspca.dashboard.shell import words
from nspca.dashboard.views.component import labelled
from nspca.data.export import frame_to_csv
from nspca.plots import kind_words
from nspca.plots.joint import cumulative_figure
from nspca.result import Result

CHECK = "Anyone who has the data can check it: python -m nspca verify DATA certificate.npz"


def ordered(results: dict[str, Result]) -> dict[str, Result]:
    """Components found at once with the largest first; one by one the order in which they were found is the point.

    Each has the sign with which its weights add up to a positive number: the other one explains the same, but reads upside down.
    """
    return {method: _turned(result, nspca.METHODS[method].joint) for method, result in results.items()}


def _turned(result: Result, by_size: bool) -> Result:
    X, order = result.components, np.arange(result.values.size)
    if by_size:
        order = np.argsort(-result.values, kind="stable")
    return replace(result, components=(X * np.where(X.sum(axis=0) < 0, -1.0, 1.0))[:, order], values=result.values[order])


def gain(results: dict[str, Result]) -> tuple[str, str, float] | None:
    """The best method that works at once, the best that works one by one, and by how much the first is above, in percent."""
    groups = [{m: r.value for m, r in results.items() if nspca.METHODS[m].joint is at_once} for at_once in (True, False)]
    if not all(groups):
        return None
    joint, single = (max(group, key=group.get) for group in groups)
    return (joint, single, 100 * (groups[0][joint] / groups[1][single] - 1)) if groups[1][single] > 0 else None


def verdict(outcome: Outcome) -> None:
    """The gain, and what is proved."""
    found = gain(outcome.results)
    best = max(outcome.results.values(), key=lambda result: result.value)
    share = 100 * best.value / (outcome.problem.total_variance or 1.0)
    many = outcome.about.count(outcome.asked.r)
    if found is None:
        st.markdown(f"#### {words.plain(best.method)}: {many} explain {share:.2f} % of the total variance.")
    else:
        joint, single, percent = found
        better = f"{percent:.1f} % more" if percent >= 0 else f"{-percent:.1f} % less"
        st.markdown(f"#### Found at once, {many} explain {better} than found one by one.")
        best_of = f", {share:.2f} % of the total variance," if outcome.results[joint] is best else ""
        first, second = outcome.results[joint].value, outcome.results[single].value
        st.markdown(
            f"{words.plain(joint).capitalize()} explains {words.number(first)}{best_of or ','} the best one by one ({words.plain(single)}) "
            f"{words.number(second)}."
        )
    if best.certificate is not None:
        sentence = words.proof(best.ratio)
        st.markdown(
            f":material/verified: {sentence[0].upper()}{sentence[1:]}: no {many} of these sizes that do not overlap explain more than "
            f"{words.bound(best.certificate.upper)}, by {words.plain(kind_words(best.certificate.kind))}."
        )
        if not outcome.live:
            proof_panel.verify_button(outcome.of, outcome.problem, best.certificate)
            proof_panel.verified(best, best.certificate)
    elif not outcome.live and outcome.asked.effort is None:
        st.caption("Without a proof: choose an effort for it above to learn how much better it could be.")


def table(outcome: Outcome) -> pd.DataFrame:
    """One row per method."""
    results = outcome.results
    at_once = {method: result for method, result in results.items() if nspca.METHODS[method].joint}
    best = max(at_once or results, key=lambda method: results[method].value)
    used = {method: np.count_nonzero(result.components, axis=1) for method, result in results.items()}
    total = outcome.problem.total_variance or 1.0
    return pd.DataFrame(
        {
            "method": list(results),
            "found": [methods.how(method) for method in results],
            "explained": [result.value for result in results.values()],
            "share": [100 * result.value / total for result in results.values()],
            "gain": [_above(results[best].value, result.value) for result in results.values()],
            "features": [int(np.count_nonzero(count)) for count in used.values()],
            "shared": [int(np.count_nonzero(count > 1)) for count in used.values()],
            "common": [int(np.count_nonzero((count > 0) & (used[best] > 0))) for count in used.values()],
            "least": [result.ratio * 100 if result.ratio is not None else None for result in results.values()],
            "seconds": [result.seconds for result in results.values()],
        }
    ), best


def _above(value: float, other: float) -> float | None:
    """By how much `value` is larger, in percent."""
    return 100 * (value / other - 1) if other > 0 else None


def figures_of(outcome: Outcome) -> None:
    """Cumulative variance beside the table of the methods."""
    values = {method: result.values for method, result in ordered(outcome.results).items()}
    upper = next((r.certificate.upper for r in outcome.results.values() if r.certificate), None)
    figure = cumulative_figure(values, outcome.problem.total_variance or 1.0, upper=upper)
    _table(outcome)
    if outcome.live:
        live_plot(figure, key=f"{outcome.about.key}_cumulative", height=figure.layout.height)
    else:
        figures.draw(figure, f"cumulative_{outcome.run_id}")


def _table(outcome: Outcome) -> None:
    rows, best = table(outcome)
    n, feature = outcome.problem.n, outcome.about.feature
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    st.dataframe(
        rows if rows["least"].notna().any() else rows.drop(columns="least"),
        hide_index=True,
        alt="The methods with what their components explain together, how many features they use, and the time they took",
        column_config={
            "method": text("Method"),
            "found": text("Found"),
            "explained": number(
                "Explained",
                format="scientific" if rows["explained"].max() >= 1e7 else "%.6g",
                help="Variance of all components together, in the units of the data.",
            ),
            "share": number("% of total", format="%.2f"),
            "gain": number(f"{best} gains", format="%.1f %%", help=f"How much more {best} explains than this method."),
            "features": number(f"{feature.capitalize()}s used", help=f"Of {n:,}."),
            "shared": number("In two", help=f"{feature.capitalize()}s that more than one {outcome.about.one} uses: none, by construction."),
            "common": number(f"Also in {best}", help=f"{feature.capitalize()}s that {best} uses too."),
            "least": number("At least", format="%.2f %%", help="Of the best possible, proved."),
            "seconds": number("Seconds", format="%.2f"),
        },
    )


def weights(outcome: Outcome) -> pd.DataFrame:
    """Every weight of every component of every method."""
    names, rows = outcome.of.dataset.feature_names, []
    for method, result in ordered(outcome.results).items():
        for j, x in enumerate(result.components.T):
            order = np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]
            rows += [(method, j + 1, rank + 1, names[i], x[i], x[i] ** 2, result.values[j]) for rank, i in enumerate(order)]
    return pd.DataFrame(rows, columns=["method", outcome.about.one, "rank", "feature", "weight", "share", "explained"])


def arrays(outcome: Outcome) -> bytes:
    """Components (n, r) and values of every method with the names, as NPZ without pickle."""
    buffer, data = io.BytesIO(), outcome.of.dataset
    found = {}
    for method, result in ordered(outcome.results).items():
        found |= {f"components_{method}": result.components, f"values_{method}": result.values}
    np.savez_compressed(buffer, feature_names=np.array(data.feature_names), data=np.array(labelled_name(data)), **found)
    return buffer.getvalue()


def labelled_name(data) -> str:
    return f"{data.name} ({words.SOURCES[data.source]})"


def downloads(outcome: Outcome) -> None:
    """The components, the certificate, and the Python that makes them again."""
    data, key = outcome.of.dataset, outcome.about.key
    stem = f"{outcome.asked.data.get('sample', 'upload')}{'-stand-in' if data.source == 'stand-in' else ''}-{key}"
    certificate = next((r.certificate for r in outcome.results.values() if r.certificate), None)
    with st.container(horizontal=True):
        _download(f"{key.capitalize()}, CSV", lambda: frame_to_csv(labelled(weights(outcome), data)), f"{stem}.csv", "text/csv")
        _download(f"{key.capitalize()}, NPZ", lambda: arrays(outcome), f"{stem}.npz")
        _download("Methods, CSV", lambda: frame_to_csv(labelled(table(outcome)[0], data)), f"{stem}-methods.csv", "text/csv")
        if certificate is not None:
            _download("Certificate, NPZ", certificate.to_bytes, f"{stem}-certificate.npz", help=CHECK)
    with st.expander("Python that reproduces this", icon=":material/code:"):
        best = max(outcome.results, key=lambda method: outcome.results[method].value)
        st.code(snippet(outcome.asked, best, data.is_covariance), language="python")


def _download(label: str, content, file: str, mime: str = "application/octet-stream", **options) -> None:
    st.download_button(label, content, file, mime, icon=":material/download:", on_click="ignore", **options)
