"""The methods, one a file; `METHODS` says of each what it is, from where, and what it can do."""

from collections.abc import Callable
from dataclasses import dataclass

from nspca.solvers import baselines, bipartite, cone, coordinate, em, epsnet, greedy, joint, spannogram, threshold, tpower


@dataclass(frozen=True)
class Method:
    """A line of the table: ``solve(problem, options, seed, report) -> Result``; `path` does all k of a sweep in one pass."""

    summary: str
    reference: str
    nonneg: bool
    signed: bool
    joint: bool
    exact: bool
    Options: type
    solve: Callable
    path: Callable | None = None
    baseline: bool = False


METHODS: dict[str, Method] = {
    "spannogram": Method(
        "exact rank-d optimum by enumerating the candidate supports", "Asteris et al. 2014, Alg. 1 and 2, Theorem 1",
        nonneg=True, signed=True, joint=False, exact=True, Options=spannogram.Options, solve=spannogram.solve,
    ),
    "epsnet": Method(
        "random points of the range of A_d, a rank-1 problem at each", "Asteris et al. 2014, Alg. 3, Theorem 2",
        nonneg=True, signed=True, joint=False, exact=False, Options=epsnet.Options, solve=epsnet.solve, path=epsnet.path,
    ),
    "cone": Method(
        "exact rank-d optimum by branch and bound over cones of the sphere", "nspca.cones; problem of Asteris et al. 2014, eq. 10",
        nonneg=True, signed=True, joint=False, exact=True, Options=cone.Options, solve=cone.solve,
    ),
    "spanspca": Method(
        "exact signed rank-d optimum, by the signed cone search", "Papailiopoulos et al. 2013; nspca.cones",
        nonneg=False, signed=True, joint=False, exact=True, Options=cone.Options, solve=cone.solve,
    ),
    "em": Method(
        "expectation-maximisation with a soft threshold, restarted", "Sigg and Buhmann 2008, Alg. 1 and 2, eq. 12-17",
        nonneg=True, signed=True, joint=False, exact=False, Options=em.Options, solve=em.solve,
    ),
    "tpower": Method(
        "truncated power iteration from several starts", "Yuan and Zhang 2013, Alg. 1",
        nonneg=True, signed=True, joint=False, exact=False, Options=tpower.Options, solve=tpower.solve,
    ),
    "threshold": Method(
        "largest entries of the leading eigenvector, with the best weights on them", "Cadima and Jolliffe 1995",
        nonneg=True, signed=True, joint=False, exact=False, Options=threshold.Options, solve=threshold.solve, path=threshold.path,
    ),
    "greedy": Method(
        "forward selection with the answers for all k on the way, then swaps", "d'Aspremont et al. 2008, Moghaddam et al. 2006",
        nonneg=True, signed=True, joint=False, exact=False, Options=greedy.Options, solve=greedy.solve, path=greedy.path,
    ),
    "spca": Method(
        "baseline: SparsePCA of scikit-learn, its loading truncated to k", "Mairal et al. 2009; scikit-learn",
        nonneg=True, signed=True, joint=False, exact=False, Options=baselines.SparsePCAOptions, solve=baselines.spca, baseline=True,
    ),
    "nmf": Method(
        "baseline: NMF of scikit-learn, the best of its parts truncated to k", "Lee and Seung 1999; scikit-learn",
        nonneg=True, signed=False, joint=False, exact=False, Options=baselines.NMFOptions, solve=baselines.nmf, baseline=True,
    ),
    "pca": Method(
        "baseline: the leading eigenvector truncated to k", "Pearson 1901; PCA of scikit-learn gives the same",
        nonneg=True, signed=True, joint=False, exact=False, Options=baselines.PCAOptions, solve=baselines.pca, baseline=True,
    ),
    "coordinate": Method(
        "NSPCA (2006): joint coordinate ascent with a quartic per entry, k by bisection", "Zass and Shashua 2006, eq. 3-5, Alg. 1",
        nonneg=True, signed=False, joint=True, exact=False, Options=coordinate.Options, solve=coordinate.solve,
    ),
    "joint": Method(
        "disjoint components sought together by monotone ascent with a matching step", "problem (2) of Asteris et al. 2015",
        nonneg=True, signed=True, joint=True, exact=False, Options=joint.Options, solve=joint.solve,
    ),
    "bipartite": Method(
        "a net of directions, or random ones, with a matching at each", "Asteris et al. 2015, Alg. 1-4, Theorems 1 and 2",
        nonneg=True, signed=True, joint=True, exact=False, Options=bipartite.Options, solve=bipartite.solve,
    ),
}  # fmt: skip
