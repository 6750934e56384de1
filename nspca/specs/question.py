"""Base classes of questions: `ProblemSpec` about a problem, `RowsSpec` about rows of data.

A `ProblemSpec` makes its problem, estimates its cost, and exports Python. Each kind of question has a module
with a subclass.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field as Limits
from pydantic import StrictBool, StrictInt

from nspca.bounds.plan import PLANS
from nspca.covariance.inputs import SHIFT
from nspca.data import Dataset
from nspca.data.formats.base import Size
from nspca.errors import InvalidData
from nspca.planning import Plan, planned, read_size
from nspca.problem import Problem
from nspca.progress import Report
from nspca.shards import Shards
from nspca.specs.base import Description, Spec, arguments
from nspca.specs.data import DataSpec, Numbers, keeping
from nspca.validation import address
from nspca.validation.model import Option, Required

AGAIN = 1 / 4
"""Seconds of each further problem on the same data, as a share of the first; eigenvectors are then cached."""
MOST_NAMED = 6
"""Maximum number of values of k without a common step that are listed one by one."""
SEEDS = 2**63
"""Upper limit of seeds, which JSON and NumPy can represent."""
OF_SEED = "seed of everything random (default 0)"

Whole = Annotated[StrictInt, Limits(ge=1), Required("a whole number of at least 1")]
"""A number of features, components or repetitions."""
Seed = Annotated[
    StrictInt,
    Limits(ge=0, lt=SEEDS),
    Required("a whole number, 0 or more"),
    Option("Seed", to="call", say="seed {}", flag="--seed", metavar="N", help=OF_SEED),
]


def weights_words(nonneg: bool) -> str:
    """Return a phrase about the permitted signs of weights."""
    return "nonnegative" if nonneg else "weights of any sign"


class JsonSpec(Spec):
    """Base class of questions whose results are stored as JSON: plain values, or an `answer` with arrays."""

    answer: ClassVar[type[Any] | None] = None
    """Dataclass of the results, whose fields are plain values, tuples and arrays; None for plain values."""

    def pack(self, result: Any) -> bytes:
        return json.dumps(vars(result) if self.answer else result, default=plain_numbers).encode()

    @classmethod
    def unpack(cls, body: bytes) -> Any:
        found = json.loads(body)
        if cls.answer is None:
            return found
        for field in fields(cls.answer):
            value = found[field.name]
            if isinstance(value, list) and str(field.type).startswith("tuple"):
                found[field.name] = tuple(value)
            elif isinstance(value, list):
                is_whole = all(isinstance(one, int) for one in value)
                found[field.name] = np.array(value, int if is_whole else float)
        return cls.answer(**found)


def plain_numbers(values: np.ndarray) -> list[Any]:
    """Return an array as JSON values: whole numbers and finite numbers, None for nan, text for infinity."""
    return [one if np.isfinite(one) else None if np.isnan(one) else str(one) for one in values.tolist()]


class ProblemSpec(Spec):
    """Base class of questions about a problem, with all fields of the problem except k."""

    data: DataSpec = DataSpec()
    """The data set."""
    nonneg: Annotated[
        StrictBool,
        Option("Weights", "signed", address.OPPOSITE, "problem", "", weights_words, True, "--signed"),
    ] = True
    """Allow negative weights."""
    forced: Annotated[
        Numbers, Option("Kept features", to="problem", say=lambda value: keeping(len(value)))
    ] = ()
    """Features that are in every component, by number in the data after all steps."""
    center: Annotated[
        StrictBool, Option("Centre", "center", to="problem", say="not centred", flag="--no-center")
    ] = True
    """Do not subtract the column means."""
    scale: Annotated[
        StrictBool, Option("Standardise", "scale", to="problem", say="standardised", flag="--scale")
    ] = False
    """Divide every column by its standard deviation."""

    @property
    def question(self) -> str:
        """The question in words, without the data and the settings."""
        raise NotImplementedError

    def describe(self) -> Description:
        return Description(self.data.title, self.question, self.details())

    @property
    def content(self) -> str:
        """Hash of the numbers that the question is about; empty for the present content of the source."""
        return self.data.content

    @property
    def first(self) -> Any:
        """The field `k` or `sizes`, or the first of `ks`: that of the problem which `problem` returns."""
        given = vars(self)
        return given["ks"][0] if "ks" in given else given.get("sizes") or given["k"]

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        """Sizes of the components in the largest problem, and the number of problems, for a cost estimate."""
        largest = vars(self)["ks"][-1] if "ks" in vars(self) else self.first  # `ks` increase
        return (largest if isinstance(largest, tuple) else (largest,)), 1

    @property
    def same_problem(self) -> tuple[Any, ...]:
        """Key that is equal for questions about equal problems, whatever their k."""
        numbers = self.content, self.data.covariance, self.data.repair
        return *numbers, self.nonneg, self.center, self.scale, self.forced

    def about_problem(self) -> dict[str, Any]:
        """Return the fields of `ProblemSpec`, for making another question about the same problem."""
        return {name: getattr(self, name) for name in ("data", "nonneg", "forced", "center", "scale")}

    def options_of(self, methods: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the changed options of these methods, for another question that uses them."""
        options = getattr(self, "options", {})
        return {method: options[method] for method in methods if options.get(method)}

    def numbers_only(self) -> "ProblemSpec":
        """Return the question without the source of its data, so that equal numbers give equal questions."""
        return self.but(data=DataSpec(covariance=self.data.covariance, repair=self.data.repair))

    def open(self, beside: Path = Path()) -> Dataset | Shards:
        """Read the data; see `DataSpec.open`."""
        return self.data.open(beside=beside)

    def problem(
        self, X: Any = None, report: Report | None = None, client: Any = None, k: Any = None
    ) -> Problem:
        """Return the problem about the data X, which may be made already. None opens the data source.

        `report` gets an event for every block of a table that is read in blocks. The workers of a Dask
        `client` read a folder of shards together. `k` replaces the first k of the question.
        """
        if isinstance(X, Problem):
            return X
        X = self.open() if X is None else X
        k = self.first if k is None else k
        is_covariance = self.data.covariance or getattr(X, "is_covariance", False)
        how = {"k": k, **self._of_problem(is_covariance)}
        if is_covariance:
            return Problem.from_covariance(X, **how)
        if isinstance(X, Shards):
            return Problem.from_shards(X, **how, report=report, client=client)
        return Problem.from_data(X, **how, report=report)

    def rows(self, X: Any) -> Any:
        """Return the data of a question about rows, opened if X is None.

        A covariance, a folder of shards, whose rows are not in memory, and weighted samples are refused.
        """
        X = self.open() if X is None else X
        if getattr(X, "weights", None) is not None:
            raise InvalidData(
                "this question draws or shuffles samples and takes no weights of them, got some; read the "
                "table without its column of weights"
            )
        if isinstance(X, Shards | Problem) or getattr(X, "is_covariance", False) or self.data.covariance:
            raise InvalidData("this question needs rows in memory, got none; ask it about a table of samples")
        return X

    def estimate(self, data: Any = None) -> Plan:
        """Return the cost estimate for data, a path or a `Size`: memory, passes and seconds."""
        data = self.open() if data is None else data
        size = data if isinstance(data, Size) else read_size(data)
        sizes, problems = self.work
        wanted = getattr(self, "effort", None) or "fast"
        # The estimate of an exhaustive search is that of its first bound.
        effort = wanted if wanted in PLANS else [*PLANS][-1]
        found = planned(size, sizes, effort)
        return Plan(**{**vars(found), "seconds": found.seconds * (1 + AGAIN * (problems - 1))})

    def details(self, *names: str) -> tuple[str, ...]:
        """Return the settings in words; a covariance is neither centred nor standardised."""
        plain = self.but(center=True, scale=False) if self.data.covariance else self
        return super(ProblemSpec, plain).details(*names)

    def to_query(self) -> dict[str, str]:
        """Return data and question as the names and texts of an address."""
        query = super().to_query()
        if self.data.covariance:
            query = {name: text for name, text in query.items() if name not in ("center", "scale")}
        return self.data.to_query() | query

    @classmethod
    def values_of_query(cls, query: Any) -> dict[str, Any]:
        """Return the values of the fields that an address names, with `data` as a `DataSpec`."""
        return super().values_of_query(query) | {"data": DataSpec.from_query(query)}

    # ---- Python

    def _of_problem(self, is_covariance: bool) -> dict[str, Any]:
        given = self.given_to("problem")
        if not is_covariance:
            return given
        given = {name: value for name, value in given.items() if name not in ("center", "scale")}
        return given | ({"repair": SHIFT} if self.data.repair else {})

    def opening(self, k: int | tuple[int, ...] | None = None) -> str:
        """Return Python that loads the data and makes the problem."""
        given = {"k": self.first if k is None else k, **self._of_problem(self.data.covariance)}
        is_folder = self.data.folder is not None and not self.data.some
        make = "from_covariance" if self.data.covariance else "from_shards" if is_folder else "from_data"
        return "\n".join([*self.data.to_python(), f"problem = nspca.Problem.{make}(X, {arguments(given)})"])

    def to_python(self, **shown: Any) -> str:
        """Return Python that answers the question with public names only.

        `shown` is the part of the result that a page shows, such as k and method.
        """
        return "\n".join(["import nspca", "", self.opening(), *self.python(**shown), ""])

    subject: ClassVar[str] = "problem"
    """Argument of `run` in exported Python: the problem that `opening` makes, or the numbers X."""

    def python(self, **shown: Any) -> list[str]:
        """Return the lines of Python that follow `opening`; by default they run the question itself."""
        return [f"found = {self.asking()}", "print(found)"]

    def asking(self) -> str:
        """Return Python that makes this question and runs it."""
        given = self.model_dump(exclude={"data"}, exclude_defaults=True)
        return f"nspca.{type(self).__name__}({arguments(given)}).run(X={self.subject})"


