"""The kind of run of the sweep page, its default values of k, and differences of sweeps in words.

The form and the comparisons of that page use them.
"""

from nspca.dashboard.runs.lookup import Kind
from nspca.specs import SweepSpec
from nspca.specs.data import keeping
from nspca.specs.question import weights_words

POINTS = (1, 1.5, 2, 3, 5, 7)  # default values of k in each power of ten
LARGE = 1000  # number of features above which default sweeps stay below `LARGE_TO`
LARGE_TO = 100


SWEEP = Kind(
    spec=SweepSpec,
    page="sweep",
    key="run",
    anew=("k", "shown"),
    empty="Nothing has run yet. Choose the values of k below and press Compute. The curve then fills in.",
    icon=":material/area_chart:",
    stranger="The run in this address is no sweep. Choose the values of k below and press Compute.",
)


def default_range(n: int, kept: int = 0) -> tuple[int, int]:
    """Return the default first and last k for n features, of which `kept` are forced."""
    return max(1, kept), max(LARGE_TO, kept) if n > LARGE else n


def usual(first: int, last: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 5, 7, 10, 15, 20, 30, ... from `first` to `last`, both included."""
    series = {int(point * 10**power) for power in range(len(str(last))) for point in POINTS}
    return tuple(sorted({first, last} | {k for k in series if first < k < last}))


def differences(asked: SweepSpec, other: SweepSpec) -> str:
    """Return the differences of two sweeps in words; empty if they differ only in data or values of k."""
    said = {
        "center": "centred" if asked.center else "not centred",
        "scale": "standardised" if asked.scale else "not standardised",
        "nonneg": weights_words(asked.nonneg),
        "forced": keeping(len(asked.forced)) if asked.forced else "keeping none",
        "methods": " and ".join(asked.methods),
        "effort": f"{asked.effort} proofs",
    }
    return ", ".join(text for name, text in said.items() if getattr(asked, name) != getattr(other, name))
