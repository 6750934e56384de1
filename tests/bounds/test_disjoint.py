"""Search over the sets of disjoint components: never below brute force, nothing fixed that a better answer
needs, accepted by the checker, and proved optimal where there is time; forged certificates are refused.
"""

import functools
import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

import nspca
from nspca.api import prove_optimum
from nspca.bounds import elimination
from nspca.bounds.disjoint import pricing, search
from nspca.bounds.disjoint.columns import Columns
from nspca.bounds.disjoint.node import EMPTY, JointNode
from nspca.bounds.disjoint.pricing import Means, Pricing
from nspca.bounds.disjoint.search import JointTree
from nspca.bounds.disjoint.state import State
from nspca.bounds.fixing import eigenvalues, lifts, settle
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import Witness, lifted
from nspca.errors import CertificateError
from nspca.problem import Problem
from nspca.progress import silent
from tests.cancelling import cancelled
from tests.oracles import brute_force_joint
from tests.strategies import cases

SIZES = ((2, 2), (2, 1), (1, 1, 1), (3,), (2, 2, 1), (1, 2, 2), (3, 2))
EDGE = 1e-12


def tree_of(problem, lower, rows=None, **limits):
    """Return a search that has not begun."""
    largest = problem.with_k(max(problem.sizes))
    ground = Ground.of(largest, elimination.keep(largest, rows or problem.n))
    return JointTree(problem, PLANS["standard"], lower, report=silent, ground=ground, limits=Limits(**limits))


def problems(count, seed, n_max=7):
    """Yield matrices, degenerate on purpose, with sizes that fit."""
    for i, case in enumerate(cases(count, n_max=n_max, ranks=(1, 2, 6), seed=seed)):
        A = case.V @ case.V.T
        fitting = [sizes for sizes in SIZES if sum(sizes) <= len(A)]
        if fitting and A.any():
            yield A, fitting[i % len(fitting)]


def values_of_sets(A, nonneg):
    """Return the value of the best component that uses all features of a set, for every set, by number."""
    n, found = len(A), {}
    for size in range(1, n + 1):
        for S in itertools.combinations(range(n), size):
            block = A[np.ix_(S, S)]
            found[S] = brute_force_joint(block, (size,), nonneg)[0]
    return found


def answers_above(A, sizes, nonneg, level):
    """Return all families of disjoint sets whose components reach more than a level together."""
    values, found = values_of_sets(A, nonneg), []

    def search(c, used, chosen, reached):
        if c == len(sizes):
            if reached > level:
                found.append(tuple(chosen))
            return
        for S, value in values.items():
            if len(S) <= sizes[c] and not used & set(S):
                search(c + 1, used | set(S), [*chosen, set(S)], reached + value)

    search(0, set(), [], 0.0)
    return found


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [5, pytest.param(60, marks=pytest.mark.long)])
def test_no_bound_is_below_brute_force_and_what_ends_is_optimal(nonneg, count):
    rng, optimal, tried = np.random.default_rng(41), 0, 0
    for A, sizes in problems(count, 41):
        problem, exact = Problem.from_covariance(A, sizes, nonneg), brute_force_joint(A, sizes, nonneg)[0]
        lower = problem.covariance.to_unit(exact, len(sizes)) * rng.choice([0.0, 0.9, 1.0])
        tree = tree_of(problem, lower, nodes=int(rng.choice([1, 30])))
        tree.run()
        certificate = tree.certificate()
        assert certificate.upper >= exact * (1 - EDGE)
        assert nspca.verify(A, certificate) <= certificate.upper
        optimal += certificate.upper <= exact * (1 + 1e-8)
        tried += 1
    assert tried >= count // 2 and optimal >= 0.6 * tried


