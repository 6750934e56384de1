"""Draw which k, or how many components, rows that were held out ask for. Sweep and Components ask it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from nspca.dashboard import open_folder
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.section import Section
from nspca.plots.selection import choice_figure
from nspca.selection import Choice
from nspca.selection.choice import FOLDS
from nspca.specs import ChoiceSpec
from nspca.specs.rows import Row, Weighed
from nspca.specs.selection import choice_of

AGREEMENT = "Agreement says how often draws choose the same features: 1 is always, 0 is what chance gives. "
ESTIMATE = "All of this is an estimate from these rows, and no proof."


def no_rows(of: Chosen) -> str:
    """Return why rows cannot be resampled; empty if they can."""
    if of.dataset.is_covariance:
        return "This needs rows, and this data set is a covariance matrix without rows."
    return "" if of.table is None else open_folder.ALL_ROWS


def not_offered(of: Chosen) -> str:
    """Return why no rows can be held out; empty if they can."""
    m = of.dataset.X.shape[0]
    too_few = f"This needs at least {FOLDS} samples, and there are {m}." if m < FOLDS else ""
    return no_rows(of) or too_few


def section(
    answer: Answer,
    spec: ChoiceSpec,
    intro: str,
    label: str,
    seconds: float,
    one: str = "",
    after: Callable[[Choice], None] = lambda choice: None,
) -> Section:
    """Return the section about the choice of k, or of how many components where `one` is their noun."""
    of = answer.of

    def live(rows: list[Row]) -> None:
        if last := next((row for row in reversed(rows) if isinstance(row, Weighed)), None):
            draw(choice_of(last, "components" if one else "k"))

    def draw(choice: Choice) -> None:
        if choice.best is not None:
            st.markdown(sentence(choice, one))
            after(choice)
        numbers, columns = choice.numbers.tolist(), choice.columns
        marks = choice.best, choice.simplest
        how: dict[str, Any] = {"of": f"{one}s" if one else "k", "agreement": not one}
        figure = choice_figure(numbers, columns, answer.problem.total_variance, *marks, **how)
        figures.draw(figure, f"choice_{one}", same=of.content)
        agreement = "" if one else AGREEMENT
        st.caption(f"By {wording.plain(spec.method)}. Bars are standard errors. {agreement}{ESTIMATE}")

    return Section(
        "choice",
        spec,
        label,
        lambda choice, rows: draw(choice),
        live,
        ("These numbers, CSV", "held-out", lambda choice: choice.frame),
        ":material/casino:",
        seconds=seconds,
        intro=intro,
        why_not=not_offered(of),
    )


def sentence(choice: Choice, one: str = "") -> str:
    """Return a sentence about the number that held-out rows recommend; `one` is as in `show`."""
    rows = {int(number): i for i, number in enumerate(choice.numbers)}
    assert choice.best is not None and choice.simplest is not None  # something was held out
    best = rows[choice.best]
    share, error = 100 * choice.held_out[best], 100 * choice.held_out_error[best]
    within = f" ± {error:.1f}" if np.isfinite(error) else ""

    def named(number: int) -> str:
        return f"**{wording.things(number, one) if one else f'k = {number}'}**"

    explain = "explain" if one and choice.best != 1 else "explains"
    line = f"{named(choice.best)} {explain} most of what was held out, {share:.1f}{within} % of its variance"
    if choice.simplest < choice.best:
        are = "are" if one and choice.simplest != 1 else "is"
        line += f"; {named(choice.simplest)} {are} as good within a standard error"
    agreed = choice.stability[rows[choice.simplest]]
    if np.isfinite(agreed):
        line += f". At k = {choice.simplest} the features of two draws agree to {agreed:.2f}"
    return f"{line}."
