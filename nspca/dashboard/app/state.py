"""All values that a session keeps: name, reader and default of each.

The address wins over the session, and the session over the default. A widget writes to both the address and
the session. So a link, a reload and the browser's back button lead to the same page. Pages read values with
`get` and `get_one_of`, write them with `put` or a widget of `bind`, and make addresses with `link` and
`opening`. The frame of every page calls `begin`.
"""

import re
from collections.abc import Callable, Container, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

import streamlit as st

from nspca.dashboard.app.internals import went_back
from nspca.data import PREPARATIONS
from nspca.data.options import OF_TEXTS, ReadOptions
from nspca.errors import JobError
from nspca.jobs import engine
from nspca.validation.address import (
    COLUMN,
    FLAG,
    SHARE,
    read_flag,
    read_groups,
    read_integer,
    read_integers,
    read_options,
    read_percent,
    read_word,
    read_words,
    write,
)

KEPT = "kept"  # session key: name -> value, survives leaving a page
OPEN = "open"  # session key: the page that is open, a key of `OF_PAGES`
CHECKS = "checks"  # session key: name of a certificate -> what its check said
UPLOADER = "uploader"  # session key: the file uploader; a number is added to empty it
SURE = "sure"  # session key: the workspace that the visitor has agreed to be in
FRESH = "start_fresh"  # session key: do not take over the workspace that the browser remembers
THERE = "there"  # session key: keys of the widgets in the last message of the browser
CHANGED = "changed"  # session key: whether an input of the form of the sweep was changed
DELETED = "deleted"  # session key: ids of the runs deleted in this session, newest last
# prefix of session keys: text typed into a selector of names that is equal to no name
SOUGHT = "sought_"
WIDGET = "widget_"  # prefix of the keys of widgets, which Streamlit drops when their page is left
LOG2 = "log2"  # name of the preparation that addresses call `log`


MOST_MET = 10_000  # maximum workspaces in `_met`, about 1 MB
_met: set[str] = set()  # workspaces found in the store, which is then not read at every rerun


def _workspace(text: str) -> str:
    """Return the name of an existing workspace.

    Invented names are refused: somebody could otherwise prepare a workspace and trap others in it.
    """
    word = read_word(text)
    if word not in _met:
        try:
            if not engine().store.is_workspace(word):
                raise ValueError(text)
        except JobError:  # every page shows what is wrong with the store
            return word
        if len(_met) >= MOST_MET:
            _met.clear()  # each is looked up in the store again
        _met.add(word)
    return word


def _steps(text: str) -> list[str]:
    """Return the known preparations among the names in a text."""
    return [name for name in read_words(text) if name in PREPARATIONS]


def _names(text: str) -> str:
    """Return the names of topics in one text, cut to a length that no honest address exceeds."""
    return text[:8000]  # names of as many topics as there can be


def _degrees(text: str) -> float:
    """Return an angle between -90 and 90 degrees; raise `ValueError` for any other text."""
    if not re.fullmatch(r"-?\d{1,2}(\.\d{1,4})?", text) or abs(float(text)) > 90:
        raise ValueError(text)
    return float(text)


@dataclass(frozen=True)
class Kept:
    """Reader of one value from the address, and a factory for its default."""

    read: Callable[[str], Any]
    default: Callable[[], Any] = lambda: None


def _same(value: Any) -> Any:
    return value


def _of_reading() -> dict[str, Kept]:
    """Return the values of the options of reading; shares are kept in per cent, and columns as texts."""
    kept = {}
    for _, option, default in ReadOptions.declared():
        form = option.text or FLAG
        read = str if form is COLUMN else read_percent if form is SHARE else form.read
        kept[option.query] = Kept(read, partial(_same, 100 * default if form is SHARE else default))
    return kept