@pytest.mark.parametrize("nonneg", [True, False])
def test_every_feature_may_be_needed_and_sizes_may_be_one(nonneg):
    X = np.random.default_rng(8).standard_normal((9, 6))
    for sizes in ((2, 2, 2), (1,) * 6):
        problem = Problem.from_data(X, sizes, nonneg)
        exact = brute_force_joint(problem.covariance.matrix, sizes, nonneg)[0] * problem.covariance.unit
        certificate = nspca.certify(problem, effort="exhaustive", nodes=60)
        assert exact * (1 - EDGE) <= nspca.verify(X, certificate) <= certificate.upper
        assert certificate.upper <= exact * (1 + 1e-8)


@pytest.fixture
def branching(monkeypatch):
    """Keep searches from enumerating the sets of small problems, so that they branch."""
    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    monkeypatch.setattr(pricing, "COUNTED", 0.0)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("count", [6, pytest.param(150, marks=pytest.mark.long)])
def test_nothing_is_fixed_that_a_better_answer_needs(nonneg, count, branching):
    assert fixings(nonneg, count, 11) > 0.4 * count


def uneven(rng, count):
    """Yield matrices whose features differ in variance, so that some can be fixed, and sizes that fit."""
    for _ in range(count):
        n = int(rng.integers(4, 8))
        spread = np.geomspace(2, rng.uniform(0.2, 1.5), n)[rng.permutation(n)]
        X = rng.standard_normal((int(rng.integers(30, 300)), n)) * spread
        X[:, 1] = X[:, 0] if rng.random() < 0.1 else X[:, 1]
        X[:, 2] = 0.0 if rng.random() < 0.1 else X[:, 2]
        fitting = [sizes for sizes in SIZES if sum(sizes) <= n]
        yield X.T @ X / len(X), fitting[int(rng.integers(len(fitting)))]


def fixings(nonneg, count, seed):
    """Fix features with witnesses and prices drawn at random; return how many were fixed, none wrongly."""
    rng, fixed = np.random.default_rng(seed), 0
    for A, sizes in uneven(rng, count):
        problem, n = Problem.from_covariance(A, sizes, nonneg), len(A)
        B = problem.covariance.matrix
        exact = brute_force_joint(B, sizes, nonneg)[0]
        goal = exact * float(rng.choice([0.95, 1.0, 1.0]))
        better = answers_above(B, sizes, nonneg, goal * (1 + 1e-9))
        tree, kept = tree_of(problem, goal), elimination.all_rows(problem)
        best = tree.columns.prices(State.root(sizes, n))
        for _ in range(3):
            state = state_of(rng, sizes, n)
            if state.is_impossible:
                continue
            pi = best.pi * rng.uniform(0.95, 1.05, n) if rng.random() < 0.8 else goal / n * rng.random(n)
            # Levels far below what is reached let the witness be tried at every root.
            own = np.diag(np.diag(B))
            clipped = Witness(np.minimum(B - own, rng.uniform(0, 0.2) * np.abs(B).max()), own)
            W = Stored.of(np.arange(n), lifted(kept, clipped, int(rng.integers(0, 3)))[0])
            low = [-1.0] * len(state.classes)
            means = Means(PLANS["standard"], lambda: None, rounds=0)
            last = Pricing.begin(tree.base, state, pi, low, means, W)
            levels = last.levels(goal)
            made = Pricing.fixing(last, levels, goal, [W] * len(low), lambda: None)
            # its trees begin as copies of those of `last`, which count nodes of their own
            assert all(one.nodes == 1 and one.steps == 0 for one in made.trees)
            after = made.after()
            here = [sets for sets in better if allowed(state, sets)]
            if after is None:
                assert not here
                fixed += n
                continue
            fixed += sum(len(new - old) for new, old in zip(after.out, state.out, strict=True))
            fixed += sum(len(new - old) for new, old in zip(after.into, state.into, strict=True))
            assert all(allowed(after, sets) for sets in here)
    return fixed


