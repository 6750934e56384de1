"""The spannogram page: its controls, the choice of a view, and the views of rank 2 and rank 3."""

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.components.cone_replay import cone_replay
from nspca.dashboard.components.spannogram_explorer import UNIT, Picture, spannogram_explorer
from nspca.dashboard.open_data import Chosen, heavy
from nspca.dashboard.spannogram import lessons, low_rank, ranks
from nspca.dashboard.spannogram.lessons import teach
from nspca.dashboard.spannogram.low_rank import Rank2, Subject
from nspca.dashboard.views import component

VIEWS = {
    "curves": "Two directions",
    "sphere": "Three directions",
    "support": "One set of features",
    "ranks": "How many directions?",
}
TOLERANCES = range(1, 7)
READY = "spannogram_ready"  # session key: heavy data sets whose eigenvalues were asked for
EXPLORER = "explorer"  # session key: what the explorer itself keeps, the angle when it was let go
SEEN = "spannogram_seen"  # session key: the angle that the explorer last reported


def controls(data: Chosen) -> Subject | None:
    """Draw the controls for k and the sign, and return the subject; None until heavy data are confirmed."""
    n = data.dataset.X.shape[1]
    start, most = low_rank.range_of_k(n)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        k = st.slider(
            "k, the number of features",
            1,
            most,
            **state.bind("k", max(1, min(state.get("k") or start, most))),
        )
    with right:
        st.segmented_control(
            "Weights",
            [False, True],
            format_func={False: "nonnegative", True: "of any sign"}.__getitem__,
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
    """Draw the choice of a view; return its name, and a container for the controls of the view."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    known = state.get("view") if state.get("view") in VIEWS else "curves"
    with left:
        chosen = st.segmented_control(
            "View",
            list(VIEWS),
            format_func=VIEWS.__getitem__,
            required=True,
            label_visibility="collapsed",
            **state.bind("view", known),
        )
    return chosen, right


def _ready(data: Chosen) -> bool:
    """Tell whether the eigenvectors may be computed; for heavy data draw a button first."""
    ready = st.session_state.setdefault(READY, set())
    if not heavy(data.dataset) or data.content in ready:
        return True
    st.info("For a table of this size the leading eigenvectors take up to a minute.")
    buttons.button(
        "Compute them",
        "compute",
        lambda: ready.add(data.content),
        type="primary",
        icon=":material/play_arrow:",
    )
    return False


def curves(of: Subject, _: DeltaGenerator) -> None:
    """Draw rank 2: the curves over the angle, with the component beside them."""
    problem, data = of.problem, of.chosen.dataset
    found = low_rank.rank2(of)
    noun = component.noun(data)

    @st.fragment
    def rank2() -> None:
        _take(found)
        st.session_state[SEEN] = spannogram_explorer(
            found.V,
            problem.size,
            EXPLORER,
            nonneg=problem.nonneg,
            names=data.feature_names,
            unit=of.unit,
            unit_name=UNIT,
            phi=_wanted(found),
            optimum=found.optimum,
            found=found.found,
            height=360,
            picture=Picture.of(data),
            steps=lessons.steps(
                noun,
                problem.size,
                problem.n,
                len(found.candidates),
                math.comb(problem.n, problem.size),
                _rest(of),
                not problem.nonneg,
            ),
            noun=noun,
        )

    rank2()
    if not found.exact:
        st.caption(
            "Too many curves take turns at the top to follow each. The sets and the star are those of 721 "
            "angles."
        )
    teach(lessons.CURVES)


def _rest(of: Subject) -> str:
    """Return the sentence about the directions beyond rank 2, with the proved bound B3."""
    things = wording.things(of.problem.size, component.noun(of.chosen.dataset))
    upper = ranks.rank_at(of, 2).upper / of.problem.leading_eigenvalue
    directions = wording.things(of.problem.n - 2, "more direction")
    others = f"The data have {directions}, in which other sets may do better"
    if upper >= 1 or of.problem.n <= 2:
        return f"{others}. How much better this picture alone cannot bound." if of.problem.n > 2 else ""
    most = wording.shares(0.0, upper)[1]
    sign = " with nonnegative weights" if of.problem.nonneg else ""
    verb = "explains" if of.problem.size == 1 else "explain"
    return (
        f"{others}. It is proved that no {things}{sign} {verb} more than {most} of what the first principal "
        "component explains."
    )


def answer(of: Subject) -> str:
    """Return the sentence at the top: the best set in two directions, and its value on all of the data."""
    problem, found = of.problem, low_rank.rank2(of)
    x, _ = found.component(found.optimum[0], problem.size, problem.nonneg)
    used = wording.things(int(np.count_nonzero(x)), component.noun(of.chosen.dataset))
    share = wording.shares(problem.value(x) / problem.leading_eigenvalue, 1.0)[0]
    return (
        f"If the data had only their two main directions, these {used} would be the best {problem.k}. In all "
        f"of the data they explain {share} of the variance of the first principal component, which uses all "
        f"{problem.n:,}. Drag the angle to compare other sets."
    )


def _wanted(found: Rank2) -> float:
    return found.optimum[0] if state.get("phi") is None else float(np.radians(state.get("phi")))


def _take(found: Rank2) -> None:
    """Store a moved angle in the address; at the optimum store none, so that it follows k."""
    told = st.session_state.get(EXPLORER, {}).get("phi")
    if told is not None and told != st.session_state.get(SEEN):
        at_optimum = abs(told - found.optimum[0]) < 1e-9
        state.put(phi=None if at_optimum else round(float(np.degrees(told)), 2))


def sphere(of: Subject, beside: DeltaGenerator) -> None:
    """Draw rank 3: the replay of a cone search."""
    tolerance = state.get("tol") if state.get("tol") in TOLERANCES else 3
    exponent = beside.select_slider(
        "Tolerance: how near to the optimum is near enough",
        list(TOLERANCES),
        format_func=lambda power: f"{100 * 10.0**-power:g} %",
        **state.bind("tol", tolerance),
    )
    went = cone_replay(
        of.key, of.factor(3), of.problem.size, nonneg=of.problem.nonneg, tol=10.0**-exponent, unit=of.unit
    )
    made = wording.things(went.cover.cones, "cone")
    st.caption(
        f"l₁ is the leading eigenvalue. The search has just been run, with {made}, and is replayed here."
    )
    if not of.problem.nonneg:
        st.caption(
            "Weights may have any sign here. In the formula, read |·| for (·)₊. The directions c and −c "
            "are one, so half the sphere suffices."
        )
    teach(lessons.SPHERE)
