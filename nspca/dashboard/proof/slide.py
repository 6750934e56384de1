"""Draw the slider of k below a curve, with all that is known at each k: statement, proof and picture."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from nspca.dashboard.app import cache, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.components.mount import mount
from nspca.dashboard.proof import optimal
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component, statement

MOST_BYTES = 600_000
"""Maximum size of all pictures of a slider. Those farthest from the present k come only after the drag."""
_SLIDER = mount("k_slider", has_plotly=True)


def headline(answer: Answer, ceiling: float, is_watched: bool = True) -> statement.Statement:
    """Draw the statement about an answer with its bar and its proof, and return it.

    `ceiling` is as in `statement.state_result`. The answer is searched further where it is watched.
    """

    def state_it(upper: float) -> statement.Statement:
        return _state(answer, ceiling, min(upper, answer.limit))

    said = state_it(math.inf)
    with statement.show(said):
        shown = answer if is_watched else replace(answer, own=False)
        optimal.show(shown, lambda upper: statement.bar(state_it(upper)))
    return said


def _state(answer: Answer, ceiling: float, upper: float) -> statement.Statement:
    about = answer.of.dataset, answer.problem, answer.shown, answer.k
    return statement.state_result(*about, ceiling=ceiling, upper=upper)


def show(
    answer: Answer,
    ks: Sequence[int],
    ceiling: float,
    name: str,
    ends: tuple[int, int],
    curve: str,
    picture: str,
    height: int,
    top: int = component.MOST_BARS,
) -> None:
    """Draw the slider of the values `ks`, with the present one as a number at its thumb.

    `name` is that of k in the address, `curve` and `picture` are the keys of the figures that follow it.
    """
    key = f"slider_{curve}"

    def chosen() -> None:
        value = st.session_state[key].get("k")
        if isinstance(value, int) and ends[0] <= value <= ends[1]:
            state.put(**{name: value})

    def frames() -> dict[int, dict[str, str]]:
        return {k: _frame(replace(answer, k=k), ceiling, height, top) for k in ks}

    known = answer.table[["value", "upper"]].sum().tolist()
    content = f"{answer.id} {answer.of.content} {answer.method} {ks} {known} {height} {top}"
    data = {
        "ks": sorted(ks),
        "k": answer.k,
        "label": f"k, the number of {answer.nouns.feature}s",
        "least": ends[0],
        "most": ends[1],
        "curve": curve,
        "picture": picture,
        "frames": _near(_frames(content, frames), answer.k),
        "present": bool(state.get("present")),
    }
    _SLIDER(key=key, data=data, height="content", on_k_change=chosen)


@cache.keep()
def _frames(content: str, _make: Callable[[], dict[int, dict[str, str]]]) -> dict[int, dict[str, str]]:
    return _make()


def _frame(answer: Answer, ceiling: float, height: int, top: int) -> dict[str, str]:
    """Return the answer at one k: headline, HTML of the bar, line of the proof, and picture for Plotly."""
    said = _state(answer, ceiling, answer.limit)
    drawn = component.plot(answer.of.dataset, answer.x, top=top)().update_layout(height=height)
    return {
        "said": wording.unbroken(said.text),
        "bar": str(statement.bar(said)),
        "proof": optimal.chip(answer.ratio),
        "figure": figures.prepared(drawn, "")["figure"],
    }


def _near(frames: dict[int, dict[str, str]], k: int) -> dict[int, dict[str, Any]]:
    """Return the frames without the pictures that are too many bytes, those far from k first."""
    ks, room, kept = sorted(frames), MOST_BYTES, dict[int, dict[str, Any]]()
    for size in sorted(ks, key=lambda one: abs(ks.index(one) - ks.index(k))):
        room -= len(frames[size]["figure"])
        kept[size] = frames[size] if room >= 0 else frames[size] | {"figure": None}
    return kept
