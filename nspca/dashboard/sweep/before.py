"""The finished curve that a change replaced: drawn in the figure, and compared with the shown answer.

The page Runs names another sweep in its place.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep.form import SWEEP, differences
from nspca.dashboard.views import component, curve
from nspca.errors import NSPCAError
from nspca.presentation.numerals import format_change, format_value_share
from nspca.specs import SweepSpec
from nspca.specs.data import OF_FEATURES, features_words

HEIGHT = 300  # pixels of each picture
MOST_NAMES = 8  # maximum features named in a line. Further features are only counted.
SAME = 1e-8
"""Relative difference below which two variances are called the same, as rounding alone can be so large."""


def find(run: Answer) -> Answer | None:
    """Return the sweep to compare the shown one with, None if there is none or it no longer exists."""
    run_id = state.get("before")
    if run_id is None or run_id == run.id:
        return None
    try:
        other = lookup.named(SWEEP, run_id)
    except NSPCAError:
        other = run
    if not other.sweep or not other.is_measured or other is run:
        state.put(before=None)
        return None
    method, k = next(iter(other.sweep))
    return replace(other, k=k, method=method)


def label(other: Answer, run: Answer) -> str:
    """Return how another sweep differs from the shown one, in a few words."""
    data = "" if other.asked.content == run.asked.content else other.of.dataset.name
    if data == run.of.dataset.name:
        data = _changed(other.asked, run.asked)
    parts = data, differences(other.asked, run.asked)
    return ", ".join(filter(None, parts)) or "the same, other values of k"


def drawn(other: Answer, run: Answer) -> tuple[pd.DataFrame, float, str]:
    """Return rows, the variance that counts as 100 %, and a name of another sweep, for `sweep_figure`."""
    problem = other.problem
    unit = problem.leading_eigenvalue if curve.axis() == "leading" else problem.total_variance
    return other.sweep.frame, unit or 1.0, f"before: {label(other, run)}"


def _changed(other: SweepSpec, shown: SweepSpec) -> str:
    """Return a phrase about the different preparation of another curve with the same name."""
    first, second = (asked.data.but_for(*OF_FEATURES) for asked in (other, shown))
    if first == second:
        return features_words(other.data)
    return ", ".join(other.data.change_words()) or "data as they are"


def show(now: Answer) -> None:
    """Draw the shown answer beside that of the curve from before the last change, at an equal k."""
    other = find(now)
    if other is None:
        return
    said, methods = wording.plain(label(other, now)), [method for method, k in other.sweep if k == now.k]
    st.markdown(f"## What changed at k = {now.k}")
    if not methods:
        st.caption(f"“{said}” has no k = {now.k}: choose a k that both curves have.")
        return
    before = replace(other, k=now.k, method=now.method if now.method in methods else methods[0])
    st.markdown("  \n".join(sentences(before, now)))
    titles = (f"**Before**: {said}", "**Now**")
    columns = st.columns(2, gap="medium")
    for column, side, title, key in zip(columns, (before, now), titles, ("before", "now"), strict=True):
        with column:
            st.markdown(title)
            picture = component.plot(side.of.dataset, side.x)
            figures.draw_plot(picture, f"side_{key}", HEIGHT, same=side.of.content)


def sentences(before: Answer, now: Answer) -> list[str]:
    """Return Markdown lines on what changed: the variance, the features, and the scores of the samples."""
    noun = wording.noun(now.of.dataset)
    first, second = (component.used_names(one.of.dataset.feature_names, one.x) for one in (before, now))
    gone = [name for name in first if name not in set(second)]
    came = [name for name in second if name not in set(first)]
    lines = [f"**Variance**: {_variance(before, now)}."]
    if gone or came:
        lines.append(f"**Out**: {_listed(gone, noun)}. **In their place**: {_listed(came, noun)}.")
    else:
        lines.append(f"**{noun.capitalize()}s**: the same.")
    if (alike := correlation(before, now)) is not None:
        lines.append(f"**Samples**: the scores before and now have a correlation of {alike:.2f}.")
    return lines


def _variance(before: Answer, now: Answer) -> str:
    """Return how the variance changed; variances of data with other units stand beside each other."""
    ways = [(side.problem.covariance.center, side.problem.covariance.scale) for side in (before, now)]
    value = before.shown.value
    if ways[0] != ways[1] or not value > 0:
        first, second = (format_value_share(side.shown.value, side.total) for side in (before, now))
        return f"{second} of the total variance of the changed data, {first} before"
    change = now.shown.value / value - 1
    if abs(change) < SAME:
        return "the same"
    return f"{format_change(change)} {'more' if change > 0 else 'less'} than before"


def correlation(before: Answer, now: Answer) -> float | None:
    """Return the absolute correlation of the scores of two answers about samples of equal names in memory."""
    sides = (before, now)
    if any(side.of.dataset.is_covariance or side.of.table is not None for side in sides):
        return None
    if before.of.dataset.sample_names != now.of.dataset.sample_names:
        return None
    scores = np.array([side.problem.scores(side.x) for side in sides])
    if min(np.ptp(one) for one in scores) == 0:
        return None
    return float(min(1.0, abs(np.corrcoef(scores)[0, 1])))


def _listed(names: list[str], noun: str) -> str:
    if not names:
        return "none"
    shown = [wording.plain(name) for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {wording.things(more, f'other {noun}')}" if more else "")
