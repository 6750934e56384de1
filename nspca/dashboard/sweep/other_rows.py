"""Sections below a sweep about other rows: held out, drawn again, shuffled, and those of another table."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from nspca.covariance.moments import moments
from nspca.dashboard import open_folder
from nspca.dashboard.app import buttons, frame, state, tables, wording
from nspca.dashboard.components import figures
from nspca.dashboard.data.picker import FORMATS
from nspca.dashboard.open_data import Chosen, read_like
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import section
from nspca.dashboard.views.section import Section
from nspca.data import PREPARATIONS, Dataset, prepare
from nspca.data.export import frame_to_csv
from nspca.data.names import Numbered
from nspca.errors import NSPCAError
from nspca.plots.selection import noise_figure
from nspca.problem import Problem
from nspca.selection import NoiseTest
from nspca.selection.choice import DRAWS
from nspca.selection.noise import TABLES
from nspca.specs import ChoiceSpec, NoiseSpec
from nspca.specs.data import title_of
from nspca.specs.rows import Row, Shuffled
from nspca.validation.features import positions

MOST = 12  # values of k that are looked at: each is solved for every part of the rows
WITHOUT_PROOF = 0.5  # of the seconds of a fast sweep, in which half goes into the proofs
SMALL_P = 0.05  # maximum p-value for the statement that there is more than noise


def show(answer: Answer) -> None:
    """Draw the folded section, which is open where something has been asked."""
    title = f"What would other {answer.nouns.samples}, or chance, say?"
    sections = [_choice(answer), _noise(answer)]
    if sections[0].why_not == sections[1].why_not != "":
        del sections[1]
    is_open = any(one.is_begun for one in sections)

    def draw() -> None:
        for one in sections:  # what is not offered needs no words on how it is done
            (replace(one, intro="") if one.why_not else one).show(answer.of)

    frame.fold(title, "fold_rows", ":material/casino:", draw, is_open=is_open)


def _choice(answer: Answer) -> Section:
    asked, samples = answer.asked, answer.nouns.samples
    ks = tuple(some(asked.ks))
    spec = ChoiceSpec(**asked.about_problem(), ks=ks, method=answer.method, seed=asked.seed)
    seconds = WITHOUT_PROOF * cost_estimate.each_k(answer.of, "fast") * len(ks) * spec.total
    intro = (
        f"A fifth of the {samples} is held out, and components are found on the rest. Every fifth takes "
        f"its turn. Then as many {samples} are drawn again with replacement, {DRAWS} times."
    )
    return section.choose_section(answer, spec, intro, "Hold out and draw again", seconds)


def some(ks: Sequence[int]) -> list[int]:
    """Return at most `MOST` of the values of k, including the first and the last."""
    ordered = sorted(ks)
    if len(ordered) <= MOST:
        return ordered
    return [ordered[i] for i in np.linspace(0, len(ordered) - 1, MOST).round().astype(int)]


def _noise(answer: Answer) -> Section:
    asked, problem = answer.asked, answer.problem.with_k(answer.k)

    def live(rows: list[Row]) -> None:
        values = [row for row in rows if isinstance(row, Shuffled)]
        if values:
            _draw_test(problem, NoiseTest(values[0].value, np.array([row.noise for row in values])))

    return Section(
        "noise",
        NoiseSpec(**asked.about_problem(), k=answer.k, method=answer.method, seed=asked.seed),
        f"Shuffle {TABLES} times at k = {answer.k}",
        lambda test, rows: _draw_test(problem, test),
        live,
        icon=":material/shuffle:",
        seconds=WITHOUT_PROOF * cost_estimate.each_k(answer.of, "fast") * (1 + TABLES),
        intro="Is it more than noise would give? The values of every feature are shuffled among the samples, "
        "so that features have nothing in common. Then a component is found again.",
        why_not=section.no_rows(answer.of),
    )


def _draw_test(problem: Problem, test: NoiseTest) -> None:
    st.markdown(noise_sentence(test, problem.total_variance))
    drawn = noise_figure(test.value, test.noise, problem.total_variance)
    figures.draw(drawn, "sweep_noise", same=problem.total_variance)


def noise_sentence(test: NoiseTest, total: float) -> str:
    """Return the outcome of the test in plain words, in per cent of the variance `total`."""
    unit, count = 100 / (total or 1.0), len(test.noise)
    found = f"This component explains {unit * test.value:.3g} % of the variance"
    most = f"the best of {wording.things(count, 'shuffled table')} {unit * test.noise.max():.3g} %"
    p = f"p = {test.p:.2g}"
    small = test.p <= SMALL_P
    verdict = "More than noise would give" if small else "Noise can give as much"
    if count < TABLES:
        verdict = (
            "So far more than noise gives" if small or not test.reached else "So far noise can give as much"
        )
    if not test.reached:
        return f"**{verdict}.** {found}, {most}: none reached it, {p}, the least that {count} can say."
    reached = f"{test.reached} of {wording.things(count, 'shuffled table')} reached it, {p}"
    return f"**{verdict}.** {found}; {reached}."


LARGEST_FILE = 50  # MB of an uploaded file, which stays in memory while the page is open


def show_scores(answer: Answer) -> None:
    """Draw the folded part of the page that scores an uploaded table along the shown component."""
    of = answer.of
    with st.expander("Where do other samples lie?", icon=":material/scatter_plot:", type="compact"):
        if why := _not_offered(of):
            st.caption(why)
            return
        label = (
            "Another table with the same features: each of its samples gets its score along this component. "
            "Nothing leaves the machine that runs nspca."
        )
        given = st.file_uploader(
            label, key=f"{state.UPLOADER}_scores", max_upload_size=LARGEST_FILE, help=FORMATS
        )
        if given is not None:
            _score(answer, read_like(given.getvalue(), title_of(given.name), of.reference).data)


def _not_offered(of: Chosen) -> str:
    steps = [PREPARATIONS[name].title for name in of.dataset.prepared if name != state.LOG2]
    if of.dataset.is_covariance or steps:
        why = "is a covariance matrix" if of.dataset.is_covariance else f"was prepared ({', '.join(steps)})"
        return f"This data set {wording.plain(why)}, which other samples cannot be."
    if of.reference.together:
        return "Some features are taken as one here, which another table does not have."
    return "" if of.table is None else open_folder.ALL_ROWS


def _score(answer: Answer, other: Dataset | NSPCAError) -> None:
    try:
        if isinstance(other, NSPCAError):
            raise other.with_traceback(None)
        said, found = scored(answer.of.dataset, other, answer.x, answer.asked.center, answer.asked.scale)
    except NSPCAError as error:
        st.error(wording.plain(error, "leave out such rows or columns of the file"), icon=":material/error:")
        return
    st.markdown(said)
    tables.show(found, height=240)
    name = f"{answer.of.stem}-k{answer.k}-scores.csv"
    buttons.download("Scores, CSV", lambda: frame_to_csv(found), name, key="download_scores")


def scored(
    data: Dataset, other: Dataset, x: np.ndarray, center: bool, scale: bool
) -> tuple[str, pd.DataFrame]:
    """Return a sentence and the scores of the samples of `other` along x (n,), a component of `data`.

    With `center` the means of `data` are subtracted. With `scale` the standard deviations of `data` divide.
    """
    other = prepare(other, *data.prepared)
    used = np.flatnonzero(x)
    names = other.feature_names
    unnamed = isinstance(names, Numbered) and len(names) == len(x) and names != data.feature_names
    at = used if unnamed else positions([data.feature_names[int(j)] for j in used], names)
    mean, deviation = moments(data.X[:, used])
    Z = other.X[:, at]
    Z = (Z.toarray() if sp.issparse(Z) else Z) - (mean if center else 0.0)
    scores = Z / (deviation if scale else 1.0) @ x[used]
    table = pd.DataFrame({"sample": list(other.sample_names), "score": scores})
    how = "taken in their order, as the file has no names" if unnamed else "matched by name"
    said = (
        f"**{wording.things(len(table), 'sample')} scored**, features {how}; "
        f"{wording.things(len(names) - len(used), 'feature')} of the file not used by this component."
    )
    return said, table
