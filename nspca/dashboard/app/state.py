"""All values that a session keeps: name, reader and default of each.

The address wins over the session, and the session over the default. A widget writes to both the address and
the session. So a link, a reload and the browser's back button lead to the same page. Pages read values with
`get` and `get_one_of`, write them with `put` or a widget of `bind`, and make addresses with `link` and
`opening`. The frame of every page calls `begin`.
"""

import re
import time
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import streamlit as st

from nspca.errors import JobError
from nspca.jobs import engine
from nspca.specs import ComparisonSpec, ComponentsSpec, DataSpec, PaperSpec, ProblemSpec, SweepSpec, data
from nspca.validation.address import (
    Names,
    read_flag,
    read_integer,
    read_word,
    read_words,
    write,
)
from nspca.validation.model import Model, text_of

KEPT = "kept"  # session key: name -> value, survives leaving a page
OPEN = "open"  # session key: the page that is open, one of `PAGES`
CHECKS = "checks"  # session key: name of a certificate -> what its check said
UPLOADER = "uploader"  # session key: the file uploader; a number is added to empty it
SURE = "sure"  # session key: the workspace that the visitor has agreed to be in
FRESH = "start_fresh"  # session key: do not take over the workspace that the browser remembers
DRAWN = "drawn"  # session key: when each widget was drawn first on the open page
LATE = 3.0  # seconds after which a browser has drawn a widget, on a busy machine too
HERE = "here"  # session key: the page and the query that this session last wrote into the address
VISITED = "visited"  # session key: all that it has written there
MOST_VISITED = 200  # addresses that a session remembers
BACK = "back"  # session key: whether this run comes from the back or forward button
PRESSED = "pressed"  # session key: keys of the buttons whose click waits, see `buttons`
CHANGED = "changed"  # session key: whether an input of the form of the sweep was changed
STOPPED = "stopped"  # session key: ids of automatic searches that the visitor does not wait for
UNSEEN = "unseen"  # session key: digest of an upload whose defaults are not settled yet
SHARE = "share_box"  # session key: the open box of the button Share
DELETED = "deleted"  # session key: ids of the runs deleted in this session, newest last
WIDGET = "widget_"  # prefix of the keys of widgets, which Streamlit drops when their page is left
LOG2 = "log2"  # name of the preparation that addresses call `log`


MOST_MET = 10_000  # maximum workspaces in `_met`, about 1 MB
_met: set[str] = set()  # workspaces found in the store, which is then not read at every rerun


def _workspace(text: str) -> str:
    """Return the name of an existing workspace; an invented one, a trap for others, is refused."""
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


def _degrees(text: str) -> float:
    """Return an angle between -90 and 90 degrees; raise `ValueError` for any other text."""
    if not re.fullmatch(r"-?\d{1,2}(\.\d{1,4})?", text) or abs(float(text)) > 90:
        raise ValueError(text)
    return float(text)


@dataclass(frozen=True)
class Value:
    """One value of a session. A text in an address that is none raises ValueError or KeyError in `read`."""

    read: Callable[[str], Any] = read_word
    usual: Any = None  # the default
    pages: str = ""  # whose address holds the value; empty for every page
    of_data: bool = False  # whether it means nothing for other data, and is forgotten when the data change

    def default(self) -> Any:
        """Return the default, as an object of its own."""
        return copy(self.usual)


OF_DATA = "data spannogram sweep components"
SPECS: dict[type[Model], str] = {
    DataSpec: OF_DATA,
    ProblemSpec: OF_DATA,
    SweepSpec: "sweep",
    ComparisonSpec: "sweep",
    ComponentsSpec: "components",
    PaperSpec: "papers",
}
"""The questions that forms ask, each with its pages, whose address holds every field with a name."""
OF_TASTE = ("signed", "effort", "by", "proof", "opts", "rivals", "item")
"""Names of fields that stay when other data are chosen."""
PLACES = ("sample", "upload", "folder")  # values that name the source of the data


def _names(fields: Iterable[str]) -> tuple[str, ...]:
    """Return the names in addresses of fields of the data."""
    return tuple(DataSpec.option(name)[0].query for name in fields)


