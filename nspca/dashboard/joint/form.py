"""The question about several components: the spec in the address, the form that changes it, and asking again
without some features or samples.
"""

from typing import Any

import streamlit as st

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, form, state, wording
from nspca.dashboard.app.wording import TableKind, kind_of, nouns_of
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, methods, start
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.lookup import Kind
from nspca.dashboard.runs.methods import draw_scale, draw_signs, is_scaled
from nspca.errors import InvalidProblem, NSPCAError
from nspca.presentation.phrases import short
from nspca.specs import ComponentsSpec
from nspca.specs.components import DEFAULT
from nspca.specs.data import CHANGES

USUAL: dict[TableKind, tuple[int, int]] = {"image": (5, 40), "words": (8, 15), "table": (5, 20)}
"""Default number and size of components, where a table has enough features."""
OF_IMAGE = 9  # parts of this size would cover an image: fewer pixels of a large image are specks
MOST = 20  # maximum number of components, as many as a screen can show
LARGE = 1000  # number of features above which fewer methods are chosen at first
QUICK = ("joint", "cone")  # methods chosen at first for more than `LARGE` features
EFFORTS = {"none": "no proof", "fast": "fast", "standard": "standard", "thorough": "thorough"}
EFFORT_HELP = "How hard to look for a bound that no other choice of components can exceed."
METHODS_HELP = (
    "{} find all components together. The others find one after another, each without the {}s used before."
)
RAW_HELP = """Word counts are mostly zeros. Subtracting each word's mean would fill them all, and a topic
would also be about words that documents lack. Left as they are, a topic is what documents have in common."""
COMPONENTS = Kind(
    spec=ComponentsSpec,
    page="components",
    key="components",
    anew=("component", "named"),
    empty="Nothing has run yet. Choose how many are sought, and how large each is, and press Find.",
    icon=":material/play_arrow:",
    stranger="The run in this address is of another page. Start one here.",
)


def usual(of: Chosen, asked: ComponentsSpec | None = None) -> ComponentsSpec:
    """Return the usual question of the page, shown until the visitor changes the form.

    It takes the data as the visitor prepared them: centred, standardised. Tables of many features get fewer
    methods.
    """
    n = of.dataset.X.shape[1]
    r, size = _default_sizes(of)
    as_prepared: dict[str, Any] = {"center": _center(of), "scale": is_scaled(of)}
    able = methods.able(methods.refusals(of, True, **as_prepared))
    by = tuple(name for name in _default(n) if name in able)
    return ComponentsSpec(
        data=of.spec, sizes=(size,) * r, methods=by, noun=nouns_of(of.dataset).one, **as_prepared
    )


def question(of: Chosen) -> ComponentsSpec:
    """Return the question in the address, about the data."""
    (r, size), nouns = wanted(of), nouns_of(of.dataset)
    if not 1 <= r <= MOST:
        raise InvalidProblem(f"the number of {nouns.many} must be between 1 and {MOST}, got {r}")
    by = _by(of)
    effort = _effort()
    sizes = read_sizes(size, r, of.dataset.X.shape[1])
    mine: dict[str, Any] = {"data": of.spec, "noun": nouns.one, "sizes": sizes, "methods": tuple(by)}
    mine |= {"effort": None if effort == "none" else effort, "options": methods.changed_options(by)}
    mine |= {"center": _center(of), "scale": is_scaled(of)}
    return ComponentsSpec(**state.asked(ComponentsSpec) | mine)


def line(of: Chosen, asked: ComponentsSpec) -> str:
    """Return the question in a few words."""
    signs = "nonnegative" if asked.nonneg else "weights of any sign"
    scaled = ["standardised"] if asked.scale else []
    return ", ".join([nouns_of(of.dataset).sized(asked.sizes), signs, *scaled, *asked.data.change_words()])


def label(of: Chosen, asked: ComponentsSpec) -> str:
    """Return the text of the start button, with the time that the answer takes."""
    return f"Find {nouns_of(of.dataset).count(asked.r)} ({cost_estimate.estimate(of, asked)})"


def wanted(of: Chosen) -> tuple[int, str]:
    """Return the number of components and the text of their sizes, from the address or by default."""
    r, size = _default_sizes(of)
    r = r if state.get("r") is None else state.get("r")
    return r, str(size) if state.get("size") is None else state.get("size")


