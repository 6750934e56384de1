"""The question of the compare page: the spec in the address, and the form that changes it.

`ComparePage` calls `usual`, `question` and `inputs`.
"""

from contextlib import suppress
from typing import Any

import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.compare.kinds import BASELINE, LARGE, QUICK, SOME, default_ks, read_ks
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import methods, options
from nspca.dashboard.runs.inputs import draw_effort, draw_signs, effort, is_centred, is_scaled
from nspca.errors import InvalidOption
from nspca.specs import ComparisonSpec
from nspca.specs.comparison import DEFAULT as FIRST


def usual(of: Chosen) -> ComparisonSpec:
    """Return the usual question of the page, shown until the visitor changes the form.

    It takes the data as the visitor prepared them: centred, standardised.
    Tables of many features get fewer values of k, and very wide ones fewer methods.
    """
    n = of.dataset.X.shape[1]
    as_prepared: dict[str, Any] = {"center": is_centred(of), "scale": is_scaled(of)}
    able = methods.able(methods.refusals(of, True, **as_prepared))
    by = tuple(name for name in (QUICK if n > LARGE else FIRST) if name in able)
    ks = default_ks(n)[:: 2 if n > SOME else 1]
    return ComparisonSpec(data=of.spec, ks=ks, methods=by, **as_prepared)


def question(of: Chosen) -> ComparisonSpec:
    """Return the question in the address, about the data.

    Raises
    ------
    InvalidProblem
        When a k is out of range.
    InvalidOption
        When no method is chosen, or for an option that its method does not have.
    """
    rivals = _rivals(of)
    if not rivals:
        raise InvalidOption("a comparison needs at least one method, got none: choose one")
    return ComparisonSpec(
        data=of.spec,
        ks=read_ks(_ks_text(of), of.dataset.X.shape[1]),
        methods=tuple(rivals),
        effort=effort(),
        options=options.changed_options(rivals),
        nonneg=not state.get("signed"),
        center=is_centred(of),
        scale=is_scaled(of),
    )


def inputs(of: Chosen) -> None:
    """Draw the inputs, each bound to the address."""
    first, second, third, last = st.columns([2.1, 2.2, 1.7, 1.8])
    first.text_input(
        "Values of k", help="Numbers and ranges: 5, 10, 20-25.", **state.bind("ks", _ks_text(of))
    )
    draw_signs(second)
    draw_effort(third)
    with last.container(height=76, border=False, vertical_alignment="center"):
        st.toggle(
            "Standardise",
            disabled=of.dataset.is_covariance,
            help="Divide every feature by its standard deviation.",
            **state.bind("scale"),
        )
    able, rivals = methods.able(_refusals(of)), _rivals(of)
    st.multiselect(
        "Methods",
        able,
        format_func=methods.label,
        help=f"{methods.summaries(able)}\n\n{BASELINE.capitalize()}.",
        placeholder="Choose at least one method",
        **state.bind("rivals", rivals),
    )
    _draw_refusals(_refusals(of))
    with suppress(InvalidOption):  # the page shows this error, which `question` raises too
        options.form(rivals)


def _ks_text(of: Chosen) -> str:
    """Return the values of k as text: as typed by the visitor, or the default ones."""
    return state.get("ks") or ", ".join(map(str, default_ks(of.dataset.X.shape[1])))


def _refusals(of: Chosen) -> dict[str, str | None]:
    """Return for each method why it cannot solve the problem in the address; None if it can."""
    return methods.refusals(of, not state.get("signed"), is_centred(of), is_scaled(of))


def _rivals(of: Chosen) -> list[str]:
    """Return the chosen methods that can solve the problem, or the usual methods."""
    able = methods.able(_refusals(of))
    return [name for name in state.get("rivals") or FIRST if name in able]


def _draw_refusals(refusals: dict[str, str | None]) -> None:
    """List the methods that cannot solve the problem, folded, each with its reason."""
    cannot = [f"- {_named(name, sentence)}" for name, sentence in refusals.items() if sentence]
    if cannot:
        with st.expander(f"{wording.things(len(cannot), 'method')} cannot answer this question"):
            st.caption("\n".join(cannot))


def _named(name: str, sentence: str) -> str:
    """Return a reason as Markdown that begins with the name of its method in bold."""
    begins = sentence.startswith(f"{name} ")
    return (
        f"**{name}** {wording.plain(sentence.removeprefix(name))}"
        if begins
        else f"**{name}**: {wording.plain(sentence)}"
    )
