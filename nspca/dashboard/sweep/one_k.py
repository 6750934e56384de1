"""Answer a k that is not on the curve: it joins the curve of everybody who looks at these data."""

import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import defaults, progress, start
from nspca.dashboard.sweep import whatif
from nspca.specs import SweepSpec


def show(of: Chosen, asked: SweepSpec, k: int) -> None:
    """Draw the progress of the answer at k; the page is drawn again with it.

    A folder or a large table is read once for it, so its run begins by a button.
    """
    alone = SweepSpec(**proofs.everybodys(asked), ks=(k,), methods=asked.methods, effort=asked.effort)
    if not defaults.small_enough(of):
        curve = asked.but(ks=tuple(sorted({*asked.ks, k})))
        start.button(f"Compute k = {k:,}", lambda: whatif.begin(of, curve), "one_k", type="secondary")
        return
    now = defaults.look(alone, of.content, lambda: of.given, automatic=True)
    if now.state == "failed":
        st.caption(wording.plain(now.error))
        return
    progress.live(now.id, lambda now: f"k = {k:,} is on its way", progress.stage_share, lambda now: None)


def is_open(table_ks: set[int], n: int, forced: int) -> int | None:
    """Return the k of the address if it is possible and not among those of the curve; None otherwise."""
    k = state.get("k")
    return k if k is not None and k not in table_ks and max(1, forced) <= k <= n else None
