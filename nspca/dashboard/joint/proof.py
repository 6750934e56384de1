"""The proof of several components: watched while it closes, checked, and improved from here."""

import time

import streamlit as st

import nspca
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import closing, panel
from nspca.dashboard.proof.attempts import Attempt
from nspca.dashboard.proof.closing import Aim
from nspca.jobs import JobState
from nspca.problem import Problem
from nspca.specs import ComponentsSpec
from nspca.specs.rows import Closer, Several, unpack


def closers(now: JobState) -> list[Closer]:
    """How the bound of a run came down."""
    return [row for row in unpack(now.rows) if isinstance(row, Closer)]


def live(now: JobState, problem: Problem, run_id: str) -> bool:
    """The two bounds while the run works on its proof; whether it does."""
    rows = closers(now)
    if rows and now.started is not None:
        before = sum(row.seconds for row in unpack(now.rows) if isinstance(row, Several))
        closing.draw(rows, _unit(problem), run_id, time.time() - now.started - before, key="closing")
    return bool(rows)


def tightest(results: dict[str, nspca.Result], asked: ComponentsSpec, tried: list[Attempt]) -> dict:
    """The results, each with the least bound that is known by now: one serves all of them."""
    own = next(iter(results.values()), None)
    proof = own and proofs.best(own, tried, asked.sizes)
    if not proof:
        return results
    return {method: result.with_certificate(proof.certificate) for method, result in results.items()}


def show(outcome: Outcome, now: JobState) -> None:
    """What can be done about the proof of a finished run, and how it came about."""
    best = outcome.results[outcome.best]
    came = best.with_certificate(outcome.own)
    made = outcome.asked.effort if outcome.own and now.state == "done" else None
    of, asked, unit = outcome.of, outcome.asked, _unit(outcome.problem)
    aim = Aim(of, asked, asked.sizes, came, made, outcome.tried, unit)
    with st.container(horizontal=True):
        if best.certificate is not None:
            panel.verify_button(of, outcome.problem, best.certificate)
        closing.button(aim)
    if best.certificate is not None:
        panel.verified(best, best.certificate)
    closing.watched(aim)
    if not aim.mine:
        closing.closed(closers(now), unit, outcome.run_id)


def _unit(problem: Problem) -> tuple[float, str]:
    return problem.total_variance or 1.0, "the total variance"
