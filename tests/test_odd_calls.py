"""Calls that cannot be meant: each gets a sentence of ours and no stranger's exception."""

from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.certificate import Certificate
from nspca.errors import CertificateError, InvalidData, InvalidOption, InvalidProblem, Refused
from nspca.result import Result, Sweep
from nspca.solvers import METHODS
from nspca.solving import line_of

X = np.abs(np.random.default_rng(1).standard_normal((12, 6)))
P = nspca.Problem.from_data(X, 2)
R = nspca.solve(P)
C = R.certificate
DIGITS = nspca.load_sample("digits")
TABLE = b"a,b,c\n1,2,3\n3,4,5\n"
NOTHING = (
    None,
    "a",
    -1,
    0,
    2.5,
    float("nan"),
    10**400,
    True,
    [],
    (),
    {},
    (1,),
    (0,),
    np.int64(2),
    np.ones(2),
    b"x",
    1 + 0j,
    X,
    object(),
)


@pytest.mark.parametrize("change", ["components", "values", "certificate"])
def test_a_result_is_made_of_arrays_that_belong_together(change):
    for other in (
        *NOTHING,
        getattr(R, change).tolist() if change != "certificate" else "proof",
        np.full((6, 1), np.nan),
        X + 0j,
    ):
        if change == "certificate" and other is None:
            continue
        with pytest.raises(InvalidProblem, match="a result must have"):
            replace(R, **{change: other})


@pytest.mark.parametrize("known", [known for known in NOTHING if known is not None] + [C, R.components])
def test_a_known_answer_is_a_result(known):
    with pytest.raises(InvalidProblem, match="a known answer must be a Result"):
        nspca.certify(P, known, effort="fast")


@pytest.mark.parametrize("word", ["k", "shape", "witness", "upper", "exponent", "form", "nonneg"])
def test_a_certificate_by_hand_is_refused_or_speaks(word):
    for other in NOTHING:
        try:
            made = replace(C, **{word: other})
        except CertificateError as error:
            assert word in str(error)
            continue
        assert made.statement and made.summary and made.nbytes >= 0
        assert made.rounded(3).upper >= made.upper
        assert Certificate.from_bytes(made.to_bytes()).statement == made.statement


@pytest.mark.parametrize("value", [None, "a", [1], 10**400, 1 + 0j, np.ones(1), True, np.nan, np.inf])
def test_a_value_that_was_reached_is_a_number(value):
    with pytest.raises(CertificateError, match="must be a finite number"):
        C.ratio(value)


HUGE = 10**5000  # which Python does not write out


class Wordless:
    """An object whose `repr` raises an error."""

    def __repr__(self):
        raise RuntimeError("no words")


