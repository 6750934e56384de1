"""Spec of a reproduction: compute a figure or table of a paper from the data sets on this machine.

The page Papers asks it.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import StrictStr

from nspca.progress import Report, silent
from nspca.specs.base import Description, Spec
from nspca.validation import address
from nspca.validation.model import Option

if TYPE_CHECKING:
    from nspca.papers import Item, Outcome


class PaperSpec(Spec):
    """One figure or table of one of the four papers."""

    kind: ClassVar[str] = "paper"

    item: Annotated[StrictStr, Option("Figure or table", "item", address.PLAIN, always=True, say="")]
    """A key of `nspca.papers.ITEMS`."""
    files: StrictStr = ""
    """Hash of the data files, so that other files give another result key; empty for any files."""

    def model_post_init(self, context: Any) -> None:
        self._of()

    def _of(self) -> "Item":
        """Return the item; the papers are slow to import, and most questions need none of them."""
        from nspca.papers import find_item

        return find_item(self.item)

    def describe(self) -> Description:
        from nspca.papers import PAPERS

        item = self._of()
        return Description(PAPERS[item.paper].partition(":")[0], f"{item.label}: {item.title}")

    def to_query(self) -> dict[str, str]:
        """Return the question as an address, with the paper of the item."""
        return {"paper": self._of().paper, **super().to_query()}

    def run(self, report: Report = silent, *args: Any, **given: Any) -> "Outcome":
        """Return the `nspca.papers.Outcome` of the figure or table."""
        from nspca import papers

        return papers.reproduce(self.item, report)

    def pack(self, result: "Outcome") -> bytes:
        return result.to_json().encode()

    @staticmethod
    def unpack(body: bytes) -> "Outcome":
        from nspca.papers import Outcome

        return Outcome.from_json(body)

    def to_python(self) -> str:
        return f"import nspca\n\noutcome = nspca.PaperSpec(item={self.item!r}).run()\nprint(outcome.said)\n"
