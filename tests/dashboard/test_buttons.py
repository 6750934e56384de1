"""Clicks are not lost, whatever interrupts the run of the script and however late the button is drawn."""

import ast
from pathlib import Path

from streamlit.testing.v1 import AppTest

from nspca.dashboard.app import buttons


def page():
    import streamlit as st

    from nspca.dashboard.app import buttons

    done = st.session_state.setdefault("done", [])
    waiting = buttons.begin("page")
    if st.session_state.pop("superseded", False):
        st.stop()  # as Streamlit does when another run is requested: the button is never reached
    if not st.session_state.get("hidden"):
        buttons.button("Run", "run", lambda: done.append(1))
        buttons.button("Off", "off", lambda: done.append(2), disabled=True)
        buttons.button("Fails", "fails", lambda: 1 / 0)
    buttons.end(waiting)


def test_a_click_is_done_once():
    app = AppTest.from_function(page).run()
    app.button(key="run").click().run()
    assert app.session_state["done"] == [1]
    app.run()
    assert app.session_state["done"] == [1]


def test_a_click_waits_for_the_button_when_its_run_is_superseded():
    app = AppTest.from_function(page).run()
    app.session_state["superseded"] = True
    app.button(key="run").click().run()  # this run ends before the button
    assert app.session_state["done"] == []
    app.run()  # the next one has no click of its own
    assert app.session_state["done"] == [1]


def test_a_click_on_a_button_that_is_gone_is_over():
    app = AppTest.from_function(page).run()
    app.session_state["hidden"] = True
    app.button(key="run").click().run()
    app.session_state["hidden"] = False
    app.run()
    assert app.session_state["done"] == []


def test_what_fails_is_said_and_not_tried_again():
    app = AppTest.from_function(page).run()
    app.button(key="fails").click().run()
    assert app.exception
    app.run()
    assert not app.exception


def test_disabled_buttons_do_nothing():
    app = AppTest.from_function(page).run()
    app.session_state[buttons.PRESSED] = {"off"}
    app.run()
    assert app.session_state["done"] == []


def test_plain_buttons_of_streamlit_start_nothing():
    """`st.button` that acts in the run of its click may lose it: pages use `buttons`, or a callback."""
    root = Path(buttons.__file__).resolve().parents[3]
    files = [*root.glob("nspca/dashboard/**/*.py"), *root.glob("pages/*.py"), root / "app.py"]
    lost = []
    for path in set(files) - {Path(buttons.__file__).resolve()}:
        source = path.read_text(encoding="utf-8")
        if "st.button" not in source:
            continue  # not parsed in vain
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
        plain = [call for call in calls if ast.unparse(call.func) == "st.button"]
        lost += [
            f"{path.name}:{call.lineno}"
            for call in plain
            if not any(keyword.arg == "on_click" for keyword in call.keywords)
        ]
    assert lost == []
