"""Features fixed in and out, and trees of such nodes: against brute force, and held against the checker."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination, search
from nspca.bounds.fixing import eigenvalues, lifts, tasks
from nspca.bounds.fixing import settle as settling
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import Witness
from nspca.lowrank import fixing
from nspca.lowrank.cones import Query
from nspca.specs.optimum import Standing
from tests.bounds.trees import tree_on
from tests.cancelling import cancelled
from tests.oracles import brute_force
from tests.strategies import counts

PLAN = replace(PLANS["fast"], cap=200)


@pytest.fixture(autouse=True)
def lean(monkeypatch):
    """Give lifts few dimensions and steps, which is enough for small problems and makes trees deeper."""
    monkeypatch.setattr(lifts, "RANK", 2)
    monkeypatch.setattr(tasks, "ROUNDS", 1)
    monkeypatch.setattr(settling, "FIX_CAP", 400)


def tables(count, seed):
    """Small tables: any rank, whole numbers with ties, duplicate and zero columns, entries of one sign."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        n, m = int(rng.integers(2, 10)), int(rng.integers(1, 10))
        X = rng.standard_normal((m, n))
        kind = number % 6
        X = {1: np.round(X), 4: np.abs(X), 5: np.outer(X[:, 0], X[0])}.get(kind, X)
        X[:, rng.integers(n)] = X[:, 0] if kind == 2 else X[:, -1]
        if kind == 3:
            X[:, rng.integers(n)] = 0.0
        if X.any():
            yield X, int(rng.choice([1, n, rng.integers(1, n + 1)])), rng


def optimum(A, k, nonneg, forced=()):
    """Return the values of all supports of k features with the forced ones, by brute force."""
    others = [i for i in range(len(A)) if i not in forced]
    sets = [tuple(sorted((*forced, *I))) for I in combinations(others, min(k, len(A)) - len(forced))]
    return {I: brute_force(A[np.ix_(I, I)], len(I), nonneg)[0] for I in sets}


def tree_of(problem, lower, rng, rows=None, rounds=0, **limits):
    """Return a tree whose root has a random witness."""
    kept = elimination.all_rows(problem) if rows is None else elimination.keep(problem, rows)
    r = len(kept.block)
    W = np.minimum(kept.block, rng.random() * np.abs(kept.block).max(initial=0.0))
    U = np.linalg.eigh(kept.block)[1][:, -2:] * rng.random() if r else np.zeros((0, 0))
    M = 0.05 * rng.standard_normal((r, r)) if rng.random() < 0.3 else None
    tree = tree_on(problem, lower, kept, PLAN, **limits)
    tree.begin(Stored.of(kept.features, Witness((W + W.T) / 2, M, U)), None, rounds)
    tree.run()
    return tree


def made(X, k, nonneg, rng, covariance):
    """Return a problem about these data, sometimes with forced features."""
    n = X.shape[1]
    forced = tuple(map(int, rng.choice(n, int(rng.integers(0, k + 1)), replace=False)))
    forced = tuple(sorted(forced)) if rng.random() < 0.3 else ()
    if not covariance:
        return X, nspca.Problem.from_data(X, k, nonneg, center=False, forced=forced)
    A = X.T @ X / len(X)
    A = (A + A.T) / 2
    return A, nspca.Problem.from_covariance(A, k, nonneg, forced)


# --- the search half --------------------------------------------------------------------------------


@pytest.mark.parametrize("nonneg", [True, False])
@counts(40, 600)
def test_rows_are_fixed_only_where_no_direction_shows_otherwise(nonneg, count):
    """f+j and f-j are tried at many directions; a row that is fixed stays below the level at all of them."""
    rng, fixed = np.random.default_rng(7), 0
    for _ in range(count):
        n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        k = int(rng.integers(1, n + 1))
        first = int(rng.integers(0, k + 1))
        V, h = rng.standard_normal((n, d)), np.maximum(rng.standard_normal(n), 0) * rng.choice([0.0, 0.3])
        query = Query(V, k, h, float(rng.choice([0.0, 0.2])), nonneg, first)
        D = d + (query.tau > 0)
        C = rng.standard_normal((400, D))
        C[:, -1] = np.abs(C[:, -1]) if query.tau > 0 else C[:, -1]
        C /= np.linalg.norm(C, axis=1, keepdims=True)
        having, lacking = fixing.at_directions(query, C)
        top = max(np.max(having), np.max(lacking))
        level = float(top * rng.choice([0.7, 0.9, 0.97]))
        wanted = np.ones(n, bool), np.ones(n, bool)
        found = fixing.fixed_rows(query, level, wanted, C[:0], cap=300)
        assert not found.out[:first].any() and not found.into[:first].any()
        assert (having[found.out] <= level).all() and (lacking[found.into] <= level).all()
        sooner = fixing.fixed_rows(query, level, wanted, C, cap=300)
        assert (having[sooner.out] <= level).all() and (lacking[sooner.into] <= level).all()
        fixed += int(found.out.sum() + found.into.sum())
    assert fixed > count / 4


