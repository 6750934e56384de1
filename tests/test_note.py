"""The note: every number and table is filled from what the benchmarks stored, every formula can be drawn."""

import re

import pytest

from nspca.papers import exact
from scripts import note

TEXT = (note.DOCS / "note.md").read_text(encoding="utf-8")


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