def inputs(of: Chosen) -> None:
    """Draw the inputs, each tied to the address."""
    (r, size), nouns = wanted(of), nouns_of(of.dataset)
    first, second, third = st.columns([1, 1, 2], vertical_alignment="bottom")
    first.number_input(f"Number of {nouns.many}", step=1, **state.bind("r", r))
    second.text_input(
        f"{nouns.feature.capitalize()}s in each",
        help="One number for all, or one for each with commas between: 40, 40, 20.",
        **state.bind("size", size),
    )
    draw_signs(third)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    by = _by(of)
    with left:
        _methods(of, by)
    how: dict[str, Any] = {"options": list(EFFORTS), "format_func": EFFORTS.__getitem__, "help": EFFORT_HELP}
    form.draw(ComponentsSpec, "effort", right, value=_effort(), **how)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if _is_counts(of):
            given = state.bind("raw", state.get("raw") is not False)
            st.toggle("Counts as they are", help=RAW_HELP, **given)
        else:
            center = "Subtract each feature's mean, as PCA does."
            form.draw(ComponentsSpec, "center", disabled=of.dataset.is_covariance, help=center)
        draw_scale(st, of)
    methods.draw_options(by)


def _methods(of: Chosen, by: list[str]) -> None:
    able = sorted(_able(of), key=lambda name: not nspca.METHODS[name].joint)
    together = [name for name in able if nspca.METHODS[name].joint]
    said = METHODS_HELP.format(wording.listed(together).capitalize(), wording.noun(of.dataset))
    how: dict[str, Any] = {
        "options": able,
        "format_func": methods.label,
        "help": f"{said}\n{methods.summaries(able)}",
    }
    form.draw(ComponentsSpec, "methods", value=by, **how)


def _able(of: Chosen) -> list[str]:
    refusals = methods.refusals(of, not state.get("signed"), _center(of), is_scaled(of))
    return [name for name in methods.able(refusals) if name in nspca.METHODS]


def _by(of: Chosen) -> list[str]:
    able = _able(of)
    usual = _default(of.dataset.X.shape[1])
    return [name for name in state.get("by") or usual if name in able] or [DEFAULT[0]]


def _default(n: int) -> tuple[str, ...]:
    return QUICK if n > LARGE else DEFAULT


def _effort() -> str:
    return state.get_one_of("proof", EFFORTS, "fast")


def _is_counts(of: Chosen) -> bool:
    """Tell whether the data are word counts, which are not centred by default."""
    return kind_of(of.dataset) == "words"


def _center(of: Chosen) -> bool:
    """Tell whether the data are centred; word counts are not, unless the visitor chooses that."""
    wanted = state.get("raw") is False if _is_counts(of) else state.get("center")
    return wanted and not of.dataset.is_covariance


def _default_sizes(of: Chosen) -> tuple[int, int]:
    (r, size), n = USUAL[kind_of(of.dataset)], of.dataset.X.shape[1]
    if kind_of(of.dataset) == "image":
        size = max(size, n // OF_IMAGE)
    r = max(1, min(r, n // 4))
    return r, max(1, min(size, n // (r + 1)))


def read_sizes(text: str, r: int, n: int) -> tuple[int, ...]:
    """Return r sizes from a text such as ``"40"`` or ``"40, 40, 20"``."""
    pieces = [piece for piece in text.replace(";", ",").replace(" ", ",").split(",") if piece]
    if not pieces or not all(piece.isascii() and piece.isdigit() and len(piece) < 10 for piece in pieces):
        raise InvalidProblem(
            f"sizes must be one whole number, or {r} of them with commas between, got "
            f"{text.strip()[:40] or 'nothing'!r}"
        )
    sizes = tuple(int(piece) for piece in pieces)
    if len(sizes) == 1:
        sizes *= r
    if len(sizes) != r:
        raise InvalidProblem(
            f"sizes must be one number for all or {r} numbers, one for each, got {len(sizes)}"
        )
    if min(sizes) < 1 or sum(sizes) > n:
        raise InvalidProblem(
            f"sizes must be at least 1 and together at most {n}, the number of features, got {sum(sizes)} "
            "in all; make them smaller or fewer"
        )
    return sizes


WANTED, BEFORE, SEEN = "joint_wanted", "joint_before", "joint_seen"
"""Session keys: changed values of the address that the page has yet to act on, with the answer on the page;
the data of which nothing was left out, with their run; a run that leaves something out, with the answer that
stays on the page until the run has something to show."""
LEFT_OUT = {"out": "without", "only": "only", "less": "samples_without", "these": "samples_only"}
"""Values of the address that leave features or samples out, with their fields of `DataSpec`."""
NAMED = 5  # maximum features that are named after they were left out


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
        start.of_page(COMPONENTS, of, question(of))
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
