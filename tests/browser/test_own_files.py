"""Files of users in a real browser: texts of four kinds, genes with their samples, photographs, gaps."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import expect

from nspca.data.samples import example_file

WORDS = {"flood": "river flood bridge water rain dam boats", "food": "bread oven cheese wine butter supper"}
GLUE = ["the", "of", "and", "in", "to", "was", "with", "for", "on", "that"]
PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1440, "height": 900}
pytestmark = pytest.mark.visit


def letters() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    about = [*WORDS] * 15
    texts = []
    for topic in about:
        words = [str(rng.choice(WORDS[topic].split() if rng.random() < 0.4 else GLUE)) for _ in range(40)]
        texts.append(" ".join(words))
    return pd.DataFrame({"id": [f"letter {i}" for i in range(30)], "text": texts, "about": about})


def excel() -> bytes:
    stream = io.BytesIO()
    letters().to_excel(stream, index=False)
    return stream.getvalue()


def packed() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for row in letters().itertuples():
            archive.writestr(f"{row.about}/{row.id}.txt", row.text)
    return stream.getvalue()


FILES = {
    "letters.txt": lambda: "\n".join(letters()["text"]).encode(),
    "letters.csv": lambda: letters().to_csv(index=False).encode(),
    "letters.xlsx": excel,
    "letters.zip": packed,
}


def give(page, name: str, content: bytes) -> None:
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )


def fits(page) -> None:
    """Test that the data page is short, and that its first screen names the data and the next step."""
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    assert height < 3000
    for link in ("Sweep: how many", "Components: "):
        box = page.get_by_text(link).first.bounding_box()
        assert box["y"] + box["height"] < page.viewport_size["height"]


@pytest.mark.parametrize("name", FILES)
def test_texts_reach_topics_within_three_clicks(page, app_url, name):
    page.set_viewport_size(SCREEN)
    page.goto(f"{app_url}/data")
    page.get_by_text("Use your own file").click()  # the first click; the second opens the file
    give(page, name, FILES[name]())
    expect(page.get_by_text("30 texts and how often")).to_be_visible()
    fits(page)
    page.get_by_role("link", name="Components: which topics are the texts about?").click()  # the third
    expect(page.get_by_text("river").first).to_be_visible()
    expect(page.get_by_text("bread").first).to_be_visible()


def test_pasted_texts_are_counted(page, app_url):
    page.goto(f"{app_url}/data?source=upload")
    page.get_by_text("Or paste texts").click()
    page.get_by_label("One text in each line").fill("\n".join(letters()["text"]))
    page.get_by_label("One text in each line").press("Control+Enter")
    page.get_by_role("button", name="Count their words").click()
    expect(page.get_by_text("30 texts and how often")).to_be_visible()


def test_genes_in_rows_get_the_groups_of_a_second_table(page, app_url):
    example = example_file("genes")
    page.set_viewport_size(SCREEN)
    page.goto(f"{app_url}/data?source=upload")
    give(page, "genes.csv", example.content)
    expect(page.get_by_text("38 samples and 5,000 genes")).to_be_visible()
    page.get_by_text("How it was read").click()
    second = page.locator("[data-testid=stFileUploader]").filter(has_text="second table")
    second.locator("input[type=file]").set_input_files(
        {"name": "samples.csv", "mimeType": "text/csv", "buffer": example.annotation}
    )
    expect(page.get_by_text("in 3 groups by “leukemia”")).to_be_visible()
    fits(page)
    page.reload()
    expect(page.get_by_text("in 3 groups by “leukemia”")).to_be_visible()
    page.set_viewport_size(PHONE)
    expect(page.get_by_text("in 3 groups by “leukemia”")).to_be_visible()
    page.set_viewport_size(SCREEN)
    page.get_by_role("link", name="how many genes are enough").click()
    expect(page.get_by_text("genes show in the main direction")).to_be_visible()


def test_photographs_of_any_size_are_converted(page, app_url):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for i, (form, size) in enumerate([("JPEG", (640, 480)), ("WEBP", (300, 500))] * 4):
            picture = io.BytesIO()
            Image.new("RGB", size, (30 * i, 90, 20)).save(picture, form)
            archive.writestr(f"{i}.{form.lower()}", picture.getvalue())
        archive.writestr("broken.jpg", b"nothing")
    page.goto(f"{app_url}/data?source=upload")
    give(page, "photos.zip", stream.getvalue())
    expect(page.get_by_text("8 images of 64 × 64 pixels")).to_be_visible()
    expect(page.get_by_text("broken.jpg").first).to_be_visible()
    page.get_by_role("button", name="32 x 32").click()
    expect(page.get_by_text("8 images of 32 × 32 pixels")).to_be_visible()


def test_missing_values_of_a_wide_table_say_what_they_cost(page, app_url):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(72, 7129)).round(1), columns=[f"g{j}" for j in range(7129)])
    table = table.astype(object)
    for number, j in enumerate(rng.choice(7129, 522, replace=False)):
        table.iat[number % 72, j] = ""
    page.goto(f"{app_url}/data?source=upload")
    give(page, "genes.csv", table.to_csv(index=False).encode())
    expect(page.get_by_text("72 samples and 6,607")).to_be_visible()
    expect(page.get_by_text("522").first).to_be_visible()
