"""Compare two answers with equal k side by side, for example before and after a change of the data.

`SweepPage.more` calls `show`.
"""

from dataclasses import dataclass

import numpy as np
import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.sweep import pinned
from nspca.dashboard.sweep.archive import Finished
from nspca.dashboard.views import component
from nspca.presentation.numerals import format_change, format_value_share

HEIGHT = 300  # pixels of each picture
MOST_NAMES = 8
"""Maximum features named in a line. Further features are only counted."""
SAME = 1e-8
"""Relative difference below which two variances are called the same, as rounding alone can be so large."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of two answers: data, problem, component x (n,), and the variance `value` that x explains."""

    of: Chosen
    problem: nspca.Problem
    x: np.ndarray
    value: float

    @property
    def names(self) -> list[str]:
        """Names of the features that x uses, largest weight first."""
        return component.used_names(self.of.dataset.feature_names, self.x)

    @property
    def total(self) -> float:
        """Total variance of the data, 1 when it is zero or unknown."""
        return self.problem.total_variance or 1.0

    @property
    def measures(self) -> tuple[bool, bool]:
        """Two flags: data centred, and data standardised. Variances compare only when both flags agree."""
        return self.problem.covariance.center, self.problem.covariance.scale


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


def compare(before: Side, now: Side) -> Difference:
    """Return the difference of the answer `now` from the answer `before`."""
    change = now.value / before.value - 1 if before.measures == now.measures and before.value > 0 else None
    first, second = before.names, now.names
    gone = [name for name in first if name not in set(second)]
    came = [name for name in second if name not in set(first)]
    return Difference(change, gone, came, _correlation(before, now))


def _correlation(before: Side, now: Side) -> float | None:
    """Return the absolute correlation of the scores of two answers.

    Returns None unless both have equal sample names in memory, and when all scores of an answer are equal.
    """
    sides = (before, now)
    if any(side.of.dataset.is_covariance or side.of.table is not None for side in sides):
        return None
    if before.of.dataset.sample_names != now.of.dataset.sample_names:
        return None
    scores = np.array([side.problem.scores(side.x) for side in sides])
    if min(np.ptp(one) for one in scores) == 0:
        return None
    return float(min(1.0, abs(np.corrcoef(scores)[0, 1])))


def sentences(difference: Difference, noun: str, before: Side, now: Side) -> list[str]:
    """Return Markdown lines on what changed: the variance, the features, and the scores of the samples."""
    if difference.change is None:
        first, second = (format_value_share(side.value, side.total) for side in (before, now))
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
    """Return up to `MOST_NAMES` names in a line, and the number of further names."""
    if not names:
        return "none"
    shown = [wording.plain(name) for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {wording.things(more, f'other {noun}')}" if more else "")


def show(run: Watched, seen: Finished) -> None:
    """Draw the shown answer beside the answer of another curve in the figure, at an equal k.

    The other curve is that from before the last change, or else the newest one.
    """
    others = pinned.beside(run)
    if not others:
        return
    other = next((one for one in others if one.why == pinned.BEFORE), others[-1])
    methods = [method for method, k in other.sweep if k == seen.k]
    with st.container(border=True):
        st.markdown(f"## What changed at k = {seen.k}")
        if not methods:
            st.caption(
                f"“{wording.plain(other.label)}” has no k = {seen.k}: choose a k that both curves have."
            )
            return
        then = other.sweep[seen.method if seen.method in methods else methods[0], seen.k]
        sides = (
            Side(other.of, other.problem, then.components[:, 0], then.value),
            Side(run.of, seen.problem, seen.shown.components[:, 0], seen.shown.value),
        )
        noun = wording.noun(run.of.dataset)
        st.markdown("  \n".join(sentences(compare(*sides), noun, *sides)))
        titles = (f"**Before**: {wording.plain(other.label)}", "**Now**")
        for column, side, title, key in zip(
            st.columns(2, gap="medium"), sides, titles, ("before", "now"), strict=True
        ):
            with column:
                st.markdown(title)
                picture = component.plot(side.of.dataset, side.x)
                figures.draw_plot(picture, f"side_{key}", HEIGHT, same=side.of.content)
