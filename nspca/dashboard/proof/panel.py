"""The section about the proof of one component: its bound, its size, the independent check, and downloads."""

import shlex
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import buttons, frame, wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import statement
from nspca.data.arrays import to_npz
from nspca.jobs import JobState
from nspca.plots.gaps import gap_figure
from nspca.plots.sweeps import kind_words
from nspca.presentation.numerals import format_bound_share, format_guarantee, proved_ratio
from nspca.problem import Problem
from nspca.specs import ProblemSpec
from nspca.specs.data import CHANGES
from nspca.specs.rows import Closer, unpack

INDEPENDENT = (
    "The checker shares no code with what made the certificate. It computes everything it needs from the "
    "data again, and trusts nothing else."
)


def fold(answer: Answer) -> None:
    """Draw the folded section: the best certificate, to check, to take home, and how its gap closed."""
    frame.fold(
        "The proof: check it, take it home", "fold_proof", ":material/verified:", partial(_draw, answer)
    )


def _draw(answer: Answer) -> None:
    certificate, result, k = answer.certificate, answer.shown, answer.k
    st.markdown(statement.numbers(answer.problem, result, k))
    closer = answer.bounding
    if closer is not None and closer is not certificate:
        st.markdown(f"The limit for {closer.k:,} {answer.nouns.feature}s is lower, and holds for fewer, too.")
    optimal.fates(answer)
    if certificate is None:
        st.markdown("Nothing is proved about this component yet.")
        return
    searched = next((one.seconds for one in answer.tried if one.certificate is certificate), None)
    st.markdown(_origin(result, certificate, searched))
    with st.container(horizontal=True):
        verify_button(answer.of, answer.problem.with_k(k), certificate)
        _take_home(answer, certificate)
    unit = answer.problem.leading_eigenvalue or 1.0, "the leading eigenvalue"
    verified(result, certificate, unit)
    if (last := proofs.last_closed(answer.tried, k)) is not None:
        gap_closed(closers(last.now), unit, last.id)
    _elsewhere(answer)


def _origin(result: nspca.Result, certificate: nspca.Certificate, searched: float | None) -> str:
    """Return where a bound comes from; `searched` are the seconds of a search that proved it."""
    seconds = result.seconds if searched is None else searched
    what = "Component and proof took" if searched is None else "The proof took"
    took = f"{what} {f'{seconds:.2g}' if seconds < 10 else f'{seconds:.0f}'} s"
    size = f", and {wording.size(certificate.nbytes)} prove it again" if certificate.nbytes else ""
    return f"The limit comes from {wording.plain(kind_words(certificate.kind, code=False))}. {took}{size}."


# --- verify ---------------------------------------------------------------------------------------


def verify_button(about: Chosen, problem: Problem, certificate: nspca.Certificate) -> None:
    """Draw the button that runs the independent checker on a certificate."""

    def check() -> None:
        with st.spinner("Checking …"):
            proofs.check(about, problem, certificate)

    why = f"Proves the bound again from the data. {INDEPENDENT}"
    buttons.button("Verify now", "verify", check, icon=":material/fact_check:", help=why)


def verified(result: nspca.Result, certificate: nspca.Certificate, unit: tuple[float, str]) -> None:
    """Draw the outcome of the check, or its progress. `unit` is what is 100 %, and its name."""
    answer = proofs.checked(certificate)
    if answer is None:
        return
    if "run" in answer:
        said = "The check is running in the background: this proof is large."
        progress.redraw_once(
            lambda: "run" not in (proofs.checked(certificate) or {}),
            lambda: st.info(said, icon=":material/hourglass_top:"),
        )
    elif answer["refusal"]:
        st.error(f"Refused: {wording.plain(answer['refusal'])}.", icon=":material/gpp_bad:")
    else:
        upper, seconds = answer["upper"], answer["seconds"]
        share = format_guarantee(proved_ratio(result.value, upper))
        limit = f"{format_bound_share(upper, unit[0])} of {unit[1]}"
        proved = f"{certificate.statement.rpartition(' ')[0]} {limit}"
        st.success(
            f"Checked in {seconds:.2g} s, recomputed from the data: {wording.plain(proved)}. So what is "
            f"shown is at least {share} of the best possible. {INDEPENDENT}",
            icon=":material/verified:",
        )


# --- how the gap closed ---------------------------------------------------------------------------


def closers(now: JobState) -> list[Closer]:
    """Return the rows about its bound that a run has reported so far, in order."""
    return [row for row in unpack(now.rows) if isinstance(row, Closer)]


def draw_gap(
    rows: Sequence[Closer], unit: tuple[float, str], same: str, until: float | None = None, key: str = "gap"
) -> None:
    """Draw value and bound against seconds, up to `until`; nothing without rows."""
    if not rows:
        return
    seen = pd.DataFrame(rows)
    if until is not None and until > seen["seconds"].iloc[-1]:
        seen = pd.concat([seen, seen.tail(1).assign(seconds=until)])
    columns = (seen[name].to_numpy() for name in ("lower", "upper", "seconds"))
    drawn = gap_figure(*columns, unit=unit[0], unit_name=unit[1], steps_name="seconds")
    figures.draw(drawn.update_layout(height=280), key, same=same)


def gap_closed(rows: Sequence[Closer], unit: tuple[float, str], same: str) -> None:
    """Draw the folded history of the bounds of an ended proof; the arguments are those of `draw_gap`."""
    if rows:
        draw = partial(draw_gap, rows, unit, same)
        frame.fold("How the gap closed", "fold_gap", ":material/compress:", draw)


# --- take home ------------------------------------------------------------------------------------


def _plain_source(asked: ProblemSpec) -> bool:
    """Tell whether anybody can get the numbers from a sample's name and the preparations in a certificate."""
    where = asked.data
    return where.sample is not None and not any(
        getattr(where, name) for name in CHANGES if name != "prepared"
    )


def _take_home(answer: Answer, certificate: nspca.Certificate) -> None:
    about, name = answer.of, answer.of.stem
    buttons.download(
        "Certificate, NPZ",
        certificate.of_prepared(about.dataset.prepared).to_bytes,
        f"{name}-k{answer.k}-certificate.npz",
        buttons.BYTES,
    )
    if answer.own and about.table is None and not _plain_source(answer.asked):
        dataset = about.dataset
        buttons.download(
            "Data, NPZ",
            lambda: to_npz(dataset),
            f"{name}.npz",
            buttons.BYTES,
            help="The numbers that the certificate is about, as they are after reading.",
        )


def _elsewhere(answer: Answer) -> None:
    about, asked, name = answer.of, answer.asked, answer.of.stem
    data = asked.data.sample if _plain_source(asked) else f"{name}.npz"
    if about.table is not None and asked.data.folder is not None:
        data = shlex.quote(asked.data.folder)
    st.caption("To check the downloaded file on any machine that has nspca:")
    st.code(f"python -m nspca verify {data} {name}-k{answer.k}-certificate.npz", language="bash")
