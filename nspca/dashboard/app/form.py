"""Draw the inputs of forms from the declarations of settings, each bound to its name in the address.

A form calls `draw` for every field of a spec that it offers, at the place where it wants the input. Label,
help, choices and limits come from the `Option` and the type of the field.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from nspca.dashboard.app import state
from nspca.validation.model import Model, text_of


def draw(
    declares: type[Model],
    name: str,
    place: Any = st,
    then: Callable[[], None] | None = None,
    value: Any = None,
    **look: Any,
) -> None:
    """Draw the input of a field, bound to the name of the field in the address.

    A boolean is a toggle, a choice between listed values a selectbox, a number a number input, a list of
    words a multiselect (its `options` are given), and anything else a text.

    Parameters
    ----------
    declares : type
        Subclass of `Model` with the field.
    name : str
        Name of the field.
    place : the part of the page that gets the input
    then : called after a visitor has changed the value
    value : shown when the address has none, in place of the default
    **look
        Further arguments of the widget, such as `label`, `help` or `disabled`, which replace those of the
        `Option`.
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
    elif isinstance(default, int | float):
        text = text_of(option, default)
        shown = text.shown or text.read
        low, high = (None if end is None else shown(text.write(end)) for end in declares.limits(name))
        place.number_input(**{"min_value": low, "max_value": high, "step": 1.0 if text.shown else 1, **how})
    else:
        place.text_input(**how)


def sentence(words: str) -> str | None:
    """Return words of the command line as a sentence for a page; None for none."""
    return f"{words[0].upper()}{words[1:]}." if words else None
