"""What a person asked of several components: plain values that can be stored, compared, and turned back into Python."""

from dataclasses import asdict, dataclass, field

from nspca.dashboard.request import loading
from nspca.errors import InvalidProblem

MOST = 20  # components: as many as a screen shows and a person can tell apart
AT_ONCE = ("joint", "bipartite")  # the others find one component after another
DEFAULT = ("joint", "cone", "tpower")


@dataclass(frozen=True)
class JointRequest:
    """Several disjoint components of one data set.

    Parameters
    ----------
    data, content : as in `nspca.dashboard.request.Request`
    sizes : features in each component
    options : options by method
    effort : how hard to look for a bound; None for no proof
    """

    data: dict
    content: str
    sizes: tuple[int, ...]
    methods: tuple[str, ...] = DEFAULT
    options: dict = field(default_factory=dict)
    effort: str | None = "fast"
    nonneg: bool = True
    center: bool = True
    scale: bool = False
    seed: int = 0

    @property
    def r(self) -> int:
        return len(self.sizes)

    def describe(self, one: str, feature: str) -> str:
        """One line for people; `one` is a part or a topic."""
        same = len(set(self.sizes)) == 1
        sizes = f"{self.sizes[0]} {feature}s each" if same else f"{', '.join(map(str, self.sizes))} {feature}s"
        weights = "nonnegative" if self.nonneg else "weights of any sign"
        prepared = ["centred" if self.center else "not centred", *(["standardised"] if self.scale else [])]
        return f"{self.r} {one}{'s' * (self.r > 1)} of {sizes}, {weights}, {', '.join(prepared)}"

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict) -> "JointRequest":
        return cls(**{**stored, "sizes": tuple(stored["sizes"]), "methods": tuple(stored["methods"])})


def default_sizes(n: int, r: int, most: int) -> tuple[int, int]:
    """Number of components and features in each for n features: at most `r` and `most`, and some features stay unused."""
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
        raise InvalidProblem(f"sizes must be one whole number, or {r} of them with commas between, got {text.strip()[:40] or 'nothing'!r}")
    sizes = tuple(int(piece) for piece in pieces)
    if len(sizes) == 1:
        sizes *= r
    if len(sizes) != r:
        raise InvalidProblem(f"sizes must be one number for all or {r} numbers, one for each, got {len(sizes)}")
    if min(sizes) < 1 or sum(sizes) > n:
        raise InvalidProblem(f"sizes must be at least 1 and together at most {n}, the number of features, got {sum(sizes)} in all")
    return sizes


def snippet(asked: JointRequest, method: str, is_covariance: bool) -> str:
    """Python that finds the shown components again, from the same data with the same options."""
    k = repr(asked.sizes[0] if len(set(asked.sizes)) == 1 else asked.sizes)
    if is_covariance:
        make = f"nspca.Problem.from_covariance(X, k={k}, nonneg={asked.nonneg})"
    else:
        make = f"nspca.Problem.from_data(X, k={k}, nonneg={asked.nonneg}, center={asked.center}, scale={asked.scale})"
    options = "".join(f", {name}={value!r}" for name, value in asked.options.get(method, {}).items())
    r = asked.r
    prove = ""
    if asked.effort is not None:
        prove = f"certificate = nspca.certify(problem, result, components={r}, effort={asked.effort!r})\n"
        prove += "print(result.value, nspca.verify(X, certificate))  # forms its own products from the data, trusts nothing\n"
    return f"""import nspca

{loading(asked.data)}
problem = {make}
result = nspca.solve(problem, {method!r}, components={r}, seed={asked.seed}, certify=None{options})
{prove}for x in result.components.T:
    print([(names[j], round(x[j], 4)) for j in abs(x).argsort()[::-1] if x[j]])
"""
