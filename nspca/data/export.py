"""Tables as CSV files for spreadsheets, in which no cell can run as a formula.

Downloads of the pages and tables that commands write are made here.
"""

import pandas as pd

# The ASCII signs that start a formula, their full-width forms (East Asian spreadsheets), tab and return
# (skipped before a formula).
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_SKIPPED = " \t\r\n"


def neutralise(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: ``= + - @`` get an apostrophe in front.

    Plain numbers written as text (``-5``, ``+1e3``) stay as they are.
    """
    if not text.lstrip(_SKIPPED).startswith(_FORMULA) and not text.startswith(("\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text


def frame_to_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as UTF-8 CSV in which texts and column names are neutralised.

    A byte order mark lets spreadsheets read signs such as "µ".
    """
    safe = frame.copy()
    for i, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            safe.isetitem(
                i,
                frame.iloc[:, i]
                .astype(object)
                .map(lambda cell: neutralise(cell) if isinstance(cell, str) else cell),
            )
    safe.columns = [neutralise(str(column)) for column in frame.columns]
    text: str = safe.to_csv(index=False)
    return text.encode("utf-8-sig")
