"""The class `Seen`: a finished comparison at one k, with its results and its answer in sentences."""

import pandas as pd

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.compare.run import Compared
from nspca.dashboard.views import statement
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

    def sentences(self) -> list[str]:
        """Return the answer as sentences: the best methods, their value, and the proved share."""
        best = max(result.value for result in self.of_k.values()) or 1.0
        first = [method for method, result in self.of_k.items() if result.value >= best * (1 - SAME)]
        said = statement.state_result(self.run.data.dataset, self.run.problem, self.of_k[first[0]], self.k)
        names = wording.listed([wording.plain(rival_name(name)) for name in first])
        find = "finds" if len(first) == 1 else "find"
        return [f"#### {names} {find} the most at k = {self.k}.", f"{said.found} {said.limit}", self.gaps()]

    def gaps(self) -> str:
        """Return a sentence about the distance of the other methods from the best value."""
        best = max(result.value for result in self.of_k.values()) or 1.0
        below = sorted((1 - result.value / best, method) for method, result in self.of_k.items())
        others = [
            f"{wording.plain(rival_name(method))} {100 * gap:.2g} % less"
            for gap, method in below
            if gap > SAME
        ]
        return f"Found by the others: {', '.join(others)}." if others else "All methods find the same."


def _telling(table: pd.DataFrame) -> int:
    """Return the k shown first: the smallest that reaches half of the largest value."""
    best = table.groupby("k")["value"].max()
    return int(best.index[best >= ENOUGH * best.max()].min())
