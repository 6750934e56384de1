"""Components as ranked lists of names, in as many columns as the screen has room for."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.joint import names as given_names
from nspca.dashboard.joint.headline import each
from nspca.dashboard.joint.methods import heading, ordered
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.joint.subject import explained_names
from nspca.data.genesets import name_list
from nspca.presentation.numerals import percent_down

MOST = 40
"""Names of a component in a list; files have them all."""
FIRST = 10
"""Names of a component on the first screen, where the lists stand in one row."""
FEWER = 5
"""Names of a component on the first screen, where the lists stand in two rows."""
PRESENTED = 4
"""Names of a component in present mode, where two rows of lists fit on the screen."""
ALONE = 10
"""Names of the one component that is looked at in present mode."""
MOST_COLUMNS = 5
NUMBER_ROOM = "3rem"
"""Width beside the longest bar, in which the numbers stand."""
STYLE = """<style>
.nspca-frame { container-type: inline-size; }
.nspca-topics { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr));
  gap: 0.6rem 1rem; margin: 0 0 0.8rem; }
@container (max-width: 640px) {
  .nspca-topics { grid-template-columns: repeat(min(3, var(--columns)), minmax(0, 1fr)); }
}
@container (max-width: 460px) {
  .nspca-topics { grid-template-columns: repeat(min(2, var(--columns)), minmax(0, 1fr)); }
}
.nspca-topics section { min-width: 0; }
.nspca-topics h6 { font-size: 0.85rem; font-weight: 600; margin: 0 0 0.2rem; padding: 0;
  border-bottom: 1px solid rgba(128,128,128,0.4); }
.nspca-topics ol { list-style: none; margin: 0; padding: 0; }
.nspca-topics li { position: relative; display: flex; justify-content: space-between; gap: 0.4rem;
  font-size: 0.88rem; line-height: 1.5;
  margin: 1px 0; padding: 0 0.3rem; border-radius: 3px; }
