"""The subjects of the three pages about several components: pictures, words, and every other table.

A page shows one kind of table. It finds the data that are in force; when these are of another kind it says so
and leads to the page that shows them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import state, wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, Dataset
from nspca.errors import NSPCAError
from nspca.specs import DataSpec
from nspca.specs.data import is_stand_in

TableKind = Literal["image", "words", "table"]
PAGES = {
    "image": ("pages/parts.py", "Parts", "takes its images apart"),
    "words": ("pages/topics.py", "Topics", "finds the topics of its texts"),
    "table": ("pages/components.py", "Components", "finds what belongs together in it"),
}
"""Path and name of the page that shows each kind of table, and what it does with one."""
LACKS = {"image": "has no pictures to take apart", "words": "has no words to find topics in"}
HAS = {"image": "has pictures", "words": "has words"}
MINE = "mine"
"""The choice of the upload or the folder in force, in an address."""
GENES = re.compile(r"(.+_at|ENS[A-Z]*G\d+.*|LOC\d+)", re.IGNORECASE)
"""Names of probe sets and genes that no other table has."""
LOOKED_AT = 200
"""Names of features that are looked at to tell what the features are called."""


@dataclass(frozen=True)
class Subject:
    """Words of a page, and its first choices.

    Parameters
    ----------
    key : name of the page's run in the address
    data_key : name of its own choice of data in the address
    kind : the tables that it shows
    title : the question at the top
    one, feature : what a component and a feature are called
    sample, otherwise : shown when nobody chose data, and in its place where its original is absent
    r, size : components and features in each, at first
    at : name in the address of what is looked at: an image, a topic or a component
    """

    key: str
    data_key: str
    kind: TableKind
    title: str
    one: str
    feature: str
    sample: str
    otherwise: str
    r: int
    size: int
    at: str

    @property
    def first(self) -> str:
        """The sample that is shown when nobody chose data: an original, never a stand-in."""
        return self.otherwise if is_stand_in(self.sample) else self.sample

    @property
    def samples(self) -> list[str]:
        """The samples that the page can show."""
        return [name for name, sample in SAMPLES.items() if _kind(sample.kind) == self.kind]

    def count(self, number: int) -> str:
        """Return ``3 parts``, ``1 part``."""
        return wording.things(number, self.one)

    def sized(self, sizes: Sequence[int]) -> str:
        """Return ``5 parts, each of 40 pixels``, ``3 parts of 40, 40 and 20 pixels``, ``1 part of 9
        pixels``.
        """
        count = self.count(len(sizes))
        if len(set(sizes)) == 1:
            return f"{count}{', each' * (len(sizes) > 1)} of {self.features(sizes[0])}"
        return f"{count} of {wording.listed(list(map(str, sizes)))} {self.feature}s"

    def features(self, number: int) -> str:
        """Return ``3 pixels``, ``1 pixel``."""
        return wording.things(number, self.feature)


def kind_of(data: Dataset) -> TableKind:
    """Return which page shows a data set; a covariance has no pictures and no documents."""
    if data.is_covariance:
        return "table"
    return "image" if data.image_shape is not None else _kind(data.kind)


def _kind(kind: str) -> TableKind:
    """Return which page shows data of a kind of `Dataset`."""
    if kind == "image":
        return "image"
    return "words" if kind == "words" else "table"


def feature_noun(of: Chosen) -> str:
    """Return what one feature of a data set is called: pixel, word, wavelength, gene or feature."""
    data = of.dataset
    if data.is_covariance or data.kind != "table":
        return "feature" if data.is_covariance else wording.NOUNS[data.kind]
    names = [str(data.feature_names[j]) for j in range(min(LOOKED_AT, len(data.feature_names)))]
    genes = sum(GENES.fullmatch(name) is not None for name in names)
    return "gene" if of.reference.sample == "leukemia" or 2 * genes > len(names) else "feature"


def explained_names(of: Chosen) -> Sequence[str]:
    """Return the names of the features, each with what it measures where the sample says that."""
    names, sample = of.dataset.feature_names, of.reference.sample
    meanings = SAMPLES[sample].meanings if sample in SAMPLES else {}
    return (
        [f"{name}: {meanings[name]}" if name in meanings else name for name in names] if meanings else names
    )


def find(about: Subject) -> Chosen | None:
    """Return the data that the page is about, all rows of a folder; None for data of another kind.

    The page's own choice wins. Then come the data that somebody chose on the page Data, and then the page's
    first sample.
    """
    wanted, samples = state.get(about.data_key), about.samples
    if wanted in samples:
        return _sample(about, wanted)
    if _own() and wanted in (None, MINE):
        return _fitting(about, open_data.whole(open_data.opened()))
    if wanted is None and state.is_kept("sample"):
        return _fitting(about, open_data.opened())
    if wanted is None or wanted not in SAMPLES:
        return _sample(about, about.first)
    return None


def _sample(about: Subject, name: str) -> Chosen:
    """Return a sample, as the page Data changed it where it is in force there."""
    if not _own() and state.get("sample") == name:
        changed = open_data.opened()
        if kind_of(changed.dataset) == about.kind:
            return changed
    return open_data.find(DataSpec(sample=name), None)


def _fitting(about: Subject, of: Chosen) -> Chosen | None:
    return of if kind_of(of.dataset) == about.kind else None


def _own() -> bool:
    return state.get("upload") is not None or state.get("folder") is not None


def choose(about: Subject, of: Chosen | None) -> None:
    """Draw the choice between the data in force and the samples that the page can show.

    Nothing is chosen where `of`, the data that the page shows, is None.
    """
    mine = _mine(about)
    options = [*([MINE] if mine else []), *about.samples]
    wanted = None if of is None else of.reference.sample or MINE
    bound = state.bind(about.data_key, wanted, then=lambda: _other_data(about))
    if wanted is None:
        st.session_state[bound["key"]] = None
    names = {MINE: mine}
    st.selectbox(
        "Data",
        options,
        width=420,
        placeholder="Look at a sample instead",
        format_func=lambda name: (
            names.get(name) or SAMPLES[name].title + (" · stand-in" if is_stand_in(name) else "")
        ),
        **bound,
    )


def _mine(about: Subject) -> str:
    """Return the name of the upload or the folder in force, where the page can show it."""
    if not _own():
        return ""
    try:
        data = open_data.opened().dataset
    except NSPCAError:  # the page Data says what is wrong with it; the samples remain
        return ""
    return data.name if kind_of(data) == about.kind else ""


def _other_data(about: Subject) -> None:
    state.forget((about.key, "r", "size", "raw", "using", about.at, "named", "group", "across", "up"))


def lead_on(about: Subject) -> None:
    """Say that the data in force are of another kind, and lead to the page that shows them."""
    wanted = state.get(about.data_key)
    of = open_data.find(DataSpec(sample=wanted), None) if wanted in SAMPLES else open_data.opened()
    kind = kind_of(of.dataset)
    path, name, does = PAGES[kind]
    why = LACKS[about.kind] if about.kind in LACKS else HAS[kind]
    title = SAMPLES[of.reference.sample].title if of.reference.sample else of.dataset.name
    st.info(
        f"**{wording.plain(title)}** {why}. The page {name} {does}.",
        icon=":material/swap_horiz:",
    )
    there = next(one for one in SUBJECTS if PAGES[one.kind][0] == path)
    query = {name: text for name, text in state.link(path).items() if name not in (there.key, there.data_key)}
    if wanted in SAMPLES or _own():
        query |= {there.data_key: wanted if wanted in SAMPLES else MINE}
    st.page_link(path, label=f"Open it on {name}", icon=":material/arrow_forward:", query_params=query)
    choose(about, None)


PARTS = Subject(
    "parts",
    "pictures",
    "image",
    "Which parts are images made of?",
    "part",
    "pixel",
    "cbcl",
    "digits",
    5,
    40,
    "face",
)
TOPICS = Subject(
    "topics",
    "texts",
    "words",
    "What are the texts about?",
    "topic",
    "word",
    "bow-kos",
    "python-docs",
    8,
    15,
    "topic",
)
COMPONENTS = Subject(
    "components",
    "table",
    "table",
    "What belongs together?",
    "component",
    "feature",
    "leukemia",
    "pitprops",
    5,
    20,
    "component",
)
SUBJECTS = (PARTS, TOPICS, COMPONENTS)
