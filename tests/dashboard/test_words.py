"""Numbers and names in words."""

import pytest

from nspca.dashboard import words


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (None, "nothing proved about it yet"),
        (0.99269, "at least 99.2 % of the best possible, proved"),
        (0.9999997, "at least 99.9999 % of the best possible, proved"),
        (1.0, "the best possible, proved up to rounding"),
        (0.4, "at least 40.0 % of the best possible, proved"),
    ],
)
def test_proof(ratio, said):
    assert words.proof(ratio) == said


def test_a_bound_with_a_probability_says_so():
    assert "proved but for a chance of 0.003" in words.proof(0.9, 0.003)


def test_names_are_shown_as_they_are():
    hostile = "<img src=x onerror=alert(1)> **bold** [link](http://x) $x$ :red[y] `code`"
    said = words.plain(hostile)
    assert not set(said) & set("<>*[]()$`")
    assert words.plain("a\nb\r\n# c") == "a b &#35; c"


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (3.99619, "3.996"), (148200000.0, "1.482e+08"), (12345.678, "12,346"), (1e-9, "1e-09"), (999.96, "1,000")]
)
def test_number(value, said):
    assert words.number(value) in (said, said + ".0")


def test_sizes_and_counts():
    assert (words.size(10), words.size(298_000), words.size(2.5e9)) == ("10 B", "298 kB", "2.5 GB")
    assert (words.things(1, "feature"), words.things(12582, "feature")) == ("1 feature", "12,582 features")
