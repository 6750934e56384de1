"""Methods side by side below a sweep: several methods at several k, each without the answers of the others.

A comparison that has ended is an `Answer`, here `seen`, of which one of `VIEWS` is open.
"""

import re
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.components import explained_variances
from nspca.covariance.moments import moments
from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, form, frame, state, tables, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components import figures
from nspca.dashboard.export import CERTIFICATES, Export, File
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, lookup, methods
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component, curve, section, statement
from nspca.dashboard.views.section import Section, refusals
from nspca.data import Dataset
from nspca.errors import InvalidOption, InvalidProblem, NSPCAError
from nspca.plots.compare import (
    cumulative_figure,
    ranking_figure,
    ratios_figure,
    styles,
    times_figure,
    values_figure,
    weights_figure,
)
from nspca.plots.joint import parts_figure
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_value, percent_down, round_down, round_up
from nspca.presentation.phrases import rival_name
from nspca.problem import Problem
from nspca.result import COLUMNS
from nspca.solving import line_of
from nspca.specs import ComparisonSpec, ComponentsSpec, StabilitySpec, SweepSpec
from nspca.specs.rows import Found, Proved, Redrawn, Row, Several
from nspca.specs.sweep import COMPARED

ALL_UP_TO = 13  # maximum features for comparing every k
MOST_K = 160  # largest k that is compared by default
MOST_KS = 60  # maximum values of k in one comparison
HEIGHT = 360  # pixels of the curve
BASELINE = "baseline: the k largest weights of scikit-learn's component, scaled to length one"
EVERYTHING = "Numbers, components, certificates, and Python that computes it again and checks the proofs."
SHOWN_DIGITS, PLACES = 6, 5
"""Significant digits of variances and bounds, and decimals of ratios, in the table of all numbers."""
ROUNDING = 1e-14
"""Relative difference of two values that comes from rounding alone: both are then the best found."""
ENOUGH = 0.5  # share of the largest value that the first shown k must reach
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


def show(of: Chosen, asked: SweepSpec) -> None:
    """Draw the folded section: inputs, and the button or the answer. While it is folded nothing is made."""
    given = any(state.is_kept(name) for name in ("ks", "rivals"))
    draw = partial(_show, of, asked)
    frame.fold("Methods side by side", "rivals", ":material/compare_arrows:", draw, is_open=given)


def _show(of: Chosen, asked: SweepSpec) -> None:
    able = methods.refusals(of, asked.nonneg, asked.center, asked.scale, asked.forced)
    _inputs(asked, able)
    try:
        spec = question(of, asked, able)
    except NSPCAError as error:
        st.error(wording.plain(error), icon=":material/error:")
        return
    if lookup.find_newest(spec) is not None:
        state.put(ks=_ks_text(asked), rivals=list(spec.methods))  # so that a reload unfolds the section
    elif why := cost_estimate.refusal(of, *spec.work):
        cost_estimate.say(why)
        return
    problem = open_data.with_leading(open_data.problem_of(of, spec))
    size = f"{wording.things(len(spec.methods), 'method')} at {wording.things(len(spec.ks), 'value')} of k"
    Section(
        "rivals_run",
        spec,
        f"Compare {size}",
        lambda sweep, rows: _draw(compared(of, spec, problem, sweep), rows),
        lambda rows: _fill(problem, spec, rows),
        ("All numbers, CSV", "methods", lambda sweep: sweep.frame),
        ":material/compare_arrows:",
        seconds=cost_estimate.of_methods(of, spec),
    ).show(of)


def question(of: Chosen, asked: SweepSpec, able: dict[str, str | None]) -> ComparisonSpec:
    """Return the question in the address about the problem of a sweep; `able` is from `methods.refusals`."""
    rivals = _rivals(able)
    if not rivals:
        raise InvalidOption("a comparison needs at least one method, got none: choose one")
    ks = read_ks(_ks_text(asked), of.dataset.X.shape[1], max(1, len(asked.forced)))
    how: dict[str, Any] = {"options": methods.changed_options(rivals), "effort": asked.effort}
    return ComparisonSpec(**asked.about_problem(), ks=ks, methods=tuple(rivals), seed=asked.seed, **how)


