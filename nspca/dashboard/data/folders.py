"""Folders of shards on the server: what they hold, and a sample of their rows as data to look at.

A page works on data in memory, so it gets some rows; the whole is solved in passes by the command line.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from nspca.dashboard.shell import presses, words
from nspca.data import Dataset
from nspca.data.arrays import to_npz
from nspca.errors import NSPCAError
from nspca.shards import Shards
from nspca.shards.served import opened, served

ROWS, ENTRIES = 2000, 2_000_000
"""Most rows of a sample, and about as many entries."""


def show(keep: Callable[[str, bytes], None]) -> None:
    """A line for each folder; ``keep(file, content)`` makes a sample of one the data in use."""
    st.caption(
        "Tables that need not fit into memory. Pages work on a sample of their rows; for all of them, "
        "`python -m nspca solve FOLDER --k 15 --components 8` on the server reads them in a few passes."
    )
    for number, name in enumerate(served()):
        _line(number, name, keep)


def _line(number: int, name: str, keep: Callable[[str, bytes], None]) -> None:
    try:
        table = opened(name)
    except NSPCAError as error:
        st.error(words.plain(f"{name}: {error}"), icon=":material/error:")
        return
    m, n = table.shape
    with st.container(horizontal=True, vertical_alignment="center", key=f"folder_{number}"):
        presses.button(
            "Look at some of its rows",
            f"rows_{number}",
            partial(_take, name, keep),
            icon=":material/table_rows:",
        )
        size = f"{words.things(m, 'row')} × {words.things(n, 'feature')}, {table.nonzeros:,} nonzeros"
        st.markdown(f"{words.plain(name)} :small[:gray[{size}]]", width="content")


def _take(name: str, keep: Callable[[str, bytes], None]) -> None:
    try:
        content, rows = sample(opened(name))
    except NSPCAError as error:
        st.error(words.plain(error), icon=":material/error:")
        return
    keep(f"{name}, {rows} rows.npz", content)


def sample(table: Shards) -> tuple[bytes, int]:
    """Some rows of a folder as an NPZ file, and how many."""
    most = int(np.clip(ENTRIES * table.shape[0] / max(table.nonzeros, 1), 2, ROWS))
    X, rows = table.sample(most)
    names = [f"row {row + 1}" for row in rows]
    return to_npz(Dataset(table.name, X, table.feature_names, tuple(names))), len(names)