VALUES: dict[str, Kept] = {
    "w": Kept(_workspace),  # workspace: uploads and runs are found only with it
    "sample": Kept(read_word, lambda: "digits"),
    "upload": Kept(read_word),  # content hash of an uploaded file, which is then used instead of the sample
    "folder": Kept(str),  # name of a folder of shards on the server, used instead of the sample
    "some": Kept(read_flag, lambda: False),  # whether only a sample of the rows of the folder is used
    "vocab": Kept(read_word),  # content hash of the vocabulary uploaded beside a docword file
    "about": Kept(read_word),  # content hash of an uploaded table about the samples
    "words": Kept(read_flag, lambda: False),  # whether the file holds texts, whose words are counted
    **_of_reading(),
    "cov": Kept(read_flag, lambda: False),  # whether the uploaded table is itself a covariance
    "repair": Kept(read_flag, lambda: False),  # whether an indefinite covariance is repaired
    "center": Kept(read_flag, lambda: True),
    "scale": Kept(read_flag, lambda: False),
    "out": Kept(read_integers, list),  # numbers of the features that are left out
    "only": Kept(read_integers, list),  # numbers of the features that are used, without all others
    "one": Kept(read_groups, list),  # groups of features that are merged, by number
    "keep": Kept(read_integers, list),  # numbers of the forced features
    "log": Kept(read_flag, lambda: False),  # whether every x is replaced by log2(x + 1)
    "prep": Kept(_steps, list),  # names of the other preparations
    "source": Kept(read_word, lambda: "sample"),  # open tab of the data page: sample, upload or shards
    "digit_k": Kept(read_integer, lambda: 8),
    "from": Kept(read_integer),
    "to": Kept(read_integer),
    "step": Kept(read_integer),
    "signed": Kept(read_flag, lambda: False),
    "methods": Kept(read_words, lambda: ["auto"]),
    "effort": Kept(read_word, lambda: "fast"),
    "axis": Kept(read_word, lambda: "leading"),
    "bound": Kept(read_word, lambda: "ours"),  # bound whose region is shaded
    "fit": Kept(read_flag, lambda: False),  # whether the axis of the curve begins at its smallest value
    "enough": Kept(read_integer, lambda: 80),  # wanted per cent of the variance of the best direction
    "run": Kept(read_word),
    "pin": Kept(read_words, list),  # pinned runs, drawn beside the shown one
    "before": Kept(read_word),  # run whose curve was shown before the last change
    "k": Kept(read_integer),
    "shown": Kept(read_word),  # method whose component is shown
    # share of the optimum from which an answer is good, in thousandths; 0 switches the membership off
    "within": Kept(read_integer, lambda: 0),
    "view": Kept(read_word, lambda: "curves"),  # view of the spannogram page
    "phi": Kept(_degrees),  # angle shown in degrees; by default that of the optimum
    "tol": Kept(read_integer, lambda: 3),  # the cone search stops within 10^-tol of the optimum
    "support": Kept(read_word, lambda: "tempting"),  # choice of the candidate support
    "candidate": Kept(read_integer, lambda: 1),
    # data of the pages Parts, Topics and Components; None lets each page find data that suit it
    "pictures": Kept(read_word),
    "texts": Kept(read_word),
    "table": Kept(read_word),
    "parts": Kept(read_word),  # parts, topics, components: runs of these pages
    "topics": Kept(read_word),
    "components": Kept(read_word),
    "r": Kept(read_integer),  # number of components
    "size": Kept(str),  # features in each component: one number, or one for each
    "by": Kept(read_words),  # methods that find the components
    "budget": Kept(read_integer, lambda: 500),  # points of the net of the bipartite method
    "proof": Kept(read_word, lambda: "standard"),
    "raw": Kept(read_flag),  # whether word counts are left uncentred
    "face": Kept(read_integer, lambda: 1),  # number of the image that is reconstructed from the parts
    "using": Kept(read_integer),  # number of parts in the reconstruction
    "topic": Kept(read_integer, lambda: 1),  # number of the chosen topic
    "component": Kept(read_integer, lambda: 1),
    "look": Kept(read_word),  # open section below the answer
    "across": Kept(read_integer, lambda: 1),  # across, up: components on the axes of the map
    "up": Kept(read_integer, lambda: 2),
    "group": Kept(str),  # label column that colours the samples
    "named": Kept(_names, lambda: ""),  # names that the visitor gave to components
    "over": Kept(read_flag, lambda: True),  # whether parts are drawn over the mean image
    "example": Kept(read_integer, lambda: 1),  # number of the example of the matching
    "paper": Kept(read_word),  # open tab of the papers page: a paper, or the uses
    "item": Kept(read_word),  # open figure or table
    "compare": Kept(read_word),  # run of the compare page
    "ks": Kept(str),  # values of k that are compared
    "rivals": Kept(read_words),  # methods that are compared
    "opts": Kept(read_options, dict),  # options of methods that differ from their defaults
    "turn": Kept(read_word, lambda: "drop"),  # deflation between components
    "apart": Kept(read_integer, lambda: 85),  # angle between components in degrees
    "counted": Kept(read_word, lambda: "total"),  # measure of the variance of several components
    "use": Kept(read_word, lambda: "pitprops"),
    "prepared": Kept(read_word, lambda: "log"),  # preparation of the genes
    "tested": Kept(read_word, lambda: "rest"),  # test set of the face detection
    "props": Kept(read_integer, lambda: 5),  # features in each component of the pitprops
    "summed": Kept(read_word, lambda: "adjusted"),
    "present": Kept(read_flag, lambda: False),  # whether present mode is on: no menu, no form, large type
    "slide": Kept(read_integer),  # number of the page in the presented lesson
    "screen": Kept(read_integer, lambda: 1),  # number of the screen of the learn page
    "guess": Kept(_degrees),  # guessed angle in degrees, beside which the answer is shown
    "painted": Kept(read_words, list),  # numbers of the painted pixels
    "judge": Kept(read_flag, lambda: False),  # whether the painting is done and the answer is shown
    "room": Kept(read_word),  # code of the room that a student's phone has joined
    "share": Kept(read_word),  # name under which a run is shared
    "find": Kept(str, lambda: ""),  # search text of the list of runs; `listed`: its open page
    "listed": Kept(read_integer, lambda: 1),
    "first": Kept(read_word),  # first, second, at: the two compared runs, and the k
    "second": Kept(read_word),
    "at": Kept(read_integer),
}
OF_WORDS = ("words", *(option.query for name, option, _ in ReadOptions.declared() if name in OF_TEXTS))
ABOUT_FILE = (
    *(option.query for name, option, _ in ReadOptions.declared() if name != "drop_constant"),
    "words",
    "cov",
    "repair",
    "vocab",
    "about",
)
ABOUT_DATA = ("from", "to", "step", "run", "before", "k", "shown", "methods", "scale", "drop", "log", "prep",
"center", "some", "phi", "candidate", "out",
    "only", "one", "keep",
    "pictures", "texts", "table", "parts", "topics", "components", "r", "size", "raw", "face", "using",
    "topic", "component", "across", "up", "group", "named", "compare", "ks",
)  # fmt: skip
OF_RUNS = ("run", "before", "parts", "topics", "components", "compare")  # values that name a run
OF_FEATURES = ("out", "only", "one", "keep")  # values that hold numbers of features of the prepared table
OF_UPLOAD = ("upload", *ABOUT_FILE)  # values about an uploaded file and how it is read
_FILE = f"{' '.join(ABOUT_FILE)} "
_DATA = f"sample upload folder some {_FILE}center scale drop out only one log prep "
_JOINT = _DATA + "signed r size by budget proof raw shown opts look across up group "
# Names of the values in the address of each page. A name that no page lists is in every address.
OF_PAGES = {
    "app": "digit_k",
    "data": _DATA + "source",
    "spannogram": _DATA + "k signed view phi tol support candidate",
    "sweep": _DATA
    + "keep from to step signed methods effort axis bound fit enough run pin before k shown within",
    "parts": _JOINT + "pictures parts face using over",
    "topics": _JOINT + "texts topics topic named example",
    "components": _JOINT + "table components component named",
    "compare": _DATA + "signed effort axis compare ks rivals counted k opts turn apart look",
    "papers": "paper item use prepared tested props summed",
    "runs": "find listed first second at",
    "learn": "screen guess painted judge",
    "join": "room",
    "shared": "share axis bound fit enough k shown within",
}
ELSEWHERE = {
    page: frozenset(" ".join(OF_PAGES.values()).split()) - frozenset(names.split())
    for page, names in OF_PAGES.items()
}
WRITTEN = {
    option.query: option.text.write
    for _, option, _ in ReadOptions.declared()
    if option.text is not None and option.text is not SHARE
}
"""Writers of the options of reading in addresses."""
ANEW = "anew"  # in an address: values that the address lacks become defaults
OF_THE_PERSON = ("w", "pin", "axis", "bound", "digit_k")  # values that such an address does not reset


