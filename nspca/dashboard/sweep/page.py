"""Draw the page Sweep: variance against the number of features k, with the proved region."""

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard import answer_page, open_data
from nspca.dashboard.answer_page import AnswerPage
from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.components import figures, pressing
from nspca.dashboard.export import Export
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import alone, optimal, slide
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import answer as answers
from nspca.dashboard.runs import defaults, progress
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep import archive, form, other_rows, rivals, whatif
from nspca.dashboard.views import component, curve, membership, statement
from nspca.data.export import name_list
from nspca.jobs import JobState
from nspca.presentation.numerals import percent_down, percent_up, proved_ratio, ratio_at_most
from nspca.result import knee
from nspca.specs import SweepSpec
from nspca.specs.rows import Found, unpack

HEIGHT = 400  # height of the curve in pixels, so that sentence, curve and slider fit on the first screen
COLUMNS = (3, 2)  # widths of the curve and of the picture beside it
BARS = 20  # largest weights drawn on the first screen; the table of features further down has all weights
FEW = 10  # part of the features, one in so many, up to which a number of them is small
READABLE = 20
"""Most features of the component that the page opens on, as many as a person can look at one by one."""


class SweepPage(AnswerPage):
    """Page with the curve of variance against k and the component at one k.

    `AnswerPage` documents the methods. The first answer is that to the question of the form with quick
    proofs. `begin_unasked` starts a quick sweep after a change of the form.
    """

    kind, forms = form.SWEEP, form

    def begin(self, data: Chosen, asked: SweepSpec) -> None:
        whatif.begin(data, asked)

    def begin_unasked(self, data: Chosen, asked: SweepSpec) -> bool:
        return whatif.answer(data, asked)

    def status(self, run: Answer) -> tuple[str, float]:
        return _says(run.now, run.asked.total), len(run.now.rows) / run.asked.total

    def filling(self, run: Answer) -> None:
        if run.is_default and not run.now.rows:
            return  # nothing to draw yet, and nothing from before either
        old = whatif.find_before(run) if run.is_asked else None
        if run.now.ended and run.is_asked:
            curve.switches()
        problem = open_data.with_leading(run.problem)
        beside = None if old is None else whatif.drawn_before(old, run)
        with st.columns(COLUMNS, gap="medium")[0]:
            curve.filling(problem, run.now.rows, run.asked, beside)

    def view(self, run: Answer) -> Answer:
        problem, data = open_data.with_leading(run.problem), run.of.dataset
        tried = proofs.attempts(run.asked)
        sweep = proofs.gathered(run.sweep, run.of, run.asked, tried)
        table, methods = answers.table(sweep), list(dict.fromkeys(method for method, _ in sweep))
        ks, wanted, least = sorted({*table["k"].tolist()}), state.get("k"), max(1, len(run.asked.forced))
        of_run = table[table["k"].isin(run.asked.ks)]  # other sweeps have added further rows
        k = wanted if wanted in ks else first_k(of_run if len(of_run) else table, problem.n)
        is_missing = wanted is not None and wanted not in ks and least <= wanted <= problem.n
        if is_missing:
            k = min(ks, key=lambda size: abs(size - wanted))
        method = state.get_one_of("shown", methods, methods[0])
        old = whatif.find_before(run) if run.is_asked else None
        drawn = curve.plot(
            problem,
            table,
            run.asked,
            selected_k=k,
            marked=plateau(table, problem.n),
            before=None if old is None else whatif.drawn_before(old, run),
            has_slider=True,
        )
        answer = replace(run, sweep=sweep, k=k, method=method, tried=tried, drawn=drawn)
        if run.of.table is None:
            answer = replace(answer, known=membership.of(run.of, problem.with_k(k), answer.shown))
        ceiling = statement.ceiling_of(table, problem.n)
        said = slide.headline(answer, ceiling, is_watched=not is_missing)
        if is_missing:
            _join_curve(run.of, run.asked, wanted)
        else:
            answer_page.say_instead(k, problem.n)
        st.markdown(self._enough(answer, ceiling, said.digits))
        curve.choose(methods, method)
        left, right = st.columns(COLUMNS, gap="medium")
        with left:
            curve.clickable(run.asked, drawn, table, HEIGHT)
            sizes = sorted(size for name, size in sweep if name == method)
            picture = f"component_{run.id}"
            slide.show(answer, sizes, ceiling, "k", (least, problem.n), "curve", picture, HEIGHT, BARS)
        with right:
            component.picture(data, answer.x, picture, answer.known, BARS, HEIGHT)
            if answer.known is not None:
                st.markdown(membership.sentence(wording.noun(data), answer.known))
        return answer

    def _enough(self, seen: Answer, ceiling: float, digits: int) -> str:
        """Return which number of features is enough."""
        problem, table = seen.problem, seen.table
        noun, k, last = seen.nouns.feature, plateau(table, problem.n), int(table["k"].max())
        best, opened, said = problem.leading_eigenvalue, first_k(table, problem.n), []
        if table["k"].nunique() > 1:
            small = f"**No small number of {noun}s is enough here**"
            if k is None:
                said.append(f"{small}: the curve still rises at its end, k = {last:,}.")
            elif best:
                best_of = table.groupby("k")["value"].max() / best
                kept = percent_down(best_of[k], digits)
                smaller = max((size for size in best_of.index if size < k), default=k - 1)
                untried = f"; between {smaller:,} and {k:,} nothing was tried" if smaller < k - 1 else ""
                ringed = f"(ringed in the curve{untried})"
                few = f"**{wording.things(k, noun)} {'is' if k == 1 else 'are'} enough** {ringed}"
                many = f"{small}. {wording.things(k, noun)} {ringed} would do"
                more = f"more of them, up to {last:,}, never keep more than"
                most = percent_up(min(1.0, ratio_at_most(ceiling, best)), digits)
                if not (problem.nonneg and ceiling < best):
                    more = f"the best found with up to {last:,} keep"
                    most = percent_down(best_of.max(), digits)
                keep = "" if k == seen.k else f"they keep {kept}, and "
                said.append(f"{few if k <= max(READABLE, problem.n // FEW) else many}: {keep}{more} {most}.")
            if opened != k:
                said.append(
                    f"A list of {opened:,} can be read one by one; Components finds several such lists."
                )
        data, asked = self.data, self.asked
        is_first = seen.is_default and k == 1
        if is_first and data and asked and not asked.scale and open_data.measures(data).scales:
            said.append(
                f"One {noun} outweighs the others by its larger numbers: open **change** to standardise."
            )
        return " ".join(said)

    def more(self, seen: Answer) -> None:
        nouns = seen.nouns
        if seen.is_asked:
            whatif.show_change(seen)
        st.markdown("### What is it?")
        features = f"The {nouns.feature}s one by one, and the {nouns.samples} along the component"
        frame.fold(features, "fold_features", ":material/list:", partial(_features, seen))
        if seen.own:
            other_rows.show_scores(seen)
        st.markdown("### Can I trust it?")
        optimal.fold_proof(seen)
        if seen.own:
            alone.show(seen)
            other_rows.show(seen)
        if self.data is not None and self.asked is not None and self.data.table is None:
            rivals.show(self.data, self.asked)
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


