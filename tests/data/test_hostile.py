"""Hostile files: each is refused in one sentence, soon, and with little memory of the server."""

import re
from itertools import starmap

import pytest

from benchmarks import hostile
from nspca.data import read
from nspca.errors import InvalidData

SMALL = [case for part in hostile.PARTS for case in starmap(hostile.Case, part())]
APART = ("Stata that says", "SAS of noise", "10x of two billion", "Matrix Market of comments")
"""Files that are also given to the page, which reads such formats in a process of their own."""


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import what reads the formats first, so that its modules are no part of the memory of a test."""
    for case in SMALL:
        if case.name.startswith(("PDF", "parquet of lists", "SAS of noise", "workbook with entities")):
            with pytest.raises(InvalidData):
                read(case.raw)


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_a_file_gets_its_sentence(case, bounded_memory):
    try:
        said = f"data of {read(case.raw).X.shape}"
    except InvalidData as refused:
        said = str(refused)
        assert said.endswith(".") and "\n" not in said
    assert re.search(case.said, said)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.visit] * case.name.startswith(APART[2:]))
        for case in SMALL
        if case.name.startswith(APART)
    ],
    ids=str,
)
def test_the_page_says_the_same(case):
    assert re.search(case.said, hostile.answer(case.raw))


@pytest.mark.long
def test_every_file_gets_its_sentence_in_time_and_within_memory(capsys):
    wrong, said = hostile.main(), capsys.readouterr().out
    assert wrong == 0 and int(re.search(r"(\d+) files", said)[1]) >= 120, said
