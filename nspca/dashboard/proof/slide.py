"""Draw the slider of k below a curve, with all that is known at each k: statement, proof and picture."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from nspca.dashboard.app import cache, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.components.k_slider import Frame, k_slider
from nspca.dashboard.proof import optimal
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component, statement


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
    """Draw the slider."""

    def frames() -> dict[int, Frame]:
        return {k: _frame(replace(answer, k=k), ceiling, height, top) for k in ks}

    known = answer.table[["value", "upper"]].sum().tolist()
    content = f"{answer.id} {answer.of.content} {answer.method} {ks} {known} {height} {top}"
    label = f"k, the number of {wording.noun(answer.of.dataset)}s"
    choose = lambda k: state.put(**{name: k})  # noqa: E731
    k_slider(_frames(content, frames), answer.k, label, ends, curve, picture, choose)


@cache.keep()
def _frames(content: str, _make: Callable[[], dict[int, Frame]]) -> dict[int, Frame]:
    return _make()


def _frame(answer: Answer, ceiling: float, height: int, top: int) -> Frame:
    data = answer.of.dataset
    said = _state(answer, ceiling, answer.limit)
    drawn = component.plot(data, answer.x, top=top)().update_layout(height=height)
    proved = optimal.chip(answer.ratio)
    return Frame(
        wording.unbroken(said.text), str(statement.bar(said)), proved, figures.prepared(drawn, "")["figure"]
    )
