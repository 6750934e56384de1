"""Tables that become a list of cards on a phone, with one card per row. Pages draw tables with `show`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from nspca.presentation.markup import Markup, render

MOST = 40  # maximum rows shown as cards. Only the number of further rows is stated
OPEN = 3  # cards that are seen at once; the others unfold below them, so that a phone's page stays short


def show(table: pd.DataFrame, *, column_config: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Draw a table as `st.dataframe` does, and its cards, which are shown instead on a narrow screen."""
    drawn = st.dataframe(table, hide_index=True, column_config=column_config, **options)
    st.html(cards(table, column_config or {}))  # directly below the table, as the styles require
    return drawn


def cards(table: pd.DataFrame, config: Mapping[str, Any] | None = None) -> Markup:
    """Return the first rows of a table as HTML, a list of names and values for each row."""
    columns = [_column(str(name), (config or {}).get(name)) for name in table.columns]
    rows = [
        [(label, _text(value, form)) for (label, form), value in zip(columns, row, strict=True)]
        for row in table.head(MOST).itertuples(index=False, name=None)
    ]
    seen = OPEN if len(rows) > OPEN + 1 else len(rows)
    return render("cards", rows=rows[:seen], folded=rows[seen:], left=len(table) - len(rows))


def _column(name: str, config: Any) -> tuple[str, str]:
    """Return the label and the format of a column, "" for none, from its entry in `column_config`."""
    if isinstance(config, str):
        return config, ""
    said = config if isinstance(config, Mapping) else {}
    kind = said.get("type_config")
    return said.get("label") or name, str((kind or {}).get("format") or "")


def _text(value: object, form: str) -> str:
    """Return a cell as text: "" for a missing value, and a float in the format `form` of its column."""
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return ""
    if not isinstance(value, float) or not form:
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    if form == "percent":
        return f"{value:.1%}".replace("%", " %")
    return form % value if form.startswith("%") else f"{value:.3e}"