def begin(page: str | None = None) -> None:
    """Read the values in the address; values that it lacks keep their values of the session.

    There are two exceptions. With `ANEW` in the address, all values except those of the person become
    defaults. After the back or forward button, values that the page's address can hold become defaults.

    Parameters
    ----------
    page : str, optional
        The open page, a key of `OF_PAGES`, which says which values its address holds.
    """
    kept = st.session_state.setdefault(KEPT, {})
    st.session_state[OPEN] = page
    if went_back():
        for name in (set(kept) - ELSEWHERE.get(page or "", frozenset())) - {"w"}:
            del kept[name]
    if ANEW in st.query_params:
        del st.query_params[ANEW]
        for name in set(kept) - set(OF_THE_PERSON):
            del kept[name]
    given = dict(st.query_params)  # a dict is dozens of times as quick as `query_params`
    for name, value in VALUES.items():
        if name in given:
            try:
                kept[name] = value.read(given[name])
            except (ValueError, KeyError):  # somebody edited the address: go on with what is known
                kept.pop(name, None)
    steps = kept.pop("prep", [])
    if LOG2 in steps:  # it has a switch of its own, where it is seen
        kept["log"] = True
    if others := [name for name in steps if name != LOG2]:
        kept["prep"] = others
    _address()


def get(name: str) -> Any:
    """Return the present value of a name, or its default."""
    value = st.session_state.get(KEPT, {}).get(name)
    return VALUES[name].default() if value is None else value


