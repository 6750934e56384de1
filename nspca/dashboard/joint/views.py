"""What parts and topics have in common: the gain and the proof in words, a table of the methods, cumulative
variance, exports.
"""

import io
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint import names as topic_names
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.runs import export, methods
from nspca.dashboard.views.component import labelled
from nspca.data.export import frame_to_csv
from nspca.plots.joint import climb_figure, cumulative_figure
from nspca.presentation.numerals import format_bound, format_value, format_value_share, round_down
from nspca.result import Result
from nspca.specs.proof import MORE
from nspca.specs.rows import Climbed

CHECK = "Anyone who has the data can check it: python -m nspca verify DATA certificate.npz"


def ordered(results: dict[str, Result]) -> dict[str, Result]:
    """Components found at once with the largest first; one by one the order in which they were found is the
    point.
    """
    return {
        method: _by_size(result) if nspca.METHODS[method].joint else result
        for method, result in results.items()
    }


def _by_size(result: Result) -> Result:
    order = np.argsort(-result.values, kind="stable")
    return replace(result, components=result.components[:, order], values=result.values[order])


def unfinished(result: Result) -> bool:
    """Whether its method has not come to its end: it is still at work, or was cancelled."""
    return result.status is nspca.Status.CANCELLED


def heading(outcome: Outcome, result: Result) -> str:
    """The line above what a method found."""
    share = format_value_share(result.value, outcome.problem.total_variance or 1.0)
    so_far = ", so far" if unfinished(result) else ""
    return (
        f"**{wording.plain(result.method)}** :small[:gray[{methods.how(result.method)}{so_far}, "
        f"{share} of the total variance]]"
    )


def gain(results: dict[str, Result]) -> tuple[str, str, float] | None:
    """The best method that works at once, the best that works one by one, and by how much the first is above,
    in percent.
    """
    groups = [
        {m: r.value for m, r in results.items() if nspca.METHODS[m].joint is at_once}
        for at_once in (True, False)
    ]
    if not all(groups):
        return None
    joint, single = (max(group, key=group.get) for group in groups)
    return (
        (joint, single, 100 * (groups[0][joint] / groups[1][single] - 1)) if groups[1][single] > 0 else None
    )


def verdict(outcome: Outcome) -> None:
    """The gain, and what is proved."""
    found = gain(outcome.results)
    best = outcome.results[outcome.best]
    share = format_value_share(best.value, outcome.problem.total_variance or 1.0)
    many, one = outcome.about.count(outcome.asked.r), outcome.asked.r == 1
    explain = "explains" if one else "explain"
    if found is None:
        st.markdown(f"#### {wording.plain(best.method)}: {many} {explain} {share} of the total variance.")
    else:
        joint, single, percent = found
        so_far = ", so far" if any(map(unfinished, outcome.results.values())) else ""
        better = f"{percent:.1f} % more" if percent >= 0 else f"{-percent:.1f} % less"
        st.markdown(f"#### Found at once, {many} {explain} {better} than found one by one{so_far}.")
        best_of = f", {share} of the total variance," if outcome.results[joint] is best else ""
        first, second = outcome.results[joint].value, outcome.results[single].value
        st.markdown(
            f"{wording.plain(joint).capitalize()} explains {format_value(first)}{best_of or ','} the best "
            f"one by one ({wording.plain(single)}) {format_value(second)}."
        )
    if best.certificate is not None:
        sentence = wording.proof(best.ratio)
        st.markdown(
            f":material/verified: {sentence[0].upper()}{sentence[1:]}: no {_others(outcome)} {explain} more "
            f"than {format_bound(best.certificate.upper)}."
        )
    elif not outcome.live and outcome.asked.effort is None and not outcome.tried:
        st.caption("Nothing is proved yet about how much better it could be.")


def _others(outcome: Outcome) -> str:
    """What is held against what was found."""
    if outcome.asked.r == 1:
        return f"{outcome.about.one} of this size"
    return f"{outcome.about.count(outcome.asked.r)} of these sizes that do not overlap"


def climb(rows: list[Climbed], at_work: bool, about: Subject, run_id: str) -> None:
    """The gain of the method that looks for all components at once, counting up from its first answer."""
    figure = climb_figure([row.seconds for row in rows], [row.value for row in rows])
    if rows:
        gained = 100 * (rows[-1].value / rows[0].value - 1)
        better = f", **{gained:.2f} % more** than its first answer" if len(rows) > 1 else ""
        st.markdown(
            f"**{wording.plain(rows[-1].method)}** {'looks' if at_work else 'has looked'} for all "
            f"{about.one}s at once: {format_value(rows[-1].value)}{' so far' * at_work}{better}."
        )
    else:
        st.markdown(f"The search for all {about.one}s at once comes last: the quicker methods first.")
    figures.draw(figure, f"{about.key}_climb", same=run_id)


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
            "least": [
                None if result.ratio is None else _per_cent(result.ratio) for result in results.values()
            ],
            "seconds": [result.seconds for result in results.values()],
        }
    ), best


