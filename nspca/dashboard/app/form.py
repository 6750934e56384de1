"""Draw the inputs of forms from the declarations of settings, and choices between a few options in a row.

A form calls `draw` for every field of a spec that it offers, at the place where it wants the input. Label,
help, choices and limits come from the `Option` and the type of the field. Every input is bound to its name in
the address.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import streamlit as st

from nspca.dashboard.app import state
from nspca.validation.model import Model, text_of

T = TypeVar("T")


def draw(
    declares: type[Model],
    name: str,
    place: Any = st,
    then: Callable[[], None] | None = None,
    value: Any = None,
    **look: Any,
) -> None:
    """Draw the input of a field of a model, bound to the name of the field in the address.

    A boolean is a toggle, a choice between listed values a selectbox, a number a number input, a list of
    words a multiselect (its `options` are given), and anything else a text. `then` is called after a visitor
    has changed the value, and `value` is shown when the address has none. Further arguments of the widget
    replace those of the `Option`.
    """
    option, default = declares.option(name)
    how = {"label": option.label, "help": sentence(option.help), **look}
    how |= state.bind(option.query, value, then)
    choices = declares.choices(name)
    if isinstance(default, bool):
        place.toggle(**how)
    elif choices:
        words = option.words or {}
        how = {"options": choices, "format_func": lambda one: words.get(one, str(one).capitalize()), **how}
        place.selectbox(**how)
    elif "options" in how:
        place.multiselect(**how)
    elif declares.types(name) <= {"integer", "number"}:
        text = text_of(option, default)
        shown = text.shown or text.read
        low, high = (None if end is None else shown(text.write(end)) for end in declares.limits(name))
        how = {"min_value": low, "max_value": high, "step": 1.0 if text.shown else 1, **how}
        place.number_input(value="min" if default is not None else None, **how)  # empty for no number
    else:
        place.text_input(**how)


def sentence(words: str) -> str | None:
    """Return words of the command line as a sentence for a page; None for none."""
    return f"{words[0].upper()}{words[1:]}." if words else None


def choose_one(
    label: str,
    name: str,
    options: Iterable[T],
    default: T | None = None,
    *,
    place: Any = st,
    is_labelled: bool = False,
    then: Callable[[], None] | None = None,
    **look: Any,
) -> T:
    """Draw options side by side, of which one is always chosen, and return the chosen one.

    The label is read by screen readers, and seen on the page if `is_labelled`. `name` is a value of the
    address; when it names no option, the `default` is chosen, or the first. A mapping has words for options.
    """
    known = list(options)
    chosen = state.get_one_of(name, known, known[0] if default is None else default)
    words = options.__getitem__ if isinstance(options, Mapping) else str
    return place.segmented_control(
        label,
        known,
        required=True,
        label_visibility="visible" if is_labelled else "collapsed",
        **{"format_func": words, **look},
        **state.bind(name, chosen, then),
    )