def _declared(declares: type[Model], pages: str) -> dict[str, Value]:
    """Return the values of the fields of a model that have a name in addresses."""
    found: dict[str, Value] = {}
    for name, option, default in declares.declared():
        if isinstance(option.text, Names):
            found |= {one: Value(text.read, None, pages, True) for one, text in option.text.texts.items()}
        elif option.query:
            text = text_of(option, default)
            shown = text.shown or text.read
            usual = None if option.by_data or default is None else shown(text.write(default))

            def read(
                said: str,
                name: str = name,
                shown: Callable[[str], Any] = shown,
                checked: bool = text.shown is None,  # a form shows what it can of other values
            ) -> Any:
                if checked:
                    declares.read(name, said)  # refuses what the field does not take
                return shown(said)

            found[option.query] = Value(read, usual, pages, option.query not in (*OF_TASTE, *PLACES))
    return found


DECLARED: dict[str, Value] = {}
for _declares, _pages in SPECS.items():
    for _name, _kept in _declared(_declares, _pages).items():
        _known = DECLARED.get(_name, _kept)
        DECLARED[_name] = replace(_kept, pages=f"{_known.pages} {_pages}")
"""Values that are fields of questions, by their names in the address."""
VIEWS = {
    "w": Value(_workspace),  # workspace: uploads and runs are found only with it
    "present": Value(read_flag, False),  # whether present mode is on: no menu, no form, large type
    "source": Value(read_word, "sample", "data"),  # open tab of the data page: sample, upload or shards
    "digit_k": Value(read_integer, 8, "app"),
    "axis": Value(read_word, "leading", "sweep shared"),
    "bound": Value(read_word, "ours", "sweep shared"),  # bound whose region is shaded
    "run": Value(read_word, None, "sweep", True),
    "before": Value(read_word, None, "sweep", True),  # run whose curve was shown before the last change
    "k": Value(read_integer, None, "spannogram sweep shared", True),
    "shown": Value(read_word, None, "sweep shared", True),  # method whose component is shown
    # share of the optimum from which an answer is good, in thousandths; 0 switches the membership off
    "within": Value(read_integer, 0, "sweep shared"),
    "view": Value(read_word, "curves", "spannogram"),
    "phi": Value(_degrees, None, "spannogram", True),  # angle in degrees; by default that of the optimum
    "tol": Value(read_integer, 3, "spannogram"),  # the cone search stops within 10^-tol of the optimum
    "components": Value(read_word, None, "components", True),  # run of the page Components
    "raw": Value(read_flag, None, "components", True),  # whether word counts are left uncentred
    "face": Value(read_integer, 0, "components", True),  # number of the image made of parts; 0: the best
    "where": Value(str, "", "components", True),  # name of a feature or sample that is searched
    "component": Value(read_integer, 1, "components", True),  # number of the component that is looked at
    "look": Value(read_word, None, "sweep components"),  # open section below the answer
    "across": Value(read_integer, 1, "components", True),  # across, up: components on the axes of the map
    "up": Value(read_integer, 2, "components", True),
    "group": Value(str, None, "components", True),  # label column that colours the samples
    # names that the visitor gave to components, cut to a length that no honest address exceeds
    "named": Value(lambda text: text[:8000], "", "components", True),
    "paper": Value(read_word, None, "papers"),  # open tab of the papers page
    "at_k": Value(read_integer, None, "sweep", True),  # k of the methods side by side
    "turn": Value(read_word, "drop", "sweep"),  # deflation between components
    "apart": Value(read_integer, 85, "sweep"),  # angle between components in degrees
    "counted": Value(read_word, "total", "sweep"),  # measure of the variance of several components
    "screen": Value(read_integer, 1, "learn"),  # number of the screen of the learn page
    "guess": Value(_degrees, None, "learn"),  # guessed angle, beside which the answer is shown
    "painted": Value(read_words, [], "learn"),  # numbers of the painted pixels
    "judge": Value(read_flag, False, "learn"),  # whether the painting is done and the answer is shown
    "room": Value(read_word, None, "join"),  # code of the room that a student's phone has joined
    "share": Value(read_word, None, "shared"),  # name under which a run is shared
    "find": Value(str, "", "runs"),  # search text of the list of runs; `listed`: its open page
    "listed": Value(read_integer, 1, "runs"),
    "first": Value(read_word, None, "runs"),  # first, second: the two compared runs
    "second": Value(read_word, None, "runs"),
}
"""Values that say how a page shows its answer, and which run."""
VALUES = DECLARED | {"sample": replace(DECLARED["sample"], usual="digits")} | VIEWS
ABOUT_FILE = _names(
    name for name, _, _ in DataSpec.declared() if name not in (*PLACES, *data.CHANGES, "some")
)
ABOUT_DATA = tuple(name for name, kept in VALUES.items() if kept.of_data and name not in ABOUT_FILE)
OF_RUNS = ("run", "before", "components")  # values that name a run
OF_FEATURES = (*_names(data.OF_FEATURES), "keep")  # values with numbers of features of the prepared table
OF_SAMPLES = _names(("samples_without", "samples_only"))  # values with numbers of samples
PAGES = {page for kept in VALUES.values() for page in kept.pages.split()}
ELSEWHERE = {
    page: frozenset(name for name, kept in VALUES.items() if kept.pages and page not in kept.pages.split())
    for page in PAGES
}
"""Values that the address of a page leaves out. A page without values of its own has all in its address."""
ANEW = "anew"  # in an address: values that the address lacks become defaults
OF_THE_PERSON = ("w", "axis", "bound", "digit_k")  # values that such an address does not reset


