"""The seven screens of the lesson, each with a sentence and a figure; `page` draws one of `SCREENS`.

In each function `of` is the solved problem of the lesson.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

import nspca
from nspca.api import prove_optimum
from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.components import figures, spannogram_explorer
from nspca.dashboard.components.cone_replay import cone_replay
from nspca.dashboard.components.painter import Image, painter, painting
from nspca.dashboard.learn.lesson import K, Lesson, descent, painted, pair, quartic, shares_of
from nspca.dashboard.runs import progress
from nspca.dashboard.views import component
from nspca.plots.fixing import fixing_figure
from nspca.plots.joint import parts_figure
from nspca.plots.lesson import descent_figure, direction_figure, marked_pixels, overlay_figure, quartic_figure
from nspca.presentation.numerals import OPTIMAL_GAP, format_change, percent_down
from nspca.progress import Event
from nspca.specs.optimum import Standing

GUESS = (
    "A direction gives each pixel a weight. The angle mixes the two directions along which the digits vary "
    "most: 90° is the first alone, 0° the second. Each curve is one pixel, as high as its weight. At which "
    f"angle do the {K} highest curves keep most of the variance? Drag to your guess, then press Reveal."
)
GUESSED = (
    f"Each curve is one pixel, and the star marks the angle whose {K} highest curves keep most. The "
    "dashed line is your guess. Guess again, or go on with Next."
)
CONES = (
    "A direction gives each pixel a weight. With three main directions the angle becomes a point on a "
    "sphere. A cone of directions is settled once nothing in it can beat the best set found. When no cone is "
    "open, nothing better exists."
)
OTHERS = (
    f"The best {K} pixels are known. Are they the only good ones? The search goes on below the best, and "
    "lists every set that explains at most 3 % less, until it is proved that there are no others."
)
WITHIN, LIMIT = 0.03, 60  # loss of a listed set, and maximum seconds of the search, which takes about five
OTHERS_HEIGHT = 340  # pixels, as the pictures fill the screen of a lesson
SHOWN = 3  # number of sets that are drawn beside how often each pixel occurs
PICTURE = "learn_guess"  # key of the explorer


@dataclass(frozen=True)
class Screen:
    """A screen: its question as the title, the function that draws it, and a note for the teacher."""

    title: str
    show: Callable[[Lesson], None]
    note: str


def direction(of: Lesson) -> None:
    """Draw the first screen: the direction of largest variance of two pixels."""
    (i, j), along = pair(of)
    points = of.X[:, [i, j]]
    most, least = (float(np.var(points @ turned)) for turned in (along, np.array([-along[1], along[0]])))
    st.markdown(
        f"Each dot shows how many of the {len(points):,} handwritten digits have the same grey values in "
        "two pixels. A **direction** gives each pixel a weight: it is a line through the dots. Along the "
        f"blue line they vary {most / least:.1f} times as much as across it. That direction is their "
        "**principal component**."
    )
    names = [of.of.dataset.feature_names[place] for place in (i, j)]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        figures.draw(direction_figure(points, along, names), "learn_direction")
    with right:
        marked = marked_pixels(of.X.mean(axis=0), component.grid(of.of.dataset), (i, j), names)
        figures.draw(marked, "learn_pixels")


def few(of: Lesson) -> None:
    """Draw the second screen: the best direction over all pixels, and over a few."""
    x = of.problem.covariance.leading(1)[1][:, 0]
    x = x if x[np.argmax(np.abs(x))] > 0 else -x
    varying = np.count_nonzero(np.ptp(of.X, axis=0))  # on the others x is zero but for rounding
    reached, proved = shares_of(of)
    st.markdown(
        f"The first principal component, the main direction, uses {varying} pixels with weights of both "
        f"signs. **{K} pixels** with nonnegative weights keep {reached} of what all show there. {proved}"
    )
    both, captions = np.column_stack((x, of.result.components[:, 0])), ("all pixels", f"the best {K} found")
    shown = parts_figure(both, component.grid(of.of.dataset), captions=captions, name="the lesson")
    figures.draw(shown.update_layout(height=330), "learn_few")
    for title, draw in (
        ("2006: one weight at a time", _draw_2006),
        ("2008: small weights are cut off, again and again", _draw_2008),
    ):
        frame.fold(title, draw.__name__, ":material/history_edu:", partial(draw, of))


def _draw_2006(of: Lesson) -> None:
    found = quartic(of)
    name = wording.plain(of.of.dataset.feature_names[found.pixel])
    st.markdown(
        "All weights but one are held. The variance is then a curve in the weight of one pixel, here "
        f"{name}. Its highest point is at {found.best[0]:.2f}. With a price on weight it moves to "
        f"{found.best[1]:.2f}, so the pixel drops out. The price is raised until {K} pixels are left "
        "(Zass and Shashua 2006)."
    )
    figures.draw(quartic_figure(found.curves, found.best, ("as it is", "with its price")), "learn_quartic")


def _draw_2008(of: Lesson) -> None:
    sizes, steps = descent(of)
    st.markdown(
        f"The covariance is applied to the weights. Then the {K + 1}th largest entry is taken away from "
        f"each, which leaves {K} above zero. This is repeated until nothing changes, here after {steps} "
        "steps (Sigg and Buhmann 2008)."
    )
    figures.draw(descent_figure(sizes, K), "learn_descent")


def spannogram(of: Lesson) -> None:
    """Draw the third screen: the spannogram, on which the visitor guesses the best angle."""
    phi = state.get("guess")
    st.markdown(GUESS if phi is None else GUESSED)
    names = of.of.dataset.feature_names
    guessed = None if phi is None else float(np.radians(phi))
    picture = spannogram_explorer.picture_of(of.of.dataset)
    data = spannogram_explorer.asking(of.V[:, :2], K, names, of.seen, of.unit, guessed, picture=picture)
    keep = lambda angle: state.put(guess=None if angle is None else round(float(np.degrees(angle)), 2))  # noqa: E731
    spannogram_explorer.guess(data, PICTURE, keep)
    blank = {**data, "guessed": None, "scale": 1.0}
    buttons.download(
        "This screen as one HTML file",
        lambda: spannogram_explorer.page("Guess the best angle", GUESS, blank),
        "nspca-guess-the-angle.html",
        "text/html",
        help="It works without a server and without a network.",
    )


def cones(of: Lesson) -> None:
    """Draw the fourth screen: the replay of a cone search in three dimensions."""
    st.markdown(CONES)
    cone_replay((of.of.content, "learn", K), of.V, K, nonneg=True, tol=1e-3, unit=of.unit)


@st.cache_resource(max_entries=2, show_spinner="Listing …")
def listed(content: str, _of: Lesson) -> nspca.Answers:
    """Return all good sets of the lesson, which are listed once per server."""
    return nspca.answers(_of.problem, _of.result, WITHIN, seconds=LIMIT)


def others(of: Lesson) -> None:
    """Draw the last screen: all sets that are nearly as good."""
    st.markdown(OTHERS)
    pictures, titles, hover = of.result.components[:, :1], ["the best"], "weight %{z:.3f}"
    if st.toggle("List them", key="learn_list"):
        known = listed(of.of.content, of)
        st.markdown(f"**{wording.plain(known.statement)}**")
        sets = known.components[:, :SHOWN] != 0
        losses = [known.exchanges(number)[2] for number in range(sets.shape[1])]
        pictures = np.column_stack((sets, known.counts / len(known.values)))
        titles = [*(f"−{format_change(loss)}" if loss > 0 else "the best" for loss in losses), "how often"]
        hover = "in %{z:.0%} of the sets"
    grid, mean = component.grid(of.of.dataset), of.X.mean(axis=0)
    figure = parts_figure(pictures, grid, mean=mean, captions=titles, hover=hover, name="the best")
    figures.draw(figure.update_layout(height=OTHERS_HEIGHT), "learn_others")


PAINTER = "learn_painter"
TASK = (
    f"Paint the **{K} pixels** that you think vary most together over all handwritten digits. Behind "
    "them is the mean digit."
)


def paint(of: Lesson) -> None:
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
    _paint_buttons(judged, len(pixels))


def image_of(of: Lesson) -> Image:
    """Return the mean digit, on which `K` pixels may be painted."""
    mean = of.X.mean(axis=0)
    return Image(mean / mean.max(), component.grid(of.of.dataset)[1], K)


def _paint_buttons(judged: bool, count: int) -> None:
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


FIXING = (
    f"A pixel turns green once every better component of {K} pixels must use it, and grey once none can. "
    "When no pixel is undecided, nothing better exists."
)
BEAT = 0.8  # seconds between two pictures
MOST_STEPS = 12  # maximum pictures of the replay, which then takes about ten seconds
SECONDS = 20  # maximum seconds of the search, which takes about one
BEGAN = "learn_fixing_began"  # session key: time at which the button was pressed


@dataclass(frozen=True, eq=False)
class Search:
    """A search for the optimum of the lesson: its states, step by step, and its result."""

    standings: tuple[Standing, ...]
    result: nspca.Result


@st.cache_resource(max_entries=2, show_spinner="Searching …")
def search(content: str, _of: Lesson) -> Search:
    """Return the search for the optimum of the lesson, which runs once per server."""
    n, seen = _of.problem.n, list[Standing]()

    def watch(event: Event) -> None:
        standing = Standing.of(event, n)
        if standing is not None and (not seen or settled(standing) > settled(seen[-1])):
            seen.append(standing)

    def settled(standing: Standing) -> int:
        return int(np.sum(standing.certain) + np.sum(~standing.possible))

    result = prove_optimum(_of.problem, _of.result, watch, seconds=SECONDS)
    if len(seen) > MOST_STEPS:
        seen = [seen[i] for i in np.linspace(0, len(seen) - 1, MOST_STEPS).astype(int)]
    return Search(tuple(seen), result)


def fix(of: Lesson) -> None:
    """Draw the picture of the search, and the button that starts its replay."""
    st.markdown(FIXING)
    began = st.session_state.get(BEGAN)
    if began is None:
        start = np.zeros(of.problem.n, dtype=bool)
        _draw_fixing(of, of.result, Standing(start, ~start, 1, 0))
        buttons.button("Search", "fix_pixels", _begin_fixing, type="primary", icon=":material/play_arrow:")
        return
    found = search(of.of.content, of)
    if time.time() - began >= BEAT * len(found.standings):
        _end_fixing(of, found)
        return

    def step() -> None:
        at = int((time.time() - began) / BEAT)
        if at >= len(found.standings):
            st.rerun()
        _draw_fixing(of, of.result, found.standings[max(0, at)])

    progress.repeat(step, BEAT)


def _begin_fixing() -> None:
    st.session_state[BEGAN] = time.time()


def _end_fixing(of: Lesson, found: Search) -> None:
    is_optimal = found.result.ratio is not None and 1 - found.result.ratio <= OPTIMAL_GAP
    _draw_fixing(of, found.result, Standing.none(of.problem.n) if is_optimal else found.standings[-1])
    if is_optimal:
        st.success(
            "**Proved optimal: nothing better exists.** The green pixels are the best "
            f"{K} of all choices of {K} pixels.",
            icon=":material/verified:",
        )
    buttons.button("Search again", "fix_pixels", _begin_fixing, icon=":material/replay:")


def _draw_fixing(of: Lesson, result: nspca.Result, standing: Standing) -> None:
    shown = fixing_figure(
        result.components[:, 0],
        standing.certain,
        standing.possible,
        image_shape=of.of.dataset.image_shape,
    )
    figures.draw(shown, "learn_fixing", same="the pixels of the lesson")


SCREENS = (
    Screen(
        "Which direction varies most?",
        direction,
        "**One minute.** Read the sentence aloud. Let the class point along the line in the air. Ask: what "
        "if there are 64 pixels instead of two? The line becomes a list of 64 weights. *Common mistake:* the "
        "principal component is not the line of a regression, because no pixel explains the other.",
    ),
    Screen(
        "Do a few features do as well?",
        few,
        "**One minute.** Let the class count the coloured pixels left and right. Ask: what would you lose if "
        "you kept eight? The sentence gives both numbers, what is reached and what is proved. Open the two "
        "boxes on older methods only if there is time.",
    ),
    Screen(
        "Why can the best few be found?",
        spannogram,
        "**Two minutes.** Drag the angle slowly, and let the class watch the small image. Ask: how often "
        "does it change? It changes only where curves cross, so there are few sets to check. Then take "
        "guesses, and reveal the best angle.",
    ),
    Screen(
        "How is everything else ruled out?",
        cones,
        "**One minute.** Step through the cones by hand at first, then press Play. Ask: why may a cone be "
        "dropped unseen? Its bound is below what was found already.",
    ),
    Screen(
        "How good is your own guess?",
        paint,
        "**Two minutes.** Everybody paints eight pixels. Ask before the answer is shown: could a better "
        "choice exist that nobody found? The certificate answers, and its checker shares no code with the "
        "solver.",
    ),
    Screen(
        "When is nothing left to search?",
        fix,
        "**One minute.** Press Search. Green pixels are needed, grey ones are out. Ask: what is known when "
        "no pixel is blue? Then every other choice of eight pixels is ruled out.",
    ),
    Screen(
        "Is it the only one?",
        others,
        "**One minute.** Ask before the button is pressed: how many other sets are nearly as good? Then let "
        "the class find the pixels that each set exchanges. Ask: how can a list be proved complete? Every "
        "other set is ruled out, as on the screen before.",
    ),
)
