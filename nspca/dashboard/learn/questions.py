"""The questions for a class: tasks, values of guesses, and figures of all guesses.

`classroom` draws them for the teacher, and `phone` draws the task. `screen` is the number of the screen that
asks.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
import plotly.graph_objects as go

from nspca.covariance.linalg import Array
from nspca.dashboard.app import wording
from nspca.dashboard.app.cache import keep
from nspca.dashboard.learn.lesson import K, Lesson, lesson, painted, pair, shares_of
from nspca.dashboard.learn.rooms import ANGLES, PAINTING, Guess
from nspca.dashboard.views import component
from nspca.lowrank.spannogram import direction
from nspca.plots.lesson import direction_figure, guess_curve, guess_strip, votes_figure
from nspca.plots.spannogram import curves, top_set
from nspca.presentation.numerals import format_guarantee, proved_ratio

DIRECTION, SPANNOGRAM = 1, 3  # the other two screens with a question, beside `PAINTING`
TASKS = {
    DIRECTION: (
        "Each dot shows how many handwritten digits have the same grey values in two pixels. Along which "
        "line do the dots vary most? Turn the line."
    ),
    SPANNOGRAM: (
        f"Each curve is one pixel. The line marks the {K} highest curves at an angle. At which angle do "
        f"these {K} pixels keep most of the variance? Drag the angle."
    ),
    PAINTING: (
        f"Which {K} pixels vary most together over all handwritten digits? Touch them. Behind them is "
        "the mean digit."
    ),
}
"""The question of each screen, for projector and phones."""
GRID = 181  # angles at which a curve is drawn: one for each degree


def spannogram_of(of: Lesson) -> tuple[Array, float, float]:
    """Return the rank-2 factor V (n, 2) of the lesson, and angle and value of its best set.

    The highest curves at the angle, in radians, are the best set: the sign of V is chosen so.
    """
    phi, sign = of.seen
    V = sign * of.V[:, :2]
    return V, phi, _highest(V, phi)


def _highest(V: Array, phi: float) -> float:
    at = V @ direction(phi)
    return float(np.square(at[top_set(at, K)]).sum())


def shares(screen: int, guesses: Sequence[Guess], of: Lesson) -> list[float]:
    """Return the value of each guess, as a share of the best value (angles) or the proved bound (pixels)."""
    if screen == PAINTING:
        return [_painted_share(cast(tuple[int, ...], guess)) for guess in guesses]
    turns = np.radians(np.array(guesses, float))
    if screen == SPANNOGRAM:
        V, _, best = spannogram_of(of)
        return [_highest(V, turn) / best for turn in turns]
    points = of.X[:, list(pair(of)[0])]
    most = np.linalg.eigvalsh(np.cov(points, rowvar=False, ddof=0))[-1]
    return (np.var(points @ [np.cos(turns), np.sin(turns)], axis=0) / most).tolist()


@keep()
def _painted_share(pixels: tuple[int, ...]) -> float:
    of = lesson()
    return proved_ratio(painted(of, pixels).value, of.upper)


def how_it_did(screen: int, guess: Guess) -> str:
    """Return the sentence about one guess that its phone shows with the answer."""
    (share,) = shares(screen, [guess], lesson())
    return f"Your guess reaches **{wording.down(share)}** of the {'limit' if screen == PAINTING else 'best'}."


def figure(screen: int, guesses: Sequence[Guess], is_revealed: bool, of: Lesson) -> go.Figure:
    """Return the figure of all guesses by their values with the answer, if it is revealed.

    Before that, no figure tells what a guess reaches: angles are stacked, and painted pixels counted.
    """
    if screen == PAINTING and not is_revealed:
        return _votes(guesses, of)
    reached = 100 * np.array(shares(screen, guesses, of))
    if screen == PAINTING:
        return guess_strip(reached, 100 * proved_ratio(of.result.value, of.upper))
    is_line = screen == DIRECTION
    low, high = ANGLES[screen]
    grid = np.linspace(low, high, GRID)
    answer = (grid, 100 * np.array(shares(screen, grid.tolist(), of))) if is_revealed else None
    title, name = ("angle of the line", "line") if is_line else ("angle φ", "angle")
    drawn = None if is_line else curves(spannogram_of(of)[0], np.radians(grid))
    name, angles = f"% of the best {name}", np.array(guesses, float)
    return guess_curve(angles, reached, (title, low, high), name, answer, drawn)


def _votes(guesses: Sequence[Guess], of: Lesson) -> go.Figure:
    chosen = [cast(tuple[int, ...], guess) for guess in guesses]
    return votes_figure(chosen, component.grid(of.of.dataset), of.X.mean(axis=0))


def beside(screen: int, guesses: Sequence[Guess], is_revealed: bool, of: Lesson) -> go.Figure | None:
    """Return the figure beside that of the guesses: the dots that are asked about, or the painted pixels."""
    if screen == DIRECTION and not is_revealed:
        (i, j), _ = pair(of)
        names = of.of.dataset.feature_names
        return direction_figure(of.X[:, [i, j]], None, [names[i], names[j]])
    return _votes(guesses, of) if screen == PAINTING and is_revealed else None


def verdict(screen: int, guesses: Sequence[Guess], of: Lesson) -> str:
    """Return the sentence about the optimum and its proof, shown with the answer."""
    reached = shares(screen, guesses, of)
    said = f" The best guess reaches {wording.down(max(reached))} of that." if reached else ""
    if screen == DIRECTION:
        along = pair(of)[1]
        degrees = np.degrees(np.arctan2(along[1], along[0])) % 180
        return (
            f"The dots vary most along {degrees:.0f}°.{said} No line does better: this one is the leading "
            "eigenvector of the covariance, the **principal component**."
        )
    best, proved = shares_of(of)
    keep = f"keep {best} of what all pixels show in the main direction. {proved}"
    if screen == SPANNOGRAM:
        return (
            f"The best angle is {np.degrees(spannogram_of(of)[1]):.0f}°.{said} The set changes only where "
            f"curves cross, so all angles were checked. On all of the data the best {K} pixels {keep}"
        )
    mine = f" The best guess reaches {format_guarantee(max(reached))} of the limit." if reached else ""
    return f"The best {K} pixels found {keep}{mine}"