def _above(value: float, other: float) -> float | None:
    """By how much `value` is larger, in percent."""
    return 100 * (value / other - 1) if other > 0 else None


def _per_cent(ratio: float) -> float:
    """Return a proved ratio in per cent, rounded down; 100 for a ratio of exactly 1 alone."""
    return 100.0 if ratio >= 1 else math.nextafter(100 * ratio, 0.0)


def cumulative(outcome: Outcome) -> go.Figure:
    """What the first components of each method explain together."""
    values = {method: result.values for method, result in ordered(outcome.results).items()}
    upper = next((r.certificate.upper for r in outcome.results.values() if r.certificate), None)
    return cumulative_figure(values, outcome.problem.total_variance or 1.0, upper=upper)


def figures_of(outcome: Outcome) -> None:
    """Cumulative variance beside the table of the methods."""
    _table(outcome)
    figures.draw(cumulative(outcome), f"cumulative_{outcome.run_id}", same=outcome.run_id)


def _table(outcome: Outcome) -> None:
    rows, best = table(outcome)
    n, feature = outcome.problem.n, outcome.about.feature
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    least = [share if pd.isna(share) else round_down(share, 2) for share in rows["least"]]
    st.dataframe(
        rows.assign(least=least) if rows["least"].notna().any() else rows.drop(columns="least"),
        hide_index=True,
        alt="The methods with what their components explain together, how many features they use, and the "
        "time they took",
        column_config={
            "method": text("Method"),
            "found": text("Found"),
            "explained": number(
                "Explained",
                format="scientific" if rows["explained"].max() >= 1e7 else "%.6g",
                help="Variance of all components together, in the units of the data.",
            ),
            "share": number("% of total", format="%.2f"),
            "gain": number(
                f"{best} gains", format="%.1f %%", help=f"How much more {best} explains than this method."
            ),
            "features": number(f"{feature.capitalize()}s used", help=f"Of {n:,}."),
            "shared": number(
                "In two",
                help=f"{feature.capitalize()}s that more than one {outcome.about.one} uses: none, by "
                "construction.",
            ),
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
            rows += [
                (method, j + 1, rank + 1, names[i], x[i], x[i] ** 2, result.values[j])
                for rank, i in enumerate(order)
            ]
    frame = pd.DataFrame(
        rows, columns=["method", outcome.about.one, "rank", "feature", "weight", "share", "explained"]
    )
    called = topic_names.given()
    if called:
        key = zip(frame["method"], frame[outcome.about.one], strict=True)
        frame.insert(2, "name", [called.get(one, "") for one in key])
    return frame


def arrays(outcome: Outcome) -> bytes:
    """Components (n, r) and values of every method with the names, as NPZ without pickle."""
    buffer, data = io.BytesIO(), outcome.of.dataset
    found = {}
    for method, result in ordered(outcome.results).items():
        found |= {f"components_{method}": result.components, f"values_{method}": result.values}
    np.savez_compressed(
        buffer, feature_names=np.array(data.feature_names), data=np.array(labelled_name(data)), **found
    )
    return buffer.getvalue()


def labelled_name(data) -> str:
    return f"{data.name} ({wording.SOURCES[data.source]})"


def downloads(outcome: Outcome) -> None:
    """The components, the certificate, and the Python that makes them again."""
    data, key = outcome.of.dataset, outcome.about.key
    stem = f"{outcome.of.stem}-{key}"
    certificate = next((r.certificate for r in outcome.results.values() if r.certificate), None)
    named = weights(outcome)  # where a file is made, nothing is known of the names in the address
    with st.container(horizontal=True):
        _download(
            f"{key.capitalize()}, CSV", lambda: frame_to_csv(labelled(named, data)), f"{stem}.csv", "text/csv"
        )
        _download(f"{key.capitalize()}, NPZ", lambda: arrays(outcome), f"{stem}.npz")
        _download(
            "Methods, CSV",
            lambda: frame_to_csv(labelled(table(outcome)[0], data)),
            f"{stem}-methods.csv",
            "text/csv",
        )
        if certificate is not None:
            proof = certificate.of_prepared(outcome.of.dataset.prepared)
            _download("Certificate, NPZ", proof.to_bytes, f"{stem}-certificate.npz", help=CHECK)
    export.offer(outcome.asked, outcome.of, **shown(outcome))


def shown(outcome: Outcome) -> dict[str, str]:
    """Return what exported Python is to find again: the best method, and the effort of the proof."""
    further = {"effort": MORE[-1]} if outcome.proved_further else {}
    return {"method": outcome.best, **further}


def _download(label: str, content, file: str, mime: str = "application/octet-stream", **options) -> None:
    st.download_button(label, content, file, mime, icon=":material/download:", on_click="ignore", **options)
