"""Hostile files: each is refused in one sentence, soon, and with little memory of the server."""

import re
from itertools import starmap

import pytest

from benchmarks import hostile

LIGHT = [
    *starmap(
        hostile.Case,
        (
            *hostile._npy(),
            *hostile._sparse(),
            *hostile._counts(),
            *hostile._matrices(),
            *hostile._foreign(),
            *hostile._trade(),
        ),
    )
]


QUICK = ("Stata that says", "SAS of noise", "10x of two billion", "Matrix Market of comments")
"""Files of formats that are read in a process of their own, each begun for its file."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.visit] * (not case.name.startswith(QUICK)), id=str(case))
        for case in LIGHT
        if "two million" not in case.name
    ],
)
def test_a_small_file_gets_its_sentence(case):
    assert re.search(case.said, hostile.answer(case.raw))


@pytest.mark.long
def test_every_file_gets_its_sentence_in_time_and_within_memory(capsys):
    wrong, said = hostile.main(), capsys.readouterr().out
    assert wrong == 0 and int(re.search(r"(\d+) files", said)[1]) >= 120, said
