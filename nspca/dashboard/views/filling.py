"""Draw runs that return rows: progress, partial results, refused methods, and a table to download.

Sections with a run of their own use this, such as other rows, stability and noise.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from nspca.dashboard.app import buttons, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import progress
from nspca.dashboard.views.component import csv_of
from nspca.jobs import JobState
from nspca.specs.rows import Refused, Row, unpack

Looks = tuple[Callable[[JobState], str], Callable[[JobState], float], Callable[[JobState], None]]
"""Callables that say how far a run is, how full its bar is, and that draw its rows."""


def looks(total: int, draw: Callable[[list[Row]], None], only: Any) -> Looks:
    """Return the functions `says`, `share` and `draw` for `progress.show`.

    Parameters
    ----------
    total : number of expected rows
    draw : function that draws the finished rows
    only : class of the rows that count
    """

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


def download(label: str, table: pd.DataFrame, of: Chosen, what: str) -> None:
    """Draw the download of a table as a CSV file that names its data; `what` is a part of the file name."""
    name = f"{of.stem}-{what}.csv"
    buttons.download(label, lambda: csv_of(table, of.dataset), name, key=f"download_{what}")
