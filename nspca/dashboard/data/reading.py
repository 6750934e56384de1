"""The form for reading an uploaded file: detected layout, options, and suggestions.

All public functions are called by the data page. `mend` is called when the file cannot be read.
"""

from collections.abc import Callable

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.data import counting, first
from nspca.dashboard.open_data import EXTREME, Chosen, columns, measures, obstacle, read_as
from nspca.data import Dataset, Layout, features_in_rows_suggestion
from nspca.data.annotation import PREFIX
from nspca.data.counting import LIMIT_WORDS, STOP_WORDS, WEIGHTS
from nspca.data.formats.documents import SPLITS
from nspca.data.formats.images import SIDES, USUAL_SIDE
from nspca.data.layout import are_labels, short
from nspca.data.missing import Way, ways_out
from nspca.data.names import numbered
from nspca.data.sandbox import Opened, open_file
from nspca.errors import MissingValues, NotNumbers, NSPCAError, UnclearDecimals, UnlikeImages
from nspca.jobs import engine
from nspca.plots import images_figure

MANY, FOUND = 200, 30  # maximum names that a selector lists in full; and listed matches if there are more
PREVIEWED = 12  # number of images in the preview of a conversion
NOTHING = ""  # the empty choice; Streamlit would show None with a cross that clears it
GAPS = {
    NOTHING: "are not expected",
    "samples": "leave out their samples",
    "features": "leave out their features",
    "mean": "put in the mean of the feature",
}
"""Treatments of missing values by their value in the address."""


def forget_stale() -> None:
    """Reset options that name columns which this file does not have."""
    if state.get("upload") is None:
        state.forget(state.ABOUT_FILE)
        return
    if not state.get("gaps") or state.get("gaps") not in GAPS:
        state.forget(("gaps",))
    for name, known in (("split", SPLITS), ("stop", STOP_WORDS), ("weigh", WEIGHTS)):
        if state.get(name) not in known:
            state.forget((name,))
    if state.get("pixels") is not None and not SIDES[0] <= state.get("pixels") <= SIDES[1]:
        state.forget(("pixels",))
    if not 2 <= state.get("most") <= LIMIT_WORDS:
        state.forget(("most",))
    if state.get("words") or state.get("about"):
        return  # columns may belong to a table of texts or to an annotation
    try:
        look = columns(state.get("w") or "", state.get("upload"))
    except NSPCAError:  # a missing upload is reported when it is opened
        return
    for name, names in (("id", _names(look)), ("label", _labels(look))):
        if state.get(name) is not None and state.get(name) not in [*names, PREFIX]:
            state.forget((name,))


