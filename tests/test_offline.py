"""`make docs` refuses pages that make a browser fetch something from another host."""

import pytest

from scripts.offline import loads, main


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://elsewhere.example/a.js"></script>',
        '<link rel="stylesheet" href="//elsewhere.example/a.css">',
        '<img src="a.png" srcset="a.png 1x, https://elsewhere.example/b.png 2x">',
        '<p style="background: url(https://elsewhere.example/a.png)">',
        "<style>@import 'https://elsewhere.example/a.css';</style>",
        '<svg><image xlink:href="http://elsewhere.example/a.png"/></svg>',
    ],
)
def test_what_comes_from_another_host_is_found(tmp_path, text, capsys):
    (tmp_path / "page.html").write_text(f"<h1>A page</h1>{text}", encoding="utf-8")
    assert main(tmp_path) == 1
    assert "page.html must load nothing from another host, and loads" in capsys.readouterr().err


def test_fonts_of_a_style_sheet_are_found(tmp_path):
    sheet = tmp_path / "site.css"
    sheet.write_text('@font-face { src: url("https://elsewhere.example/a.woff2"); }', encoding="utf-8")
    assert loads(sheet) == ["https://elsewhere.example/a.woff2"]


def test_links_and_what_lies_beside_the_page_are_fine(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<link rel="canonical" href="https://here.example/"><a href="https://elsewhere.example/">there</a>'
        '<script src="_static/a.js"></script><img src="a.png"><style>p { background: url(a.png) }</style>',
        encoding="utf-8",
    )
    assert loads(page) == [] and main(tmp_path) == 0


def test_a_folder_without_pages_is_no_site(tmp_path, capsys):
    assert main(tmp_path) == 1 and "build them first" in capsys.readouterr().err
