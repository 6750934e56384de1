"""Draw the variance of components against their number of features, with the region in which the optimum is
proved to lie.

Home and the sweep page draw `sweep_figure`; the figures of methods side by side use `certified` and
`band`. In the helpers of `sweep_figure` values and bounds are in per cent of `unit`, whose name is
`unit_name`, except in `_of_the_paper` and `_add_before`, where they are in the units of the data. `expected`
has every k of the sweep.
"""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from nspca.plots import kaxis, published
from nspca.plots.theme import add_curve, add_note, certainty, new_figure, plain, ratio_sentence
from nspca.presentation import colours
from nspca.presentation.colours import BOUND, CHOSEN, COLOURS, EARLIER, PROVED, fade
from nspca.presentation.numerals import OPTIMAL_GAP, format_bound_share, format_guarantee, format_value_share
from nspca.presentation.phrases import method_name
from nspca.result import PLATEAU

KINDS = {
    "B0": "the leading eigenvalue, the diagonal or one row (B0)",
    "B2": "the exact answer in the main directions, plus what the others can add at most (B2)",
    "B3": "a search over all mixtures of the main directions, plus what the others can add at most (B3)",
    "B4": "the covariance without its small entries, plus what these can add at most (B4)",
    "B5": "a comparison matrix that no component of this size can exceed (B5)",
    "B6": "a comparison matrix that is tightened in the main directions (B6)",
    "B7": "a comparison matrix with a limit for every feature (B7)",
    "B8": "a search that rules out one group of choices of features after another (B8)",
    "B9": "a comparison matrix that is tightened in the main directions, with a limit for every feature (B9)",
    "BS": "a comparison matrix with its own limit for every row and every feature (BS)",
    "J": "one comparison matrix for all components together (J)",
    "J8": "a search that rules out one group of disjoint sets of features after another (J8)",
    "JP": "one comparison matrix for all components together, with a price for every feature (JP)",
}
IN_HERE, NOTHING_ABOVE = "the optimum is in here (proved)", "nothing above this (proved)"
PAPER, RANK_3 = "2014 paper's bound", "rank-3 bound, its exact form (proved)"
DOTTED = {"line_width": 1.5, "line_dash": "dot", "marker_size": 5, "marker_symbol": "triangle-down"}
THIN = {"line_width": 1, "marker_size": 3}
HEIGHT = 440
OPTIMAL = "the best: proved"
RING = f"enough (≥ {100 * PLATEAU:.0f} % of the highest)"
VISIBLE = 0.005
"""Height of the region relative to the largest value from which it is seen, and named in the legend."""
HEADROOM = 1.06
"""Length of the value axis relative to the largest value drawn."""


def kind_words(kind: object, code: bool = True) -> str:
    """Return the origin of a bound in words, with its code if wanted; an unknown kind keeps its own name."""
    said = (KINDS | published.KINDS).get(
        str(kind), plain(kind) if isinstance(kind, str) and kind else "no bound"
    )
    return said if code else said.removesuffix(f" ({kind})")


def certified(frame: pd.DataFrame) -> pd.DataFrame:
    """Return per k the best value and the least upper bound over all methods; the unknown optimum lies
    between them.
    """
    of_k = frame.groupby("k", sort=True)
    # Each column by itself: `agg` with both takes five times as long, and a page calls this several times.
    return pd.DataFrame({"lower": of_k["value"].max(), "upper": of_k["upper"].min()}).dropna()