def state_of(rng, sizes, n):
    """Return the root or a state some branches below."""
    state = State.root(sizes, n)
    for _ in range(int(rng.integers(0, 3))):
        free = [j for j in range(n) if state.holders(j)]
        if free:
            children = state.children(int(rng.choice(free)))
            state = children[int(rng.integers(len(children)))]
    return state


def allowed(state, sets):
    """Tell whether a state allows a family of sets."""
    parts = zip(state.into, state.out, sets, strict=True)
    return all(into <= S and not S & out for into, out, S in parts)


def test_what_open_states_say_of_features_holds_for_every_answer_in_them():
    rng, certain_ones, impossible_ones = np.random.default_rng(4), 0, 0
    for sizes, n in (((2, 2), 5), ((1, 2, 2), 6), ((2, 1), 4)):
        tree = tree_of(Problem.from_covariance(np.diag(np.arange(1.0, n + 1)), sizes), 0.0)
        sets = [{*S} for k in range(1, 3) for S in itertools.combinations(range(n), k)]
        families = [
            family
            for family in itertools.product(sets, repeat=len(sizes))
            if all(len(S) <= k for S, k in zip(family, sizes, strict=True))
            and sum(map(len, family)) == len(set().union(*family))
        ]
        for _ in range(10):
            above = state_of(rng, sizes, n)
            free = [j for j in range(n) if above.holders(j)]
            left = [one for one in above.children(int(rng.choice(free))) if not one.is_impossible][:2]
            certain, possible = tree.fates([JointNode(state) for state in left])
            for family in families:
                has = np.array([[j in S for S in family] for j in range(n)])
                if any(allowed(state, family) for state in left):
                    assert (certain <= has).all() and (has <= possible).all()
            certain_ones, impossible_ones = certain_ones + certain.sum(), impossible_ones + (~possible).sum()
    assert certain_ones > 5 and impossible_ones > 20
    assert not any(mask.any() for mask in tree.fates([]))


def rivals():
    """Return a matrix whose linear program is above the best answer: three pairs that share features."""
    A = np.eye(3) + 0.9 * (np.ones((3, 3)) - np.eye(3))
    return np.block([[A, np.zeros((3, 3))], [np.zeros((3, 3)), A]])


def test_where_no_prices_are_enough_the_search_branches():
    A, nonneg = rivals(), False
    problem, exact = Problem.from_covariance(A, (2, 2, 2), nonneg), brute_force_joint(A, (2, 2, 2), nonneg)[0]
    state = State.root((2, 2, 2), 6)
    found = Columns(problem.covariance.matrix, nonneg).prices(state)
    assert found.program * problem.covariance.unit > 1.01 * exact
    result = nspca.solve(problem, "joint", certify="exhaustive", nodes=400)
    assert result.certificate.form == "packing" and len(result.certificate.witness["split"]) > 1
    assert result.status is nspca.Status.OPTIMAL and result.value == pytest.approx(exact, rel=1e-9)
    assert nspca.verify(A, result.certificate) <= result.certificate.upper


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_component_that_adds_nothing_has_a_feature_of_its_own(nonneg):
    z = np.random.default_rng(0).standard_normal(20)
    problem = Problem.from_data(np.column_stack([z, z, np.ones((20, 3))]), (2, 2), nonneg=nonneg)
    poor = nspca.Result.of(problem, np.eye(5)[:, [0, 2]], nspca.Status.HEURISTIC, "joint")
    found = prove_optimum(problem, poor)
    assert found.value == pytest.approx(2 * poor.value) and found.status is nspca.Status.OPTIMAL
    assert np.count_nonzero(found.components, axis=0).min() == 1
    assert nspca.certify(problem, found, effort="fast").upper >= found.value * (1 - 1e-9)  # not refused


