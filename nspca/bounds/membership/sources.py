"""Certificates with bounds for every feature, from every cheap source.

`selection.membership` calls `certificates`, and keeps the certificate that `claims.decides` ranks highest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nspca.bounds import lowrank
from nspca.bounds.membership.chain import chain
from nspca.bounds.membership.claims import BELOW, NAMES, Interest
from nspca.bounds.membership.sphere import RANK, of_inequality, whole
from nspca.bounds.membership.sums import of_rows, of_variances
from nspca.bounds.membership.trees import complete_tree, of_tree
from nspca.bounds.plan import BRANCHED
from nspca.bounds.strongest import strongest
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.errors import NotConverged, Refused
from nspca.problem import Problem
from nspca.progress import Report, silent


def certificates(
    problem: Problem,
    certificate: Certificate | None,
    interest: Interest,
    features: Sequence[int] = (),
    report: Report = silent,
) -> Iterator[Certificate]:
    """Yield certificates with bounds for every feature, from every cheap source.

    A small problem gets a complete tree. Otherwise elementary bounds come first, then those from a chain
    (`chain`) and from the witness of `certificate`.

    Parameters
    ----------
    problem : Problem
        A problem for one component.
    certificate : Certificate or None
        The best certificate of this problem.
    interest : Interest
    features : sequence of int
        Features of a component, the most important first. For at most `BRANCHED` features in all, each is
        proved in turn to be in every good answer, which takes seconds.
    report : callable
        Gets an `Event` of stage "features" now and then; raises `Cancelled` to stop.
    """
    tree = complete_tree(problem, interest)
    if tree is not None:
        yield tree
        return
    yield of_variances(problem)
    rows = of_rows(problem) if problem.n <= DENSE_LIMIT else None
    for one in _with_witness(problem, certificate, interest, features, report):
        yield one if rows is None else _beside(one, rows)


def _beside(one: Certificate, rows: Certificate) -> Certificate:
    """Return a certificate whose claims are the smaller of its own and those of `rows` (row sums).

    Row sums need no witness, so the checker can prove both.
    """
    less = {name: np.minimum(one.witness[name], rows.witness[name]) for name in NAMES}
    return replace(one, witness=one.witness | less)


def _with_witness(
    problem: Problem,
    certificate: Certificate | None,
    interest: Interest,
    features: Sequence[int],
    report: Report,
) -> Iterator[Certificate]:
    """Yield the certificates that come from a chain and from the witness of a certificate."""
    if len(features) and problem.n <= BRANCHED and problem.covariance.trace > 0:
        root = chain(problem, features, interest.levels[0], BELOW / 10, report)
        if root is not None:
            yield of_tree(problem, root, interest, report)
    if certificate is not None and certificate.form == "fixing":
        # Its stages fix features for answers above its level, not for all answers of interest.
        certificate = strongest(problem, interest.value, "standard", report, branching=False)[0]
    usable = certificate is not None and {"W", "M", "U"} & set(certificate.witness)
    if certificate is None or certificate.form != "inequality" or not usable:
        try:
            certificate = lowrank.bound(problem, RANK)[0]
        except (NotConverged, Refused):  # A is too large: only elementary bounds are possible
            return
    elif certificate.form == "inequality":
        yield whole(problem, certificate)
    yield of_inequality(problem, certificate, interest, report)
