"""Tests of the papers page: figures and tables, and exact methods."""

from dataclasses import asdict
from html import unescape

import pytest

from nspca import papers
from nspca.dashboard.runs.tasks import TASKS
from nspca.papers import ITEMS, exact
from nspca.plots.papers import miniature, panel_figure

PAGE = "pages/papers.py"


def html(page) -> str:
    return " ".join(element.proto.body for element in page.get("html"))


def test_the_page_opens_with_what_it_is_for_and_a_card_for_every_figure(visit, texts, address):
    page = visit(PAGE)
    assert not page.error and not page.exception
    every = [claim for name, item in ITEMS.items() for claim in papers.claims(item, papers.stored(name))]
    counts = papers.counts(every)
    judged = len(every) - counts["data not here"] - counts["not printed"]
    came = counts["agrees"] + counts["better"]
    assert f"Four papers, {judged} printed claims: {came} come out, {counts['differs']} differ" in texts(page)
    offered = {button.key for button in page.button}
    assert {f"choose_{name}" for name in ITEMS} <= offered
    pictures = [one for one in page.get("html") if "in small" in one.proto.body]
    assert len(pictures) == len(ITEMS), "a figure is found by its picture"
    marks = [one.value for one in page.caption if one.value.startswith(":orange[:material/warning:")]
    odd = [papers.counts(papers.claims(item, papers.stored(name))) for name, item in ITEMS.items()]
    assert len(marks) == sum(bool(one["differs"] + one["opposite"]) for one in odd)
    page.button(key="choose_asteris2014-figure-5").click().run()
    assert address(page)["item"] == "asteris2014-figure-5" and "claims" in html(page)
    assert "Stored answer from the originals, computed" in texts(page)
    page.button(key="all_papers").click().run()
    assert "Four papers" in texts(page) and "item" not in address(page)


def test_a_table_is_drawn_as_one():
    numbers, words = (miniature(asdict(papers.stored(f"asteris2015-table-{number}"))) for number in (1, 3))
    assert ">5.31<" in numbers and ">bush, " in words


SAID = {
    "zass2006-figure-3": ("begin above the end of the printed axis",),  # a reason beside its verdict
    "asteris2014-theorem-1": ("Theorem 2", "Certificate"),  # a table of numbers
}


@pytest.mark.parametrize("name", ITEMS)
def test_every_figure_opens_on_its_answer(visit, name):
    page = visit(PAGE, item=name)
    assert not page.error and not page.exception
    assert all(said in html(page) for said in ("claims", *SAID.get(name, ())))


def test_another_figure_and_a_wrong_name_in_the_address(visit, address, texts):
    page = visit(PAGE, paper="asteris2015", item="asteris2015-table-1")
    said = unescape(html(page))
    assert "SpanSPCA" in said and "<td>5.23 " in said and "5.234 (grey levels spread evenly, rank 4)" in said
    assert "the best of 3 x 2000 random points" in said and "over seeds" in said
    tables = [element.proto.body for element in page.get("html") if 'class="claims"' in element.proto.body]
    judged, beside = tables[:2]
    assert "`joint` of nspca" not in judged and "`joint` of nspca" in beside, "stronger methods stand apart"
    again = visit(PAGE, paper="nobody1999", item="figure-99")
    assert not again.error and not again.exception and "Four papers" in texts(again)


def test_exact_methods_are_one_table_with_the_optimum_that_is_none(visit, texts):
    page = visit(PAGE, paper="exact")
    assert not page.error and not page.exception
    said = unescape(texts(page)).replace("\\", "")
    assert "4.2321, is not one: 4.233204 is reached, and is proved optimal" in said
    table = page.dataframe[0].value
    assert len(table) == len(exact.stored()) and "proved, nonnegative" in table.columns
    page.selectbox(key="exact_matrix").select("pitprops").run()
    assert set(page.dataframe[0].value["matrix"]) == {"pitprops"}


