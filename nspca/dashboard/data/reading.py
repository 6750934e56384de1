"""How an uploaded file is read: what was found out by itself, what can be chosen, and what is offered in one
click.
"""

from collections.abc import Callable

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.open_data import Chosen, columns, measures
from nspca.data import Layout, features_in_rows_suggestion
from nspca.data.dataset import numbered
from nspca.data.sandbox import open_file
from nspca.errors import MissingValues, NSPCAError
from nspca.jobs import engine

MANY, FOUND = 200, 30  # names up to which a selector lists all of them; how many it lists of more
NOTHING = ""  # the choice of nothing: a None would be shown with a cross that clears it
GAPS = {
    NOTHING: "are not expected",
    "samples": "leave out their samples",
    "features": "leave out their features",
    "mean": "put in the mean of the feature",
}


def forget_stale() -> None:
    """What was chosen about another file, or came with an address, and names nothing in this one."""
    if state.get("upload") is None:
        state.forget(state.ABOUT_FILE)
        return
    if not state.get("gaps") or state.get("gaps") not in GAPS:
        state.forget(("gaps",))
    try:
        look = columns(state.get("w") or "", state.get("upload"))
    except NSPCAError:  # there is no such upload, which is said where it is opened
        return
    for name, names in (("id", _names(look)), ("label", _labels(look))):
        if state.get(name) is not None and state.get(name) not in names:
            state.forget((name,))


def choices() -> None:
    """Names, labels, orientation, missing values."""
    if state.get("upload") is None:
        return
    look = columns(state.get("w") or "", state.get("upload"))
    with st.container(border=True):
        st.markdown("**How the file is read**")
        if look is not None:
            automatic = (
                "found automatically"
                if look.id_column is None
                else f"found automatically ({look.columns[look.id_column]})"
            )
            left, middle, right = st.columns(3)
            with left:
                _selector("Column with names", "id", _names(look), automatic, look)
            with middle:
                _selector(
                    "Row with labels" if state.get("rows") else "Column with labels",
                    "label",
                    _labels(look),
                    "none",
                    look,
                )
            right.selectbox(
                "Missing values",
                list(GAPS),
                format_func=GAPS.get,
                **state.bind("gaps", state.get("gaps") or NOTHING, then=_read_anew),
            )
        with st.container(horizontal=True):
            st.toggle(
                "Features are in rows",
                help="Gene tables often come this way: one row for each gene.",
                **state.bind("rows", then=_turned),
            )
            covariance = "Square and symmetric: it is then taken as it is."
            st.toggle("The table is a covariance matrix", help=covariance, **state.bind("cov", then=_turned))


def _names(look: Layout | None) -> list[str]:
    if look is None:
        return []
    return list(look.columns[:1] if state.get("rows") else look.columns)


def _labels(look: Layout | None) -> list[str]:
    if look is None or not state.get("rows"):
        return [] if look is None else list(look.columns)
    body = look.rows[1:] if look.header else look.rows
    return [body[row][look.id_column or 0] for row in look.label_rows]


def _selector(label: str, name: str, names: list[str], nothing: str, look: Layout) -> None:
    """One of `names`, or none of them, which is shown as `nothing`. Of very many it lists those that what was
    typed occurs in.
    """

    def shown(option: str) -> str:
        return option or nothing

    here = state.get(name) or NOTHING
    if len(names) <= MANY:
        st.selectbox(label, [NOTHING, *names], format_func=shown, **state.bind(name, here, then=_read_anew))
        return
    key = state.SOUGHT + name
    sought = st.session_state.get(key, "")
    found = [other for other in names if sought.lower() in other.lower()] if sought else _likely(look)
    st.selectbox(
        label,
        list(dict.fromkeys([NOTHING, here, *found[:FOUND]])),
        format_func=shown,
        accept_new_options=True,
        help=f"{len(names):,} names: type a part of one and press Enter to list those that have it.",
        **state.bind(name, here, then=lambda: _sought(name, names)),
    )
    if sought:
        more = f", the first {FOUND} are listed" if len(found) > FOUND else ""
        st.caption(f"{wording.things(len(found), 'name')} with “{wording.plain(sought)}”{more}.")