def _features(seen: Answer) -> None:
    about, x = seen.of, seen.x
    if about.table is None and seen.certificate is not None:
        membership.ask()
    left, right = st.columns(2, gap="medium")
    with left:
        if seen.own and about.table is None:
            key = f"table_{seen.id}_{seen.method}_{seen.k}"
            rows, names = component.table(about.dataset, x, key, seen.known)
            pressing.copy_button(f"Copy the list of {seen.nouns.feature}s", name_list(names), "copy_features")
            whatif.features(about, seen.k, rows, names)
        else:
            component.table(about.dataset, x, found=seen.known)
    try:
        problem = open_data.scored_problem(about, seen.problem)
    except nspca.InvalidProblem:
        right.caption("The rows along the component are left out: some features take one value in a sample.")
        return
    with right:
        component.samples(about.dataset, problem, x, f"scores_{seen.id}")
        if about.table is not None:
            st.caption(f"Drawn are {wording.things(about.dataset.X.shape[0], 'row')} chosen at random.")
    mapped = component.mapped(about.dataset, problem, x)
    if mapped is not None:
        title = "The features in all samples, sorted by score"
        draw = partial(figures.draw_plot, mapped, f"heat_{seen.id}")
        frame.fold(title, "fold_map", ":material/grid_on:", draw)


def plateau(table: pd.DataFrame, n: int) -> int | None:
    """Return the k from which the curve hardly rises, or None for a curve that may rise further.

    A curve up to fewer than all n features may end anywhere. It must then show twice as many features as k.
    """
    k, last = knee(table), int(table["k"].max())
    return k if k < last and (last == n or 2 * k <= last) else None


def first_k(table: pd.DataFrame, n: int) -> int:
    """Return the k at which the page opens: the plateau, or as many features as a person can look at.

    The last k of the curve is never that, since its end says the least about what is enough.
    """
    k, ks = plateau(table, n), sorted({int(k) for k in table["k"]})
    if k is not None and k <= READABLE:
        return k
    return max((k for k in ks[:-1] if k <= READABLE), default=ks[0])


def _join_curve(of: Chosen, asked: SweepSpec, k: int) -> None:
    """Draw the progress of a k that joins the curve; of a folder or large table, a button begins it."""
    alone = SweepSpec(**proofs.everybodys(asked), ks=(k,), methods=asked.methods, effort=asked.effort)
    if not defaults.small_enough(of):
        longer = asked.but(ks=tuple(sorted({*asked.ks, k})))
        buttons.button(f"Compute k = {k:,}", "one_k", lambda: whatif.begin(of, longer))
        return
    now = defaults.ask(alone, of.content, lambda: of.given, automatic=True)
    if now.state == "failed":
        st.caption(wording.plain(now.error))
        return
    said = f"k = {k:,} is on its way"
    progress.live(now.id, status=lambda now: (said, progress.stage_status(now)[1]))