def get_one_of(name: str, choices: Container[Any], default: Any) -> Any:
    """Return the present value of a name if it is one of `choices`, otherwise `default`."""
    value = get(name)
    return value if value in choices else default


def is_kept(name: str) -> bool:
    """Tell whether the visitor or the address has set a value."""
    return name in st.session_state.get(KEPT, {})


def put(**values: Any) -> None:
    """Set values in the session and in the address; None resets a value to its default."""
    kept = st.session_state.setdefault(KEPT, {})
    for name, value in values.items():
        if value is None or value == VALUES[name].default():
            kept.pop(name, None)
        else:
            kept[name] = value
    _address()


def forget(names: tuple[str, ...]) -> None:
    """Reset values to their defaults."""
    put(**dict.fromkeys(names))


def link(path: str | None = None) -> dict[str, str]:
    """Return the query of an address that opens a page with all present values.

    The page is the one at `path`, such as ``pages/data.py``, or by default the open page.
    """
    page = st.session_state.get(OPEN) if path is None else PurePath(path).stem
    kept = st.session_state.get(KEPT, {})
    return {
        name: (WRITTEN.get(name) or write)(value)
        for name, value in kept.items()
        if name not in ELSEWHERE.get(page or "", ())
    }


def opening(query: Mapping[str, str]) -> dict[str, str]:
    """Return the query of an address that opens a page with exactly the values of a spec's address."""
    said = {} if get("w") is None else {"w": get("w")}
    return said | dict(query) | {ANEW: "1"}


def bind(name: str, value: Any = None, then: Callable[[], None] | None = None) -> dict[str, Any]:
    """Return arguments that bind a widget to a value: ``st.toggle("Scale", **bind("scale"))``.

    Parameters
    ----------
    name : str
        One of `VALUES`.
    value : optional
        Value to show when the present one is absent or is not among the widget's options.
    then : callable, optional
        Called after the visitor has changed the value.
    """
    key = WIDGET + name

    def take() -> None:
        put(**{name: st.session_state[key]})
        if then:
            then()

    return {**showing(key, get(name) if value is None else value), "on_change": take}


def showing(key: str, value: Any) -> dict[str, Any]:
    """Return the key argument of a widget, after setting its value.

    The value is sent to the browser again when the browser may show another one: after the back button, and
    until the browser has reported the widget. Otherwise a browser that draws the widget late would draw it
    empty, and report that with the next click.
    """
    there = st.session_state.setdefault(THERE, set())
    if went_back() or (there and key not in there) or st.session_state.get(key) != value:
        st.session_state[key] = value
    return {"key": key}


def heard(session: MutableMapping[str, Any], there: set[str]) -> None:
    """Record the keys of the widgets in the browser, from one of its messages."""
    if THERE in session:
        known = session[THERE]  # the set itself: a script may be running
        known |= there | {""}
        known &= there | {""}


def workspace() -> str:
    """Return the unguessable name of the visitor's workspace; it is created on first use."""
    if get("w") is None:
        put(w=engine().store.issue_workspace())
        st.session_state[SURE] = get("w")
    return get("w")


def start_fresh() -> None:
    """Leave the workspace for a new one, and reset all values but the visitor's own settings."""
    st.session_state[FRESH] = True
    leave()


def leave() -> None:
    """Leave the workspace and reset all values but the visitor's own settings.

    The browser's storage may then name another workspace.
    """
    kept = st.session_state.setdefault(KEPT, {})
    for name in set(kept) - set(OF_THE_PERSON) | {"w", "pin"}:
        kept.pop(name, None)
    _address()


def _address() -> None:
    """Write all values of the open page into the address."""
    wanted, given = link(), dict(st.query_params)
    for name in VALUES:
        if name in given and name not in wanted:
            del st.query_params[name]
    for name, text in wanted.items():
        if given.get(name) != text:
            st.query_params[name] = text
