"""Draw components as lists of words: in topics, in tables, and for the results of searches and resampling.

Names that a visitor gives to components stand above them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

import nspca
from nspca.dashboard.app import state
from nspca.dashboard.components import pressing
from nspca.dashboard.joint import form
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.component import explained_names, used_names
from nspca.data.export import name_list
from nspca.plots.fixing import fates_of
from nspca.plots.joint import hue
from nspca.plots.theme import largest_weights
from nspca.presentation.colours import CONTEXT, PROVED, UNDECIDED, channels
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import percent_down
from nspca.specs.optimum import Standing

SECTION = "section"  # key of the part of the page that follows the picture
MOST = 40  # names of a component in a list; files have them all
FEW = 8  # names of a component before the rest is folded, where the names are long
LONG = 14  # average characters of a long name
IN_NAME = 4  # features in the suggested name of a component
MOST_COLUMNS = 5  # lists in a row
LISTS = "pressed_lists"  # key of the container of the lists that a visitor can press
PALEST, STRONGEST = 0.08, 0.55  # opacity of the colour behind the smallest and the largest weight
MARKS = "✗", "?", "✓"  # marks of names that are ruled out, undecided and certain: by the codes of `fates_of`
COLOURS = CONTEXT, UNDECIDED, PROVED
"""Colours of features that are ruled out, undecided and certain, in the order of `MARKS`."""
LONGEST_NAME = 40  # maximum characters of a name that a visitor gives
GIVEN = re.compile(r"([a-z0-9_]{1,20}):(\d{1,2})=(.{1,%d})" % LONGEST_NAME)  # noqa: UP031
"""One name in the address: method, number of the component from 1, and the name."""


def draw(answer: Answer, follow: str = "") -> None:
    """Draw the components of the best method as lists. A press chooses one, a × leaves a name out."""
    result, r = answer.displayed, answer.asked.r
    names, number = explained_names(answer.of), chosen_number(answer)
    used = [len(names[int(j)]) for j in np.flatnonzero(result.components.any(axis=1))]
    long = sum(used) > LONG * len(used)
    axis = answer.of.dataset.axis
    drawn = lists(
        result.components,
        answer.shares(result),
        names,
        named=names_of(answer.method),
        few=FEW if long else MOST,
        chosen=number if r > 1 else 0,
        can_leave_out=axis is None and answer.own and answer.of.table is None,
        axis=axis,
    )
    with st.container(key=LISTS):
        st.html(drawn)
    choose = (lambda pressed: state.put(component=min(pressed, r))) if r > 1 else None
    pressing.listen(LISTS, choose, lambda feature: form.without_feature(answer, feature), follow)


def so_far(answer: Answer) -> None:
    """Draw what a run at work has found, without a control."""
    result, data = answer.displayed, answer.of.dataset
    st.html(lists(result.components, answer.shares(result), data.feature_names, few=FEW, axis=data.axis))


def lists(
    X: np.ndarray,
    shares: Sequence[str],
    names: Sequence[str],
    known: Any = None,
    named: Mapping[int, str] | None = None,
    few: int = MOST,
    *,
    chosen: int = 0,
    can_leave_out: bool = False,
    numbers: np.ndarray | None = None,
    axis: np.ndarray | None = None,
) -> Markup:
    """Return HTML of components as lists of names, largest weight first and in the strongest colour.

    Parameters
    ----------
    X : (n, r) weights
    shares : r texts that stand above the lists, such as ``8.9 %``
    names : n
    known : (n,) bool, optional
        Features that the answer uses; all others are marked with a dotted line.
    named : names of components by their number from 1
    few : names in each list before the rest is folded
    chosen : number of the chosen list, from 1; 0 where none can be chosen
    can_leave_out : whether every name has a button that leaves it out
    numbers : (n, r), optional
        Shares that stand beside the names.
    axis : (n,), optional
        Features are listed as stretches of it.
    """
    largest, named, drawn = float(np.abs(X).max(initial=0)) or 1.0, named or {}, []
    for j, (x, share) in enumerate(zip(X.T, shares, strict=True), 1):
        stretches = None if axis is None else _stretches(x, axis)
        order = largest_weights(x) if stretches is None else np.array([*stretches])
        items = [
            _item(
                names[i] if stretches is None else stretches[i],
                x[i],
                largest,
                only=known is not None and not known[i],
                out=int(i) if can_leave_out else None,
                number="" if numbers is None else f"{100 * numbers[i, j - 1]:.0f} %",
            )
            for i in order[:MOST]
        ]
        title = f"{j} {named.get(j, '')}".strip()
        drawn.append(
            {
                "title": f"{title} · {share}",
                "items": items,
                "few": few,
                "more": max(0, len(order) - MOST),
                "chosen": j == chosen,
                "can_choose": chosen > 0,
            }
        )
    return side_by_side(drawn)


def _stretches(x: np.ndarray, axis: np.ndarray) -> dict[int, str]:
    """Return each stretch of neighbouring weights of one sign, such as "1876–1952", by its largest weight."""
    used = np.flatnonzero(x)
    ends = np.flatnonzero((np.diff(used) > 1) | (np.diff(np.sign(x[used])) != 0)) + 1
    return {
        int(run[np.argmax(np.abs(x[run]))]): "–".join(f"{at:g}" for at in axis[np.unique(run[[0, -1]])])
        for run in np.split(used, ends)
        if run.size
    }


def side_by_side(drawn: Sequence[dict[str, Any]]) -> Markup:
    """Return HTML of lists beside each other, in rows of equal length, each in the hue of its component."""
    columns = -(-len(drawn) // -(-len(drawn) // MOST_COLUMNS))
    usual = {"chosen": False, "can_choose": False}
    shown = [usual | {"hue": channels(hue(j))} | one for j, one in enumerate(drawn)]
    return render("lists", columns=columns, lists=shown)


def _item(
    name: str,
    weight: float,
    largest: float,
    only: bool = False,
    own: str = "",
    out: int | None = None,
    number: str = "",
) -> dict[str, Any]:
    """Return one name for the template. `own` is a ``#rrggbb`` colour in place of that of its list."""
    said = f"{name}: weight {weight:.2f}"
    tint = PALEST + (STRONGEST - PALEST) * abs(weight) / largest
    return {
        "name": f"{'−' if weight < 0 else ''}{name}",
        "said": said,
        "tint": f"{tint:.2f}",
        "only": only,
        "own": channels(own) if own else "",
        "out": out,
        "number": number,
    }


