"""The proof of several components: its section, and the search for better components."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.joint import headline
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal, panel
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.answer import Answer, display_order, in_order
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState
from nspca.problem import Problem
from nspca.specs.optimum import Standing
from nspca.specs.rows import Several, unpack

KEEP = 1e-3  # preference for components that keep their numbers, smaller than one feature that they share


def show(answer: Answer, fates: Callable[[Answer, nspca.Result, Standing], None]) -> None:
    """Draw what is proved, which features a search has decided, the check, and how the gap closed."""

    def draw(result: nspca.Result, standing: Standing) -> None:
        fates(answer, in_order(result), numbered(standing, result, answer.k))
        if answer.asked.r > 1 and 0 < np.mean(standing.possible & ~standing.certain) < 1:
            st.caption(f"The {answer.noun}s of a better answer can be numbered so that all of this holds.")

    best, now = answer.shown, answer.now
    assert now is not None  # a section is drawn for a run
    st.markdown(" ".join(headline.sentences(answer)))
    if not now.ended:
        progress.repeat(lambda: live(engine().status(answer.id), answer.problem, answer.id))
        return
    if answer.working is None:
        optimal.fates(answer, draw)
    else:
        working = answer.working.id
        progress.repeat(lambda: optimal.fates(answer, draw, engine().status(working)))
    if best.certificate is not None:
        panel.verify_button(answer.of, answer.problem, best.certificate)
        panel.verified(best, best.certificate, _unit(answer.problem))
        if answer.working is not None and proofs.checked(best.certificate) is not None:
            st.caption("Checked is the proof of before the search, whose own can be checked when it ends.")
    last = proofs.last_closed(answer.tried, answer.k)
    state, name = (now, answer.id) if last is None else (last.now, last.id)
    panel.gap_closed(panel.closers(state), _unit(answer.problem), name)


def live(now: JobState, problem: Problem, run_id: str) -> None:
    """Draw value and bound while a run works on its proof."""
    rows = panel.closers(now)
    if rows and now.started is not None:
        before = sum(row.seconds for row in unpack(now.rows) if isinstance(row, Several))
        panel.draw_gap(rows, _unit(problem), run_id, time.time() - now.started - before, key="closing")


def _unit(problem: Problem) -> tuple[float, str]:
    return problem.total_variance or 1.0, "the total variance"


def numbered(standing: Standing, result: nspca.Result, sizes: Sequence[int]) -> Standing:
    """Return a standing whose components have the numbers that the page gives to the most similar ones found.

    A search numbers its components as it goes. Only components of one size can change places.
    """
    X = result.components
    used, size = (X != 0).astype(float), np.asarray(sizes)
    alike = used.T @ (2.0 * standing.certain + standing.possible) + KEEP * np.eye(len(size))
    alike[size[:, None] != size] = -2.0 * X.size - 1
    place = linear_sum_assignment(-alike)[1][display_order(result)]
    return replace(standing, certain=standing.certain[:, place], possible=standing.possible[:, place])