def _inputs(asked: SweepSpec, able: dict[str, str | None]) -> None:
    left, right = st.columns([2, 5])
    left.text_input(
        "Values of k", help="Numbers and ranges: 5, 10, 20-25.", **state.bind("ks", _ks_text(asked))
    )
    names = methods.able(able)
    about = f"{methods.summaries(names)}\n\n{BASELINE.capitalize()}."
    how: dict[str, Any] = {"options": names, "format_func": methods.label, "help": about}
    form.draw(ComparisonSpec, "methods", right, value=_rivals(able), placeholder="Choose a method", **how)
    cannot = [f"- {_named(name, sentence)}" for name, sentence in able.items() if sentence]
    if cannot:
        with st.expander(
            f"{wording.things(len(cannot), 'method')} cannot answer this question", type="compact"
        ):
            st.caption("\n".join(cannot))
    methods.draw_options(_rivals(able))


def _rivals(able: dict[str, str | None]) -> list[str]:
    return [name for name in state.get("rivals") or COMPARED if able.get(name, "") is None]


def _named(name: str, sentence: str) -> str:
    """Return a reason as Markdown that begins with the name of its method in bold."""
    if sentence.startswith(f"{name} "):
        return f"**{name}** {wording.plain(sentence.removeprefix(name))}"
    return f"**{name}**: {wording.plain(sentence)}"


def _ks_text(asked: SweepSpec) -> str:
    ks = [k for k in default_ks(asked.ks[-1]) if k >= len(asked.forced)] or asked.ks[-1:]
    return state.get("ks") or ", ".join(map(str, ks))


def default_ks(n: int) -> tuple[int, ...]:
    """Return the default values of k up to the end n of the curve: all of a short one, else 5, 10, 20, ..."""
    if n <= ALL_UP_TO:
        return tuple(range(1, n + 1))
    return tuple(k for k in (5 * 2**i for i in range(6)) if k < n and k <= MOST_K)


