"""Draw the page Sweep: variance against the number of features k, with the proved region.

The scripts pages/sweep.py and pages/shared.py hand a `SweepPage` to `answer_page`, which calls its methods.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard import answer_page, open_data
from nspca.dashboard.answer_page import AnswerPage
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.components import copying, figures
from nspca.dashboard.export import Export
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import alone, optimal, slide
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import panel as proof_panel
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import SWEEP
from nspca.dashboard.sweep import (
    archive,
    before,
    enough,
    form,
    newtable,
    one_k,
    other_rows,
    rivals,
    side_by_side,
    whatif,
)
from nspca.dashboard.views import component, curve, membership, statement
from nspca.data import genesets
from nspca.jobs import JobState
from nspca.presentation.numerals import percent_down, percent_up, proved_ratio, ratio_at_most
from nspca.specs import SweepSpec
from nspca.specs.rows import Found, unpack

HEIGHT = 400
"""Height of the curve in pixels, so that sentence, curve and slider fit on the first screen."""
BARS = 20  # largest weights drawn on the first screen; the table of features further down has all weights


class SweepPage(AnswerPage[SweepSpec]):
    """Page with the curve of variance against k and the component at one k.

    `AnswerPage` documents the methods. The first answer is that to the question of the form with quick
    proofs. `begin_unasked` starts a quick sweep after a change of the form.
    """

    kind = SWEEP

    def __init__(self) -> None:
        # data and question of the form; None of a shared run, which has no form
        self._data: Chosen | None = None
        self._asked: SweepSpec | None = None
        self._problems: dict[str, nspca.Problem] = {}  # by id of the run

    def problem(self, run: Watched) -> nspca.Problem:
        """Return the problem of a run with its leading eigenvalue, cached for the updates during the run."""
        if run.id not in self._problems:
            found = run.measured()
            assert found is not None  # `answer_page` draws a run of a folder only after the measurement
            self._problems[run.id] = found
        return self._problems[run.id]

    def question(self, data: Chosen) -> SweepSpec:
        self._data, self._asked = data, form.question(data)
        return self._asked

    def usual(self, data: Chosen, asked: SweepSpec) -> SweepSpec:
        return asked.but(data=data.spec, methods=("auto",), effort="fast")

    def form(self, data: Chosen, asked: SweepSpec | None) -> None:
        form.inputs(data)

    def line(self, data: Chosen, asked: SweepSpec) -> str:
        return form.line(asked)

    def label(self, data: Chosen, asked: SweepSpec) -> str:
        return form.label(data, asked)

    def begin(self, data: Chosen, asked: SweepSpec) -> None:
        whatif.begin(data, asked)

    def draw_estimate(self, data: Chosen, asked: SweepSpec) -> None:
        """Draw nothing, since the label of the start button has the time."""

    def begin_unasked(self, data: Chosen, asked: SweepSpec) -> bool:
        return whatif.answer(data, asked)

    def status(self, run: Watched, now: JobState) -> str:
        return _says(now, run.asked.total)

    def share(self, run: Watched, now: JobState) -> float:
        return len(now.rows) / run.asked.total

    def filling(self, run: Watched, now: JobState) -> None:
        if not run.own and not now.rows:
            return  # nothing to draw yet, and nothing from before either
        old = before.find(run) if run.own else None
        if run.own and now.ended:
            curve.switches()
        beside = None if old is None else old.drawn(curve.axis())
        curve.filling(self.problem(run), now.rows, run.asked, beside)

    def view(self, run: Watched, results: nspca.Sweep) -> Answer:
        problem, tried = self.problem(run), proofs.attempts(run.asked)
        sweep = proofs.grown(proofs.improved(results, tried), run.of, run.asked)
        table, methods = proofs.table(sweep, tried), list(dict.fromkeys(method for method, _ in sweep))
        missing = one_k.is_open({*table["k"]}, problem.n, len(run.asked.forced))
        k = state.get("k") if state.get("k") in set(table["k"]) else enough.first_k(table, problem.n)
        if missing is not None:
            k = min(table["k"].tolist(), key=lambda size: abs(size - missing))
        method = state.get_one_of("shown", methods, methods[0])
        known, data = None, run.of.dataset
        old = before.find(run) if run.own else None
        drawn = curve.plot(
            problem,
            table,
            run.asked,
            selected_k=k,
            marked=enough.plateau(table, problem.n),
            before=None if old is None else old.drawn(curve.axis()),
            has_slider=True,
        )
        own = self._data is not None
        answer = Answer(run.of, run.asked, problem, sweep, k, method, tried, own, id=run.id, drawn=drawn)
        result = answer.shown.with_certificate(answer.certificate)
        if run.of.table is None:
            known = membership.of(run.of, problem.with_k(k), result)
            answer = replace(answer, known=known)
        ceiling = statement.ceiling_of(table, problem.n)
        said = statement.state_result(data, problem, result, k, ceiling=ceiling)
        with statement.show(said):
            optimal.show(answer if missing is None else replace(answer, own=False))
        if missing is None:
            answer_page.say_instead(k, problem.n)
        else:
            one_k.show(run.of, run.asked, missing)
        st.markdown(self._enough(run, problem, table, ceiling, said.digits))
        curve.choose(methods, method)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            curve.clickable(run.asked, drawn, table, HEIGHT)
            ks = sorted(size for name, size in sweep if name == method)
            picture, ends = f"component_{run.id}", (max(1, len(run.asked.forced)), problem.n)
            slide.show(answer, ks, ceiling, "k", ends, "curve", picture, HEIGHT, BARS)
        with right:
            component.picture(data, answer.x, picture, known, BARS, HEIGHT)
            membership.legend(wording.noun(data), known)
        return answer

    def _enough(
        self, run: Watched, problem: nspca.Problem, table: pd.DataFrame, ceiling: float, digits: int
    ) -> str:
        """Return which number of features is enough; the arguments are those of `statement.state_result`."""
        noun, k, last = wording.noun(run.of.dataset), enough.plateau(table, problem.n), int(table["k"].max())
        best, opened, said = problem.leading_eigenvalue, enough.first_k(table, problem.n), []
        if table["k"].nunique() > 1:
            small = f"**No small number of {noun}s is enough here**"
            if k is None:
                said.append(f"{small}: the curve still rises at its end, k = {last:,}.")
            elif best:
                best_of = table.groupby("k")["value"].max() / best
                kept = percent_down(best_of[k], digits)
                few = (
                    f"**{wording.things(k, noun)} {'is' if k == 1 else 'are'} enough** (ringed in the curve)"
                )
                many = f"{small}. {wording.things(k, noun)} (ringed in the curve) would do"
                more = f"more of them, up to {last:,}, never keep more than"
                most = percent_up(min(1.0, ratio_at_most(ceiling, best)), digits)
                if not (problem.nonneg and ceiling < best):
                    more = f"the best found with up to {last:,} keep"
                    most = percent_down(best_of.max(), digits)
                said.append(f"{few if k <= enough.READABLE else many}: they keep {kept}, and {more} {most}.")
            if opened != k:
                said.append(
                    f"A list of {opened:,} can be read one by one; Components finds several such lists."
                )
        data, asked = self._data, self._asked
        if not run.own and k == 1 and data and asked and not asked.scale and open_data.measures(data).scales:
            said.append(
                f"One {noun} outweighs the others by its larger numbers: open **change** to standardise."
            )
        return " ".join(said)

    def more(self, run: Watched, seen: Answer) -> None:
        about, k, method = run.of, seen.k, seen.method
        result = seen.sweep[method, k]
        if run.own:
            side_by_side.show(run, seen)
        st.markdown("### What is it?")
        nouns = seen.nouns
        features = f"The {nouns.feature}s one by one, and the {nouns.samples} along the component"
        if box := frame.fold(features, "fold_features", ":material/list:"):
            with box:
                _features(run, seen, result)
        if seen.own:
            newtable.show(about, run.asked, result.components[:, 0], k)
        st.markdown("### Can I trust it?")
        title = "The proof: nothing is proved about this component yet"
        if seen.certificate is not None:
            ratio = seen.certificate.ratio(seen.shown.value)
            title = f"The proof: {wording.proof(ratio).removesuffix(', proved')}"
        if box := frame.fold(title, "fold_proof", ":material/verified:"):
            with box:
                st.markdown(statement.numbers(seen.problem, result.with_certificate(seen.certificate), k))
                optimal.fates(seen)
                proof_panel.show(seen)
        if seen.own:
            alone.show(seen)
            other_rows.show(seen)
        if self._data is not None and self._asked is not None and self._data.table is None:
            rivals.show(self._data, self._asked)
        title = "What is 100 %, and other bounds"
        with st.expander(title, icon=":material/area_chart:", type="compact", key="fold_curve"):
            curve.switches()

    def take_home(self, seen: Answer) -> Export | None:
        return archive.taken(seen)


def _says(now: JobState, total: int) -> str:
    if waits := progress.waiting(now):
        return waits
    line = f"{len(now.rows)} of {total} ready"
    last = next((row for row in unpack(now.rows[-1:]) if isinstance(row, Found)), None)
    if last is None or (now.event is not None and now.event.stage in wording.PASSES):
        return f"{line}; {wording.stage(now.event)}" if now.event else line
    line += f"; k = {last.k}"
    return line if last.upper is None else f"{line}: {wording.proof(proved_ratio(last.value, last.upper))}"


def _features(run: Watched, seen: Answer, result: nspca.Result) -> None:
    about, x = run.of, result.components[:, 0]
    if about.table is None and seen.proof is not None:
        membership.ask()
    left, right = st.columns(2, gap="medium")
    with left:
        if seen.own and about.table is None:
            listed = component.table(about.dataset, x, f"table_{run.id}_{seen.method}_{seen.k}", seen.known)
            noun = wording.noun(about.dataset)
            copying.button(f"Copy the list of {noun}s", genesets.name_list(listed[1]), "copy_features")
            whatif.features(about, seen.k, *listed)
        else:
            component.table(about.dataset, x, found=seen.known)
    _samples(about, seen.problem, x, run.id, right)


def _samples(about: Chosen, problem: nspca.Problem, x: np.ndarray, name: str, beside: Any) -> None:
    """Draw the samples by their score along the component x (n,) in the column `beside`, and a heat map."""
    try:
        seen = open_data.scored_problem(about, problem)
    except nspca.InvalidProblem:
        beside.caption("The rows along the component are left out: some features take one value in a sample.")
        return
    with beside:
        component.samples(about.dataset, seen, x, f"scores_{name}")
        if about.table is not None:
            st.caption(f"Drawn are {wording.things(about.dataset.X.shape[0], 'row')} chosen at random.")
    mapped = component.mapped(about.dataset, seen, x)
    if mapped is not None:
        title = "The features in all samples, sorted by score"
        if box := frame.fold(title, "fold_map", ":material/grid_on:"):
            with box:
                figures.draw_plot(mapped, f"heat_{name}")