def asked(declares: type[Model]) -> dict[str, Any]:
    """Return the fields of a question that the address or the visitor has set."""
    found = {}
    for name, option, default in declares.declared():
        if not option.query or isinstance(option.text, Names) or not is_kept(option.query):
            continue
        value, text = get(option.query), text_of(option, default)
        if value not in (None, ""):
            with suppress(ValueError, KeyError):  # what no field takes is as if nothing was said
                found[name] = value if text.shown in (None, str) else text.read(write(value))
    return found


def begin(page: str | None = None) -> None:
    """Read the values in the address of the open page; values that it lacks keep their values of the session.

    There are two exceptions. With `ANEW` in the address, all values except those of the person become
    defaults. After the back or forward button, values that the page's address can hold become defaults.
    """
    kept = st.session_state.setdefault(KEPT, {})
    st.session_state[OPEN] = page
    here = (page, tuple(sorted(dict(st.query_params).items())))
    before = st.session_state.get(HERE)
    moved = here != before and not st.session_state.get(PRESSED)
    by_menu = not here[1] and before is not None and before[0] != page  # a link of the menu has no query
    st.session_state[BACK] = moved and not by_menu and here in st.session_state.get(VISITED, ())
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


def went_back() -> bool:
    """Tell whether the address is an earlier one of this session, which no click has set: Back or Forward."""
    return bool(st.session_state.get(BACK))


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
        if value in (None, "") or value == VALUES[name].default():
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


def opening(query: Mapping[str, str]) -> dict[str, str]:
    """Return the query of an address that opens a page with exactly the values of a spec's address."""
    said = {} if get("w") is None else {"w": get("w")}
    return said | dict(query) | {ANEW: "1"}


def bind(name: str, value: Any = None, then: Callable[[], None] | None = None) -> dict[str, Any]:
    """Return arguments that bind a widget to a value: ``st.toggle("Scale", **bind("scale"))``.

    `value` is shown when the present one is absent or is not among the widget's options. `then` is called
    after the visitor has changed it.
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
    in the first seconds of the widget. A browser that draws the widget late would otherwise draw it empty,
    and report that with the next click.
    """
    drawn, now = st.session_state.setdefault(DRAWN, {}), time.monotonic()
    if key not in st.session_state:
        drawn[key] = now
    if went_back() or now - drawn.get(key, -LATE) < LATE or st.session_state.get(key) != value:
        st.session_state[key] = value
    return {"key": key}


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
    for name in set(kept) - set(OF_THE_PERSON) | {"w"}:
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
    here = (st.session_state.get(OPEN), tuple(sorted(dict(st.query_params).items())))
    if here != st.session_state.get(HERE):
        visited = st.session_state.setdefault(VISITED, {})
        st.session_state[HERE] = here
        visited[here] = visited.pop(here, None)
        while len(visited) > MOST_VISITED:
            del visited[next(iter(visited))]
