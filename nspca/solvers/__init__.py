"""The solvers, one module each. `METHODS` is the only list of their names, references and abilities.

`nspca.solving` looks methods up here, checks a problem with `Method.check` and calls `Method.solve` or
`Method.path`. Pages and the command line list the methods by it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nspca.covariance.covariance import Covariance
from nspca.errors import InvalidOption, InvalidProblem, NSPCAError
from nspca.problem import Problem
from nspca.result import Result
from nspca.solvers import (
    baselines,
    bipartite,
    cone,
    coordinate,
    em,
    epsnet,
    greedy,
    joint,
    penalised,
    spannogram,
    threshold,
    tpower,
)


@dataclass(frozen=True)
class Method:
    """A method to solve a problem: its name, what it can do, and its functions.

    Attributes
    ----------
    name, summary, reference : str
        The name as users write it, one line on what the method does, and the paper it is from.
    nonneg, signed : bool
        Whether the method can find nonnegative weights, and weights of any sign.
    joint : bool
        Whether the method finds several components together, of equal or different sizes. The others find
        one component.
    exact : bool
        Whether the method finds the optimum of the rank-d problem.
    cost : float
        Seconds on one core for five disjoint components of 40 pixels each of the CBCL faces. Used only to
        run the cheapest of several methods first.
    Options : type
        Frozen dataclass of the options of the method.
    solve : callable
        ``solve(problem, options, seed, report) -> Result``, for a problem that has passed `check`.
    path : callable, optional
        ``path(problem, ks, options, seed, report) -> {k: Result}``: all k of a sweep in one pass.
    require : callable, optional
        ``require(problem, options)`` refuses problems that only this method cannot solve, usually because
        they are too large.
    penalised : callable, optional
        ``penalised(options, seed, report)`` returns a function that solves a problem with the penalty that
        keeps components at an angle, for `nspca.components.at_an_angle`. It returns None when the penalty
        is to be added to the covariance.
    needs_data : bool
        Whether the method works on the samples, not on their covariance.
    forced : bool
        Whether the method can keep forced features in every component.
    baseline : bool
        Whether the method solves another problem and cuts the answer to k entries, for comparison only.
    """

    name: str
    summary: str
    reference: str
    cost: float
    Options: type
    solve: Callable[..., Result]
    nonneg: bool = True
    signed: bool = True
    joint: bool = False
    exact: bool = False
    path: Callable[..., dict[int, Result]] | None = None
    require: Callable[..., Any] | None = None
    penalised: Callable[..., Any] | None = None
    needs_data: bool = False
    forced: bool = False
    baseline: bool = False

    def check(self, problem: Problem, options: Any = None) -> None:
        """Refuse a problem that this method cannot solve with these options (its own defaults, when None).

        Raises
        ------
        InvalidOption
            Without a form for this sign, for several sizes, or for forced features.
        InvalidProblem
            When samples are needed and there are none.
        Refused
            When the method would not finish, or not fit into memory.
        """
        if not self.has_form(problem.nonneg):
            sign = "nonnegative" if problem.nonneg else "signed"
            raise InvalidOption(
                f"{self.name} has no {sign} form, got a {sign} problem; choose another method or the other "
                "sign"
            )
        if problem.joint and not self.joint:
            able = ", ".join(
                name for name, line in METHODS.items() if line.joint and line.has_form(problem.nonneg)
            )
            raise InvalidOption(
                f"several sizes need a method that finds components together ({able}), got {self.name!r}"
            )
        if problem.forced and not self.forced:
            able = ", ".join(name for name, line in METHODS.items() if line.forced)
            raise InvalidOption(
                f"{self.name} has no way to keep features in, got {len(problem.forced)} forced; choose auto, "
                f"{able}"
            )
        if self.needs_data and not problem.covariance.has_samples:
            raise InvalidProblem(
                f"{self.name} works on data, got {_describe_without_samples(problem.covariance)}, or use pca"
            )
        if self.require is not None:
            self.require(problem, options or self.Options())

    def refusal(self, problem: Problem, options: Any = None) -> str | None:
        """Return the message with which `check` refuses, or None when the method can solve the problem."""
        try:
            self.check(problem, options)
        except NSPCAError as error:
            return str(error)
        return None

    def has_form(self, nonneg: bool) -> bool:
        """Tell whether the method has a form for nonnegative, or for signed, weights."""
        return self.nonneg if nonneg else self.signed


def _describe_without_samples(A: Covariance) -> str:
    """Return in words what the covariance A is instead of samples in memory, and the way out."""
    if A.on_disk:
        return "shards, which are not held in memory; give some of the rows to from_data"
    if A.source == "data":
        return (
            "what a deflation or an angle left of their covariance; leave used features out (deflation "
            "'drop')"
        )
    return "a covariance matrix; make the problem with from_data"


_LINES = (
    Method(
        "spannogram",
        "exact rank-d optimum by enumerating the candidate supports",
        "Asteris et al. 2014, Alg. 1 and 2, Theorem 1",
        cost=0.6, Options=spannogram.Options, solve=spannogram.solve, require=spannogram.require, exact=True,
    ),
    Method(
        "epsnet",
        "random points of the range of A_d, a rank-1 problem at each",
        "Asteris et al. 2014, Alg. 3, Theorem 2",
        cost=0.05, Options=epsnet.Options, solve=epsnet.solve, path=epsnet.path, require=epsnet.require,
    ),
    Method(
        "cone",
        "exact rank-d optimum by branch and bound over cones of the sphere",
        "nspca.lowrank.cones; problem of Asteris et al. 2014, eq. 10",
        cost=0.13, Options=cone.Options, solve=cone.solve, exact=True, forced=True,
    ),
    Method(
        "spanspca",
        "exact signed rank-d optimum, by the signed cone search",
        "Papailiopoulos et al. 2013; nspca.lowrank.cones",
        cost=0.13, Options=cone.Options, solve=cone.solve, nonneg=False, exact=True, forced=True,
    ),
    Method(
        "em",
        "expectation-maximisation with a soft threshold, restarted",
        "Sigg and Buhmann 2008, Alg. 1 and 2, eq. 12-20",
        cost=0.5, Options=em.Options, solve=em.solve, penalised=penalised.penalised,
    ),
    Method(
        "tpower",
        "truncated power iteration from several starts",
        "Yuan and Zhang 2013, Alg. 1",
        cost=0.08, Options=tpower.Options, solve=tpower.solve, forced=True,
    ),
    Method(
        "threshold",
        "largest entries of the leading eigenvector, with the best weights on them",
        "Cadima and Jolliffe 1995",
        cost=0.03, Options=threshold.Options, solve=threshold.solve, path=threshold.path,
    ),
    Method(
        "greedy",
        "forward selection with the answers for all k on the way, then swaps",
        "d'Aspremont et al. 2008, Moghaddam et al. 2006",
        cost=0.45, Options=greedy.Options, solve=greedy.solve, path=greedy.path, forced=True,
    ),
    Method(
        "spca",
        "baseline: SparsePCA of scikit-learn, its loading truncated to k",
        "Mairal et al. 2009; scikit-learn",
        cost=2.3, Options=baselines.SparsePCAOptions, solve=baselines.spca,
        require=baselines.check_spca_size, needs_data=True, baseline=True,
    ),
    Method(
        "nmf",
        "baseline: NMF of scikit-learn, the best of its parts truncated to k",
        "Lee and Seung 1999; scikit-learn",
        cost=0.5, Options=baselines.NMFOptions, solve=baselines.nmf, signed=False,
        require=baselines.check_nmf_size, needs_data=True, baseline=True,
    ),
    Method(
        "pca",
        "baseline: the leading eigenvector truncated to k",
        "Pearson 1901; PCA of scikit-learn gives the same",
        cost=0.04, Options=baselines.PCAOptions, solve=baselines.pca, baseline=True,
    ),
    Method(
        "coordinate",
        "NSPCA (2006): joint coordinate ascent with a quartic per entry, k by bisection",
        "Zass and Shashua 2006, eq. 3-5, Alg. 1",
        cost=20.0, Options=coordinate.Options, solve=coordinate.solve, signed=False, joint=True,
    ),
    Method(
        "joint",
        "disjoint components sought together by monotone ascent with a matching step",
        "problem (2) of Asteris et al. 2015",
        cost=2.0, Options=joint.Options, solve=joint.solve, joint=True,
    ),
    Method(
        "bipartite",
        "a net of directions, or random ones, with a matching at each",
        "Asteris et al. 2015, Alg. 1-4, Theorems 1 and 2",
        cost=5.0, Options=bipartite.Options, solve=bipartite.solve, joint=True,
    ),
)  # fmt: skip

METHODS: dict[str, Method] = {line.name: line for line in _LINES}
"""All methods by name. "auto" is a policy that chooses among them; `nspca.solving.line_of` knows it too."""
