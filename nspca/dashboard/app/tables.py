"""Tables that are a list of cards on a phone, one card for each row."""

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

MOST = 40
"""Rows shown as cards: a longer list is scrolled past, not read. The rest is counted."""
OPEN = 3
"""Cards that are seen at once; the others unfold below them, so that a phone's page stays short."""


def show(table: pd.DataFrame, *, column_config: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Draw a table, which the styles of the app replace by cards on a narrow screen.

    Parameters
    ----------
    table : DataFrame
    column_config : mapping, optional
        As for `st.dataframe`. Cards have the same labels and formats.
    **options
        As for `st.dataframe`.

    Returns
    -------
    object
        What `st.dataframe` returns.
    """
    drawn = st.dataframe(table, hide_index=True, column_config=column_config, **options)
    st.html(cards(table, column_config or {}))  # directly below the table: the styles know it by that
    return drawn


def cards(table: pd.DataFrame, config: Mapping[str, Any] | None = None) -> str:
    """Return the first rows of a table as HTML, a list of names and values for each row."""
    columns = [_column(str(name), (config or {}).get(name)) for name in table.columns]
    rows = [
        "".join(
            f"<dt>{escape(label)}</dt><dd>{escape(_text(value, form))}</dd>"
            for (label, form), value in zip(columns, row, strict=True)
        )
        for row in table.head(MOST).itertuples(index=False, name=None)
    ]
    left = len(table) - len(rows)
    more = f"<p>and {left:,} more on a wider screen</p>" if left else ""
    each = [f"<dl>{row}</dl>" for row in rows]
    if len(each) > OPEN + 1:
        folded = f'<summary>{len(each) - OPEN} more</summary><div class="cards">{"".join(each[OPEN:])}</div>'
        each[OPEN:] = [f"<details>{folded}</details>"]
    return f'<div class="cards">{"".join(each)}{more}</div>'


def _column(name: str, config: Any) -> tuple[str, str]:
    """Return the label and the format of a column."""
    if isinstance(config, str):
        return config, ""
    said = config if isinstance(config, Mapping) else {}
    kind = said.get("type_config")
    return said.get("label") or name, str((kind or {}).get("format") or "")


def _text(value: object, form: str) -> str:
    """Return a cell as text: nothing for what is missing, and numbers in the format of their column."""
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return ""
    if not isinstance(value, float) or not form:
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    if form == "percent":
        return f"{value:.1%}".replace("%", " %")
    return form % value if form.startswith("%") else f"{value:.3e}"