def test_without_the_original_it_says_what_is_missing(visit, stand_ins, texts):
    page = visit(PAGE, paper="asteris2014", item="asteris2014-figure-4")
    said = texts(page)
    assert "Stored answer from the originals" in said and "which are not on this machine" not in said
    assert "The numbers above were computed from the original data and stored." in said
    assert "To compute them here, put cbcl_faces.npz into a folder" in unescape(said).replace("\\", "")
    assert "In a class, whoever runs the server does this once for everybody." in said
    (link,) = [link for link in page.get("page_link") if "In the place of" in link.proto.label]
    assert "sample=cbcl" in link.proto.query_string
    with pytest.raises(KeyError):
        page.button(key="compute_asteris2014-figure-4")


def test_a_failed_run_is_one_sentence(visit, ended, sentence, monkeypatch):
    monkeypatch.setitem(TASKS, "paper", "nspca.specs.job:not_there")
    page = visit(PAGE, paper="sigg2008", item="sigg2008-figure-1")
    page.button(key="compute_sigg2008-figure-1").click().run()
    assert "not_there" in sentence(ended(page)).replace("&#95;", "_")


def test_the_way_to_the_originals_names_files_and_the_variable(stand_ins, monkeypatch, tmp_path):
    with pytest.raises(papers.Absent, match=r"put arcene\.npz into a folder, name it in the environment"):
        papers.originals.table("arcene")
    monkeypatch.setenv("NSPCA_DATA", str(tmp_path))
    into = "put lrs.npz and mfeat_pix.npz into the folder that the environment variable NSPCA_DATA names"
    assert papers.remedy(["lrs", "mfeat"]) == into


def test_the_sentence_has_the_number_of_the_nearest_reading_which_is_drawn_above_it(visit, texts):
    page = visit(PAGE, paper="asteris2014", item="asteris2014-figure-4")
    said = texts(page)
    item = ITEMS["asteris2014-figure-4"]
    claim = papers.claims(item, papers.stored(item.name))[0]
    judged = [one for one in claim.found if one.judged]
    nearest = min(judged, key=lambda one: abs(one.value - claim.printed.value))
    reading = nearest.preset
    plain = unescape(said)
    assert f"Figure 4: the printed 58 % comes out ({nearest.value:.3g} %)." in plain
    assert len(judged) > 1
    assert [abs(one.value / 58 - 1) <= 0.02 for one in judged].count(True) == 2
    assert "agree with what is computed here, 1 of them in some readings only." in plain
    assert plain.index(f", {reading}**") < plain.index("Both statements of"), "the picture comes before"
    assert "in 2 of 3 readings" in html(page) and claim.support == (2, 3)
    assert len({one.preset for one in judged}) == len(judged)


@pytest.mark.parametrize(("number", "k"), [(4, 180), (5, 50), (6, 20)])
def test_the_picture_shows_the_share_that_the_claim_is_about(number, k):
    """The heights in the picture, one divided by the other, give a share that was computed for the claim."""
    item = ITEMS[f"asteris2014-figure-{number}"]
    outcome = papers.stored(item.name)
    panel = outcome.panels[0]
    curves = {curve.name: curve for curve in panel.curves}
    low, high = (curves[name].y[curves[name].x.index(k)] for name in panel.band)
    reading = panel.title.partition(", ")[2]
    claim = next(claim for claim in papers.claims(item, outcome) if claim.printed.key.startswith("share"))
    computed = next(one.value for one in claim.found if one.judged and one.preset == reading)
    assert panel.share_at == k and 100 * low / high == pytest.approx(computed, abs=0.01)
    drawn = panel_figure(asdict(panel))
    share = next(note for note in drawn.layout.annotations if note.text.endswith(" % of the bound"))
    assert 0 <= 100 * low / high - float(share.text.split()[0]) < 0.1, "a share is rounded down"
    arrow = next(note for note in drawn.layout.annotations if note.arrowside == "end+start")
    assert (arrow.ay, arrow.y) == (0, low) and 0 < share.y < low, "the arrow spans the height that it names"
    assert arrow.x == arrow.ax == share.x == k
