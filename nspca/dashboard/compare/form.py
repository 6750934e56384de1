"""The question of the compare page: the spec in the address, and the form that changes it.

`ComparePage` calls `usual`, `question` and `inputs`, and shows runs of the kind `COMPARISON`.
"""

import re
from typing import Any

import streamlit as st

from nspca.dashboard.app import form, state, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import methods, options
from nspca.dashboard.runs.inputs import draw_effort, draw_scale, draw_signs, effort, is_centred, is_scaled
from nspca.dashboard.runs.lookup import Kind
from nspca.errors import InvalidOption, InvalidProblem
from nspca.specs import ComparisonSpec
from nspca.specs.comparison import DEFAULT as FIRST

QUICK = ("auto", "tpower", "threshold", "pca")
"""Methods of the usual question for more than `LARGE` features."""
SOME, LARGE = 100, 1000
"""Numbers of features above which the usual question has every second k only, or only the methods `QUICK`."""
ALL_UP_TO = 13  # maximum features for comparing every k
MOST_K = 160  # largest k of the usual question
MOST_KS = 60  # maximum values of k in one comparison
BASELINE = "baseline: the k largest weights of scikit-learn's component, scaled to length one"


COMPARISON = Kind(
    spec=ComparisonSpec,
    page="compare",
    key="compare",
    anew=("k",),
    empty="Nothing has run yet. Choose methods and values of k, then press Compare.",
    icon=":material/compare_arrows:",
    stranger="The run in this address is no comparison: choose methods and press Compare.",
    changed="This comparison was made from other data than those kept under the same name now: run it again.",
)


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
    ks = read_ks(_ks_text(of), of.dataset.X.shape[1])
    mine: dict[str, Any] = {"data": of.spec, "ks": ks, "methods": tuple(rivals), "effort": effort()}
    mine |= {"options": options.changed_options(rivals), "center": is_centred(of), "scale": is_scaled(of)}
    return ComparisonSpec(**state.asked(ComparisonSpec) | mine)


def inputs(of: Chosen) -> None:
    """Draw the inputs, each bound to the address."""
    first, second, third, last = st.columns([2.1, 2.2, 1.7, 1.8])
    first.text_input(
        "Values of k", help="Numbers and ranges: 5, 10, 20-25.", **state.bind("ks", _ks_text(of))
    )
    draw_signs(second)
    draw_effort(third)
    with last.container(height=76, border=False, vertical_alignment="center"):
        draw_scale(st, of)
    able, rivals = methods.able(_refusals(of)), _rivals(of)
    how: dict[str, Any] = {
        "options": able,
        "format_func": methods.label,
        "placeholder": "Choose at least one method",
    }
    about = f"{methods.summaries(able)}\n\n{BASELINE.capitalize()}."
    form.draw(ComparisonSpec, "methods", value=rivals, help=about, **how)
    _draw_refusals(_refusals(of))
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
    if sentence.startswith(f"{name} "):
        return f"**{name}** {wording.plain(sentence.removeprefix(name))}"
    return f"**{name}**: {wording.plain(sentence)}"


def default_ks(n: int) -> tuple[int, ...]:
    """Return the values of k of the usual question: all for few features, else 5, 10, 20, ..."""
    if n <= ALL_UP_TO:
        return tuple(range(1, n + 1))
    doubled = [5 * 2**i for i in range(6)]
    return tuple(k for k in doubled if k < n and k <= MOST_K)


def read_ks(text: str, n: int) -> tuple[int, ...]:
    """Return the values of k in a text such as ``"5, 10, 20"`` or ``"2-8"``, in increasing order.

    Raises
    ------
    InvalidProblem
        For other text, and for a k outside 1 to n, and for more than `MOST_KS` values.
    """
    found: set[int] = set()
    for part in filter(None, re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", text))):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if ends is None:
            raise InvalidProblem(
                f"values of k must be numbers or ranges such as 5, 10, 20-25, got {part[:20]}"
            )
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not 1 <= first <= last <= n:
            raise InvalidProblem(
                f"every k must be at least 1 and at most {n}, the number of features, got {part}"
            )
        if last - first >= MOST_KS:
            raise InvalidProblem(
                f"one comparison takes at most {MOST_KS} values of k, got {last - first + 1}: name fewer of "
                "them"
            )
        found |= set(range(first, last + 1))
    if not found:
        raise InvalidProblem(
            "a comparison needs at least one value of k, got none: write for example 5, 10, 20"
        )
    if len(found) > MOST_KS:
        raise InvalidProblem(
            f"one comparison takes at most {MOST_KS} values of k, got {len(found)}: name fewer of them"
        )
    return tuple(sorted(found))
