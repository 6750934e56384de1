"""Compare two answers with equal k side by side, for example before and after a change of the data.

`SweepPage.more` calls `show`.
"""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.sweep import before as replaced
from nspca.dashboard.views import component
from nspca.presentation.numerals import format_change, format_value_share

HEIGHT = 300  # pixels of each picture
MOST_NAMES = 8
"""Maximum features named in a line. Further features are only counted."""
SAME = 1e-8
"""Relative difference below which two variances are called the same, as rounding alone can be so large."""


@dataclass(frozen=True)
class Difference:
    """Difference of an answer from the answer before.

    Parameters
    ----------
    change : relative change of the variance, such as -0.04; None when the variances do not compare
    gone, came : names of features that only the answer before uses, and that only the new answer uses
    correlation : absolute correlation of the samples' scores; None when scores cannot be compared
    """

    change: float | None
    gone: list[str]
    came: list[str]
    correlation: float | None


def compare(before: Answer, now: Answer) -> Difference:
    """Return the difference of the answer `now` from the answer `before`."""
    alike = all(
        getattr(before.problem.covariance, how) == getattr(now.problem.covariance, how)
        for how in ("center", "scale")
    )
    value = before.shown.value
    change = now.shown.value / value - 1 if alike and value > 0 else None
    first, second = (component.used_names(one.of.dataset.feature_names, one.x) for one in (before, now))
    gone = [name for name in first if name not in set(second)]
    came = [name for name in second if name not in set(first)]
    return Difference(change, gone, came, _correlation(before, now))


def _correlation(before: Answer, now: Answer) -> float | None:
    """Return the absolute correlation of the scores of two answers."""
    sides = (before, now)
    if any(side.of.dataset.is_covariance or side.of.table is not None for side in sides):
        return None
    if before.of.dataset.sample_names != now.of.dataset.sample_names:
        return None
    scores = np.array([side.problem.scores(side.x) for side in sides])
    if min(np.ptp(one) for one in scores) == 0:
        return None
    return float(min(1.0, abs(np.corrcoef(scores)[0, 1])))


def sentences(difference: Difference, noun: str, before: Answer, now: Answer) -> list[str]:
    """Return Markdown lines on what changed: the variance, the features, and the scores of the samples."""
    if difference.change is None:
        first, second = (format_value_share(side.shown.value, side.total) for side in (before, now))
        lines = [f"**Variance**: {second} of the total variance of the changed data, {first} before."]
    elif abs(difference.change) < SAME:
        lines = ["**Variance**: the same."]
    else:
        how = "more" if difference.change > 0 else "less"
        lines = [f"**Variance**: {format_change(difference.change)} {how} than before."]
    if not difference.gone and not difference.came:
        lines.append(f"**{noun.capitalize()}s**: the same.")
    else:
        gone, came = (_listed(names, noun) for names in (difference.gone, difference.came))
        lines.append(f"**Out**: {gone}. **In their place**: {came}.")
    if difference.correlation is not None:
        lines.append(
            f"**Samples**: the scores before and now have a correlation of {difference.correlation:.2f}."
        )
    return lines


def _listed(names: list[str], noun: str) -> str:
    if not names:
        return "none"
    shown = [wording.plain(name) for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {wording.things(more, f'other {noun}')}" if more else "")


def show(run: Watched, now: Answer) -> None:
    """Draw the shown answer beside that of the curve from before the last change, at an equal k."""
    other = replaced.find(run)
    if other is None:
        return
    methods = [method for method, k in other.answer.sweep if k == now.k]
    st.markdown(f"## What changed at k = {now.k}")
    if not methods:
        st.caption(f"“{wording.plain(other.label)}” has no k = {now.k}: choose a k that both curves have.")
        return
    before = replace(other.answer, k=now.k, method=now.method if now.method in methods else methods[0])
    noun = wording.noun(run.of.dataset)
    st.markdown("  \n".join(sentences(compare(before, now), noun, before, now)))
    titles = (f"**Before**: {wording.plain(other.label)}", "**Now**")
    columns = st.columns(2, gap="medium")
    for column, side, title, key in zip(columns, (before, now), titles, ("before", "now"), strict=True):
        with column:
            st.markdown(title)
            picture = component.plot(side.of.dataset, side.x)
            figures.draw_plot(picture, f"side_{key}", HEIGHT, same=side.of.content)
