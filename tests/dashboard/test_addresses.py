"""Addresses that somebody edited, cut short or made up: every page still opens, with at most one sentence
about it.
"""

import pytest

from nspca.dashboard.app import wording
from nspca.dashboard.app.state import VALUES

JUNK = ("junk", "-5", "")
ODD = ("9" * 15, "<script>", "0", "a,b", "%00")


def opens(visit, page, **address):
    opened = visit(page, **address)
    assert not opened.exception, (address, opened.exception[0].message)
    assert all("reference" not in error.value for error in opened.error), (
        address,
        [error.value for error in opened.error],
    )
    assert opened.title


@pytest.mark.parametrize(
    "page",
    [
        "pages/sweep.py",
        *(pytest.param(f"pages/{name}.py", marks=pytest.mark.long) for name in ("data", "runs")),
    ],
)
@pytest.mark.parametrize("together", [20, pytest.param(1, marks=pytest.mark.long)])
def test_each_value_may_be_nonsense(visit, page, together):
    names = list(VALUES)
    for first in range(0, len(names), together):
        opens(visit, page, **{"sample": "pitprops"} | dict.fromkeys(names[first : first + together], "junk"))


PAGES = (
    "app.py",
    "pages/data.py",
    "pages/sweep.py",
    "pages/components.py",
    "pages/runs.py",
    "pages/shared.py",
    "pages/learn.py",
    "pages/papers.py",
)
FURTHER = {("pages/sweep.py", "-5"), ("pages/components.py", "-5"), ("pages/sweep.py", ""), ("app.py", "")}
"""Pages that meet more than one kind of nonsense in every run; the long tests have all pairs."""


@pytest.mark.parametrize(
    ("page", "junk"),
    [
        pytest.param(page, junk, marks=[pytest.mark.long] * (junk != "junk" and (page, junk) not in FURTHER))
        for page in PAGES
        for junk in (*JUNK, *ODD)
    ],
)
def test_all_of_it_at_once(visit, page, junk):
    opens(visit, page, **dict.fromkeys(VALUES, junk))


@pytest.mark.parametrize(
    "axis", ["leading", *(pytest.param(axis, marks=pytest.mark.visit) for axis in ("total", "sideways"))]
)
def test_both_axes_of_a_finished_run(ran, address, alts, axis):
    page = ran("pages/sweep.py", sample="pitprops", **{"from": 2, "to": 4, "step": 2, "axis": axis})
    assert not page.exception and not page.error
    name = {"total": "total variance"}.get(axis, "main direction")
    assert any(f"% of the {name}, at k = 4" in alt for alt in alts(page))


PREPARED = [
    ({"sample": "pitprops", "prep": "lee-seung,off-first"}, ["Lee–Seung", "First component out"], {}),
    ({"sample": "digits", "prep": "off-first", "log": "1"}, ["log2(x + 1)"], {"prep": "off-first"}),
    ({"sample": "coffee", "prep": "foo,off-first,off-first"}, [], {"prep": "off-first"}),
    ({"sample": "digits", "prep": "foo"}, [], {}),
    ({"sample": "digits", "prep": "log2,lee-seung"}, [], {"prep": "lee-seung", "log": "1"}),
    ({"sample": "state-of-the-union", "prep": "off-first"}, ["First component out"], {}),
    ({"sample": "pitprops", "prep": "log2"}, [], {"log": "1"}),
]


def of_page(page, first):
    """The first cases on a page, and all others among the visits: one function reads all addresses."""
    return [
        pytest.param(page, *case, marks=[] if number < first else pytest.mark.visit)
        for number, case in enumerate(PREPARED)
    ]


@pytest.mark.parametrize(
    ("page", "where", "said", "stays"),
    [
        *of_page("data", len(PREPARED)),
        *(
            case
            for page in ("sweep", "spannogram", "components")
            for case in of_page(page, 2 if page == "sweep" else 1)
        ),
    ],
)
def test_only_the_preparation_that_cannot_be_made_is_left_out(visit, page, where, said, stays, address):
    opened = visit(f"pages/{page}.py", **where)
    assert not opened.exception
    assert {name: text for name, text in address(opened).items() if name in ("prep", "log")} == stays
    assert [error.value.split("”")[0].lstrip("“") for error in opened.error] == [
        wording.plain(title) for title in said
    ]


def test_switching_on_what_cannot_be_made_leaves_the_rest(visit, address):
    page = visit("pages/data.py", sample="digits", prep="off-first")
    page.toggle(key="widget_log").set_value(True).run()
    assert (
        "log2" in page.error[0].value and address(page)["prep"] == "off-first" and "log" not in address(page)
    )
    assert not page.toggle(key="widget_log").value and page.button_group(key="widget_prep").value == [
        "off-first"
    ]
    page.run()
    assert not page.error


def test_a_preparation_in_force_is_seen_and_can_be_taken_back(visit, address):
    """Without its constant pixels an image is none, and could not be prepared as one any more."""
    page = visit("pages/data.py", sample="digits", prep="lee-seung", drop=1)
    pills = page.button_group(key="widget_prep")
    assert pills.value == ["lee-seung"] and not page.error
    pills.set_value([]).run()
    assert "prep" not in address(page) and not page.error


def test_a_number_that_is_not_possible_is_said_and_stays(visit, address, sentence):
    page = visit("pages/sweep.py", sample="pitprops", to="-3")
    assert f"got 1 to {wording.plain('-3')}" in sentence(page) and address(page)["to"] == "-3"


@pytest.mark.usefixtures("first_answers")
@pytest.mark.parametrize(
    ("page", "given", "said"),
    [
        ("pages/sweep.py", {"k": 14}, "k = 14 must be from 1 to 13 here: k ="),
        ("pages/sweep.py", {"k": 0}, "k = 0 must be from 1 to 13 here: k ="),
        ("pages/spannogram.py", {"k": 99}, "k = 99 must be from 1 to 13 here: k = 13 is shown."),
        ("app.py", {"digit_k": 99}, "k = 99 must be from 1 to 20 here: k = 20 is shown."),
    ],
)
def test_a_k_that_is_not_shown_is_said(visit, settled, texts, page, given, said):
    opened = settled(visit(page, sample="pitprops", **given), lambda page: said in texts(page))
    assert not opened.exception and not opened.error


@pytest.mark.parametrize("page", ["sweep", "spannogram"])
def test_a_k_that_is_shown_is_not_said(visit, texts, page):
    for given in ({}, {"k": 5}):
        assert " is shown." not in texts(visit(f"pages/{page}.py", sample="pitprops", **given))


@pytest.mark.usefixtures("first_answers")
def test_a_k_that_is_not_on_the_curve_joins_it(visit, settled, alts):
    def joined(page):
        return any("8 values of k from 1 to 11" in alt for alt in alts(page))

    opened = settled(visit("pages/sweep.py", sample="pitprops", out="4,8", k=9), joined)
    assert not opened.exception and not opened.error
