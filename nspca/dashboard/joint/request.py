"""What a person asked of several components: plain values that can be stored, compared, and turned back into
Python.
"""

from dataclasses import dataclass, field

import nspca
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs.asked import Asked
from nspca.errors import InvalidProblem
from nspca.tasks.sweep import MORE

MOST = 20  # components: as many as a screen shows and a person can tell apart
DEFAULT = ("joint", "cone", "tpower")
LARGE = 1000  # features, above which what nobody asked for is found by fewer methods
QUICK = ("joint", "cone")


@dataclass(frozen=True)
class JointRequest(Asked):
    """Several disjoint components of one data set.

    Parameters
    ----------
    sizes : features in each component
    options : options by method
    effort : how hard to look for a bound; None for no proof
    """

    sizes: tuple[int, ...]
    methods: tuple[str, ...] = DEFAULT
    options: dict = field(default_factory=dict)
    effort: str | None = "standard"

    @property
    def r(self) -> int:
        return len(self.sizes)

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return self.sizes, 1

    def describe(self, one: str, feature: str) -> str:
        """One line for people; `one` is a part or a topic."""
        same = len(set(self.sizes)) == 1
        each = " each" * (same and self.r > 1)
        sizes = f"{', '.join(map(str, self.sizes[:1] if same else self.sizes))} {feature}s{each}"
        weights = "nonnegative" if self.nonneg else "weights of any sign"
        centred = "centred" if self.center else "not centred"
        prepared = [*self.changed, centred, *(["standardised"] if self.scale else [])]
        return f"{self.r} {one}{'s' * (self.r > 1)} of {sizes}, {weights}, {', '.join(prepared)}"

    def problem(self, of: Chosen) -> nspca.Problem:
        return super().problem(of).with_k(self.sizes)


def default_sizes(n: int, r: int, most: int) -> tuple[int, int]:
    """Number of components and features in each for n features: at most `r` and `most`, and some features
    stay unused.
    """
    r = max(1, min(r, n // 4))
    return r, max(1, min(most, n // (r + 1)))


def read_sizes(text: str, r: int, n: int) -> tuple[int, ...]:
    """``"40"`` or ``"40, 40, 20"`` as r sizes that fit into n features.

    Raises
    ------
    InvalidProblem
        With what was required, what was got and the way out.
    """
    pieces = [piece for piece in text.replace(";", ",").replace(" ", ",").split(",") if piece]
    if not pieces or not all(piece.isascii() and piece.isdigit() and len(piece) < 10 for piece in pieces):
        raise InvalidProblem(
            f"sizes must be one whole number, or {r} of them with commas between, got "
            f"{text.strip()[:40] or 'nothing'!r}"
        )
    sizes = tuple(int(piece) for piece in pieces)
    if len(sizes) == 1:
        sizes *= r
    if len(sizes) != r:
        raise InvalidProblem(
            f"sizes must be one number for all or {r} numbers, one for each, got {len(sizes)}"
        )
    if min(sizes) < 1 or sum(sizes) > n:
        raise InvalidProblem(
            f"sizes must be at least 1 and together at most {n}, the number of features, got {sum(sizes)} "
            "in all"
        )
    return sizes


def snippet(asked: JointRequest, method: str, is_covariance: bool, further: bool = False) -> str:
    """Python that finds the shown components again, from the same data with the same options, and a bound as
    tight as that of the run; or of an attempt that went `further`.
    """
    k = asked.sizes[0] if len(set(asked.sizes)) == 1 else asked.sizes
    given, r = asked.options.get(method, {}), asked.r
    if isinstance(k, tuple) and not nspca.METHODS[method].joint:  # one after another, each of its own size
        load = "import nspca\nfrom nspca.tasks.joint import one_by_one"
        find = f"one_by_one(problem, {method!r}, options={given!r}, seed={asked.seed})"
    else:
        load = "import nspca"
        options = "".join(f", {name}={value!r}" for name, value in given.items())
        find = f"nspca.solve(problem, {method!r}, components={r}, seed={asked.seed}, certify=None{options})"
    prove = ""
    effort = MORE[-1] if further else asked.effort
    if effort is not None:
        prove = f"certificate = nspca.certify(problem, result, components={r}, effort={effort!r})\n"
        prove += (
            "print(result.value, nspca.verify(X, certificate))  # forms its own products from the "
            "data, trusts nothing\n"
        )
    return f"""{load}

{asked.opening(k, is_covariance)}
result = {find}
{prove}for x in result.components.T:
    print([(names[j], round(x[j], 4)) for j in abs(x).argsort()[::-1] if x[j]])
"""
