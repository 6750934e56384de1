"""The section "Is it the only one?": all sets of features that explain nearly as much, and that there are no
others.
"""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.app import buttons, frame, wording
from nspca.dashboard.components import figures
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component
from nspca.dashboard.views.section import Section
from nspca.data import Dataset
from nspca.plots.answers import distance_map, strip
from nspca.presentation.numerals import format_change
from nspca.selection.answers import Answers
from nspca.specs import AnswersSpec

WITHIN = (0, 10, 100, 1000)
"""Losses that are offered, in parts of a hundred thousand; 0 asks for the margin alone."""
SHOWN = 200  # maximum number of sets in the table of a page. The CSV has all.
MANY = 8  # minimum number of sets for a map of them
NAMED = 6  # maximum features that are named on one side of an exchange
WHY = (
    "The search for the best possible goes on just below it. It proves for every other set of features that "
    "it explains less, or lists it."
)
SEVERAL = "A search for the best possible proves that, when it ends with a proof and as much time is left."


def show(answer: Answer) -> None:
    """Draw the folded section of Sweep; it is open where something is known."""
    if answer.certificate is None or not answer.shown.value > 0:
        return
    begun = any(lookup.find_newest(spec) is not None for spec in _specs(answer).values())
    is_open = begun or bool(margin(answer))
    title, icon = "Is it the only one?", ":material/difference:"
    frame.fold(title, "fold_alone", icon, partial(draw, answer), is_open=is_open)


def draw(answer: Answer) -> None:
    """Draw the question, or what is known so far."""
    certificate, said = answer.certificate, margin(answer)
    if said:
        st.markdown(f"**{wording.plain(said)}**")
    if certificate is None or answer.many or answer.of.table is not None:
        if not said:
            st.caption(SEVERAL if answer.many else "This needs a proof, and the data in memory.")
        return
    st.caption(WHY)
    specs = _specs(answer)
    begun = [within for within, spec in specs.items() if lookup.find_newest(spec) is not None]
    within = st.segmented_control(
        "Sets that explain less by at most",
        WITHIN,
        format_func=lambda within: f"{within / 1000:g} %" if within else "only how much less",
        default=begun[0] if begun else 0,
        required=True,
        key="alone_within",
    )
    given = {"component": answer.x, "certificate": certificate.to_bytes()}
    data = answer.of.dataset
    Section(
        f"alone{within}",
        specs[within],
        "List them, with a proof" if within else "Prove how much less the others explain",
        lambda known, rows: _draw(answer, known),
        table=("These sets, CSV", "answers", lambda known: table(data, known)),
        icon=":material/difference:",
    ).show(answer.of, **given)


def margin(answer: Answer) -> str:
    """Return what a search for the optimum proved of all other answers; empty where nothing is proved."""
    found = [one.answer for one in answer.tried if one.k == answer.k and one.answer is not None]
    return next((one.alone for one in found if one.alone and one.value >= answer.shown.value), "")


def _specs(answer: Answer) -> dict[int, AnswersSpec]:
    k = answer.k if isinstance(answer.k, int) else answer.k[0]
    return {within: AnswersSpec(**answer.asked.about_problem(), k=k, within=within) for within in WITHIN}


def _draw(answer: Answer, known: Answers) -> None:
    data, count, noun = answer.of.dataset, len(known.values), answer.nouns.feature
    st.markdown(f"**{wording.plain(known.stated(data.feature_names))}**")
    file = f"{answer.of.stem}-answers.npz"
    buttons.download("Certificate", lambda: known.certificate.to_bytes(), file, key="download_alone")
    if count < 2:
        return
    rows = table(data, known).head(SHOWN)
    st.dataframe(rows, hide_index=True, height=min(35 * (len(rows) + 1) + 3, 320))
    left, right = st.columns(2)
    with left:
        number = int(st.number_input("Set", 1, count, min(2, count), key="alone_set")) - 1
        st.caption(wording.plain(exchange(data, known, number, noun)))
        component.picture(data, known.components[:, number], "alone_picture", height=320)
    with right:
        if data.image_shape is not None:
            st.caption(f"In how many of the {count} sets each {noun} is: the darkest are in all of them.")
            figure = component.plot(data, known.counts / count)()
            of_sets = "in %{z:.0%} of the sets<extra></extra>"
            figure.data[-1].update(colorbar_title_text="share of sets", hovertemplate=of_sets)
            figures.draw(figure.update_layout(height=320), "alone_counts")
        if count >= MANY:
            st.caption("Each point is a set. Sets that share most features are near each other.")
            figures.draw(distance_map(known.components, known.values, known.value), "alone_map")
    figures.draw(strip(known.counts, count, data.feature_names), "alone_strip")


def exchange(data: Dataset, known: Answers, number: int, noun: str) -> str:
    """Return a sentence about what a set exchanges against the best one."""
    out, into, loss = known.exchanges(number)
    if not out.size and not into.size:
        return "The best set."
    without = f"without {wording.things(out.size, noun)} ({_named(data, out)})" if out.size else ""
    instead = f"with {wording.things(into.size, noun)} instead ({_named(data, into)})" if into.size else ""
    return f"The best set {' and '.join(filter(None, (without, instead)))}: −{format_change(loss)}."


def table(data: Dataset, known: Answers) -> pd.DataFrame:
    """Return a table of the sets: what each loses, and the names that it exchanges against the best."""
    rows = []
    for number in range(len(known.values)):
        out, into, loss = known.exchanges(number)
        less = f"−{format_change(loss)}" if loss > 0 else "best"
        names = {"without": _named(data, out), "instead": _named(data, into)}
        rows.append({"set": number + 1, "explains": less, **names})
    return pd.DataFrame(rows)


def _named(data: Dataset, features: np.ndarray) -> str:
    more = f" and {features.size - NAMED} more" if features.size > NAMED else ""
    return ", ".join(str(data.feature_names[j]) for j in features[:NAMED]) + more
