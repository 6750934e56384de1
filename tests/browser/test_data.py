"""An uploaded gene table and its transpose, in a real browser: the same component, with names."""

import io
import os
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import nspca
from tests.browser.folds import change_question, single_files

K = 20
IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"


@pytest.fixture(params=[600, pytest.param(12582, marks=pytest.mark.long)])
def genes(request) -> pd.DataFrame:
    """The first columns, or all, of the original 72 x 12582 table where it is, otherwise of its relative."""
    data = nspca.load_sample("leukemia")
    if os.environ.get("NSPCA_DATA"):
        assert data.source == "real" and data.X.shape == (72, 12582)
    X = np.asarray(data.X, float)[:, : request.param]
    return pd.DataFrame(
        X, columns=[f"probe_{j}_at" for j in range(X.shape[1])], index=[f"patient {i}" for i in range(len(X))]
    )


def csv(table: pd.DataFrame) -> dict:
    buffer = io.BytesIO()
    table.to_csv(buffer)
    return {"name": "genes.csv", "mimeType": "text/csv", "buffer": buffer.getvalue()}


@pytest.mark.visit
def test_a_table_and_its_transpose_have_the_same_component(page, app_url, genes, tmp_path):
    expected = component(genes)
    for turned in (
        (True,) if len(genes.columns) < 12582 else (False, True)
    ):  # upright files are everywhere else
        page.goto(f"{app_url}/data?source=upload")
        page.locator("input[type=file]").set_input_files(csv(genes.T if turned else genes))
        samples, features = genes.shape
        expect(page.get_by_text(f"This table has {samples} samples and {features:,} genes.")).to_be_visible()
        expect(page.get_by_text("Genes in rows")).to_have_count(int(turned))
        page.get_by_role("link", name="how many genes are enough").click()
        change_question(page)
        for label, value in (("k from", K), ("to", K)):
            page.get_by_label(label, exact=True).fill(str(value))
            page.get_by_label(label, exact=True).press("Enter")
        page.get_by_role("button", name=re.compile("^Compute ")).click()
        single_files(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Component, CSV").click()
        download.value.save_as(tmp_path / "component.csv")
        found = pd.read_csv(tmp_path / "component.csv")
        assert set(found["feature"]) == set(expected.index) and set(found["source"]) == {"your data"}
        assert np.allclose(found.set_index("feature")["weight"][expected.index], expected, atol=1e-6)
        expect(page.locator(".js-plotly-plot").filter(has_text=expected.idxmax())).to_have_count(1)


def component(genes: pd.DataFrame) -> pd.Series:
    """The nonzero weights that the package itself finds in the standardised genes, by name."""
    problem = nspca.Problem.from_data(genes.to_numpy(), k=K, scale=True)
    weights = pd.Series(nspca.sweep(problem, [K])["auto", K].components[:, 0], index=genes.columns)
    return weights[weights != 0]


@pytest.mark.visit
def test_a_wrong_upload_is_one_sentence_and_the_next_one_works(page, app_url):
    page.goto(f"{app_url}/data?source=upload&sample=lrs")
    page.locator("input[type=file]").set_input_files(
        {"name": "notes.csv", "mimeType": "text/csv", "buffer": b"\x80\x04\x95pickled"}
    )
    expect(page.get_by_role("alert")).to_contain_text("pickle")
    expect(page.get_by_role("heading", name="Infrared spectra (LRS)")).to_be_visible()
    page.locator("input[type=file]").set_input_files(
        {"name": "good.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n3,5\n4,1\n"}
    )
    expect(page.get_by_role("heading", name="good")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="good")).to_be_visible()


@pytest.mark.visit
def test_one_click_on_a_picture_on_the_example_and_on_its_labels(page, app_url):
    page.goto(f"{app_url}/data")
    drawn = "document.querySelector('.st-key-card_pitprops img')?.src.length > 300"
    page.wait_for_function(drawn)  # before, the picture is empty and will be another element
    picture = page.locator(".st-key-card_pitprops img")
    expect(picture).to_have_js_property("naturalWidth", 240)
    page.wait_for_function(IDLE)  # a picture is there before its button, and moves while the page is drawn
    picture.click(force=True)  # the button of the card lies over it, and is what gets the click
    expect(page.get_by_role("heading", name="Pitprops")).to_be_visible()
    page.get_by_text("Use your own file").click()
    page.get_by_role("button", name="Try an example file").click()
    expect(page.get_by_role("heading", name="wine")).to_be_visible()
    page.get_by_role("button", name="Use as labels").click()
    expect(page.get_by_test_id("stMetricValue").nth(4)).to_have_text("3")
    page.reload()
    expect(page.get_by_test_id("stMetricValue").nth(4)).to_have_text("3")
    expect(page.get_by_role("button", name="Use as labels")).to_have_count(0)