@pytest.mark.parametrize("every", [1, 2])
def test_a_linear_program_that_fails_proves_nothing_false_and_ends_nothing(monkeypatch, every):
    rng, solve, calls = np.random.default_rng(4), scipy.optimize.linprog, itertools.count(1)
    Z = rng.standard_normal((30, 7)) * np.linspace(1, 2, 7)
    problem, exact = Problem.from_data(Z, (2, 2)), brute_force_joint(np.cov(Z.T, bias=True), (2, 2))[0]

    def failing(*arguments, **words):
        if next(calls) % every:
            return solve(*arguments, **words)
        return scipy.optimize.OptimizeResult(status=4, x=None, fun=None, success=False)

    monkeypatch.setattr(scipy.optimize, "linprog", failing)
    poor = nspca.Result.of(problem, np.eye(7)[:, :2], nspca.Status.HEURISTIC, "joint")
    found = prove_optimum(problem, poor, nodes=10)
    assert next(calls) > every, "no program was solved"
    assert poor.value <= found.value <= exact * (1 + 1e-9)
    assert exact <= nspca.verify(Z, found.certificate, problem) <= found.certificate.upper


def test_a_node_whose_children_get_no_bound_is_not_tried_for_ever(monkeypatch):
    A = rivals()
    problem = Problem.from_covariance(A, (2, 2, 2))
    tree = tree_of(problem, problem.covariance.to_unit(brute_force_joint(A, (2, 2, 2), True)[0]))
    prepare = JointTree.prepare
    only_root = lambda self, node, *given: node is self.root and prepare(self, node, *given)  # noqa: E731
    monkeypatch.setattr(JointTree, "prepare", only_root)
    tree.run()
    certificate = tree.certificate()
    assert tree.root.is_stuck and nspca.verify(A, certificate) <= certificate.upper


def test_pitprops_in_two_parts_of_three_is_proved_optimal_at_usual_effort():
    A = nspca.load_sample("pitprops").X
    result = nspca.solve(Problem.from_covariance(A, (3, 3)), "joint", certify="standard")
    assert result.status is nspca.Status.OPTIMAL and result.certificate.kind == "J8"
    assert nspca.verify(A, result.certificate) <= result.certificate.upper


def test_features_without_rows_may_be_in_the_answer():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((12, 8)) * np.array([3, 2, 2, 1, 0.5, 0.5, 0.1, 0.1])
    problem = Problem.from_data(X, (2, 1), False)
    exact = brute_force_joint(problem.covariance.matrix, (2, 1), False)[0]
    for rows in (1, 5):
        tree = tree_of(problem, exact, rows=rows, nodes=4)
        tree.run()
        certificate = tree.certificate()
        if certificate is not None:
            assert certificate.upper >= exact * problem.covariance.unit * (1 - EDGE)
            assert nspca.verify(X, certificate) <= certificate.upper


