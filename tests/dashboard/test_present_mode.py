"""Tables on a phone."""

import pytest

from nspca.dashboard.app import tables


def test_a_table_is_a_list_of_cards_on_a_phone():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"<b>name": ["<script>", "x"], "value": [1.23456, float("nan")], "none": [None, 2]}
    )
    text = tables.cards(table)
    assert (
        text.count("<dl>") == 2 and "<script>" not in text and "<b>" not in text and "<dd>1.235</dd>" in text
    )
    config = {
        "value": {"label": "Share", "type_config": {"type": "number", "format": "percent"}},
        "none": "Kept",
    }
    text = tables.cards(table, config)
    assert "<dt>Share</dt><dd>123.5 %</dd>" in text and "<dt>Kept</dt>" in text
    long = pandas.DataFrame({"n": range(tables.MOST + 3)})
    assert tables.cards(long).count("<dl>") == tables.MOST and "and 3 more" in tables.cards(long)
    seen, folded = tables.cards(long).split("<details>")
    assert (
        seen.count("<dl>") == tables.OPEN and f"<summary>{tables.MOST - tables.OPEN} more</summary>" in folded
    )
    assert "<details>" not in tables.cards(long.head(tables.OPEN + 1)), "a single card is not worth a fold"
