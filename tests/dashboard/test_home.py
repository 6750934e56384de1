"""Home: a component with its proof before anybody has done anything."""

from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from nspca.dashboard.app import browser_storage, state
from nspca.jobs import engine, new_workspace
from nspca.specs.rows import Found
from tests.dashboard.figures import at_k, figures, slider
from tests.dashboard.test_runs import plant


def figure(page, index):
    return figures(page)[index]


def test_the_first_minute(visit, texts, alts, address):
    page = visit()
    assert not page.exception and not page.error
    assert "are the best 8 with nonnegative weights: proved." in texts(page)
    assert texts(page).count("The coloured pixels are 8 of the 64 pixels") == 1, "what you see, in a line"
    assert any("an image of 8 × 8 pixels: 8 of 64 features used" in alt for alt in alts(page))
    assert any("% of the best possible" in alt for alt in alts(page))
    assert "w" not in page.query_params and not engine().store.list_uploads("")
    assert slider(page)["ks"] == list(range(1, 21)) and all(slider(page)["frames"][k]["figure"] for k in "18")
    assert "These 3 pixels are the best 3" in slider(page)["frames"]["3"]["said"].replace("\xa0", " ")
    page = at_k(page, 3, "digit_k")
    assert any("3 of 64 features used" in alt for alt in alts(page))
    assert address(page)["digit_k"] == "3"
    again = visit(digit_k=3)
    assert slider(again)["k"] == 3 and alts(again) == alts(page)


def test_an_address_somebody_edited(visit):
    for k, shown in (("0", 1), ("9999", 20), ("many", 8), ("-1", 1)):
        page = visit(digit_k=k)
        assert not page.exception and not page.error and slider(page)["k"] == shown


def test_who_comes_back_goes_on(visit, texts, address):
    """A workspace with runs has one box about the last of them; a workspace without runs has none."""
    workspace = new_workspace()
    assert "Continue where" not in texts(visit(w=workspace))
    plant(workspace, "sweep", rows=[Found("auto", k, 1.0) for k in (2, 4, 6)], result=b"x")
    plant(workspace, "check")
    page = visit(w=workspace, sample="lrs", axis="total")
    assert not page.exception and not page.error
    said = unescape(texts(page))
    assert "**Continue where you were**: Pitprops, sweep k = 2 to 6 in steps of 2; done" in said
    page.button(key="fresh").click().run()
    assert not page.exception and "Continue where" not in texts(page) and address(page) == {}
    assert engine().store.list_runs(workspace), "the runs stay"


def test_how_far_the_last_run_is(visit, texts):
    said = {}
    for how in ("failed", "interrupted"):
        workspace = new_workspace()
        plant(workspace, "sweep", how, rows=[Found("auto", 2, 1.0)])
        said[how] = unescape(texts(visit(w=workspace))).partition("in steps of 2; ")[2].partition("\n")[0]
    assert said == {"failed": "failed", "interrupted": "interrupted"}


def test_a_link_into_a_workspace_says_so(visit, texts, address):
    """A visitor who follows a link into a workspace is asked, and stays or leaves with a click."""
    linked = engine().store.issue_workspace()
    page = visit("pages/runs.py", w=linked)
    assert browser_storage.WHOSE not in texts(page), "the browser may know it"
    page.session_state["memory"] = {"workspace": None, "other": linked}
    assert browser_storage.WHOSE in texts(page.run())
    page.button(key="leave_workspace").click().run()
    assert browser_storage.WHOSE not in texts(page) and "w" not in address(page)
    page = visit("pages/runs.py", w=linked)
    page.session_state["memory"] = {"workspace": None, "other": linked}
    page.run().button(key="stay").click().run()
    assert browser_storage.WHOSE not in texts(page) and address(page)["w"] == linked


def script():
    import streamlit as st

    from nspca.dashboard.app import browser_storage, state

    state.begin()
    browser_storage.recall()
    st.text(f"{state.get('w')} {state.FRESH in st.session_state}")


@pytest.mark.parametrize(
    ("remembered", "address", "taken"),
    [
        ("kept_1", {}, "kept_1 False"),
        ("kept_1", {"w": "linked"}, "linked False"),
        ("kept_1", {"w": "a"}, "kept_1 False"),
        ("<script>", {}, "None True"),
        ("../x", {"w": "linked"}, "linked False"),
        (["kept"], {}, "None True"),
        (7, {}, "None True"),
        ("x" * 5000, {}, "None True"),
        (None, {}, "None False"),
    ],
)
def test_what_the_browser_remembers_is_read_like_an_address(remembered, address, taken, monkeypatch):
    monkeypatch.setattr(state, "_met", {"kept_1", "linked"})
    page = AppTest.from_function(script)
    page.query_params.update(address)
    page.session_state["memory"] = {"workspace": remembered}
    assert page.run().text[0].value == taken and not page.exception
