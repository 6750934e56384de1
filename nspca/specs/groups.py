"""Spec of a group test: separation of labelled groups by components found on the other half of the rows.

The page Components asks it about data with labels.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field as Limits
from pydantic import StrictStr

from nspca.errors import InvalidData
from nspca.progress import Report, silent
from nspca.selection import GroupEffects, held_out_group_effects
from nspca.selection.groups import PERMUTATIONS
from nspca.specs.base import arguments
from nspca.specs.components import Sizes
from nspca.specs.method_options import Options
from nspca.specs.proof import sparsity_words
from nspca.specs.question import JsonSpec, RowsSpec, Seed, Whole
from nspca.specs.sweep import MethodName
from nspca.validation.model import Option


class GroupsSpec(JsonSpec, RowsSpec):
    """Effect sizes of several components on labelled groups of held-out samples. No feature can be kept."""

    kind: ClassVar[str] = "groups"
    answer: ClassVar = GroupEffects

    sizes: Sizes
    label: Annotated[StrictStr, Option("Labels", say="labels {}")] = ""
    """Name of the column of labels; empty for the labels of the data set."""
    method: Annotated[MethodName, Option("Method", to="call", say="{}", always=True)] = "joint"
    options: Options = Limits(default_factory=dict)
    permutations: Annotated[Whole, Option("Shuffled labels", to="call", say="{} shuffles")] = PERMUTATIONS
    seed: Seed = 0

    @property
    def question(self) -> str:
        return f"groups of held-out samples along {sparsity_words(self.sizes)}"

    def run(self, report: Report = silent, X: Any = None, labels: Any = None) -> GroupEffects:
        """Return the `nspca.GroupEffects` on the held-out half of the rows, by their labels."""
        X = self.rows(X)
        labels = labels_of(X, self.label) if labels is None else labels
        how = self.of_call("forced") | self.options.get(self.method, {})
        return held_out_group_effects(X, labels, self.sizes, report=report, **how)

    def python(self, **shown: Any) -> list[str]:
        words = self.of_call("forced") | self.options.get(self.method, {})
        labels = f"data.label_columns[{self.label!r}]" if self.label else "data.labels"
        return [
            f"found = nspca.held_out_group_effects(X, {labels}, {self.sizes!r}, {arguments(words)})",
            "print(found.measure, found.groups, found.counts)",
            "print(found.effect.round(3), found.p)",
        ]


def labels_of(data: Any, label: str = "") -> Any:
    """Return the labels of the samples of a data set, or those of a column; refuse data without them."""
    found = data.label_columns.get(label) if label else data.labels
    if found is None:
        named = f"a column of labels named {label!r}" if label else "labels of the samples"
        raise InvalidData(f"this question needs {named}, got none; choose labels on the page Data")
    return found
