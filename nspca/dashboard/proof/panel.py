"""The proof of one component: how good, by whom, how large; checked and taken home from here."""

import shlex
from dataclasses import replace
from functools import partial

import streamlit as st

import nspca
from nspca.api import OPTIMAL_GAP
from nspca.dashboard.app import buttons, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import closing
from nspca.dashboard.proof.attempts import Attempt, Proof
from nspca.dashboard.proof.closing import Aim
from nspca.dashboard.runs import progress
from nspca.data.arrays import to_npz
from nspca.plots import kind_words
from nspca.presentation.numerals import (
    format_bound,
    format_guarantee,
    percent_up,
    proved_ratio,
    ratio_at_most,
)
from nspca.problem import Problem
from nspca.specs import SweepSpec
from nspca.specs.data import CHANGES

INDEPENDENT = (
    "The checker shares no code with what made the certificate: it forms its own products from the data "
    "and trusts no eigenvalue, norm or search."
)


def show(
    about: Chosen,
    problem: Problem,
    asked: SweepSpec,
    k: int,
    result: nspca.Result,
    tried: list[Attempt],
    own: bool = True,
) -> None:
    """The certificate of `result`, with everything one can do about it; the data of a run that somebody
    shared stay theirs.
    """
    proof = proofs.best(result, tried, k)
    unit = problem.leading_eigenvalue or 1.0, "the leading eigenvalue"
    aim = Aim(about, asked, k, result, asked.effort if result.certificate else None, tried, unit)
    if proof is None:
        st.markdown("Nothing is proved about this component yet.")
    else:
        _numbers(result, proof)
        st.markdown(
            f"Proved by {wording.plain(kind_words(proof.certificate.kind))}. "
            f"{proofs.beside(problem, result, k)}"
        )
    with st.container(horizontal=True):
        if proof is not None:
            verify_button(about, problem.with_k(k), proof.certificate)
        closing.button(aim)
        if proof is not None:
            _take_home(about, asked, k, proof.certificate, own)
    if proof is not None:
        verified(result, proof.certificate)
    closing.watched(aim)
    if proof is not None:
        _elsewhere(about, asked, k)


def _numbers(result: nspca.Result, proof: Proof) -> None:
    certificate = proof.certificate
    gap = ratio_at_most(certificate.upper, result.value) - 1 if result.value > 0 else 0.0
    seconds = result.seconds if proof.seconds is None else proof.seconds
    what = (
        "of the search for the component and its proof"
        if proof.seconds is None
        else "of the work on this proof alone"
    )
    with st.grid(5, min_column_width=130):
        share = "The component is at least this much of the best possible one."
        st.metric("At least", format_guarantee(certificate.ratio(result.value)), border=True, help=share)
        st.metric(
            "Gap", gap_words(gap), border=True, help="How much better another component could be, at most."
        )
        st.metric(
            "Nothing above",
            format_bound(certificate.upper),
            border=True,
            help="The proved upper bound, in the units of the data.",
        )
        size = wording.size(certificate.nbytes) if certificate.nbytes else "none"
        st.metric(
            "Witness",
            size,
            border=True,
            help="The numbers that let anybody prove the bound again from the data.",
        )
        st.metric(
            "Time",
            f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s",
            border=True,
            help=f"Seconds {what}.",
        )


def gap_words(gap: float) -> str:
    """Return a proved gap in per cent, rounded up, or ``closed``."""
    if gap <= OPTIMAL_GAP:
        return "closed"
    digits = next((d for d in range(2, 7) if 100 * gap >= 10.0**-d), 7)
    return percent_up(gap, digits)


# --- verify ---------------------------------------------------------------------------------------


def verify_button(about: Chosen, problem: Problem, certificate: nspca.Certificate) -> None:
    """Starts a check by the independent checker, for the problem that the page is about."""
    check, why = (
        partial(_check, about, problem, certificate),
        f"Proves the bound again from the data. {INDEPENDENT}",
    )
    buttons.button("Verify now", "verify", check, icon=":material/fact_check:", help=why)


def _check(about: Chosen, problem: Problem, certificate: nspca.Certificate) -> None:
    with st.spinner("Checking …"):
        proofs.check(about, problem, certificate)


def verified(result: nspca.Result, certificate: nspca.Certificate) -> None:
    """What the check said, or that it goes on."""
    answer = proofs.checked(certificate)
    if answer is None:
        return
    if "run" in answer:
        _wait(certificate)
    elif answer["refusal"]:
        st.error(f"Refused: {wording.plain(answer['refusal'])}.", icon=":material/gpp_bad:")
    else:
        upper, seconds = answer["upper"], answer["seconds"]
        share = format_guarantee(proved_ratio(result.value, upper))
        proved = replace(certificate, upper=upper).rounded(8).statement
        st.success(
            f"Checked in {seconds:.2g} s, recomputed from the data: {wording.plain(proved)}. So what is "
            f"shown is at least {share} of the best possible. {INDEPENDENT}",
            icon=":material/verified:",
        )


def _wait(certificate: nspca.Certificate) -> None:
    def look() -> None:
        answer = proofs.checked(certificate)
        if answer is None or "run" not in answer:
            st.rerun()
        st.info(
            "The check is running in the background: this proof is large.", icon=":material/hourglass_top:"
        )

    progress.each_second(look)


# --- take home ------------------------------------------------------------------------------------


def _plain_source(asked: SweepSpec) -> bool:
    """Whether the name of a sample gives anybody the same numbers, with what the certificate says was done to
    them.
    """
    where = asked.data
    return where.sample is not None and not any(
        getattr(where, name) for name in CHANGES if name != "prepared"
    )


def _take_home(about: Chosen, asked: SweepSpec, k: int, certificate: nspca.Certificate, own: bool) -> None:
    name = about.stem
    mime = "application/octet-stream"
    st.download_button(
        "Certificate, NPZ",
        certificate.of_prepared(about.dataset.prepared).to_bytes,
        f"{name}-k{k}-certificate.npz",
        mime,
        icon=":material/download:",
        on_click="ignore",
    )
    if own and about.table is None and not _plain_source(asked):
        dataset = about.dataset
        st.download_button(
            "Data, NPZ",
            lambda: to_npz(dataset),
            f"{name}.npz",
            mime,
            icon=":material/download:",
            on_click="ignore",
            help="The numbers that the certificate is about, as they are after reading.",
        )


def _elsewhere(about: Chosen, asked: SweepSpec, k: int) -> None:
    name = about.stem
    data = asked.data.sample if _plain_source(asked) else f"{name}.npz"
    if about.table is not None:
        data = shlex.quote(asked.data.folder)
    st.caption("On any machine that has nspca, the downloaded file is checked by")
    st.code(f"python -m nspca verify {data} {name}-k{k}-certificate.npz", language="bash")
