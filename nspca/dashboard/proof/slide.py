"""Draw the slider of k below a curve, with all that is known at each k: statement, proof and picture."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nspca.dashboard.app import cache, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.components.k_slider import Frame, k_slider
from nspca.dashboard.proof import optimal
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.views import component, statement


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
    data, result = answer.of.dataset, answer.shown
    how = {"ceiling": ceiling, "upper": answer.limit}
    said = statement.state_result(data, answer.problem, result, answer.k, **how)
    drawn = component.plot(data, answer.x, top=top)().update_layout(height=height)
    proved = optimal.chip(answer.ratio)
    return Frame(
        wording.unbroken(said.text), str(statement.bar(said)), proved, figures.prepared(drawn, "")["figure"]
    )
