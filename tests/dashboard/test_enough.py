"""The number of features that is enough: reached values, proved limits, and open cases."""

import math

import pandas as pd
import pytest

from nspca.dashboard.app import state, wording
from nspca.dashboard.sweep.enough import Enough, between, brief, known, sentence, wanted


def table(*rows):
    return pd.DataFrame(rows, columns=["k", "value", "upper"])


SWEEP = table((1, 0.3, 0.3), (2, 0.5, 0.55), (5, 0.75, 0.79), (7, 0.81, 0.86), (10, 0.9, 0.9))


@pytest.mark.parametrize(
    ("asked", "best", "share"),
    [(None, 1.0, 80), (None, 1.2, 70), (None, 20.0, 1), (None, 0.0, 80), (80, 1.2, 80), (250, 1.0, 99)],
)
def test_a_share_that_nobody_asked_for_is_one_that_is_reached(monkeypatch, asked, best, share):
    monkeypatch.setattr(state, "is_kept", lambda name: asked is not None)
    monkeypatch.setattr(state, "get", lambda name: 80 if asked is None else asked)
    assert wanted(SWEEP, best) == share


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.80, Enough(7, 5, 10, 0.9)),
        (0.78, Enough(7, 2, 10, 0.9)),
        (0.75, Enough(5, 2, 10, 0.9)),
        (0.2, Enough(1, 0, 10, 0.9)),
        (0.95, Enough(None, 10, 10, 0.9)),
    ],
)
def test_what_is_known(value, expected):
    assert known(SWEEP, value) == expected


def test_the_best_method_and_the_least_bound_count_and_no_bound_rules_nothing_out():
    rows = table((2, 0.5, 0.7), (2, 0.6, 0.65), (3, 0.7, math.nan))
    assert known(rows, 0.6) == Enough(2, 0, 3, 0.7) and known(rows, 0.68).ruled_out == 2


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (
            Enough(12, 11, 64, 0.9),
            "**12 pixels are enough** for 80 %. No 11 pixels can reach that, which is proved.",
        ),
        (
            Enough(2, 1, 64, 0.9),
            "**2 pixels are enough** for 80 %. No single pixel can reach that, which is proved.",
        ),
        (Enough(1, 0, 64, 0.9), "**1 pixel is enough** for 80 %."),
        (
            Enough(12, 7, 64, 0.9),
            "**12 pixels are enough** for 80 %. No 7 pixels can reach that, which is proved. Whether 8 to 11 "
            "can reach that is open.",
        ),
        (
            Enough(12, 10, 64, 0.9),
            "**12 pixels are enough** for 80 %. No 10 pixels can reach that, which is proved. Whether 11 can "
            "reach that is open.",
        ),
        (
            Enough(12, 0, 64, 0.9),
            "**12 pixels are enough** for 80 %. Whether 1 to 11 can reach that is open.",
        ),
        (
            Enough(None, 64, 64, 0.679),
            "**No number of pixels is enough** for 80 %: no component can reach that, which is proved.",
        ),
        (
            Enough(None, 20, 20, 0.679),
            "**20 pixels are not enough** for 80 %. The most found is 67 %. No 20 pixels can reach 80 %, "
            "which is proved. Take a larger k.",
        ),
        (
            Enough(None, 5, 64, 0.679),
            "**Nothing here reaches 80 %.** The most found is 67 %. No 5 pixels can reach 80 %, which is "
            "proved. Whether more can reach it is open.",
        ),
        (
            Enough(None, 0, 64, 0.679),
            "**Nothing here reaches 80 %.** The most found is 67 %. Whether any number of pixels can reach "
            "it is open.",
        ),
    ],
)
def test_the_answer(about, said):
    assert sentence(about, 80, 64, "pixel", 1.0, nonneg=False) == said


def test_what_is_proved_of_one_sign_is_said_of_that_sign():
    """The best direction itself has all of its variance, with weights of any sign."""
    nobody = sentence(Enough(None, 64, 64, 0.679), 80, 64, "pixel", 1.0, nonneg=True)
    assert (
        nobody
        == "**No number of pixels is enough** for 80 %: no component with nonnegative weights can reach "
        "that, which is proved."
    )
    assert "No 11 pixels with nonnegative weights can reach" in sentence(
        Enough(12, 11, 64, 0.9), 80, 64, "pixel", 1.0, nonneg=True
    )


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (Enough(12, 11, 64, 0.9), "80 % takes 12 pixels."),
        (Enough(12, 7, 64, 0.9), "80 % takes at most 12 pixels."),
        (Enough(1, 0, 64, 0.9), "80 % takes 1 pixel."),
        (
            Enough(None, 64, 64, 0.679),
            "80 % is out of reach for any number of pixels with nonnegative weights, which is proved.",
        ),
        (
            Enough(None, 20, 20, 0.679),
            "80 % is out of reach for up to 20 pixels with nonnegative weights, which is proved.",
        ),
        (Enough(None, 5, 64, 0.679), "No point of the curve reaches 80 %."),
    ],
)
def test_the_short_answer(about, said):
    assert brief(about, 80, 64, "pixel", nonneg=True) == said


def test_where_the_answer_lies():
    assert between(Enough(12, 7, 64, 0.9)) == (7, 12) and between(Enough(None, 5, 64, 0.6)) == (5, 64)


@pytest.mark.parametrize(
    ("reached", "possible", "said"),
    [
        (0.629, 0.631, ("62.9 %", "63.1 %")),
        (0.6299, 0.6401, ("62.99 %", "64.01 %")),  # 62.9 / 64.1 is 0.3 % less than the quotient
        (0.6251, 0.6399, ("62.5 %", "64.0 %")),
        (0.88689, 0.88690, ("88.68 %", "88.69 %")),
        (0.5, 0.5, ("50.00 %", "50.00 %")),
        (0.0, 1.0, ("0.0 %", "100.0 %")),
    ],
)
def test_shares_are_rounded_the_safe_way(reached, possible, said):
    kept, most = wording.shares(reached, possible)
    assert float(kept[:-2]) / 100 <= reached and possible <= float(most[:-2]) / 100
    assert (kept, most) == said


def test_a_share_alone_is_rounded_down():
    assert wording.down(0.6799) == "67 %" and wording.down(0.0199) == "1.9 %"
