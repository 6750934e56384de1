"""Constants of the compare page, its kind of run, and its values of k: the defaults, and those typed.

The form and the page use them.
"""

import re

from nspca.dashboard.runs.lookup import Kind
from nspca.errors import InvalidProblem
from nspca.specs import ComparisonSpec

QUICK = ("auto", "tpower", "threshold", "pca")
"""Methods of the usual question for more than `LARGE` features."""
SOME, LARGE = 100, 1000
"""Numbers of features above which the usual question has every second k only, or only the methods `QUICK`."""
ALL_UP_TO = 13  # maximum features for comparing every k
MOST_K = 160  # largest k of the usual question
MOST_KS = 60  # maximum values of k in one comparison
BASELINE = "baseline: truncated and renormalised"


COMPARISON = Kind(
    spec=ComparisonSpec,
    key="compare",
    anew=("k",),
    empty="Nothing has run yet. Choose methods and values of k, then press Compare.",
    icon=":material/compare_arrows:",
    stranger="The run in this address is no comparison: choose methods and press Compare.",
    changed="This comparison was made from other data than those kept under the same name now: run it again.",
)


def default_ks(n: int) -> tuple[int, ...]:
    """Return the values of k of the usual question: all for few features, else 5, 10, 20, ..."""
    if n <= ALL_UP_TO:
        return tuple(range(1, n + 1))
    doubled = [5 * 2**i for i in range(6)]
    return tuple(k for k in doubled if k < n and k <= MOST_K)


def read_ks(text: str, n: int) -> tuple[int, ...]:
    """Return the values of k in a text such as ``"5, 10, 20"`` or ``"2-8"``, in increasing order.

    Raises
    ------
    InvalidProblem
        For other text, and for a k outside 1 to n, and for more than `MOST_KS` values.
    """
    found: set[int] = set()
    for part in filter(None, re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", text))):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if ends is None:
            raise InvalidProblem(
                f"values of k must be numbers or ranges such as 5, 10, 20-25, got {part[:20]}"
            )
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not 1 <= first <= last <= n:
            raise InvalidProblem(
                f"every k must be at least 1 and at most {n}, the number of features, got {part}"
            )
        if last - first >= MOST_KS:
            raise InvalidProblem(
                f"one comparison takes at most {MOST_KS} values of k, got {last - first + 1}: name fewer of "
                "them"
            )
        found |= set(range(first, last + 1))
    if not found:
        raise InvalidProblem(
            "a comparison needs at least one value of k, got none: write for example 5, 10, 20"
        )
    if len(found) > MOST_KS:
        raise InvalidProblem(
            f"one comparison takes at most {MOST_KS} values of k, got {len(found)}: name fewer of them"
        )
    return tuple(sorted(found))
