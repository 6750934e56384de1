"""What a person asked of a sweep: plain values that can be stored, compared, and turned back into Python."""

from dataclasses import dataclass

from nspca.dashboard.runs.asked import Asked
from nspca.dashboard.runs.found import Kind

STEPS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
POINTS = 24  # of a curve, when nobody said how many
ALL_UP_TO = 30  # features, for which every k is swept
LARGE = 1000  # features, above which a default sweep stays below `LARGE_TO`
LARGE_TO = 100


@dataclass(frozen=True)
class Request(Asked):
    """A sweep over k of one data set."""

    first: int
    last: int
    step: int
    methods: tuple[str, ...] = ("auto",)
    effort: str = "fast"

    @property
    def ks(self) -> list[int]:
        return list(range(self.first, self.last + 1, self.step))

    def describe(self) -> str:
        """One line for people."""
        ks = f"k = {self.first}" if len(self.ks) == 1 else f"k = {self.first} to {self.ks[-1]} in steps of {self.step}"
        weights = "nonnegative" if self.nonneg else "weights of any sign"
        return f"{ks}, {weights}, {' and '.join(self.methods)}, {self.effort} proofs, data {self.prepared}"

    def beside(self, other: "Request") -> str:
        """What is different about this one, in words; empty when only the data or the values of k are."""
        said = {
            "center": "centred" if self.center else "not centred",
            "scale": "standardised" if self.scale else "not standardised",
            "nonneg": "nonnegative" if self.nonneg else "weights of any sign",
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


def default_range(n: int) -> tuple[int, int, int]:
    """First k, last k and step for n features: every k of a small table, about 24 round numbers otherwise."""
    if n <= ALL_UP_TO:
        return 1, n, 1
    last = LARGE_TO if n > LARGE else n
    step = min(STEPS, key=lambda candidate: abs(POINTS - last / candidate))
    return step, last - last % step, step


def snippet(request: Request, k: int, method: str, is_covariance: bool) -> str:
    """Python that computes the shown component again, from the same data with the same options, checks its proof, and sets other bounds
    beside it.
    """
    ks = f"range({request.first}, {request.last + 1}, {request.step})"
    return f"""import nspca
from nspca.tasks.sweep import paper_bounds, rank3_bound

{request.opening(k, is_covariance)}
sweep = nspca.sweep(problem, {ks}, methods={request.methods!r}, certify={request.effort!r}, seed={request.seed})
result = sweep[{method!r}, {k}]
upper = nspca.verify(X, result.certificate)  # forms its own products from the data, trusts nothing
print(result.value, upper, result.value / upper)
for j in result.components[:, 0].argsort()[::-1][:{k}]:
    print(names[j], result.components[j, 0])
paper, probability = paper_bounds(problem, {ks}, seed={request.seed})
print("rank-3 bound, proved:", rank3_bound(problem))
print("2014 paper's bound:", paper[{k}], "holds with probability at least", probability)
"""
