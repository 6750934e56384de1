"""The checker from inside: what it reads, its margins against exact arithmetic, and the rules that its pages
promise.
"""

import itertools
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.checker import cover, reading, rounding, verify
from nspca.checker.cover import TopSum
from nspca.checker.inequality import heights
from nspca.checker.matrix import matrix_of
from nspca.errors import CertificateError
from tests.makers import certify, changed, digest_of, refused, spiked, top, unit_matrix

X = spiked(1, 8, 5)
HONEST = certify(X, 2, d=1, W=np.minimum(unit_matrix(X)[0], 0.1))


# what is read


class Counted:
    """A certificate that counts how often it is read, and gives other answers from the second time on."""

    def __init__(self, certificate, **later):
        self.__dict__["asked"] = {}
        self.__dict__["certificate"] = certificate
        self.__dict__["later"] = later

    def __getattr__(self, name):
        self.asked[name] = self.asked.get(name, 0) + 1
        return (
            self.later[name]
            if self.asked[name] > 1 and name in self.later
            else getattr(self.certificate, name)
        )


def test_every_attribute_is_read_once():
    counted = Counted(
        HONEST,
        k=1,
        nonneg=False,
        upper=1e300,
        digest="",
        form="diagonal",
        exponent=0,
        witness={},
        shape=(1, 1),
        scale=True,
    )
    assert verify(X, counted, nspca.Problem.from_data(X, 2)) == verify(X, HONEST)
    assert set(counted.asked.values()) == {1}
    low = Counted(replace(HONEST, upper=HONEST.upper / 2), upper=1e300)
    refused(X, low, "claimed")


class Agreeable(str):
    """A text that is equal to every other."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class Large(float):
    """A number that is above every other."""

    def __ge__(self, other):
        return True

    __gt__ = __ge__


class Nothing(int):
    """A number that is equal to every other."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


def test_words_that_compare_as_they_like_are_taken_for_what_they_are():
    refused(X, replace(HONEST, digest=Agreeable("0")), "digests differ")
    refused(X, replace(HONEST, source=Agreeable("rumour")), "source")
    refused(X, replace(HONEST, form=Agreeable("oracle")), "version 1")
    refused(X, replace(HONEST, version=Nothing(2)), "version 1")
    refused(X, replace(HONEST, shape=(Nothing(3), Nothing(3))), "shape")
    refused(X, replace(HONEST, exponent=Nothing(HONEST.exponent + 2)), "exponent")
    refused(X, replace(HONEST, upper=Large(HONEST.upper / 2)), "claimed")
    refused(X, replace(HONEST, k=Nothing(1)), "another problem", problem=nspca.Problem.from_data(X, 2))
    for subclass in (
        replace(HONEST, digest=Agreeable(HONEST.digest)),
        replace(HONEST, k=np.int8(2)),
        replace(HONEST, nonneg=np.True_),
    ):
        assert verify(X, subclass) == verify(X, HONEST)


@pytest.mark.parametrize("upper", [np.longdouble(1e9), 1e9 + 0j, True, "1e9", [1e9]])
def test_upper_is_a_number_that_is_known_exactly(upper):
    refused(X, replace(HONEST, upper=upper), "must be a number|whole numbers")
    for exact in (np.float32(2.0**40), np.int64(2**40), 2**40, np.float64(2.0**40)):
        assert verify(X, replace(HONEST, upper=exact)) == verify(X, HONEST)


class Shifting(np.ndarray):
    """An array whose conversions give other numbers every time."""

    def __array_finalize__(self, other):
        self.told = getattr(other, "told", 0)

    def astype(self, *arguments, **options):
        return np.zeros(self.shape)

    def __array_ufunc__(self, *arguments, **options):
        return np.True_


