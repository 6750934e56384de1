"""The first answer of a page: the answer to its usual question, shown before a visitor asks.

Answers about the samples ship with the project. For other data, a worker computes the answer at first use.
`answer_page` calls `unasked` and `announce`.
"""

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import times, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import defaults, shipped_answers
from nspca.dashboard.runs.lookup import Watched
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.specs import ProblemSpec

LARGEST = defaults.LARGEST
"""Maximum entries of a table with a first answer."""


def unasked(of: Chosen, asked: ProblemSpec) -> Watched | None:
    """Return the default run that answers a question; start it where no stored answer exists.

    The run may be stored, finished or running. Returns None when the data are too large or give no valid
    problem, and when the run failed.
    """
    stored = shipped_answers.find(of.reference.sample, of.content, asked.numbers_only())
    if stored is not None:
        began = stored.computed - stored.seconds
        now = JobState(
            f"stored-{of.content[:16]}", "done", created=began, started=began, finished=stored.computed
        )
        return Watched(now.id, of, asked, now, own=False, stored=stored.sweep)
    if not defaults.small_enough(of, LARGEST):
        return None
    try:
        open_data.problem_of(of, asked)
        now = defaults.answer(of, asked, automatic=True)
    except NSPCAError:
        return None
    return None if now.ended and now.state != "done" else Watched(now.id, of, asked, now, own=False)


def announce(run: Watched, what: str, press: str) -> None:
    """Draw the caption of a first answer: its question, its time, and how to ask another question.

    Parameters
    ----------
    what : the question in words
    press : label of the button that starts a run; empty where the form asks this very question
    """
    now, onward = run.now, "Open **change** below to ask something else."
    if press:
        onward = f"Press **{wording.plain(press)}** to run your own."
    if now.state == "done" and now.finished is not None:
        took = times.how_long(max(0.0, now.finished - (now.started or now.finished)))
        made = times.day(now.finished, times.zone(st.context.timezone))
        st.caption(f"**Stored answer** for {what}: computed on {made}, took {took}. {onward}")
    else:
        st.caption(f"**A first answer is on its way**, for {what}. {onward}")
