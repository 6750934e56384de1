"""Components of tables other than images and word counts: lists or spectra, and one component alone.

The page Components draws them by `VIEW`.
"""

import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.covariance.moments import moments
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint import lists, search, stability
from nspca.dashboard.joint.outcome import Outcome, Section, View
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.views import component
from nspca.plots.components import profiles_figure


def picture(outcome: Outcome) -> None:
    """Draw the choice of one component to look at, and the components of the best method."""
    if _is_spectrum(outcome):
        lists.choose(outcome)
        figures.draw(profiles(outcome), f"profiles_{outcome.run_id}")
    else:
        lists.show(outcome, _alone)


def _alone(outcome: Outcome, number: int) -> None:
    x = outcome.shown.components[:, number - 1]
    component.picture(outcome.of.dataset, x, f"alone_{outcome.run_id}")


def after(outcome: Outcome) -> str:
    """Return the sentence about the picture and the next step."""
    feature = outcome.about.feature
    if outcome.asked.r == 1:
        return f"The {feature}s stand in the order of their weight. Below, the component is alone."
    said = f"Each list is a component: {feature}s that vary together, with the share that it captures."
    if _is_spectrum(outcome):
        said = "Each curve is a component: its weights over the axis of the spectra."
    return f"{said} Press a {'number' if _is_spectrum(outcome) else 'list'} to see it alone."


def profiles(outcome: Outcome) -> go.Figure:
    """Return the figure of all components of the best method as spectra."""
    data, X = outcome.of.dataset, outcome.shown.components
    called = lists.called(outcome.best)
    names = [f"{j + 1} {called.get(j, '')}".strip() for j in range(X.shape[1])]
    return profiles_figure(X, data.axis, data.axis_name, mean=moments(data.X)[0], names=names)


def look(outcome: Outcome) -> None:
    """Draw the chosen component: its weights, its features to copy, and the samples along it."""
    data, names, about = outcome.of.dataset, outcome.of.dataset.feature_names, outcome.about
    method = lists.method_of(outcome)
    number, x = lists.looked_at(outcome, method)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        lists.choose_method(outcome)
        with st.expander(f"Name component {number}, copy its {about.feature}s", key="fold_words"):
            lists.name_it(outcome, method, number, lists.suggested_name(x, names))
            many = wording.things(int((x != 0).sum()), about.feature)
            lists.copy(x, names, f"The {many} of component {number}")
    with right:
        component.picture(data, x, f"one_{outcome.run_id}")
    try:
        problem = scored_problem(outcome.of, outcome.problem)
    except nspca.InvalidProblem:
        return
    figure = component.mapped(data, problem, x)
    if figure is not None:
        label = f"The {about.feature}s of component {number} in all samples, sorted by score"
        with st.expander(label, icon=":material/grid_on:", key="fold_map"):
            figures.draw(figure, f"heat_{outcome.run_id}")


def taken(outcome: Outcome) -> dict[str, go.Figure]:
    """Return the figures for export, one for each component of the best method, by file name."""
    data, best = outcome.of.dataset, outcome.best
    X = outcome.shown.components
    each = {f"component-{j:02}-by-{best}": component.plot(data, x)() for j, x in enumerate(X.T, 1)}
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
    search.list_fates,
)
