"""Figures about bounds: the gap while a search runs, and what the rank buys."""

import numpy as np
import plotly.graph_objects as go

from nspca.plots.theme import BLUE, GREEN, GREY, fade, new_figure, percent_down, ratio_sentence


def gap_figure(
    lower, upper, steps=None, *, steps_name="cones examined", unit=1.0, unit_name="the units of the data"
) -> go.Figure:
    """Lower and upper bound of a running search closing on each other.

    Parameters
    ----------
    lower, upper : (t,) best value and proved bound after each report, units of the data; NaN where unknown
    steps : (t,) horizontal position (cones or seconds), default 0..t-1
    unit, unit_name : what the values are divided by, and its name; a unit other than 1 is shown in per cent
    """
    factor, prefix = (1.0, "") if unit == 1 else (100 / unit, "% of ")
    lower, upper = factor * np.asarray(lower, float), factor * np.asarray(upper, float)
    steps = np.arange(len(lower)) if steps is None else np.asarray(steps)
    heights = _heights(lower, upper)
    ratio = lower[-1] / upper[-1] if len(lower) and upper[-1] > 0 else None
    figure = new_figure(
        f"Best value and proved bound while the search runs: {ratio_sentence(ratio)}.", height=280
    )
    figure.add_scatter(
        x=steps,
        y=upper,
        name="bound",
        line={"color": GREY, "width": 2, "shape": "hv", "dash": "dot"},
        mode="lines",
        hovertemplate=f"After %{{x}} {steps_name}:<br>nothing above %{{y:.5g}} is possible.<extra></extra>",
    )
    figure.add_scatter(
        x=steps,
        y=lower,
        name="best found",
        line={"color": BLUE, "width": 2.5, "shape": "hv"},
        mode="lines",
        fill="tonexty",
        fillcolor=fade(GREEN, 0.4),
        hovertemplate=f"After %{{x}} {steps_name}:<br>%{{y:.5g}} has been reached.<extra></extra>",
    )
    if ratio is not None and np.isfinite(ratio):
        figure.add_annotation(
            text=ratio_sentence(ratio),
            xref="paper",
            yref="paper",
            x=1,
            y=1.02,
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
        )
    figure.update_xaxes(title_text=steps_name)
    return figure.update_yaxes(title_text=f"{prefix}{unit_name}", range=heights)


def _heights(lower: np.ndarray, upper: np.ndarray) -> list[float] | None:
    """What is shown of the values: the gap as it is now takes a quarter; the first bounds are far away."""
    gaps = upper - lower
    if not gaps.size or not np.isfinite(gaps[-1]) or not np.nanmax(gaps) > 0:
        return None
    least, most = float(np.nanmin(lower)), float(np.nanmax(upper))
    span = min(most - least, max(4 * float(gaps[-1]), (most - least) / 20))
    bottom = max(least, float(lower[-1]) - span)
    return [bottom - span / 12, min(most, float(lower[-1]) + span) + span / 12]


def rho_figure(d, rho, b3_ratio=None) -> go.Figure:
    """What the rank d buys: the guarantee known before anything is run, and the ratio proved afterwards.

    Parameters
    ----------
    d : (t,) ranks
    rho : (t,) ``max{k/2n, 1/(1 + 2 (n/k) l_{d+1}/l1)}`` of Theorem 1 (2014) for each rank
    b3_ratio : (t,) value over the B3 bound for each rank, NaN where not computed
    """
    d, rho = list(map(int, d)), 100 * np.asarray(rho, float)
    alt = (
        f"Guarantee against the rank: Theorem 1 promises {rho[0]:.3g} % at rank {d[0]} and {rho[-1]:.3g} "
        f"% at rank {d[-1]}."
    )
    figure = new_figure(alt, height=320)
    figure.add_scatter(
        x=d,
        y=rho,
        name="promised before (Theorem 1)",
        mode="lines+markers",
        line={"color": GREY, "dash": "dot"},
        hovertemplate="Rank %{x}: the exact rank-%{x} answer reaches<br>at least %{y:.3g} % of the "
        "optimum.<extra></extra>",
    )
    if b3_ratio is not None:
        proved = np.asarray(b3_ratio, float)
        figure.add_scatter(
            x=d,
            y=100 * proved,
            name="proved afterwards (B3)",
            mode="lines+markers",
            line={"color": GREEN, "width": 2.5},
            text=[percent_down(r) for r in proved],
            hovertemplate="Rank %{x}: at least %{text} of the best possible, proved.<extra></extra>",
        )
    figure.update_xaxes(title_text="rank d of the approximation", dtick=1)
    return figure.update_yaxes(title_text="% of the optimum, at least", range=[0, 103])
