"""Draw components as ranked lists of names, in as many columns as fit the screen.

The views of texts and of other tables are made of these functions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.components import copying, pressing
from nspca.dashboard.joint import names as given_names
from nspca.dashboard.joint.headline import each
from nspca.dashboard.joint.methods import heading
from nspca.dashboard.joint.outcome import SECTION, Outcome
from nspca.dashboard.joint.subject import explained_names
from nspca.dashboard.views.component import used_names
from nspca.data.genesets import name_list
from nspca.plots.theme import largest_weights
from nspca.presentation.colours import NEGATIVE, POSITIVE, channels
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import percent_down
from nspca.presentation.phrases import rival_name

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


def show(outcome: Outcome, alone: Callable[[Outcome, int], None]) -> None:
    """Draw the choice of a component, and below it the components of the best method as lists.

    Parameters
    ----------
    alone : draws the chosen component beside the lists in present mode, where nothing else shows it
    """
    number = choose(outcome)
    if not state.get("present") or outcome.asked.r == 1:
        best(outcome)
        return
    left, right = st.columns([5, 2], gap="medium")
    with left:
        best(outcome)
    with right:
        alone(outcome, number)


def one(outcome: Outcome, number: int) -> None:
    """Draw one component of the best method, counted from 1, as a longer list of names."""
    result = outcome.shown
    x, share = result.components[:, number - 1], each(result, outcome)[number - 1]
    title = called(outcome.best).get(number - 1) or f"{outcome.about.one.capitalize()} {number}"
    largest = float(np.abs(x).max(initial=0)) or 1.0
    drawn = [_list(title, x, share, explained_names(outcome.of), None, largest, ALONE)]
    st.html(render("lists", columns=1, lists=drawn, room=NUMBER_ROOM))


def best(outcome: Outcome) -> None:
    """Draw the components of the best method as lists of their first names."""
    result, r = outcome.shown, outcome.asked.r
    most = FIRST
    if r > MOST_COLUMNS:
        most = PRESENTED if state.get("present") else FEWER
    names, shares = explained_names(outcome.of), each(result, outcome)
    with st.container(key=LISTS):
        st.html(lists(result.components, shares, names, called=called(outcome.best), most=most))
    if r == 1:
        return

    def look_at(number: int) -> None:
        """Choose a component, and the section about it."""
        state.put(component=number, look="one")

    # In present mode the chosen list stands beside the others, and nothing is below.
    follow = "" if state.get("present") else SECTION
    pressing.listen(LISTS, r, at(outcome), look_at, follow)


def at(outcome: Outcome) -> int:
    """Return the number, from 1, of the component that is looked at."""
    return min(max(1, state.get("component")), outcome.asked.r)


def choose(outcome: Outcome) -> int:
    """Draw the choice of one component of the best method, and return its number from 1."""
    about, r, names = outcome.about, outcome.asked.r, called(outcome.best)
    if r == 1:
        return 1
    return choose_one(
        f"Look at one {about.one}",
        "component",
        {j: f"{j} {names.get(j - 1, '')}".strip() for j in range(1, r + 1)},
        at(outcome),
        is_labelled=not state.get("present"),
    )


def rows(outcome: Outcome) -> None:
    """Draw a row of lists for every method.

    Lists of other methods are ordered so that those that share most weight with a list of the best joint
    method stand below that list.
    """
    names, results = outcome.of.dataset.feature_names, outcome.ordered
    joint = [method for method in results if nspca.METHODS[method].joint]
    first = max(joint, key=lambda method: results[method].value, default=None)
    known = None if first is None else results[first].components.any(axis=1)
    for method, result in results.items():
        st.markdown(heading(outcome, result))
        is_other = first is not None and method != first
        order = (
            None if first is None or not is_other else matched(results[first].components, result.components)
        )
        shares = each(result, outcome)
        marked = known if is_other else None
        st.html(lists(result.components, shares, names, marked, order, called(method), FIRST))
    if first is not None and len(results) > 1:
        one, feature = outcome.about.one, outcome.about.feature
        st.caption(
            f"The {one}s of each method are ordered so that those that share most {feature}s with "
            f"{wording.plain(first)} stand below each other. Dotted lines mark {feature}s that no {one} of "
            f"{wording.plain(first)} has. Bars and numbers are weights."
        )


def called(method: str) -> dict[int, str]:
    """Return the names that the visitor gave to components of a method, by their number from 0."""
    return {j - 1: name for (whose, j), name in given_names.given().items() if whose == method}


def matched(X: Any, Y: Any) -> np.ndarray:
    """Return for each column of X (n, r) the number of its partner in Y (n, r).

    Each column of Y is used once. The partners share as much weight as possible in total.
    """
    return linear_sum_assignment(-(np.abs(X).T @ np.abs(Y)))[1]


def lists(
    X: np.ndarray,
    shares: Sequence[str],
    names: Sequence[str],
    known: Any = None,
    order: Sequence[int] | np.ndarray | None = None,
    called: Mapping[int, str] | None = None,
    most: int = MOST,
) -> Markup:
    """Return HTML of components as lists of names with weights, largest first.

    Parameters
    ----------
    X : (n, r) weights
    shares : r texts that stand above the lists, such as ``8.9 %``
    names : n
    known : (n,) bool, optional
        Features that another answer uses too; all others are marked with a dotted line.
    order : numbers of the components from 0, in the order of drawing
    called : names of components by their number from 0
    most : maximum names in each list
    """
    largest = float(np.abs(X).max(initial=0)) or 1.0
    r = X.shape[1]
    places, called = range(r) if order is None else order, called or {}
    drawn = [
        _list(
            f"{j + 1}{' ' * (j in called)}{called.get(j, '')}",
            X[:, j],
            shares[j],
            names,
            known,
            largest,
            most,
        )
        for j in places
    ]
    return side_by_side(drawn)


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
    items = [item(names[i], x[i], largest, known is not None and not known[i]) for i in order[:most]]
    return {"title": f"{title} · {share}", "items": items, "more": max(0, len(order) - most)}


def item(
    name: str, weight: float, largest: float, only: bool = False, colour: str | None = None
) -> dict[str, Any]:
    """Return one name with a bar for its weight, for the template; `only` marks it with a dotted line.

    The bar has the colour of the sign of the weight, or another ``#rrggbb`` colour.
    """
    colour = channels(colour or (NEGATIVE if weight < 0 else POSITIVE))
    width = f"{abs(weight) / largest:.2f}"
    return {"name": str(name), "weight": weight, "width": width, "colour": colour, "only": only}


def copy(x: np.ndarray, names: Sequence[str], label: str) -> None:
    """Draw the names of a component with a button that copies them, one per line."""
    copying.button(
        f"Copy {label[0].lower()}{label[1:]}, one a line", name_list(used_names(names, x)), "copy_names"
    )


def method_of(outcome: Outcome) -> str:
    """Return the method whose component is looked at."""
    return state.get_one_of("shown", outcome.results, outcome.best)


def choose_method(outcome: Outcome) -> None:
    """Draw the choice of the method whose component is looked at, where there are several."""
    if len(outcome.results) > 1:
        names = list(outcome.ordered)
        st.selectbox(
            "Found by the method",
            names,
            width=260,
            format_func=rival_name,
            **state.bind("shown", method_of(outcome)),
        )


def looked_at(outcome: Outcome, method: str) -> tuple[int, np.ndarray]:
    """Return the number (from 1) of the component in the address, and its weights (n,) by a method."""
    number = at(outcome)
    return number, outcome.ordered[method].components[:, number - 1]


def name_it(outcome: Outcome, method: str, number: int, suggestion: str) -> None:
    """Draw the input for the name of a component of a method."""
    key, name = f"name_{method}_{number}", called(method).get(number - 1, "")
    st.text_input(
        f"Name of this {outcome.about.one}",
        on_change=lambda: given_names.give(method, number, st.session_state[key]),
        max_chars=given_names.LONGEST,
        placeholder=suggestion,
        help="Stands above the list and in the files. Empty it to take the name back.",
        **state.showing(key, name),
    )


def suggested_name(x: np.ndarray, names: Sequence[str]) -> str:
    """Return a name for a component x (n,): the names of its largest weights in one line."""
    return ", ".join(name[:24] for name in used_names(names, x)[:IN_NAME])


def recurring(outcome: Outcome, F: np.ndarray, overlaps: Sequence[float]) -> None:
    """Draw each component as the names that are most frequent under resampling, with their frequency.

    F (n, r) has the frequencies, and `overlaps` the mean overlap of each component.
    """
    names, r, about = outcome.of.dataset.feature_names, F.shape[1], outcome.about
    most = max(outcome.asked.sizes)
    X = np.where(np.argsort(np.argsort(-F, axis=0, kind="stable"), axis=0) < most, F, 0.0)
    known = outcome.results[outcome.best].components.any(axis=1)
    shares = [percent_down(overlap, 1) for overlap in np.asarray(overlaps).reshape(r).tolist()]
    st.html(lists(X, shares, names, known))
    st.caption(
        f"Bars and numbers say in which share of the draws a {about.one} has it. Dotted lines mark what is "
        f"in no {about.one} above. In %: how much of a {about.one} the draws have, weights counted, on "
        "average."
    )
