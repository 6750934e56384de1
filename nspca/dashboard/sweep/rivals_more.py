"""Views of methods side by side: loadings, proofs, times, numbers, more components, other samples.

The section `rivals` draws one of `VIEWS`. Here `seen` is a comparison that has ended.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.components import explained_variances
from nspca.dashboard.app import state, tables, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import methods
from nspca.dashboard.views import component
from nspca.dashboard.views.section import Section, refusals
from nspca.data import Dataset
from nspca.plots.compare import (
    cumulative_figure,
    ratios_figure,
    styles,
    times_figure,
    weights_figure,
)
from nspca.plots.components import component_spectrum, component_words
from nspca.plots.joint import parts_figure
from nspca.presentation.numerals import percent_down, round_down, round_up
from nspca.problem import Problem
from nspca.solving import line_of
from nspca.specs import ComparisonSpec, ComponentsSpec, StabilitySpec
from nspca.specs.rows import Redrawn, Row, Several

SHOWN_DIGITS, PLACES = 6, 5
"""Significant digits of variances and bounds, and decimals of ratios, in the table of all numbers."""
ROUNDING = 1e-14
"""Relative difference of two values that comes from rounding alone: both are then the best found."""
ENOUGH = 0.5
"""Share of the largest value that the first shown k must reach."""
LISTED = 12  # maximum words of a list that stands beside others
MOST_COMPONENTS = 6
ANGLE = "angle"
BETWEEN = {
    "drop": "used features are left out",
    "projection": "what one explains is projected out",
    "schur": "Schur complement",
    "hotelling": "Hotelling: its variance is subtracted",
    "generalised": "generalised deflation (Mackey 2008)",
    ANGLE: "nothing; but at least so many degrees apart",
}
"""Descriptions of the deflations between components, by their value in the address."""
COUNTED = {
    "total": "**total**: the sum of the components' variances x'Ax. What two components have in common "
    "counts twice.",
    "adjusted": "**adjusted**: of each component only what its scores have beyond those before it (QR of "
    "the scores; Zou et al. 2006).",
    "subspace": "**subspace**: tr of A projected on the span of the components. Without shared features "
    "they are orthogonal, and it equals total.",
}
"""Descriptions of the measures of the variance of several components."""


def compared(of: Chosen, asked: ComparisonSpec, problem: Problem, sweep: nspca.Sweep) -> Answer:
    """Return a comparison that has ended, at the k of the address."""
    best = sweep.frame.groupby("k")["value"].max()
    k = state.get_one_of("at_k", set(best.index), int(best.index[best >= ENOUGH * best.max()].min()))
    return Answer(of, asked, problem, sweep, k, next(method for method, size in sweep if size == k))


def shared(seen: Answer) -> dict[str, Any]:
    """Return the keyword arguments that all figures against k share."""
    return {"ks": seen.asked.ks, "style": style(seen.asked), "selected": seen.k}


def style(asked: ComparisonSpec) -> dict[str, Any]:
    """Return line and marker style of each method in the figures."""
    return styles(asked.methods, methods.baselines())


# --- one component of each method -------------------------------------------------------------------


def loadings(seen: Answer) -> None:
    """Draw the components of all methods, and which of them choose the same features."""
    results = seen.results.values()
    X = aligned(np.column_stack([result.components[:, 0] for result in results]))
    unit = seen.problem.leading_eigenvalue or 1.0
    shares = [percent_down(result.value / unit, 1) for result in results]
    titles = [f"{method}: {share}" for method, share in zip(seen.results, shares, strict=True)]
    _pictures(seen.of.dataset, X, titles, "rivals_loadings")
    st.caption(
        "In % of the variance of the first principal component."
        + ("" if seen.asked.nonneg else " Of any sign, x and −x are one component: turned alike.")
    )
    _agreement(seen.results)


def aligned(X: np.ndarray) -> np.ndarray:
    """Return X (n, methods) with columns negated where needed, since x and -x are one component.

    The first column gets more positive weight than negative, and no other points away from it.
    """
    first = X[:, 0] * (-1 if X[:, 0].sum() < 0 else 1)
    return X * np.where(X.T @ first < 0, -1.0, 1.0)


def _pictures(
    dataset: Dataset, X: np.ndarray, titles: list[str], key: str, largest: float | None = None, what: str = ""
) -> None:
    """Draw the columns of X (n, methods) as images, spectra or words, or in one table, as the data are."""
    dense = not dataset.is_covariance and dataset.kind in ("image", "spectrum")
    mean = np.asarray(dataset.X.mean(axis=0)).ravel() if dense else None
    is_image = dataset.kind == "image" and dataset.image_shape is not None and mean is not None
    if not is_image and (what or dataset.kind not in ("spectrum", "words")):
        more: dict[str, Any] = {"what": what, "order": dataset.axis} if what else {}
        figures.draw(weights_figure(X, dataset.feature_names, titles, **more), key)
        return
    largest = largest or float(np.abs(X).max(initial=0.0)) or 1.0
    columns, width = (min(6, len(titles)) if len(titles) != 8 else 4, 150) if is_image else (3, 230)
    with st.grid(columns, min_column_width=width):
        for i, title in enumerate(titles):
            with st.container():
                if is_image:
                    how: dict[str, Any] = {"mean": mean, "captions": [title], "largest": largest}
                    figure = parts_figure(X[:, [i]], component.grid(dataset), name=title, **how)
                    figure.update_layout(height=200)
                elif dataset.kind == "spectrum" and dataset.axis is not None:
                    st.markdown(wording.plain(title))
                    figure = component_spectrum(X[:, i], dataset.axis, dataset.axis_name, mean=mean)
                    figure.update_layout(height=250, showlegend=False)
                else:
                    st.markdown(wording.plain(title))
                    figure = component_words(dataset.feature_names, X[:, i], top=LISTED)
                figures.draw(figure, f"{key}_{i}")


def _agreement(results: dict[str, nspca.Result]) -> None:
    supports = {method: np.flatnonzero(result.components[:, 0]) for method, result in results.items()}
    if len(supports) < 2:
        return
    groups: dict[tuple[int, ...], list[str]] = {}
    for method, support in supports.items():
        groups.setdefault(tuple(support), []).append(method)
    if len(groups) == 1:
        st.markdown("**Do they choose the same features?** All of them do.")
        return
    same = [wording.listed(group) for group in groups.values() if len(group) > 1]
    agree = f"{same[0]} do." if same else "No two of them do."
    if len(same) > 1:
        agree = f"The methods of each of these groups do: {'; '.join(same)}."
    st.markdown(f"**Do they choose the same features?** {agree}")


# --- proofs, times and numbers ----------------------------------------------------------------------


def _ratios(seen: Answer) -> None:
    st.markdown("**How good each method is at least**: its value over the proved limit")
    figures.draw_plot(partial(ratios_figure, seen.table, **shared(seen)), "rivals_ratios")


def _seconds(seen: Answer) -> None:
    st.markdown("**What it costs**: seconds of each method, without the proof")
    figures.draw_plot(partial(times_figure, seen.table, **shared(seen)), "rivals_times")
    paths = [name for name in seen.asked.methods if line_of(name).path]
    one_pass = ""
    if len(seen.asked.ks) > 1 and paths:
        answers = "answers" if len(paths) == 1 else "answer"
        one_pass = f" {wording.listed(paths)} {answers} all k in one pass, whose time is shared out evenly."
    st.caption(
        "Methods run one after another and do not see each other's answers. Leading eigenvectors "
        f"are computed before.{one_pass}"
    )


def _numbers(seen: Answer) -> None:
    number = st.column_config.NumberColumn
    tables.show(
        shown(seen.table),
        alt="Every method at every k: value, share of the best found, proved ratio, bound, seconds",
        column_config={
            "method": "Method",
            "value": number("Variance explained", format=f"%.{SHOWN_DIGITS}g"),
            "best": number("Of the best found", format=f"%.{PLACES}f"),
            "ratio": number(
                "Proved ratio", format=f"%.{PLACES}f", help="At least this share of the unknown optimum."
            ),
            "upper": number("Nothing above", format=f"%.{SHOWN_DIGITS}g"),
            "seconds": number("Seconds", format="%.3f"),
        },
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with bounds rounded up and shares rounded down, to the digits of their columns.

    A browser would round all numbers to nearest.
    """
    best = table["value"] / table.groupby("k")["value"].transform("max")
    best = best.fillna(1.0).where(best < 1 - ROUNDING, 1.0)
    rows = table.assign(
        best=[round_down(share, PLACES) for share in best],
        ratio=[ratio if pd.isna(ratio) else round_down(ratio, PLACES) for ratio in table["ratio"]],
        upper=[upper if pd.isna(upper) else round_up(upper, SHOWN_DIGITS) for upper in table["upper"]],
    )
    return rows[["method", "k", "value", "best", "ratio", "upper", "seconds"]]


