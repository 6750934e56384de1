"""Draw components as ranked lists of names, in as many columns as fit the screen."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.joint import names as given_names
from nspca.dashboard.joint.headline import LEAST_DIGITS
from nspca.dashboard.joint.methods import heading, ordered
from nspca.dashboard.joint.outcome import Outcome
from nspca.data.genesets import name_list
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import percent_down

MOST = 40
"""Names of a component in a list; files have them all."""
FIRST = 10
"""Names of a component on the first screen."""
PRESENTED = 5
"""Names of a component in present mode, where two rows of lists fit on the screen."""
MOST_COLUMNS = 5


def best(outcome: Outcome, most: int = FIRST) -> None:
    """Draw the components of the best method as lists of their first names."""
    method = outcome.best
    result = ordered(outcome.results)[method]
    names = outcome.of.dataset.feature_names
    shares = result.values / outcome.total
    if state.get("present") and len(shares) > MOST_COLUMNS:
        most = min(most, PRESENTED)
    st.html(lists(result.components, shares, names, called=called(method), most=most))


def choose(outcome: Outcome) -> int:
    """Draw the choice of one component of the best method, and return its number from 1.

    Nothing is drawn in present mode, which hides the details of the chosen component.
    """
    about, method = outcome.about, outcome.best
    X, called_ = ordered(outcome.results)[method].components, called(method)
    r = X.shape[1]
    at = min(max(1, state.get(about.at)), r)
    if r == 1 or state.get("present"):
        return at
    return st.segmented_control(
        f"Look at one {about.one}",
        list(range(1, r + 1)),
        format_func=lambda j: f"{j} {called_.get(j - 1, '')}".strip(),
        required=True,
        **state.bind(about.at, at),
    )


def rows(outcome: Outcome) -> None:
    """Draw a row of lists for every method; lists in one column are those that share most weight."""
    names, results = outcome.of.dataset.feature_names, ordered(outcome.results)
    joint = [method for method in results if nspca.METHODS[method].joint]
    first = max(joint, key=lambda method: results[method].value, default=None)
    known = None if first is None else results[first].components.any(axis=1)
    for method, result in results.items():
        st.markdown(heading(outcome, result))
        is_other = first is not None and method != first
        order = (
            None if first is None or not is_other else matched(results[first].components, result.components)
        )
        shares = result.values / outcome.total
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
    shares: Sequence[float] | np.ndarray,
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
    shares : r shares of the variance
    names : n
    known : (n,) bool, optional
        Features that every good answer uses; all others are marked with a dotted line.
    order : numbers of the components in the order of drawing
    called : names of components by their number
    most : maximum names in each list
    """
    largest = float(np.abs(X).max(initial=0)) or 1.0
    r = X.shape[1]
    columns = -(-r // -(-r // MOST_COLUMNS))  # rows of equal length
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
    return render("lists", columns=columns, lists=drawn)


def _list(
    title: str,
    x: np.ndarray,
    share: float,
    names: Sequence[str],
    known: np.ndarray | None,
    largest: float,
    most: int,
) -> dict[str, Any]:
    """Return HTML of one component as a list with a title."""
    order = np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]
    items = [_item(names[i], x[i], largest, known is not None and not known[i]) for i in order[:most]]
    said = f"{title} · {percent_down(share, LEAST_DIGITS)}"
    return {"title": said, "items": items, "more": max(0, len(order) - most)}


def _item(name: str, weight: float, largest: float, only: bool) -> dict[str, Any]:
    """Return HTML of one name with a bar for its weight."""
    width, colour = f"{100 * abs(weight) / largest:.0f}", "217,98,43" if weight < 0 else "42,133,199"
    return {"name": str(name), "weight": weight, "width": width, "colour": colour, "only": only}


def ranked(x: np.ndarray, names: Sequence[str]) -> list[str]:
    """Return the names of the features that a component x (n,) uses, largest weight first."""
    return [str(names[i]) for i in np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]]


def copy(x: np.ndarray, names: Sequence[str], label: str) -> None:
    """Draw the names of a component with a button that copies them, one per line."""
    st.caption(f"{label}. The button at the right of the box copies them, one a line.")
    st.code(name_list(ranked(x, names)).rstrip("\n"), language=None, height=130)


def method_of(outcome: Outcome) -> str:
    """Draw the choice of a method, if there are several, and return the chosen one."""
    results = ordered(outcome.results)
    shown = state.get("shown") if state.get("shown") in results else outcome.best
    if len(results) == 1:
        return shown
    return st.selectbox("By the method", list(results), width=260, **state.bind("shown", shown))


def looked_at(outcome: Outcome, method: str) -> tuple[int, np.ndarray]:
    """Return the number (from 1) of the chosen component, and its weights (n,) by a method."""
    X = ordered(outcome.results)[method].components
    number = min(max(1, state.get(outcome.about.at)), X.shape[1])
    return number, X[:, number - 1]


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


def gist(x: np.ndarray, names: Sequence[str], most: int = 4) -> str:
    """Return the first `most` names of a component in one line."""
    return ", ".join(name[:24] for name in ranked(x, names)[:most])


def recurring(outcome: Outcome, F: np.ndarray, overlaps: Sequence[float]) -> None:
    """Draw each component as the names that are most frequent under resampling, with their frequency.

    F (n, r) has the frequencies, and `overlaps` the mean overlap of each component.
    """
    names, r, about = outcome.of.dataset.feature_names, F.shape[1], outcome.about
    most = max(outcome.asked.sizes)
    X = np.where(np.argsort(np.argsort(-F, axis=0, kind="stable"), axis=0) < most, F, 0.0)
    known = outcome.results[outcome.best].components.any(axis=1)
    st.html(lists(X, np.asarray(overlaps).reshape(r), names, known))
    st.caption(
        f"Bars and numbers say in which share of the draws a {about.one} has it. Dotted lines mark what is "
        "in "
        f"no {about.one} above. In %: how much of a {about.one} the draws have, weights counted, on average."
    )
