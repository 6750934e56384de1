"""A lesson of prepared pages: collected, checked, and stepped through in present mode."""

import json

import pytest

from nspca.dashboard.app import slides, state, tables
from nspca.dashboard.app.frame import PAGES

KNOWN = {path.rpartition("/")[2].removesuffix(".py"): (path, label) for path, label, _ in PAGES}


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/sweep?k=3",
        "//example.org/sweep",
        "../sweep",
        "sweep/../data?k=3",
        "secret?k=3",
        "join?room=ABCDEF",
        "sweep?k=x",
        "sweep?k=3&unknown=1",
        "sweep?w=someone",
        "sweep?anew=1",
        "sweep?k",
        "sweep?" + "k=3&" * 2000,
        "learn?screen=<script>",
        "",
    ],
)
def test_only_addresses_of_this_app_are_taken(address):
    with pytest.raises(ValueError):
        slides.read_slide(address, KNOWN)


@pytest.mark.parametrize(
    "address", ["sweep?sample=digits&k=8", "app?", "learn?screen=3", "spannogram?view=sphere"]
)
def test_an_address_comes_back_as_it_was(address):
    slide = slides.read_slide(address, KNOWN)
    assert slide.address() == address and slide.path.endswith(f"{address.partition('?')[0]}.py")


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "",
        "[",
        "{}",
        "3",
        "[" * 100_000,
        json.dumps([1, None, ["sweep?"], {"a": 1}, "secret?", "sweep?k=x"]),
    ],
)
def test_what_a_browser_stores_is_not_believed(stored):
    assert slides.read_lesson(stored, KNOWN) == []


def test_a_stored_lesson_is_bounded():
    assert len(slides.read_lesson(json.dumps(["sweep?k=3"] * 1000), KNOWN)) == slides.MOST


def test_a_lesson_is_collected_and_stepped_through(visit, address):
    page = visit("pages/spannogram.py", sample="digits", k=6, view="curves")
    page.button(key="slide_add").click().run()
    page.button(key="slide_add").click().run()
    page.button(key="slide_out_0").click().run()
    kept = json.loads(page.session_state[slides.SLIDES])
    assert kept == ["spannogram?sample=digits&k=6&view=curves"]
    page.session_state[slides.SLIDES] = json.dumps([*kept, "learn?screen=2", "learn?screen=3"])
    page.run()
    page.button(key="slide_start").click().run()
    assert address(page)["slide"] == "1" and address(page)["present"] == "1" and address(page)["k"] == "6"
    assert not page.sidebar.children and page.button(key="slide_back").disabled
    page.button(key="slide_on").click().run()
    assert page.title[0].value == "Do a few features do as well?" and address(page)["slide"] == "2"
    page.switch_page("pages/learn.py").run()  # a browser knows the page that it was sent to
    page.button(key="slide_on").click().run()
    assert page.title[0].value == "Why can the best few be found?" and page.button(key="slide_on").disabled
    page.button(key="slide_back").click().run()
    assert page.title[0].value == "Do a few features do as well?"
    page.button(key="leave").click().run()
    assert "present" not in address(page) and "slide" not in address(page) and page.sidebar.children


def test_a_table_is_a_list_of_cards_on_a_phone():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"<b>name": ["<script>", "x"], "value": [1.23456, float("nan")], "none": [None, 2]}
    )
    text = tables.cards(table)
    assert (
        text.count("<dl>") == 2 and "<script>" not in text and "<b>" not in text and "<dd>1.235</dd>" in text
    )
    config = {
        "value": {"label": "Share", "type_config": {"type": "number", "format": "percent"}},
        "none": "Kept",
    }
    text = tables.cards(table, config)
    assert "<dt>Share</dt><dd>123.5 %</dd>" in text and "<dt>Kept</dt>" in text
    long = pandas.DataFrame({"n": range(tables.MOST + 3)})
    assert tables.cards(long).count("<dl>") == tables.MOST and "and 3 more" in tables.cards(long)
    seen, folded = tables.cards(long).split("<details>")
    assert (
        seen.count("<dl>") == tables.OPEN and f"<summary>{tables.MOST - tables.OPEN} more</summary>" in folded
    )
    assert "<details>" not in tables.cards(long.head(tables.OPEN + 1)), "a single card is not worth a fold"


def test_a_lesson_leaves_out_what_belongs_to_a_person():
    assert {"w", "present", "slide"} < set(slides.PERSONAL) and state.ANEW in slides.PERSONAL
