"""The subject of the page Components: its words and defaults for images, for texts and for other tables.

All modules of the page take their words from the `Subject` that `subject_of` returns for the open data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nspca.dashboard.app import wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, Dataset

TableKind = Literal["image", "words", "table"]


@dataclass(frozen=True)
class Subject:
    """Wording and defaults of the page for a kind of table.

    Parameters
    ----------
    kind : kind of table that the page shows
    title : title of the page, a question
    one, feature : nouns for a component and for a feature
    r, size : default number of components, and default size of each
    """

    kind: TableKind
    title: str
    one: Literal["component", "part", "topic"]
    feature: str
    r: int
    size: int

    @property
    def many(self) -> str:
        """Plural noun for components: "parts", "topics" or "components"."""
        return f"{self.one}s"

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


PARTS = Subject("image", "Which parts are images made of?", "part", "pixel", 5, 40)
TOPICS = Subject("words", "What are the texts about?", "topic", "word", 8, 15)
COMPONENTS = Subject("table", "What belongs together?", "component", "feature", 5, 20)
SUBJECTS = {about.kind: about for about in (PARTS, TOPICS, COMPONENTS)}


def kind_of(data: Dataset) -> TableKind:
    """Return the kind of table of a data set; a covariance is always "table"."""
    if data.is_covariance:
        return "table"
    if data.image_shape is not None or data.kind == "image":
        return "image"
    return "words" if data.kind == "words" else "table"


def subject_of(data: Dataset) -> Subject:
    """Return the subject for a data set, with the noun for its features, such as "gene"."""
    return replace(SUBJECTS[kind_of(data)], feature=wording.noun(data))


def explained_names(of: Chosen) -> Sequence[str]:
    """Return the names of the features, each with what it measures where the sample says that."""
    names, sample = of.dataset.feature_names, of.reference.sample
    meanings = SAMPLES[sample].meanings if sample in SAMPLES else {}
    return [f"{name}: {meanings[name]}" if name in meanings else name for name in names]
