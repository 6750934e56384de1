"""A section with a run of its own: its start button, then its progress, then its result with downloads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from nspca.dashboard import export
from nspca.dashboard.app import buttons, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, lookup, progress, start
from nspca.dashboard.views.component import csv_of
from nspca.specs import Spec
from nspca.specs.rows import Refused, Row, unpack


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
        return not self.why_not and lookup.that_asks(self.spec) is not None

    def show(self, of: Chosen, **given: Any) -> None:
        """Draw the section about the data; `given` are further arguments of the run."""
        if self.intro:
            st.markdown(self.intro)
        if self.why_not:
            st.caption(self.why_not)
            return
        now = lookup.that_asks(self.spec)
        if now is None:
            begin = lambda: start.start(self.spec, **of.given, **given)  # noqa: E731
            time = "" if self.seconds is None else f": {cost_estimate.took(self.seconds)}"
            buttons.button(f"{self.label}{time}", self.key, begin, icon=self.icon, help=self.help)
            return
        if not progress.show(now, lambda now: self.rows(unpack(now.rows)), self.key):
            return
        found = lookup.opened(now.id, now.finished, self.spec.unpack)
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
