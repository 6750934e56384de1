"""Percentages of the page Components: the headline, the proof and the shares of the components agree."""

import re

import pytest


@pytest.mark.parametrize("sample", ["orl-faces", "all-aml", "state-of-the-union"])
def test_sentence_bar_and_headline_agree_and_shares_have_at_most_one_decimal(
    visit, stand_ins, texts, alts, sample
):
    page = visit("pages/components.py", sample=sample)
    assert not page.exception and not page.error
    said, html = texts(page), [part.proto.body for part in page.get("html")]
    reached = re.search(r"capture (\d+\.\d+) % of the variance of all \d", said)[1]
    possible = re.search(r"capture more than (\d+\.\d+) %: proved", said)[1]
    bar = next(body for body in html if "found " in body)
    assert f"found {reached} %" in bar and f"limit {possible} %" in bar
    more = re.search(r"No other \d parts explain (\d+\.\d) % more: proved\.", said.replace("\xa0", " "))
    if sample == "orl-faces":
        assert abs(float(more[1]) - 100 * (float(possible) / float(reached) - 1)) < 0.15
        alt = next(alt for alt in alts(page) if re.match(r"5 components by \w+ as", alt))
        shares = re.findall(r"\d: (\d+\.\d+) %", alt)
    else:
        shares = re.findall(r"· (\d+\.\d+) %<", next(body for body in html if "nspca-topics" in body))
    assert shares and all(re.fullmatch(r"\d+\.\d", share) for share in shares)
    assert float(reached) - 0.1 * len(shares) <= sum(map(float, shares)) <= float(reached)
