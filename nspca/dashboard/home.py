"""The home page: one sparse component of the handwritten digits, its value, and its proved share."""

from functools import partial
from importlib.resources import files

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard import share
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.history import page
from nspca.dashboard.open_data import Chosen, find
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal, slide
from nspca.dashboard.runs import first_answer
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component, statement
from nspca.dashboard.views.curve import AXES
from nspca.plots import thumbnail
from nspca.plots.sweeps import sweep_figure
from nspca.specs import DataSpec, SweepSpec

HEIGHT = (
    400  # pixels of both figures, so that they stand on the first screen with the sentence and the slider
)
MOST = 20  # pixels: beyond, a nonnegative component of the digits has no use for more


def opening() -> None:
    """Draw two sentences about the app, and for returning visitors a link to their last run."""
    share.title("The few features that matter, with proof")
    if not state.get("present"):
        st.markdown(
            "A feature is a column of a table: here, a pixel of handwritten digits. Sparse PCA finds the "
            "**few** features that together vary most, and proves how good they are. Their weights are "
            "nonnegative: features add up and never cancel."
        )
        st.page_link(
            "pages/data.py",
            label="Use your own table, texts or pictures",
            icon=":material/upload_file:",
            query_params={**state.link("pages/data.py"), "source": "upload"},
        )
        page.show_last()


def _sketch(picture: go.Figure, table: pd.DataFrame, k: int) -> None:
    """Draw the pixels of a figure and the curve of a table as plain images."""
    style = files("nspca.dashboard").joinpath("home.css").read_text("utf-8")
    pixels = wording.drawing(thumbnail.heatmaps(picture))
    curve = wording.drawing(thumbnail.curve(table["k"], table["value"], k))
    st.html(f'<style>{style}</style><div class="nspca-sketch" aria-hidden="true">{pixels}{curve}</div>')


def question(of: Chosen) -> SweepSpec:
    """Return the question that the page answers about the digits."""
    ks = (*range(1, MOST + 1), of.dataset.X.shape[1])
    return SweepSpec(data=of.spec, ks=ks, effort="thorough")


@st.cache_resource(show_spinner=False)
def digits() -> tuple[Chosen, nspca.Problem, nspca.Sweep]:
    """Return the digits, their problem and its sweep."""
    of = find(DataSpec(sample="digits"), None)
    problem, asked = nspca.Problem.from_data(of.dataset.X, k=1), question(of)
    stored = first_answer.find_stored("digits", of.content, asked.numbers_only())
    return of, problem, nspca.sweep(problem, asked.ks) if stored is None else stored.sweep


def explorer(solved: tuple[Chosen, nspca.Problem, nspca.Sweep]) -> None:
    """Draw a component with its sentence, the curve with its proved band, the slider for k, and the proof."""
    of, problem, sweep = solved
    data, asked = of.dataset, SweepSpec(data=of.spec, ks=tuple(range(1, MOST + 1)))
    tried = proofs.attempts(asked)
    sweep = proofs.gathered(sweep, of, asked, tried)
    k = max(1, min(state.get("digit_k"), MOST))
    answer = Answer(of, asked, problem, sweep, k, "auto", tried)
    result = answer.shown
    with frame.picture():
        table = answer.table
        ceiling = statement.ceiling_of(table, problem.n)
        slide.headline(answer, ceiling)
        if instead := wording.instead_of(state.get("digit_k"), k, MOST):
            st.caption(instead)
        picture, few = component.plot(data, result.components[:, 0]), table[table["k"] <= MOST]
        if not state.get("present"):
            _sketch(picture(), few, k)
        left, right = st.columns([2, 3], gap="medium")
        with left:
            figures.draw_plot(picture, "digits_image", HEIGHT, same=data.name)
        with right:
            drawn = partial(
                sweep_figure,
                few,
                unit=problem.leading_eigenvalue,
                unit_name=AXES["leading"],
                selected_k=k,
                has_slider=True,
            )
            figures.draw_plot(drawn, "digits_curve", HEIGHT, same="the digits")
            ks = range(1, MOST + 1)
            slide.show(answer, ks, ceiling, "digit_k", (1, MOST), "digits_curve", "digits_image", HEIGHT)
    (m, n), used = data.X.shape, np.count_nonzero(result.components[:, 0])
    st.caption(
        f"The coloured pixels are {used} of the {n} pixels of a small scan, over the mean of {m:,} "
        "handwritten digits. Where the curve is green nothing better exists: anybody can check the proof "
        "without trusting this program."
    )
    optimal.fold_proof(answer)


def ways_on() -> None:
    """Draw links to the pages to visit next."""
    with st.container(horizontal=True):
        frame.way_on("pages/data.py", "Choose a sample: faces, spectra, genes, words")
        frame.way_on("pages/sweep.py", "How many features are enough?")
        frame.ways_to_components()