def optimal(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `certified` whose gap is at most `OPTIMAL_GAP`: nothing better exists."""
    known = certified(frame)
    return known[known["upper"] - known["lower"] <= OPTIMAL_GAP * known["upper"]]


def band(
    ks: Sequence[int], lower: Sequence[float], upper: Sequence[float], all_ks: Iterable[int]
) -> tuple[list[Any], list[Any]]:
    """Return x and y of the outline of the certified region as closed pieces, split by None where a k of the
    sweep is not ready.

    Nothing is drawn across a k that has no row yet: a straight line there would claim a proof that does not
    exist. `lower` and `upper` belong to `ks`, and `all_ks` are those of the sweep.
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


def _broken(rows: pd.DataFrame, all_ks: Iterable[int]) -> pd.DataFrame:
    """Return the rows with an empty row for every k that is still missing, so that lines stop there."""
    return rows.set_index("k").reindex(sorted(set(all_ks) | set(rows["k"]))).rename_axis("k").reset_index()


def sweep_figure(
    frame: Any,
    *,
    unit: float,
    unit_name: str = "the leading eigenvalue",
    selected_k: int | None = None,
    signed: bool = False,
    all_ks: Iterable[int] | None = None,
    bounds: str = "ours",
    ceiling: float = math.inf,
    before: tuple[pd.DataFrame, float, str] | None = None,
    marked: int | None = None,
    has_slider: bool = False,
) -> go.Figure:
    """Draw variance explained against k with the region in which the optimum is proved to lie.

    Where the region has closed, the curve itself has the colour of a proof. Every point of a method carries
    ``customdata = [k, method]``.

    Parameters
    ----------
    frame : DataFrame
        Rows so far, any order, columns ``method, k, value, upper, ratio, kind`` (units of the data; NaN where
        nothing is proved), and those of `nspca.plots.published.COLUMNS` where the 2014 paper's bound is to be
        shown.
    unit, unit_name : what is 100 %, the leading eigenvalue or the total variance, and its name after "% of "
    selected_k, marked : a k with a vertical line, and one with a ring around its best value
    all_ks : every k of the sweep, which fixes the axis and leaves a gap where a row is missing
    bounds : "ours", "paper" or "both"
        Whose region is shaded. The bound of the 2014 paper holds with a probability; a thin line beside it
        shows its exact form, which is proved.
    ceiling : the leading eigenvalue, where the axis ends and the paper's bound is cut
    before : an earlier sweep to compare with, what is 100 % there, and what it is called
    has_slider : whether a slider below the figure says what k is, so that the axis has no title
    """
    frame = pd.DataFrame(frame)
    kind = "sparse" if signed else "nonnegative sparse"
    expected = sorted({int(k) for k in (all_ks if all_ks is not None else frame["k"])})
    ours = in_percent(frame.assign(probability=math.nan), unit)
    wide = [] if bounds == "ours" else [in_percent(rows, unit) for rows in _of_the_paper(frame, ceiling)]
    tight = [ours] * (bounds != "paper")
    shown = wide[0] if bounds == "paper" else ours
    figure = new_figure(_sweep_alt(shown, unit_name, kind), height=HEIGHT)
    if before is not None:
        _add_before(figure, *before, unit_name)
    if wide:
        upper = partial(_add_upper, figure, expected=expected, unit_name=unit_name, kind=kind)
        _add_paper(figure, wide, expected, upper, is_alone=not tight)
    if tight:
        add_proved(figure, ours, expected, unit_name, kind)
    drawn = [*wide[:1], *tight]
    drawn += [] if before is None else [in_percent(before[0], before[1])]
    _lay_out_values(figure, drawn, 100 * ceiling / unit)
    _add_methods(figure, shown, expected, unit_name, kind)
    if tight:
        _add_optimal(figure, ours, expected)
        if len(optimal(ours)) == len(ours):
            figure.update_traces(showlegend=False, selector={"name": method_name("auto")})
    if marked is not None:
        ring = {"symbol": "circle-open", "size": 17, "color": CHOSEN, "line": {"width": 2.5}}
        add_curve(figure, [marked], [ours.loc[ours["k"] == marked, "value"].max()], RING, marker=ring)
    kaxis.lay_out(figure, expected, "" if has_slider else kaxis.TITLE)
    # A long title has two lines of about equal length, for which a low curve has room.
    name = f"% of {unit_name}"
    title = "<br>".join(textwrap.wrap(name, max(24, 2 + len(name) // 2)))
    if selected_k is not None:
        _mark(figure, int(selected_k), expected)
    return figure.update_yaxes(title_text=title, uirevision=f"{bounds} {unit_name}")


def add_proved(figure: go.Figure, rows: pd.DataFrame, expected: list[int], unit_name: str, kind: str) -> None:
    """Shade where the optimum is proved to lie, and draw the bounds above it."""
    _add_region(figure, rows, expected, PROVED, 0.4, IN_HERE)
    gaps = certified(rows).eval("upper - lower")
    is_seen = len(gaps) and gaps.max() > VISIBLE * _largest(rows)
    figure.update_traces(showlegend=bool(is_seen), selector={"name": IN_HERE})
    _add_upper(figure, rows, expected, unit_name, kind, NOTHING_ABOVE, DOTTED | {"line_color": BOUND})


def _lay_out_values(figure: go.Figure, drawn: list[pd.DataFrame], ceiling: float) -> None:
    """Set the range of the value axis, from zero to the largest value or bound in `drawn`, and prevent
    panning beyond it.
    """
    found = [largest for rows in drawn if not math.isnan(largest := _largest(rows))]
    top = min(max(found, default=ceiling), ceiling)
    if not math.isfinite(top) or top <= 0:
        figure.update_yaxes(rangemode="tozero")
        return
    # Round up to a grid: Plotly forgets a zoom when the range changes, and bounds change often by a little.
    grid = 10.0 ** math.floor(math.log10(top)) / 100
    top = grid * math.ceil(top * HEADROOM / grid)
    figure.update_yaxes(range=[0.0, top], minallowed=0.0, maxallowed=top)


def _largest(rows: pd.DataFrame) -> float:
    return float(np.nanmax(rows[["value", "upper"]].astype(float).to_numpy())) if len(rows) else math.nan


def _of_the_paper(frame: pd.DataFrame, ceiling: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows with the 2014 paper's bound in place of ours, and with its exact form."""
    frame = frame.assign(**{name: math.nan for name in published.COLUMNS if name not in frame})
    return published.with_paper_bound(frame, ceiling), published.with_rank3_bound(frame, ceiling)


def in_percent(frame: pd.DataFrame, unit: float) -> pd.DataFrame:
    """Return the rows with values and bounds in per cent of a unit, as numbers and as text."""
    return frame.assign(
        value=100 * frame["value"] / unit,
        upper=100 * frame["upper"] / unit,
        value_text=[format_value_share(value, unit) for value in frame["value"].astype(float)],
        upper_text=[format_bound_share(upper, unit) for upper in frame["upper"].astype(float)],
    )


def _add_methods(
    figure: go.Figure, rows: pd.DataFrame, expected: list[int], unit_name: str, kind: str
) -> None:
    """Draw the curve of every method, each in its colour and with gaps where a k in `expected` has no row."""
    for colour, (method, every) in zip(COLOURS * len(rows), rows.groupby("method", sort=False), strict=False):
        own, name = _broken(every.drop_duplicates("k", keep="last"), expected), plain(method_name(method))
        hover = [
            f"<b>k = {k}</b>, {name}<br>This {kind} component explains {value} of {unit_name}:<br>"
            f"{ratio_sentence(ratio, probability)}.<br><i>Click to see it.</i>"
            for k, value, ratio, probability in zip(
                own["k"], own["value_text"], own["ratio"], own["probability"], strict=True
            )
        ]
        points = [[int(k), method] for k in own["k"]]
        look = {"line": {"color": colour, "width": 2.5}, "marker": {"size": 7}, "connectgaps": False}
        add_curve(figure, own["k"], own["value"], name, hover, customdata=points, **look)


def _mark(figure: go.Figure, k: int, expected: list[int]) -> None:
    """Draw a line at k. Its label stands on the side with more room."""
    at = kaxis.place(expected, k)
    ends = [kaxis.place(expected, end) for end in expected[:1] + expected[-1:]]
    corner = "bottom right" if 2 * at > sum(ends) and ends else "bottom left"
    line = {"color": CHOSEN, "width": 2}
    figure.add_shape(type="line", x0=k, x1=k, yref="paper", y0=0, y1=1, line=line, layer="below")
    add_note(
        figure, f"k = {k}", at, 0, corner, xref="x", font={"size": 13}, xshift=-4 if "right" in corner else 4
    )


def _add_optimal(figure: go.Figure, rows: pd.DataFrame, expected: list[int]) -> None:
    """Draw the curve again where its values are proved optimal, over that of the method."""
    known = optimal(rows)
    if not len(known):
        return
    own = _broken(known.reset_index(), expected)
    line = {"color": PROVED, "width": 4}
    add_curve(figure, own["k"], own["lower"], OPTIMAL, line=line, marker={"size": 8}, connectgaps=False)


def _add_region(
    figure: go.Figure, rows: pd.DataFrame, expected: list[int], colour: str, opacity: float, name: str = ""
) -> None:
    """Shade the region between the best value and the least upper bound. Without a name it has no legend
    entry.
    """
    region = certified(rows)
    if not len(region):
        return
    xs, ys = band(list(region.index), list(region["lower"]), list(region["upper"]), expected)
    look: dict[str, Any] = {"fill": "toself", "fillcolor": fade(colour, opacity), "showlegend": bool(name)}
    add_curve(figure, xs, ys, name, line={"width": 0}, **look)


def _add_paper(
    figure: go.Figure,
    wide: Sequence[pd.DataFrame],
    expected: list[int],
    upper: Callable[..., None],
    is_alone: bool,
) -> None:
    """Draw the 2014 paper's bound and its exact form, both in `wide`."""
    paper, rank_3 = wide
    chance = f"probability {format_guarantee(paper['epsnet_probability'].min())}"
    _add_region(figure, paper, expected, colours.PAPER, 0.18, f"{PAPER} ({chance})")
    upper(paper, name=PAPER, look=DOTTED | {"line_color": colours.PAPER})
    upper(rank_3, name=RANK_3, look=THIN | {"line_color": colours.PAPER, "showlegend": is_alone})


def _add_upper(
    figure: go.Figure,
    rows: pd.DataFrame,
    expected: list[int],
    unit_name: str,
    kind: str,
    name: str,
    look: dict[str, Any],
) -> None:
    """Draw the least upper bound at each k, with gaps where a k in `expected` has none."""
    tightest = rows.dropna(subset=["upper"]).sort_values("upper", kind="stable").drop_duplicates("k")
    if not len(tightest):
        return
    rows = _broken(tightest, expected)
    hover = [
        f"<b>k = {k}</b>, {certainty(probability)}<br>No {kind} component with at most {k} features can<br>"
        f"explain more than {upper} of {unit_name}.<br>The bound comes from {kind_words(bound, code=False)}."
        for k, upper, bound, probability in zip(
            rows["k"], rows["upper_text"], rows["kind"], rows["probability"], strict=True
        )
    ]
    points = [[int(k), str(m)] for k, m in zip(rows["k"], rows["method"].fillna(""), strict=True)]
    look = {"showlegend": False, "mode": "lines+markers", "connectgaps": False} | look
    add_curve(figure, rows["k"], rows["upper"], name, hover, customdata=points, **look)


def _add_before(figure: go.Figure, frame: pd.DataFrame, unit: float, name: str, unit_name: str) -> None:
    best = frame.sort_values("value", kind="stable").drop_duplicates("k", keep="last").sort_values("k")
    rows = in_percent(best, unit)
    ks = [int(k) for k in rows["k"]]
    _add_region(figure, rows, ks, EARLIER, 0.15)
    hover = [
        f"<b>k = {k}</b>, {plain(name, 90)}<br>{value} of {unit_name}:<br>{ratio_sentence(ratio)}."
        for k, value, ratio in zip(ks, rows["value_text"], rows["ratio"], strict=True)
    ]
    line, marker = {"color": EARLIER, "width": 2, "dash": "dash"}, {"size": 5, "symbol": "diamond"}
    add_curve(figure, ks, rows["value"], plain(name, 70), hover, line=line, marker=marker)


def _sweep_alt(shown: pd.DataFrame, unit_name: str, kind: str) -> str:
    if not len(shown):
        return "Variance explained against the number of features: no value is ready yet."
    best = shown.sort_values("value").iloc[-1]
    proved, probability = shown["ratio"].dropna(), shown["probability"].min()
    tail = " Nothing is proved yet."
    if len(proved):
        tail = (
            f" Every value is at least {format_guarantee(proved.min())} of the best possible, "
            f"{certainty(probability)}."
        )
    ks = shown["k"]
    return (
        f"Variance explained by {kind} components against k, {ks.nunique()} values of k from {ks.min()} to "
        f"{ks.max()}. The largest is {best['value_text']} of {unit_name}, at k = {best['k']}.{tail}"
    )
