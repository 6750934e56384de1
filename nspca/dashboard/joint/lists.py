"""Draw components as ranked lists of names, and the view of every table that is no images and no texts.

The view of texts is made of the same lists. Names that a visitor gives to components stand above them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.covariance.moments import moments
from nspca.dashboard.app import state
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components import copying, figures, pressing
from nspca.dashboard.joint.headline import each
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.views import component
from nspca.dashboard.views.component import used_names
from nspca.dashboard.views.nouns import explained_names
from nspca.data.genesets import name_list
from nspca.plots.components import profiles_figure
from nspca.plots.fixing import fates_of
from nspca.plots.theme import largest_weights
from nspca.presentation.colours import CONTEXT, NEGATIVE, POSITIVE, PROVED, UNDECIDED, channels
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import percent_down
from nspca.presentation.phrases import rival_name
from nspca.specs.optimum import Standing

SECTION = "section"
"""Key of the box below the answer that holds the chosen section."""
MOST = 40
"""Names of a component in a list; files have them all."""
FIRST = 8
"""Names of a component on the first screen, where the lists stand in one row."""
FEWER = 5
"""Names of a component on the first screen, where the lists stand in two rows."""
PRESENTED = 4
"""Names of a component in present mode, where two rows of lists fit on the screen."""
ALONE = 10
"""Names of the one component that is looked at in present mode."""
IN_NAME = 4
"""Features in the suggested name of a component."""
MOST_COLUMNS = 5
"""Lists in a row."""
LISTS = "pressed_lists"
"""Key of the container of the lists that a visitor can press."""
NUMBER_ROOM = "3rem"
"""Width beside the longest bar, in which the numbers stand."""
MARKS = "✗", "?", "✓"
"""Marks of names that are ruled out, undecided and certain: by the codes of `fates_of`."""
COLOURS = CONTEXT, UNDECIDED, PROVED
"""Colours of features that are ruled out, undecided and certain, in the order of `MARKS`."""
LONGEST_NAME = 40
"""Maximum characters of a name that a visitor gives."""
GIVEN = re.compile(r"([a-z0-9_]{1,20}):(\d{1,2})=(.{1,%d})" % LONGEST_NAME)  # noqa: UP031
"""One name in the address: method, number of the component from 1, and the name."""


# --- tables ------------------------------------------------------------------------------------------


def picture(answer: Answer) -> None:
    """Draw the choice of one component to look at, and the components of the best method."""
    if _is_spectrum(answer):
        choose(answer)
        figures.draw(_profiles(answer), f"profiles_{answer.id}")
    else:
        show(answer, _draw_alone)


def _draw_alone(answer: Answer, number: int) -> None:
    x = answer.displayed.components[:, number - 1]
    component.picture(answer.of.dataset, x, f"alone_{answer.id}")


def after(answer: Answer) -> str:
    """Return the sentence about the picture and the next step."""
    feature = answer.nouns.feature
    if answer.asked.r == 1:
        return f"The {feature}s stand in the order of their weight. Below, the component is alone."
    said = f"Each list is a component: {feature}s that vary together, with the share that it captures."
    if _is_spectrum(answer):
        said = "Each curve is a component: its weights over the axis of the spectra."
    return f"{said} Press a {'number' if _is_spectrum(answer) else 'list'} to see it alone."


def _profiles(answer: Answer) -> go.Figure:
    data, X = answer.of.dataset, answer.displayed.components
    named = names_of(answer.method)
    titles = [f"{j} {named.get(j, '')}".strip() for j in range(1, X.shape[1] + 1)]
    return profiles_figure(X, data.axis, data.axis_name, mean=moments(data.X)[0], names=titles)


def look(answer: Answer) -> None:
    """Draw the chosen component: its weights, its features to copy, and the samples along it."""
    data, names, nouns = answer.of.dataset, answer.of.dataset.feature_names, answer.nouns
    method = chosen_method(answer)
    number, x = chosen_component(answer, method)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        choose_method(answer)
        with st.expander(f"Name component {number}, copy its {nouns.feature}s", key="fold_words"):
            name_it(answer, method, number, x)
            copy(x, names, f"The {nouns.features(int((x != 0).sum()))} of component {number}")
    with right:
        component.picture(data, x, f"one_{answer.id}")
    try:
        problem = scored_problem(answer.of, answer.problem)
    except nspca.InvalidProblem:
        return
    figure = component.mapped(data, problem, x)
    if figure is not None:
        label = f"The {nouns.feature}s of component {number} in all samples, sorted by score"
        with st.expander(label, icon=":material/grid_on:", key="fold_map"):
            figures.draw(figure, f"heat_{answer.id}")


def drawn(answer: Answer) -> dict[str, go.Figure]:
    """Return the figures for export, one for each component of the best method, by file name."""
    data, best = answer.of.dataset, answer.method
    X = answer.displayed.components
    each = {f"component-{j:02}-by-{best}": component.plot(data, x)() for j, x in enumerate(X.T, 1)}
    return ({f"all-components-by-{best}": _profiles(answer)} if _is_spectrum(answer) else {}) | each


def _is_spectrum(answer: Answer) -> bool:
    data = answer.of.dataset
    return data.kind == "spectrum" and data.axis is not None and not data.is_covariance


# --- lists -------------------------------------------------------------------------------------------


def show(answer: Answer, draw_alone: Callable[[Answer, int], None]) -> None:
    """Draw the choice of a component, and below it the components of the best method as lists.

    Parameters
    ----------
    draw_alone : draws the chosen component beside the lists in present mode, where nothing else shows it
    """
    number = choose(answer)
    if not state.get("present") or answer.asked.r == 1:
        _draw_lists(answer)
        return
    left, right = st.columns([5, 2], gap="medium")
    with left:
        _draw_lists(answer)
    with right:
        draw_alone(answer, number)


def draw_long(answer: Answer, number: int) -> None:
    """Draw one component of the best method, counted from 1, as a longer list of names."""
    result = answer.displayed
    x, share = result.components[:, number - 1], each(result, answer)[number - 1]
    title = names_of(answer.method).get(number) or f"{answer.nouns.one.capitalize()} {number}"
    largest = float(np.abs(x).max(initial=0)) or 1.0
    st.html(side_by_side([_list(title, x, share, explained_names(answer.of), None, largest, ALONE)]))


def _draw_lists(answer: Answer) -> None:
    """Draw the components of the best method as lists of their first names, which a visitor can press."""
    result, r = answer.displayed, answer.asked.r
    most = FIRST
    if r > MOST_COLUMNS:
        most = PRESENTED if state.get("present") else FEWER
    names, shares = explained_names(answer.of), each(result, answer)
    with st.container(key=LISTS):
        st.html(lists(result.components, shares, names, named=names_of(answer.method), most=most))
    if r == 1:
        return

    def look_at(number: int) -> None:
        state.put(component=number, look="one")

    # In present mode the chosen list stands beside the others, and nothing is below.
    follow = "" if state.get("present") else SECTION
    pressing.listen(LISTS, r, chosen_number(answer), look_at, follow)


def so_far(answer: Answer) -> None:
    """Draw what a run at work has found, without a control."""
    result = answer.displayed
    st.html(lists(result.components, each(result, answer), answer.of.dataset.feature_names, most=FIRST))


def lists(
    X: np.ndarray,
    shares: Sequence[str],
    names: Sequence[str],
    known: Any = None,
    named: Mapping[int, str] | None = None,
    most: int = MOST,
) -> Markup:
    """Return HTML of components as lists of names with weights, largest first.

    Parameters
    ----------
    X : (n, r) weights
    shares : r texts that stand above the lists, such as ``8.9 %``
    names : n
    known : (n,) bool, optional
        Features that the answer uses; all others are marked with a dotted line.
    named : names of components by their number from 1
    most : maximum names in each list
    """
    largest, named = float(np.abs(X).max(initial=0)) or 1.0, named or {}
    return side_by_side(
        [
            _list(f"{j} {named.get(j, '')}".strip(), x, share, names, known, largest, most)
            for j, (x, share) in enumerate(zip(X.T, shares, strict=True), 1)
        ]
    )


def side_by_side(drawn: Sequence[Mapping[str, Any]]) -> Markup:
    """Return HTML of lists beside each other, in rows of equal length."""
    columns = -(-len(drawn) // -(-len(drawn) // MOST_COLUMNS))
    return render("lists", columns=columns, lists=drawn, room=NUMBER_ROOM)


def _list(
    title: str,
    x: np.ndarray,
    share: str,
    names: Sequence[str],
    known: np.ndarray | None,
    largest: float,
    most: int,
) -> dict[str, Any]:
    """Return one component as a list with a title, for the template of `lists`.

    `largest` is the weight with the longest bar. `known` and `most` are those of `lists`.
    """
    order = largest_weights(x)
    items = [_item(names[i], x[i], largest, known is not None and not known[i]) for i in order[:most]]
    return {"title": f"{title} · {share}", "items": items, "more": max(0, len(order) - most)}


def _item(
    name: str, weight: float, largest: float, only: bool = False, colour: str | None = None
) -> dict[str, Any]:
    """Return one name with a bar for its weight, for the template; `only` marks it with a dotted line.

    The bar has the colour of the sign of the weight, or another ``#rrggbb`` colour.
    """
    colour = channels(colour or (NEGATIVE if weight < 0 else POSITIVE))
    width = f"{abs(weight) / largest:.2f}"
    return {"name": str(name), "weight": weight, "width": width, "colour": colour, "only": only}


def recurring(answer: Answer, F: np.ndarray, overlaps: Sequence[float]) -> None:
    """Draw each component as the names that are most frequent under resampling, with their frequency.

    F (n, r) has the frequencies, and `overlaps` the mean overlap of each component.
    """
    names, one = answer.of.dataset.feature_names, answer.nouns.one
    most = max(answer.asked.sizes)
    X = np.where(np.argsort(np.argsort(-F, axis=0, kind="stable"), axis=0) < most, F, 0.0)
    known = answer.shown.components.any(axis=1)
    st.html(lists(X, [percent_down(overlap, 1) for overlap in overlaps], names, known))
    st.caption(
        f"Bars and numbers say in which share of the draws a {one} has it. Dotted lines mark what is in no "
        f"{one} above. In %: how much of a {one} the draws have, weights counted, on average."
    )


def fates(answer: Answer, result: nspca.Result, standing: Standing) -> None:
    """Draw which features of each component are certain, undecided or ruled out, as lists of names.

    Nothing is drawn when nothing is possible: the lists of the answer are then the best.
    """
    X = result.components
    codes, _ = fates_of(X, standing.certain, standing.possible)
    if not standing.possible.any():
        return
    names = explained_names(answer.of)
    most = FIRST if X.shape[1] <= MOST_COLUMNS else FEWER
    largest, drawn = float(np.abs(X).max(initial=0.0)) or 1.0, []
    for j, (x, code) in enumerate(zip(X.T, codes.T, strict=True), 1):
        used = np.flatnonzero((x != 0) | (code == len(MARKS) - 1))
        order = used[np.lexsort((used, -np.abs(x[used])))]
        items = [
            _item(f"{MARKS[code[i]]} {names[i]}", x[i], largest, colour=COLOURS[code[i]])
            for i in order[:most]
        ]
        title = f"{j} · {np.sum(code == 2):,} certain, {np.sum(code == 1):,} undecided"
        drawn.append({"title": title, "items": items, "more": max(0, len(order) - most)})
    st.html(side_by_side(drawn))
    one, feature, (no, unknown, yes) = answer.nouns.one, answer.nouns.feature, MARKS
    st.caption(
        f"{yes} is in this {one} in every better answer, {no} in none, and {unknown} is undecided. "
        f"{np.sum(codes == 0):,} of the {codes.size:,} pairs of a {feature} and a {one} are ruled out."
    )


# --- the chosen component ----------------------------------------------------------------------------


def chosen_number(answer: Answer) -> int:
    """Return the number, from 1, of the component that is looked at."""
    return min(max(1, state.get("component")), answer.asked.r)


def choose(answer: Answer) -> int:
    """Draw the choice of one component of the best method, and return its number from 1."""
    r, named = answer.asked.r, names_of(answer.method)
    if r == 1:
        return 1
    return choose_one(
        f"Look at one {answer.nouns.one}",
        "component",
        {j: f"{j} {named.get(j, '')}".strip() for j in range(1, r + 1)},
        chosen_number(answer),
        is_labelled=not state.get("present"),
    )


def chosen_method(answer: Answer) -> str:
    """Return the method whose component is looked at."""
    return state.get_one_of("shown", answer.results, answer.method)


def choose_method(answer: Answer) -> None:
    """Draw the choice of the method whose component is looked at, where there are several."""
    if len(answer.results) > 1:
        st.selectbox(
            "Found by the method",
            list(answer.results),
            width=260,
            format_func=rival_name,
            **state.bind("shown", chosen_method(answer)),
        )


def chosen_component(answer: Answer, method: str) -> tuple[int, np.ndarray]:
    """Return the number (from 1) of the component in the address, and its weights (n,) by a method."""
    number = chosen_number(answer)
    return number, answer.ordered[method].components[:, number - 1]


def copy(x: np.ndarray, names: Sequence[str], label: str) -> None:
    """Draw the names of a component with a button that copies them, one per line."""
    copying.button(
        f"Copy {label[0].lower()}{label[1:]}, one a line", name_list(used_names(names, x)), "copy_names"
    )


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


def name_it(answer: Answer, method: str, number: int, x: np.ndarray) -> None:
    """Draw the input for the name of a component x (n,) of a method; its largest weights suggest one."""
    key, name = f"name_{method}_{number}", names_of(method).get(number, "")
    largest = used_names(answer.of.dataset.feature_names, x)[:IN_NAME]
    st.text_input(
        f"Name of this {answer.nouns.one}",
        on_change=lambda: _give_name(method, number, st.session_state[key]),
        max_chars=LONGEST_NAME,
        placeholder=", ".join(name[:24] for name in largest),
        help="Stands above the list and in the files. Empty it to take the name back.",
        **state.showing(key, name),
    )
