"""The note: every number and table is filled from what the benchmarks stored, every formula can be drawn."""

import re

import pytest

from nspca.papers import exact
from scripts import note

TEXT = (note.DOCS / "note.md").read_text(encoding="utf-8")
PAGE = """# Results

## First

Words.

| run | seconds, CPU |
|---|---|
| a | 1 |
| b, c | 2 |

## Second

| run | total |
|:--|--:|
| d | 3 |
"""


def test_tables_of_a_page_are_found_by_their_headings():
    found = dict(note.tables(PAGE))
    assert list(found) == ["First", "Second"]
    assert found["First"].rows == (("a", "1"), ("b, c", "2"))
    assert found["First"].texts("seconds") == ["1", "2"]
    assert found["First"].without("run").markdown() == "| seconds, CPU |\n| --- |\n| 1 |\n| 2 |"
    assert found["First"].where(lambda row: row[0] == "a").rows == (("a", "1"),)


def test_a_table_or_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="must have a table below the heading 'Nothing'"):
        note.result("Nothing")
    with pytest.raises(ValueError, match="must have a column 'nodes', got run, total"):
        dict(note.tables(PAGE))["Second"].column("nodes")


def test_a_marker_that_nothing_is_known_for_is_refused():
    with pytest.raises(ValueError, match="marker <<table nothing>>"):
        note.fill("A <<table nothing>>.")


def test_the_note_uses_every_table_and_every_number():
    markers = set(note.MARKER.findall(TEXT))
    assert markers == {f"table {name}" for name in note.TABLES} | set(note.NUMBERS)


@pytest.mark.parametrize("name", [name for name in note.TABLES if name != "ladder"])
def test_tables_of_the_note_have_rows(name):
    table = note.TABLES[name]()
    assert len(table.rows) > 3 and all(len(row) == len(table.header) for row in table.rows)


def test_numbers_of_the_note_are_those_of_the_stored_rows():
    rows = exact.stored()
    assert note.fill("<<exact-count>>") == str(2 * len(rows))
    proved = sum(one.is_optimal for row in rows for one in (row.signed, row.nonneg))
    assert note.fill("<<exact-optimal>>") == str(proved)
    still_open = {row.matrix for row in rows if not (row.signed.is_optimal and row.nonneg.is_optimal)}
    assert all(name in note.fill("<<exact-open>>") for name in still_open)


def test_the_largest_proved_optimum_is_among_the_rows():
    text = note.fill("<<largest-optimal>>")
    n, name, k = re.fullmatch(r"(\d+) \((.+), k = (\d+)\)", text).groups()
    table = note.optimal()
    rows = list(zip(table.texts("data"), table.texts("k"), table.texts("proved"), strict=True))
    assert (name, k, "optimal") in rows and int(n) > 0


def test_the_published_matrices_are_not_among_the_tables_of_data():
    assert not {row.matrix for row in exact.stored()} & set(note.optimal().texts("data"))


def test_the_commands_of_the_note_make_its_parts():
    commands = TEXT.split("## Repeat this note")[1]
    assert {"make docs", "make note"} <= set(re.findall(r"`(make \w+)`", commands))


@pytest.mark.visit
def test_figures_are_drawn_and_the_ladder_never_proves_less_than_the_value(tmp_path):
    figures = pytest.importorskip("scripts.note_figures", reason="figures need the requirements of make docs")
    figures.draw(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {f"{name}.{kind}" for name in figures.FIGURES for kind in ("svg", "pdf")}
    shown = set(re.findall(r"\{figure\} figures/(\w+)\.\*", TEXT))
    assert shown == set(figures.FIGURES)
    _, found = figures.digits(figures.LADDER_K)
    bounds = [float(bound.replace(",", "")) for _, bound, _ in figures.ladder()]
    assert min(bounds) >= found.value
    assert min(bounds) == bounds[-1]


@pytest.mark.visit
def test_every_formula_becomes_mathml_without_a_command_that_is_left_over():
    converter = pytest.importorskip(
        "latex2mathml.converter", reason="formulas need the requirements of make docs"
    )
    text = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    formulas = re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
    formulas += re.findall(r"(?<!\$)\$([^$]+)\$(?!\$)", text)
    assert len(formulas) > 100
    for formula in formulas:
        drawn = re.sub(r"<[^>]+>", "", converter.convert(formula))
        assert "\\" not in drawn, formula
