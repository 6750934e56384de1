"""Percentages of the page Components: the headline, the sentence and the shares of the components agree."""

import re
from fractions import Fraction

import pytest


@pytest.mark.parametrize("sample", ["orl-faces", "all-aml", "state-of-the-union"])
def test_sentence_and_headline_agree_and_shares_have_at_most_one_decimal(
    visit, stand_ins, texts, alts, sample
):
    page = visit("pages/components.py", sample=sample)
    assert not page.exception and not page.error
    said, html = texts(page), [part.proto.body for part in page.get("html")]
    reached = Fraction(re.search(r"They explain (\d+\.\d) % of the variance of all \d", said)[1])
    proved = (
        r"(No other \d \w+ explain \d+\.\d % more|They are at least \d+\.\d % of the best possible): proved\."
    )
    count = re.search(rf"## (\d) .* {proved}", said)[1]
    assert "explain more than" not in said, "the limit stands in the headline alone"
    if sample == "orl-faces":
        alt = next(alt for alt in alts(page) if re.match(r"5 components by \w+ as", alt))
        shares = re.findall(r"\d: (\d+\.\d+) %", alt)
    else:
        shares = re.findall(r"· (\d+\.\d+) %<", next(body for body in html if "nspca-topics" in body))
    assert all(re.fullmatch(r"\d+\.\d", share) for share in shares)
    assert len(shares) == int(count)
    # each share is rounded to the nearest, and their sum in the sentence is rounded down
    assert -Fraction(len(shares), 20) <= sum(map(Fraction, shares)) - reached <= Fraction(len(shares) + 2, 20)
