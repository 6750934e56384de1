"""Stability of several components: find them again on resampled rows, when a visitor asks.

The views of the page Components call `show` in their section on other samples.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard import open_folder
from nspca.dashboard.app import wording
from nspca.dashboard.joint.outcome import Outcome, order_of
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.views.section import Section
from nspca.specs import StabilitySpec
from nspca.specs.rows import Recurred, Row
from nspca.specs.stability import RESAMPLES


def show(outcome: Outcome, draw: Callable[[Outcome, np.ndarray, list[float]], None]) -> None:
    """Draw the button of the analysis, or its outcome so far, for the best method.

    Parameters
    ----------
    outcome : Outcome
    draw : callable
        ``draw(outcome, F, overlaps)`` draws the frequencies F (n, r) of features in the components, and the
        mean overlap of each component with its draws.
    """
    one, best = outcome.about.one, outcome.best
    st.markdown(
        f"**Would other samples give the same {one}s?** As many samples are drawn again with replacement, "
        f"and {wording.plain(best)} looks for the {one}s anew."
    )
    if outcome.of.table is not None:
        st.caption(open_folder.ALL_ROWS)
        return
    spec, result = _spec(outcome), outcome.results[best]
    seconds = RESAMPLES * max(result.seconds, 0.05)

    def rows_of(found: list[dict[str, Any]]) -> list[Row]:
        return [Recurred(**one) for one in found]

    Section(
        "stability",
        spec,
        lambda: f"Draw the rows {RESAMPLES} times: {cost_estimate.took(seconds)}",
        lambda rows: _draw(outcome, rows, draw),
        lambda found, rows: _draw(outcome, rows_of(found), draw),
        ("Frequencies, CSV", "stability", lambda found: table(outcome, rows_of(found))),
        RESAMPLES,
        Recurred,
        ":material/casino:",
    ).show(outcome.of, components=result.components)


def _spec(outcome: Outcome) -> StabilitySpec:
    asked, best = outcome.asked, outcome.best
    return StabilitySpec(
        **asked.about_problem(),
        k=asked.sizes,
        methods=(best,),
        options=asked.options_of([best]),
        seed=asked.seed,
    )


def frequencies(rows: list[Row], n: int) -> tuple[np.ndarray, list[float]]:
    """Return the frequency of n features in each component (n, r), and the mean overlap of each (r,).

    There are no components (r = 0) before the first draw.
    """
    draws = [row for row in rows if isinstance(row, Recurred)]
    F = np.zeros((n, len(draws[0].supports) if draws else 0))
    for row in draws:
        for j, support in enumerate(row.supports):
            F[support, j] += 1 / len(draws)
    return F, np.mean([row.overlaps for row in draws] or [[]], axis=0).tolist()


def _shown(outcome: Outcome, rows: list[Row]) -> tuple[np.ndarray, list[float]]:
    """Return `frequencies`, for the components in the order in which the page shows them."""
    F, overlaps = frequencies(rows, outcome.problem.n)
    order = order_of(outcome.results[outcome.best])[: len(overlaps)]
    return F[:, order], [overlaps[j] for j in order]


def table(outcome: Outcome, rows: list[Row]) -> pd.DataFrame:
    """Return a table of the features of all draws, with their frequency in each component."""
    F, _ = _shown(outcome, rows)
    names = [f"{outcome.about.one} {j}" for j in range(1, F.shape[1] + 1)]
    frame = pd.DataFrame(F, columns=names).round(6)
    frame.insert(0, "feature", list(outcome.of.dataset.feature_names))
    return frame[F.any(axis=1)]


def _draw(outcome: Outcome, rows: list[Row], draw: Callable[..., object]) -> None:
    """Draw the outcome so far by `draw`, after a sentence about the frequency of features."""
    F, overlaps = _shown(outcome, rows)
    if not overlaps:
        return
    kept = float(F[outcome.shown.components != 0].mean())
    draws = sum(isinstance(row, Recurred) for row in rows)
    so_far = f" ({wording.things(draws, 'draw')} so far)" if draws < RESAMPLES else ""
    about = outcome.about
    st.markdown(
        f"On average {100 * kept:.0f} % of the {about.feature}s of a {about.one} are there again{so_far}."
    )
    draw(outcome, F, overlaps)
