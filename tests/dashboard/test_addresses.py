"""Addresses that somebody edited, cut short or made up: every page still opens, with at most one sentence
about it.
"""

import pytest

from nspca.dashboard.shell.state import VALUES

JUNK = ("junk", "-5", "999999999", "<script>", "")
ODD = ("0", "a,b", "%00")


def opens(visit, page, **address):
    opened = visit(page, **address)
    assert not opened.exception, (address, opened.exception[0].message)
    assert all("reference" not in error.value for error in opened.error), (
        address,
        [error.value for error in opened.error],
    )
    assert opened.title


@pytest.mark.parametrize("page", ["pages/data.py", "pages/sweep.py", "pages/runs.py"])
@pytest.mark.parametrize("together", [9, pytest.param(1, marks=pytest.mark.long)])
def test_each_value_may_be_nonsense(visit, page, together):
    names = list(VALUES)
    for first in range(0, len(names), together):
        opens(visit, page, **{"sample": "pitprops"} | dict.fromkeys(names[first : first + together], "junk"))


@pytest.mark.parametrize(
    "page",
    [
        "app.py",
        "pages/data.py",
        "pages/sweep.py",
        "pages/parts.py",
        "pages/topics.py",
        "pages/runs.py",
        "pages/shared.py",
        "pages/learn.py",
    ],
)
@pytest.mark.parametrize("junk", [*JUNK, *(pytest.param(junk, marks=pytest.mark.long) for junk in ODD)])
def test_all_of_it_at_once(visit, page, junk):
    opens(visit, page, **dict.fromkeys(VALUES, junk))


@pytest.mark.parametrize("axis", ["leading", "total", "sideways"])
def test_both_axes_of_a_finished_run(visit, finish, address, alts, axis):
    page = visit("pages/sweep.py", sample="pitprops", **{"from": 2, "to": 4, "step": 2, "axis": axis})
    page.button(key="run").click().run()
    page = finish(page)
    assert not page.exception and not page.error
    name = {"total": "total variance"}.get(axis, "leading eigenvalue")
    assert any(f"% of the {name}, at k = 4" in alt for alt in alts(page))
