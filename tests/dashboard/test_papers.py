"""The papers page: a card for every figure and table, what is printed beside computed, computing it again."""

from html import unescape

import pytest

from nspca import papers
from nspca.dashboard.runs.tasks import TASKS
from nspca.papers import ITEMS, PAPERS

PAGE = "pages/papers.py"


def html(page) -> str:
    return " ".join(element.proto.body for element in page.get("html"))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_its_cards_and_opens_on_a_stored_answer(visit, texts, alts, paper):
    page = visit(PAGE, paper=paper)
    assert not page.error and not page.exception
    said = texts(page)
    cards = {button.key.removeprefix("open_") for button in page.button if "open_" in str(button.key)}
    assert cards == {name for name, item in ITEMS.items() if item.paper == paper}
    assert "Stored answer from the originals, computed" in said and "took" in said
    assert "class='claims'" in html(page) or 'class="claims"' in html(page)
    assert alts(page)


def test_another_card_and_a_wrong_name_in_the_address(visit, address, texts):
    page = visit(PAGE, paper="asteris2015")
    page.button(key="open_asteris2015-table-1").click().run()
    assert address(page)["item"] == "asteris2015-table-1"
    assert "SpanSPCA" in html(page) and "5.23e+00" in html(page) and "5.234 (equalised)" in html(page)
    again = visit(PAGE, paper="nobody1999", item="figure-99")
    assert not again.error and not again.exception and "Asteris, Papailiopoulos, Dimakis 2014" in texts(again)


@pytest.mark.visit
def test_it_is_computed_here_and_is_then_one_of_the_runs(visit, ended, address, texts):
    page = visit(PAGE, paper="zass2006", item="zass2006-figure-1")
    page.button(key="compute_zass2006-figure-1").click().run()
    page = ended(page)
    assert not page.error and "Computed here on" in texts(page)
    runs = visit("pages/runs.py", w=address(page)["w"])
    assert "Figure 1: A quartic in one entry" in unescape(texts(runs))
    reloaded = visit(PAGE, **address(page))
    assert "Computed here on" in texts(reloaded)


def test_without_the_original_it_says_what_is_missing(visit, stand_ins, texts):
    page = visit(PAGE, paper="asteris2014", item="asteris2014-figure-4")
    said = texts(page)
    assert "takes the original data (cbcl)" in said and "Stored answer from the originals" in said
    with pytest.raises(KeyError):
        page.button(key="compute_asteris2014-figure-4")


def test_a_failed_run_is_one_sentence(visit, ended, sentence, monkeypatch):
    monkeypatch.setitem(TASKS, "paper", "nspca.specs.job:not_there")
    page = visit(PAGE, paper="sigg2008", item="sigg2008-figure-1")
    page.button(key="compute_sigg2008-figure-1").click().run()
    assert "not_there" in sentence(ended(page)).replace("&#95;", "_")


def test_links_from_before_lead_to_the_uses(visit):
    page = visit("pages/compare.py", judged="uses", use="pitprops")
    assert not page.error and not page.exception


# --- uses -----------------------------------------------------------------------------------------


@pytest.mark.visit
def test_pitprops_use(visit, ended, alts, texts):
    page = visit(PAGE, paper="uses", use="pitprops", props=3)
    assert "drawn there without numbers" in texts(page)
    page.button(key="pitprops").click().run()
    page = ended(page)
    assert not page.error and not page.exception
    assert any("Features used, added up" in alt and "pca, every feature 78" in alt for alt in alts(page))


def test_faces_without_the_other_pictures_say_what_is_missing(visit, stand_ins, texts):
    page = visit(PAGE, paper="uses", use="faces")
    assert not page.error and not page.exception
    said = texts(page)
    assert "Not offered: the original faces and cbcl_nonfaces.npz and cbcl_test_faces.npz not found" in said


def test_faces_are_offered_where_the_pictures_are(visit, nspca_data, texts):
    page = visit(PAGE, paper="uses", use="faces")
    assert not page.error and page.button(key="faces") and "Not offered" not in texts(page)


def test_genes_of_a_stand_in_say_so(visit, stand_ins, texts):
    page = visit(PAGE, paper="uses", use="genes")
    assert not page.error and page.button(key="genes") and "stand-in, made up" in texts(page)


def test_the_counts_of_all_papers_are_those_of_the_claims(visit):
    page = visit(PAGE)
    every = [claim for name, item in ITEMS.items() for claim in papers.claims(item, papers.stored(name))]
    label = page.expander[0].label
    assert label.startswith(f"All four papers: {len(every)} lines, {papers.counts(every)['agrees']} agrees")
