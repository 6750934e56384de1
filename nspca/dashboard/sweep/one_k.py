"""Answer a k that is not on the curve: first that k alone, and then the curve around it.

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
from nspca.dashboard.runs.sweeps import usual
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.sweep import whatif
from nspca.dashboard.views import component, statement
from nspca.specs import SweepSpec

WANTED = "any_k"  # session key: the k that the visitor typed
SOON = 20.0
"""Maximum estimated seconds for computing the whole curve again. Otherwise only a part is computed."""
AROUND = 3
"""The part around k goes from k / AROUND to AROUND k, which shows whether the curve still rises."""
HELP = "A k that is not on the curve is answered first, alone. Then the curve around it fills in."
HEIGHT = 300  # pixels of the picture of the first answer


def field(run: Watched, of: Chosen, table: pd.DataFrame) -> None:
    """Draw the input of any k; a k that is not on the curve starts two runs.

    Parameters
    ----------
    run : the run of the curve
    of : data of the new runs; the run of the curve may be a first answer about a sample of their rows
    table : rows of the curve
    """
    n, least, key = of.shape[1], max(1, len(run.asked.forced)), f"any_k_{run.id}"
    st.number_input(
        "or type another k",
        least,
        n,
        value=None,
        step=1,
        placeholder="k",
        help=HELP,
        key=key,
        on_change=lambda: st.session_state.update({WANTED: st.session_state[key]}),
    )
    wanted = st.session_state.get(WANTED)
    if wanted is None:
        return
    if wanted in set(table["k"]):
        state.put(k=wanted)
    elif least <= wanted <= n:
        begin(of, run.asked, wanted)
    del st.session_state[WANTED]
    st.rerun()


def begin(of: Chosen, asked: SweepSpec, k: int) -> None:
    """Start a run for k alone and then one for the curve, and name the latter in the address."""
    curve = asked.but(ks=around(asked.ks, k, of.shape[1]))
    every = asked.but(ks=tuple(sorted({*asked.ks, *curve.ks})))
    if whatif.seconds(of, every) <= SOON:
        curve = every
    start.start(asked.but(ks=(k,)), **of.given)
    state.put(k=k)
    whatif.begin(of, curve)


def around(ks: tuple[int, ...], k: int, n: int) -> tuple[int, ...]:
    """Return k with the values of a curve, and the default ones, that are near k."""
    low, high = max(1, k // AROUND), min(n, AROUND * k)
    near = {one for one in (*ks, *usual(low, high)) if low <= one <= high}
    return tuple(sorted(near | {k}))


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
