"""What a person asked when comparing methods: plain values that can be stored, compared, and turned back into Python."""

import re
from dataclasses import asdict, dataclass

import nspca
from nspca.dashboard.request import loading
from nspca.errors import InvalidProblem

FIRST = ("auto", "em", "tpower", "greedy", "threshold", "pca")
ALONE_TOO = ("coordinate",)  # joint methods that find a single component as well
ALL_UP_TO = 13  # features, for which every k is compared
LARGE = 160  # the largest k of a comparison that nobody chose
MOST_KS = 60
SIGNS = {True: "nonnegative", False: "of any sign"}
BASELINE = "baseline: truncated and renormalised"


@dataclass(frozen=True)
class CompareRequest:
    """Several methods at several k on one problem.

    Parameters
    ----------
    data, content : as in `nspca.dashboard.request.Request`
    """

    data: dict
    content: str
    ks: tuple[int, ...]
    methods: tuple[str, ...] = FIRST
    effort: str = "fast"
    nonneg: bool = True
    center: bool = True
    scale: bool = False
    seed: int = 0

    @property
    def prepared(self) -> dict:
        """What every further question about the same problem repeats."""
        return {"content": self.content, "nonneg": self.nonneg, "center": self.center, "scale": self.scale, "seed": self.seed}

    def describe(self) -> str:
        """One line for people."""
        steps = (("log2(x + 1)", self.data.get("log2")), ("centred", self.center), ("standardised", self.scale))
        prepared = ", ".join(word for word, on in steps if on) or "taken as they are"
        ks = ", ".join(map(str, self.ks))
        return f"k = {ks}, weights {SIGNS[self.nonneg]}, {self.effort} proofs, data {prepared}"

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict) -> "CompareRequest":
        return cls(**{**stored, "ks": tuple(stored["ks"]), "methods": tuple(stored["methods"])})


def able(nonneg: bool, covariance: bool) -> dict[str, str]:
    """Every method, and why it cannot take part; an empty reason when it can."""
    return {"auto": ""} | {name: _reason(name, nonneg, covariance) for name in nspca.METHODS}


def _reason(name: str, nonneg: bool, covariance: bool) -> str:
    line = nspca.METHODS[name]
    if line.joint and name not in ALONE_TOO:
        return "finds several components at once, as on the Parts and Topics pages"
    if nonneg and not line.nonneg:
        return "has no nonnegative form"
    if not nonneg and not line.signed:
        return "is for nonnegative weights only"
    return "needs the samples, and these data are a covariance matrix" if covariance and name in ("spca", "nmf") else ""


def baselines() -> list[str]:
    return [name for name, line in nspca.METHODS.items() if line.baseline]


def default_ks(n: int) -> tuple[int, ...]:
    """Every k of a small table; 5, 10, 20, ... of a large one."""
    if n <= ALL_UP_TO:
        return tuple(range(1, n + 1))
    doubled = [5 * 2**i for i in range(6)]
    return tuple(k for k in doubled if k < n and k <= LARGE)


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
            raise InvalidProblem(f"values of k must be numbers or ranges such as 5, 10, 20-25, got {part[:20]}")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if not 1 <= first <= last <= n:
            raise InvalidProblem(f"every k must be at least 1 and at most {n}, the number of features, got {part}")
        if last - first >= MOST_KS:
            raise InvalidProblem(f"one comparison takes at most {MOST_KS} values of k, got {last - first + 1}: name fewer of them")
        found |= set(range(first, last + 1))
    if not found:
        raise InvalidProblem("a comparison needs at least one value of k, got none: write for example 5, 10, 20")
    if len(found) > MOST_KS:
        raise InvalidProblem(f"one comparison takes at most {MOST_KS} values of k, got {len(found)}: name fewer of them")
    return tuple(sorted(found))


def snippet(asked: CompareRequest, is_covariance: bool) -> str:
    """Python that makes the comparison again."""
    if is_covariance:
        make = f"nspca.Problem.from_covariance(X, k={asked.ks[0]}, nonneg={asked.nonneg})"
    else:
        make = f"nspca.Problem.from_data(X, k={asked.ks[0]}, nonneg={asked.nonneg}, center={asked.center}, scale={asked.scale})"
    return f"""import nspca

{loading(asked.data)}
problem = {make}
for method in {asked.methods!r}:  # one by one: no method sees another's answer
    sweep = nspca.sweep(problem, {asked.ks!r}, methods=(method,), certify=None, seed={asked.seed})
    print(sweep.frame[["method", "k", "value", "seconds"]])
"""
