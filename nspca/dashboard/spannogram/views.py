"""The spannogram page: what is looked at, the choice of a view, and the rank-2 and rank-3 views."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nspca.dashboard.browser import figures
from nspca.dashboard.browser.cone_replay import cone_replay
from nspca.dashboard.browser.spannogram_explorer import spannogram_explorer
from nspca.dashboard.chosen import Chosen, heavy
from nspca.dashboard.shell import presses, state, words
from nspca.dashboard.spannogram import lessons, low_rank
from nspca.dashboard.spannogram.lessons import Lesson
from nspca.dashboard.spannogram.low_rank import Rank2, Subject
from nspca.dashboard.views import component
from nspca.plots import component_figure

VIEWS = {
    "curves": "Rank 2: curves",
    "sphere": "Rank 3: sphere",
    "support": "One support",
    "ranks": "What d buys",
}
TOLERANCES = range(1, 7)
BARS = 18
READY = "spannogram_ready"  # session key: heavy data sets whose eigenvalues were asked for
EXPLORER = "explorer"  # session key: what the explorer itself keeps, the angle when it was let go
SEEN = "spannogram_seen"  # session key: the angle that the explorer last reported


def controls(data: Chosen) -> Subject | None:
    """k, the sign of the weights and the view; None while a heavy data set waits for its button."""
    n = data.dataset.X.shape[1]
    start, most = low_rank.range_of_k(n)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        k = st.slider(
            "k: features the component may use",
            1,
            most,
            **state.bind("k", max(1, min(state.get("k") or start, most))),
        )
    with right:
        st.segmented_control(
            "Weights",
            [False, True],
            format_func={False: "nonnegative", True: "of any sign"}.get,
            required=True,
            **state.bind("signed"),
        )
    if not _ready(data):
        return None
    with st.spinner("Computing the leading eigenvectors …"):
        of = low_rank.subject(data, k)
    if of.unit <= 0:
        st.info("Every feature is constant: there is no variance to explain. Choose other data.")
        return None
    return of


def view() -> tuple[str, DeltaGenerator]:
    """Which of the four views is open, and a place beside the choice for what the view itself asks."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    known = state.get("view") if state.get("view") in VIEWS else "curves"
    with left:
        chosen = st.segmented_control(
            "View",
            list(VIEWS),
            format_func=VIEWS.get,
            required=True,
            label_visibility="collapsed",
            **state.bind("view", known),
        )
    return chosen, right


def _ready(data: Chosen) -> bool:
    ready = st.session_state.setdefault(READY, set())
    if not heavy(data.dataset) or data.content in ready:
        return True
    st.info("For a table of this size the leading eigenvectors take up to a minute.")
    presses.button(
        "Compute them",
        "compute",
        lambda: ready.add(data.content),
        type="primary",
        icon=":material/play_arrow:",
    )
    return False


def teach(lesson: Lesson) -> None:
    """Formula and three lines."""
    with st.container(border=True):
        for formula in lesson.formulas:
            st.latex(formula)
        st.markdown("\n".join(f"{number}. {line}" for number, line in enumerate(lesson.lines, 1)))


def curves(of: Subject, _: DeltaGenerator) -> None:
    """Rank 2: drag the angle; the component where it is let go is drawn beside it."""
    k, names = of.problem.k, of.chosen.dataset.feature_names

    @st.fragment
    def rank2() -> None:
        found = low_rank.rank2(of)
        _take(found)
        left, right = st.columns([4, 3], gap="medium")
        with left:
            st.session_state[SEEN] = spannogram_explorer(
                found.V,
                k,
                EXPLORER,
                nonneg=of.problem.nonneg,
                names=names,
                unit=of.unit,
                unit_name="the leading eigenvalue",
                phi=_wanted(found),
                optimum=found.optimum,
                found=found.found,
                height=430,
            )
        with right:
            _component(of, found, _wanted(found))

    rank2()
    teach(lessons.CURVES)


def _wanted(found: Rank2) -> float:
    return found.optimum[0] if state.get("phi") is None else float(np.radians(state.get("phi")))


def _take(found: Rank2) -> None:
    """Keep the angle when it was moved, before anything is drawn; at the optimum keep none, so that it
    follows k.
    """
    told = st.session_state.get(EXPLORER, {}).get("phi")
    if told is not None and told != st.session_state.get(SEEN):
        at_optimum = abs(told - found.optimum[0]) < 1e-9
        state.put(phi=None if at_optimum else round(float(np.degrees(told)), 2))


def _component(of: Subject, found: Rank2, phi: float) -> None:
    problem = of.problem
    x, height = found.component(phi, problem.k, problem.nonneg)
    used = words.things(np.count_nonzero(x), "feature")
    share = 100 * height / found.value if found.value else 100.0
    place = "The optimum" if share > 100 - 1e-6 else f"{np.floor(100 * share) / 100:.2f} % of the optimum"
    angle = f"{np.degrees(phi):.1f}".replace("-", "−")
    st.markdown(
        f"**The component at φ = {angle}°**: {used}, {place[0].lower()}{place[1:]} of the rank-2 problem."
    )
    value = 100 * problem.value(x) / problem.leading_eigenvalue
    st.caption(
        f"On the data themselves it explains {value:.2f} % of the leading eigenvalue. {_count(of, found)}"
    )
    data = of.chosen.dataset
    if data.kind in ("image", "spectrum"):
        component.picture(data, x, "at_phi")
    else:  # no longer than the explorer beside it
        figures.draw(
            component_figure(x, kind=data.kind, feature_names=data.feature_names, top=BARS), "at_phi"
        )


def _count(of: Subject, found: Rank2) -> str:
    count = words.things(len(found.candidates), "candidate support")
    if not found.exact:
        return (
            f"Too many curves take turns at the top to follow each: the {count} and the optimum are "
            "those of 721 angles."
        )
    return f"There are {count} instead of all the sets of {of.problem.k} among {of.problem.n:,} features."


def sphere(of: Subject, beside: DeltaGenerator) -> None:
    """Rank 3: the search, recorded and replayed."""
    tolerance = state.get("tol") if state.get("tol") in TOLERANCES else 3
    exponent = beside.select_slider(
        "Tolerance: how near to the optimum is near enough",
        list(TOLERANCES),
        format_func=lambda power: f"{100 * 10.0**-power:g} %",
        **state.bind("tol", tolerance),
    )
    went = cone_replay(
        of.key, of.factor(3), of.problem.k, nonneg=of.problem.nonneg, tol=10.0**-exponent, unit=of.unit
    )
    made = words.things(went.cover.cones, "cone")
    st.caption(
        f"l₁ is the leading eigenvalue. The search has just been run, with {made}, and is replayed here."
    )
    if not of.problem.nonneg:
        st.caption(
            "Weights may have any sign here: below, read |·| for (·)₊; and c and −c are one direction, so "
            "half the sphere suffices."
        )
    teach(lessons.SPHERE)