class RowsSpec(ProblemSpec):
    """Base class of questions that need the rows of the data, and make problems of some of them."""

    subject: ClassVar[str] = "X"

    def of_call(self, *without: str) -> dict[str, Any]:
        """Return the keyword arguments of the call that answers the question, and makes its problems."""
        given = self.given_to("problem") | self.given_to("call")
        return {name: value for name, value in given.items() if name not in without}

    def opening(self, k: int | tuple[int, ...] | None = None) -> str:
        """Return Python that opens the data; the question makes its problem by itself."""
        return "\n".join(self.data.to_python())


def python_of(ks: Sequence[int]) -> str:
    """Return values of k as a Python expression."""
    step = step_of(ks)
    return f"{list(ks)}" if step is None else f"range({ks[0]}, {ks[-1] + 1}, {step})"


def step_of(ks: Sequence[int]) -> int | None:
    """Return the common step of values of k; None if there is none."""
    found = {b - a for a, b in pairwise(ks)} or {1}
    return found.pop() if len(found) == 1 else None


def ks_words(ks: Sequence[int]) -> str:
    """Return values of k in words: ``k = 3``, ``k = 1 to 30`` or ``k = 5, 10, 20``."""
    step = step_of(ks)
    if len(ks) < 3 or (len(ks) <= MOST_NAMED and step is None):
        return f"k = {', '.join(map(str, ks))}"
    if step is None:
        return f"{len(ks)} values of k from {ks[0]} to {ks[-1]}"
    return f"k = {ks[0]} to {ks[-1]}" + (f" in steps of {step}" if step > 1 else "")
