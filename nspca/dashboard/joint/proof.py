"""The section about the proof of several components: its check, and how its gap closed.

The sections call `show`. `JointPage` calls `tightest`.
"""

import time
from typing import Any

import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import closing, panel
from nspca.dashboard.proof.attempts import Attempt
from nspca.dashboard.proof.closing import closers as closers
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState
from nspca.presentation.numerals import format_bound, format_value
from nspca.problem import Problem
from nspca.specs import ComponentsSpec
from nspca.specs.rows import Several, unpack


def live(now: JobState, problem: Problem, run_id: str) -> None:
    """Draw value and bound while a run works on its proof."""
    rows = closers(now)
    if rows and now.started is not None:
        before = sum(row.seconds for row in unpack(now.rows) if isinstance(row, Several))
        closing.draw(rows, _unit(problem), run_id, time.time() - now.started - before, key="closing")


def tightest(results: dict[str, nspca.Result], asked: ComponentsSpec, tried: list[Attempt]) -> dict[str, Any]:
    """Return the results by method, each with the certificate of the smallest known bound.

    `tried` has the searches for better components, which may have proved a smaller bound than the run.
    """
    own = next(iter(results.values()), None)
    proof = own and proofs.best(own, tried, asked.sizes)
    if not proof:
        return results
    return {method: result.with_certificate(proof.certificate) for method, result in results.items()}


def show(outcome: Outcome) -> None:
    """Draw the proof of a run, the button to check it, and how its gap closed or closes now."""
    best, now = outcome.results[outcome.best], outcome.now
    assert now is not None  # a section is drawn for a run
    st.markdown(sentence(outcome))
    if not now.ended:
        progress.repeat(lambda: live(engine().status(outcome.run_id), outcome.problem, outcome.run_id))
        return
    if best.certificate is not None:
        panel.verify_button(outcome.of, outcome.problem, best.certificate)
        panel.verified(best, best.certificate)
    last = proofs.last_closed(outcome.tried, outcome.asked.sizes)
    state, name = (now, outcome.run_id) if last is None else (last.now, last.id)
    closing.closed(closers(state), _unit(outcome.problem), name)


def sentence(outcome: Outcome) -> str:
    """Return a sentence about the proved share of the best components."""
    best, one = outcome.results[outcome.best], outcome.about.one
    if best.certificate is None:
        return f"Nothing is proved about these {one}s yet."
    said = wording.proof(best.ratio)
    limit = format_bound(best.certificate.upper)
    return (
        f"{said[0].upper()}{said[1:]}. The {one}s explain a variance of {format_value(best.value)}, and no "
        f"other choice explains more than {limit}. Anyone who has the data can check the certificate: "
        "`python -m nspca verify DATA certificate.npz`."
    )


def _unit(problem: Problem) -> tuple[float, str]:
    return problem.total_variance or 1.0, "the total variance"