ODD = {
    "huge": HUGE,
    "far below": -HUGE,
    "wordless": Wordless(),
    "table": X,
    "text": "a" * 10**5,
    "duration": np.timedelta64(2, "s"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "call",
    [
        P.with_k,
        lambda v: P.with_k((1, v)),
        lambda v: nspca.Problem.from_data(X, 2, nonneg=v),
        lambda v: nspca.solve(P, v),
        lambda v: nspca.solve(P, components=v),
        lambda v: nspca.solve(P, certify=v),
        lambda v: nspca.solve(P, components=2, deflation=v),
        lambda v: nspca.solve(P, rank=v),
        lambda v: nspca.sweep(P, [v]),
        lambda v: nspca.sweep(P, 2, methods=[v]),
        lambda v: nspca.verify(X, C, k=v),
        lambda v: nspca.verify(X, C, nonneg=v),
        lambda v: nspca.NSPCA(k=v).fit(X),
        lambda v: C.ratio([v]),
        lambda v: replace(C, upper=[v]),
        lambda v: nspca.load_sample(v),
        lambda v: nspca.prepare(nspca.load_sample("digits"), v),
        lambda v: nspca.load_sample("digits").only([v]),
        lambda v: nspca.read(b"a,b,c\n1,2,3\n3,4,5\n", label_column=v),
    ],
)
def test_what_is_shown_of_a_value_is_short_and_in_one_line(call, odd):
    with pytest.raises(nspca.NSPCAError) as caught:
        call(ODD[odd])
    said = str(caught.value)
    assert "\n" not in said and len(said) < 500


@pytest.mark.parametrize("digits", [0, -1, "a", 2.5, None, 10**30])
def test_digits_to_round_to_are_a_whole_number(digits):
    with pytest.raises(InvalidOption, match="digits must be a whole number, 1 to 17"):
        C.rounded(digits)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nspca.solve(X), InvalidProblem, "a Problem is required, got ndarray"),
        (lambda: nspca.sweep(P, None), InvalidProblem, "k must be a whole number"),
        (lambda: nspca.solve(P, ["auto"]), InvalidOption, "method must be 'auto' or one of"),
        (lambda: nspca.solve(P, components=1.0), InvalidOption, "components must be a whole number"),
        (lambda: nspca.solve(P, deflation="shur"), InvalidOption, "deflation must be one of"),
        (
            lambda: nspca.solve(P, deflation="schur"),
            InvalidOption,
            "a deflation is between several components",
        ),
        (lambda: nspca.solve(P, angle=60), InvalidOption, "an angle is between several components"),
        (
            lambda: nspca.plan(P, effort="slow"),
            InvalidOption,
            "effort must be one of fast, standard, thorough, exhaustive",
        ),
        (lambda: nspca.solve(P, angle=120), InvalidOption, "the angle between components"),
        (
            lambda: nspca.solve(P, "joint", components=2, deflation="schur"),
            InvalidOption,
            "joint finds components together, without a deflation",
        ),
        (
            lambda: nspca.certify(P.with_k((1, 2)), components=5),
            InvalidOption,
            "components must be the number of sizes, 2, got 5",
        ),
        (
            lambda: nspca.solve(P, components=4),
            InvalidProblem,
            "4 components of 2 features that share none need 8 features, got n = 6",
        ),
        (lambda: P.with_k(10**30), InvalidProblem, "k must be a whole number between 1 and n = 6"),
        (lambda: nspca.solve(P, report="loud"), InvalidOption, "report must be a function"),
        (lambda: nspca.sweep(P, 2, methods=None), InvalidOption, "method must be 'auto' or one of"),
        (lambda: nspca.solve(P, certify=np.ones(2)), InvalidOption, "effort must be one of"),
        (lambda: Result([1, [2]], R.values, R.status, "a"), InvalidProblem, "got list and ndarray"),
        (lambda: nspca.read(TABLE, header="maybe"), InvalidOption, "must be .auto., True, .* got 'maybe'"),
        (lambda: nspca.read(TABLE, delimiter=3), InvalidOption, "^delimiter must be one character .* got 3"),
        (lambda: nspca.read(TABLE, decimal=";"), InvalidOption, 'must be "," or ".", got \';\''),
        (lambda: nspca.read(TABLE, features_in_rows="no"), InvalidOption, "must be True, .* got 'no'"),
        (lambda: nspca.read(TABLE, missing=["mean"]), InvalidOption, r"^missing must be .* got \['mean'\]"),
        (lambda: nspca.read(TABLE, colour=3), InvalidOption, "^the reading has no 'colour'; leave it out"),
        (lambda: nspca.prepare(X, "log2"), InvalidData, "A Dataset is prepared, got ndarray"),
        (lambda: nspca.prepare(DIGITS, ["log2"]), InvalidData, "A preparation is one of"),
        (lambda: nspca.load_sample(["digits"]), InvalidData, "There is no sample"),
        (lambda: DIGITS.only(3), InvalidData, "At least two features must be left, got 1"),
        (lambda: DIGITS.only([True, 2]), InvalidData, "by name or by a number from 0 to 63, got True"),
        (lambda: replace(DIGITS, labels=3), InvalidData, "1797 labels are needed, got 3"),
        (lambda: replace(DIGITS, image_shape=64), InvalidData, "is its rows and columns, got 64"),
        (lambda: replace(DIGITS, image_shape=(8, 9)), InvalidData, "of 8 x 9 pixels does not have 64"),
        (lambda: nspca.read(TABLE, label_column=["c"]), InvalidOption, "^label_column must be a name or a n"),
        (lambda: nspca.Problem("A", 2), InvalidProblem, "made with Problem.from_data"),
        (lambda: P.scores("abcdef"), InvalidProblem, "got text; give its n = 6 numbers"),
        (lambda: P.scores(np.full(6, np.nan)), InvalidProblem, "finite"),
        (lambda: Sweep.from_bytes(None), InvalidData, "must be bytes written by"),
        (
            lambda: nspca.solve(P, "bipartite", sketch=["svd"]),
            InvalidOption,
            "sketch must be one number or text",
        ),
        (
            lambda: nspca.solve(P, "coordinate", alpha=1e-300),
            InvalidOption,
            "alpha must be between 1e-30 and 1e",
        ),
    ],
)
def test_a_call_that_cannot_be_meant_gets_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("method", ["auto", "cone"])
def test_a_tolerance_below_rounding_ends(method):
    result = nspca.solve(P, method, tol=1e-300)
    assert nspca.verify(X, result.certificate, P) >= result.value >= R.value * (1 - 1e-9)


class Stubborn:
    """A table whose conversion fails in its own way."""

    def __array__(self, *_, **__):
        raise RuntimeError("needs grad")


def test_whatever_a_conversion_raises_is_named():
    with pytest.raises(InvalidProblem, match="needs grad"):
        nspca.Problem.from_data(Stubborn(), 1)


def test_what_does_not_fit_into_memory_is_refused():
    huge = np.broadcast_to(1.0, (10**8, 10**8))
    for make, given in (
        (nspca.Problem.from_data, huge),
        (nspca.Problem.from_covariance, huge),
        (nspca.Problem.from_data, sp.csr_array(([1.0], ([0], [10**15])), shape=(2, 10**15 + 1))),
    ):
        with pytest.raises(Refused, match="must fit into memory"):
            make(given, 1)


def test_every_option_of_a_method_refuses_values_of_another_kind():
    """The limits are those of the declaration: what is no number, text or switch is refused by its name."""
    for name in ("auto", *METHODS):
        Options = line_of(name).Options
        for one in fields(Options):
            nothing = () if one.default is None else (None,)
            for wrong in (
                *("no", -1, 0.5 if "int" in str(one.type) else np.inf, [1], np.array([1, 2])),
                *nothing,
            ):
                with pytest.raises(InvalidOption, match=rf"^{one.name} must be"):
                    Options(**{one.name: wrong})
            assert getattr(Options(**{one.name: one.default}), one.name) == one.default
    with pytest.raises(InvalidOption, match="eps must be below 1, got 1"):
        nspca.solve(P, "epsnet", eps=1)
    with pytest.raises(InvalidOption, match="rank must be a whole number, 1 to 8, got 9"):
        nspca.solve(P, rank=9)
