"""The check of links: a link of the built site that leads nowhere is found."""

import pytest

from scripts.links import main


@pytest.fixture
def site(tmp_path):
    (tmp_path / "parts").mkdir()
    first = '<h1 id="top">A</h1><a href="parts/b.html#here">b</a><img src="c.svg">'
    (tmp_path / "index.html").write_text(first)
    second = '<h2 id="here">B</h2><a href="../index.html#top">up</a><a href="#here">here</a>'
    (tmp_path / "parts" / "b.html").write_text(second)
    (tmp_path / "c.svg").write_text("<svg/>")
    return tmp_path


def test_links_that_lead_somewhere_are_fine(site, capsys):
    assert main(site) == 0 and not capsys.readouterr().err


@pytest.mark.parametrize("link", ["gone.html", "#nowhere", "parts/b.html#nowhere", "gone%20too.html"])
def test_links_that_lead_nowhere_are_named(site, link, capsys):
    page = site / "index.html"
    page.write_text(page.read_text() + f'<a href="{link}">')
    assert main(site) == 1
    assert f"index.html links {link}," in capsys.readouterr().err


def test_addresses_of_other_sites_are_listed_and_not_opened(site, capsys):
    page = site / "index.html"
    page.write_text(page.read_text() + '<a href="https://elsewhere.example/a#b">')
    assert main(site) == 0
    assert main(site, external=True) == 0
    assert capsys.readouterr().out == "https://elsewhere.example/a#b\n"


def test_a_folder_without_pages_is_no_site(tmp_path, capsys):
    assert main(tmp_path) == 1 and "build them first" in capsys.readouterr().err
