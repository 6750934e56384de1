"""Rows that workers report arrive on a page unchanged, through JSON and the store."""

import json

import numpy as np
import pytest

import nspca
from nspca.specs.rows import (
    NAMES,
    Climbed,
    Closer,
    Found,
    Proved,
    Redrawn,
    Refused,
    Several,
    Shuffled,
    Weighed,
    pack,
    unpack,
)

SAID = [
    Found("auto", 3, 2.0, 2.5, 0.8, "B3", 0.1, upper_rank3=3.0),
    Several("joint", [1.0, 0.5], 0.2, [[[0, 2], [0.6, -0.8]], [[1], [1.0]]]),
    Climbed("joint", 0.1, 1.2, [[[0, 2], [0.6, -0.8]], [[1], [1.0]]]),
    Redrawn("em", [[1, 4], []], [0.5, 0.0]),
    Weighed([2, 3], [1.0, 1.5], [0.5, None], [0.1, None], [None, None], [None, None]),
    Shuffled(1.5, 0.9),
    Proved(3, 2.5, "B3"),
    Closer(1.0, 9.9, 10.0, "standard"),
    Refused("nmf", "nmf works on data"),
]


def sent(row) -> dict:
    return json.loads(json.dumps(pack(row)["row"]))


def test_every_row_survives_the_way():
    assert {type(row) for row in SAID} == set(NAMES.values())
    assert unpack(map(sent, SAID)) == SAID


@pytest.mark.parametrize(
    "strange", [{"method": "em", "error": "no"}, {"row": "gossip"}, {**sent(SAID[8]), "row": "found"}]
)
def test_rows_of_another_version_are_left_out(strange):
    assert unpack([sent(SAID[0]), strange, sent(SAID[8])]) == [SAID[0], SAID[8]]


def test_several_components_come_back_with_six_digits():
    X = np.random.default_rng(0).normal(size=(9, 2))
    X /= np.linalg.norm(X, axis=0)
    made = nspca.Result(X, np.array([2.0, 1.0]), nspca.Status.HEURISTIC, "em", seconds=0.5)
    (row,) = unpack([sent(Several.of(made))])
    back = row.result(9)
    assert (
        np.allclose(back.components, X, rtol=1e-5)
        and back.value == 3.0
        and (back.method, back.seconds) == ("em", 0.5)
    )
