"""Compare two sweeps of a workspace: a link to both curves in one figure, and their features at a common k.

The page Runs draws this below its list.
"""

from typing import Any

import streamlit as st

import nspca
from nspca.dashboard import open_data as data
from nspca.dashboard.app import state, wording
from nspca.dashboard.history.descriptions import DescribedRun
from nspca.dashboard.runs import lookup
from nspca.dashboard.views import component
from nspca.specs import SweepSpec

MOST = 40  # names of one list
PLACES = ("first", "second")  # names in the address


def show(sweeps: list[DescribedRun]) -> None:
    """Draw the choice of two sweeps, and their comparison; nothing if there are fewer than two."""
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
        query = second.query | {"before": first.run.id}
        label = "Both curves in one figure"
        st.page_link(
            "pages/sweep.py", label=label, icon=":material/area_chart:", query_params=state.opening(query)
        )
        _features(first, second)


def _spec(one: DescribedRun) -> SweepSpec:
    assert isinstance(one.spec, SweepSpec)  # only sweeps are offered
    return one.spec


def _choose(column: Any, by_id: dict[str, DescribedRun], name: str) -> DescribedRun | None:
    """Draw in a column the choice of a finished sweep, whose id goes into the value `name` of the address.

    Returns None until the visitor has chosen.
    """
    kept = state.get_one_of(name, by_id, None)
    title_of = lambda run_id: by_id[run_id].run.name or by_id[run_id].line  # noqa: E731
    chosen = column.selectbox(
        name.capitalize(),
        list(by_id),
        index=None,
        placeholder="Choose a sweep",
        format_func=title_of,
        **state.bind(name, kept),
    )
    return by_id.get(chosen)


def _features(first: DescribedRun, second: DescribedRun) -> None:
    """Draw the features that two sweeps share at a common k, and those of one only."""
    both = [k for k in _spec(first).ks if k in set(_spec(second).ks)]
    if not both:
        st.caption("No k is in both: the components cannot be held side by side.")
        return
    k = state.get_one_of("at", both, both[len(both) // 2])
    if len(both) > 1:
        k = st.select_slider("Features at k", both, **state.bind("at", k))
    before, after = _used(first, k), _used(second, k)
    shared = [name for name in before if name in after]
    lost, gained = _without(before, after), _without(after, before)
    st.markdown(
        f"At k = {k} both use {wording.things(len(shared), 'feature')}; the second loses {len(lost)} and "
        f"gains {len(gained)}."
    )
    for column, (title, names) in zip(
        st.columns(3), (("Shared", shared), ("Lost", lost), ("Gained", gained)), strict=True
    ):
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        column.markdown(
            f"**{title}**  \n{', '.join(wording.plain(name) for name in names[:MOST]) or 'none'}{more}"
        )


def _used(one: DescribedRun, k: int) -> list[str]:
    """Return the names of the features of a sweep's best component at k, largest weight first."""
    of = data.find(_spec(one).data, state.get("w"))
    if of.content != _spec(one).content:
        raise nspca.InvalidData(
            f"{one.name} was made from other data than those kept under the same name now: run it again"
        )
    sweep = lookup.opened(one.run.id, one.run.finished, nspca.Sweep.from_bytes)
    x = max(
        (result for (_, size), result in sweep.results.items() if size == k), key=lambda result: result.value
    ).components[:, 0]
    return component.used_names(of.dataset.feature_names, x)


def _without(names: list[str], others: list[str]) -> list[str]:
    return [name for name in names if name not in set(others)]
