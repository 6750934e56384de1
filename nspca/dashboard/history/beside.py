"""Compare two sweeps of a workspace: a link to the page Sweep, which draws both curves in one figure.

There the features of both stand side by side at each k. The page Runs draws this below its list.
"""

from typing import Any

import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.history.descriptions import DescribedRun
from nspca.specs import SweepSpec

PLACES = ("first", "second")  # names in the address


def show(runs: list[DescribedRun]) -> None:
    """Draw the choice of two finished sweeps, and the link to both; nothing if there are fewer than two."""
    sweeps = [one for one in runs if isinstance(one.spec, SweepSpec) and one.run.state == "done"]
    if len(sweeps) < 2:
        return
    by_id = {one.run.id: one for one in sweeps}
    with st.expander(
        "Compare two sweeps",
        icon=":material/compare_arrows:",
        expanded=any(state.get(name) in by_id for name in PLACES),
    ):
        first, second = (
            _choose(column, by_id, name) for column, name in zip(st.columns(2), PLACES, strict=True)
        )
        if first is None or second is None:
            return
        if first.run.id == second.run.id:
            st.caption("This is the same run twice: choose another one.")
            return
        st.page_link(
            "pages/sweep.py",
            label="Both curves in one figure, and their features side by side",
            icon=":material/area_chart:",
            query_params=state.opening(second.query | {"before": first.run.id}),
        )


def _choose(column: Any, by_id: dict[str, DescribedRun], name: str) -> DescribedRun | None:
    chosen = column.selectbox(
        name.capitalize(),
        list(by_id),
        index=None,
        placeholder="Choose a sweep",
        format_func=lambda run_id: by_id[run_id].run.name or by_id[run_id].line,
        **state.bind(name, state.get_one_of(name, by_id, None)),
    )
    return by_id.get(chosen)