def choices(data: Chosen | None) -> None:
    """Draw the options of reading: names, labels, orientation and missing values, or counting words."""
    if data and (state.get("words") or state.get("about")):
        first.groups(data)
    if state.get("words"):
        counting.form()
        return
    look = columns(state.get("w") or "", state.get("upload"))
    if look is not None:
        found = "" if look.id_column is None else f" ({look.columns[look.id_column]})"
        left, middle, right = st.columns(3)
        with left:
            _selector("Column with names", "id", _names(look), f"found automatically{found}", look)
        if not state.get("about"):  # with an annotation, its columns are among the groups below
            with middle:
                row = "Row with labels" if state.get("rows") else "Column with labels"
                names = _labels(look) + ([PREFIX] if data and PREFIX in data.dataset.label_columns else [])
                _selector(row, "label", names, "none", look)
        ways = _gap_ways()
        right.selectbox(
            "Missing values",
            list(ways),
            format_func=ways.__getitem__,
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
        if sign := state.get("decimal"):
            signs = {NOTHING: "found automatically", sign: wording.MARKS[sign]}
            bound = state.bind("decimal", sign, then=_read_anew)
            st.selectbox("Decimal sign", list(signs), format_func=signs.__getitem__, width=200, **bound)


def _take_table_out() -> None:
    """Leave out the second table about the samples, and read the file anew."""
    state.forget(("about", "label"))
    _read_anew()


def _gap_ways() -> dict[str, str]:
    """Return the possible treatments of missing values, each with its cost if known."""
    error = _first_look().data
    if not isinstance(error, MissingValues):
        return GAPS
    found = {NOTHING: GAPS[NOTHING]}
    found |= {way.how: f"{GAPS[way.how]} ({_cost(way)})" for way in ways_out(error, state.get("rows"))}
    if (chosen := state.get("gaps")) and chosen not in found:  # an address may have an impossible one
        found[chosen] = GAPS[chosen]
    return found


def _first_look() -> Opened:
    """Return the outcome of reading the upload with default options."""
    raw, about = engine().store.get_upload(state.get("w") or "", state.get("upload"))
    return read_as(raw, about["name"])


def _cost(way: Way) -> str:
    """Return a phrase about the cost of a treatment of missing values."""
    if way.how == "mean":
        return f"invents {wording.things(way.lost, 'number')} of {way.of:,}"
    return f"drops {way.lost:,} of {wording.things(way.of, way.how.removesuffix('s'))}"


def _names(look: Layout | None) -> list[str]:
    """Return the columns that may hold the names, of features if these are in rows, else of samples."""
    if look is None:
        return []
    return list(look.columns[:1] if state.get("rows") else look.columns)


def _labels(look: Layout | None) -> list[str]:
    """Return the names of the columns that may hold labels, or of the rows if features are in rows."""
    if look is None or not state.get("rows"):
        return [] if look is None else list(look.columns)
    body = look.rows[1:] if look.header else look.rows
    return [body[row][look.id_column or 0] for row in look.label_rows]


def _selector(label: str, name: str, names: list[str], nothing: str, look: Layout) -> None:
    """Draw a selector of one of `names`, or of none (shown as `nothing`).

    The choice is the value `name` of the address. With very many names, the selector lists those that contain
    the typed text.
    """

    def shown(option: str) -> str:
        return option or nothing

    here = state.get(name) or NOTHING
    if len(names) <= MANY:
        st.selectbox(label, [NOTHING, *names], format_func=shown, **state.bind(name, here, then=_read_anew))
        return
    key = state.SOUGHT + name
    sought = st.session_state.get(key, "")
    texts = [look.columns[i] for i in look.text_columns[:FOUND]]
    likely = list(dict.fromkeys([*texts, *look.columns[:FOUND]]))
    found = [other for other in names if sought.lower() in other.lower()] if sought else likely
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


def _sought(name: str, names: list[str]) -> None:
    """Choose the typed text if it is one of `names`; otherwise use it to search among the names."""
    typed = state.get(name) or NOTHING
    st.session_state[state.SOUGHT + name] = NOTHING if typed in names else typed
    if typed not in names:
        state.forget((name,))
    _read_anew()


def _turned() -> None:
    """Reset every value about the data, after the table was turned or is read as another kind of table."""
    state.forget((*state.ABOUT_DATA, "id", "label"))


def _read_anew() -> None:
    """Reset runs, k, the method shown and features by number, after a change of the reading options."""
    state.forget(("run", "before", "k", "shown", *state.OF_FEATURES))


def vocabulary(of: Chosen) -> None:
    """Draw the upload of a vocabulary, for word counts without words."""
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
    """Draw suggestions about the file, each with a button that applies it."""
    data = of.dataset
    if data.source != "user" or of.reference.folder is not None:  # only uploads have options of reading
        return
    if data.labels is None and not data.is_covariance:
        for one in [one for one in data.label_candidates if one.count > 1][:3]:
            has = f"“{wording.plain(one.name)}” has {wording.things(one.count, 'value')}."
            if one.name == PREFIX:
                has = f"The sample names begin in {one.count} ways, such as “{_beginning(data)}”."
            _offer(has, "Use as labels", f"label_{one.name}", label=one.name)
    if not state.get("rows"):
        suggested, sentence = features_in_rows_suggestion(data.X, data.sample_names, data.feature_names)
        if suggested:
            _turn(sentence)
    said = (
        "The features have different scales: those with large numbers decide." if measures(of).scales else ""
    )
    said = "Standardised features may have numbers of any size." if obstacle(of) == EXTREME else said
    if said and not state.get("scale"):
        _offer(said, "Standardise", "scale", scale=True)
    if sentence := measures(of).covariance:
        _offer(wording.plain(sentence), "Take it as a covariance", "covariance", _turned, cov=True)


def _beginning(data: Dataset) -> str:
    """Return the beginning of the first sample's name, which may be its label."""
    return wording.plain(data.label_columns[PREFIX][0])


def mend(error: NSPCAError) -> None:
    """Draw the options that can make an unreadable file readable, below its error."""
    if isinstance(error, MissingValues):
        turned = state.get("rows")
        for way in ways_out(error, turned):
            label = "Put in the means of the features"
            if way.how != "mean":
                label = f"Leave out {wording.things(way.lost, way.how.removesuffix('s'))}"
            advised = "**Recommended:** this" if way.is_recommended else "This"
            _offer(f"{advised} {_cost(way)}.", label, f"gaps_{way.how}", gaps=way.how)
    if isinstance(error, UnclearDecimals):
        sign = wording.MARKS[error.mark]
        _offer(
            f"1{error.mark}234 may be a little more than 1.",
            f"The {sign} is the decimal sign",
            "decimal",
            decimal=error.mark,
        )
    if isinstance(error, UnlikeImages) and not state.get("pixels"):
        _offer_conversion()
    if state.get("upload") and not state.get("words") and _first_look().texts:
        _offer("This file holds texts.", "Count their words", "count", _turned, words=True)
    if state.get("words"):
        return
    look = columns(state.get("w") or "", state.get("upload")) if state.get("upload") else None
    if look is None or state.get("rows"):
        return
    if isinstance(error, NotNumbers) and not state.get("label"):
        _offer_to_set_aside(look.columns[error.column])
    if look.id_column == 0 and _has_label_row(look):
        _turn(
            "The first rows hold texts and the first column names: this looks like a table with features in "
            "rows."
        )


def _offer_to_set_aside(column: str) -> None:
    """Offer to take a column that is no feature as labels, where the file can be read then."""
    raw, about = engine().store.get_upload(state.get("w") or "", state.get("upload"))
    how = {"missing": state.get("gaps")} if state.get("gaps") else {}
    found = read_as(raw, about["name"], label_column=column, id_column=state.get("id"), **how).data
    if not isinstance(found, NSPCAError) or isinstance(found, MissingValues):
        said = f"“{wording.plain(short(column))}” can be set aside: then it names groups, and is no feature."
        _offer(said, "Set it aside", "aside", label=column)


def _has_label_row(look: Layout) -> bool:
    """Tell whether a row of texts holds groups of the columns. Units below a header seldom repeat."""
    body = look.rows[1:] if look.header else look.rows
    return any(are_labels(body[row][1:]) for row in look.label_rows)


def _offer_conversion() -> None:
    """Offer to convert all images to grey squares of one size, with a preview."""
    raw, about = engine().store.get_upload(state.get("w") or "", state.get("upload"))
    found = read_as(raw, about["name"], image_size=USUAL_SIDE).data
    if isinstance(found, NSPCAError):
        st.caption(wording.plain(found))
        return
    side = f"{USUAL_SIDE} × {USUAL_SIDE}"
    _offer(f"Convert all to grey, {side} pixels?", "Convert them", "convert", _turned, pixels=USUAL_SIDE)
    st.caption(f"They would look like this. {wording.plain(' '.join(found.notes[1:]))}")
    assert found.image_shape is not None
    figures.draw(images_figure(found.X[:PREVIEWED], found.image_shape), "convert_preview", same=found.name)


def annotation(of: Chosen) -> None:
    """Draw the upload of an annotation (a second table about the samples), or the button that removes it."""
    if of.dataset.is_covariance or of.reference.folder is not None or state.get("upload") is None:
        return
    if state.get("about"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("A second table gives groups of these samples.", width="content")
            buttons.button(
                "Leave it out",
                "about_out",
                _take_table_out,
                icon=":material/delete:",
                type="tertiary",
            )
        return
    count = st.session_state.setdefault(f"{state.UPLOADER}_about", 0)
    given = st.file_uploader(
        "A second table about the samples, CSV or Excel, joined by their names: groups, batches, dates",
        key=f"about_{state.get('upload')[:8]}_{count}",
    )
    if given is None:
        return
    content = given.getvalue()
    workspace, upload = state.workspace(), state.get("upload")
    raw, about = engine().store.get_upload(workspace, upload)
    how = of.reference.reading() | {"label_column": None}
    found = open_file(raw, about["name"], annotation=content, as_texts=of.reference.words, **how).data
    if isinstance(found, NSPCAError):
        st.error(wording.plain(found), icon=":material/error:")
        return
    meta = {"file": given.name[-120:], "name": "about the samples", "words": True}
    digest = engine().store.put_upload(workspace, content, meta)
    st.session_state[f"{state.UPLOADER}_about"] = count + 1
    state.forget(("label",))
    state.put(about=digest, run=None, k=None)
    st.rerun()


def _turn(sentence: str) -> None:
    """Draw the suggestion to take the rows as features, after a sentence that says why."""
    _offer(wording.plain(sentence), "Take the rows as features", "turn", _turned, rows=True)


def _offer(
    sentence: str, button: str, key: str, then: Callable[[], None] = _read_anew, **values: object
) -> None:
    """Draw a suggestion with a button that sets `values` in the address and then calls `then`."""

    def do() -> None:
        state.put(**values)
        then()

    with st.container(horizontal=True, vertical_alignment="center", key=f"offer_{key}"):
        st.markdown(f":material/lightbulb: {sentence}", width="content")
        buttons.button(button, f"do_{key}", do)
