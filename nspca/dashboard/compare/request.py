"""What a person asked when comparing methods: plain values that can be stored, compared, and turned back into
Python.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from nspca.dashboard.runs.asked import Asked
from nspca.dashboard.runs.found import Kind
from nspca.dashboard.runs.options import in_words
from nspca.errors import InvalidProblem

FIRST = ("auto", "em", "tpower", "greedy", "threshold", "pca")
QUICK = ("auto", "tpower", "threshold", "pca")
SOME, LARGE = 100, 1000
"""Features above which what nobody asked for is answered at every second k, and by fewer methods."""
ALL_UP_TO = 13  # features, for which every k is compared
MOST_K = 160  # the largest k of a comparison that nobody chose
MOST_KS = 60
SIGNS = {True: "nonnegative", False: "of any sign"}
BASELINE = "baseline: truncated and renormalised"


@dataclass(frozen=True)
class CompareRequest(Asked):
    """Several methods at several k on one problem."""

    ks: tuple[int, ...]
    methods: tuple[str, ...] = FIRST
    effort: str = "fast"
    options: dict = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Without options where none was changed: it is then the question that it always was."""
        said = super().to_dict()
        return said if self.options else {name: value for name, value in said.items() if name != "options"}

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (max(self.ks),), len(self.ks) * len(self.methods)

    def describe(self) -> str:
        """One line for people."""
        ks = ", ".join(map(str, self.ks))
        changed = f", {in_words(self.options)}" if self.options else ""
        return f"k = {ks}, weights {SIGNS[self.nonneg]}, {self.effort} proofs, data {self.prepared}{changed}"


COMPARISON = Kind(
    task="compare",
    request=CompareRequest,
    key="compare",
    anew=("k",),
    empty="Nothing has run yet. Choose methods and values of k, then press Compare.",
    icon=":material/compare_arrows:",
    stranger="The run in this address is no comparison: choose methods and press Compare.",
    changed="This comparison was made from other data than those kept under the same name now: run it again.",
)


def default_ks(n: int) -> tuple[int, ...]:
    """Every k of a small table; 5, 10, 20, ... of a large one."""
    if n <= ALL_UP_TO:
        return tuple(range(1, n + 1))
    doubled = [5 * 2**i for i in range(6)]
    return tuple(k for k in doubled if k < n and k <= MOST_K)


def read_ks(text: str, n: int) -> tuple[int, ...]:
    """``"5, 10, 20"`` or ``"2-8"`` as increasing numbers.

    Raises
    ------
    InvalidProblem
        With what is possible, when it is something else.
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


def snippet(asked: CompareRequest, is_covariance: bool) -> str:
    """Python that makes the comparison again."""
    return f"""import nspca

{asked.opening(asked.ks[0], is_covariance)}
options = {asked.options!r}
for method in {asked.methods!r}:  # one by one: no method sees another's answer
    given = dict(certify=None, seed={asked.seed}, **options.get(method, {{}}))
    sweep = nspca.sweep(problem, {asked.ks!r}, methods=(method,), **given)
    print(sweep.frame[["method", "k", "value", "seconds"]])
"""
