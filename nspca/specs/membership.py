"""Spec of membership: the features in every good answer, those in none, and the cost of each.

The page Sweep asks it about the component that it shows.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.api import certify
from nspca.certificate import Certificate
from nspca.progress import Report, silent
from nspca.selection.membership import Membership, membership
from nspca.specs.base import Description
from nspca.specs.proof import known_result
from nspca.specs.question import ProblemSpec, Whole
from nspca.validation import address
from nspca.validation.model import Option

SHARE = 990
"""Default share of the optimum from which an answer counts as good, in thousandths."""


class MembershipSpec(ProblemSpec):
    """Spec that finds which features are in every answer near the optimum, and which in none.

    Parameters
    ----------
    k : int
    within : int
        Share of the optimum from which an answer counts as good, in thousandths.

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "membership"

    k: Annotated[Whole, Option("Features", "k", address.INTEGER, say=lambda k: "")]
    within: Annotated[
        StrictInt,
        Limits(ge=1, le=1000),
        Option(
            "Within",
            "within",
            address.INTEGER,
            say=lambda value: f"within {value / 10:g} % of the best",
            always=True,
        ),
    ] = SHARE

    def describe(self) -> Description:
        return Description(self.data.title, f"features in or out, k = {self.k}", self.details())

    def run(
        self, report: Report = silent, X: Any = None, component: Any = None, certificate: bytes | None = None
    ) -> Membership:
        """Return the `nspca.Membership` of a component.

        Parameters
        ----------
        X : Dataset, Problem, array or shards, optional
            The open data; by default the source in `data` is opened.
        component : (n,) array, optional
            A known component; by default the method "auto" finds one.
        certificate : bytes, optional
            File of a certificate of this problem; by default a certificate is proved.
        """
        problem = self.problem(X, report)
        result = known_result(problem, component, report)
        if certificate is None:
            proof = certify(problem, result, report=report)
        else:
            proof = Certificate.from_bytes(certificate)
        return membership(problem, result, proof, self.within / 1000, report=report)

    unpack: ClassVar = staticmethod(Membership.from_bytes)

    def python(self, **shown: Any) -> list[str]:
        return [
            "result = nspca.solve(problem)",
            f"known = nspca.membership(problem, result, share={self.within / 1000!r})",
            "print(known.frame.to_string(float_format=str))  # every digit: a bound is not rounded",
        ]
