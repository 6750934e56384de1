"""All values that a session keeps: name, reader and default of each.

The address wins over the session, and the session over the default. A widget writes to both the address and
the session. So a link, a reload and the browser's back button lead to the same page. Pages read values with
`get`, write them with `put` or a widget of `bind`, and make addresses with `link` and `opening`. The frame of
every page calls `begin`.
"""

import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import streamlit as st

from nspca.dashboard.app.internals import went_back
from nspca.data import PREPARATIONS
from nspca.data.counting import MOST_WORDS
from nspca.errors import JobError
from nspca.jobs import engine
from nspca.specs.address import (
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
SURE = "sure"  # session key: the workspace that somebody knows to be in
FRESH = "start_fresh"  # session key: the workspace that the browser remembers is not taken over
THERE = "there"  # session key: keys of the widgets that the browser had when it spoke last
CHANGED = "changed"  # session key: something in the form of the sweep was changed
DELETED = "deleted"  # session key: ids of the runs deleted in this session, the last one last
# prefix of session keys: what was typed into a selector of names, when no name is equal to it
SOUGHT = "sought_"
WIDGET = "widget_"  # prefix of the key a widget itself uses; it dies when its page is left
LOG2 = "log2"  # the preparation that is `log` in an address


MOST_MET = 10_000  # workspaces, about 1 MB
_met: set[str] = set()  # workspaces that the store knows, so that it is not asked at every rerun


def _workspace(text: str) -> str:
    """Return the name of an existing workspace.

    Invented names are refused: somebody could otherwise prepare a workspace and trap others in it.
    """
    word = read_word(text)
    if word not in _met:
        try:
            if not engine().store.is_workspace(word):
                raise ValueError(text)
        except JobError:  # every page says what is wrong with the store
            return word
        if len(_met) >= MOST_MET:
            _met.clear()  # the store is asked once more
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


VALUES: dict[str, Kept] = {
    "w": Kept(_workspace),  # workspace: uploads and runs are found only with it
    "sample": Kept(read_word, lambda: "digits"),
    "upload": Kept(read_word),  # content hash of an uploaded file; when set it stands instead of the sample
    "folder": Kept(str),  # name of a folder of shards on the server; when set it stands instead of the sample
    "some": Kept(read_flag, lambda: False),  # work on a sample of the folder's rows only
    "vocab": Kept(read_word),  # content hash of the vocabulary uploaded beside a docword file
    "rows": Kept(read_flag, lambda: False),  # features are in rows
    "id": Kept(str),
    "label": Kept(str),
    "gaps": Kept(read_word),  # what is done about missing values: samples, features or mean
    "about": Kept(read_word),  # content hash of an uploaded table about the samples
    "pixels": Kept(read_integer),  # images are made grey, with so many pixels a side
    "words": Kept(read_flag, lambda: False),  # the file holds texts, whose words are counted
    "text": Kept(str),  # the column with the texts
    "split": Kept(read_word, lambda: "automatic"),  # what a document is in one text file
    "stop": Kept(read_word, lambda: "automatic"),  # whose stop words are left out
    "low": Kept(read_percent, lambda: 0.0),  # per cent of the texts that a word must and may be in
    "high": Kept(read_percent, lambda: 50.0),
    "weigh": Kept(read_word, lambda: "counts"),
    "pairs": Kept(read_flag, lambda: False),  # pairs of words are counted too
    "most": Kept(read_integer, lambda: MOST_WORDS),  # words that are kept
    "cov": Kept(read_flag, lambda: False),  # the uploaded table is itself a covariance
    "repair": Kept(read_flag, lambda: False),  # a covariance may miss semidefiniteness by single precision
    "center": Kept(read_flag, lambda: True),
    "scale": Kept(read_flag, lambda: False),
    "drop": Kept(read_flag, lambda: False),  # constant features are left out
    "out": Kept(read_integers, list),  # numbers of the features that are left out
    "only": Kept(read_integers, list),  # numbers of the features that are used, without all others
    "one": Kept(read_groups, list),  # numbers of the features that are merged into one, by group
    "keep": Kept(read_integers, list),  # numbers of the features that are forced in a sweep
    "log": Kept(read_flag, lambda: False),  # log2(x + 1) of every value
    "prep": Kept(_steps, list),  # other preparations of the numbers, by name
    "source": Kept(read_word, lambda: "sample"),  # what the data page offers: sample, upload or shards
    "digit_k": Kept(read_integer, lambda: 8),
    "from": Kept(read_integer),
    "to": Kept(read_integer),
    "step": Kept(read_integer),
    "signed": Kept(read_flag, lambda: False),
    "methods": Kept(read_words, lambda: ["auto"]),
    "effort": Kept(read_word, lambda: "fast"),
    "axis": Kept(read_word, lambda: "leading"),
    "bound": Kept(read_word, lambda: "ours"),  # whose region is shaded
    "fit": Kept(read_flag, lambda: False),  # the axis of the curve begins at its smallest value
    "enough": Kept(read_integer, lambda: 80),  # per cent of the best direction's variance that are wanted
    "run": Kept(read_word),
    "pin": Kept(read_words, list),  # runs that another one is compared with
    "before": Kept(read_word),  # the run whose curve was shown before
    "k": Kept(read_integer),
    "shown": Kept(read_word),  # the method whose component is shown
    # features in every answer within so many thousandths of the optimum are drawn solid; 0: no matter
    "within": Kept(read_integer, lambda: 0),
    "view": Kept(read_word, lambda: "curves"),  # of the spannogram page
    "phi": Kept(_degrees),  # angle that is looked at; the optimum otherwise
    "tol": Kept(read_integer, lambda: 3),  # the cone search stops within 10^-tol of the optimum
    "support": Kept(read_word, lambda: "tempting"),  # which candidate support is looked into
    "candidate": Kept(read_integer, lambda: 1),
    # the data of the pages Parts, Topics and Components; None lets each page find data that suit it
    "pictures": Kept(read_word),
    "texts": Kept(read_word),
    "table": Kept(read_word),
    "parts": Kept(read_word),  # the runs of these pages
    "topics": Kept(read_word),
    "components": Kept(read_word),
    "r": Kept(read_integer),  # components found at once
    "size": Kept(str),  # features in each of them: one number, or one for each
    "by": Kept(read_words),  # methods that find them
    "budget": Kept(read_integer, lambda: 500),  # points of the net of the bipartite method
    "proof": Kept(read_word, lambda: "standard"),
    "raw": Kept(read_flag),  # word counts are not centred
    "face": Kept(read_integer, lambda: 1),  # the sample that is put together from its parts
    "using": Kept(read_integer),  # how many parts it is put together from
    "topic": Kept(read_integer, lambda: 1),  # which topic or component is looked at
    "component": Kept(read_integer, lambda: 1),
    "look": Kept(read_word),  # which section below the answer is open
    "across": Kept(read_integer, lambda: 1),  # the components that a map of samples is drawn along
    "up": Kept(read_integer, lambda: 2),
    "group": Kept(str),  # the column of labels that colours the samples
    "named": Kept(_names, lambda: ""),  # what somebody called the topics
    "over": Kept(read_flag, lambda: True),  # parts are drawn over the mean image
    "example": Kept(read_integer, lambda: 1),  # of the matching
    "judged": Kept(read_word),  # of links from before: the uses stood on the compare page
    "paper": Kept(read_word),  # whose figures are shown, or what the papers use them for
    "item": Kept(read_word),  # the figure or table that is open
    "compare": Kept(read_word),  # the run of the compare page
    "ks": Kept(str),  # values of k that are compared
    "rivals": Kept(read_words),  # methods that are compared
    "opts": Kept(read_options, dict),  # options of methods that are not as they are at first
    "turn": Kept(read_word, lambda: "drop"),  # what is changed before the next of several components
    "apart": Kept(read_integer, lambda: 85),  # degrees between them
    "counted": Kept(read_word, lambda: "total"),  # how the variance of several components is added up
    "use": Kept(read_word, lambda: "pitprops"),
    "prepared": Kept(read_word, lambda: "log"),  # what the genes are made into
    "tested": Kept(read_word, lambda: "rest"),  # what the face detection is tested on
    "props": Kept(read_integer, lambda: 5),  # features in each component of the pitprops
    "summed": Kept(read_word, lambda: "adjusted"),
    "present": Kept(read_flag, lambda: False),  # no menu, no form, large type: for a room
    "slide": Kept(read_integer),  # number of the page in a lesson that is presented
    "screen": Kept(read_integer, lambda: 1),  # of the learn page
    "guess": Kept(_degrees),  # the angle that was guessed there; the answer is shown beside it
    "painted": Kept(read_words, list),  # pixels, by number
    "judge": Kept(read_flag, lambda: False),  # the painting is done, and the answer shown beside it
    "room": Kept(read_word),  # code of the room of a class, on a student's phone
    "share": Kept(read_word),  # the name under which somebody shared a run
    "find": Kept(str, lambda: ""),  # of the list of runs: what is searched for, and which page of it is open
    "listed": Kept(read_integer, lambda: 1),
    "first": Kept(read_word),  # the two runs that are held side by side, and the k
    "second": Kept(read_word),
    "at": Kept(read_integer),
}
OF_WORDS = ("words", "text", "split", "stop", "low", "high", "weigh", "pairs", "most")
ABOUT_FILE = ("rows", "id", "label", "gaps", "cov", "repair", "vocab", "about", "pixels", *OF_WORDS)
ABOUT_DATA = ("from", "to", "step", "run", "before", "k", "shown", "methods", "scale", "drop", "log", "prep",
"center", "some", "phi", "candidate", "out",
    "only", "one", "keep",
    "pictures", "texts", "table", "parts", "topics", "components", "r", "size", "raw", "face", "using",
    "topic", "component", "across", "up", "group", "named", "compare", "ks",
)  # fmt: skip
OF_FEATURES = ("out", "only", "one", "keep")  # features by number, in the table as it was prepared
_FILE = "vocab about rows id label gaps cov repair pixels words text split stop low high weigh pairs most "
_DATA = f"sample upload folder some {_FILE}center scale drop out only one log prep "
_JOINT = _DATA + "signed r size by budget proof raw shown opts look across up group "
# The names that the address of each page carries; those that stand nowhere here are in every address.
OF_PAGES = {
    "app": "digit_k",
    "data": _DATA + "source",
    "spannogram": _DATA + "k signed view phi tol support candidate",
    "sweep": _DATA
    + "keep from to step signed methods effort axis bound fit enough run pin before k shown within",
    "parts": _JOINT + "pictures parts face using over",
    "topics": _JOINT + "texts topics topic named example",
    "components": _JOINT + "table components component named",
    "compare": _DATA + "signed effort axis judged compare ks rivals counted k opts turn apart look",
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
ANEW = "anew"  # in an address: values that the address lacks become defaults
OF_THE_PERSON = ("w", "pin", "axis", "bound", "digit_k")  # values that the session keeps even then


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
    given = dict(st.query_params)  # once: each look into these takes Streamlit as long as dozens into a dict
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
    return {name: write(value) for name, value in kept.items() if name not in ELSEWHERE.get(page or "", ())}


def leading(**values: Any) -> dict[str, str]:
    """Return the query of a link with the workspace, the given values, and the defaults of all others."""
    said = {
        name: value for name, value in values.items() if value is not None and value != VALUES[name].default()
    }
    return {name: write(value) for name, value in {"w": get("w"), **said}.items() if value is not None} | {
        ANEW: "1"
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