# --- trees ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize(
    "count", [12, pytest.param(18, marks=pytest.mark.visit), pytest.param(1500, marks=pytest.mark.long)]
)
def test_no_fixing_loses_a_better_answer_and_the_checker_takes_every_tree(nonneg, count, monkeypatch):
    """Every answer above the level is looked up in the tree: it meets each stage's sets."""
    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    fixings = 0
    for number, (X, k, rng) in enumerate(tables(count, seed=11 + nonneg)):
        data, problem = made(X, k, nonneg, rng, covariance=number % 2 == 0)
        values = optimum(problem.covariance.matrix, k, nonneg, problem.forced)
        best = max(values.values())
        lower = float(best * rng.choice([1.0, 1.0, 0.97, 0.8]))
        rows = int(rng.integers(1, problem.n + 1)) if number % 3 == 0 else None
        tree = tree_of(problem, lower, rng, rows, rounds=number % 2, nodes=int(rng.integers(1, 5)))
        certificate = tree.certificate()
        fixings += followed(tree.root, values, max(float(certificate.witness["level"][0]), tree.lower))
        assert certificate.upper >= best * problem.covariance.unit * (1 - 1e-12)
        assert nspca.verify(data, certificate, problem) <= certificate.upper
        again = nspca.Certificate.from_bytes(certificate.to_bytes())
        assert nspca.verify(data, again, problem) <= again.upper
    assert fixings > count


def followed(root, values, level):
    """Return the number of fixed features, after testing that each support above the level is left."""
    fixings = 0
    for node in root.walk():
        fixings += sum(one.out.size + one.into.size for one in node.stages)
    above = [set(I) for I, value in values.items() if value > level * (1 + 1e-9)]
    for support in above:
        node = root
        while node.children:
            node = node.children[0 if node.feature in support else 1]
        left = node.supports
        assert set(left.into.tolist()) <= support <= {*left.into.tolist(), *left.possible.tolist()}
    return fixings


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [8, pytest.param(300, marks=pytest.mark.long)])
def test_exhaustive_effort_proves_the_optimum(nonneg, count):
    for X, k, _ in tables(count, seed=5):
        problem = nspca.Problem.from_data(X, k, nonneg, center=False)
        best = max(optimum(problem.covariance.matrix, k, nonneg).values()) * problem.covariance.unit
        result = nspca.solve(problem, certify="exhaustive", nodes=40)
        assert result.certificate.upper >= best * (1 - 1e-12)
        assert nspca.verify(X, result.certificate, problem) <= result.certificate.upper
        assert result.value >= best * (1 - 1e-9)


PAIRS = np.kron(np.eye(3), np.ones((2, 2)))
TIED = {
    "I": np.eye(6),
    "J": np.ones((6, 6)),
    "pairs": PAIRS,
    "opposed pairs": 2 * np.eye(6) - PAIRS,
    "all opposed": 7 * np.eye(6) - np.ones((6, 6)),
    "half": np.diag([1.0, 1, 1, 0, 0, 0]),
}


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("name", TIED)
def test_features_that_cannot_be_told_apart(name, nonneg, branching):
    """All supports of one size are equally good, or there are two kinds of them."""
    A = TIED[name]
    for k in (1, 3, 4, 6):
        problem = nspca.Problem.from_covariance(A, k, nonneg)
        best = brute_force(A, k, nonneg)[0]
        result = nspca.solve(problem, certify="exhaustive", nodes=60)
        assert result.value >= best * (1 - 1e-9)
        assert best * (1 - 1e-12) <= nspca.verify(A, result.certificate, problem) <= best * (1 + 1e-6)


def hard(n=12, k=5, seed=3):
    """Return noise of both signs, of which many supports are nearly as good as the best one."""
    X = np.random.default_rng(seed).standard_normal((200, n))
    return X, nspca.Problem.from_data(X, k, nonneg=False)


@pytest.fixture
def branching(monkeypatch):
    """Switch off fixing and enumeration, so that searches branch."""
    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    monkeypatch.setattr(settling, "FIX_CAP", 0)
    monkeypatch.setattr(settling, "ROUND", 4)
    monkeypatch.setattr(search, "ROOT_ROUNDS", 1)
    monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], eigenvalues=0.0, cap=200))


