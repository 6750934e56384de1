"""The form for reading an upload: its options, what reading found, and how it understood the first rows.

All public functions are called by the data page. `mend` is called when the file cannot be read. Inputs
follow from the options of `nspca.data.options`.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.app.form import draw
from nspca.dashboard.data import picker, preview
from nspca.dashboard.open_data import (
    ENCODINGS,
    EXTREME,
    Chosen,
    has_many_pixels,
    measures,
    obstacle,
    open_upload,
    reference,
    words_by_encoding,
)
from nspca.data import Dataset, Finding, Layout
from nspca.data.annotation import PREFIX
from nspca.data.formats.images import USUAL_SIDE
from nspca.data.names import numbered
from nspca.data.options import OF_TABLES, ReadOptions, TableOptions, TextOptions, as_text, mark_name
from nspca.data.roles import NO_NAMES
from nspca.data.sandbox import Opened, open_file
from nspca.errors import InvalidOption, NSPCAError, Way
from nspca.jobs import engine
from nspca.validation.model import text_of

MANY = 5000  # maximum names that a selector lists; others have to be typed
LISTED = 6  # maximum findings beside the preview; the others are folded
CHANGE = "change"
NOTHING = ""  # the empty choice; Streamlit would show None with a cross that clears it
GAPS = {
    "refuse": "are not expected",
    "samples": "leave out their samples",
    "features": "leave out their features",
    "mean": "put in the mean of the feature",
}
"""Treatments of missing values in words."""
CHOSEN = ("missing", "features_in_rows", "drop_constant", "image_size")
"""Options of tables that are chosen. All others have a field to type in."""
AS_FOUND = Way("encoding", None, "As it was found")
TURNED = "Features were in rows"
"""Beginning of the finding of a table that was turned, such as those of programs that count genes."""
TYPED = (*(name for name in OF_TABLES if name not in CHOSEN), "encoding")
_OPTIONS = {name: (option, default) for name, option, default in ReadOptions.declared()}


def forget_stale() -> None:
    """Reset options whose values in the address are none."""
    if state.get("upload") is None:
        state.forget(state.ABOUT_FILE)
        return
    for name, (option, _) in _OPTIONS.items():
        given = state.asked(ReadOptions)
        if name in given:
            try:
                ReadOptions(**{name: given[name]})
            except InvalidOption as error:
                state.forget((option.query,))
                st.warning(wording.plain(error), icon=":material/warning:")
    if state.get("words") or state.get("about") or not (state.get("id") or state.get("label")):
        return  # columns may belong to a table of texts or to an annotation
    try:
        seen = _seen("id_column")
    except NSPCAError:  # a missing upload is reported when it is opened
        return
    if seen.layout is not None:
        rows = [row[seen.layout.id_column or 0] for row in seen.layout.body_rows]
        known = {*seen.layout.columns, *rows, PREFIX, NO_NAMES}
        if isinstance(seen.data, Dataset):
            known |= {
                *seen.data.label_columns,
                *(way.value for one in seen.data.findings for way in one.ways),
            }
        state.forget(tuple(name for name in ("id", "label") if state.get(name) not in (None, *known)))


def choices(data: Chosen | None) -> None:
    """Draw the options of reading a table, or of counting words; images have none."""
    if data and data.dataset.image_shape is not None:
        return
    if data and (state.get("words") or state.get("about")):
        groups(data)
    if state.get("words"):
        _count_words()
        return
    look = _seen().layout
    if look is not None:
        left, middle, right = st.columns(3)
        with left:
            _selector("Column with names", "id", list(look.columns), "found automatically")
        if not state.get("about"):  # with an annotation, its columns are among the groups below
            with middle:
                row = "Row with labels" if state.get("rows") else "Column with labels"
                names = _labels(look) + ([PREFIX] if data and PREFIX in data.dataset.label_columns else [])
                _selector(row, "label", names, "none")
        right.selectbox(
            "Missing values", list(GAPS), format_func=GAPS.__getitem__, **state.bind("gaps", then=_read_anew)
        )
    if look is not None or data is None:  # a refused file may be mended here
        for start in range(0, len(TYPED), 4):
            for column, name in zip(st.columns(4), TYPED[start : start + 4], strict=False):
                draw(TableOptions, name, column, _turned, placeholder=_found(name))
    with st.container(horizontal=True):
        st.toggle(
            "Features are in rows",
            help="Gene tables often come this way: one row for each gene.",
            **state.bind(
                "rows",
                bool(data and _is_turned(data.dataset)) if state.get("rows") is None else None,
                then=_turned,
            ),
        )
        covariance = "Square and symmetric: it is then taken as it is."
        st.toggle("The table is a covariance matrix", help=covariance, **state.bind("cov", then=_turned))


def groups(of: Chosen) -> None:
    """Draw the choice of the label column that groups the samples, when the data have label columns."""
    data = of.dataset
    names = [*data.label_columns]
    if not names or data.is_covariance or of.reference.folder is not None:
        return
    here = data.label_name if data.label_name in names else NOTHING
    st.selectbox(
        "Groups of the samples",
        [NOTHING, *names] if here == NOTHING else names,
        format_func=lambda name: name or "none",
        help="Samples are coloured by their group wherever they are drawn.",
        **state.bind("label", here),
    )


def _is_turned(data: Dataset) -> bool:
    return any(
        TURNED in one.what or (one.option == "features_in_rows" and not one.is_suspicion)
        for one in data.findings
    )


def _found(name: str) -> str:
    """Return the value that reading found for an option, for its empty field."""
    look = _seen().layout
    if look is None or not look.delimiter:
        return "automatic"
    found = {
        "delimiter": mark_name(look.delimiter),
        "decimal": look.numerals.decimal,
        "thousands": look.numerals.thousands or "none",
        "header": f"line {look.above}"
        if look.header and look.above > 1
        else ("yes" if look.header else "no"),
        "comment": look.comment or "none",
    }
    return f"found: {found[name]}" if name in found else "automatic"


def _seen(*without: str) -> Opened:
    """Return the outcome of reading the upload with the options of the address but the labels and some."""
    return open_upload(state.get("w") or "", reference().but_for("label_column", *without))


def _take_table_out() -> None:
    state.forget(("about", "label"))
    _read_anew()


def _labels(look: Layout) -> list[str]:
    """Return the names of the columns that may hold labels, or of the rows if features are in rows."""
    if not state.get("rows"):
        return list(look.columns)
    return [look.body_rows[row][look.id_column or 0] for row in look.label_rows]


def _selector(label: str, name: str, names: list[str], nothing: str) -> None:
    """Draw a selector of one of `names`, or of none (shown as `nothing`), bound to the value `name`."""
    here = state.get(name) or NOTHING
    st.selectbox(
        label,
        list(dict.fromkeys([NOTHING, here, *names[:MANY]])),
        format_func=lambda option: option or nothing,
        accept_new_options=len(names) > MANY,
        **state.bind(name, here, then=_read_anew),
    )


def _turned() -> None:
    """Reset every value about the data, after the table is read in another way."""
    state.forget(state.ABOUT_DATA)


def _read_anew() -> None:
    """Reset runs, k, the shown method, and numbers of features and samples, which the reading may shift."""
    state.forget(("k", "shown", *state.OF_RUNS, *state.OF_FEATURES, *state.OF_SAMPLES))


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


def settle(of: Chosen) -> None:
    """Standardise a new table of measurements whose scales differ, without its constant features."""
    is_new = st.session_state.pop(state.UNSEEN, None) == of.reference.upload is not None
    if is_new and measures(of).scales and not any(map(_is_code, of.dataset.findings)):
        state.put(scale=True, drop=True if measures(of).constant.size else None)
        st.rerun()


def offers(of: Chosen) -> None:
    """Draw the findings of reading one below the other, each with what can be changed about it."""
    data = of.dataset
    st.session_state.pop(picker.BEFORE, None)
    if data.source != "user":
        return
    if of.reference.folder is not None:  # only uploads have options of reading
        preview.notes(of, data.findings)
        return
    with st.container(gap="xsmall"):
        findings = _with_ways(data)
        if encoding := state.get("encoding"):
            findings.append(Finding(f"The text was read as {encoding}.", ways=(AS_FOUND,)))
        if state.get("about"):
            _annotated()
        _list_findings(of, [one for one in findings if one.ways])
        _offer_scale(of)
        if data.labels is None and not data.is_covariance:
            _offer_labels(data)
        if sentence := measures(of).covariance:
            _offer(wording.plain(sentence), "Take it as a covariance", "covariance", _turned, cov=True)
        preview.notes(of, [one for one in findings if not one.ways])


def _with_ways(data: Dataset) -> list[Finding]:
    """Return the findings of an upload, with more ways to turn them, and without what is settled."""
    settled = ("image_size", "drop_constant") if state.get("drop") else ("image_size",)
    findings = [one for one in data.findings if one.option not in settled]
    if state.get("scale"):  # it advises what is done already
        findings = [one for one in findings if "alone carries" not in one.what]
    more: dict[str, tuple[Way, ...]] = {}
    if not data.label_columns:  # groups that the file has of its columns need these as samples
        more[TURNED] = (Way("features_in_rows", False, "The rows are the samples"),)
    if state.get("gaps") != "refuse":
        others = [how for how in GAPS if how not in ("refuse", state.get("gaps"))]
        more["missing value"] = tuple(
            Way("missing", how, f"{GAPS[how][0].upper()}{GAPS[how][1:]}") for how in others
        )
    for part, ways in more.items():
        findings = [replace(one, ways=ways) if part in one.what and not one.ways else one for one in findings]
    return findings + _sizes_of_images(data)


def _sizes_of_images(data: Dataset) -> list[Finding]:
    """Return what was done to the size of images, or the advice to shrink those of many pixels."""
    made = [one for one in data.findings if one.option == "image_size"]
    if not made and has_many_pixels(data):
        said = f"Images of {data.X.shape[1]:,} pixels take minutes until the first answer"
        ways = tuple(Way("image_size", side, f"{side} x {side}") for side in (32, USUAL_SIDE, 128))
        return [Finding(said, ways=ways, is_suspicion=True)]
    # Images of different sizes cannot be taken as they are.
    has_one_size = bool(made) and isinstance(_seen("image_size").data, Dataset)
    whole = (Way("image_size", None, "As they are"),) * has_one_size
    return [replace(one, ways=(*one.ways, *whole)) for one in made]


def _annotated() -> None:
    """Say which second table gives the groups, with links that leave it out or open it alone."""
    file = engine().store.about_upload(state.workspace(), state.get("about"))["file"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="annotated"):
        st.markdown(f"“{wording.plain(file)}” gives groups of these samples.", width="content")
        buttons.button("Leave it out", "about_out", _take_table_out, type="tertiary")
        buttons.button("Open it alone", "about_alone", picker.open_annotation_alone, type="tertiary")


def _offer_labels(data: Dataset) -> None:
    """Draw the offer to group the samples by the beginnings of their names."""
    if PREFIX in data.label_columns:
        groups = data.label_columns[PREFIX]
        beginnings = sorted(set(groups.tolist()))
        more = ", ..." * (len(beginnings) > LISTED)
        named = ", ".join(f"“{wording.plain(one)}”" for one in beginnings[:LISTED])
        has = f"The sample names begin in {len(beginnings)} ways: {named}{more}."
        _offer(has, "Use as labels", f"label_{PREFIX}", label=PREFIX)


def _offer_scale(of: Chosen) -> None:
    differ, extreme = bool(measures(of).scales), obstacle(of) == EXTREME
    if state.get("scale") and differ:
        _offer("Standardised, because the scales differ.", CHANGE, "unscale", scale=None, drop=None)
    elif not state.get("scale") and (differ or extreme):
        said = (
            "Standardised features may have numbers of any size."
            if extreme
            else ("The features have different scales: those with large numbers decide.")
        )
        _offer(said, "Standardise", "scale", scale=True)
    elif not state.get("scale") and of.dataset.kind == "table" and not of.dataset.is_covariance:
        _offer("Not standardised, because the scales are similar.", CHANGE, "scale", scale=True)


def _list_findings(of: Chosen, findings: list[Finding]) -> None:
    """Draw findings, what was done before what is only suspected."""
    in_order = sorted(findings, key=lambda one: (not _is_code(one), one.is_suspicion))
    for number, one in enumerate(in_order[:LISTED]):
        _finding(of, one, number)
    if others := in_order[LISTED:]:
        with st.expander(wording.things(len(others), "more finding"), icon=":material/rule:", type="compact"):
            for number, one in enumerate(others, LISTED):
                _finding(of, one, number)


def _is_code(one: Finding) -> bool:
    """Tell whether a finding is about a number such as -9999, which decides every answer until it is gone."""
    return one.is_suspicion and one.option == "missing_codes" and "far from all others" in one.what


def _finding(of: Chosen, one: Finding, number: int) -> None:
    """Draw a finding in a line, with a link for each way to change it."""
    noun, (m, n) = wording.noun(of.dataset), of.shape
    is_done = len(one.ways) == 1 and not one.is_suspicion and one.option not in ("label_column", "id_column")
    said = wording.plain(f"{one.what.removesuffix('.')}." if is_done else one.sentence)
    if is_done and one.option == "features_in_rows" and not one.value:
        said = f"{noun.capitalize()}s in rows: {wording.things(m, 'sample')}, {wording.things(n, noun)}."
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"finding_{number}"):
        why = one.why if is_done else None
        st.markdown(said.replace(" feature", f" {noun}"), width="content", help=why or None)
        if one.option == "encoding" and _offer_encodings(one):
            return
        for way in one.ways:
            words = wording.plain(way.words)
            label, tip = (CHANGE, words) if is_done else (words, None)
            key = f"turn_{way.option}_{number}" + f"_{way.value}" * (len(one.ways) > 1)
            how: dict[str, Any] = {"type": "tertiary", "help": tip}
            buttons.button(label, key, partial(_take, way), **how)


def _offer_encodings(one: Finding) -> bool:
    """Draw a list of encodings, each with the words that it makes of the file; tell whether there is any."""
    words = words_by_encoding(state.workspace(), state.get("upload"))
    here = state.get("encoding")
    ways = [
        Way("encoding", name, f"{said} ({ENCODINGS[name]}, {name})")
        for name, said in words.items()
        if name != here and f"({name})" not in one.what and f" {name}." not in one.what
    ]
    if not ways:
        return False
    with st.popover(CHANGE, type="tertiary", key=f"encodings_{here}"):
        st.markdown("Which of these are words?")
        for way in [*ways, *([AS_FOUND] if here else [])]:
            buttons.button(
                wording.plain(way.words), f"encoding_{way.value}", partial(_take, way), type="tertiary"
            )
    return True


def _take(way: Way) -> None:
    """Set the option of a way in the address; names are added to those that are left out already."""
    option, default = _OPTIONS[way.option]
    value = way.value
    st.session_state.setdefault(picker.BEFORE, picker.values_of_reading())
    if text_of(option, default).shown is str:
        value = None if value is None else as_text(way)
        if way.option.startswith("drop_") and (known := state.get(option.query)):
            value = f"{known},{value}"
    if way.option in ("id_column", "label_column"):
        value = str(value)
    if way.option == "drop_constant":
        state.put(drop=True)
        preview.changed()
        return
    is_scaled = state.get("scale")
    state.put(**{option.query: value})
    if way.option == "label_column" or (way.option == "encoding" and not state.get("words")):
        _read_anew()
        return
    _turned()
    if is_scaled:  # `settle` looks whether the scales still differ
        st.session_state[state.UNSEEN] = state.get("upload")


def can_be_counted() -> bool:
    """Return whether the upload holds texts whose words are not counted yet, or a table to read otherwise."""
    if not state.get("upload") or state.get("words"):
        return False
    return bool(_seen().texts) or _seen().layout is not None


def can_be_undone() -> bool:
    """Return whether the file became unreadable by the last press of a button."""
    return picker.BEFORE in st.session_state


def mend(error: NSPCAError) -> None:
    """Draw the options that can make an unreadable file readable, below its error."""
    ways = getattr(error, "ways", ())
    if can_be_undone():
        label = "Read it as before"
        buttons.button(label, "undo_reading", picker.read_as_before, icon=":material/undo:", type="primary")
    if ways:
        with st.container(horizontal=True, vertical_alignment="center", key="ways"):
            said = "Recommended first:" if ways[0].option == "missing" else "It can be read so:"
            st.markdown(f":material/lightbulb: {said}", width="content")
            for number, way in enumerate(ways):
                buttons.button(wording.plain(way.words), f"do_{way.option}_{number}", partial(_take, way))
    if state.get("upload") and not state.get("words") and _seen().texts:
        _offer("This file holds texts.", "Count their words", "count", _turned, words=True)
    if state.get("upload") and not state.get("words") and _seen().layout is not None:
        st.caption("Or change how the file is read, below.")


def as_read(of: Chosen) -> None:
    """Draw the first lines of the file as they are, and beside them as they were understood."""
    look = _seen().layout if state.get("upload") and not state.get("words") else None
    if look is None or not (look.raw or look.rows):
        return
    left, right = st.columns(2)
    with left:
        st.caption("The first lines of the file")
        lines = look.raw or tuple(", ".join(row) for row in look.rows)
        st.code("\n".join(line[:200] for line in lines[:8]), language=None, line_numbers=True)
    with right:
        st.caption("As they were understood")
        preview.small_table(of.dataset)


def annotation(of: Chosen) -> None:
    """Draw the upload of an annotation: a second table about the samples."""
    if of.dataset.is_covariance or of.reference.folder is not None or state.get("upload") is None:
        return
    if state.get("about"):
        return  # said among the findings
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
    how = {key: one for key, one in of.reference.reading().items() if key != "label_column"}
    found = open_file(raw, about["name"], annotation=content, as_texts=of.reference.words, **how).data
    if isinstance(found, NSPCAError):
        st.error(wording.plain(found), icon=":material/error:")
        return
    st.session_state[f"{state.UPLOADER}_about"] = count + 1
    state.forget(("label",))
    picker.add_annotation(given.name, content)
    st.rerun()


def _offer(
    sentence: str, button: str, key: str, then: Callable[[], None] = _read_anew, **values: object
) -> None:
    """Draw a suggestion with a button that sets `values` in the address and then calls `then`."""

    def do() -> None:
        state.put(**values)
        then()

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"offer_{key}"):
        st.markdown(sentence, width="content")
        buttons.button(button, f"do_{key}", do, type="tertiary")


WORDS_AT_MOST = (100, 500, 1000, 2000, 4000, 10_000, 20_000)
"""Choices for the maximum number of words in the vocabulary."""


def _count_words() -> None:
    """Draw the inputs for counting words. Each input is bound to a value of the address."""
    names = "stop_words", "own_stop_words", "weights", "split"
    for place, name in zip(st.columns(4), names, strict=True):
        draw(TextOptions, name, place, _read_anew)
    one, two, three, four, five = st.columns(5)
    draw(TextOptions, "text_column", one, _turned, placeholder="automatic")
    draw(TextOptions, "encoding", two, _turned, placeholder="automatic")
    draw(TextOptions, "lowest_share", three, _read_anew)
    draw(TextOptions, "highest_share", four, _read_anew, step=5.0)
    most = sorted({*WORDS_AT_MOST, state.get("most")})
    five.selectbox(
        "Words at most", most, format_func=lambda n: f"{n:,}", **state.bind("most", then=_read_anew)
    )
    with st.container(horizontal=True):
        draw(TextOptions, "pairs", st, _read_anew)
        st.toggle("Count the words of these texts", **state.bind("words", then=_switch_counting))


def _switch_counting() -> None:
    """Forget every choice about the data set, since switching word counting on or off reads the file anew."""
    state.forget((*state.ABOUT_DATA, "id", "label"))
