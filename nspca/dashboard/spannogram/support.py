"""The view of one candidate support of the rank-2 problem (Fig. 2 of the 2014 paper).

Its leading eigenvector may have weights of both signs, which are not allowed. `page` draws `show`.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from nspca.covariance.linalg import Array
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.components import figures
from nspca.dashboard.components.spannogram_explorer import UNIT
from nspca.dashboard.spannogram import low_rank
from nspca.dashboard.spannogram.low_rank import Subject
from nspca.lowrank.spannogram import intervals_rank2
from nspca.lowrank.spannogram.teaching import SupportView, made_example, outside, support_view
from nspca.plots import component_bars, pd_view_figure

CHOICES = {
    "tempting": "The most tempting one",
    "optimum": "The optimum's own",
    "pick": "Pick one",
    "made": "A made example",
}
TEMPTING = (
    "The most tempting set would be the best with weights of any sign, among those that need weights of both "
    "signs for it."
)
BARS = 12


def show(of: Subject) -> None:
    """Draw the choice of a support, its arc of directions, and the weights of its eigenvector."""
    if not of.problem.nonneg:
        st.info(
            "With weights of any sign the best weights are always allowed. Choose nonnegative weights to "
            "see when they are not."
        )
        return
    choice = choose_one("Which set of features?", "support", CHOICES, is_labelled=True, help=TEMPTING)
    if choice == "made":
        _draw_example()
    else:
        found = low_rank.rank2(of)
        candidates = found.candidates
        astray = outside(found.V, candidates)
        st.caption(_summary(len(astray), len(candidates)))
        if choice == "tempting" and not astray:
            st.info(
                "In these data no candidate set needs weights of both signs. This is a made example in "
                "which one does."
            )
            _draw_example()
        else:
            support = _chosen(choice, found.V, candidates, astray)
            _draw(
                support_view(found.V, support),
                of.chosen.dataset.feature_names,
                found.value,
                of.unit,
                UNIT,
            )


def _summary(astray: int, candidates: int) -> str:
    """Return the sentence on how many of the candidate supports need weights of both signs."""
    need = {0: "none needs", 1: "one needs"}.get(astray, f"{astray} need")
    sets = wording.things(candidates, "set", "sets")
    return f"Of {sets} to check in two directions, {need} weights of both signs for the most variance."


def _chosen(choice: str, V: Array, candidates: list[Array], astray: list[int]) -> Array:
    """Return the support of a choice, a key of `CHOICES`; for "pick", draw a slider over all candidates.

    `V` (n, 2) is the rank-2 factor. `astray` has the numbers of the candidates whose best weights have both
    signs, the most tempting first.
    """
    if choice == "tempting":
        return candidates[astray[0]]
    if choice == "optimum":
        return max(candidates, key=lambda support: support_view(V, support).value)
    if len(candidates) == 1:
        return candidates[0]
    number = max(1, min(state.get("candidate"), len(candidates)))
    return candidates[
        st.slider(
            "Candidate, in the order of the angle", 1, len(candidates), **state.bind("candidate", number)
        )
        - 1
    ]


def _draw_example() -> None:
    """Draw the view for a made-up example."""
    V, k = made_example()
    found = intervals_rank2(V, k)
    candidates = [
        support[support >= 0] for band in (found.positive, found.negative) for support in band.supports
    ]
    st.caption(f"Made, not measured: {len(V)} features A to E in two dimensions, k = {k}.")
    _draw(
        support_view(V, candidates[outside(V, candidates)[0]]),
        "ABCDE",
        found.value,
        found.value,
        "the optimum",
    )


def _draw(view: SupportView, names: Sequence[str], best: float, unit: float, unit_name: str) -> None:
    """Draw the arc of a support and the weights of its eigenvector.

    `best` is the value of the best support. Values are shown in per cent of `unit`, which is called
    `unit_name`.
    """
    left, right = st.columns([3, 2], gap="medium")
    with left:
        name = "" if view.active is None else names[view.support[view.active]]
        figures.draw(pd_view_figure(view.rows, view.eigenvector, view.c, view.active, name), "arc")
    with right:
        st.markdown(_sentence(view, names, best, unit, unit_name))
        _weights(view, names)


def _weights(view: SupportView, names: Sequence[str]) -> None:
    """Draw the entries of the eigenvector by name: all, or the largest and the smallest."""
    entries = view.rows @ view.eigenvector
    entries = entries / (np.linalg.norm(entries) or 1.0)
    order, note = np.argsort(-entries, kind="stable"), ""
    if len(order) > BARS:
        note = f" (the {BARS // 2} largest and the {BARS // 2} smallest of {len(order)})"
        order = np.concatenate([order[: BARS // 2], order[-(BARS // 2) :]])
    st.markdown(f"**Weights of the eigenvector**{note}")
    figures.draw(
        component_bars([names[j] for j in view.support[order]], entries[order], top=BARS), "eigenvector"
    )


def _sentence(view: SupportView, names: Sequence[str], best: float, unit: float, unit_name: str) -> str:
    """Return the sentence about the value of a support and its eigenvector; arguments as in `_draw`."""
    per = 100 / unit
    size = wording.things(len(view.support), "feature")
    digits = 1 if round(per * view.free, 1) > round(per * view.value, 1) else 2
    free, reached, most = (f"{per * value:.{digits}f} %" for value in (view.free, view.value, best))
    first = f"Weights of any sign reach **{free}** of {unit_name} on this set of {size}. "
    if view.inside:
        return first + "These weights have one sign. They are **allowed**, and are the answer."
    text = (
        f"{first}These weights have both signs, so they are **not allowed**. Nonnegative weights reach "
        f"**{reached}**"
    )
    if view.active is not None:
        text += f", with the weight of {wording.plain(names[view.support[view.active]])} just at zero"
    text += f". The best of all sets reaches {most}"
    return text + (", so this set promised too much." if view.free > best else ".")
