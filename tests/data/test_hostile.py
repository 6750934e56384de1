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


@pytest.mark.parametrize("case", [case for case in LIGHT if "two million" not in case.name], ids=str)
def test_a_small_file_gets_its_sentence(case):
    assert re.search(case.said, hostile.answer(case.make()))


@pytest.mark.long
def test_every_file_gets_its_sentence_in_time_and_within_memory(capsys):
    assert len([*hostile.cases()]) >= 120
    assert hostile.main() == 0, capsys.readouterr().out
