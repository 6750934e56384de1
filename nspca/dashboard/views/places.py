"""In or out: which features of a component are proved to be in every good answer, and what each costs.

Asked for by choosing what is good; computed then from the certificate, and kept.
"""

import hashlib

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.shell import state, words
from nspca.data import Dataset
from nspca.places import Membership, Place
from nspca.plots import percent_down
from nspca.problem import Problem
from nspca.result import Result

WITHIN = (0, 900, 950, 980, 990, 995, 998, 999)
"""What can be chosen, in thousandths of the optimum; 0: nothing is marked."""
LABEL = "Which features must be in, within … of the best?"
HELP = (
    "Solid: proved to be in every component within this share of the best possible one. Hatched: not proved. "
    "It follows from the certificate alone: the tighter the proof, the more is decided."
)


def ask() -> None:
    """What counts as good."""
    chosen = state.get("within")
    with st.container(width=470):
        st.select_slider(
            LABEL,
            WITHIN,
            format_func=share_words,
            help=HELP,
            **state.bind("within", chosen if chosen in WITHIN else 0),
        )


def share_words(within: int) -> str:
    """``99.5 %``, and ``off``."""
    return f"{within / 10:g} %" if within else "off"


def of(problem: Problem, result: Result) -> Membership | None:
    """What is known of the features of a result with its best proof; None where nobody asked, or nothing is
    proved.
    """
    within, certificate = state.get("within"), result.certificate
    if within not in WITHIN[1:] or certificate is None:
        return None
    claims = (certificate.kind, certificate.upper, certificate.digest, certificate.k, certificate.forced)
    claims += (certificate.nonneg, certificate.center, certificate.scale, within)
    name = hashlib.sha256(repr(claims).encode() + result.components.tobytes()).hexdigest()
    with st.spinner("Looking at every feature …"):
        return _computed(name, problem, result, within / 1000)


@st.cache_resource(max_entries=32, show_spinner=False)
def _computed(name: str, _problem: Problem, _result: Result, share: float) -> Membership:
    return nspca.membership(_problem, _result, share=share)


def sure(found: Membership | None) -> np.ndarray | None:
    """Features in every good answer."""
    return None if found is None else np.array([place is Place.EVERY for place in found.places])


def legend(noun: str, found: Membership | None) -> None:
    """What solid and hatched mean here, in words."""
    if found is not None:
        st.markdown(sentence(noun, found))


def sentence(noun: str, found: Membership) -> str:
    """How many are in every good answer, how many can be exchanged, how many of the others are in none."""
    places = np.array(found.places)
    own, others = places[found.used], places[~found.used]
    within = f"within {100 * found.share:g} % of the best possible"
    every, either = (int(np.sum(own == place)) for place in (Place.EVERY, Place.EITHER))
    line = f"**Solid**: {every} of {words.things(own.size, noun)} proved to be in every answer {within}."
    rest = own.size - every
    if rest:
        line += f" **Hatched**: the other {rest}, " if every else " **Hatched**: all, "
        line += "undecided." if not either else "proved to be exchangeable." if either == rest else ""
    if 0 < either < rest:
        line += f"{either} of them proved to be exchangeable."
    none = int(np.sum(others == Place.NONE))
    if none:
        line += f" Of the {words.things(others.size, noun)} left out, {none:,} are proved to be in none."
    if not every and not none:
        ratio = found.value / found.upper if found.upper > 0 else 1.0
        line += (
            f" A proof of {percent_down(ratio)} says no more: prove more, or count only answers nearer to "
            "the best possible."
        )
    return line


def columns(dataset: Dataset, features: np.ndarray, found: Membership) -> pd.DataFrame:
    """For these features what is proved, what the answer loses without each at least and at most, and what
    can stand in for it.
    """
    names = [dataset.feature_names[j] if j >= 0 else "" for j in found.partner[features]]
    costs = found.cost_without[features]
    return pd.DataFrame(
        {
            "place": [found.places[j].value for j in features],
            "costs_at_least": costs[:, 0],
            "costs_at_most": costs[:, 1],
            "instead": names,
        }
    )


def cost_words(least: float, most: float) -> str:
    """``1.1 % to 2.8 %``: rounded down and up."""
    low, high = np.floor(least * 1e4) / 100, np.ceil(most * 1e4) / 100
    return f"{low:g} % to {high:g} %" if low < high else f"{high:g} %"
