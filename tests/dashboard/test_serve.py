"""The server asks no other host for anything."""

import ast
from pathlib import Path

import pytest
import requests
from streamlit import config, net_util
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.web.server.server_util import is_url_from_allowed_origins

from nspca.cli.app import streamlit_command
from nspca.dashboard.app import internals


def test_an_unknown_origin_is_refused_without_asking_anybody(monkeypatch):
    asked = []

    def outside(url, *arguments, **options):
        asked.append(url)
        raise OSError("nobody there")

    monkeypatch.setattr(requests, "get", outside)
    monkeypatch.setattr(net_util, "_external_ip", None)
    with monkeypatch.context() as original:
        original.setattr(net_util, "get_external_ip", net_util.get_external_ip)
        internals.stay_home()
        assert not is_url_from_allowed_origins("http://another.example:8501")
        assert is_url_from_allowed_origins("http://localhost:8501")
    assert not asked


@pytest.mark.visit
def test_every_page_says_so_for_a_server_started_otherwise(visit, monkeypatch):
    monkeypatch.setattr(net_util, "get_external_ip", lambda: "192.0.2.1")
    visit()
    assert net_util.get_external_ip() is None


def test_the_command_starts_this_server():
    assert streamlit_command("localhost", 8501, "localhost")[1:4] == [
        "-m",
        "nspca.dashboard.app.serve",
        "run",
    ]


def test_the_theme_is_read_once_until_the_settings_are_read_again(monkeypatch):
    sections = ["theme", *(f"theme.{one.value}" for one in config.CustomThemeCategories)]
    asked, read = [], config.get_options_for_section

    def counted(section):
        asked.append(section)
        return read(section)

    def themes():
        """The theme and all its parts, as a browser gets them."""
        message = NewSession()
        theme = message.custom_theme
        places = {"light": theme.light, "dark": theme.dark, "sidebar": theme.sidebar}
        places |= {"light.sidebar": theme.light.sidebar, "dark.sidebar": theme.dark.sidebar, "": theme}
        for section in sections:
            app_session._populate_theme_msg(places[section.partition(".")[2]], section)
        return message

    monkeypatch.setattr(config, "get_options_for_section", counted)
    usual, colour = themes(), config.get_option("theme.light.primaryColor")
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    internals.remember_theme()
    asked.clear()
    assert themes() == themes() == usual != NewSession() and colour == usual.custom_theme.light.primary_color
    assert sorted(asked) == sorted(sections)
    config.set_option("theme.light.primaryColor", "#123456")
    try:
        config._on_config_parsed.send()
        assert themes().custom_theme.light.primary_color == "#123456"
    finally:
        config.set_option("theme.light.primaryColor", colour)
        config._on_config_parsed.send()
    assert themes() == usual


def test_the_inside_of_streamlit_is_used_in_one_file():
    """Private interfaces of Streamlit, which any version may change, are used in `internals` alone."""
    root = Path(internals.__file__).resolve().parents[3]
    inside = (
        "streamlit.runtime",
        "streamlit.web",
        "streamlit.proto",
        "streamlit.components",
        "streamlit.net_util",
    )
    found = set()
    for path in (*root.glob("nspca/**/*.py"), *root.glob("pages/*.py"), root / "app.py"):
        source = path.read_text(encoding="utf-8")
        if "streamlit." not in source and "from streamlit " not in source:
            continue  # not parsed in vain
        for node in ast.walk(ast.parse(source)):
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            )
            modules = (
                [f"{node.module}.{name}" for name in names] if isinstance(node, ast.ImportFrom) else names
            )
            found |= {path.name for module in modules if module.startswith(inside)}
    assert found == {"internals.py"}
