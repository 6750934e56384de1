"""Lay out the axis of k of all figures against k: its scale, ticks and range.

The axis shows all `ks` of the sweep, in increasing order.
"""

from collections.abc import Sequence
from math import log10

import plotly.graph_objects as go

CROWDED = 0.1
"""Share of a linear axis on which half of the values of k may not stand: they would not be told apart."""
FEW = 12
"""Largest range of k in which every whole number has a tick: there is no half feature."""
ROUND = (1, 2, 5)
"""Digits of round ticks, at every power of ten."""
APART = 1.3
"""Smallest ratio between the first or last k and a round tick; nearer ticks are left out."""


def logarithmic(ks: Sequence[int]) -> bool:
    """Tell whether the axis of increasing k is logarithmic: on a linear axis small k would be crowded."""
    return len(ks) > 2 and ks[len(ks) // 2] - ks[0] < CROWDED * (ks[-1] - ks[0])


def place(ks: Sequence[int], k: float) -> float:
    """Return the position of k in the units that Plotly uses for ranges and annotations."""
    return log10(k) if logarithmic(ks) else k


TITLE = "k, features allowed in the component"


def lay_out(figure: go.Figure, ks: Sequence[int], title: str = TITLE) -> None:
    """Set the title, ticks and range of the axis, and keep viewers from panning away from the values of k."""
    figure.update_xaxes(title_text=f"{title or 'k'} (logarithmic)" if logarithmic(ks) else title)
    if not ks:
        return
    first, last = place(ks, ks[0]), place(ks, ks[-1])
    pad = max(0.03 * (last - first), 0.02 if logarithmic(ks) else 0.5)
    figure.update_xaxes(range=[first - pad, last + pad], minallowed=first - pad, maxallowed=last + pad)
    if ks[-1] - ks[0] <= FEW:
        figure.update_xaxes(dtick=1)
    if logarithmic(ks):
        figure.update_xaxes(type="log", tickmode="array", tickvals=_ticks(ks[0], ks[-1]))


def _ticks(first: int, last: int) -> list[int]:
    found = [digit * 10**power for power in range(len(str(last))) for digit in ROUND]
    found = [k for k in found if first * APART <= k and k * APART <= last]
    return [first, *found, last]
