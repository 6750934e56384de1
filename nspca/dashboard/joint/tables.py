"""The view of the page Components, for tables other than images and word counts."""

import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint import lists, stability
from nspca.dashboard.joint.methods import ordered
from nspca.dashboard.joint.outcome import Outcome, Section, View
from nspca.dashboard.joint.subject import COMPONENTS as SUBJECT
from nspca.dashboard.open_data import looked_at
from nspca.dashboard.views import component
from nspca.plots.profiles import profiles_figure

SHORT = 25
"""Maximum features of a component whose heat map is open. Larger heat maps are folded."""


def picture(outcome: Outcome) -> None:
    """Draw the components of the best method, and the choice of one component."""
    if _is_spectrum(outcome):
        figures.draw(profiles(outcome), f"profiles_{outcome.run_id}")
    else:
        lists.best(outcome)
    lists.choose(outcome)


def after(outcome: Outcome) -> str:
    """Return the sentence about the picture (present mode) or about the next step."""
    if state.get("present"):
        return "Each list is a component. Its percentage is what it explains, and a bar is a weight."
    many = "Choose a component to see it alone"
    if outcome.of.dataset.is_covariance:  # a covariance has no samples
        many += "."
    else:
        many += ", or “Samples on a map” to see where the samples lie."
    one = f"The {outcome.about.feature}s stand in the order of their weight. Below, the component is alone."
    return one if outcome.asked.r == 1 else many


def profiles(outcome: Outcome) -> go.Figure:
    """Return the figure of all components of the best method as spectra."""
    data, X = outcome.of.dataset, ordered(outcome.results)[outcome.best].components
    called = lists.called(outcome.best)
    names = [f"{j + 1} {called.get(j, '')}".strip() for j in range(X.shape[1])]
    return profiles_figure(X, data.axis, data.axis_name, mean=data.X.mean(axis=0), names=names)


def look(outcome: Outcome) -> None:
    """Draw the chosen component: its weights, its features to copy, and the samples along it."""
    data, names = outcome.of.dataset, outcome.of.dataset.feature_names
    left, right = st.columns([1, 2], gap="medium")
    with left:
        method = lists.method_of(outcome)
        number, x = lists.looked_at(outcome, method)
        lists.name_it(outcome, method, number, lists.gist(x, names))
        lists.copy(
            x,
            names,
            f"The {wording.things(int((x != 0).sum()), outcome.about.feature)} of component {number}",
        )
    with right:
        component.picture(data, x, f"one_{outcome.run_id}")
    try:
        problem = looked_at(outcome.of, outcome.problem)
    except nspca.InvalidProblem:
        return
    figure = component.mapped(data, problem, x)
    if figure is not None:
        about = outcome.about
        label = f"The {about.feature}s of component {number} in all samples, sorted by score"
        with st.expander(label, expanded=int((x != 0).sum()) <= SHORT, icon=":material/grid_on:"):
            figures.draw(figure, f"heat_{outcome.run_id}")


def taken(outcome: Outcome) -> dict[str, go.Figure]:
    """Return the figures for export, one for each component of the best method, by file name."""
    data, best = outcome.of.dataset, outcome.best
    X = ordered(outcome.results)[best].components
    each = {f"component-{j:02}-by-{best}": component.drawn(data, x) for j, x in enumerate(X.T, 1)}
    return ({f"all-components-by-{best}": profiles(outcome)} if _is_spectrum(outcome) else {}) | each


def _is_spectrum(outcome: Outcome) -> bool:
    data = outcome.of.dataset
    return data.kind == "spectrum" and data.axis is not None and not data.is_covariance


VIEW = View(
    picture,
    lists.rows,
    after,
    Section("one", lambda about: "One component", look),
    lambda outcome: stability.show(outcome, lists.recurring),
    taken,
)
__all__ = ["SUBJECT", "VIEW"]
