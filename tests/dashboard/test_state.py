"""Values in addresses: which texts are valid, and how pages read them."""

import json
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from nspca.dashboard.app import state
from nspca.dashboard.app.state import PAGES, VALUES
from nspca.jobs import engine, new_workspace
from nspca.validation.address import write

GOOD = {
    "center": False,
    "scale": True,
    "methods": ["auto", "cone"],
    "id": "a name, with = & signs",
    "k": 12,
    "to": -3,
    "step": 10**14,
    "ks": ", ".join(map(str, range(10_000, 10_060))),
    "size": ", ".join(["123456789"] * 20),
    "label": "a long name " * 30,
    "folder": "f" * 250,
    "sample": "bow-kos",
    "w": new_workspace(),
    "one": [[3, 4], [1, 8, 9]],
}


@pytest.mark.parametrize("name", GOOD)
def test_a_value_survives_the_address(name, monkeypatch):
    monkeypatch.setattr(state, "_met", {GOOD["w"]})
    assert VALUES[name].read(write(GOOD[name])) == GOOD[name]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k", "--3"),
        ("k", "1e9"),
        ("out", "3,-1"),
        ("k", "9" * 30),
        ("center", "yes"),
        ("run", "../x"),
        ("w", "a b"),
        ("sample", ""),
        ("one", "3,4~x"),
        ("one", "3-4"),
        ("most", "1"),
        ("methods", "magic"),
    ],
)
def test_what_is_not_a_value_is_refused(name, text):
    with pytest.raises((ValueError, KeyError)):
        VALUES[name].read(text)


@pytest.mark.parametrize(
    ("text", "groups"),
    [("4,3,4", [[3, 4]]), ("3", []), ("3,4~4,5", [[3, 4]]), ("3,4~4,5,6~", [[3, 4], [5, 6]]), ("", [])],
)
def test_a_number_is_in_one_group_and_a_group_has_two(text, groups):
    assert VALUES["one"].read(text) == groups


def test_what_is_named_twice_is_there_once():
    assert VALUES["rivals"].read("pca,auto,pca,") == ["pca", "auto"]


def test_a_workspace_is_one_that_was_issued():
    read = VALUES["w"].read
    for made_up in ("a", new_workspace()):
        with pytest.raises(ValueError, match=made_up):
            read(made_up)
    issued, used = engine().store.issue_workspace(), new_workspace()
    engine().store.add_run(used, "k of used", "", "m:f", "{}")
    assert read(issued) == issued and read(used) == used


def test_the_workspaces_of_all_visits_are_not_remembered_for_ever(monkeypatch):
    store = SimpleNamespace(is_workspace=lambda word: True)
    monkeypatch.setattr(state, "engine", lambda: SimpleNamespace(store=store))
    monkeypatch.setattr(state, "_met", set())
    monkeypatch.setattr(state, "MOST_MET", 50)
    for _ in range(120):
        word = new_workspace()
        assert VALUES["w"].read(word) == word
    assert len(state._met) <= 50


def test_defaults_are_made_anew():
    assert VALUES["methods"].default() is not VALUES["methods"].default()


def script():
    import streamlit as st

    from nspca.dashboard.app import state

    state.begin()
    st.toggle("Scale", **state.bind("scale"))
    st.number_input("k", step=1, **state.bind("k", 5 if state.get("k") is None else None))
    if st.button("forget"):
        state.put(k=None)
        st.rerun()


def test_widgets_and_address_say_the_same():
    page = AppTest.from_function(script).run()
    assert not page.query_params
    page.toggle[0].set_value(True).run()
    page.number_input[0].set_value(7).run()
    assert page.query_params["scale"] in ("1", ["1"]) and page.query_params["k"] in ("7", ["7"])
    page.number_input[0].set_value(8).run()
    assert page.number_input[0].value == 8, "every second choice counts too"
    page.query_params["k"] = "3"
    page.run()
    assert page.number_input[0].value == 3, "the browser's back button"
    page.button[0].click().run()
    assert page.number_input[0].value == 5 and "k" not in page.query_params
    page.toggle[0].set_value(False).run()
    assert "scale" not in page.query_params, "a default needs no place in the address"


