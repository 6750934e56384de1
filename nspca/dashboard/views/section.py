"""A section with a run of its own: its start button, then its progress, then its result with downloads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from nspca.dashboard import export
from nspca.dashboard.app import buttons, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import lookup, progress, start
from nspca.dashboard.views.component import csv_of
from nspca.jobs import JobState
from nspca.specs import Spec
from nspca.specs.rows import Refused, Row, unpack

Looks = tuple[Callable[[JobState], str], Callable[[JobState], float], Callable[[JobState], None]]
"""Callables that say how far a run is, how full its bar is, and that draw its rows."""


@dataclass(frozen=True)
class Section:
    """A further question about an answer: its newest run in the workspace, or a button that starts one.

    Parameters
    ----------
    key : distinguishes the widgets of several sections on one page
    spec : the question
    label : text of the start button; a function where the text takes time
    rows : ``rows(rows)`` draws the rows that are ready of a run at work
    draw : ``draw(result, rows)`` draws the result of a run that has ended
    table : label and name of a CSV file, and a function that returns its table from the result
    total : number of rows that the run reports; with 0, the present stage of the run is shown
    only : classes of the rows that count
    icon, help : look of the start button
    """

    key: str
    spec: Spec
    label: Callable[[], str]
    rows: Callable[[list[Row]], Any]
    draw: Callable[[Any, list[Row]], Any]
    table: tuple[str, str, Callable[[Any], pd.DataFrame]] | None = None
    total: int = 0
    only: Any = Row
    icon: str = ":material/play_arrow:"
    help: str | None = None

    def show(self, of: Chosen, **given: Any) -> Any:
        """Draw the section about the data, and return its result; None before there is one."""
        now = lookup.that_asks(self.spec)
        if now is None:
            begin = lambda: start.start(self.spec, **of.given, **given)  # noqa: E731
            look: dict[str, Any] = {"type": "secondary", "icon": self.icon, "help": self.help}
            start.button(self.label(), begin, self.key, **look)
            return None
        looks: Looks = (progress.stage_line, progress.stage_share, lambda now: None)
        if self.total:
            looks = looks_of(self.total, self.rows, self.only)
        if not progress.show(now, *looks, self.key):
            return None
        found = lookup.opened(now.id, now.finished, self.spec.unpack)
        self.draw(found, unpack(now.rows))
        if self.table is not None:
            label, name, make = self.table
            table, file = make(found), f"{of.stem}-{name}.csv"
            csv = lambda: csv_of(table, of.dataset)  # noqa: E731
            buttons.download(label, csv, file, key=f"download_{name}")
        export.offer(self.spec, of, self.key)
        return found


def looks_of(total: int, draw: Callable[[list[Row]], None], only: Any) -> Looks:
    """Return the functions `says`, `share` and `draw` for `progress.show`."""

    def ready(now: JobState) -> int:
        return sum(isinstance(row, only) for row in unpack(now.rows))

    return (
        lambda now: says(now, ready(now), total),
        lambda now: ready(now) / total,
        lambda now: draw(unpack(now.rows)),
    )


def says(now: JobState, ready: int, total: int) -> str:
    """Return the progress line of a run: `ready` of `total` rows, and the present stage."""
    if waits := progress.waiting(now):
        return waits
    line = f"{ready} of {total} ready"
    if now.event is None:
        return line
    k = "" if now.event.k is None else f", k = {now.event.k}"
    return f"{line}; {wording.stage(now.event)}{k}"


def refusals(rows: list[Row]) -> None:
    """Draw the methods that could not solve the problem, each with its error."""
    for row in rows:
        if isinstance(row, Refused):
            st.caption(
                f":material/block: **{wording.plain(row.method)}** left out: {wording.plain(row.error)}"
            )
