"""Methods side by side below a sweep: several methods at several k, each without the answers of the others.

`SweepPage.more` calls `show`. The question has the problem and the effort of the sweep; methods and k are its
own.
"""

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, form, frame, state, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components import figures
from nspca.dashboard.export import CERTIFICATES, Export, File
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import cost_estimate, lookup, methods, options
from nspca.dashboard.sweep.rivals_more import VIEWS, compared, shared, style
from nspca.dashboard.views import component, curve, statement
from nspca.dashboard.views.section import Section, refusals
from nspca.errors import InvalidOption, InvalidProblem, NSPCAError
from nspca.plots.compare import ranking_figure, values_figure
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_value, percent_down
from nspca.presentation.phrases import rival_name
from nspca.problem import Problem
from nspca.result import COLUMNS
from nspca.specs import ComparisonSpec, SweepSpec
from nspca.specs.comparison import DEFAULT
from nspca.specs.rows import Found, Proved, Row

TITLE = "Methods side by side"
ALL_UP_TO = 13  # maximum features for comparing every k
MOST_K = 160  # largest k that is compared by default
MOST_KS = 60  # maximum values of k in one comparison
HEIGHT = 360  # pixels of the curve
BASELINE = "baseline: the k largest weights of scikit-learn's component, scaled to length one"
EVERYTHING = "Numbers, components, certificates, and Python that computes it again and checks the proofs."
LABELS = {
    "loadings": "Loadings",
    "proof": "How good at least",
    "seconds": "What it costs",
    "numbers": "All numbers",
    "components": "More components",
    "again": "Other samples",
}


def show(of: Chosen, asked: SweepSpec) -> None:
    """Draw the folded section: inputs, and the button or the answer. While it is folded nothing is made."""
    given = any(state.is_kept(name) for name in ("ks", "rivals"))
    box = frame.fold(TITLE, "rivals", ":material/compare_arrows:", is_open=given)
    if box is None:
        return
    with box:
        able = methods.refusals(of, asked.nonneg, asked.center, asked.scale, asked.forced)
        _inputs(of, able)
        try:
            spec = question(of, asked, able)
        except NSPCAError as error:
            st.error(wording.plain(error), icon=":material/error:")
            return
        if lookup.that_asks(spec) is not None:
            state.put(ks=_ks_text(of), rivals=list(spec.methods))  # so that a reload unfolds the section
        elif why := cost_estimate.refusal(of, *spec.work):
            cost_estimate.say(why)
            return
        problem = open_data.with_leading(open_data.problem_of(of, spec))
        size = (
            f"{wording.things(len(spec.methods), 'method')} at {wording.things(len(spec.ks), 'value')} of k"
        )
        Section(
            "rivals_run",
            spec,
            lambda: f"Compare {size}: {cost_estimate.took(cost_estimate.of_methods(of, spec))}",
            lambda rows: _fill(problem, spec, rows),
            lambda sweep, rows: _draw(compared(of, spec, problem, sweep), rows),
            ("All numbers, CSV", "methods", lambda sweep: sweep.frame),
            spec.total,
            Found | Proved,
            ":material/compare_arrows:",
        ).show(of)


def question(of: Chosen, asked: SweepSpec, able: dict[str, str | None]) -> ComparisonSpec:
    """Return the question in the address about the problem of a sweep; `able` is from `methods.refusals`."""
    rivals = _rivals(able)
    if not rivals:
        raise InvalidOption("a comparison needs at least one method, got none: choose one")
    ks = read_ks(_ks_text(of), of.dataset.X.shape[1], max(1, len(asked.forced)))
    how: dict[str, Any] = {"options": options.changed_options(rivals), "effort": asked.effort}
    return ComparisonSpec(**asked.about_problem(), ks=ks, methods=tuple(rivals), seed=asked.seed, **how)


def _inputs(of: Chosen, able: dict[str, str | None]) -> None:
    left, right = st.columns([2, 5])
    left.text_input("Values of k", help="Numbers and ranges: 5, 10, 20-25.", **state.bind("ks", _ks_text(of)))
    names = methods.able(able)
    about = f"{methods.summaries(names)}\n\n{BASELINE.capitalize()}."
    how: dict[str, Any] = {"options": names, "format_func": methods.label, "help": about}
    form.draw(ComparisonSpec, "methods", right, value=_rivals(able), placeholder="Choose a method", **how)
    cannot = [f"- {_named(name, sentence)}" for name, sentence in able.items() if sentence]
    if cannot:
        with st.expander(f"{wording.things(len(cannot), 'method')} cannot answer this question"):
            st.caption("\n".join(cannot))
    options.form(_rivals(able))


def _rivals(able: dict[str, str | None]) -> list[str]:
    return [name for name in state.get("rivals") or DEFAULT if able.get(name, "") is None]


def _named(name: str, sentence: str) -> str:
    """Return a reason as Markdown that begins with the name of its method in bold."""
    if sentence.startswith(f"{name} "):
        return f"**{name}** {wording.plain(sentence.removeprefix(name))}"
    return f"**{name}**: {wording.plain(sentence)}"


def _ks_text(of: Chosen) -> str:
    return state.get("ks") or ", ".join(map(str, default_ks(of.dataset.X.shape[1])))


def default_ks(n: int) -> tuple[int, ...]:
    """Return the default values of k: all for few features, else 5, 10, 20, ..."""
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
    VIEWS[choose_one("More about the methods", "look", LABELS)](seen)
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
    found = f"{said.share_text} of the variance of the first principal component."
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
        "the proofs, one for each k: they bound what any method can explain",
        lambda: _proved(seen.table),
        missing=f"Not here: {wording.things(missing, 'answer')}, refused or cancelled." if missing else "",
    )


def _proved(table: pd.DataFrame) -> Markup:
    rows = []
    for row in table.itertuples():
        proved = wording.proof(None if pd.isna(row.ratio) else row.ratio)
        rows.append((row.k, format_value(row.value), f"{row.seconds:.3f}", proved, row.method))
    return render("table", head=("k", "Variance", "Seconds", "Proved", "Method"), rows=rows, kind="")