def recurring(answer: Answer, F: np.ndarray, overlaps: Sequence[float]) -> None:
    """Draw each component as the names that are most frequent under resampling, with their frequency."""
    names, one = answer.of.dataset.feature_names, answer.nouns.one
    most = max(answer.asked.sizes)
    X = np.where(np.argsort(np.argsort(-F, axis=0, kind="stable"), axis=0) < most, F, 0.0)
    known = answer.shown.components.any(axis=1)
    st.html(lists(X, [percent_down(overlap, 1) for overlap in overlaps], names, known, numbers=X))
    st.caption(
        f"The numbers say in which share of the draws a {one} has it. Dotted lines mark what is in no "
        f"{one} above. In %: how much of a {one} the draws have, weights counted, on average."
    )


def fates(answer: Answer, result: nspca.Result, standing: Standing) -> None:
    """Draw which features of each component are certain, undecided or ruled out, as lists of names."""
    X = result.components
    codes, _ = fates_of(X, standing.certain, standing.possible)
    if not standing.possible.any():
        return
    names = explained_names(answer.of)
    largest, drawn = float(np.abs(X).max(initial=0.0)) or 1.0, []
    for j, (x, code) in enumerate(zip(X.T, codes.T, strict=True), 1):
        used = np.flatnonzero((x != 0) | (code == len(MARKS) - 1))
        order = used[np.lexsort((used, -np.abs(x[used])))]
        items = [
            _item(f"{MARKS[code[i]]} {names[i]}", x[i], largest, own=COLOURS[code[i]]) for i in order[:MOST]
        ]
        title = f"{j} · {np.sum(code == 2):,} certain, {np.sum(code == 1):,} undecided"
        drawn.append({"title": title, "items": items, "few": FEW, "more": max(0, len(order) - MOST)})
    st.html(side_by_side(drawn))
    one, feature, (no, unknown, yes) = answer.nouns.one, answer.nouns.feature, MARKS
    st.caption(
        f"{yes} is in this {one} in every better answer, {no} in none, and {unknown} is undecided. "
        f"{np.sum(codes == 0):,} of the {codes.size:,} pairs of a {feature} and a {one} are ruled out."
    )


def chosen_number(answer: Answer) -> int:
    """Return the number, from 1, of the component that is looked at."""
    return min(max(1, state.get("component")), answer.asked.r)


def chosen(answer: Answer) -> tuple[int, np.ndarray]:
    """Return the number (from 1) of the component that is looked at, and its weights (n,)."""
    number = chosen_number(answer)
    return number, answer.displayed.components[:, number - 1]


def name_and_copy(answer: Answer) -> None:
    """Draw the input for a name of the chosen component, and a button that copies its features."""
    (number, x), nouns = chosen(answer), answer.nouns
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _name_it(answer, answer.method, number, x)
        names = used_names(answer.of.dataset.feature_names, x)
        pressing.copy_button(f"Copy the {nouns.features(len(names))}", name_list(names), "copy_names")


# --- names that a visitor gives ----------------------------------------------------------------------


def given_names() -> dict[tuple[str, int], str]:
    """Return the names in the address by method and number of the component from 1; drop invalid ones."""
    found = (GIVEN.fullmatch(part) for part in state.get("named").split("|"))
    return {(match[1], int(match[2])): match[3] for match in found if match}


def names_of(method: str) -> dict[int, str]:
    """Return the names that the visitor gave to components of a method, by their number from 1."""
    return {j: name for (whose, j), name in given_names().items() if whose == method}


def _give_name(method: str, number: int, name: str) -> None:
    """Store the name of a component of a method (number from 1); an empty name removes it."""
    name = " ".join(name.replace("|", "/").split())[:LONGEST_NAME]
    names = {**given_names(), (method, number): name}
    state.put(named="|".join(f"{m}:{j}={text}" for (m, j), text in sorted(names.items()) if text))


def _name_it(answer: Answer, method: str, number: int, x: np.ndarray) -> None:
    key, name = f"name_{method}_{number}", names_of(method).get(number, "")
    largest = used_names(answer.of.dataset.feature_names, x)[:IN_NAME]
    st.text_input(
        f"Name of {answer.nouns.one} {number}",
        width=230,
        on_change=lambda: _give_name(method, number, st.session_state[key]),
        max_chars=LONGEST_NAME,
        placeholder=", ".join(name[:24] for name in largest),
        help="Stands above the list and in the files. Empty it to take the name back.",
        **state.showing(key, name),
    )
