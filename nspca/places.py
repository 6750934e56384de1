"""In or out: which features belong to every good answer, which to none, and what each of them costs.

An answer is good at a share of, say, 0.99 when it explains at least 99 % of what the unknown best one does.
The component that was found explains no more than that one, so an upper bound on the answers that lack a
feature that lies below 99 % of the *component's* value proves that every good answer has it; and so for the
answers that have it. A value that is reached without it, at 99 % of the upper bound on *all* answers or more,
proves that it can be done without. Between the two nothing is said.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from nspca import drawing
from nspca.api import belonging, certify, in_memory
from nspca.archive import read_arrays, write_arrays
from nspca.ascent.replaced import Replaced, each_replaced
from nspca.bounds import membership as bounds
from nspca.certificate import ROUNDING, Certificate, require_about
from nspca.colours import CONTEXT, EXCHANGEABLE, PROVED, UNDECIDED
from nspca.errors import (
    CertificateError,
    InvalidData,
    InvalidOption,
    InvalidProblem,
    NSPCAError,
    shown,
    within_memory,
)
from nspca.matrix.covariance import DENSE_LIMIT
from nspca.matrix.linalg import Array
from nspca.numerals import format_value_share
from nspca.problem import Problem
from nspca.progress import Report, silent
from nspca.result import Result

if TYPE_CHECKING:
    import pandas as pd


EFFORTS = ("fast", "standard")
ARRAYS = ("used", "upper_with", "upper_without", "value_with", "value_without", "partner")


class Place(Enum):
    """What is proved of a feature; the value says it in words."""

    EVERY = "in every"
    NONE = "in none"
    EITHER = "exchangeable"
    OPEN = "undecided"


COLOURS = {
    Place.EVERY: PROVED,
    Place.NONE: CONTEXT,
    Place.EITHER: EXCHANGEABLE,
    Place.OPEN: UNDECIDED,
}
DRAWN = 1000
"""Features of the largest membership that a notebook draws."""


@dataclass(frozen=True, eq=False)
class Membership:
    """For every feature, what answers that use it, and answers that do not, can reach and do reach.

    Attributes
    ----------
    certificate : Certificate
        Proves `upper_with` and `upper_without`: ``nspca.verify(data, membership.certificate, problem)``.
    value : float
        Of the component.
    upper : float
        The lesser bound on all answers: this certificate's, or that of the one it was made from.
    share : float
        An answer is good when it reaches this share of the optimum.
    used : (n,) bool
        The features of the component.
    upper_with, upper_without : (n,) float64
        No answer that uses the feature, or that does not, explains more; in the units of the data.
    value_with, value_without : (n,) float64
        What is reached by an answer that may use it, and by one that does not; 0 where none is known.
    partner : (n,) int
        The feature that it changes places with for that value; -1 where there is none.
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

    def __post_init__(self):
        """Refuse reached values above the bounds on them; rounding alone is taken off."""
        _at_most("value", np.atleast_1d(self.value), np.atleast_1d(self.upper))
        for name, upper in (("value_with", self.upper_with), ("value_without", self.upper_without)):
            reached = _at_most(name, getattr(self, name), np.minimum(upper, self.upper))
            object.__setattr__(self, name, reached)

    def __repr__(self) -> str:
        """Describe in two lines how many features are decided, and how much is proved of the component."""
        places = self.places
        counts = ", ".join(f"{places.count(place)} {place.value}" for place in Place)
        good = f"answers that explain at least {format_value_share(self.share, 1.0, 15)} of the optimum"
        proof = f"component of {int(self.used.sum())} features, proof {self.certificate.kind}"
        return f"Membership of {len(places)} features in {good}:\n{counts}; {proof}"

    def _repr_html_(self) -> str:
        """Show the two lines in a notebook, with a square for each feature up to `DRAWN` features."""
        cells = [
            (COLOURS[place], f"feature {j}: {place.value}" + (", used" if used else ""), bool(used))
            for j, (place, used) in enumerate(zip(self.places, self.used, strict=True))
        ]
        return drawing.block(repr(self), [drawing.squares(cells)] if len(cells) <= DRAWN else [])

    @property
    def places(self) -> list[Place]:
        """For every feature what is proved of it."""
        low, high = self.share * self.value * (1 - ROUNDING), self.share * self.upper * (1 + ROUNDING)
        every, none = self.upper_without < low, self.upper_with < low
        either = (self.value_with >= high) & (self.value_without >= high)
        which = np.select([every & ~none, none & ~every, either & ~every & ~none], [0, 1, 2], 3)
        kinds = (Place.EVERY, Place.NONE, Place.EITHER, Place.OPEN)
        return [kinds[i] for i in which]

    @property
    def cost_with(self) -> Array:
        """What forcing a feature costs at least and at most, as shares of the optimum; (n, 2)."""
        return self._cost(self.upper_with, self.value_with)

    @property
    def cost_without(self) -> Array:
        """What forbidding a feature costs at least and at most; (n, 2)."""
        return self._cost(self.upper_without, self.value_without)

    def _cost(self, upper, value):
        if not self.value > 0:
            return np.tile([0.0, 1.0], (len(upper), 1))
        least = np.clip(1 - upper / self.value, 0.0, 1.0)
        return np.column_stack((least, np.clip(1 - value / self.upper, least, 1.0)))

    def to_bytes(self) -> bytes:
        """One npz without pickle; `from_bytes` reads it."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays["numbers"] = np.array([self.value, self.upper, self.share])
        arrays["certificate"] = np.frombuffer(self.certificate.to_bytes(), dtype=np.uint8)
        return write_arrays(arrays)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Membership":
        """Read what `to_bytes` wrote."""
        try:
            arrays = read_arrays(content)
            certificate = Certificate.from_bytes(arrays["certificate"].tobytes())
            value, upper, share = map(float, arrays["numbers"])
            return cls(certificate, value, upper, share, **{name: arrays[name] for name in ARRAYS})
        except (NSPCAError, KeyError, ValueError, TypeError) as error:
            raise InvalidData(
                f"what is known of features must be bytes written by to_bytes, got {error}; make it again"
            ) from error

    @property
    def frame(self) -> "pd.DataFrame":
        """One row per feature: its number, whether the component uses it, what is proved, what it costs."""
        import pandas as pd  # as in `Sweep.frame`

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
    """Which features belong to every answer within a share of the optimum, which to none, and what forcing or
    forbidding each of them costs.

    All follows from one certificate, whose bound is looked at feature by feature. Of a feature that costs
    less than the gap of the certificate nothing is decided: the tighter it is, the more is.

    Parameters
    ----------
    problem : Problem
        For one component.
    result : Result
        An answer to it.
    certificate : Certificate, optional
        Of this problem; that of the result, or one of effort "fast", when there is none.
    share : float
        Between 0 and 1: which answers count as good.
    effort : "fast" or "standard"
        "fast" takes the certificate as it is, a second or two; "standard" also asks of each feature of the
        component whether an answer can do without it, where there are at most 128 features: seconds more.
    report : callable, optional
        Gets an `Event` now and then, and may raise `Cancelled`.

    Returns
    -------
    Membership

    Raises
    ------
    InvalidOption, InvalidProblem
        For another share or effort, several components, or a result or certificate of something else.
    CertificateError
        For a certificate whose bound lies below the value of the result.
    """
    if effort not in EFFORTS:
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)}, got {shown(effort)}")
    if isinstance(share, bool) or not isinstance(share, int | float | np.floating) or not 0 < share <= 1:
        raise InvalidOption(f"share must be a number above 0 and at most 1, got {shown(share)}")
    if not isinstance(problem, Problem) or not isinstance(result, Result):
        kinds = f"{type(problem).__name__} and {type(result).__name__}"
        raise InvalidProblem(f"a Problem and a Result of it are required, got {kinds}; pass what solve gave")
    problem.size  # noqa: B018 - a joint problem says so
    if not in_memory(problem):
        raise InvalidProblem(
            f"which features are in or out is asked of at most {DENSE_LIMIT} features of shards, got "
            f"{problem.n}; give the data to from_data"
        )
    belonging(problem, result)
    report = silent if report is None else report
    given = certificate or result.certificate or certify(problem, result, effort="fast", report=report)
    require_about(problem, given)
    given.ratio(result.value)  # a bound below the value is refused
    A, x = problem.covariance, result.components[:, 0]
    reached = each_replaced(problem, x, report)
    interest = bounds.Interest(result.value / A.unit, float(share))
    with threadpool_limits(1):  # the calls are small and many, as in `bounds.strongest`
        dearest = _dearest(problem, x, reached, effort)
        found = list(bounds.certificates(problem, given, interest, dearest, report))
    own = max(found, key=lambda one: bounds.decides(one, interest))
    having, lacking = (_scaled_up(own.witness[name], A.exponent) for name in ("having", "lacking"))
    return Membership(
        certificate=own,
        value=result.value,
        upper=min(given.upper, own.upper),
        share=float(share),
        used=x != 0,
        upper_with=having,
        upper_without=lacking,
        value_with=reached.having * A.unit,
        value_without=reached.lacking * A.unit,
        partner=reached.partner,
    )


def _dearest(problem: Problem, x: Array, reached: Replaced, effort: str) -> list[int]:
    """The features of a component, those that it can least do without first; none at "fast"."""
    used = np.setdiff1d(np.flatnonzero(x), problem.forced)
    return used[np.argsort(reached.lacking[used], kind="stable")].tolist() if effort == "standard" else []


def _at_most(name: str, reached: Array, upper: Array) -> Array:
    """Return the values `reached`, none above its bound.

    Raises
    ------
    CertificateError
        When one lies above its bound by more than rounding: then one of the two is wrong.
    """
    above = np.flatnonzero(~(reached <= np.nextafter(upper * (1 + ROUNDING), np.inf)))
    if above.size:
        j = above[0]
        raise CertificateError(
            f"a bound must not lie below a value that was reached, got upper {float(upper[j])!r} and "
            f"{name}[{j}] {float(reached[j])!r}"
        )
    return np.minimum(reached, upper)


def _scaled_up(bound: Array, exponent: int) -> Array:
    """``bound * 2**exponent``, rounded up where that falls below the normal numbers."""
    scaled = np.ldexp(bound, exponent)
    return np.where(np.ldexp(scaled, -exponent) < bound, np.nextafter(scaled, np.inf), scaled)
