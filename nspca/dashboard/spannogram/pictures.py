"""The pictures of the spannogram page in two (`curves`) and in three directions (`sphere`).

`page` chooses between them.
"""

import math

import numpy as np
import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.components.cone_replay import cone_replay
from nspca.dashboard.components.spannogram_explorer import (
    UNIT,
    explorer_data,
    picture_of,
    spannogram_explorer,
)
from nspca.dashboard.spannogram import lessons, low_rank
from nspca.dashboard.spannogram.low_rank import Rank2, Subject

TOLERANCES = range(1, 7)
HEIGHT = 360
"""Height of the curves in pixels, so that sentence, picture and angle fit on the first screen."""
EXPLORER = "explorer"  # session key: what the explorer itself keeps, the angle when it was let go
SEEN = "spannogram_seen"  # session key: the angle that the explorer last reported


def curves(of: Subject) -> None:
    """Draw rank 2: the curves over the angle, with the component beside them."""
    problem, data = of.problem, of.chosen.dataset
    found = low_rank.rank2(of)
    noun = wording.noun(data)
    steps: list[str] = []
    if not state.get("present"):  # in present mode the picture takes all the space
        sets = math.comb(problem.n, problem.size)
        steps = lessons.steps(problem, noun, len(found.candidates), sets, _drawn(found))

    @st.fragment
    def rank2() -> None:
        _take(found)
        shown = explorer_data(
            found.V,
            problem.size,
            found.found,
            found.optimum,
            nonneg=problem.nonneg,
            names=data.feature_names,
            unit=of.unit,
            phi=_wanted(found),
            height=HEIGHT,
            picture=picture_of(data),
            steps=steps,
            noun=noun,
        )
        st.session_state[SEEN] = spannogram_explorer(shown, EXPLORER)

    rank2()
    if not found.exact:
        st.caption(
            "Too many curves take turns at the top to follow each. The sets and the star are those of 721 "
            "angles."
        )


def _drawn(found: Rank2) -> int:
    """Return the number of candidate supports of the directions that are drawn: those of the optimum."""
    rows = found.found.sets
    return len(low_rank.different(rows[0 if found.optimum[1] > 0 else -1]))


def _wanted(found: Rank2) -> float:
    """Return the angle to show, in radians: that of the address, by default that of the optimum."""
    return found.optimum[0] if state.get("phi") is None else float(np.radians(state.get("phi")))


def _take(found: Rank2) -> None:
    """Keep the angle in the address when a visitor moved it.

    At the optimum none is kept, so that the angle follows the optimum when k changes.
    """
    told = st.session_state.get(EXPLORER, {}).get("phi")
    if told is not None and told != st.session_state.get(SEEN):
        at_optimum = abs(told - found.optimum[0]) < 1e-9
        state.put(phi=None if at_optimum else round(float(np.degrees(told)), 2))


def tolerance() -> None:
    """Draw the choice of how near to the optimum the search of rank 3 goes."""
    st.select_slider(
        "Tolerance: how near to the optimum is near enough",
        list(TOLERANCES),
        format_func=lambda power: f"{100 * 10.0**-power:g} %",
        **state.bind("tol", _exponent()),
    )


def _exponent() -> int:
    """Return the chosen tolerance as p: the search of rank 3 stops within 10^-p of the optimum."""
    return state.get_one_of("tol", TOLERANCES, 3)


def sphere(of: Subject) -> None:
    """Draw rank 3: the search, recorded and replayed."""
    went = cone_replay(
        of.key,
        of.factor(3),
        of.problem.size,
        nonneg=of.problem.nonneg,
        tol=10.0 ** -_exponent(),
        unit=of.unit,
    )
    made = wording.things(went.cover.cones, "cone")
    st.caption(f"The search has just been run, with {made}, and is replayed here. 100 % is {UNIT}.")
    if not of.problem.nonneg:
        st.caption(
            "Weights may have any sign here. In the formula, read |·| for (·)₊. The directions c and −c "
            "are one, so half the sphere suffices."
        )