# --- several components -----------------------------------------------------------------------------


def _components(seen: Answer) -> None:
    k, n = seen.k, seen.problem.n
    st.markdown(f"**More components**: each of {wording.things(k, 'feature')}")
    between = _between()
    count = min(MOST_COMPONENTS, n if between else n // k)
    if count < 2:
        st.caption(
            f"One component of {k} features leaves too few of {n} for a second one: choose a smaller k."
        )
        return

    def live(rows: list[Row]) -> None:
        results = (row.result(n) for row in rows if isinstance(row, Several))
        _draw_curves(seen, {result.method: result for result in results if result is not None}, rows)

    further = _further(seen)
    sizes = (further.pop("k"),) * count
    Section(
        "components",
        ComponentsSpec(**further, sizes=sizes, effort=None, **between),
        lambda: f"Find {count} components by every method",
        live,
        lambda sweep, rows: _draw_curves(seen, {method: sweep[method, count] for method, _ in sweep}, rows),
        ("Curves, CSV", "components", lambda sweep: _curve_table(seen.problem, sweep)),
        len(seen.results),
        icon=":material/stacks:",
    ).show(seen.of)


def _further(seen: Answer) -> dict[str, Any]:
    asked, names = seen.asked, list(seen.results)
    options = asked.options_of(names)
    return {**asked.about_problem(), "seed": asked.seed, "k": seen.k, "methods": names, "options": options}


def _between() -> dict[str, Any]:
    """Draw the choice of the deflation between components, and return it as fields of `ComponentsSpec`."""
    turn = state.get_one_of("turn", BETWEEN, "drop")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        turn = st.selectbox(
            "Before the next component",
            list(BETWEEN),
            format_func=BETWEEN.__getitem__,
            width=380,
            help="Methods that find components together know only the first, and are left out of the others.",
            **state.bind("turn", turn),
        )
        if turn == ANGLE:
            apart = state.get("apart") if 0 < state.get("apart") <= 90 else 85
            degrees = st.number_input("Degrees", 1, 90, width=130, **state.bind("apart", apart))
            return {"angle": float(degrees)}
    return {} if turn == "drop" else {"deflation": turn}


def _draw_curves(seen: Answer, results: dict[str, nspca.Result], rows: list[Row]) -> None:
    counted = choose_one("Variance counted as", "counted", list(COUNTED), is_labelled=True)
    st.caption(COUNTED[counted])
    found = {
        method: explained_variances(seen.problem, result.components)[counted]
        for method, result in results.items()
    }
    figure = cumulative_figure(found, total=seen.total, style=style(seen.asked))
    figures.draw(figure, "rivals_cumulative")
    refusals(rows)


def _curve_table(problem: Problem, sweep: nspca.Sweep) -> pd.DataFrame:
    found = [
        pd.DataFrame(explained_variances(problem, sweep[method, count].components))[list(COUNTED)].assign(
            method=method, components=range(1, count + 1)
        )
        for method, count in sweep
    ]
    return pd.concat(found)[["method", "components", *COUNTED]]


# --- other samples ----------------------------------------------------------------------------------


def _stability(seen: Answer) -> None:
    st.markdown(
        "**Would other samples give the same features?** Rows are drawn again with replacement, and every "
        "method runs again."
    )
    if seen.of.dataset.is_covariance:
        st.caption("Not offered: this data set is a covariance matrix, and has no rows to draw.")
        return
    spec = StabilitySpec(**_further(seen))

    def live(rows: list[Row]) -> None:
        supports: dict[str, list[list[int]]] = {}
        for row in rows:
            if isinstance(row, Redrawn):
                supports.setdefault(row.method, []).append(row.supports[0])
        _draw_stability(seen, supports, rows)

    Section(
        "stability",
        spec,
        lambda: f"Draw the rows {spec.resamples} times at k = {seen.k}",
        live,
        lambda found, rows: _draw_stability(seen, _supports(found), rows),
        ("Frequencies, CSV", "stability", lambda found: _frequency_table(seen, _supports(found))),
        spec.total,
        Redrawn,
        ":material/casino:",
    ).show(seen.of)


def _supports(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[list[int]]]:
    return {method: [row["supports"][0] for row in rows] for method, rows in found.items()}


def frequencies(supports: list[list[int]], n: int) -> np.ndarray:
    """Return the share of `supports` that contain each of n features."""
    return np.bincount(np.concatenate(supports).astype(int), minlength=n) / len(supports)


def agreement(supports: list[list[int]]) -> float:
    """Return the mean Jaccard overlap of all pairs of supports; 1 when there is only one."""
    sets = [set(support) for support in supports]
    return float(np.mean([len(a & b) / (len(a | b) or 1) for a, b in combinations(sets, 2)] or [1.0]))


def _draw_stability(seen: Answer, supports: dict[str, list[list[int]]], rows: list[Row]) -> None:
    if not supports:
        return
    F = np.column_stack([frequencies(each, seen.problem.n) for each in supports.values()])
    titles = [f"{method}: {agreement(each):.2f}" for method, each in supports.items()]
    _pictures(seen.of.dataset, F, titles, "rivals_stability", largest=1.0, what="chosen in")
    st.caption(
        "The number beside a method is the mean overlap of two draws (Jaccard): 1 is always the same "
        "features. The colour says in what part of the draws a feature is chosen: from yellow, seldom, to "
        "dark red, always."
    )
    refusals(rows)


def _frequency_table(seen: Answer, supports: dict[str, list[list[int]]]) -> pd.DataFrame:
    F = {method: frequencies(each, seen.problem.n) for method, each in supports.items()}
    table = pd.DataFrame({"feature": list(seen.of.dataset.feature_names), **F})
    return table[table[list(F)].sum(axis=1) > 0]


VIEWS: dict[str, Callable[[Answer], None]] = {
    "loadings": loadings,
    "proof": _ratios,
    "seconds": _seconds,
    "numbers": _numbers,
    "components": _components,
    "again": _stability,
}
