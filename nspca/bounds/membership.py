"""Membership bounds: for every feature, a bound on the answers that have it and on those that lack it.

Every upper bound adds up terms over a support I of at most k features. The maximum over supports with j is a
bound on the answers that use feature j, the maximum over those without j a bound on the others
(docs/certificates.md, *In or out*). So the witness of a certificate is reused. Its cover is refined where
answers of interest can lie, and the bounds for all features follow at once. A tiny problem has a tree of its
own, which branches until every support that may be of interest is decided.

`selection.membership` calls `certificates`, and keeps the certificate that `decides` ranks highest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import core, lowrank, needed
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import packed
from nspca.bounds.fixing.node import Node, Supports, Use
from nspca.bounds.fixing.stored import none
from nspca.bounds.inequality import SLACK, heights, search_slack, threshold
from nspca.bounds.plan import BRANCHED
from nspca.bounds.strongest import strongest
from nspca.bounds.witness import Witness, lifted, spectral_half
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.errors import NotConverged, Refused
from nspca.lowrank import membership as search
from nspca.lowrank.objective import Query
from nspca.lowrank.terms import changed
from nspca.problem import Problem
from nspca.progress import Report, silent

WORK, FEWEST = 4e7, 200
"""Maximum terms of all cones of a certificate together; and cones that each cover may have in any case."""
NEAR, NEAREST = 0.05, 2e-4
"""Cones are split until their bound is this close to their value f: NEAR times the distance between the value
and the level of interest, and at least NEAREST times the value.
"""
RANK = 3
"""Rank of the lift for a witness without one. Without a lift all features would get the same bounds."""
NAMES = ("having", "lacking")
"""Names of the arrays (n,) of a certificate: bounds on answers that have a feature, and that lack it."""
TREE = 1e8
"""Maximum work of a complete tree: n^3 + CALL for every node."""
CALL = 3e4
"""Fixed cost of a node, such as function calls, in the units of n^3."""
BELOW = 1e-8
"""Relative distance of the target of bounds below a level, so that they are below it despite rounding."""
DEEPER = (1, 3, 10)
"""Distances of further levels from the value, as multiples of that of the level of interest. They are used to
measure the cost of features while work is left.
"""


@dataclass(frozen=True)
class Interest:
    """The answers that membership is about: all whose value is at least `share` times the best known `value`.

    `value` is in unit scale.
    """

    value: float
    share: float

    @property
    def levels(self) -> list[float]:
        """Levels for the bounds, decreasing: the level of interest, then lower ones while work is left."""
        return [self.value * max(0.0, 1 - d * (1 - self.share)) * (1 - BELOW) for d in DEEPER]

    @property
    def tol(self) -> float:
        """Distance between the bound of a cone and its value f at which the cone is no longer split."""
        return self.value * max(NEAR * (1 - self.share), NEAREST)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Upper bounds on the answers that have a feature (n,), that lack a feature (n,), and on all answers.

    Bounds are in unit scale. Entries are -inf where no such answers exist.
    """

    having: Array
    lacking: Array
    upper: float


