"""The sections below the answer of the page Components.

`JointPage.more` calls `show`. Only one section is drawn at a time, so that the page stays short.
"""

import streamlit as st

from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.joint import how_many, methods, proof, samples
from nspca.dashboard.joint.outcome import SECTION, Outcome, Section, View
from nspca.dashboard.joint.subject import Subject


def show(outcome: Outcome, view: View) -> None:
    """Draw the selector of sections, and the chosen section."""
    every = _sections(view, outcome.of.dataset.is_covariance)
    chosen = choose_one("More about this", "look", {one.key: one.label(outcome.about) for one in every})
    with st.container(border=True, key=SECTION):
        next(section for section in every if section.key == chosen).draw(outcome)


def _sections(view: View, is_covariance: bool) -> list[Section]:
    """Return the sections of a page; a covariance has no samples, and no sections about them."""
    every = [
        view.look,
        Section("samples", lambda about: f"{_samples(about).capitalize()} on a map", samples.show),
        Section("many", lambda about: f"How many {about.many}?", how_many.show),
        Section("again", lambda about: f"Other {_samples(about)}", view.again),
        Section("methods", lambda about: "All methods", lambda outcome: methods.show(outcome, view)),
        Section("proof", lambda about: "The proof", proof.show),
    ]
    return [one for one in every if not (is_covariance and one.key in ("samples", "again"))]


def _samples(about: Subject) -> str:
    """Return the plural noun for the samples of the page: images, documents or samples."""
    return {"image": "images", "words": "documents"}.get(about.kind, "samples")
