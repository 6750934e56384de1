"""Answer a k that is not on the curve, which then joins the curve.

`SweepPage` draws `field` beside its slider, and `answer` while the curve is being computed.
"""

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import state
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import lookup, progress, start
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.sweep import whatif
from nspca.dashboard.views import component, statement
from nspca.specs import SweepSpec

WANTED = "any_k"  # session key: the k that the visitor typed
HEIGHT = 300  # pixels of the picture of the first answer


def field(run: Watched, of: Chosen, asked: SweepSpec, table: pd.DataFrame) -> None:
    """Draw the input of any k; a k that is not on the curve starts a run of the curve with it.

    Parameters
    ----------
    run : the run of the curve
    of : data of the new run; the run of the curve may be a first answer about a sample of their rows
    asked : the question of the curve; for a first answer that of the form
    table : rows of the curve
    """
    n, least, key = of.shape[1], max(1, len(run.asked.forced)), f"any_k_{run.id}"
    st.number_input(
        "Another k",
        least,
        n,
        value=None,
        step=1,
        placeholder="another k",
        label_visibility="collapsed",
        width=160,
        key=key,
        on_change=lambda: st.session_state.update({WANTED: st.session_state[key]}),
    )
    wanted = st.session_state.get(WANTED)
    if wanted is None:
        return
    if wanted in set(table["k"]):
        state.put(k=wanted)
    elif least <= wanted <= n:
        begin(run, of, asked, wanted)
    del st.session_state[WANTED]
    st.rerun()


def begin(run: Watched, of: Chosen, asked: SweepSpec, k: int) -> None:
    """Start a run of the curve with k, which keeps what is known, and name it in the address.

    A curve that has nothing to keep yet takes longer. Then k alone is answered first.
    """
    curve = asked.but(ks=tuple(sorted({*asked.ks, k})))
    known = run.results if run.of.content == of.content else None
    if known is None:
        start.start(asked.but(ks=(k,)), **of.given)
    state.put(k=k)
    whatif.begin(of, curve, None if known is None else known.to_bytes())


def answer(run: Watched, problem: nspca.Problem, known: dict[str, str | None]) -> None:
    """Draw the answer for the typed k while the curve is being computed.

    Parameters
    ----------
    run : the run of the curve
    problem : nspca.Problem
    known : cache of the run for k alone by the id of the run of the curve, filled by this function
    """
    k = state.get("k")
    if k not in run.asked.ks or len(run.asked.ks) == 1:
        return
    if run.id not in known:
        found = lookup.that_asks(run.asked.but(ks=(k,)))
        known[run.id] = None if found is None else found.id
    first = known[run.id]
    if first is None:
        return
    now = engine().status(first)
    if now.state != "done":
        if not now.ended:
            st.caption(f"k = {k} is answered first. {progress.waiting(now) or ''}")
        return
    sweep = lookup.opened(now.id, now.finished, nspca.Sweep.from_bytes)
    result = next(sweep[method, size] for method, size in sweep)
    statement.show(statement.state_result(run.of.dataset, problem, result, k))
    x = np.asarray(result.components[:, 0])
    figures.draw_plot(component.plot(run.of.dataset, x), f"first_{run.id}", HEIGHT, same=run.of.content)
