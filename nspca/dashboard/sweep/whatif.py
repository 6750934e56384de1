"""Answer what-if questions: a sweep repeated with other features, started without a click if it is quick.

The finished curve that a change replaced is drawn in the figure, and compared with the shown answer. The page
Runs names another sweep in its place.
"""

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import lookup, progress, start
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep import form
from nspca.dashboard.sweep.form import SWEEP, differences
from nspca.dashboard.views import component, curve
from nspca.data import Dataset
from nspca.errors import NSPCAError
from nspca.presentation.numerals import format_change, format_value_share
from nspca.presentation.phrases import short
from nspca.specs import DataSpec, SweepSpec
from nspca.specs.data import OF_FEATURES, features_words

MOMENT = 2.0  # seconds that a run may take which nobody asked for by a button
AS_ONE = "Equal weights on all of them, and they count as one feature."
KEEP = "They may be used freely, and k counts them."


def features(of: Chosen, k: int, rows: list[int], names: list[str]) -> None:
    """Draw buttons that ask again without the selected features, with them only, merged or forced."""
    if not rows:
        st.caption(
            "What if? Select features in the table. Then ask for the best component without them, with no "
            "others, with these as one feature, or the best that keeps them."
        )
        return
    selected = {names[row] for row in rows if row < len(names)}  # a selection can be of before
    data, numbers = of.dataset, open_data.members(of)
    each = [numbers[j] for j, name in enumerate(data.feature_names) if name in selected]
    if not each:
        return
    count, picked, kept = len(each), sorted(chain(*each)), state.get("keep")
    left = len(numbers) - count

    def offer(
        label: str, key: str, icon: str, values: dict[str, Any], after: int | None, help: str | None = None
    ) -> None:
        buttons.button(label, key, lambda: _restrict(k, after, **values), icon=icon, help=help)

    with st.container(horizontal=True):
        if left > 1:
            label = f"Without {_named(data, [name for name in data.feature_names if name in selected])}"
            others = [number for number in kept if number not in picked]
            values = {"keep": others, **_without(of.reference, picked)}
            offer(label, "without", ":material/block:", values, left)
        if count > 1:
            offer(
                f"Only these {count}", "only", ":material/filter_alt:", {"only": picked, "out": None}, count
            )
        if count > 1 and left and (data.image_shape is None or data.is_covariance):
            merged = {"one": _together(of.reference, picked)}
            offer("As one", "one", ":material/merge:", merged, left + 1, AS_ONE)
        if not set(picked) <= set(kept):
            label = f"Keep these {count}" if count > 1 else "Keep this one"
            offer(label, "keep", ":material/push_pin:", {"keep": sorted({*kept, *picked})}, None, KEEP)


def _named(data: Dataset, names: list[str]) -> str:
    if len(names) == 1:
        return f"{wording.noun(data)} {wording.plain(short(names[0]))}"
    return wording.things(len(names), wording.noun(data))


def all_again(of: Chosen) -> None:
    """Draw the button that resets the features, if some are left out, merged or forced."""
    kept = len(open_data.forced_features(of))
    if kept or any(getattr(of.reference, how) for how in OF_FEATURES):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":orange-badge[{features_words(of.reference, kept)}]", width="content")
            buttons.button(
                "All features again",
                "all_again",
                lambda: _restrict(state.get("k"), None, **dict.fromkeys(state.OF_FEATURES)),
                icon=":material/undo:",
            )


def _without(where: DataSpec, picked: list[int]) -> dict[str, list[int]]:
    if where.only:
        return {"only": [number for number in where.only if number not in picked]}
    return {"out": sorted({*where.without, *picked})}


def _together(where: DataSpec, picked: list[int]) -> list[list[int]]:
    return [*(list(group) for group in where.together if not set(group) & set(picked)), picked]


def _restrict(k: int | None, left: int | None, **values: list[Any] | None) -> None:
    """Put changed features, of which `left` are left (None: all), into the address; drop impossible k."""
    state.put(**values)
    ks = [state.get(name) for name in ("from", "to") if state.get(name) is not None]
    least = len(values.get("keep") or ())  # of features that are one there may be fewer
    if ks and (min(ks) < least or (left is not None and max(ks) > left)):
        state.put(**{"from": None, "to": None})
    st.session_state[state.CHANGED] = True
    if state.get(SWEEP.key) is not None:
        state.put(before=state.get(SWEEP.key))
    state.put(**dict.fromkeys((SWEEP.key, "shown")), k=k if k and least <= k <= (left or k) else None)


