"""Lists of features for enrichment tools, read back by a small parser of each format."""

import pytest

import nspca
from nspca.data.export import name_list, to_gmt, to_rnk

HOSTILE = ["TP53", "a\tb", "line\nbreak", "=1+1", "µ", "TP53", "", " \r\n"]


def read_gmt(content: bytes) -> dict[str, tuple[str, list[str]]]:
    """Return description and members of each set, by its name; fails where a line has no member."""
    sets = {}
    for line in content.decode().split("\n")[:-1]:
        name, description, *members = line.split("\t")
        assert members and all(members) and name not in sets
        sets[name] = (description, members)
    return sets


def read_rnk(content: bytes) -> list[tuple[str, float]]:
    """Return names and weights in their order."""
    rows = [line.split("\t") for line in content.decode().split("\n")[:-1]]
    return [(name, float(weight)) for name, weight in rows]


def test_gmt_is_read_back():
    sets = [("component 1", "8 genes", ["A", "B"]), ("component 2", "", ["C", "A", "C"])]
    assert read_gmt(to_gmt(sets)) == {
        "component 1": ("8 genes", ["A", "B"]),
        "component 2": ("na", ["C", "A"]),
    }


def test_names_that_would_break_a_line_stay_one_cell():
    (description, members) = read_gmt(to_gmt([("a\tset", "two\nlines", HOSTILE)]))["a set"]
    assert description == "two lines" and members == ["TP53", "a b", "line break", "=1+1", "µ"]
    assert name_list(HOSTILE).split("\n")[:-1] == members


def test_a_set_without_features_is_left_out_and_two_of_one_name_are_refused():
    assert to_gmt([("none", "", []), ("empty", "", ["", "\n"])]) == b""
    with pytest.raises(nspca.InvalidData, match="'x' twice; rename one"):
        to_gmt([("x", "", ["A"]), ("x\n", "", ["B"])])


def test_a_ranked_list_has_the_features_in_use_largest_weight_first():
    rows = read_rnk(to_rnk(["A", "B", "C", "D", "A", "\t"], [0.1, 0.0, 0.7, -0.3, 0.9, 0.5]))
    assert rows == [("C", 0.7), ("A", 0.1), ("D", -0.3)]


def test_weights_keep_every_digit():
    x = nspca.solve(nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, 5)).components[:, 0]
    names = nspca.load_sample("pitprops").feature_names
    rows = dict(read_rnk(to_rnk(names, x)))
    assert rows == {names[j]: x[j] for j in x.nonzero()[0]} and len(rows) == 5
