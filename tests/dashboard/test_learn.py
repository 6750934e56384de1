"""The learn page: its screens, two guesses with their answers, and a screen to take home."""

import json
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import nspca
from nspca.dashboard.components import spannogram_explorer
from nspca.dashboard.components.painter import painting
from nspca.dashboard.learn.lesson import K, lesson, pair, quartic, shares_of
from nspca.dashboard.learn.screens import SCREENS

PAGE = "pages/learn.py"
DIGITS = nspca.load_sample("digits").X


@pytest.mark.parametrize("number", range(1, len(SCREENS) + 1))
def test_each_screen_opens_by_its_address(visit, address, number):
    page = visit(PAGE, screen=number)
    assert not page.exception and not page.error
    assert page.title[0].value == SCREENS[number - 1].title
    assert page.button(key="turn_left").disabled == (number == 1)
    assert page.button(key="turn_right").disabled == (number == len(SCREENS))
    if number in (1, 3, 4):  # a direction is explained where the word comes first
        said = next(text.value for text in page.markdown if "direction" in text.value).replace("**", "")
        assert re.search(r"direction[^s]", said).start() == said.index("direction gives each pixel a weight")


def test_buttons_turn_the_screens_and_the_address_follows(visit, address):
    page = visit(PAGE)
    page.button(key="turn_right").click().run()
    page.button(key="turn_right").click().run()
    assert page.title[0].value == SCREENS[2].title and address(page) == {"screen": "3"}
    page.button(key="turn_left").click().run()
    assert address(page) == {"screen": "2"}
    page.button(key="turn_left").click().run()
    assert address(page) == {} and page.title[0].value == SCREENS[0].title


@pytest.mark.parametrize("screen", ["0", "99", "x"])
def test_an_address_somebody_edited(visit, screen):
    page = visit(PAGE, screen=screen, guess="1000", painted="999,<b>,3", judge="1")
    assert not page.exception and not page.error and page.title


def test_the_direction_is_that_of_most_variance():
    (i, j), along = pair(lesson())
    points = DIGITS[:, [i, j]]
    turns = [np.var(points @ [np.cos(t), np.sin(t)]) for t in np.linspace(0, np.pi, 181)]
    assert i != j and np.var(points @ along) >= max(turns)


def test_few_pixels_are_held_against_what_is_proved(visit, texts):
    of, said = lesson(), texts(visit(PAGE, screen=2))
    assert nspca.verify(DIGITS, of.certificate) == of.upper
    most = r"keep ([\d.]+) % of what.* No 8 pixels with nonnegative weights keep more: proved"
    reached = re.search(most, said)
    assert "uses 61 pixels" in said, "three pixels are blank in every image"
    assert float(reached[1]) <= 100 * of.result.value / of.best and of.upper < of.result.value * (1 + 1e-8)
    _, nobody = shares_of(replace(of, upper=1.01 * of.upper))
    assert float(re.search(r"more than ([\d.]+) %", nobody)[1]) >= 101 * of.upper / of.best


def test_a_price_makes_a_weight_zero():
    found = quartic(lesson())
    assert found.best[0] > 0 == found.best[1] and found.curves[0][1] > found.curves[1][1]


def test_the_angle_is_asked_for_before_the_answer_is_shown():
    of = lesson()
    asked = spannogram_explorer.asking(of.V[:, :2], K, ["a"] * 64, of.seen, of.unit, None)
    assert asked["ask"] and asked["guessed"] is None
    assert abs(asked["phi"] - asked["optimum"]["phi"]) > 0.5, "the picture does not begin at the answer"
    told = spannogram_explorer.asking(of.V[:, :2], K, ["a"] * 64, of.seen, of.unit, 0.3)
    assert told["phi"] == told["guessed"] == 0.3 and told["optimum"] == asked["optimum"]


def test_the_file_to_take_home_needs_nothing_and_lets_no_name_out_of_its_place():
    names = ["</script><script>alert(1)</script>"] * 64
    of = lesson()
    data = spannogram_explorer.asking(of.V[:, :2], K, names, of.seen, of.unit, None)
    text = spannogram_explorer.page("<Guess>", "A sentence & more", data).decode()
    assert text.count("<script") == text.count("</script>") == 1 and "<title>&lt;Guess&gt;</title>" in text
    assert not re.search(r"(?:src|href)=|https?://|import\b|fetch\(", text) and "default-src 'none'" in text
    assert json.loads(re.search(r"data: (\{.*\}), setStateValue", text)[1]) == json.loads(json.dumps(data))


def test_a_painting_is_judged_by_a_certificate(visit, texts, alts):
    of = lesson()
    pixels = [10, 11, 12, 13, 20, 21, 22, 23]
    page = visit(PAGE, screen=5, painted=",".join(map(str, pixels)))
    assert "Paint the" in texts(page) and not alts(page), "the answer waits"
    page.button(key="judge").click().run()
    said = unescape(texts(page))
    best = nspca.solve(nspca.Problem.from_data(DIGITS[:, pixels], k=K)).value
    mine, found = (float(share) for share in re.findall(r"\*\*([\d.]+) %\*\*", said))
    assert 0 <= 100 * best / of.best - mine < 1 and 0 <= 100 * of.result.value / of.best - found < 1
    assert any("Pixels of two answers" in alt for alt in alts(page))
    page.button(key="repaint").click().run()
    assert "Paint the" in texts(page) and page.button(key="judge").disabled


def test_the_best_pixels_painted_are_the_best_found(visit, texts):
    of = lesson()
    pixels = of.result.components[:, 0].nonzero()[0]
    said = texts(visit(PAGE, screen=5, painted=",".join(map(str, pixels)), judge=1))
    values = re.findall(
        r"keep \*\*([\d.]+) %\*\* of .* found keep \*\*([\d.]+) %\*\*, and (\d) of them are", said
    )[0]
    assert values[0] == values[1] and values[2] == str(K)


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ([3, 1, 1], [1, 3]),
        (["7", "x", "-1", "64", "9" * 400], [7]),
        (range(64), []),
        ("12", []),
        ([True, None, 2.5], []),
    ],
)
def test_only_pixels_of_the_image_are_painted(told, read):
    assert painting(told, 64, 3) == read
    assert len(painting(list(range(64)), 64, 8)) == 8


def test_before_a_room_there_is_no_menu(visit, address):
    page = visit(PAGE, present=1)
    assert not page.exception and not page.error and not page.sidebar.children
    page.button(key="leave").click().run()
    assert "present" not in address(page) and page.sidebar.children
    page.button(key="present").click().run()
    assert address(page)["present"] == "1"


@pytest.mark.visit
def test_all_good_sets_are_listed(visit, texts):
    page = visit(PAGE, screen=7)
    page.toggle(key="learn_list").set_value(True).run()
    assert not page.exception and "contains one of these 7 sets" in texts(page)
