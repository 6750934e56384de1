"""Figures about numbers of features and bounds: the certified region over k, the gap while a search runs, what the rank buys."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from nspca.plots.theme import BLUE, COLOURS, GREEN, GREY, ORANGE, fade, new_figure, percent_down, plain, ratio_sentence

KINDS = {
    "B0": "the leading eigenvalue, the diagonal or one row (B0)",
    "B2": "the exact low-rank optimum plus the next eigenvalue (B2)",
    "B3": "the shifted low-rank bound, searched over cones (B3)",
    "B4": "thresholding the covariance (B4)",
    "B5": "a dual matrix (B5)",
    "B6": "a dual matrix lifted by the leading eigenvectors (B6)",
    "B7": "a dual matrix with row cuts (B7)",
    "B8": "branching on supports (B8)",
    "B9": "a lifted dual matrix with row cuts (B9)",
    "joint": "the joint bound for disjoint components",
}


def kind_words(kind: object) -> str:
    """Who proved a bound, in words; an unknown kind keeps its own name."""
    return KINDS.get(str(kind), plain(kind) if isinstance(kind, str) and kind else "no bound")


def certified(frame: pd.DataFrame) -> pd.DataFrame:
    """Per k the best value and the least upper bound over all methods: between them lies the unknown optimum."""
    return frame.groupby("k", sort=True).agg(lower=("value", "max"), upper=("upper", "min")).dropna()


def band(ks, lower, upper, all_ks) -> tuple[list, list]:
    """Outline of the certified region as closed pieces, split by None where a k of the sweep is not ready.

    Nothing is drawn across a k that has no row yet: a straight line there would claim a proof that does not exist.
    """
    order = {k: i for i, k in enumerate(sorted(set(all_ks) | set(ks)))}
    half = 0.25 * min((b - a for a, b in zip(list(order), list(order)[1:], strict=False)), default=1)
    breaks = [i for i in range(1, len(ks)) if order[ks[i]] != order[ks[i - 1]] + 1]
    xs, ys = [], []
    for piece in np.split(np.arange(len(ks)), breaks):
        if not piece.size:
            continue
        k, low, high = [ks[i] for i in piece], [lower[i] for i in piece], [upper[i] for i in piece]
        if len(k) == 1:
            k, low, high = [k[0] - half, k[0] + half], low * 2, high * 2
        xs += [*k, *k[::-1], k[0], None]
        ys += [*low, *high[::-1], low[0], None]
    return xs[:-1], ys[:-1]


def _broken(rows: pd.DataFrame, all_ks) -> pd.DataFrame:
    """Rows with an empty one for every k that is still missing, so that lines stop there."""
    return rows.set_index("k").reindex(sorted(set(all_ks) | set(rows["k"]))).rename_axis("k").reset_index()


def _method_trace(rows: pd.DataFrame, method: str, colour: str, unit_name: str, kind: str) -> go.Scatter:
    hover = [
        f"<b>k = {k}</b>, {plain(method)}<br>This {kind} component explains {value:.4g} % of {unit_name}:<br>{ratio_sentence(ratio)}."
        f"<br><i>Click to see it.</i>"
        for k, value, ratio in zip(rows["k"], rows["value"], rows["ratio"], strict=True)
    ]
    return go.Scatter(
        x=rows["k"],
        y=rows["value"],
        name=plain(method),
        mode="lines+markers",
        connectgaps=False,
        marker={"size": 7},
        text=hover,
        line={"color": colour, "width": 2.5},
        hovertemplate="%{text}<extra></extra>",
        customdata=[[int(k), method] for k in rows["k"]],
    )


def _upper_trace(rows: pd.DataFrame, unit_name: str, kind: str) -> go.Scatter:
    hover = [
        f"<b>k = {k}</b>, proved<br>No {kind} component with at most {k} features can<br>explain more than {upper:.4g} % of {unit_name}."
        f"<br>Proved by {kind_words(bound)}."
        for k, upper, bound in zip(rows["k"], rows["upper"], rows["kind"], strict=True)
    ]
    return go.Scatter(
        x=rows["k"],
        y=rows["upper"],
        name="nothing above this (proved)",
        mode="lines+markers",
        connectgaps=False,
        text=hover,
        line={"color": GREY, "width": 1.5, "dash": "dot"},
        marker={"size": 5, "symbol": "triangle-down"},
        hovertemplate="%{text}<extra></extra>",
        customdata=[[int(k), str(m)] for k, m in zip(rows["k"], rows["method"].fillna(""), strict=True)],
    )


def sweep_figure(frame, *, unit, unit_name="the leading eigenvalue", selected_k=None, signed=False, total=None, all_ks=None) -> go.Figure:
    """Variance explained against k, with the region in which the optimum is proved to lie.

    Parameters
    ----------
    frame : DataFrame
        Rows so far, any order, columns ``method, k, value, upper, ratio, kind`` (units of the data; NaN where nothing is proved).
    unit : float
        What is 100 %, in the units of the data: the leading eigenvalue or the total variance.
    unit_name : str
        Its name after "% of ".
    selected_k : int, optional
        Marked by a vertical line.
    signed : bool
        Whether components may have negative entries (words only).
    total : int, optional
        Rows expected; shown as "12 of 36 ready" until they are.
    all_ks : sequence of int, optional
        Every k of the sweep: fixes the axis and leaves a gap where a row is missing.

    Returns
    -------
    Figure
        Every point carries ``customdata = [k, method]``.
    """
    frame = pd.DataFrame(frame)
    kind = "sparse" if signed else "nonnegative sparse"
    expected = sorted({int(k) for k in (all_ks if all_ks is not None else frame["k"])})
    shown = frame.assign(value=100 * frame["value"] / unit, upper=100 * frame["upper"] / unit)
    figure = new_figure(_sweep_alt(shown, unit_name, kind), height=460)
    region = certified(shown)
    if len(region):
        xs, ys = band(list(region.index), list(region["lower"]), list(region["upper"]), expected)
        figure.add_scatter(
            x=xs,
            y=ys,
            fill="toself",
            mode="lines",
            line={"width": 0},
            fillcolor=fade(GREEN, 0.4),
            name="the optimum is in here (proved)",
            hoverinfo="skip",
        )
        tightest = shown.dropna(subset=["upper"]).sort_values("upper", kind="stable").drop_duplicates("k")
        figure.add_trace(_upper_trace(_broken(tightest, expected), unit_name, kind))
    for colour, (method, rows) in zip(COLOURS * len(shown), shown.groupby("method", sort=False), strict=False):
        figure.add_trace(_method_trace(_broken(rows.drop_duplicates("k", keep="last"), expected), method, colour, unit_name, kind))
    if selected_k is not None:
        figure.add_vline(x=int(selected_k), line={"color": ORANGE, "width": 2}, annotation={"text": f"k = {int(selected_k)}"})
    if total and len(frame) < total:
        figure.add_annotation(
            text=f"{len(frame)} of {total} ready",
            xref="paper",
            yref="paper",
            x=1,
            y=0.02,
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
        )
    figure.update_xaxes(title_text="k, features allowed in the component")
    if expected:
        pad = max(0.5, 0.03 * (expected[-1] - expected[0]))
        figure.update_xaxes(range=[expected[0] - pad, expected[-1] + pad])
    return figure.update_yaxes(title_text=f"% of {unit_name}", rangemode="tozero")


def _sweep_alt(shown: pd.DataFrame, unit_name: str, kind: str) -> str:
    if not len(shown):
        return "Variance explained against the number of features: no value is ready yet."
    best = shown.sort_values("value").iloc[-1]
    proved = shown["ratio"].dropna()
    tail = f" Every value is at least {percent_down(proved.min())} of the best possible." if len(proved) else " Nothing is proved yet."
    ks = shown["k"]
    return (
        f"Variance explained by {kind} components against k, {ks.nunique()} values of k from {ks.min()} to {ks.max()}. "
        f"The largest is {best['value']:.4g} % of {unit_name}, at k = {best['k']}.{tail}"
    )


def gap_figure(lower, upper, steps=None, *, steps_name="cones examined", unit=1.0, unit_name="the units of the data") -> go.Figure:
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
    ratio = lower[-1] / upper[-1] if len(lower) and upper[-1] > 0 else None
    figure = new_figure(f"Best value and proved bound while the search runs: {ratio_sentence(ratio)}.", height=280)
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
            text=ratio_sentence(ratio), xref="paper", yref="paper", x=1, y=0.02, xanchor="right", yanchor="bottom", showarrow=False
        )
    figure.update_xaxes(title_text=steps_name)
    return figure.update_yaxes(title_text=f"{prefix}{unit_name}")


def rho_figure(d, rho, b3_ratio=None) -> go.Figure:
    """What the rank d buys: the guarantee known before anything is run, and the ratio proved afterwards.

    Parameters
    ----------
    d : (t,) ranks
    rho : (t,) ``max{k/2n, 1/(1 + 2 (n/k) l_{d+1}/l1)}`` of Theorem 1 (2014) for each rank
    b3_ratio : (t,) value over the B3 bound for each rank, NaN where not computed
    """
    d, rho = list(map(int, d)), 100 * np.asarray(rho, float)
    alt = f"Guarantee against the rank: Theorem 1 promises {rho[0]:.3g} % at rank {d[0]} and {rho[-1]:.3g} % at rank {d[-1]}."
    figure = new_figure(alt, height=320)
    figure.add_scatter(
        x=d,
        y=rho,
        name="promised before (Theorem 1)",
        mode="lines+markers",
        line={"color": GREY, "dash": "dot"},
        hovertemplate="Rank %{x}: the exact rank-%{x} answer reaches<br>at least %{y:.3g} % of the optimum.<extra></extra>",
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
