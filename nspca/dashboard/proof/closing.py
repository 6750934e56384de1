"""Draw how the gap of a proof closed: value and bound against seconds.

`panel` draws it for one component, and `joint.proof` for several.
"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from nspca.dashboard.components import figures
from nspca.jobs import JobState
from nspca.plots import gap_figure
from nspca.specs.rows import Closer, unpack


def closers(now: JobState) -> list[Closer]:
    """Return the rows about its bound that a run has reported so far, in order."""
    return [row for row in unpack(now.rows) if isinstance(row, Closer)]


def draw(
    rows: Sequence[Closer], unit: tuple[float, str], same: str, until: float | None = None, key: str = "gap"
) -> None:
    """Draw value and bound against seconds, up to `until`; nothing without rows.

    The browser resets a zoom when the text `same` changes.
    """
    if not rows:
        return
    seen = pd.DataFrame(rows)
    if until is not None and until > seen["seconds"].iloc[-1]:
        seen = pd.concat([seen, seen.tail(1).assign(seconds=until)])
    columns = (seen[name].to_numpy() for name in ("lower", "upper", "seconds"))
    drawn = gap_figure(*columns, unit=unit[0], unit_name=unit[1], steps_name="seconds")
    figures.draw(drawn.update_layout(height=280), key, same=same)


def closed(rows: Sequence[Closer], unit: tuple[float, str], same: str) -> None:
    """Draw the folded history of the bounds of an ended proof; the arguments are those of `draw`."""
    if rows:
        with st.expander("How the gap closed", icon=":material/compress:"):
            draw(rows, unit, same)
