"""Spec of a reproduction: compute a figure or table of a paper from the data sets on this machine.

The page Papers asks it.
"""

from typing import Annotated, Any, ClassVar

from pydantic import StrictStr

from nspca import papers
from nspca.errors import InvalidOption
from nspca.papers import ITEMS, PAPERS, Outcome
from nspca.progress import Report, silent
from nspca.specs.base import Description, Spec
from nspca.validation import address
from nspca.validation.model import Option


class PaperSpec(Spec):
    """One figure or table of one of the four papers.

    Parameters
    ----------
    item : str
        A key of `nspca.papers.ITEMS`.
    files : str
        Hash of the data files, so that other files give another result key; empty for any files.
    """

    kind: ClassVar[str] = "paper"

    item: Annotated[
        StrictStr, Option("Figure or table", "item", address.PLAIN, always=True, say=lambda _: "")
    ]
    files: StrictStr = ""

    def model_post_init(self, context: Any) -> None:
        if self.item not in ITEMS:
            raise InvalidOption(f"item must be one of {', '.join(ITEMS)}, got {self.item!r}")

    def describe(self) -> Description:
        item = ITEMS[self.item]
        return Description(PAPERS[item.paper].partition(":")[0], f"{item.label}: {item.title}")

    def to_query(self) -> dict[str, str]:
        """Return the question as an address, with the paper of the item."""
        return {"paper": ITEMS[self.item].paper, **super().to_query()}

    def run(self, report: Report = silent, *args: Any, **given: Any) -> Outcome:
        """Return the `nspca.papers.Outcome` of the figure or table."""
        return papers.reproduce(self.item, report)

    def pack(self, result: Outcome) -> bytes:
        """Return the outcome as JSON bytes."""
        return result.to_json().encode()

    unpack: ClassVar = staticmethod(Outcome.from_json)

    def to_python(self) -> str:
        """Return Python that repeats the computation of the figure or table."""
        return f"import nspca\n\noutcome = nspca.PaperSpec(item={self.item!r}).run()\nprint(outcome.said)\n"
