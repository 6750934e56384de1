"""What a person asked of a sweep: plain values that can be stored, compared, and turned back into Python."""

from dataclasses import asdict, dataclass

STEPS = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
POINTS = 24  # of a curve, when nobody said how many
ALL_UP_TO = 30  # features, for which every k is swept
LARGE = 1000  # features, above which a default sweep stays below `LARGE_TO`
LARGE_TO = 100


@dataclass(frozen=True)
class Request:
    """A sweep over k of one data set.

    Parameters
    ----------
    data : dict
        Where the data is: ``{"sample": name}``, or ``{"upload": hash, "file": name}`` and how the file is read.
    content : str
        Hash of the numbers themselves: a run is shown only beside the data that it was made from.
    """

    data: dict
    content: str
    first: int
    last: int
    step: int
    methods: tuple[str, ...] = ("auto",)
    effort: str = "fast"
    nonneg: bool = True
    center: bool = True
    scale: bool = False
    seed: int = 0

    @property
    def ks(self) -> list[int]:
        return list(range(self.first, self.last + 1, self.step))

    def describe(self) -> str:
        """One line for people."""
        ks = f"k = {self.first}" if len(self.ks) == 1 else f"k = {self.first} to {self.ks[-1]} in steps of {self.step}"
        weights = "nonnegative" if self.nonneg else "weights of any sign"
        steps = (("log2(x + 1)", self.data.get("log2")), ("centred", self.center), ("standardised", self.scale))
        prepared = ", ".join(word for word, on in steps if on) or "taken as they are"
        return f"{ks}, {weights}, {' and '.join(self.methods)}, {self.effort} proofs, data {prepared}"

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

    def to_dict(self) -> dict:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict) -> "Request":
        return cls(**{**stored, "methods": tuple(stored["methods"])})


def default_range(n: int) -> tuple[int, int, int]:
    """First k, last k and step for n features: every k of a small table, about 24 round numbers otherwise."""
    if n <= ALL_UP_TO:
        return 1, n, 1
    last = LARGE_TO if n > LARGE else n
    step = min(STEPS, key=lambda candidate: abs(POINTS - last / candidate))
    return step, last - last % step, step


def loading(data: dict) -> str:
    """Python that opens the data which `Request.data` describes, as X with its names."""
    if "sample" in data:
        load = f"nspca.load_sample({data['sample']!r})"
    else:
        options = {name: data.get(name) for name in ("id_column", "label_column", "features_in_rows") if data.get(name)}
        if data.get("vocabulary"):
            options["vocabulary"] = "the vocabulary file"
        load = f"nspca.read({', '.join([repr(data['file']), *(f'{name}={value!r}' for name, value in options.items())])})"
    take = ["X, names = data.X, data.feature_names"]
    if data.get("drop"):
        take = ["varying = sorted(set(range(data.X.shape[1])) - set(data.constant_columns()))"]
        take += ["X, names = data.X[:, varying], [data.feature_names[j] for j in varying]"]
    if data.get("log2"):
        take += ["import numpy as np", "X = np.log1p(X.astype(float)) / np.log(2)  # log2(x + 1), for a sparse table too"]
    return "\n".join([f"data = {load}", *take])


def snippet(request: Request, k: int, method: str, is_covariance: bool) -> str:
    """Python that computes the shown component again, from the same data with the same options, and checks its proof."""
    if is_covariance:
        make = f"nspca.Problem.from_covariance(X, k={k}, nonneg={request.nonneg})"
    else:
        make = f"nspca.Problem.from_data(X, k={k}, nonneg={request.nonneg}, center={request.center}, scale={request.scale})"
    ks = f"range({request.first}, {request.last + 1}, {request.step})"
    return f"""import nspca

{loading(request.data)}
problem = {make}
sweep = nspca.sweep(problem, {ks}, methods={request.methods!r}, certify={request.effort!r}, seed={request.seed})
result = sweep[{method!r}, {k}]
upper = nspca.verify(X, result.certificate)  # forms its own products from the data, trusts nothing
print(result.value, upper, result.value / upper)
for j in result.components[:, 0].argsort()[::-1][:{k}]:
    print(names[j], result.components[j, 0])
"""
