"""Texts and notebook views of problems, results, certificates and sweeps."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.presentation import colours, drawing
from nspca.shards.sources import shard

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    '"/><img src=x onerror=alert(1)>',
    "&lt; ]]> & '",
    "a\0b\x1b[31m\ud800\uffff",
    "many\nlines\r\n of a name that is longer than there is room for in a figure",
)


@pytest.fixture(scope="module")
def hostile():
    names = pd.Index(HOSTILE, dtype=object)  # as texts pandas would refuse the one that no file can hold
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 5)), columns=names)
    return nspca.solve(nspca.Problem.from_data(table, 5, nonneg=False))


def lines(one) -> list[str]:
    said = repr(one).split("\n")
    assert len(said) <= 2
    return said


def parsed(html: str) -> ET.Element:
    root = ET.fromstring(html.encode("utf-8"))  # both fail on what is no XML, and on what no file can hold
    assert {element.tag for element in root.iter()} <= {
        *("div", "br"),
        *(f"{SVG}{tag}" for tag in ("svg", "rect", "text", "title", "path", "polyline")),
    }
    return root


def test_two_lines_tell_what_each_is():
    data = nspca.load_sample("digits")
    assert lines(data) == ["Dataset digits: 1797 samples x 64 features"]
    problem = nspca.Problem.from_data(data, 3)
    result = nspca.solve(problem)
    weaker = replace(result.certificate, upper=1.01 * result.certificate.upper)
    result = result.with_certificate(weaker)
    assert lines(problem) == [
        "Problem: nonnegative component of the centred data with at most 3 nonzero weights",
        "1797 samples x 64 features",
    ]
    first, second = lines(result)
    assert first.startswith(f"Result of auto: value {result.value:.6g}, at least ") and "proved (B" in first
    assert re.fullmatch(
        r"a component of 64 features, 3 nonzero weights: (row \d column \d \+0\.\d+(, )?){3}", second
    )
    first, second = lines(result.certificate)
    assert first.startswith("Certificate (B") and result.certificate.rounded(6).statement in first
    assert second.startswith("of 1797 x 64 data, digest ")
    swept = nspca.sweep(problem, [2, 3], methods=("tpower", "pca"))
    assert lines(swept)[0] == "Sweep: tpower, pca at 2 k from 2 to 3"
    assert re.fullmatch(
        r"4 results, at least \d+\.\d % of the best possible, proved, for 4 of them", lines(swept)[1]
    )


def test_the_same_of_several_of_none_and_of_a_covariance():
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops"), (3, 2), nonneg=False)
    assert lines(problem) == [
        "Problem: 2 disjoint components of the covariance with at most 3 and 2 nonzero weights in turn",
        "13 features",
    ]
    result = nspca.solve(problem, certify=None)
    assert lines(result)[0].endswith(", no certificate")
    assert lines(result)[1].startswith("2 components of 13 features, 3 and 2 nonzero weights: ")
    assert result.weights(1)[0][0] in nspca.load_sample("pitprops").feature_names
    assert lines(nspca.Sweep({})) == ["Sweep: nothing yet"]
    none = nspca.Result(np.zeros((3, 0)), np.zeros(0), nspca.Status.HEURISTIC, "made")
    assert lines(none) == ["Result of made: no components"]
    proof = nspca.solve(problem.with_k(2)).certificate
    wrong = nspca.solve(problem.with_k(5), certify=None).with_certificate(replace(proof, upper=1.0))
    assert "so one of the two is wrong" in lines(wrong)[0]
    for one in (none, wrong, nspca.Sweep({}), nspca.Sweep({("made", 5): wrong})):
        parsed(one._repr_html_())


def test_pixels_are_drawn_where_they_are():
    data = nspca.load_sample("digits")
    result = nspca.solve(nspca.Problem.from_data(data, 4), certify=None)
    root = parsed(result._repr_html_())
    drawn = {title.text.partition(":")[0] for title in root.iter(f"{SVG}title")}
    assert drawn == {data.feature_names[j] for j in result.support()} and len(drawn) == 4
    side = 16
    for rect in root.iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None:
            row, column = (round(float(rect.get(at)) / side) for at in ("y", "x"))
            assert title.text.startswith(f"row {row + 1} column {column + 1}: +0.")


def test_a_bar_is_as_long_as_its_weight(hostile):
    root = parsed(hostile._repr_html_())
    figure = list(root.iter(f"{SVG}svg"))[1]  # the first says how much is proved
    lengths = [float(bar.get("width")) for bar in figure.iter(f"{SVG}rect")]
    sizes = [abs(weight) for _, weight in hostile.weights()]
    assert lengths == pytest.approx(np.array(sizes) * 200 / max(sizes), abs=0.06)
    positive = [bar.get("fill") == colours.POSITIVE for bar in figure.iter(f"{SVG}rect")]
    assert positive == [weight > 0 for _, weight in hostile.weights()]
    many = parsed(drawing.bars([(f"w{j}", 1.0) for j in range(drawing.MOST_BARS + 7)]))
    assert [text.text for text in many.iter(f"{SVG}text")][-1] == "and 7 more"


def test_hostile_names_are_text(hostile):
    """In every figure: neither an element nor an attribute comes from a name, and nothing XML cannot hold."""
    assert {name for name, _ in hostile.weights()} == set(HOSTILE)
    assert len(lines(hostile)) == 2
    pictures = [hostile._repr_html_(), nspca.Sweep({(name, 5): hostile for name in HOSTILE})._repr_html_()]
    pictures.append(drawing.pixels([(name, 0.4) for name in HOSTILE], range(5), (5, 1)))
    for html in pictures:
        root = parsed(html)
        words = {text for element in root.iter() for text in [element.text or ""]}
        assert any("<script>alert(1)</script>" in text for text in words)
        assert not any(attribute.startswith("on") for element in root.iter() for attribute in element.attrib)


def test_a_sweep_is_drawn_under_what_is_possible():
    swept = nspca.sweep(nspca.Problem.from_covariance(nspca.load_sample("pitprops"), 1), range(1, 6))
    root = parsed(swept._repr_html_())
    bound, found = (
        [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        for line in root.iter(f"{SVG}polyline")
    )
    assert len(bound) == len(found) == 5 and found[0][1] > found[-1][1]  # up is less in SVG
    assert all(
        above[0] == below[0] and above[1] <= below[1] for above, below in zip(bound, found, strict=True)
    )
    parsed(nspca.Sweep({("auto", 3): swept["auto", 3]})._repr_html_())  # one point


# what a problem knows of its features


def test_names_come_from_a_data_set_or_a_data_frame_and_stay_with_the_result():
    data = nspca.load_sample("digits")
    plain = nspca.solve(nspca.Problem.from_data(data.X, 3))
    known = nspca.solve(nspca.Problem.from_data(data, 3))
    assert known.value == plain.value and nspca.verify(data.X, known.certificate) >= known.value
    assert [name for name, _ in plain.weights()] == [f"feature {j + 1}" for j in plain.support()]
    frame = pd.DataFrame(data.X[:, 20:40], columns=range(20, 40))
    for result in nspca.sweep(nspca.Problem.from_data(frame, 3), [2]).results.values():
        assert {int(name) for name, _ in result.weights()} == {j + 20 for j in result.support()}
    two = nspca.solve(nspca.Problem.from_data(data, 3), components=2)
    assert all(name.startswith("row ") for number in (0, 1) for name, _ in two.weights(number))


def test_a_covariance_is_not_taken_for_data():
    with pytest.raises(nspca.InvalidProblem, match="a data set that is a covariance; use from_covariance"):
        nspca.Problem.from_data(nspca.load_sample("pitprops"), 3)


def test_a_problem_and_shards_have_a_notebook_view(tmp_path):
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops"), 3)
    assert "13 features" in "".join(parsed(problem._repr_html_()).itertext())
    (tmp_path / "words.csv").write_text("a,b,c\n1,0,2\n0,3,0\n4,0,0\n")
    shards = shard(tmp_path / "words.csv", tmp_path / "words")
    first, second = lines(shards)
    assert first == "Shards 'words': 3 samples x 3 features, 4 nonzeros"
    assert second.startswith("1 block of rows, ") and shards.digest[:12] in second
    assert "4 nonzeros" in "".join(parsed(shards._repr_html_()).itertext())


def test_a_membership_counts_features_and_draws_a_square_for_each():
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops"), 4)
    known = nspca.membership(problem, nspca.solve(problem), share=0.99)
    first, second = lines(known)
    assert first == "Membership of 13 features in answers that explain at least 99 % of the optimum:"
    places = [place.value for place in known.places]
    counted = second.partition(";")[0].split(", ")
    kinds = ("in every", "in none", "exchangeable", "undecided")
    assert counted == [f"{places.count(kind)} {kind}" for kind in kinds]
    squares = list(parsed(known._repr_html_()).iter(f"{SVG}rect"))
    assert [rect.find(f"{SVG}title").text.split(": ")[1].split(", ")[0] for rect in squares] == places
    assert sum(rect.get("stroke") == "currentColor" for rect in squares) == 4
