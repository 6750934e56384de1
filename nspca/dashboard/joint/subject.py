"""The subjects of the three pages about several components: images, word counts, and other tables.

Each page shows one kind of table. For data of another kind, it draws a link to the page that shows them. All
modules of these pages take their words from a `Subject`. `page.show` calls `find` and `lead_on`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import state, wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, Dataset, is_installed, present_samples, shown_name
from nspca.errors import NSPCAError
from nspca.specs import DataSpec

TableKind = Literal["image", "words", "table"]
PAGES = {
    "image": ("pages/parts.py", "Parts", "takes its images apart"),
    "words": ("pages/topics.py", "Topics", "finds the topics of its texts"),
    "table": ("pages/components.py", "Components", "finds what belongs together in it"),
}
"""Path, name and description of the page that shows each kind of table."""
LACKS = {"image": "has no pictures to take apart", "words": "has no words to find topics in"}
HAS = {"image": "has pictures", "words": "has words"}
MINE = "mine"
"""Value in the address for the present upload or folder."""


@dataclass(frozen=True)
class Subject:
    """Wording and defaults of a page.

    Parameters
    ----------
    key : name of the page's run in the address
    data_key : name of the page's own choice of data in the address
    kind : kind of tables that the page shows
    title : title of the page, a question
    one, feature : nouns for a component and for a feature
    sample, otherwise : sample that is shown by default, and its replacement if its package is not installed
    r, size : default number of components, and default size of each
    at : name in the address of the chosen image, topic or component
    """

    key: str
    data_key: str
    kind: TableKind
    title: str
    one: Literal["component", "part", "topic"]
    feature: str
    sample: str
    otherwise: str
    r: int
    size: int
    at: str

    @property
    def first(self) -> str:
        """Name of the sample that is shown by default."""
        return self.sample if is_installed(self.sample) else self.otherwise

    @property
    def samples(self) -> list[str]:
        """Names of the samples that the page can show."""
        return [name for name in present_samples() if _kind(SAMPLES[name].kind) == self.kind]

    def count(self, number: int) -> str:
        """Return a number of components with their noun: ``3 parts`` or ``1 part``."""
        return wording.things(number, self.one)

    def sized(self, sizes: Sequence[int]) -> str:
        """Return components with their sizes: ``5 parts, each of 40 pixels``."""
        count = self.count(len(sizes))
        if len(set(sizes)) == 1:
            return f"{count}{', each' * (len(sizes) > 1)} of {self.features(sizes[0])}"
        return f"{count} of {wording.listed(list(map(str, sizes)))} {self.feature}s"

    def features(self, number: int) -> str:
        """Return a number of features with their noun: ``3 pixels`` or ``1 pixel``."""
        return wording.things(number, self.feature)


def kind_of(data: Dataset) -> TableKind:
    """Return the kind of table of a data set, which decides its page; a covariance is always "table"."""
    if data.is_covariance:
        return "table"
    return "image" if data.image_shape is not None else _kind(data.kind)


def _kind(kind: str) -> TableKind:
    """Return the kind of table for the `kind` of a `Dataset`."""
    if kind == "image":
        return "image"
    return "words" if kind == "words" else "table"


def explained_names(of: Chosen) -> Sequence[str]:
    """Return the names of the features, each with what it measures where the sample says that."""
    names, sample = of.dataset.feature_names, of.reference.sample
    meanings = SAMPLES[sample].meanings if sample in SAMPLES else {}
    return [f"{name}: {meanings[name]}" if name in meanings else name for name in names]


def find(about: Subject) -> Chosen | None:
    """Return the data of the page, with all rows of a folder; None for data of another kind.

    The page's own choice of data wins, then the choice on the page Data, then the default sample.
    """
    wanted, samples = shown_name(state.get(about.data_key)), about.samples
    if wanted in samples:
        return _sample(about, wanted)
    if _own() and wanted in (None, MINE):
        return _fitting(about, open_data.whole_folder(open_data.opened()))
    if wanted is None and state.is_kept("sample"):
        return _fitting(about, open_data.opened())
    if wanted is None or wanted not in SAMPLES:
        return _sample(about, about.first)
    return None


def _sample(about: Subject, name: str) -> Chosen:
    """Return a sample, with the preparations of the page Data if it is chosen there."""
    if not _own() and state.get("sample") == name:
        changed = open_data.opened()
        if kind_of(changed.dataset) == about.kind:
            return changed
    return open_data.find(DataSpec(sample=name), None)


def _fitting(about: Subject, of: Chosen) -> Chosen | None:
    """Return data if they are of the kind that the page shows, else None."""
    return of if kind_of(of.dataset) == about.kind else None


def _own() -> bool:
    """Tell whether the data chosen on the page Data are an upload or a folder."""
    return state.get("upload") is not None or state.get("folder") is not None


def choose(about: Subject, of: Chosen | None) -> None:
    """Draw the choice between the present data and the samples that the page can show.

    `of` are the data that the page shows; with None no option is selected.
    """
    mine = _mine(about)
    options = [*([MINE] if mine else []), *about.samples]
    wanted = None if of is None else of.reference.sample or MINE
    of_the_data = (about.key, "r", "size", "raw", "using", about.at, "named", "group", "across", "up")
    bound = state.bind(about.data_key, wanted, then=lambda: state.forget(of_the_data))
    if wanted is None:
        st.session_state[bound["key"]] = None
    names = {MINE: mine}
    st.selectbox(
        "Data",
        options,
        width=420,
        placeholder="Look at a sample instead",
        format_func=lambda name: names.get(name) or SAMPLES[name].title,
        **bound,
    )


def _mine(about: Subject) -> str:
    """Return the name of the present upload or folder, if the page can show it; otherwise empty."""
    if not _own():
        return ""
    try:
        data = open_data.opened().dataset
    except NSPCAError:  # the page Data shows this error; the samples remain
        return ""
    return data.name if kind_of(data) == about.kind else ""


def lead_on(about: Subject) -> None:
    """Draw the message that the present data are of another kind, with a link to the page that shows them."""
    wanted = state.get(about.data_key)
    of = open_data.find(DataSpec(sample=wanted), None) if wanted in SAMPLES else open_data.opened()
    kind = kind_of(of.dataset)
    path, name, does = PAGES[kind]
    why = LACKS[about.kind] if about.kind in LACKS else HAS[kind]
    title = SAMPLES[shown_name(of.reference.sample)].title if of.reference.sample else of.dataset.name
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
    "orl-faces",
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
    "state-of-the-union",
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
    "all-aml",
    "pitprops",
    5,
    20,
    "component",
)
SUBJECTS = (PARTS, TOPICS, COMPONENTS)
