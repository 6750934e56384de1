"""The figure of a gap: the best value and the bound while a search or a proof runs.

Proofs on pages and the replay of a cone search draw `gap_figure`.
"""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_curve, add_note, new_figure, ratio_sentence
from nspca.presentation.colours import BOUND, FOUND, PROVED, fade
from nspca.presentation.numerals import format_bound_share, format_value_share, proved_ratio

HOVER_DIGITS = 5
"""Significant digits of a hover: a search gains little by little."""


LEAST_HEIGHT = 1e-4
"""Least height of the vertical axis of a gap, as a share of the value: ticks then differ in their first six
digits. Bounds that are nearer than that lie on each other.
"""


def gap_figure(
    lower: ArrayLike,
    upper: ArrayLike,
    steps: ArrayLike,
    *,
    steps_name: str,
    unit: float,
    unit_name: str,
) -> go.Figure:
    """Draw the best value and the proved bound (t,) of a running search as they approach each other.

    Both are NaN where unknown. `steps` are counted cones or seconds, and the `unit` is 100 %.
    """
    lower, upper = np.asarray(lower, float), np.asarray(upper, float)
    said = [format_bound_share(bound, unit, HOVER_DIGITS) for bound in upper]
    reached = [format_value_share(value, unit, HOVER_DIGITS) for value in lower]
    ratio = proved_ratio(lower[-1], upper[-1]) if upper[-1] > 0 else None
    ratio = None if ratio is None or np.isnan(lower[-1]) else ratio
    lower, upper = 100 * lower / unit, 100 * upper / unit
    figure = new_figure(
        f"Best value and proved bound while the search runs: {ratio_sentence(ratio)}.", height=280
    )
    after = f"After %{{x}} {steps_name}:<br>"
    line = {"color": BOUND, "width": 2, "shape": "hv", "dash": "dot"}
    hover = f"{after}nothing above %{{customdata}} is possible."
    add_curve(figure, steps, upper, "bound", hover, line=line, customdata=said)
    line = {"color": FOUND, "width": 2.5, "shape": "hv"}
    hover, filled = f"{after}%{{customdata}} has been reached.", {"fillcolor": fade(PROVED, 0.4)}
    add_curve(
        figure, steps, lower, "best found", hover, line=line, customdata=reached, fill="tonexty", **filled
    )
    if ratio is not None:
        add_note(figure, ratio_sentence(ratio), 1, 1.02, "bottom right")
    figure.update_xaxes(title_text=steps_name)
    return figure.update_yaxes(title_text=f"% of {unit_name}", range=_heights(lower, upper))


def _heights(lower: np.ndarray, upper: np.ndarray) -> list[float] | None:
    """Return the range of the vertical axis, None without a finite gap: the present gap takes about a quarter
    of it.

    The first bounds may lie outside, because they are far away.
    """
    gaps = upper - lower
    if not gaps.size or not np.isfinite(gaps[-1]) or not np.nanmax(gaps) > 0:
        return None
    least, most = float(np.nanmin(lower)), float(np.nanmax(upper))
    span = min(most - least, max(4 * float(gaps[-1]), (most - least) / 20))
    bottom, margin = max(least, float(lower[-1]) - span), max(span / 12, LEAST_HEIGHT * abs(lower[-1]) / 2)
    return [bottom - margin, min(most, float(lower[-1]) + span) + margin]