def test_the_same_input_gives_the_same_bytes_and_a_cancelled_search_hands_in_its_bound():
    problem, events = Problem.from_covariance(rivals(), (2, 2, 2)), []
    one = nspca.certify(problem, effort="exhaustive", nodes=20, report=events.append)
    _, two = honest()  # which ends before it has so many nodes
    assert len(two.witness["split"]) < 20
    assert all(one.witness[name].tobytes() == two.witness[name].tobytes() for name in one.witness)
    assert events[-1].upper == pytest.approx(one.upper, rel=1e-7)
    searched = [i for i, event in enumerate(events) if event.stage == "proving the optimum"]
    half = lambda seen: len(seen) > searched[len(searched) // 2]  # noqa: E731
    best = cancelled(nspca.certify, problem, effort="exhaustive", nodes=20, when=half)[0].best
    assert nspca.verify(rivals(), best) <= best.upper


@functools.cache
def noise(sizes=(4, 4)):
    """Return data without structure, whose search over sets has many nodes, and the problem."""
    X = np.random.default_rng(3).standard_normal((60, 14 if max(sizes) > 4 else 12))
    return X, Problem.from_data(X, sizes, False)


@functools.cache
def answer_of(problem):
    """Return the joint answer to a problem, solved once for all tests that ask for it."""
    return nspca.solve(problem, "joint", certify=None)


@pytest.fixture
def many_nodes(monkeypatch):
    """Switch off fixing and enumeration, and give nodes few steps, so that searches branch."""
    monkeypatch.setattr(eigenvalues, "COUNTED", 0.0)
    monkeypatch.setattr(settle, "FIX_CAP", 0)
    monkeypatch.setattr(settle, "ROUND", 4)
    monkeypatch.setattr(lifts, "RANK", 2)
    monkeypatch.setattr(pricing, "COUNTED", 0.0)
    monkeypatch.setattr(pricing, "ROUNDS", 1)
    monkeypatch.setattr(search, "STEP", 8)


@pytest.mark.parametrize(
    "sizes", [(4, 4), *(pytest.param(sizes, marks=pytest.mark.visit) for sizes in ((5, 5), (5, 4)))]
)
def test_an_ended_joint_search_goes_on_from_its_file(many_nodes, monkeypatch, sizes):
    X, problem = noise(sizes)
    result = answer_of(problem)
    saved, uppers, lengths = None, [np.inf], [0]
    for _ in range(3):
        one = nspca.certify(problem, result, effort="exhaustive", nodes=6, resume=saved)
        assert nspca.verify(X, one, problem) <= one.upper
        assert one.upper >= result.value * (1 - EDGE)
        saved = nspca.Certificate.from_bytes(one.to_bytes())
        uppers.append(one.upper)
        lengths.append(len(one.tree["branch"]))
    assert uppers == sorted(uppers, reverse=True) and lengths == sorted(set(lengths))
    monkeypatch.undo()
    rest = nspca.certify(problem, result, effort="exhaustive", resume=saved)
    assert rest.form == "packing" and rest.ratio(result.value) >= 1 - 1e-7
    nspca.verify(X, rest, problem)
    assert len(rest.tree["branch"]) > lengths[-1]


@pytest.mark.parametrize(("nonneg", "fixing"), [(True, 0), (False, 400)])
@pytest.mark.parametrize("count", [4, pytest.param(40, marks=pytest.mark.long)])
def test_searches_that_go_on_are_not_below_brute_force(many_nodes, monkeypatch, nonneg, fixing, count):
    monkeypatch.setattr(settle, "FIX_CAP", fixing)
    sizes_of_trees = []
    for A, sizes in problems(count, seed=31, n_max=8):
        problem, exact = Problem.from_covariance(A, sizes, nonneg), brute_force_joint(A, sizes, nonneg)[0]
        result, saved = nspca.solve(problem, "joint", certify=None), None
        for nodes in (1, 4, 12):
            saved = nspca.certify(problem, result, effort="exhaustive", nodes=nodes, resume=saved)
            assert saved.upper >= exact * (1 - EDGE)
            assert nspca.verify(A, saved, problem) <= saved.upper
        sizes_of_trees.append(0 if saved.tree is None else len(saved.tree["branch"]))
    assert max(sizes_of_trees) > 1


def test_damaged_joint_trees_are_one_sentence(many_nodes):
    _, problem = noise()
    part = nspca.certify(problem, answer_of(problem), effort="exhaustive", nodes=3)
    for name in ("split", "branch", "use", "tree", "W", "prices"):
        arrays = {key: array[:0] if key == name else array for key, array in part.tree.items()}
        broken = replace(part, unfinished=arrays)
        with pytest.raises(CertificateError, match="must have arrays that fit together"):
            nspca.certify(problem, effort="exhaustive", nodes=6, resume=broken)


def test_what_a_joint_search_cannot_do_is_one_sentence():
    problem = Problem.from_covariance(rivals(), (2, 2))
    other = nspca.certify(problem.with_k((2, 2, 2)), effort="fast")
    with pytest.raises(nspca.InvalidProblem, match="must be about the same problem"):
        nspca.certify(problem, effort="exhaustive", resume=other)
    with pytest.raises(nspca.InvalidOption, match="got several one after another; use method 'joint'"):
        nspca.solve(Problem.from_covariance(rivals(), 2), components=2, certify="exhaustive")


@functools.cache
def honest():
    """Return data and a certificate with pricings that fix, branches, and nodes that nothing is left of."""
    problem = Problem.from_covariance(rivals(), (2, 2, 2))
    return rivals(), nspca.certify(problem, effort="exhaustive", nodes=400)


def test_forged_certificates_are_refused():
    A, certificate = honest()
    arrays = certificate.witness
    assert nspca.verify(A, certificate)

    def refuse(match, **witness):
        with pytest.raises(CertificateError, match=match):
            nspca.verify(A, replace(certificate, witness=arrays | witness))

    with pytest.raises(CertificateError, match="is claimed, but only"):
        nspca.verify(A, replace(certificate, upper=certificate.upper * (1 - 1e-6)))
    refuse("prices must not be negative", prices=-1.0 - arrays["prices"])
    cheap = arrays["prices"] * 0.5
    refuse("is claimed|could not be proved|is above the level|stay below", prices=cheap)
    branch = int(np.flatnonzero(arrays["split"] >= 0)[0])
    skipped = arrays["split"].copy()
    skipped[branch + 1] = EMPTY
    refuse(".", split=skipped)
    refuse(
        ".", split=np.delete(arrays["split"], branch + 1), pricings=np.delete(arrays["pricings"], branch + 1)
    )
    again = arrays["split"].copy()
    again[branch + 1] = again[branch]
    refuse(".", split=again)
    refuse("is a leaf without a pricing|left over", pricings=arrays["pricings"] * 0)
    refuse("must have a number for each node", pricings=arrays["pricings"][:-1])
    refuse("must be finite", goals=arrays["goals"][:-1])
    high = np.full_like(arrays["goals"], 2 * certificate.upper)
    refuse("is claimed|nothing is left|left over", goals=high)
    for size in ((2, 2), (2, 2, 2, 2), (3, 2, 2)):
        with pytest.raises(CertificateError):
            nspca.verify(A, replace(certificate, k=size))


def test_no_random_change_proves_less_than_the_optimum():
    A, certificate = honest()
    exact, rng, accepted = brute_force_joint(A, (2, 2, 2), True)[0], np.random.default_rng(0), 0
    for _ in range(80):
        name = str(rng.choice(sorted(certificate.witness)))
        array = certificate.witness[name].copy()
        if not array.size:
            continue
        at = int(rng.integers(array.size))
        old = array.flat[at]
        array.flat[at] = old * rng.choice([0.5, 0.99, 2]) if array.dtype.kind == "f" else max(int(old), 0) + 1
        try:
            forged = replace(certificate, witness=certificate.witness | {name: array}, upper=0.01 * exact)
            with pytest.raises(CertificateError) as refused:
                nspca.verify(A, forged)
            words = str(refused.value)
            if "but only" in words:
                accepted += 1
                assert float(words.split("but only ")[1].split(" is proved")[0]) >= exact * (1 - EDGE)
        except OverflowError:
            continue
    assert accepted > 2


def test_a_small_file_about_many_components_needs_little_memory():
    A, certificate = honest()
    n, arrays = 150, {name: array[:0] for name, array in certificate.witness.items()}
    chain = np.arange(n - 1)
    arrays |= {"split": chain, "pricings": 0 * chain, "prices": np.zeros((0, n))}
    A, sizes = np.eye(n), (1,) * n
    about = nspca.certify(Problem.from_covariance(A, 2), effort="fast")
    forged = replace(about, form="packing", k=sizes, witness=arrays)
    tracemalloc.start()
    try:
        with pytest.raises(CertificateError, match="ends too early"):
            nspca.verify(A, forged)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()