@pytest.mark.parametrize(
    ("wide", "rounds"),
    [(False, 3), *(pytest.param(wide, 5, marks=pytest.mark.visit) for wide in (False, True))],
)
def test_going_on_never_loses_nodes_of_a_tree_that_proves_less_than_was_known(
    wide, rounds, branching, monkeypatch
):
    """The first trees are worse than the bound before them: they are kept beside it, in the file too."""
    monkeypatch.setattr(tasks, "ROUNDS", 6)  # a few nodes then prove more than was known
    X, problem = hard()
    if wide:  # some features never have rows
        monkeypatch.setattr(search, "DENSE_LIMIT", 0)
        monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], rows=(9,)))
        X[:, :3] *= 0.2
        problem = nspca.Problem.from_data(X, 5, nonneg=False)
    result = nspca.solve(problem, certify=None)
    saved, sizes, uppers, forms = None, [0], [np.inf], []
    for number in range(rounds):
        nodes = 4 if number else 1
        one = nspca.certify(problem, result, effort="exhaustive", nodes=nodes, resume=saved)
        assert nspca.verify(X, one, problem) <= one.upper
        forms.append(one.form)
        sizes.append(len(one.tree["branch"]))
        uppers.append(one.upper)
        saved = nspca.Certificate.from_bytes(one.to_bytes())
        assert saved.tree.keys() == one.tree.keys()
        assert all(np.array_equal(part, one.tree[name]) for name, part in saved.tree.items())
        if one.ratio(result.value) >= 1 - 1e-8:
            break  # the tree has no open node, and stays as it is
    assert forms[0] == "inequality" and forms[-1] == "fixing" and len(forms) >= 3
    assert sizes == sorted(set(sizes)) and uppers == sorted(uppers, reverse=True)


def test_a_search_that_is_cancelled_early_keeps_the_tree_it_went_on_from(branching):
    X, problem = hard()
    result = nspca.solve(problem, certify=None)
    before = nspca.certify(problem, result, effort="exhaustive", nodes=1)
    assert before.form == "inequality" and before.unfinished

    best = cancelled(nspca.certify, problem, result, effort="exhaustive", resume=before)[0].best
    assert best.upper <= before.upper and len(best.tree["branch"]) >= len(before.tree["branch"])
    nspca.verify(X, best, problem)


def test_a_search_that_is_cancelled_at_its_root_keeps_the_features_fixed_there(monkeypatch):
    # an enumeration would end it at once
    monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], eigenvalues=0.0))
    monkeypatch.setattr("nspca.bounds.fixing.eigenvalues.COUNTED", 0.0)
    X = np.random.default_rng(2).standard_normal((200, 30))
    X[:, :3] *= 1.6
    problem, seen = nspca.Problem.from_data(X, 8), []
    result = nspca.solve(problem, certify=None)

    def watch(event):
        seen.extend(one for one in [Standing.of(event, 30)] if one is not None)

    def is_at_root(events):
        watch(events[-1])
        return seen and seen[-1].nodes == 0 and seen[-1].certain.any()

    stopped, _ = cancelled(nspca.certify, problem, result, effort="exhaustive", when=is_at_root)
    best, last = stopped.best, seen[-1]
    assert best.tree["features"].size >= last.certain.sum() + (~last.possible).sum() > 20
    nspca.verify(X, best, problem)
    seen.clear()
    whole = nspca.certify(problem, result, effort="exhaustive", resume=best, report=watch)
    assert (seen[0].certain >= last.certain).all() and (seen[0].possible <= last.possible).all()
    assert nspca.verify(X, whole, problem) <= result.value * (1 + 1e-8)


def test_no_time_leaves_a_bound():
    X, problem = hard()
    certificate = nspca.certify(problem, effort="exhaustive", seconds=0)
    assert nspca.verify(X, certificate, problem) <= certificate.upper


def test_limits_are_for_exhaustive_effort_and_its_own_certificate():
    _, problem = hard(8, 3)
    with pytest.raises(nspca.InvalidOption, match="seconds is for effort 'exhaustive', got effort 'fast'"):
        nspca.certify(problem, effort="fast", seconds=3)
    foreign = nspca.certify(problem.with_k(2))
    with pytest.raises(
        nspca.InvalidProblem, match="about the same problem, got one whose k is 2 instead of 3"
    ):
        nspca.certify(problem, effort="exhaustive", resume=foreign)
