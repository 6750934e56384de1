"""Bounds are printed rounded up and guarantees rounded down, exactly: whatever the number."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nspca.presentation import numerals
from nspca.presentation.numerals import (
    format_bound,
    format_bound_share,
    format_change,
    format_guarantee,
    format_value,
    format_value_share,
    percent_down,
    percent_up,
    proved_ratio,
    ratio_at_most,
    round_down,
    round_up,
)
from nspca.presentation.phrases import unique
from tests.printed import read_number

positive = st.floats(1e-290, 1e290)
digits = st.integers(1, 17)


def near(number: float) -> st.SearchStrategy[float]:
    """A few steps of float64 around a number."""
    return st.integers(-3, 3).map(lambda steps: float(number + steps * math.ulp(number)))


edges = st.sampled_from([0.1, 0.7, 0.992, 1.0, 9.9995, 12.345, 99.99, 9999.5, 1e7, 9999999.5]).flatmap(near)
sizes = positive | edges


@given(sizes, digits)
def test_a_bound_is_never_printed_below_itself_nor_far_above(bound, digits):
    said = read_number(format_bound(bound, digits))
    assert Fraction(bound) <= said <= Fraction(bound) * (1 + Fraction(10) ** (1 - digits))
    rounded = round_up(bound, digits)
    assert bound <= rounded <= bound * (1 + 10.0 ** (1 - digits)) * (1 + 1e-15)
    assert digits > 15 or Fraction(repr(rounded)) >= Fraction(bound)


@given(sizes, digits)
def test_a_value_is_never_printed_above_the_bound_beside_it(value, digits):
    for bound in (value, math.nextafter(value, math.inf), value * 1.0001):
        assert read_number(format_value(value, digits)) <= read_number(format_bound(bound, digits))
        assert read_number(format_value(value, 4)) <= read_number(format_bound(bound, 4))


@given(sizes, sizes)
def test_shares_of_a_unit_are_those_of_the_exact_quotient(number, unit):
    exact = 100 * Fraction(number) / Fraction(unit)
    bound, value = (read_number(form(number, unit)) for form in (format_bound_share, format_value_share))
    assert exact <= bound <= exact * Fraction(101, 100) and value <= bound
    assert abs(value - exact) <= exact / 100


@given(sizes, st.floats(1e-9, 0.999999))
@example(1.0, 0.094)
def test_a_loss_of_all_others_is_never_above_the_exact_one(value, share):
    rest = value * share
    said = read_number(unique((4,), 4, rest, value).split("at least ")[1].split(" less")[0])
    exact = 100 * (1 - Fraction(rest) / Fraction(value))
    assert exact * Fraction(99, 100) <= said <= exact


@given(sizes, st.floats(0, 1))
def test_a_guarantee_is_never_above_the_exact_quotient(bound, share):
    value = bound * share
    ratio = proved_ratio(value, bound)
    exact = Fraction(value) / Fraction(bound)
    assert max(Fraction(ratio), Fraction(repr(ratio))) <= exact and (ratio == 1) == (value >= bound)
    assert ratio >= float(exact) * (1 - 1e-15) - 1e-300
    for said in (format_guarantee(ratio), percent_down(ratio, 2)):
        assert read_number(said) <= 100 * exact
    assert round_down(ratio, 4) <= exact and exact - Fraction(round_down(ratio, 4)) < Fraction(2, 10**4)
    assert (format_guarantee(ratio) == "100 %") == (value >= bound)


@given(sizes, st.floats(0.5, 2))
def test_a_ratio_that_is_at_most_is_not_below_the_exact_quotient(unit, share):
    bound = unit * share
    ratio, exact = ratio_at_most(bound, unit), Fraction(bound) / Fraction(unit)
    assert exact <= Fraction(ratio) and ratio <= float(exact) * (1 + 1e-15)
    assert read_number(percent_up(ratio, 2)) >= 100 * exact
    assert ratio_at_most(unit, unit) == 1


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.5, "100 %"),
        (0.9999997, "99.9999 %"),
        (math.nextafter(1.0, 0.0), "99.999999 %"),
        (0.9999, "99.99 %"),
        (0.99999, "99.999 %"),
        (0.99995, "99.99 %"),
        (0.992, "99.2 %"),
        (0.9929, "99.2 %"),
        (0.9999 - 1e-9, "99.9 %"),
        (0.29, "29.0 %"),
        (0.0, "0.0 %"),
        (1e-9, "0.0 %"),
        (math.nan, "no bound"),
        (math.inf, "no bound"),
        (None, "no bound"),
    ],
)
def test_guarantees_have_the_digits_that_they_deserve(ratio, text):
    assert format_guarantee(ratio) == text


@pytest.mark.parametrize(
    ("number", "value", "bound"),
    [
        (0.0, "0", "0"),
        (1.0, "1.000", "1.000"),
        (1.00001, "1.000", "1.001"),
        (3.99619, "3.996", "3.997"),
        (9.9996, "10.00", "10.00"),
        (999.96, "1,000", "1,000"),
        (12345.2, "12,345", "12,346"),
        (148200000.0, "1.482 × 10⁸", "1.482 × 10⁸"),
        (1.00001e8, "1 × 10⁸", "1.001 × 10⁸"),
        (1e-9, "1 × 10⁻⁹", "1.001 × 10⁻⁹"),
        (0.00012341, "1.234 × 10⁻⁴", "1.235 × 10⁻⁴"),
        (math.inf, "inf", "inf"),
        (math.nan, "nan", "nan"),
    ],
)
def test_values_and_bounds_are_written_alike(number, value, bound):
    assert (format_value(number), format_bound(number)) == (value, bound)
    assert format_bound(np.float32(number)) == format_bound(float(np.float32(number)))


@pytest.mark.parametrize(
    ("change", "text"),
    [(0.123, "12.3 %"), (-0.001, "0.1 %"), (6e-4, "0.06 %"), (-1e-7, "1 × 10⁻⁵ %"), (0.0, "0.0 %")],
)
def test_no_change_is_printed_as_zero(change, text):
    assert format_change(change) == text


def test_shares_without_zeros_at_the_end():
    assert (format_bound_share(1.0, 2.0), format_value_share(3.0, 3.0)) == ("50 %", "100 %")
    assert (format_bound_share(1.0, 3.0), format_value_share(1.0, 3.0)) == ("33.4 %", "33.3 %")
    assert (format_bound_share(99.96, 100.0), format_value_share(99.96, 100.0)) == ("100 %", "99.9 %")
    assert format_value_share(math.nextafter(3.0, 0.0), 3.0) == "100 %"
    assert format_bound_share(math.nan, 1.0) == format_value_share(1.0, 0.0) == "unknown"


def test_the_ends_of_float64():
    largest = np.finfo(float).max
    assert round_up(largest, 3) == largest and proved_ratio(5e-324, 1e-323) == 0.5
    assert proved_ratio(math.nan, 1.0) == proved_ratio(1.0, math.nan) == proved_ratio(-1.0, 1.0) == 0
    assert proved_ratio(0.0, 0.0) == 1 and math.isinf(ratio_at_most(largest, 5e-324))
    assert numerals.NO_BOUND == "no bound"
