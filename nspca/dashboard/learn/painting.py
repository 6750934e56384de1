"""The fifth screen of the lesson: a visitor paints pixels, and then sees the proved answer."""

import numpy as np
import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.components.painter import Image, painter, painting
from nspca.dashboard.learn.lesson import K, Lesson, painted, shares_of
from nspca.dashboard.views import component
from nspca.plots.lesson import overlay_figure
from nspca.presentation.numerals import percent_down

PAINTER = "learn_painter"
TASK = (
    f"Paint the **{K} pixels** that you think vary most together over all handwritten digits. Behind "
    "them is the mean digit."
)


def show(of: Lesson) -> None:
    """Draw the image to paint; after the judgement, draw the painting and the best answer in one image."""
    data = of.of.dataset
    mean = data.X.mean(axis=0)
    pixels = painting(state.get("painted"), of.problem.n, K)
    judged = state.get("judge") and len(pixels) == K
    if judged:
        st.markdown(_verdict(of, pixels))
        mine = np.isin(np.arange(of.problem.n), pixels)
        best = of.result.components[:, 0] != 0
        figures.draw(overlay_figure(mine, best, component.grid(data), mean / mean.max()), "learn_best")
    else:
        st.markdown(TASK)
        painter(image_of(of), PAINTER, pixels, lambda told: state.put(painted=[str(pixel) for pixel in told]))
    _buttons(judged, len(pixels))


def image_of(of: Lesson) -> Image:
    """Return the mean digit, on which `K` pixels may be painted."""
    mean = of.X.mean(axis=0)
    return Image(mean / mean.max(), component.grid(of.of.dataset)[1], K)


def _buttons(judged: bool, count: int) -> None:
    """Draw the button that reveals the answer, or once `judged` the one that starts again."""
    if judged:
        again = lambda: state.put(painted=None, judge=None)  # noqa: E731
        buttons.button("Paint again", "repaint", again, icon=":material/brush:")
        return
    look = {"icon": ":material/visibility:", "type": "primary", "disabled": count < K}
    buttons.button(
        "Reveal",
        "judge",
        lambda: state.put(judge=True),
        help=f"First paint {K} pixels." if count < K else None,
        **look,
    )


def _verdict(of: Lesson, pixels: list[int]) -> str:
    reached, proved = shares_of(of)
    mine = percent_down(painted(of, pixels).value / of.best, wording.decimals(of.upper / of.best))
    hit = len(set(pixels) & set(of.result.components[:, 0].nonzero()[0].tolist()))
    return (
        f"Your {K} pixels keep **{mine}** of what all pixels show in the main direction. The best {K} found "
        f"keep **{reached}**, and {hit} of them are yours. {proved}"
    )
