"""Percentages of the page Components: the headline, the sentence and the shares of the components agree."""

import re

import pytest


@pytest.mark.parametrize("sample", ["orl-faces", "all-aml", "state-of-the-union"])
def test_sentence_and_headline_agree_and_shares_have_at_most_one_decimal(
    visit, stand_ins, texts, alts, sample
):
    page = visit("pages/components.py", sample=sample)
    assert not page.exception and not page.error
    said, html = texts(page), [part.proto.body for part in page.get("html")]
    reached = float(re.search(r"They explain (\d+\.\d) % of the variance of all \d", said)[1])
    assert re.search(r"No other \d \w+ explain \d+\.\d % more: proved\.", said)
    assert "explain more than" not in said, "the limit stands in the headline alone"
    if sample == "orl-faces":
        alt = next(alt for alt in alts(page) if re.match(r"5 components by \w+ as", alt))
        shares = re.findall(r"\d: (\d+\.\d+) %", alt)
    else:
        shares = re.findall(r"· (\d+\.\d+) %<", next(body for body in html if "nspca-topics" in body))
    assert shares and all(re.fullmatch(r"\d+\.\d", share) for share in shares)
    assert reached - 0.1 * len(shares) <= sum(map(float, shares)) <= reached + 0.1
