"""The nouns of a data set on a page: pixels and parts, words and topics, genes and components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nspca.dashboard.app import wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, Dataset

TableKind = Literal["image", "words", "table"]
ONE: dict[TableKind, Literal["component", "part", "topic"]] = {
    "image": "part",
    "words": "topic",
    "table": "component",
}
"""The noun for a component, by kind of table."""


@dataclass(frozen=True)
class Nouns:
    """Nouns for one component and one feature of a kind of table."""

    kind: TableKind
    one: Literal["component", "part", "topic"]
    feature: str

    @property
    def many(self) -> str:
        """Plural noun for components: "parts", "topics" or "components"."""
        return f"{self.one}s"

    @property
    def samples(self) -> str:
        """Plural noun for the rows: "images", "documents" or "samples"."""
        return {"image": "images", "words": "documents"}.get(self.kind, "samples")

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


def nouns_of(data: Dataset) -> Nouns:
    """Return the nouns for a data set, with that for its features, such as "gene"."""
    kind = kind_of(data)
    return Nouns(kind, ONE[kind], wording.noun(data))


def kind_of(data: Dataset) -> TableKind:
    """Return the kind of table of a data set; a covariance is always "table"."""
    if data.is_covariance:
        return "table"
    if data.image_shape is not None or data.kind == "image":
        return "image"
    return "words" if data.kind == "words" else "table"


def explained_names(of: Chosen) -> Sequence[str]:
    """Return the names of the features, each with what it measures where the sample says that."""
    names, sample = of.dataset.feature_names, of.reference.sample
    meanings = SAMPLES[sample].meanings if sample in SAMPLES else {}
    return [f"{name}: {meanings[name]}" if name in meanings else name for name in names]
