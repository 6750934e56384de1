"""Tables on their way out: a spreadsheet must show a name, never run it."""

import pandas as pd

# The ASCII signs that start a formula, their full-width forms (East Asian spreadsheets), tab and return
# (skipped before a formula).
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_SKIPPED = " \t\r\n"


def neutralise(text: str) -> str:
    """A text cell that no spreadsheet takes for a formula: an apostrophe goes in front of ``= + - @``.

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
    """A table as UTF-8 CSV with a byte order mark (so that spreadsheets read "µm"), text cells and column
    names neutralised.
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
    return safe.to_csv(index=False).encode("utf-8-sig")
