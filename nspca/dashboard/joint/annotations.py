"""How far components go with annotations of the samples: a table, a sentence, and a check by others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nspca.dashboard.app import wording
from nspca.dashboard.joint.samples import correlations, label_columns, label_of, scores_of
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.component import MOST_GROUPS
from nspca.dashboard.views.section import Section
from nspca.errors import InvalidProblem
from nspca.presentation.colours import MAIN, channels
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import percent_up
from nspca.selection import GroupEffects
from nspca.selection.groups import coded, halves
from nspca.solvers import METHODS
from nspca.specs import GroupsSpec

MOST = 6  # maximum annotations in the table
WEAK = 0.1  # share of the variance of scores below which an annotation says nothing about them
NEARLY = 0.01  # difference of two strengths that is none
SMALL_P = 0.05  # maximum p-value that is called small


@dataclass(frozen=True)
class Link:
    """How far components go with one annotation."""

    groups: int  # number of groups; 0 for an annotation that is a number
    # (r,) share of the variance of the scores that lies between the groups, or the correlation
    strengths: np.ndarray

    def text(self, j: int) -> str:
        """Return the strength for component j, counted from 0, as text."""
        value = self.strengths[j]
        return f"{100 * value:.0f} %" if self.groups else f"{value:+.2f}".replace("-", "−")

    @property
    def tints(self) -> np.ndarray:
        """Opacity of the colour behind each strength, from 0 to 1."""
        return self.strengths if self.groups else np.square(self.strengths)


def links(scores: np.ndarray, columns: Mapping[str, Any]) -> dict[str, Link]:
    """Return how far the scores (m, r) go with each annotation that has groups or numbers."""
    found = {}
    for name, labels in columns.items():
        values = np.asarray(labels)
        different = len(np.unique(values.astype(str)))
        if values.dtype.kind in "iuf" and different > MOST_GROUPS:
            there = np.isfinite(values)
            found[name] = Link(0, correlations(values[there, None], scores[there])[0])
        elif 2 <= different <= MOST_GROUPS and different < len(values):
            shares = shares_between(scores, values.astype(str))
            if not any(np.allclose(shares, one.strengths) for one in found.values()):  # the same groups
                found[name] = Link(different, shares)
    return found


def shares_between(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return eta squared (r,): the share of the variance of scores (m, r) that lies between groups."""
    centred = scores - scores.mean(axis=0)
    total = np.square(centred).sum(axis=0)
    between = sum(
        np.count_nonzero(rows) * np.square(centred[rows].mean(axis=0))
        for rows in (labels == name for name in np.unique(labels))
    )
    return np.asarray(np.divide(between, total, out=np.zeros_like(total), where=total > 0))


def table(found: Mapping[str, Link], one: str) -> Markup:
    """Return HTML of the table of components by annotations, in stronger colours for stronger links."""
    r = len(next(iter(found.values())).strengths)
    rows = [
        (f"{one} {j + 1}", [(link.text(j), f"{0.75 * abs(link.tints[j]):.2f}") for link in found.values()])
        for j in range(r)
    ]
    return render("annotations", heads=list(found), rows=rows, hue=channels(MAIN))


def sentence(name: str, link: Link, one: str) -> str:
    """Return a sentence about the components that go most with an annotation, or that none does."""
    sizes, called = np.abs(link.strengths), wording.plain(name)
    most = float(sizes.max())
    best = [str(j + 1) for j in np.flatnonzero(sizes > most - NEARLY)]
    who, s, its = f"{one.capitalize()} {best[0]}", "s", "its"
    if len(best) > 1:
        who, s, its = f"{one.capitalize()}s {wording.listed(best)}", "", "their"
    if not link.groups:
        if most**2 < WEAK:
            return f"No {one} goes with {called}: the largest correlation is {most:.2f}."
        values = wording.listed([link.text(int(number) - 1) for number in best])
        return f"{who} go{'es' * bool(s)} most with {called}: correlation {values}."
    groups = f"the {link.groups} groups{f' by “{called}”' * (name != 'label')}"
    if most < WEAK:
        return f"No {one} tells {groups} apart: at most {percent_up(most, 0)} of a spread lies between them."
    return f"{who} differ{s} most between {groups}: {100 * most:.0f} % of {its} spread lies between them."


def show(answer: Answer, beside: DeltaGenerator | None = None) -> None:
    """Draw the table; a sentence about the strongest link and a check on other samples stand `beside` it."""
    scores, columns = scores_of(answer), label_columns(answer.of.dataset)
    found = {} if scores is None else links(scores, columns)
    if not found:
        return
    one = answer.nouns.one
    few = dict(list(found.items())[:MOST])
    st.html(table(few, one))
    if len(found) > len(few):
        st.caption(f"The first {MOST} of {len(found)} annotations.")
    label = label_of(columns)
    name = label if label in found else next(iter(found))
    with beside or st.container():
        st.markdown(sentence(name, found[name], one))
        if found[name].groups:
            _held_out(answer, [str(label) for label in columns[name]], name)


def _held_out(answer: Answer, labels: list[str], label: str) -> None:
    if answer.of.table is not None:
        return
    try:
        halves(coded(labels, len(labels))[1], 0)
    except InvalidProblem:
        return
    Section(
        "groups",
        question(answer, label),
        "Check on other samples",
        lambda held, rows: st.markdown(held_out_sentence(held, answer.nouns.one)),
        icon=":material/vertical_split:",
        help=f"Finds {answer.nouns.many} on one half of the samples and measures the other half, where a "
        "p-value means something.",
        seconds=answer.shown.seconds,
    ).show(answer.of, labels=labels)


def question(answer: Answer, label: str) -> GroupsSpec:
    """Return the spec of the check on a held-out half, for the method whose components explain most."""
    asked, best = answer.asked, answer.method
    together = METHODS[best].joint or len(set(asked.sizes)) == 1
    method = best if together else "joint"
    in_force = answer.of.dataset.label_name or "label"
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
