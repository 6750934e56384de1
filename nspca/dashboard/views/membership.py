"""Show on a page which features every good answer needs, and what leaving each feature out costs.

A visitor chooses the share of the optimum from which an answer counts as good. The membership is then
computed from the certificate of the result, and cached.
"""

import hashlib

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import defaults, lookup, progress
from nspca.dashboard.runs.tasks import engine
from nspca.data import Dataset
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.presentation.numerals import OPTIMAL_GAP, format_guarantee, proved_ratio
from nspca.problem import Problem
from nspca.result import Result
from nspca.selection.membership import Membership, Place
from nspca.specs import DataSpec, MembershipSpec

PATIENCE = 1.0  # seconds that the page waits for a worker
WITHIN = (0, 900, 950, 980, 990, 995, 998, 999)
"""Values of the slider in thousandths of the optimum. At 0 the membership is off."""
LABEL = "Which features does every good answer need? Good is at least … of the best possible"
HELP = (
    "A solid feature is proved to be in every component that reaches this share of the best possible. A "
    "hatched feature is not. The tighter the proof, the more is decided."
)


def ask() -> None:
    """Draw the slider for the share of the best possible from which an answer counts as good."""
    chosen = state.get("within")
    with st.container(width=470):
        st.select_slider(
            LABEL,
            WITHIN,
            format_func=lambda within: f"{within / 10:g} %" if within else "off",
            help=HELP,
            **state.bind("within", chosen if chosen in WITHIN else 0),
        )


def find(of: Chosen, problem: Problem, result: Result) -> Membership | None:
    """Return the membership of the features, computed from a result and its certificate."""
    within, certificate = state.get("within"), result.certificate
    if within not in WITHIN[1:] or certificate is None:
        return None
    name = hash_claims(certificate, within, result.components.tobytes())
    try:
        spec = MembershipSpec(
            data=DataSpec(covariance=of.dataset.is_covariance, repair=of.reference.repair),
            k=problem.size,
            nonneg=problem.nonneg,
            center=problem.covariance.center,
            scale=problem.covariance.scale,
            forced=problem.forced,
            within=within,
        )
        given = {"component": result.components[:, 0], "certificate": certificate.to_bytes()}
        return _await_membership(defaults.ask(spec, name, lambda: {**of.given, **given}))
    except NSPCAError as error:
        st.warning(wording.plain(error))
        return None


def hash_claims(certificate: nspca.Certificate, *more: object) -> str:
    """Return a hash of what a certificate claims, and of `more`."""
    names = ("kind", "upper", "digest", "k", "forced", "nonneg", "center", "scale", "nbytes")
    claims = [getattr(certificate, name) for name in names]
    return hashlib.sha256(repr([*claims, *more]).encode()).hexdigest()


def _await_membership(now: JobState) -> Membership | None:
    """Return the membership that a worker computed, after a wait of at most `PATIENCE`."""
    now = progress.wait_shortly(now.id, PATIENCE)
    if now.state == "done":
        return lookup.read_result(now.id, now.finished, Membership.from_bytes)
    if now.ended:
        st.warning(
            wording.plain(now.error)
            or "It could not be computed which features are needed. Move the slider to try again."
        )
    else:
        said = "Every feature is looked at, which takes some seconds."
        progress.redraw_once(lambda: engine().status(now.id).ended, lambda: st.caption(said))
    return None


def sure(known: Membership | None) -> np.ndarray | None:
    """Return an (n,) boolean array: whether every good answer uses the feature. None without a membership."""
    return None if known is None else np.array([place is Place.EVERY for place in known.places])


def sentence(noun: str, known: Membership) -> str:
    """Return a text that counts the features in every good answer, exchangeable ones, and those in none."""
    places = np.array(known.places)
    own, others = places[known.used], places[~known.used]
    every, either = (int(np.sum(own == place)) for place in (Place.EVERY, Place.EITHER))
    are = "is" if every == 1 else "are"
    line = (
        f"**Solid**: {every} of {wording.things(own.size, noun)} {are} in every answer that reaches "
        f"{100 * known.share:g} % of the best possible, proved."
    )
    rest = own.size - every
    if rest:
        who = "all of them" if not every else "the other one" if rest == 1 else f"the other {rest}"
        exchangeable = "proved to be exchangeable"
        what = "undecided" if not either else exchangeable
        if 0 < either < rest:
            what = f"undecided, except {either} {exchangeable}"
        line += f" **Hatched**: {who}, {what}."
    none = int(np.sum(others == Place.NONE))
    if none:
        line += f" Of the {wording.things(others.size, noun)} left out, {none:,} "
        line += f"{'is' if none == 1 else 'are'} in no such answer, proved."
    if not every and not none:
        ratio = proved_ratio(known.value, known.upper)
        if 1 - ratio > OPTIMAL_GAP:
            line += f" A proof of {format_guarantee(ratio)} decides no more than that: a closer one may."
        line += " A share nearer to 100 % may decide more."
    return line


def columns(dataset: Dataset, features: np.ndarray, known: Membership) -> pd.DataFrame:
    """Return a table with one row for each of the given features."""
    names = [dataset.feature_names[j] if j >= 0 else "" for j in known.partner[features]]
    costs = known.cost_without[features]
    return pd.DataFrame(
        {
            "place": [known.places[j].value for j in features],
            "costs_at_least": costs[:, 0],
            "costs_at_most": costs[:, 1],
            "instead": names,
        }
    )


def cost_words(least: float, most: float) -> str:
    """Return the cost of leaving a feature out as text, such as ``1.1 % to 2.8 %``.

    `least` and `most` are its bounds, as shares of the best value: the lower end is rounded down, the upper
    end up.
    """
    low, high = wording.shares(least, most)
    low, high = (f"{float(text.removesuffix(' %')):g} %" for text in (low, high))
    return high if low == high else f"{low} to {high}"
