"""Draw the choice between a few options in a row, bound to a value of the address."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import streamlit as st

from nspca.dashboard.app import state

T = TypeVar("T")


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

    Parameters
    ----------
    label : read by screen readers, and seen on the page if `is_labelled`
    name : the value of the address, one of `state.VALUES`
    options : the options; a mapping has their words
    default : chosen when the address names no option; by default the first
    place : the part of the page that gets the options
    then : called after the visitor has chosen another one
    **look
        As for `st.segmented_control`.
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
