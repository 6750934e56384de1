"""Draw the search for better components than several that are shown, or for a proof that none exist.

`JointPage.more` calls `show`, and `proof.optimal` draws the search.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.joint import lists
from nspca.dashboard.joint.outcome import Outcome, View, in_order, order_of
from nspca.dashboard.joint.subject import explained_names
from nspca.dashboard.proof import optimal
from nspca.dashboard.proof.answer import Answer
from nspca.plots.fixing import fates_of
from nspca.presentation.colours import CONTEXT, PROVED, UNDECIDED
from nspca.specs.optimum import Standing

MARKS = "✗", "?", "✓"
"""Marks of names that are ruled out, undecided and certain: by the codes of `fates_of`."""
COLOURS = CONTEXT, UNDECIDED, PROVED
"""Colours of features that are ruled out, undecided and certain, in the order of `MARKS`."""
KEEP = 1e-3
"""Preference for components that keep their numbers, smaller than one feature that they share."""


def show(outcome: Outcome, view: View) -> None:
    """Draw the search for a better answer."""
    asked = outcome.asked

    def draw(result: nspca.Result, standing: Standing) -> None:
        told = numbered(standing, result, asked.sizes)
        view.fates(outcome, in_order(result), told)
        if outcome.asked.r > 1 and 0 < np.mean(standing.possible & ~standing.certain) < 1:
            st.caption(
                f"The {outcome.about.many} of a better answer can be numbered so that all of this holds."
            )

    shown = nspca.Sweep({(outcome.best, asked.r): outcome.results[outcome.best]})
    how = outcome.problem, shown, asked.sizes, outcome.best, outcome.tried
    optimal.show(Answer(outcome.of, asked.but(noun=outcome.about.one), *how), draw)


def list_fates(outcome: Outcome, result: nspca.Result, standing: Standing) -> None:
    """Draw which features of each component are certain, undecided or ruled out, as lists of names.

    Nothing is drawn when nothing is possible: the lists of the answer are then the best.
    """
    X = result.components
    codes, _ = fates_of(X, standing.certain, standing.possible)
    if not standing.possible.any():
        return
    names = explained_names(outcome.of)
    most = lists.FIRST if X.shape[1] <= lists.MOST_COLUMNS else lists.FEWER
    largest, drawn = float(np.abs(X).max(initial=0.0)) or 1.0, []
    for j, (x, code) in enumerate(zip(X.T, codes.T, strict=True), 1):
        used = np.flatnonzero((x != 0) | (code == len(MARKS) - 1))
        order = used[np.lexsort((used, -np.abs(x[used])))]
        items = [
            lists.item(f"{MARKS[code[i]]} {names[i]}", x[i], largest, colour=COLOURS[code[i]])
            for i in order[:most]
        ]
        title = f"{j} · {np.sum(code == 2):,} certain, {np.sum(code == 1):,} undecided"
        drawn.append({"title": title, "items": items, "more": max(0, len(order) - most)})
    st.html(lists.side_by_side(drawn))
    one, feature, (no, unknown, yes) = outcome.about.one, outcome.about.feature, MARKS
    st.caption(
        f"{yes} is in this {one} in every better answer, {no} in none, and {unknown} is undecided. "
        f"{np.sum(codes == 0):,} of the {codes.size:,} pairs of a {feature} and a {one} are ruled out."
    )


def numbered(standing: Standing, result: nspca.Result, sizes: Sequence[int]) -> Standing:
    """Return a standing whose components have the numbers that the page gives to the most similar ones found.

    A search numbers its components as it goes. Only components of one size can change places.
    """
    X = result.components
    used, size = (X != 0).astype(float), np.asarray(sizes)
    alike = used.T @ (2.0 * standing.certain + standing.possible) + KEEP * np.eye(len(size))
    alike[size[:, None] != size] = -2.0 * X.size - 1
    place = linear_sum_assignment(-alike)[1][order_of(result)]
    return replace(standing, certain=standing.certain[:, place], possible=standing.possible[:, place])
