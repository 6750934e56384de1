"""Separation of labelled groups by components: an effect size for each, and a check on a held-out half.

The section with the map of samples calls `show`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.app import tables, wording
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.views.component import MOST_GROUPS
from nspca.dashboard.views.section import Section
from nspca.errors import InvalidProblem
from nspca.selection import GroupEffects, group_effects
from nspca.selection.groups import COHEN, coded, halves
from nspca.solvers import METHODS
from nspca.specs import GroupsSpec

MEASURES = {
    COHEN: "the difference of the group means over their pooled standard deviation. Cohen called 0.2 small, "
    "0.5 medium and 0.8 large",
    "eta squared": "the share of the variance of the scores that lies between the groups, from 0 to 1",
}
SMALL_P = 0.05
"""Maximum p-value that is called small."""


def show(outcome: Outcome, scores: np.ndarray, columns: Mapping[str, Any], label: str) -> None:
    """Draw the effect size of each component for the groups of a label column, if there is one."""
    if not label:
        return
    labels = [str(one) for one in columns[label]]
    try:
        found = group_effects(scores, labels)
    except InvalidProblem as error:
        st.caption(f"No groups are compared: {wording.plain(str(error))}.")
        return
    if len(found.groups) > MOST_GROUPS:
        st.caption(
            f"No groups are compared: the label has {len(found.groups)} values, at most {MOST_GROUPS} are "
            "groups."
        )
        return
    st.markdown(f"### How far do the {outcome.about.many} separate the groups?")
    st.markdown(sentence(found, outcome.about.one))
    held = _held_out(outcome, labels, label)
    _table(outcome, found, held)
    st.caption(f"{found.measure[0].upper()}{found.measure[1:]} is {MEASURES[found.measure]}.")


def sentence(found: GroupEffects, one: str) -> str:
    """Return a sentence about the component that separates the groups most, and its effect size."""
    known = np.abs(np.nan_to_num(found.effect))
    best = int(np.argmax(known))
    groups = wording.listed([wording.plain(name) for name in found.groups])
    if not known[best]:
        return f"No {one} separates {groups}: the scores of their samples do not differ."
    left_out = f" {wording.things(found.unlabelled, 'sample')} without a label are left out."
    return (
        f"**{one.capitalize()} {best + 1}** separates {groups} most: {found.measure} "
        f"{found.effect[best]:.2f}." + left_out * (found.unlabelled > 0)
    )


def _table(outcome: Outcome, found: GroupEffects, held: GroupEffects | None) -> None:
    one, number = outcome.about.one, st.column_config.NumberColumn
    columns: dict[str, Any] = {one: np.arange(1, len(found.effect) + 1), "effect": found.effect}
    if held is not None:
        columns |= {"held_out": held.effect, "p": held.p}
    tables.show(
        pd.DataFrame(columns),
        height="content",
        width=520,
        alt=f"How far each {one} separates the groups",
        column_config={
            one: number(one.capitalize()),
            "effect": number(f"{found.measure}, all samples", format="%.2f"),
            "held_out": number(f"{found.measure}, held-out half", format="%.2f"),
            "p": number("p, held-out half", format="%.3f", help=f"Corrected for looking at all {one}s."),
        },
    )


def _held_out(outcome: Outcome, labels: list[str], label: str) -> GroupEffects | None:
    """Draw the check on a held-out half: its button, or its outcome, which is returned."""
    if outcome.of.table is not None:
        return None
    try:
        halves(coded(labels, len(labels))[1], 0)
    except InvalidProblem as error:
        st.caption(f"No check on a held-out half: {wording.plain(str(error))}.")
        return None
    spec = question(outcome, label)
    seconds = outcome.results[outcome.best].seconds
    return Section(
        "groups",
        spec,
        lambda: f"Check on a held-out half: {cost_estimate.took(seconds)}",
        lambda rows: None,
        lambda held, rows: st.markdown(held_out_sentence(held, outcome.about.one)),
        icon=":material/vertical_split:",
        help=f"Finds {outcome.about.many} on one half of the samples and measures the other half, where a "
        "p-value means something.",
    ).show(outcome.of, labels=labels)


def question(outcome: Outcome, label: str) -> GroupsSpec:
    """Return the spec of the check on a held-out half, for the method whose components explain most.

    For components of different sizes, a method that finds them together is used.
    """
    asked, best = outcome.asked, outcome.best
    together = METHODS[best].joint or len(set(asked.sizes)) == 1
    method = best if together else "joint"
    in_force = outcome.of.dataset.label_name or "label"
    return GroupsSpec(
        **asked.about_problem(),
        sizes=asked.sizes,
        label="" if label == in_force else label,
        method=method,
        options=asked.options_of([method]),
        seed=asked.seed,
    )


def held_out_sentence(held: GroupEffects, one: str) -> str:
    """Return a sentence about the component that separates the groups most on the held-out half."""
    assert held.p is not None  # computed on every held-out half

    if np.isnan(held.p).all():
        return "On the held-out half no scores differ."
    best = int(np.nanargmin(held.p))
    small = held.p[best] <= SMALL_P
    verdict = f"**{one.capitalize()} {best + 1} separates the groups of samples that it was not found on.**"
    if not small:
        verdict = "**On samples that were held out, the groups may as well be apart by chance.**"
    return (
        f"{verdict} {held.measure} {held.effect[best]:.2f} on {sum(held.counts)} samples, p = "
        f"{held.p[best]:.2g} after a correction for {wording.things(len(held.p), one)}. The {one}s of one "
        "half may differ from those above."
    )
