"""Membership: which features are in every good answer, which in none, and the cost of forcing each.

An answer is good at a share of, say, 0.99 when it explains at least 99 % of the unknown optimum. The optimum
is at least the value of the component. So a feature is in every good answer if the upper bound on answers
without it lies below 99 % of the *component's* value. A feature is in no good answer if the upper bound on
answers with it lies below that level. A feature is exchangeable if answers with it and without it reach 99 %
of the upper bound on *all* answers. Other features are undecided.
"""

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nspca.api import certify
from nspca.bounds.membership import certificate_at
from nspca.certificate import ROUNDING, Certificate, require_about
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array
from nspca.errors import (
    CertificateError,
    InvalidData,
    InvalidOption,
    InvalidProblem,
    NSPCAError,
    shown,
    within_memory,
)
from nspca.local_search.forced import each_replaced
from nspca.presentation import drawing
from nspca.presentation.colours import CONTEXT, EXCHANGEABLE, PROVED, UNDECIDED
from nspca.presentation.numerals import format_value_share
from nspca.problem import Problem
from nspca.progress import Report, silent
from nspca.proving import check_belongs
from nspca.result import Result
from nspca.solving import in_memory
from nspca.validation.archive import read_arrays, write_arrays
from nspca.validation.options import is_number

if TYPE_CHECKING:
    import pandas as pd


EFFORTS = ("fast", "standard")


class Place(Enum):
    """Proved membership of a feature; the value describes it in words."""

    EVERY = "in every"
    NONE = "in none"
    EITHER = "exchangeable"
    OPEN = "undecided"


COLOURS = {Place.EVERY: PROVED, Place.NONE: CONTEXT, Place.EITHER: EXCHANGEABLE, Place.OPEN: UNDECIDED}
DRAWN = 1000
"""Maximum number of features for which a notebook draws squares."""


class Stored:
    """Base of frozen dataclasses whose attributes are numbers, arrays and a `certificate`."""

    certificate: Certificate

    def to_bytes(self) -> bytes:
        """Return the attributes as one npz without pickle, for `from_bytes`."""
        assert is_dataclass(self)
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        arrays["certificate"] = np.frombuffer(self.certificate.to_bytes(), dtype=np.uint8)
        return write_arrays({name: np.asarray(array) for name, array in arrays.items()})

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        try:
            assert is_dataclass(cls)
            arrays = read_arrays(content)
            given: dict[str, Any] = {one.name: arrays[one.name] for one in fields(cls)}
            given |= {name: float(array) for name, array in given.items() if array.ndim == 0}
            given["certificate"] = Certificate.from_bytes(given["certificate"].tobytes())
            return cls(**given)
        except (NSPCAError, KeyError, ValueError, TypeError) as error:
            raise InvalidData(
                f"a stored {cls.__name__} must be bytes written by to_bytes, got {error}; make it again"
            ) from error


def check_known(problem: Problem, result: Result) -> None:
    """Refuse what is no problem for one component with a result of it, and shards with too many features."""
    if not isinstance(problem, Problem) or not isinstance(result, Result):
        kinds = f"{type(problem).__name__} and {type(result).__name__}"
        raise InvalidProblem(f"a Problem and a Result of it are required, got {kinds}; pass what solve gave")
    problem.size  # noqa: B018 - raises for a problem of several components
    if not in_memory(problem):
        raise InvalidProblem(
            f"good answers are proved of at most {DENSE_LIMIT} features of shards, got {problem.n}; give "
            "the data to from_data"
        )
    check_belongs(problem, result)