def on_a_page():
    import streamlit as st

    from nspca.dashboard.app import state

    state.begin("sweep")
    st.number_input("k", step=1, **state.bind("k", 5 if state.get("k") is None else None))
    st.json({"kept": st.session_state[state.KEPT], "data": state.link("pages/data.py"), "here": state.link()})


def test_an_address_carries_what_its_page_knows(monkeypatch):
    monkeypatch.setattr(state, "_met", {"mine"})
    assert {name for name, kept in VALUES.items() if not kept.pages} == {"w", "present"}
    assert {"sweep", "components", "papers", "learn"} <= PAGES
    page = AppTest.from_function(on_a_page)
    page.query_params.update({"sample": "lrs", "k": "7", "components": "p", "w": "mine", "source": "upload"})
    said = json.loads(page.run().json[0].value)
    assert said["kept"]["components"] == "p", "another page may still need it"
    assert said["here"] == {"sample": "lrs", "k": "7", "w": "mine"} and set(page.query_params) == set(
        said["here"]
    )
    assert said["data"] == {"sample": "lrs", "w": "mine", "source": "upload"}


def test_back_leads_to_all_that_was_there(monkeypatch):
    monkeypatch.setattr(state, "_met", {"mine"})
    page = AppTest.from_function(on_a_page)
    page.query_params.update({"sample": "lrs", "w": "mine", "components": "p"})
    page.run().number_input[0].set_value(8).run()
    assert page.query_params["k"] in ("8", ["8"])
    page.query_params["w"] = "mine"
    del page.query_params["sample"]
    page.run()
    assert page.number_input[0].value == 8, "an address that was not there says what it says, and no more"
    assert page.query_params["sample"] in ("lrs", ["lrs"])
    del page.query_params["k"]  # the address before the change
    page.run()
    said = json.loads(page.json[0].value)
    assert page.number_input[0].value == 5 and said["kept"] == {
        "sample": "lrs",
        "w": "mine",
        "components": "p",
    }


def test_a_widget_is_told_its_value_again_in_its_first_seconds(monkeypatch):
    """A browser that is late would draw it empty otherwise."""

    class Session(dict):
        def __setitem__(self, key, value):
            told.append(key)
            super().__setitem__(key, value)

    told, session, now = [], Session(), [0.0]
    monkeypatch.setattr(state, "st", SimpleNamespace(session_state=session))
    monkeypatch.setattr(state, "went_back", lambda: False)
    monkeypatch.setattr(state.time, "monotonic", lambda: now[0])

    def run(seconds: float) -> list[str]:
        now[0] += seconds
        told.clear()
        state.showing("by", True)
        return [key for key in told if key == "by"]

    assert run(0.0) == run(1.0) == ["by"] and run(5.0) == []
    session["by"] = False
    assert run(1.0) == ["by"] and run(1.0) == []
    del session["by"]  # Streamlit drops the widgets of a page that is left
    assert run(1.0) == run(1.0) == ["by"] and run(5.0) == []


def form_of_a_model():
    from typing import Annotated, Literal

    from pydantic import Field

    from nspca.dashboard.app import form, state
    from nspca.validation import address
    from nspca.validation.model import Model, Option

    class Asked(Model):
        scale: Annotated[bool, Option("Standardise", "scale", help="divide by deviations")] = False
        split: Annotated[
            Literal["automatic", "lines"],
            Option("A text is", "split", address.WORD, words={"lines": "a line"}),
        ] = "automatic"
        low: Annotated[float, Field(ge=0, le=1), Option("Share", "low", address.SHARE)] = 0.0
        most: Annotated[int, Field(ge=2, le=9), Option("Most", "most", address.INTEGER)] = 4

    state.begin()
    for name in Asked.model_fields:
        form.draw(Asked, name)


def test_inputs_are_drawn_as_the_fields_are_declared():
    page = AppTest.from_function(form_of_a_model)
    page.query_params["most"] = "7"
    page.run()
    assert page.toggle[0].label == "Standardise" and page.toggle[0].help == "Divide by deviations."
    assert page.selectbox[0].options == ["Automatic", "a line"]
    share, most = page.number_input
    assert (share.min, share.max, most.min, most.max, most.value) == (0, 100, 2, 9, 7)
    share.set_value(12.5).run()
    page.selectbox[0].set_value("lines").run()
    assert page.query_params["low"] in ("12.5", ["12.5"]) and page.query_params["split"] in (
        "lines",
        ["lines"],
    )
