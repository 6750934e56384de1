"""Ask the question of the page Components again without some features or samples, or take that back."""

from typing import Any

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.app.wording import Nouns, nouns_of
from nspca.dashboard.joint import form
from nspca.dashboard.runs import start
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.lookup import Kind
from nspca.errors import InvalidProblem, NSPCAError
from nspca.presentation.phrases import short
from nspca.specs import ComponentsSpec
from nspca.specs.data import CHANGES

WANTED, BEFORE, SEEN = "joint_wanted", "joint_before", "joint_seen"
"""Session keys: changed values of the address that the page has yet to act on, with the answer on the page;
the data of which nothing was left out, with their run; a run that leaves something out, with the answer that
stays on the page until the run has something to show."""
LEFT_OUT = {"out": "without", "only": "only", "less": "samples_without", "these": "samples_only"}
"""Values of the address that leave features or samples out, with their fields of `DataSpec`."""
NAMED = 5  # maximum features that are named after they were left out


def kind(nouns: Nouns) -> Kind:
    """Return the kind of the runs of the page."""
    return Kind(
        spec=ComponentsSpec,
        page="components",
        key="components",
        anew=("component", "named"),
        empty=f"Nothing has run yet. Choose how many {nouns.many} of how many {nouns.feature}s, and "
        "press Find.",
        icon=":material/play_arrow:",
        stranger=f"The run in this address is not about {nouns.many}: start one here.",
    )


def without_feature(answer: Answer, feature: int) -> None:
    """Ask the question again without a feature, given by its number in the shown data."""
    where, those = answer.of.reference, open_data.members(answer.of)[feature]
    if where.only:
        _want(answer, only=[number for number in where.only if number not in those])
    else:
        _want(answer, out=sorted({*where.without, *those}))


def with_samples(answer: Answer, rows: list[int], is_left_out: bool) -> None:
    """Ask the question again without some of the shown samples, or with no others."""
    where, m = answer.of.reference, answer.of.dataset.X.shape[0]
    there = sorted(set(where.samples_only))
    if not there:
        gone = set(where.samples_without)
        there = [i for i in range(m + len(gone)) if i not in gone]
    picked = [there[i] for i in rows]
    if not is_left_out:
        _want(answer, these=picked, less=None)
    elif where.samples_only:
        _want(answer, these=[i for i in there if i not in set(picked)])
    else:
        _want(answer, less=sorted({*where.samples_without, *picked}))


def _want(answer: Answer, **values: Any) -> None:
    st.session_state[WANTED] = answer, values


def begin() -> None:
    """Start the run that a click asked for; where it is impossible, say why and change nothing."""
    seen, wanted = st.session_state.pop(WANTED, (None, None))
    if wanted is None:
        return
    before = {name: state.get(name) for name in (*wanted, "components")}
    is_first = not any(map(state.get, LEFT_OUT))
    state.put(**wanted, components=None)
    try:
        if [] in wanted.values():  # an empty list in the address keeps everything
            raise InvalidProblem("Something must be left, got nothing: leave out less.")
        of = open_data.opened()
        start.of_page(kind(nouns_of(of.dataset)), of, form.question(of))
    except NSPCAError as error:
        state.put(**before)
        st.error(wording.plain(error), icon=":material/error:")
    else:
        st.session_state[SEEN] = state.get("components"), seen
        if is_first:
            st.session_state[BEFORE] = of.reference.but_for(*LEFT_OUT.values()), before["components"]


def seen_before(run_id: str) -> Answer | None:
    """Return the answer of which a run leaves something out, if the run began in this session."""
    name, answer = st.session_state.get(SEEN, (None, None))
    return answer if name == run_id else None


def draw_back(answer: Answer) -> None:
    """Draw what is left out, with a button that takes it back."""
    st.session_state.pop(SEEN, None)
    where = answer.of.reference
    said = where.but_for(*set(CHANGES).difference(LEFT_OUT.values())).change_words()
    if not said:
        return
    if where.without:  # numbers of features as they are after the preparations
        whole = open_data.find(where.but_for(*set(CHANGES) - {"prepared"}), state.get("w")).dataset
        names = [short(whole.feature_names[j]) for j in where.without]
        more = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
        said[-1] = f"without {wording.listed([*names[:NAMED], *more])}"

    def back() -> None:
        data, run = st.session_state.get(BEFORE, (None, None))
        is_same = data == where.but_for(*LEFT_OUT.values())
        state.put(**dict.fromkeys(LEFT_OUT), components=run if is_same else None)

    text = ", ".join(said)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(wording.plain(text[0].upper() + text[1:]), width="content")
        buttons.button("Take back", "take_back", back, icon=":material/undo:", type="tertiary")