@dataclass(frozen=True, eq=False)
class Membership(Stored):
    """For every feature, upper bounds and reached values of answers that use it and of answers that do not.

    Attributes
    ----------
    certificate : Certificate
        Proves `upper_with` and `upper_without`: ``nspca.verify(data, membership.certificate, problem)``. It
        tells of no feature where there is no tree, as for data without variance.
    value : float
        Value of the component.
    upper : float
        Smaller of two bounds on all answers: that of this certificate, and of the one it was made from.
    share : float
        An answer is good when it reaches this share of the optimum.
    used : (n,) bool
        The features of the component.
    upper_with, upper_without : (n,) float64
        Upper bounds on answers that use the feature, and that do not, in the units of the data.
    value_with, value_without : (n,) float64
        Values reached by an answer that may use the feature, and by one that does not; 0 where unknown.
    partner : (n,) int
        Feature exchanged with this one to reach that value; -1 where there is none.
    """

    certificate: Certificate
    value: float
    upper: float
    share: float
    used: np.ndarray
    upper_with: Array
    upper_without: Array
    value_with: Array
    value_without: Array
    partner: np.ndarray

    def __post_init__(self) -> None:
        """Refuse reached values above their bounds; those above by rounding are lowered to them."""
        _cap_at_bounds("value", np.atleast_1d(self.value), np.atleast_1d(self.upper))
        for name, upper in (("value_with", self.upper_with), ("value_without", self.upper_without)):
            reached = _cap_at_bounds(name, getattr(self, name), np.minimum(upper, self.upper))
            object.__setattr__(self, name, reached)

    def __repr__(self) -> str:
        """Describe in two lines how many features are decided, and the proof of the component."""
        places = self.places
        counts = ", ".join(f"{places.count(place)} {place.value}" for place in Place)
        good = f"answers that explain at least {format_value_share(self.share, 1.0, 15)} of the optimum"
        proof = f"component of {int(self.used.sum())} features, proof {self.certificate.label}"
        return f"Membership of {len(places)} features in {good}:\n{counts}; {proof}"

    def _repr_html_(self) -> str:
        """Return a notebook view: the two lines, with a square for each feature up to `DRAWN` features."""
        cells = [
            (COLOURS[place], f"feature {j}: {place.value}" + (", used" if used else ""), bool(used))
            for j, (place, used) in enumerate(zip(self.places, self.used, strict=True))
        ]
        return drawing.block(repr(self), [drawing.squares(cells)] if len(cells) <= DRAWN else [])

    @property
    def places(self) -> list[Place]:
        """Return for every feature its proved membership."""
        low, high = self.share * self.value * (1 - ROUNDING), self.share * self.upper * (1 + ROUNDING)
        every, none = self.upper_without < low, self.upper_with < low
        either = (self.value_with >= high) & (self.value_without >= high)
        which = np.select([every & ~none, none & ~every, either & ~every & ~none], [0, 1, 2], 3)
        kinds = (Place.EVERY, Place.NONE, Place.EITHER, Place.OPEN)
        return [kinds[i] for i in which]

    @property
    def cost_with(self) -> Array:
        """Return the least and largest cost (n, 2) of forcing each feature, as shares of the optimum."""
        return self._cost(self.upper_with, self.value_with)

    @property
    def cost_without(self) -> Array:
        """Return the least and largest cost (n, 2) of forbidding each feature, as shares of the optimum."""
        return self._cost(self.upper_without, self.value_without)

    def _cost(self, upper: Array, value: Array) -> Array:
        """Return the least and the largest possible relative loss (n, 2) under bounds and values (n,)."""
        if not self.value > 0:
            return np.tile([0.0, 1.0], (len(upper), 1))
        least = np.clip(1 - upper / self.value, 0.0, 1.0)
        return np.column_stack((least, np.clip(1 - value / self.upper, least, 1.0)))

    @property
    def frame(self) -> "pd.DataFrame":
        """Return a data frame with a row per feature: number, use, membership, bounds, values, costs."""
        import pandas as pd  # slow to import, and needed only here

        return pd.DataFrame(
            {
                "feature": np.arange(self.used.size),
                "used": self.used,
                "place": [place.value for place in self.places],
                "upper_with": self.upper_with,
                "upper_without": self.upper_without,
                "value_with": self.value_with,
                "value_without": self.value_without,
                "forcing_least": self.cost_with[:, 0],
                "forcing_most": self.cost_with[:, 1],
                "forbidding_least": self.cost_without[:, 0],
                "forbidding_most": self.cost_without[:, 1],
                "partner": self.partner,
            }
        )


@within_memory()
def membership(
    problem: Problem,
    result: Result,
    certificate: Certificate | None = None,
    share: float = 0.99,
    effort: str = "standard",
    report: Report | None = None,
) -> Membership:
    """Return which features are in every answer near the optimum, which in none, and what each costs.

    One certificate proves everything: the tree of a search at the level of a good answer, which fixes
    features in and out. A tighter certificate to begin with decides more features.

    Parameters
    ----------
    problem : Problem
        For one component.
    result : Result
        An answer to it.
    certificate : Certificate, optional
        A certificate of this problem. Default: that of the result, else a new one of effort "fast".
    share : float
        Share of the optimum, between 0 and 1, that a good answer explains.
    effort : "fast" or "standard"
        "fast" fixes features by the witness of the certificate and takes a second or two. "standard" improves
        it, branches, and takes seconds more.
    report : callable, optional
        Gets an `Event` now and then, and may raise `Cancelled`.

    Returns
    -------
    Membership

    Raises
    ------
    InvalidOption, InvalidProblem
        For an impossible share or effort, several components, or a result or certificate of another problem.
    CertificateError
        For a certificate whose bound lies below the value of the result.
    """
    if effort not in EFFORTS:
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)}, got {shown(effort)}")
    if not is_number(share) or not 0 < share <= 1:
        raise InvalidOption(f"share must be a number above 0 and at most 1, got {shown(share)}")
    check_known(problem, result)
    report = silent if report is None else report
    given = certificate or result.certificate or certify(problem, result, effort="fast", report=report)
    require_about(problem, given)
    given.ratio(result.value)  # a bound below the value is refused
    A, x = problem.covariance, result.components[:, 0]
    reached = each_replaced(problem, x, report)
    used = np.flatnonzero(x)
    asked = used[np.argsort(reached.lacking[used], kind="stable")].tolist()  # the least replaceable first
    own = certificate_at(problem, A.to_unit(result.value) * float(share), given, asked, effort, report)
    if own is None:
        having = lacking = np.full(problem.n, given.upper)
    else:
        having, lacking = (_scaled_up(own.witness[name], A.exponent) for name in ("having", "lacking"))
    return Membership(
        certificate=own or given,
        value=result.value,
        upper=given.upper if own is None else min(given.upper, own.upper),
        share=float(share),
        used=x != 0,
        upper_with=having,
        upper_without=lacking,
        value_with=(reached.having - A.relief) * A.unit,
        value_without=(reached.lacking - A.relief) * A.unit,
        partner=reached.partner,
    )


def _cap_at_bounds(name: str, reached: Array, upper: Array) -> Array:
    """Return values lowered to bounds that rounding put them above; refuse any other excess."""
    above = np.flatnonzero(~(reached <= np.nextafter(upper * (1 + ROUNDING), np.inf)))
    if above.size:
        j = above[0]
        raise CertificateError(
            f"a bound must not lie below a value that was reached, got upper {float(upper[j])!r} and "
            f"{name}[{j}] {float(reached[j])!r}"
        )
    return np.minimum(reached, upper)


def _scaled_up(bound: Array, exponent: int) -> Array:
    """Return ``bound * 2**exponent``, rounded up where the product falls below the normal numbers."""
    scaled = np.ldexp(bound, exponent)
    return np.where(np.ldexp(scaled, -exponent) < bound, np.nextafter(scaled, np.inf), scaled)
