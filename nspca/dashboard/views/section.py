"""A section with a run of its own: its start button, then its progress, then its result with downloads.

Sweep and Components share one, on which k, or how many components, rows that were held out ask for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard import export, open_folder
from nspca.dashboard.app import buttons, wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, lookup, progress, start
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.component import csv_of
from nspca.plots.selection import choice_figure
from nspca.selection import Choice
from nspca.selection.choice import FOLDS
from nspca.specs import ChoiceSpec, Spec
from nspca.specs.rows import Refused, Row, Weighed, unpack
from nspca.specs.selection import choice_of


@dataclass(frozen=True)
class Section:
    """A further question about an answer: its newest run in the workspace, or a button that starts one."""

    key: str  # distinguishes the widgets of several sections on one page
    spec: Spec  # the question
    label: str  # text of the start button
    draw: Callable[[Any, list[Row]], Any]  # ``draw(result, rows)`` draws the result of a run that has ended
    # ``rows(rows)`` draws the rows that are ready of a run at work
    rows: Callable[[list[Row]], Any] = lambda rows: None
    # label and name of a CSV file, and a function that returns its table from the result
    table: tuple[str, str, Callable[[Any], pd.DataFrame]] | None = None
    icon: str = ":material/play_arrow:"  # icon, help: look of the start button
    help: str | None = None
    seconds: float | None = None  # that the answer takes, said on the button
    intro: str = ""  # what is asked, and how it is answered
    why_not: str = ""  # why these data cannot be asked, said in place of the button

    @property
    def is_begun(self) -> bool:
        """Tell whether the question has been asked in this workspace."""
        return not self.why_not and lookup.find_newest(self.spec) is not None

    def show(self, of: Chosen, **given: Any) -> None:
        """Draw the section about the data; `given` are further arguments of the run."""
        if self.intro:
            st.markdown(self.intro)
        if self.why_not:
            st.caption(self.why_not)
            return
        now = lookup.find_newest(self.spec)
        if now is None:
            begin = lambda: start.start(self.spec, **of.given, **given)  # noqa: E731
            time = "" if self.seconds is None else f": {cost_estimate.took(self.seconds)}"
            buttons.button(f"{self.label}{time}", self.key, begin, icon=self.icon, help=self.help)
            return
        if not progress.show(now, lambda now: self.rows(unpack(now.rows)), self.key):
            return
        found = lookup.read_result(now.id, now.finished, self.spec.unpack)
        self.draw(found, unpack(now.rows))
        if self.table is not None:
            label, name, make = self.table
            csv = lambda: csv_of(make(found), of.dataset)  # noqa: E731
            buttons.download(label, csv, f"{of.stem}-{name}.csv", key=f"download_{name}")
        export.offer(self.spec, of, self.key)


def refusals(rows: list[Row]) -> None:
    """Draw the methods that could not solve the problem, each with its error."""
    for row in rows:
        if isinstance(row, Refused):
            st.caption(
                f":material/block: **{wording.plain(row.method)}** left out: {wording.plain(row.error)}"
            )


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


def choose_section(
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
            st.markdown(choice_sentence(choice, one))
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


def choice_sentence(choice: Choice, one: str = "") -> str:
    """Return a sentence about the number that held-out rows recommend; `one` is as in `choose_section`."""
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