def certificates(
    problem: Problem,
    certificate: Certificate | None,
    interest: Interest,
    features: Sequence[int] = (),
    report: Report = silent,
) -> Iterator[Certificate]:
    """Yield certificates with bounds for every feature, from every cheap source.

    A small problem gets a complete tree. Otherwise elementary bounds come first, then those from a chain
    (`needed`) and from the witness of `certificate`.

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
    tree = _tree(problem, interest)
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
    if len(features) and problem.n <= BRANCHED:
        root = needed.chain(problem, features, interest.levels[0], BELOW / 10, report)
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


def whole(problem: Problem, certificate: Certificate) -> Certificate:
    """Return a certificate of form "inequality" with its bound on all answers claimed for every feature."""
    t, F = certificate.witness["claims"]
    half = _Half(float(t), float(F), np.zeros(0), np.zeros(0), certificate.witness["tree"])
    same = np.full(problem.n, half.upper)
    bounds = Bounds(same, same, half.upper)
    return stated(problem, certificate.kind, "inequality", bounds, certificate.witness)


def decides(certificate: Certificate, interest: Interest) -> tuple[int, float]:
    """Return a sort key for certificates: the number of claims below the level of interest, and a tie-break.

    The tie-break is minus the sum of the claims, where those below the level count as the level.
    """
    claims, level = np.array([certificate.witness[name] for name in NAMES]), interest.value * interest.share
    return int(np.count_nonzero(claims < level)), -float(np.maximum(claims, level).sum())


def stated(
    problem: Problem, kind: str, form: str, bounds: Bounds, witness: dict[str, np.ndarray]
) -> Certificate:
    """Return the certificate that claims the given bounds, clipped to between 0 and the bound on all answers.

    `witness` holds the arrays that prove the bounds.
    """
    claims = {
        name: np.clip(part, 0.0, bounds.upper)
        for name, part in (("having", bounds.having), ("lacking", bounds.lacking))
    }
    return Certificate.of(problem, kind, form, bounds.upper, witness | claims)


# --- the one inequality ---------------------------------------------------------------------------


def of_inequality(
    problem: Problem, certificate: Certificate, interest: Interest, report: Report = silent
) -> Certificate:
    """Return bounds for every feature from the witness W, M, U of a certificate of the form "inequality".

    A witness without U gets a lift first.
    """
    arrays, forced = certificate.witness, np.array(problem.forced, dtype=int)
    rows = arrays.get("rows")
    features = np.arange(problem.n) if rows is None else rows
    fixed = forced.size if np.array_equal(features[: forced.size], forced) else 0
    outside = np.setdiff1d(problem.usable, features)
    t, floor = float(arrays["claims"][0]), float(arrays["tau"][0]) if "tau" in arrays else 0.0
    witness, kind = Witness(*(arrays.get(name) for name in ("W", "M", "U"))), certificate.kind
    if witness.U is None:
        kept = Kept(rows, problem.covariance.block(features), floor, free=outside.size, fixed=fixed)
        weighted = core.with_weights(problem, features, floor, t, arrays["y"]) if "y" in arrays else kept
        if weighted is None:  # no lift is possible, and the claim t of the certificate stays
            witness = replace(witness, U=np.zeros((features.size, 0)))
        else:
            witness, left = lifted(weighted, witness, RANK)
            t, kind = spectral_half(problem, weighted, witness, left), witness.kind
    stand = _Stand(witness, t, floor, fixed, outside.size)
    half = _search_half(problem, stand, interest, WORK, report)
    bounds = half.spread(problem.n, features, outside, problem.size)
    bounds.having[np.setdiff1d(np.arange(problem.n), problem.usable)] = -np.inf
    named = {"W": witness.W, "M": witness.M, "U": witness.U, "rows": rows}
    named |= {name: arrays.get(name) for name in ("tau", "y")}
    given = {name: a for name, a in named.items() if a is not None and (a.size or name in ("rows", "y"))}
    given |= {"claims": np.array([t, half.F]), "tree": half.tree}
    return stated(problem, kind, "inequality", bounds, given)


@dataclass(frozen=True, eq=False)
class _Stand:
    """A witness with its proved spectral claim t.

    `fixed` counts leading rows that are in every support. `outside` counts usable features without a row;
    their entries of W are at most `floor`.
    """

    witness: Witness
    t: float
    floor: float = 0.0
    fixed: int = 0
    outside: int = 0


@dataclass(frozen=True, eq=False)
class _Half:
    """Proved halves of bounds: t, the search half F on all answers, and on those having or lacking each row.

    `tree` holds the codes of the cover. Rows of zeros for features outside follow those of the witness.
    """

    t: float
    F: float
    having: Array
    lacking: Array
    tree: np.ndarray

    @property
    def upper(self) -> float:
        """Bound t + F, raised by the rounding error of the sum."""
        return self.t + self.F + 8 * UNIT_ROUNDOFF * (abs(self.t) + abs(self.F))

    def spread(self, n: int, features: np.ndarray, outside: np.ndarray, k: int) -> Bounds:
        """Return the bounds for n features; `features` have rows, `outside` are usable but have none."""
        upper = self.upper
        having, lacking = np.full(n, upper), np.full(n, upper)
        own = [np.where(part < self.F, self.t + part, upper) for part in (self.having, self.lacking)]
        having[features], lacking[features] = (part[: features.size] for part in own)
        if outside.size:
            having[outside] = own[0][features.size]
        if 0 < outside.size <= k:  # with more, lacking one of them changes nothing
            lacking[outside] = own[1][features.size]
        return Bounds(having, lacking, upper)


def _search_half(problem: Problem, stand: _Stand, interest: Interest, work: float, report: Report) -> _Half:
    """Search the sphere with at most `work` terms, and return the halves of the bounds for every row."""
    k, nonneg, witness, t = problem.size, problem.nonneg, stand.witness, stand.t
    extra, U = min(k, stand.outside), witness.U
    assert U is not None  # of_inequality and _part provide one
    h = None if witness.M is None else np.append(heights(witness.M, k, nonneg), np.zeros(extra))
    V = np.vstack((U, np.zeros((extra, U.shape[1]))))
    query = Query(V, k, h, threshold(witness.W, nonneg, stand.floor), nonneg, stand.fixed)
    D = V.shape[1] + (query.tau > 0)
    cap = max(FEWEST, int(work / (len(V) * D * (D + 1) / 2 + 1)))
    found = search.rows(query, [level - t for level in interest.levels], interest.tol, cap, report)
    size = np.einsum("ij,ij->i", V, V) + query.tau + (0.0 if h is None else h)
    slack = search_slack(k, D)
    lost = slack * float(topk_sum(size, k, stand.fixed))
    if witness.M is not None:  # rounding errors of h are relative to the norms of the rows of M
        lost += slack * float(topk_sum(np.linalg.norm(witness.M, axis=1), k, stand.fixed))
    more = lost + 8 * UNIT_ROUNDOFF * abs(t)
    return _Half(t, found.upper + lost, found.having + more, found.lacking + more, found.tree)


# --- trees of supports ----------------------------------------------------------------------------


def of_tree(problem: Problem, root: Node, interest: Interest, report: Report = silent) -> Certificate:
    """Return bounds for every feature from a tree without stages, whose covers are refined.

    The bound on answers with a feature is the largest over leaves whose supports can have it. The bound on
    answers without it is the largest over leaves whose supports can lack it.
    """
    leaves = _leaves(root)
    halves = []
    for node, use in leaves:
        rows = np.concatenate((node.supports.into, node.supports.possible))
        witness = none(rows) if use.witness is None else use.witness.at(rows)
        stand = _Stand(witness, use.t, fixed=node.supports.into.size)
        halves.append(_search_half(problem, stand, interest, WORK / len(leaves), report))
        node.leaf = replace(use, F=halves[-1].F, tree=halves[-1].tree)
    return _of_leaves(problem, root, halves)


def _leaves(root: Node) -> list[tuple[Node, Use]]:
    """Return the leaves of a tree that have supports, each with its proof."""
    return [(node, node.leaf) for node in root.walk() if node.leaf is not None]


def _of_leaves(problem: Problem, root: Node, halves: Sequence[_Half]) -> Certificate:
    """Return the certificate of a tree without stages, given the proved halves of its leaves."""
    n, nothing = problem.n, np.zeros(0, dtype=int)
    having, lacking, upper = np.full(n, -np.inf), np.full(n, -np.inf), 0.0
    for (node, _), half in zip(_leaves(root), halves, strict=True):
        supports, upper = node.supports, max(upper, half.upper)
        rows = np.concatenate((supports.into, supports.possible))
        own = half.spread(n, rows, nothing, problem.size)
        own.having[np.setdiff1d(np.arange(n), rows)] = -np.inf
        own.lacking[np.setdiff1d(supports.into, problem.forced)] = -np.inf
        having, lacking = np.maximum(having, own.having), np.maximum(lacking, own.lacking)
    return stated(problem, "B8", "fixing", Bounds(having, lacking, upper), packed(root)[0])


def _tree(problem: Problem, interest: Interest) -> Certificate | None:
    """Return the certificate of a complete tree for the lowest affordable level; None if there is none."""
    found = None
    for level in interest.levels:
        deeper = _decided(problem, level) if problem.n * (problem.n**3 + CALL) <= TREE else None
        if deeper is None:
            break
        found = deeper
    return found


def _decided(problem: Problem, level: float) -> Certificate | None:
    """Return the certificate of a tree that splits supports until all that may reach a level are decided.

    The bound of a set of supports is the largest eigenvalue of A on the features that it can have. Returns
    None when the work exceeds `TREE`.
    """
    A, nothing, work = problem.covariance.matrix, np.zeros(0, dtype=np.int64), 0.0
    forced = np.array(problem.forced, dtype=np.int64)
    root = Node(Supports(forced, np.setdiff1d(problem.usable, forced), problem.size))
    waiting, leaves = [root], list[tuple[Node, np.ndarray]]()
    while waiting:
        node = waiting.pop()
        supports, free = node.supports, node.supports.possible
        rows = np.concatenate((supports.into, free))
        work += rows.size**3 + CALL
        if work > TREE:
            return None
        if supports.is_empty:
            continue
        values, vectors = largest_eigenpairs(A[np.ix_(rows, rows)], 1)
        if not free.size or values[0] <= level:
            leaves.append((node, rows))
            continue
        one = free[[np.argmax(np.abs(vectors[supports.into.size :, 0]))]]
        node.feature = int(one[0])
        node.children = Node(supports.fix(nothing, one)), Node(supports.fix(one, nothing))
        waiting += reversed(node.children)
    halves, no_codes = [], np.zeros(0, dtype=np.uint8)
    for node, rows in leaves:
        t = spectral_half(problem, Kept(rows, A[np.ix_(rows, rows)], 0.0), Witness())
        node.leaf = Use(None, t, 0.0, 0.0, no_codes)
        halves.append(_Half(t, 0.0, np.zeros(rows.size), np.zeros(rows.size), no_codes))
    return _of_leaves(problem, root, halves)


# --- elementary bounds ----------------------------------------------------------------------------


def of_variances(problem: Problem) -> Certificate:
    """Return the bounds ``topk(diag A)`` over the supports with each feature, and over those without it."""
    A, k, fixed, usable = problem.covariance, problem.size, len(problem.forced), problem.usable
    more = k * A.nu + _rounding(problem, k * float(A.diagonal.max()))
    upper = float(topk_sum(A.diagonal[usable], k, fixed)) + more
    having, lacking = np.full(problem.n, -np.inf), np.full(problem.n, upper)
    with_, without = changed(A.diagonal[usable], fixed, k - fixed)
    having[usable], lacking[usable] = with_ + more, without + more
    return stated(problem, "B0", "diagonal", Bounds(having, lacking, upper), {})


def of_rows(problem: Problem) -> Certificate:
    """Return the bounds by row sums (`elementary.rows`) over supports with, and without, each feature."""
    A, k, fixed, usable = problem.covariance, problem.size, len(problem.forced), problem.usable
    B = np.asarray(A.matrix if problem.nonneg else np.abs(A.matrix))[np.ix_(usable, usable)]
    B = np.maximum(B, 0.0)
    own = A.diagonal[usable].copy()
    np.fill_diagonal(B, 0.0)
    most = np.full((2, usable.size), -np.inf)
    whole = -np.inf
    for i in range(usable.size):
        count = k if i < fixed else k - 1
        with_, without = changed(B[i], fixed, count - fixed)
        total = own[i] + float(topk_sum(B[i], count, fixed))
        for best, sums, at_own in zip(most, (with_, without), (total, -np.inf), strict=True):
            sums = own[i] + sums
            sums[i] = at_own
            np.maximum(best, sums, out=best)
        whole = max(whole, total)
    more = _rounding(problem, whole)
    having, lacking = np.full(problem.n, -np.inf), np.full(problem.n, whole + more)
    having[usable], lacking[usable] = most + more
    return stated(problem, "B0", "row", Bounds(having, lacking, whole + more), {})


def _rounding(problem: Problem, size: float) -> float:
    """Return a bound on the rounding error of a checker that recomputes entries and sums of this size."""
    A = problem.covariance
    samples = A.shape[0] if A.source == "data" else 1
    return 4 * SLACK * UNIT_ROUNDOFF * (samples + A.n + 64) * (size + problem.size * float(A.diagonal.max()))
