"""Tables that are a list of cards on a phone, one card for each row."""

from html import escape

import pandas as pd
import streamlit as st

from nspca.dashboard.app.styles import CARDS, WIDE

MOST = 40
"""Rows shown as cards: a longer list is scrolled past, not read. The rest is counted."""


def show(table: pd.DataFrame, key: str, *, alt: str, **options: object) -> None:
    """Draw a table, which styles replace by cards on a narrow screen.

    Parameters
    ----------
    table : DataFrame
    key : str
        Identity on the page.
    alt : str
        Description for screen readers.
    **options
        As for `st.dataframe`.
    """
    with st.container(key=f"{WIDE}{key}"):
        st.dataframe(table, hide_index=True, alt=alt, **options)
    with st.container(key=f"{CARDS}{key}"):
        st.html(cards(table))


def cards(table: pd.DataFrame) -> str:
    """Return the first rows of a table as HTML, a list of names and values for each row."""
    names = [escape(str(name)) for name in table.columns]
    rows = [
        "".join(
            f"<dt>{name}</dt><dd>{escape(_text(value))}</dd>" for name, value in zip(names, row, strict=True)
        )
        for row in table.head(MOST).itertuples(index=False, name=None)
    ]
    left = len(table) - len(rows)
    more = f"<p>and {left:,} more on a wider screen</p>" if left else ""
    return f'<div class="cards">{"".join(f"<dl>{row}</dl>" for row in rows)}{more}</div>'


def _text(value: object) -> str:
    """Return a cell as text: numbers with four digits, nothing for what is missing."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.4g}"
    return "" if value is None else str(value)
