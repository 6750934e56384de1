"""Inputs that the forms of several pages share, and what the address says of them."""

from collections.abc import Callable
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from nspca.dashboard.app import form, state
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.open_data import Chosen
from nspca.specs import ProblemSpec

SIGNS = {False: "nonnegative", True: "of any sign"}  # words for the value `signed` of the address
EFFORTS = ("fast", "standard", "thorough")  # efforts for a proof of one component, as forms offer them
EFFORT_HELP = (
    "How hard to look for a tight upper bound: fast is seconds, standard tens of seconds, "
    "thorough minutes for each k."
)


def draw_signs(place: DeltaGenerator, then: Callable[[], None] | None = None) -> None:
    """Draw the choice of the permitted signs of weights."""
    choose_one("Weights", "signed", SIGNS, place=place, is_labelled=True, then=then)


def draw_scale(place: Any, of: Chosen, then: Callable[[], None] | None = None, why: str = "") -> None:
    """Draw the switch for standardising, with what the measures of the data say about it."""
    said = f"Divide every feature by its standard deviation. {why}".strip()
    form.draw(ProblemSpec, "scale", place, then, disabled=of.dataset.is_covariance, help=said)


def effort() -> str:
    """Return the effort in the address; "fast" if it names none."""
    return state.get_one_of("effort", EFFORTS, "fast")


def is_scaled(of: Chosen) -> bool:
    """Tell whether the address has the data standardised; a covariance never is."""
    return state.get("scale") and not of.dataset.is_covariance
