"""A comparison found by its address, with its data and its problem; what the parts of the page share."""

import json
from dataclasses import dataclass

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard import chosen, curve, state, words
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.compare_form import FUNCTION
from nspca.dashboard.compare_request import CompareRequest, baselines
from nspca.dashboard.component import labelled
from nspca.data.export import frame_to_csv
from nspca.errors import JobError
from nspca.jobs import JobState, engine
from nspca.plots.compare import styles


@dataclass(frozen=True)
class Compared:
    """A run, its data and its problem, as the parts of the page share them."""

    id: str
    of: Chosen
    asked: CompareRequest
    now: JobState
    problem: nspca.Problem

    @property
    def unit(self) -> float:
        return (self.problem.leading_eigenvalue if curve.axis() == "leading" else self.problem.total_variance) or 1.0

    @property
    def style(self) -> dict:
        return styles(self.asked.methods, baselines())


def find() -> Compared | None:
    run_id = state.get("compare")
    if run_id is None:
        st.info("Nothing has run yet. Choose methods and values of k, then press Compare.", icon=":material/compare_arrows:")
        return None
    run = engine().store.open_run(state.get("w") or "", run_id)
    if run.function != FUNCTION:
        raise JobError("The run in this address is no comparison: choose methods and press Compare.")
    asked = CompareRequest.from_dict(json.loads(run.parameters)["request"])
    of = chosen.find(asked.data, state.get("w"))
    if of.content != asked.content:
        raise JobError("This comparison was made from other data than those kept under the same name now: run it again.")
    problem = chosen.problem(of, asked.nonneg, asked.center, asked.scale)
    with st.spinner("Computing the leading eigenvalue, the 100 % of the curve …"):
        problem.leading_eigenvalue  # noqa: B018  kept by the problem; a large table needs some seconds
    st.caption(f"Shown: {words.plain(of.dataset.name)}, {words.plain(asked.describe())}")
    return Compared(run_id, of, asked, engine().status(run_id), problem)


def download(label: str, table: pd.DataFrame, of: Chosen, what: str) -> None:
    """A table as a CSV file that says what it is about."""
    make = lambda: frame_to_csv(labelled(table, of.dataset))  # noqa: E731
    name = f"{of.stem}-{what}.csv"
    st.download_button(label, make, name, "text/csv", icon=":material/download:", on_click="ignore", key=f"download_{what}")


def listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
