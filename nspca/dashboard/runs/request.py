"""What a person asked of a sweep: plain values that can be stored, compared, and turned back into Python."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import nspca
from nspca.dashboard.chosen import Chosen, keeping
from nspca.dashboard.runs.asked import Asked
from nspca.dashboard.runs.found import Kind
from nspca.tasks.sweep import values_of_k

POINTS = (1, 1.5, 2, 3, 5, 7)  # values of k swept in each power of ten, when nobody said which
MORE = 8  # values of k between two neighbours, where the curve bends
LARGE = 1000  # features, above which a sweep nobody asked more of stays below `LARGE_TO`
LARGE_TO = 100


@dataclass(frozen=True)
class Request(Asked):
    """A sweep over k of one data set.

    Parameters
    ----------
    forced, keep : features that must be in, by their numbers in the data; and in the table as it was prepared
    """

    ks: tuple[int, ...]
    methods: tuple[str, ...] = ("auto",)
    effort: str = "fast"
    forced: tuple[int, ...] = ()
    keep: tuple[int, ...] = ()

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        own = {name: value for name, value in stored.items() if name not in ("first", "last", "step")}
        return super().from_dict(own | {"ks": list(values_of_k(stored))})

    def to_dict(self) -> dict[str, Any]:
        """What is not kept is not said: a request without that is the one from before there was any."""
        said = super().to_dict()
        return {name: value for name, value in said.items() if value or name not in ("forced", "keep")}

    @property
    def same(self) -> dict[str, Any]:
        return super().same | {"forced": list(self.forced)}

    @property
    def more(self) -> str:
        return f", forced={self.forced}" if self.forced else ""

    def problem(self, of: Chosen) -> nspca.Problem:
        """The same, with the features that must be in."""
        plain = super().problem(of)
        return replace(plain, k=len(self.forced), forced=self.forced) if self.forced else plain

    @property
    def total(self) -> int:
        """How many rows it asks for."""
        return len(self.ks) * len(self.methods)

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (max(self.ks),), self.total

    def describe(self) -> str:
        """One line for people."""
        weights = "nonnegative" if self.nonneg else "weights of any sign"
        weights += f", {keeping(len(self.forced))}" if self.forced else ""
        return (
            f"{in_words(self.ks)}, {weights}, {' and '.join(self.methods)}, {self.effort} proofs, data "
            f"{self.prepared}"
        )

    def beside(self, other: "Request") -> str:
        """What is different about this one, in words; empty when only the data or the values of k are."""
        said = {
            "center": "centred" if self.center else "not centred",
            "scale": "standardised" if self.scale else "not standardised",
            "nonneg": "nonnegative" if self.nonneg else "weights of any sign",
            "forced": keeping(len(self.forced)) if self.forced else "keeping none",
            "methods": " and ".join(self.methods),
            "effort": f"{self.effort} proofs",
        }
        return ", ".join(text for name, text in said.items() if getattr(self, name) != getattr(other, name))


SWEEP = Kind(
    task="sweep",
    request=Request,
    key="run",
    anew=("k", "shown"),
    empty="Nothing has run yet. Choose the values of k above and press Run; the curve then fills in here.",
    icon=":material/area_chart:",
    stranger="This address names a run that is no sweep: choose the values of k and press Run.",
)


def default_range(n: int, kept: int = 0) -> tuple[int, int]:
    """First and last k for n features, when nobody said which; those that are kept are counted."""
    return max(1, kept), max(LARGE_TO, kept) if n > LARGE else n


def usual(first: int, last: int) -> tuple[int, ...]:
    """1, 2, 3, 5, 7, 10, 15, 20, 30, ... from `first` to `last`, both included: a curve bends at its
    beginning.
    """
    series = {int(point * 10**power) for power in range(len(str(last))) for point in POINTS}
    return tuple(sorted({first, last} | {k for k in series if first < k < last}))


def finer(ks: Sequence[int], low: int, high: int) -> tuple[int, ...]:
    """The same with some more values strictly between two of them, all of them where they are few."""
    step = max(1, -(-(high - low) // (MORE + 1)))
    return tuple(sorted({*ks, *range(low + step, high, step)}))


def in_words(ks: Sequence[int]) -> str:
    """Which values of k, in a line."""
    step = steps(ks)
    if len(ks) == 1:
        return f"k = {ks[0]}"
    if step is None:
        return f"{len(ks)} values of k from {ks[0]} to {ks[-1]}"
    return f"k = {ks[0]} to {ks[-1]}" + (f" in steps of {step}" if step > 1 else "")


def steps(ks: Sequence[int]) -> int | None:
    """The step between all neighbours, if it is one."""
    found = {b - a for a, b in pairwise(ks)} or {1}
    return found.pop() if len(found) == 1 else None


def in_python(ks: Sequence[int]) -> str:
    """The same as an expression."""
    step = steps(ks)
    return f"{list(ks)}" if step is None else f"range({ks[0]}, {ks[-1] + 1}, {step})"


def snippet(request: Request, k: int, method: str, is_covariance: bool) -> str:
    """Python that computes the shown component again, from the same data with the same options, checks its
    proof, and sets other bounds beside it.
    """
    ks = in_python(request.ks)
    return f"""import nspca
from nspca.tasks.sweep import paper_bounds, rank3_bound

{request.opening(k, is_covariance)}
options = dict(methods={request.methods!r}, certify={request.effort!r}, seed={request.seed})
sweep = nspca.sweep(problem, {ks}, **options)
result = sweep[{method!r}, {k}]
upper = nspca.verify(X, result.certificate)  # forms its own products from the data, trusts nothing
print(result.value, upper, result.ratio)  # the ratio is rounded down
for j in abs(result.components[:, 0]).argsort()[::-1][:{k}]:
    print(names[j], result.components[j, 0])
paper, probability = paper_bounds(problem, {ks}, seed={request.seed})
print("rank-3 bound, proved:", rank3_bound(problem))
print("2014 paper's bound:", paper[{k}], "holds with probability at least", probability)
"""
