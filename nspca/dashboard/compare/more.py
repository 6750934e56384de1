"""Two further analyses of a comparison, each started by a button: several components, and stability.

The sections of the compare page call `cumulative` and `stability`.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.compare.loadings import pictures
from nspca.dashboard.compare.seen import Seen
from nspca.dashboard.components import figures
from nspca.dashboard.runs import export, lookup, start
from nspca.dashboard.views import filling
from nspca.dashboard.views.filling import download
from nspca.plots.compare import cumulative_figure, weights_figure
from nspca.specs import StabilitySpec, SuccessiveSpec
from nspca.specs.rows import Explained, Redrawn, Row, unpack

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


def cumulative(seen: Seen) -> None:
    """Draw the variance against the number of components, by method."""
    k = seen.k
    with st.container(border=True):
        st.markdown(f"**More components**: each of {wording.things(k, 'feature')}")
        between = _between()
        count = min(MOST_COMPONENTS, seen.problem.n // k if not between else seen.problem.n)
        if count < 2:
            st.caption(
                f"One component of {k} features leaves too few of {seen.problem.n} for a second one: choose "
                "a smaller k."
            )
            return
        spec = SuccessiveSpec(**_further(seen), count=count, **between)
        now = lookup.that_asks(spec)
        if now is None:
            label = f"Find {count} components by every method"
            start.section_button(label, spec, seen.data, "components", ":material/stacks:")
            return
        if filling.watch(
            now,
            len(seen.of_k),
            lambda rows: _draw_curves(
                seen, {row.method: row.curves for row in rows if isinstance(row, Explained)}, rows
            ),
            "components",
        ):
            sweep = lookup.opened(now.id, now.finished, nspca.Sweep.from_bytes)
            _draw_curves(seen, {method: sweep[method, count].info for method, _ in sweep}, unpack(now.rows))
            download("Curves, CSV", _curve_table(sweep), seen.data, "components")
            export.offer(spec, seen.data)


def _further(seen: Seen) -> dict[str, Any]:
    """Return the arguments that the specs of both analyses share."""
    asked, methods = seen.asked, list(seen.of_k)
    options = asked.options_of(methods)
    return {**asked.about_problem(), "seed": asked.seed, "k": seen.k, "methods": methods, "options": options}


def _between() -> dict[str, Any]:
    """Draw the choice of the deflation between components, and return it as fields of `SuccessiveSpec`."""
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


def _draw_curves(seen: Seen, curves: dict[str, dict[str, Any]], rows: list[Row]) -> None:
    """Draw the variance against the number of components, with the choice of its measure."""
    counted = choose_one("Variance counted as", "counted", list(COUNTED), is_labelled=True)
    st.caption(COUNTED[counted])
    shown = {method: each[counted] for method, each in curves.items()}
    figure = cumulative_figure(shown, total=seen.problem.total_variance or 1.0, style=seen.style)
    figures.draw(figure, "compare_cumulative")
    filling.refusals(rows)


def _curve_table(sweep: nspca.Sweep) -> pd.DataFrame:
    """Return a table of the variances by method and number of components."""
    rows = []
    for method, count in sweep:
        info = sweep[method, count].info
        rows += [
            {"method": method, "components": j + 1, **{name: info[name][j] for name in COUNTED}}
            for j in range(count)
        ]
    return pd.DataFrame(rows)


# --- stability ------------------------------------------------------------------------------------


def stability(seen: Seen) -> None:
    """Draw the frequency of each feature in components of bootstrap samples (rows drawn with replacement)."""
    data = seen.data.dataset
    spec = StabilitySpec(**_further(seen))
    with st.container(border=True):
        st.markdown(
            "**Would other samples give the same features?** Rows are drawn again with replacement, and "
            "every method runs again"
        )
        if data.is_covariance:
            st.caption("Not offered: this data set is a covariance matrix, and has no rows to draw.")
            return
        now = lookup.that_asks(spec)
        if now is None:
            label = f"Draw the rows {spec.resamples} times at k = {seen.k}"
            start.section_button(label, spec, seen.data, "stability", ":material/casino:")
            return
        draw = lambda rows: _draw_stability(seen, _live_supports(rows), rows)  # noqa: E731
        if filling.watch(now, spec.total, draw, "stability", only=Redrawn):
            supports = lookup.opened(now.id, now.finished, spec.unpack)
            _draw_stability(seen, supports, unpack(now.rows))
            download("Frequencies, CSV", _frequency_table(seen, supports), seen.data, "stability")
            export.offer(spec, seen.data)


def _live_supports(rows: list[Row]) -> dict[str, list[list[int]]]:
    """Return the supports of all draws so far, by method."""
    supports: dict[str, list[list[int]]] = {}
    for row in rows:
        if isinstance(row, Redrawn):
            supports.setdefault(row.method, []).append(row.support)
    return supports


def frequencies(supports: list[list[int]], n: int) -> np.ndarray:
    """Return the share of `supports` that contain each of n features."""
    return np.bincount(np.concatenate(supports).astype(int), minlength=n) / len(supports)


def agreement(supports: list[list[int]]) -> float:
    """Return the mean Jaccard overlap of all pairs of supports; 1 when there is only one."""
    sets = [set(support) for support in supports]
    return float(np.mean([len(a & b) / (len(a | b) or 1) for a, b in combinations(sets, 2)] or [1.0]))


def _draw_stability(seen: Seen, supports: dict[str, list[list[int]]], rows: list[Row]) -> None:
    """Draw the frequencies of features and the agreement of the draws, by method."""
    data, n = seen.data.dataset, seen.problem.n
    if not supports:
        return
    F = np.column_stack([frequencies(each, n) for each in supports.values()])
    titles = [f"{method}: {agreement(each):.2f}" for method, each in supports.items()]
    if data.kind == "image" and data.image_shape is not None:
        mean = np.asarray(data.X.mean(axis=0)).ravel()
        pictures(F, data, mean, titles, "compare_stability", largest=1.0)
    else:
        figures.draw(
            weights_figure(F, data.feature_names, titles, what="chosen in", order=data.axis),
            "compare_stability",
        )
    st.caption(
        "The number beside a method is the mean overlap of two draws (Jaccard): 1 is always the same "
        "features. The colour says in what part of the draws a feature is chosen: from yellow, seldom, to "
        "dark red, always."
    )
    filling.refusals(rows)


def _frequency_table(seen: Seen, supports: dict[str, list[list[int]]]) -> pd.DataFrame:
    """Return a table of the frequencies by method, for the features that some draw uses."""
    F = {method: frequencies(each, seen.problem.n) for method, each in supports.items()}
    table = pd.DataFrame({"feature": list(seen.data.dataset.feature_names), **F})
    return table[table[list(F)].sum(axis=1) > 0]
