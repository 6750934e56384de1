"""Numbers and names in words."""

import pytest

from nspca.dashboard.app import wording
from nspca.progress import Event


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
    assert wording.proof(ratio) == said


def test_what_the_other_bounds_are():
    said = wording.others(0.99799)
    assert "with probability at least 99.7 %" in said and "eps = 0.1" in wording.OTHERS
    assert said.count("proved") == 1 and len(said) < 160 and "proved" not in wording.OTHERS
    assert "not computed" in wording.others(float("nan")) and "proved" not in wording.others(float("nan"))


def test_names_are_shown_as_they_are():
    hostile = "<img src=x onerror=alert(1)> **bold** [link](http://x) $x$ :red[y] `code`"
    said = wording.plain(hostile)
    assert not set(said) & set("<>*[]()$`")
    assert wording.plain("a\nb\r\n# c") == "a b &#35; c"


def test_sizes_and_counts():
    assert (wording.size(10), wording.size(298_000), wording.size(2.5e9)) == ("10 B", "298 kB", "2.5 GB")
    assert (wording.things(1, "feature"), wording.things(12582, "feature")) == (
        "1 feature",
        "12,582 features",
    )


def test_a_stage_is_named_by_what_is_done_in_it():
    assert wording.stage(Event("dual", 3, 9)) == "tightening the limit"
    assert wording.stage(Event("something * new")) == "something &#42; new"


@pytest.mark.parametrize(
    ("reached", "possible", "said"),
    [
        (0.629, 0.631, ("62.9 %", "63.1 %")),
        (0.6299, 0.6401, ("62.9 %", "64.1 %")),
        (0.6251, 0.6399, ("62.5 %", "64.0 %")),
        (0.0451, 0.0462, ("4.51 %", "4.62 %")),
        (0.5, 0.5, ("50.0 %", "50.0 %")),
        (0.0, 1.0, ("0.0 %", "100.0 %")),
    ],
)
def test_shares_are_rounded_the_safe_way(reached, possible, said):
    kept, most = wording.shares(reached, possible)
    assert float(kept[:-2]) / 100 <= reached and possible <= float(most[:-2]) / 100
    assert (kept, most) == said


def test_a_share_alone_is_rounded_down():
    assert wording.down(0.6799) == "67 %" and wording.down(0.0199) == "1.9 %"