def answer(of: Chosen, asked: SweepSpec) -> bool:
    """Start a changed sweep if it is quick and has a curve to compare with; tell whether it started."""
    if not st.session_state.pop(state.CHANGED, False):
        return False
    if (state.get(SWEEP.key) or state.get("before")) is None:
        return False
    if asked.methods != ("auto",) or form.seconds(of, asked) >= MOMENT:  # of others the seconds are not known
        return False
    shown = _shown()
    if shown is not None and not shown.now.ended and form.seconds(shown.of, shown.asked) >= MOMENT:
        return False
    begin(of, asked)
    return True


def begin(of: Chosen, asked: SweepSpec) -> None:
    """Start the sweep. The shown curve stays as the one before; a quick unfinished sweep is cancelled."""
    before, k = _shown(), state.get("k")
    start.of_page(SWEEP, of, asked)
    if k in asked.ks:
        state.put(k=k)  # so two answers to the same question stand side by side at the same k
    if before is None or before.id == state.get(SWEEP.key):
        return
    if before.now.ended:
        state.put(before=before.id)
    elif form.seconds(before.of, before.asked) < MOMENT:
        progress.cancel(before.id)


def _shown() -> Answer | None:
    try:
        return None if state.get(SWEEP.key) is None else lookup.find_own(SWEEP, state.get(SWEEP.key))
    except NSPCAError:
        return None


HEIGHT = 300  # pixels of each picture
MOST_NAMES = 8  # maximum features named in a line. Further features are only counted.
SAME = 1e-8
"""Relative difference below which two variances are called the same, as rounding alone can be so large."""


def find_before(run: Answer) -> Answer | None:
    """Return the sweep to compare the shown one with, None if there is none or it no longer exists."""
    run_id = state.get("before")
    if run_id is None or run_id == run.id:
        return None
    try:
        other = lookup.find_own(SWEEP, run_id)
    except NSPCAError:
        other = run
    if not other.sweep or not other.is_measured or other is run:
        state.put(before=None)
        return None
    method, k = next(iter(other.sweep))
    return replace(other, k=k, method=method)


def label_change(other: Answer, run: Answer) -> str:
    """Return how another sweep differs from the shown one, in a few words."""
    data = "" if other.asked.content == run.asked.content else other.of.dataset.name
    if data == run.of.dataset.name:
        data = _changed(other.asked, run.asked)
    parts = data, differences(other.asked, run.asked)
    return ", ".join(filter(None, parts)) or "the same, other values of k"


def drawn_before(other: Answer, run: Answer) -> tuple[pd.DataFrame, float, str]:
    """Return rows, the variance that counts as 100 %, and a name of another sweep, for `sweep_figure`."""
    problem = other.problem
    unit = problem.leading_eigenvalue if curve.axis() == "leading" else problem.total_variance
    return other.sweep.frame, unit or 1.0, f"before: {label_change(other, run)}"


def _changed(other: SweepSpec, shown: SweepSpec) -> str:
    """Return a phrase about the different preparation of another curve with the same name."""
    first, second = (asked.data.but_for(*OF_FEATURES) for asked in (other, shown))
    if first == second:
        return features_words(other.data)
    return ", ".join(other.data.change_words()) or "data as they are"


def show_change(now: Answer) -> None:
    """Draw the shown answer beside that of the curve from before the last change, at an equal k."""
    other = find_before(now)
    if other is None:
        return
    said = wording.plain(label_change(other, now))
    methods = [method for method, k in other.sweep if k == now.k]
    st.markdown(f"## What changed at k = {now.k}")
    if not methods:
        st.caption(f"“{said}” has no k = {now.k}: choose a k that both curves have.")
        return
    before = replace(other, k=now.k, method=now.method if now.method in methods else methods[0])
    st.markdown("  \n".join(change_sentences(before, now)))
    titles = (f"**Before**: {said}", "**Now**")
    columns = st.columns(2, gap="medium")
    for column, side, title, key in zip(columns, (before, now), titles, ("before", "now"), strict=True):
        with column:
            st.markdown(title)
            picture = component.plot(side.of.dataset, side.x)
            figures.draw_plot(picture, f"side_{key}", HEIGHT, same=side.of.content)


def change_sentences(before: Answer, now: Answer) -> list[str]:
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
