"""Percentages of a page: shares add up to their headline, and a page has one rounding."""

import re
from fractions import Fraction

import numpy as np
import pytest

from nspca.dashboard.joint.headline import divided
from nspca.presentation.numerals import percent_down


def exact(text: str) -> Fraction:
    """Return the number of a percentage such as ``8.9 %``."""
    return Fraction(text.removesuffix(" %"))


@pytest.mark.parametrize("digits", [0, 1, 2])
@pytest.mark.parametrize("seed", range(60))
def test_shares_add_up_to_the_headline_and_each_is_rounded_by_less_than_a_unit(seed, digits):
    rng = np.random.default_rng(seed)
    values = rng.random(rng.integers(1, 9)) ** rng.integers(1, 12)
    values[rng.random(values.size) < 0.2] = 0.0
    if seed % 3 == 0:
        values = np.round(values, 2)  # many shares that end on a whole unit
    whole, total = float(values.sum()), float(values.sum() * (1 + rng.random()) or 1.0)
    found = divided(values.tolist(), whole, total, digits)
    assert sum(map(exact, found)) == exact(percent_down(whole / total, digits))
    for text, value in zip(found, values.tolist(), strict=True):
        assert abs(exact(text) - 100 * Fraction(value) / Fraction(total)) < Fraction(1, 10**digits) * (
            1 + Fraction(1, 10**9)
        )
        assert len(text.partition(".")[2].removesuffix(" %")) == digits


def test_shares_of_pages_that_a_reader_added():
    """The five parts of the digits were 40.9 % in all below a headline of 41.1 %."""
    values = [0.0895, 0.0846, 0.0818, 0.0794, 0.0766]
    assert divided(values, sum(values), 1.0, 1) == ["8.9 %", "8.4 %", "8.2 %", "7.9 %", "7.7 %"]
    assert divided([0.5, 0.25], 0.9, 1.0, 1) == ["50.0 %", "25.0 %"], "what is shared is counted in neither"


@pytest.mark.parametrize("sample", ["orl-faces", "all-aml", "state-of-the-union"])
def test_a_page_of_several_components_has_one_rounding_and_shares_that_add_up(
    visit, stand_ins, texts, alts, sample
):
    page = visit("pages/components.py", sample=sample)
    assert not page.exception and not page.error
    said, html = texts(page), [part.proto.body for part in page.get("html")]
    headline = re.search(r"capture (\d+\.\d+ %) of the variance of all \d", said)[1]
    limit = re.search(r"capture more than (\d+\.\d+ %)", said)
    bar = next(body for body in html if "found " in body)
    numbers = [headline, *([limit[1]] if limit else []), *re.findall(r"(?:found|limit) (\d+\.\d+ %)", bar)]
    if sample == "orl-faces":
        alt = next(alt for alt in alts(page) if re.match(r"5 components by \w+ as", alt))
        shares = re.findall(r"\d: (\d+\.\d+ %)", alt)
    else:
        shares = re.findall(r"· (\d+\.\d+ %)</h3>", next(body for body in html if "nspca-topics" in body))
    assert len({len(number) - number.index(".") for number in numbers + shares}) == 1, "one rounding"
    assert sum(map(exact, shares)) == exact(headline)