def _likely(look: Layout) -> list[str]:
    """The columns that hold texts, then the first ones."""
    return list(dict.fromkeys([*(look.columns[i] for i in look.text_columns[:FOUND]), *look.columns[:FOUND]]))


def _sought(name: str, names: list[str]) -> None:
    """What was typed is a name, or is looked for among them."""
    typed = state.get(name) or NOTHING
    st.session_state[state.SOUGHT + name] = NOTHING if typed in names else typed
    if typed not in names:
        state.forget((name,))
    _read_anew()


def _turned() -> None:
    state.forget((*state.ABOUT_DATA, "id", "label"))


def _read_anew() -> None:
    """A file read in another way has other features, or other samples; numbers mean others then."""
    state.forget(("run", "before", "k", "shown", *state.OF_FEATURES))


def vocabulary(of: Chosen) -> None:
    """Word counts that came without their words: the place to give them."""
    data, digest = of.dataset, state.get("upload")
    if (
        digest is None
        or data.kind != "words"
        or data.feature_names != numbered("word", len(data.feature_names))
    ):
        return
    given = st.file_uploader(
        "The vocabulary of these word counts: a text file with one word in each line",
        key=f"words_{digest[:8]}",
        type=["txt"],
    )
    if given is not None:
        raw = engine().store.get_upload(state.workspace(), digest)[0]
        if isinstance(found := open_file(raw, data.name, given.getvalue()).data, NSPCAError):
            raise found
        about = {"file": given.name[-120:], "name": "vocabulary", "words": True}
        state.put(
            vocab=engine().store.put_upload(state.workspace(), given.getvalue(), about), run=None, k=None
        )
        st.rerun()


def offers(of: Chosen) -> None:
    """What was noticed about the file, each with the button that does it."""
    data = of.dataset
    if data.source != "user" or of.reference.folder is not None:  # which is read as it is
        return
    if data.labels is None and not data.is_covariance:
        for one in data.label_candidates[:3]:
            has = f"“{wording.plain(one.name)}” has {wording.things(one.count, 'value')}."
            _offer(has, "Use as labels", f"label_{one.name}", label=one.name)
    if not state.get("rows"):
        suggested, sentence = features_in_rows_suggestion(data.X, data.sample_names, data.feature_names)
        if suggested:
            _turn(sentence)
    if sentence := measures(of).covariance:
        _offer(wording.plain(sentence), "Take it as a covariance", "covariance", _turned, cov=True)


def mend(error: NSPCAError) -> None:
    """Below the sentence that says why a file cannot be read: what would make it data."""
    if isinstance(error, MissingValues):
        turned = state.get("rows")
        samples = wording.things(error.columns if turned else error.rows, "sample")
        features = wording.things(error.rows if turned else error.columns, "feature")
        _offer(f"Values are missing in {samples}.", f"Leave out {samples}", "gaps_samples", gaps="samples")
        _offer(f"They are missing in {features}.", f"Leave out {features}", "gaps_features", gaps="features")
        _offer(
            "Or take numbers that nobody measured.",
            "Put in the means of the features",
            "gaps_mean",
            gaps="mean",
        )
    look = columns(state.get("w") or "", state.get("upload")) if state.get("upload") else None
    if look is not None and look.label_rows and look.id_column == 0 and not state.get("rows"):
        _turn(
            "The first rows hold texts and the first column names: this looks like a table with features in "
            "rows."
        )


def _turn(sentence: str) -> None:
    _offer(wording.plain(sentence), "Take the rows as features", "turn", _turned, rows=True)


def _offer(
    sentence: str, button: str, key: str, then: Callable[[], None] = _read_anew, **values: object
) -> None:
    def do() -> None:
        state.put(**values)
        then()

    with st.container(horizontal=True, vertical_alignment="center", key=f"offer_{key}"):
        st.markdown(f":material/lightbulb: {sentence}", width="content")
        buttons.button(button, f"do_{key}", do)
