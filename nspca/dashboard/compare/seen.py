"""The class `Seen`: a finished comparison at one k, with its results and its answer in sentences.

`ComparePage.view` makes a `Seen`, and the sections draw it.
"""

import pandas as pd

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.compare.run import Compared
from nspca.dashboard.views import statement
from nspca.presentation.numerals import percent_down
from nspca.presentation.phrases import rival_name

SAME = 1e-6
"""Maximum relative difference of two values that count as equal."""
ENOUGH = 0.5
"""Share of the largest value that the first shown k must reach."""


class Seen:
    """A finished comparison at the shown k.

    Attributes
    ----------
    run : the run with its data and its problem
    table : values and bounds, one row for each method and k
    ks, k : the finished values of k, and the shown one
    of_k : the results at k by method
    """

    def __init__(self, run: Compared, sweep: nspca.Sweep) -> None:
        self.run = run
        self.table = sweep.frame.astype({"upper": float, "ratio": float})
        self.ks = sorted(set(self.table["k"]))
        self.k = state.get("k") if state.get("k") in self.ks else _telling(self.table)
        self.of_k = {
            method: sweep[method, self.k] for method in run.asked.methods if (method, self.k) in sweep.results
        }

    def sentences(self) -> tuple[statement.Statement, str, str]:
        """Return the statement about the best answer, a heading with the methods that found it, and a line
        with how good it is at least and what the bars are.
        """
        best = max(result.value for result in self.of_k.values())
        shown = next(result for result in self.of_k.values() if result.value >= best * (1 - SAME))
        said = statement.state_result(self.run.data.dataset, self.run.problem, shown, self.k)
        unit = self.run.problem.leading_eigenvalue or 1.0
        # The bars print these shares. Methods with the same number on their bars do equally well.
        shares = {name: percent_down(result.value / unit, said.digits) for name, result in self.of_k.items()}
        first = [method for method, share in shares.items() if share == said.share_text]
        if len(first) == 1:
            best_ones = f"{wording.plain(rival_name(first[0]))} does best"
        elif len(first) == len(self.of_k):
            best_ones = f"all {len(first)} methods do equally well"
        else:
            best_ones = f"{len(first)} of {len(self.of_k)} methods do best"
        size = wording.things(self.k, wording.noun(self.run.data.dataset))
        found = f"{said.share_text} of the variance of the first principal component."
        more = " Move the slider to compare with more or fewer." * (len(self.ks) > 1)
        ratio = shown.ratio
        least = f"This is {wording.proof(ratio)}. " if said.most_text else ""
        return (
            said,
            f"With {size}, {best_ones}: {found} {said.limit}".rstrip(),
            f"{least}Each bar is what one method captures.{more}",
        )

    @property
    def upper(self) -> float | None:
        """The least proved upper bound at k, None without one."""
        known = self.table.loc[self.table["k"] == self.k, "upper"].dropna()
        return float(known.min()) if len(known) else None


def _telling(table: pd.DataFrame) -> int:
    """Return the k shown first: the smallest that reaches half of the largest value."""
    best = table.groupby("k")["value"].max()
    return int(best.index[best >= ENOUGH * best.max()].min())