def read_ks(text: str, n: int, least: int = 1) -> tuple[int, ...]:
    """Return the values of k in a text such as ``"5, 10, 20"`` or ``"2-8"``, in increasing order."""
    found: set[int] = set()
    for part in filter(None, re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", text))):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if ends is None:
            raise InvalidProblem(
                f"values of k must be numbers or ranges such as 5, 10, 20-25, got {part[:20]}"
            )
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not least <= first <= last <= n:
            raise InvalidProblem(
                f"every k must be at least {least} and at most {n}, the number of features, got {part}"
            )
        found |= set(range(first, min(last, first + MOST_KS) + 1))
    if not 0 < len(found) <= MOST_KS:
        raise InvalidProblem(
            f"a comparison takes 1 to {MOST_KS} values of k, got {len(found) or 'none'}: write for example "
            "5, 10, 20"
        )
    return tuple(sorted(found))


def known(rows: list[Row]) -> pd.DataFrame:
    """Return a table of values by method and k, with the bound of each k, from the rows of a run so far."""
    table = pd.DataFrame([vars(row) for row in rows if isinstance(row, Found)], columns=list(COLUMNS))
    proofs = {row.k: (row.upper, row.kind) for row in rows if isinstance(row, Proved)}
    table["upper"] = [proofs.get(k, (np.nan, None))[0] for k in table["k"]]
    table["kind"] = [proofs.get(k, (np.nan, None))[1] for k in table["k"]]
    return table


def _unit(problem: Problem) -> dict[str, Any]:
    unit = problem.leading_eigenvalue if curve.axis() == "leading" else problem.total_variance
    return {"unit": unit or 1.0, "unit_name": curve.AXES[curve.axis()]}


def _fill(problem: Problem, asked: ComparisonSpec, rows: list[Row]) -> None:
    if not rows:
        return
    A = problem.covariance
    largest = np.sort(A.diagonal)[-max(asked.ks) :].sum() * A.unit
    how: dict[str, Any] = {"ks": asked.ks, "style": style(asked), "signed": not asked.nonneg}
    how["ceiling"] = float(min(problem.leading_eigenvalue, largest)) or 1.0
    figure = values_figure(known(rows), **_unit(problem), **how)
    figures.draw(figure.update_layout(height=HEIGHT), "rivals_filling", same=asked.content)
    refusals(rows)


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


def _draw(seen: Answer, rows: list[Row]) -> None:
    """Draw the answer: which methods do best at one k, all methods against k, and one section about them."""
    said, headline, below = sentences(seen)
    st.markdown(f"### {wording.unbroken(headline)}")
    st.markdown(wording.unbroken(below))
    ks = sorted({k for _, k in seen.sweep})
    if len(ks) > 1:
        noun = wording.noun(seen.of.dataset)
        st.select_slider(f"Number of {noun}s to compare at", ks, **state.bind("at_k", seen.k))
    uppers = seen.table.loc[seen.table["k"] == seen.k, "upper"].dropna()
    left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
    with left:
        bars = {name: result.value for name, result in seen.results.items()}
        limit: dict[str, Any] = {"upper": float(uppers.min()) if len(uppers) else None}
        limit |= {"limit": said.most_text, "places": said.digits}
        figures.draw_plot(partial(ranking_figure, bars, **_unit(seen.problem), **limit), "rivals_ranking")
    with right:
        signed = not seen.asked.nonneg
        plot = partial(values_figure, seen.table, **_unit(seen.problem), signed=signed, **shared(seen))
        figures.draw_plot(plot, "rivals_values", HEIGHT)
    refusals(rows)
    if among := [name for name in seen.asked.methods if name in methods.baselines()]:
        st.caption(f"Dotted, {wording.listed(among)}: {BASELINE}.")
    labels = {name: label for name, (label, _) in VIEWS.items()}
    VIEWS[choose_one("More about the methods", "look", labels)][1](seen)
    home = taken(seen)
    how: dict[str, Any] = {"key": "download_everything", "help": EVERYTHING}
    buttons.download(
        "Everything, ZIP", lambda: home.pack({}, {}), f"{home.folder}.zip", "application/zip", **how
    )


def sentences(seen: Answer) -> tuple[statement.Statement, str, str]:
    """Return the statement about the best answer, a heading with the methods that found it, and a line with
    how good it is at least and what the bars are.
    """
    best = max(seen.results.values(), key=lambda result: result.value)
    said = statement.state_result(seen.of.dataset, seen.problem, best, seen.k)
    unit = seen.problem.leading_eigenvalue or 1.0
    # The bars print these shares. Methods with the same number on their bars do equally well.
    shares = {name: percent_down(result.value / unit, said.digits) for name, result in seen.results.items()}
    first = [method for method, share in shares.items() if share == said.share_text]
    if len(first) == 1:
        best_ones = f"{wording.plain(rival_name(first[0]))} does best"
    elif len(first) == len(seen.results):
        best_ones = f"all {len(first)} methods do equally well"
    else:
        best_ones = f"{len(first)} of {len(seen.results)} methods do best"
    size = wording.things(seen.k, wording.noun(seen.of.dataset))
    found = f"{said.share_text} of the main direction."
    least = f"This is {wording.proof(best.ratio)}. " if said.most_text else ""
    headline = f"With {size}, {best_ones}: {found} {said.limit}".rstrip()
    return said, headline, f"{least}Each bar is what one method keeps."


def taken(seen: Answer) -> Export:
    """Return what a comparison takes home. It has no figures, which a browser would have to draw first."""
    width, data = len(str(max(seen.asked.ks))), seen.of.dataset
    proofs = {k: seen.sweep[method, k].certificate for method, k in seen.sweep}  # the methods share one
    named = {k: f"k{k:0{width}}" for k, proof in proofs.items() if proof is not None}
    files = [f"{CERTIFICATES}{named[k]}.npz" if k in named else "" for k in seen.table["k"]]
    numbers, csv = seen.sweep.frame.assign(certificate=files), component.csv_of
    every = lambda: csv(component.all_weights(data, seen.sweep), data)  # noqa: E731
    missing = len(seen.asked.ks) * len(seen.asked.methods) - len(seen.sweep)
    return Export(
        seen.of,
        seen.asked,
        "methods",
        {
            "tables/methods.csv": File(lambda: csv(numbers, data), "one row for each method and k"),
            "tables/components.csv": File(every, "the weights of every component"),
        },
        {name: proof for k, name in named.items() if (proof := proofs[k]) is not None},
        lambda: _proved(seen.table),
        missing=f"Not here: {wording.things(missing, 'answer')}, refused or cancelled." if missing else "",
    )


def _proved(table: pd.DataFrame) -> Markup:
    rows = []
    for row in table.itertuples():
        proved = wording.proof(None if pd.isna(row.ratio) else row.ratio)
        rows.append((row.k, format_value(row.value), f"{row.seconds:.3f}", proved, row.method))
    return render("table", head=("k", "Variance", "Seconds", "Proved", "Method"), rows=rows, kind="")


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
        "In % of the main direction."
        + ("" if seen.asked.nonneg else " Of any sign, x and −x are one component: turned alike.")
    )
    _agreement(seen.results)


