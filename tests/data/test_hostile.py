"""Hostile files: each is refused in one sentence, soon, and with little memory of the server."""

import re

import pytest

from benchmarks import hostile
from nspca.data import read
from nspca.errors import InvalidData

LARGE = (
    " MB",
    " GB",
    "100 001",
    "13 million",
    "67 million",
    "70 MiB",
    "2 000 001 rows",
    "bursts",
    "far column",
)
"""Files that take a second to make or to read; what they are refused for is shown by smaller ones beside."""
APART = ("Stata that says", "SAS of noise", "10x of two billion", "Matrix Market of comments")
"""Files that are also given to the page, which reads such formats in a process of their own."""
SMALL = [case for case in hostile.cases() if not any(word in case.name for word in LARGE)]


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import what reads the formats first, so that its modules are no part of the memory of a test."""
    for case in SMALL:
        if case.name.startswith(("PDF", "parquet of lists", "SAS of noise", "workbook with entities")):
            with pytest.raises(InvalidData):
                read(case.make())


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_a_file_gets_its_sentence(case, bounded_memory):
    try:
        said = f"data of {read(case.make()).X.shape}"
    except InvalidData as refused:
        said = str(refused)
        assert said.endswith(".") and "\n" not in said
    assert re.search(case.said, said)


@pytest.mark.parametrize("case", [case for case in SMALL if case.name.startswith(APART)], ids=str)
def test_the_page_says_the_same(case):
    assert re.search(case.said, hostile.answer(case.make()))


@pytest.mark.long
def test_every_file_gets_its_sentence_in_time_and_within_memory(capsys):
    assert len([*hostile.cases()]) >= 120
    assert hostile.main() == 0, capsys.readouterr().out
