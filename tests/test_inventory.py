"""Nothing that is offered gets lost: the stored inventory against what exists."""

import json

import pytest

from scripts import inventory

pytest.importorskip("streamlit")
STORED = json.loads(inventory.FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def offered():
    return inventory.offered()


@pytest.mark.parametrize("kind", STORED)
def test_nothing_on_the_list_is_lost(kind, offered):
    lost = set(STORED[kind]) - set(offered.get(kind, ()))
    assert not lost, f"no longer offered: {sorted(lost)}; see scripts/inventory.py"


def test_the_list_covers_every_kind(offered):
    assert STORED.keys() == offered.keys()
    assert all(STORED.values())


@pytest.mark.parametrize(
    ("kind", "offer"),
    [
        ("public names", "solve(deflation)"),
        ("public names", "Problem.from_shards"),
        ("commands", "solve --certificate"),
        ("addresses", "sweep effort"),
        ("inputs", "Effort for the proof"),
        ("downloads", "Report of this sweep, HTML"),
        ("exported files", "tables/sweep.csv"),
    ],
)
def test_an_offer_that_everybody_knows_is_found(kind, offer, offered):
    assert offer in offered[kind]
