"""Turn numbers into text that never claims more than was proved.

One rule holds for every figure, hover, table, report, export and line of the command line:

- An upper bound is rounded up: nothing may lie between the printed bound and the proved one.
- A guarantee, the proved share of the optimum, is rounded down. Only a ratio of exactly 1 is "100 %".
- A value that was reached is rounded to nearest, with no more digits than the bound beside it. Rounding is
  monotone, so a printed value never stands above the printed bound of the same problem.
"""

import math
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from fractions import Fraction

DIGITS = 4
"""Default number of significant digits of a number in running text."""
SHARE_DIGITS = 3
"""Default number of significant digits of a share in per cent."""
PLAIN = 1e-3, 1e7
"""Range of sizes, the end excluded, that are written without a power of ten."""
MOST_PLACES = 6
"""Maximum decimals of a guarantee in per cent: 99.999999 % is the largest below 100 % that is printed."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NO_BOUND = "no bound"
"""Text in place of a guarantee where nothing is proved."""
OPTIMAL_GAP = 1e-8
"""Relative gap below which an answer is called optimal: what the rounding slack of a certificate can hide."""


def round_up(bound: float, digits: int) -> float:
    """Return the smallest number with `digits` significant digits that is not below `bound`.

    Beyond the largest float64 there is no such number, and `bound` itself is returned.
    """
    rounded = float(_decimal(Fraction(float(bound)), digits, ROUND_CEILING))
    return rounded if math.isfinite(rounded) else bound


def round_down(ratio: float, places: int) -> float:
    """Return the largest number with `places` decimals that is not above the guarantee `ratio`.

    The shortest decimal that stands for `ratio` is rounded, so 0.992 stays 0.992. Ratios come from
    `proved_ratio`, whose last bit leaves room for that.
    """
    return float(Decimal(repr(float(ratio))).quantize(Decimal(1).scaleb(-places), ROUND_FLOOR))


def proved_ratio(value: float, bound: float) -> float:
    """Return ``value / bound`` rounded down, a guarantee; 1 only for a value that is not below its bound.

    Neither the float nor its shortest decimal is above the exact quotient, so both may be printed.
    """
    if value >= bound:
        return 1.0
    ratio = float(value) / float(bound) if value > 0 else 0.0
    if not ratio > 0:
        return 0.0
    exact, whole = Fraction(float(value)), Fraction(float(bound))
    while max(Fraction(ratio), Fraction(repr(ratio))) * whole > exact:
        ratio = math.nextafter(ratio, 0.0)
    return ratio


def ratio_at_most(bound: float, unit: float) -> float:
    """Return ``bound / unit`` rounded up; neither the float nor its shortest decimal is below it."""
    ratio = float(bound) / float(unit)
    if not math.isfinite(ratio):
        return ratio
    exact, whole = Fraction(float(bound)), Fraction(float(unit))
    while min(Fraction(ratio), Fraction(repr(ratio))) * whole < exact:
        ratio = math.nextafter(ratio, math.inf)
    return ratio


def format_bound(bound: float, digits: int = DIGITS) -> str:
    """Return the text of an upper bound, rounded up: ``12.35``, ``1,234,568``, ``1.02 × 10⁸``."""
    return _text(Fraction(float(bound)), digits, ROUND_CEILING) if math.isfinite(bound) else f"{bound:g}"


def format_value(value: float, digits: int = DIGITS) -> str:
    """Return the text of a number, rounded to nearest and written as `format_bound` writes bounds."""
    return _text(Fraction(float(value)), digits, ROUND_HALF_EVEN) if math.isfinite(value) else f"{value:g}"


def format_bound_share(bound: float, unit: float, digits: int = SHARE_DIGITS) -> str:
    """Return an upper bound in per cent of `unit`, rounded up: ``45.7 %``, ``100 %``."""
    return _share(bound, unit, digits, ROUND_CEILING)


def format_value_share(value: float, unit: float, digits: int = SHARE_DIGITS) -> str:
    """Return a value in per cent of `unit`, rounded to nearest: ``45.6 %``; only all of it is ``100 %``."""
    said = _share(value, unit, digits, ROUND_HALF_EVEN)
    is_part = said == "100 %" and 1 - value / unit > OPTIMAL_GAP
    return _share(value, unit, digits, ROUND_DOWN) if is_part else said


def format_guarantee(ratio: float | None) -> str:
    """Return a proved ratio in per cent, rounded down, with more decimals the nearer it is to 100 %.

    ``0.992 -> "99.2 %"``, ``0.9999997 -> "99.9999 %"``. Only a ratio of exactly 1 (or more) is ``"100 %"``,
    and no ratio is ``"no bound"``.
    """
    if ratio is None or not math.isfinite(ratio):
        return NO_BOUND
    if ratio >= 1:
        return "100 %"
    left = 100 * (1 - Decimal(repr(float(ratio))))
    return percent_down(ratio, min(MOST_PLACES, max(1, math.floor(-math.log10(left)))))


def format_change(change: float) -> str:
    """Return a relative change in per cent, without its sign: ``12.3 %``, ``0.06 %``, ``1 × 10⁻⁵ %``.

    It has one decimal, or one significant digit where that is finer.
    """
    percent = 100 * abs(change)
    return f"{percent:.1f} %" if percent >= 0.1 or not percent else f"{format_value(percent, 1)} %"


def proof_phrase(ratio: float, kind: str) -> str:
    """Return the quality that a certificate of some kind proves: optimal, or a share of the optimum.

    `ratio` is the value over the proved bound, from `proved_ratio`; `kind` is as in `Certificate.label`.
    """
    if 1 - ratio <= OPTIMAL_GAP:
        return f"proved optimal up to rounding ({kind})"
    return f"at least {format_guarantee(ratio)} of the best possible, proved ({kind})"


def percent_down(share: float | Decimal, places: int) -> str:
    """Return a share in per cent with `places` decimals, rounded down: ``62.9 %``."""
    return _percent(share, places, ROUND_DOWN)


def percent_up(share: float, places: int) -> str:
    """Return a share in per cent with `places` decimals, rounded up: ``63.0 %``."""
    return _percent(share, places, ROUND_UP)


def _percent(share: float | Decimal, places: int, rounding: str) -> str:
    # str is the shortest decimal that means a double: 0.629 stays 62.9 %.
    return f"{(Decimal(f'{share}') * 100).quantize(Decimal(1).scaleb(-places), rounding):f} %"


def _share(number: float, unit: float, digits: int, rounding: str) -> str:
    """Return ``number / unit`` in per cent, without zeros at the end; "unknown" where it is not finite."""
    if not (math.isfinite(number) and math.isfinite(unit) and unit):
        return "unknown"
    text = _text(100 * Fraction(float(number)) / Fraction(float(unit)), digits, rounding)
    return f"{text.rstrip('0').rstrip('.') if '.' in text and '×' not in text else text} %"


def _text(exact: Fraction, digits: int, rounding: str) -> str:
    """Return a number as text with at least `digits` significant digits, and all before its decimal point."""
    if not exact:
        return "0"
    if PLAIN[0] <= abs(exact) < PLAIN[1]:
        digits = max(digits, len(str(int(abs(exact)))))
        rounded = _decimal(exact, digits, rounding)
        return f"{rounded:,.{max(0, digits - 1 - rounded.adjusted())}f}"
    mantissa, _, power = f"{_decimal(exact, digits, rounding):.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa} × 10{str(int(power)).translate(RAISED)}"


def _decimal(exact: Fraction, digits: int, rounding: str) -> Decimal:
    context = Context(prec=digits, rounding=rounding)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