def aligned(X: np.ndarray) -> np.ndarray:
    """Return X (n, methods) with columns negated where needed, since x and -x are one component.

    The first column gets more positive weight than negative, and no other points away from it.
    """
    first = X[:, 0] * (-1 if X[:, 0].sum() < 0 else 1)
    return X * np.where(X.T @ first < 0, -1.0, 1.0)


def _pictures(dataset: Dataset, X: np.ndarray, titles: list[str], key: str, what: str = "weight") -> None:
    """Draw the columns of X (n, methods) as images, or in one table; `what` says what its numbers are."""
    if dataset.kind == "image" and dataset.image_shape is not None and not dataset.is_covariance:
        hover, largest = f"{what} %{{z:.3f}}", None if what == "weight" else 1.0
        how: dict[str, Any] = {"captions": titles, "largest": largest, "hover": hover, "one": "method"}
        mean = moments(dataset.X)[0]
        figure = parts_figure(X, component.grid(dataset), mean=mean, name="each method", **how)
    else:
        figure = weights_figure(X, dataset.feature_names, titles, what=what, order=dataset.axis)
    figures.draw(figure, key)


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
        f"Find {count} components by every method",
        lambda sweep, rows: _draw_curves(seen, {method: sweep[method, count] for method, _ in sweep}, rows),
        live,
        ("Curves, CSV", "components", lambda sweep: _curve_table(seen.problem, sweep)),
        ":material/stacks:",
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
        f"Draw the rows {spec.resamples} times at k = {seen.k}",
        lambda found, rows: _draw_stability(seen, _supports(found), rows),
        live,
        ("Frequencies, CSV", "stability", lambda found: _frequency_table(seen, _supports(found))),
        ":material/casino:",
        intro="**Would other samples give the same features?** Rows are drawn again with replacement, and "
        "every method runs again.",
        why_not=section.no_rows(seen.of),
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
    _pictures(seen.of.dataset, F, titles, "rivals_stability", "chosen in")
    st.caption(
        "The number beside a method is the mean overlap of two draws (Jaccard): 1 is always the same "
        "features. The stronger the colour of a feature, the more draws choose it."
    )
    refusals(rows)


def _frequency_table(seen: Answer, supports: dict[str, list[list[int]]]) -> pd.DataFrame:
    F = {method: frequencies(each, seen.problem.n) for method, each in supports.items()}
    table = pd.DataFrame({"feature": list(seen.of.dataset.feature_names), **F})
    return table[table[list(F)].sum(axis=1) > 0]


VIEWS: dict[str, tuple[str, Callable[[Answer], None]]] = {
    "loadings": ("Loadings", loadings),
    "proof": ("How good at least", _ratios),
    "seconds": ("What it costs", _seconds),
    "numbers": ("All numbers", _numbers),
    "components": ("More components", _components),
    "again": ("Other samples", _stability),
}
"""Label and drawing function of each further question, by its key in the address."""