.nspca-topics li span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.nspca-topics li data { font-size: 0.75rem; opacity: 0.75; font-variant-numeric: tabular-nums; }
@container (max-width: 460px) {
  .nspca-topics li span { white-space: normal; overflow-wrap: anywhere; }
}
.nspca-topics li.only span { text-decoration: underline dotted; text-underline-offset: 3px; }
</style>"""


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
    result = ordered(outcome.results)[outcome.best]
    x, share = result.components[:, number - 1], each(result, outcome)[number - 1]
    title = called(outcome.best).get(number - 1) or f"{outcome.about.one.capitalize()} {number}"
    largest = float(np.abs(x).max(initial=0)) or 1.0
    st.html(_framed(_list(title, x, share, explained_names(outcome.of), None, largest, ALONE), 1))


def best(outcome: Outcome) -> None:
    """Draw the components of the best method as lists of their first names."""
    method = outcome.best
    result = ordered(outcome.results)[method]
    most = FIRST
    if len(result.values) > MOST_COLUMNS:
        most = PRESENTED if state.get("present") else FEWER
    names, shares = explained_names(outcome.of), each(result, outcome)
    st.html(lists(result.components, shares, names, called=called(method), most=most))


def choose(outcome: Outcome) -> int:
    """Draw the choice of one component of the best method; return its number from 1."""
    about, method = outcome.about, outcome.best
    X, called_ = ordered(outcome.results)[method].components, called(method)
    r = X.shape[1]
    at = min(max(1, state.get(about.at)), r)
    if r == 1:
        return at
    return st.segmented_control(
        f"Look at one {about.one}: press its number",
        list(range(1, r + 1)),
        label_visibility="collapsed" if state.get("present") else "visible",
        format_func=lambda j: f"{j} {called_.get(j - 1, '')}".strip(),
        required=True,
        **state.bind(about.at, at),
    )


def rows(outcome: Outcome) -> None:
    """Draw a row of lists for every method; those of the others stand below the ones they share most with."""
    names, results = outcome.of.dataset.feature_names, ordered(outcome.results)
    joint = [method for method in results if nspca.METHODS[method].joint]
    first = max(joint, key=lambda method: results[method].value, default=None)
    known = None if first is None else results[first].components.any(axis=1)
    for method, result in results.items():
        st.markdown(heading(outcome, result))
        is_other = first is not None and method != first
        order = matched(results[first].components, result.components) if is_other else None
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
    """Return the names that somebody gave to components of a method, by their place from 0."""
    return {j - 1: name for (whose, j), name in given_names.given().items() if whose == method}


def matched(X: Any, Y: Any) -> np.ndarray:
    """Return for each column of X (n, r) the column of Y (n, r) that it is matched with.

    Every column is matched once, so that most weight is shared in all.
    """
    return linear_sum_assignment(-(np.abs(X).T @ np.abs(Y)))[1]


def lists(
    X: np.ndarray,
    shares: Sequence[str],
    names: Sequence[str],
    known: np.ndarray | None = None,
    order: Sequence[int] | None = None,
    called: Mapping[int, str] | None = None,
    most: int = MOST,
) -> str:
    """Return HTML of components as lists of names with weights, largest first.

    Parameters
    ----------
    X : (n, r) weights
    shares : r texts that stand above the lists, such as ``8.9 %``
    names : n
    known : (n,) bool, optional
        Names that are not known are marked with a dotted line.
    order : which component stands in which place
    called : names of components by their place
    most : names in each list
    """
    largest = float(np.abs(X).max(initial=0)) or 1.0
    r = X.shape[1]
    columns = -(-r // -(-r // MOST_COLUMNS))  # rows of equal length
    places, called = range(r) if order is None else order, called or {}
    body = "".join(
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
    )
    return _framed(body, columns)


def _framed(body: str, columns: int) -> str:
    """Return lists as HTML in their styles, in so many columns."""
    return (
        f'{STYLE}<div class="nspca-frame"><div class="nspca-topics" '
        f'style="--columns:{columns}">{body}</div></div>'
    )


def _list(title: str, x: np.ndarray, share: str, names, known, largest: float, most: int) -> str:
    order = np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]
    items = "".join(_item(names[i], x[i], largest, known is not None and not known[i]) for i in order[:most])
    more = f"<li><span>and {len(order) - most} more</span></li>" if len(order) > most else ""
    above = f"<h6>{escape(title)} · {share}</h6>"
    return f"<section>{above}<ol>{items}{more}</ol></section>"


def _item(name: str, weight: float, largest: float, only: bool) -> str:
    width, colour = abs(weight) / largest, "217,98,43" if weight < 0 else "42,133,199"
    end = f"calc({width:.2f} * (100% - {NUMBER_ROOM}))"  # the longest bar ends before the numbers
    bar = f"background:linear-gradient(to right,rgba({colour},0.26) {end},transparent {end})"
    safe = escape(str(name))
    return (
        f'<li{" class=only" if only else ""} style="{bar}" '
        f'title="{safe}"><span>{safe}</span><data>{weight:.2f}</data></li>'
    )


def ranked(x: np.ndarray, names: Sequence[str]) -> list[str]:
    """Return the names of the features of a component, the largest weight first."""
    return [str(names[i]) for i in np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]]


def copy(x: np.ndarray, names: Sequence[str], label: str) -> None:
    """Draw the names of a component with a button that copies them, one a line."""
    st.caption(f"{label}. The button at the right of the box copies them, one a line.")
    st.code(name_list(ranked(x, names)).rstrip("\n"), language=None, height=130)


def method_of(outcome: Outcome) -> str:
    """Return the method whose component is looked at."""
    return state.get("shown") if state.get("shown") in outcome.results else outcome.best


def choose_method(outcome: Outcome) -> None:
    """Draw the choice of the method whose component is looked at, where there are several."""
    if len(outcome.results) > 1:
        names = list(ordered(outcome.results))
        st.selectbox("By the method", names, width=260, **state.bind("shown", method_of(outcome)))


def looked_at(outcome: Outcome, method: str) -> tuple[int, np.ndarray]:
    """Return the number of the component that is looked at, from 1, and its weights (n,) by a method."""
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
    """Return the first names of a component in a line."""
    return ", ".join(name[:24] for name in ranked(x, names)[:most])


def recurring(outcome: Outcome, F: np.ndarray, overlaps: Sequence[float]) -> None:
    """Draw each component as the names that come up most when samples are drawn again, with how often."""
    names, r, about = outcome.of.dataset.feature_names, F.shape[1], outcome.about
    most = max(outcome.asked.sizes)
    X = np.where(np.argsort(np.argsort(-F, axis=0, kind="stable"), axis=0) < most, F, 0.0)
    known = outcome.results[outcome.best].components.any(axis=1)
    shares = [percent_down(overlap, 1) for overlap in np.asarray(overlaps).reshape(r).tolist()]
    st.html(lists(X, shares, names, known))
    st.caption(
        f"Bars and numbers say in which share of the draws a {about.one} has it. Dotted lines mark what is "
        "in "
        f"no {about.one} above. In %: how much of a {about.one} the draws have, weights counted, on average."
    )
