"""The section "Is it the only one?": all sets of features that explain nearly as much, and that there are no
others. `SweepPage.more` calls `show`.
"""

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.app import buttons, wording
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import lookup
from nspca.dashboard.views import component
from nspca.dashboard.views.section import Section
from nspca.data import Dataset
from nspca.presentation.numerals import format_change
from nspca.selection.answers import Answers
from nspca.specs import AnswersSpec

WITHIN = (0, 10, 100, 1000)
"""Losses that are offered, in parts of a hundred thousand; 0 asks for the margin alone."""
SHOWN = 200
"""Maximum number of sets in the table of a page. The CSV has all."""
NAMED = 6
"""Maximum features that are named on one side of an exchange."""
WHY = (
    "The search for the best possible goes on just below it. It proves for every other set of features that "
    "it explains less, or lists it."
)


def show(answer: Answer) -> None:
    """Draw the folded question, or what is known so far."""
    certificate, asked = answer.certificate, answer.asked
    if certificate is None or not answer.shown.value > 0:
        return
    specs = [AnswersSpec(**asked.about_problem(), k=answer.k, within=within) for within in WITHIN]
    begun = [lookup.that_asks(spec) is not None for spec in specs]
    with st.expander(
        "Is it the only one?", icon=":material/difference:", expanded=any(begun), key="fold_alone"
    ):
        if answer.of.table is not None:
            st.caption("This needs the data in memory, and this is a folder.")
            return
        st.caption(WHY)
        within = st.segmented_control(
            "Sets that explain less by at most",
            WITHIN,
            format_func=lambda within: f"{within / 1000:g} %" if within else "only how much less",
            default=WITHIN[begun.index(True)] if any(begun) else 0,
            required=True,
            key="alone_within",
        )
        given = {"component": answer.x, "certificate": certificate.to_bytes()}
        data = answer.of.dataset
        Section(
            f"alone{within}",
            specs[WITHIN.index(within)],
            lambda: "List them, with a proof" if within else "Prove how much less the others explain",
            lambda rows: None,
            lambda known, rows: _draw(answer, known),
            ("These sets, CSV", "answers", lambda known: table(data, known)),
            icon=":material/difference:",
        ).show(answer.of, **given)


def _draw(answer: Answer, known: Answers) -> None:
    """Draw the sentence, the sets with what each exchanges, and how often each feature occurs."""
    data, count = answer.of.dataset, len(known.values)
    st.markdown(f"**{wording.plain(known.stated(data.feature_names))}**")
    file = f"{answer.of.stem}-answers.npz"
    buttons.download("Certificate", lambda: known.certificate.to_bytes(), file, key="download_alone")
    if count < 2:
        return
    rows = table(data, known).head(SHOWN)
    st.dataframe(rows, hide_index=True, height=min(35 * (len(rows) + 1) + 3, 320))
    left, right = st.columns(2)
    with left:
        number = st.number_input("Set", 1, count, min(2, count), key="alone_set")
        component.picture(data, known.components[:, int(number) - 1], "alone_picture", height=320)
    with right:
        noun = wording.noun(data)
        st.caption(f"In how many of the {count} sets each {noun} is: the largest are in all of them.")
        component.picture(data, known.counts / count, "alone_counts", height=320)


def table(data: Dataset, known: Answers) -> pd.DataFrame:
    """Return a table of the sets: what each loses, and the names that it exchanges against the best."""
    names = np.array(data.feature_names, dtype=object)
    rows = []
    for number in range(len(known.values)):
        out, into, loss = known.exchanges(number)
        less = f"−{format_change(loss)}" if loss > 0 else "best"
        rows.append(
            {
                "set": number + 1,
                "explains": less,
                "without": _named(names[out]),
                "instead": _named(names[into]),
            }
        )
    return pd.DataFrame(rows)


def _named(names: np.ndarray) -> str:
    """Return some names in one text."""
    more = f" and {names.size - NAMED} more" if names.size > NAMED else ""
    return ", ".join(map(str, names[:NAMED])) + more