class Supplied:
    """An object that returns its own array on conversion, and keeps it."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_arrays_are_copied_before_they_are_looked_at():
    bad = HONEST.witness["claims"] * 0.5
    for disguise in (bad.view(Shifting), Supplied(bad), np.ma.masked_array(bad, mask=True), bad.tolist()):
        refused(X, changed(HONEST, claims=disguise), "lambda_max|cone")
    claims, W, tree = (np.array(HONEST.witness[name]) for name in ("claims", "W", "tree"))
    witness = HONEST.witness | {"claims": Supplied(claims), "W": Supplied(W), "tree": Supplied(tree)}
    arrays = reading.Arrays("inequality", witness)
    read = reading.Inequality.read(arrays, 5, (2,))
    for array in (claims, W, tree):
        array[...] = 7
    assert (read.t, read.F) == tuple(HONEST.witness["claims"])
    assert np.array_equal(read.W, HONEST.witness["W"]) and np.array_equal(read.tree, HONEST.witness["tree"])
    with pytest.raises(AttributeError):
        read.t = 0.0


def test_a_proof_changes_nothing_of_what_it_was_given():
    data, arrays = X.copy(), {name: np.array(array) for name, array in HONEST.witness.items()}
    for array in arrays.values():
        array.setflags(write=False)
    data.setflags(write=False)
    assert verify(data, replace(HONEST, witness=arrays)) == verify(X, HONEST)
    assert all(np.array_equal(arrays[name], HONEST.witness[name]) for name in arrays)


@pytest.mark.parametrize("name", ["k", "upper", "witness", "digest", "exponent"])
def test_a_missing_attribute_is_refused(name):
    words = {word: getattr(HONEST, word) for word in HONEST.__dataclass_fields__ if word != name}
    refused(X, SimpleNamespace(**words), "cannot be read")


# its margins


def exactly_psd(S):
    """Return whether a small symmetric matrix of floats is psd, by elimination in rational arithmetic."""
    S = [[Fraction(float(entry)) for entry in row] for row in S]
    while S:
        pivot, row = S[0][0], S[0]
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        S = [
            [S[i][j] - (S[i][0] * row[j] / pivot if pivot else 0) for j in range(1, len(S))]
            for i in range(1, len(S))
        ]
    return True


def test_is_psd_is_never_wrong_and_seldom_shy():
    rng = np.random.default_rng(0)
    accepted = refused_ones = 0
    for trial in range(600):
        n = int(rng.integers(1, 6))
        B = rng.integers(-3, 4, (n, int(rng.integers(1, n + 1)))).astype(float) * 2.0 ** rng.integers(-20, 20)
        S = B @ B.T + rng.choice([-1, 0, 1]) * 2.0 ** rng.integers(-60, 0) * abs(B).max() ** 2 * np.eye(n)
        error = float(rng.choice([0.0, 1e-18, 1e-12])) * abs(S).max()
        proved = rounding.is_psd(S, error)
        assert not proved or exactly_psd(S - error * np.eye(n)), trial
        accepted, refused_ones = accepted + proved, refused_ones + (not proved)
        if np.linalg.eigvalsh(S)[0] > error + 1e-12 * abs(S).max():
            assert proved
    assert accepted > 50 and refused_ones > 50
    assert not rounding.is_psd(np.full((2, 2), np.nan), 0.0) and rounding.is_psd(np.zeros((0, 0)), 0.0)
    assert not rounding.is_psd(np.eye(2), np.nan) and not rounding.is_psd(
        np.array([[1.0, 1.0], [1.0, 1.0]]), 0.0
    )


def test_gamma_and_margin_exceed_what_they_stand_for():
    u = Fraction(1, 2**53)
    for j in (1, 2, 10, 1000, 2**20, 2**40):
        assert Fraction(rounding.gamma(j)) >= j * u / (1 - j * u)
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 60))
        x, y = (rng.standard_normal(n) * 10.0 ** rng.integers(-8, 8, n) for _ in range(2))
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
        assert abs(Fraction(float(x @ y)) - exact) <= Fraction(
            float(rounding.margin(n, np.linalg.norm(x) * np.linalg.norm(y)))
        )


def test_roots_norms_and_floats_are_rounded_up():
    rng = np.random.default_rng(2)
    for square in [
        5e-324,
        2.0**-1074 * 3,
        1e-308,
        1.0,
        2.0,
        np.nextafter(1, 0),
        *10.0 ** rng.uniform(-300, 300, 300),
    ]:
        assert Fraction(rounding.root_up(square)) ** 2 >= Fraction(square)
        assert rounding.root_up(square) <= np.sqrt(square) * (1 + 1e-15)
    assert rounding.root_up(0.0) == 0.0
    assert rounding.norm(np.full((3, 3), 1e-200)) >= 3e-200 and rounding.norm(np.zeros(3)) == 0.0
    for exact in (Fraction(1, 3), Fraction(2**60 + 1), Fraction(-1, 3), Fraction(1, 2**1080), Fraction(3, 4)):
        assert (
            Fraction(rounding.float_up(exact))
            >= exact
            > Fraction(float(np.nextafter(rounding.float_up(exact), -np.inf)))
        )


def test_entries_that_vanish_at_unit_scale_are_not_taken_for_zero():
    """OPT = 1e-17 beside an entry of -1e308, which no unit brings into one range: 0 is no bound."""
    A = np.array([[-1e308, 0.0], [0.0, 1e-17]])
    claim = certify(A, 1, source="covariance")
    witness = {"rows": np.array([1]), "claims": np.zeros(2)}
    refused(A, replace(claim, form="inequality", witness=witness, upper=0.0), "not kept")
    wide = np.diag([1e308, 1e-17])
    assert (
        verify(
            wide, replace(certify(wide, 1, source="covariance"), form="diagonal", witness={}, upper=1.1e308)
        )
        >= 1e308
    )


def test_topk_and_heights_are_what_they_say():
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(1, 7))
        k = int(rng.integers(1, n + 1))
        fixed = int(rng.integers(0, k + 1))
        v = rng.integers(0, 5, n).astype(float)
        assert rounding.topk(v, k, fixed) == top(v, k, fixed)
        M = rng.standard_normal((n, n)) * 10.0 ** rng.choice([-170, -3, 0, 3])
        for nonneg in (True, False):
            h = heights(M, k, nonneg)
            for i in range(n):
                off = np.delete(np.maximum(M[i], 0) if nonneg else abs(M[i]), i)
                squares = sum(sorted((Fraction(float(entry)) ** 2 for entry in off), reverse=True)[: k - 1])
                m, bound = Fraction(float(M[i, i])), Fraction(float(h[i]))
                # h >= (m + sqrt(m^2 + s^2)) / 2  <=>  2h - m >= 0 and (2h - m)^2 >= m^2 + s^2
                assert bound >= 0 and 2 * bound >= m and (2 * bound - m) ** 2 >= m * m + squares


@pytest.mark.parametrize("nonneg", [True, False])
def test_rows_that_are_dropped_change_no_sum(nonneg):
    """Neither of products of generators nor, where constants may be negative, at directions between them."""
    rng = np.random.default_rng(4)
    dropped = 0
    for trial in range(60):
        n, D = int(rng.integers(3, 30)), int(rng.integers(1, 4))
        k = int(rng.integers(1, n))
        fixed = int(rng.integers(0, k + 1))
        d = D - trial % 2
        V = rng.standard_normal((n, D)) * 10.0 ** rng.uniform(-2, 0, (n, 1))
        V[:, d:] = 0.1
        f = cover.TopSum(V, d, rng.random(n) * rng.choice([0.0, 0.01, 1.0]), k, fixed, nonneg)
        g = np.eye(D) + 0.3 * rng.random((5, D, D))
        g = g / np.linalg.norm(g, axis=2, keepdims=True)
        G, p = g @ g.transpose(0, 2, 1), f.at(g)
        rows = cover.droppable(f, f.products(g), p)
        dropped += rows.sum()
        assert not rows[:fixed].any()
        for j, l in itertools.product(range(D), repeat=2):
            terms = p[:, j] * p[:, l] + f.h * G[:, j, l, None]
            for all_terms in terms:
                assert np.array_equal(
                    np.sort(all_terms[fixed:])[::-1][: k - fixed],
                    np.sort(all_terms[fixed:][~rows[fixed:]])[::-1][: k - fixed],
                )
    assert dropped > 100


def split(cone, code):
    """Return the two halves of a cone, as the page of the format says it."""
    j, l = divmod(code, len(cone))
    first, second = cone.copy(), cone.copy()
    first[j] = second[l] = cone[j] + cone[l]
    return first, second


def grown(cone, rng, depth):
    """Return the codes of a random tree, and its leaves in preorder."""
    D = len(cone)
    if D == 1 or depth == 0 or rng.random() < 0.4:
        return [cover.CONE_LEAF], [cone]
    j, l = sorted(rng.choice(D, 2, replace=False).tolist())
    parts = [grown(half, rng, depth - 1) for half in split(cone, j * D + l)]
    return [j * D + l, *parts[0][0], *parts[1][0]], parts[0][1] + parts[1][1]


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("D", [1, 2, 3, 4])
def test_covers_have_the_cones_of_their_codes_and_take_no_more(D, nonneg):
    rng = np.random.default_rng(D)
    for d in (D - 1, D):
        f = TopSum(rng.standard_normal((5, D)), d, np.zeros(5), 2, 0, nonneg)
        codes, leaves = [], []
        for signs in itertools.product((1.0, -1.0), repeat=D):
            if not (d < D and signs[-1] < 0) and not (not nonneg and d > 0 and signs[0] < 0):
                more, cones = grown(np.diag(signs), rng, 6)
                codes, leaves = codes + more, leaves + cones
        tree, lengths = np.array([*codes, 7, 7]), [np.linalg.norm(cone, axis=1) for cone in leaves]
        for at_once in (1, 2, 1000):
            pieces = list(cover.cover(f, tree, at_once))
            found = np.concatenate([cones for cones, _ in pieces])
            assert np.array_equal(
                found, [cone / of[:, None] for cone, of in zip(leaves, lengths, strict=True)]
            )
            assert max(len(cones) for cones, _ in pieces) <= at_once and pieces[-1][1].tolist() == [7, 7]
        for short in (tree[: len(codes) - 1], tree[:0]):
            with pytest.raises(CertificateError, match="too early"):
                list(cover.cover(f, short, 3))


def test_a_cone_that_is_split_ever_deeper_is_the_same_set_to_the_last_unit():
    f = TopSum(np.ones((3, 2)), 2, np.zeros(3), 1, 0, False)  # signed: two orthants
    deep = 60
    tree = np.array([*[1] * deep, *[cover.CONE_LEAF] * (deep + 1), cover.CONE_LEAF])
    cones = np.concatenate([cones for cones, _ in cover.cover(f, tree, 7)])
    assert len(cones) == deep + 2
    for left, right in itertools.pairwise(cones[:-1]):  # neighbours share a generator
        assert np.array_equal(left[0], right[1])
    assert np.array_equal(cones[0, 1], [0, 1]) and np.array_equal(cones[deep, 0], [1, 0])
    # first halves and second halves in turn: the generators grow as Fibonacci's numbers, which pass 2^52
    for times, says in ((35, "too early"), (40, "too deep")):
        with pytest.raises(CertificateError, match=says):
            list(cover.cover(f, np.array([1, 1, cover.CONE_LEAF] * times), 7))


def test_entries_of_a_covariance_are_within_their_errors_whatever_the_shift():
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, size = int(rng.integers(1, 5)), 2.0 ** int(rng.integers(-40, 40))
        A = rng.standard_normal((n, n)) * size * rng.choice([1.0, 2.0**-60, 2.0**-1000], (n, n))
        A = A if rng.integers(2) else (A + A.T) / 2
        e = int(np.frexp(np.abs(A).max())[1])
        A[0, 0] = -abs(A[0, 0])
        unit = [
            [(Fraction(A[i, j]) + Fraction(A[j, i])) / 2 / Fraction(2) ** e for j in range(n)]
            for i in range(n)
        ]
        # a shift that cancels the first entry of the diagonal, up to some digits, is the hardest
        shift = -float(unit[0][0]) * (1 + float(rng.choice([0.0, 2.0**-50, 0.5])))
        digest = digest_of(A)
        given = SimpleNamespace(
            shape=A.shape, digest=digest, source="covariance", shift=shift, exponent=e, weights=""
        )
        held = matrix_of(A, given)
        added = [
            Fraction(float(held.entries[i, i])) - Fraction(float(np.ldexp(A[i, i], -e))) for i in range(n)
        ]
        assert held.relief == (min(added) if shift else 0) and held.lost <= rounding.TINY
        for i, j in itertools.product(range(n), repeat=2):
            exact = unit[i][j] + (added[i] if i == j and shift else 0)
            off = abs(Fraction(float(held.entries[i, j])) - exact)
            assert off <= Fraction(held.eps) * abs(exact) + Fraction(held.lost)
            sizes = Fraction(float(held.size[i])) * Fraction(float(held.size[j]))
            assert abs(exact) <= sizes
