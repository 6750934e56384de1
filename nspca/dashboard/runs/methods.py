"""Inputs that several forms share: signs, standardising, effort, and the methods with their options."""

from collections.abc import Callable, Iterable
from dataclasses import Field, fields, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import form, state
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.open_data import Chosen
from nspca.errors import NSPCAError
from nspca.presentation.phrases import method_name
from nspca.solving import line_of
from nspca.specs import ProblemSpec
from nspca.specs.method_options import is_whole, read_option
from nspca.validation.address import write
from nspca.validation.options import made, option_texts

ALL = ("auto", *nspca.METHODS)
IN_PASSES = ("auto", "joint")  # methods that read a folder of shards only a few times
IN_MEMORY = "works on data in memory; choose auto or joint for all rows of a folder, or a sample of them"
ACROSS = 4  # widgets in a row
NAMES = {"rank": "rank (d)", "eps": "eps", "tol": "tolerance"}


def refusals(
    of: Chosen, nonneg: bool, center: bool, scale: bool, forced: tuple[int, ...] = ()
) -> dict[str, str | None]:
    """Return for every method why it cannot find a component of the data `of`; None if it can."""
    if of.table is not None:
        return {name: None if name in IN_PASSES else f"{name} {IN_MEMORY}" for name in ALL}
    try:
        problem = replace(open_data.problem(of, nonneg, center, scale), k=max(1, len(forced)), forced=forced)
    except NSPCAError:
        return dict.fromkeys(ALL)
    return {name: line_of(name).refusal(problem) for name in ALL}


def able(refusals: dict[str, str | None]) -> list[str]:
    """Return the methods without a refusal among those that `refusals` returned."""
    return [name for name, sentence in refusals.items() if sentence is None]


def summaries(names: list[str]) -> str:
    """Return a list of methods with their summaries, for the help text of a form."""
    return "\n".join(f"- **{name}**: {line_of(name).summary}" for name in names)


def how(name: str) -> str:
    """Return a phrase that says how a method finds several components."""
    return "at once" if line_of(name).joint else "one by one"


def label(name: str) -> str:
    """Return the label of a method in forms."""
    if name == "auto":
        return f"{method_name(name)} ({name})"
    return f"{name} (baseline)" if line_of(name).baseline else name


def baselines() -> list[str]:
    """Return the names of the methods that are baselines, which figures draw dotted."""
    return [name for name in ALL if line_of(name).baseline]


def draw_options(methods: Iterable[str]) -> None:
    """Draw an expander with the options of some methods; the address holds what a visitor changed."""
    with st.expander("Options of the methods", icon=":material/tune:", type="compact"):
        for method in methods:
            said, shown = option_texts(line_of(method).Options), fields(line_of(method).Options)
            if shown:
                st.markdown(f"**{method}**")
            for i in range(0, len(shown), ACROSS):
                for column, one in zip(st.columns(ACROSS), shown[i : i + ACROSS], strict=False):
                    with column:
                        _widget(method, one, said.get(one.name, ("", ""))[1])
        if state.get("opts"):
            st.button("All as they were", key="opts_reset", on_click=lambda: state.put(opts=None))


def changed_options(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the options in the address that differ from their defaults, by method; see `draw_options`."""
    changed: dict[str, dict[str, Any]] = {}
    for method in methods:
        shown = fields(line_of(method).Options)
        values = {one.name: _read(one, state.get("opts").get(f"{method}.{one.name}")) for one in shown}
        given = {one.name: values[one.name] for one in shown if values[one.name] != one.default}
        if given:
            made(line_of(method).Options, method, given)
            changed[method] = given
    return changed


def _widget(method: str, one: Field[Any], said: str) -> None:
    name, key = f"{method}.{one.name}", f"{state.WIDGET}opts_{method}_{one.name}"
    value = _read(one, state.get("opts").get(name))

    def take() -> None:
        new, kept = st.session_state[key], dict(state.get("opts"))
        kept.pop(name, None)
        if new != one.default and new is not None:
            kept[name] = write(new)
        state.put(opts=kept or None)

    bound: dict[str, Any] = {**state.showing(key, value), "on_change": take, "help": said or None}
    label = NAMES.get(one.name, one.name)
    if isinstance(one.default, bool):
        st.toggle(label, **bound)
        return
    if isinstance(one.default, str):
        st.selectbox(label, one.metadata["choices"], **bound)
        return
    if one.default is None:  # an empty field: the method finds a value by itself
        bound |= {"value": None, "placeholder": "by itself"}
    st.number_input(label, **({"step": 1} if is_whole(one) else {"format": "%g"}), **bound)


def _read(one: Field[Any], text: str | None) -> Any:
    """Return the value of an option from the text in the address; its default for an invalid text."""
    try:
        return one.default if text is None else read_option(one, text)
    except (ValueError, KeyError):
        return one.default


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
