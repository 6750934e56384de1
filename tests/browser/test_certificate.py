"""The proof of a component in a real browser: checked, taken home, and set beside the paper's."""

import io
import re
import zipfile
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import nspca
from nspca.presentation.numerals import format_bound
from tests.browser.folds import change_question, share, single_files, unfold

OURS, PAPER = "the optimum is in here (proved)", "2014 paper's bound (probability 99."


@pytest.fixture
def proof(page, app_url) -> Page:
    """A finished sweep of two k, whose quick bounds leave gaps: only then bounds are drawn."""
    page.goto(f"{app_url}/sweep?sample=orl-faces&from=15&to=20&step=5&effort=fast")
    change_question(page)  # the first answer of the page is to the same question
    page.get_by_role("button", name=re.compile("^Compute ")).click()
    unfold(page, "The proof")
    expect(page.get_by_role("button", name="Verify now")).to_be_visible()
    return page


@pytest.mark.visit
def test_verify_now_and_take_home(proof):
    proof.get_by_role("button", name="Verify now").click()
    expect(
        proof.get_by_text(
            re.compile(
                r"Checked in .* recomputed from the data: no nonnegative component of the centred data with "
                r"at most"
            )
        )
    ).to_be_visible()
    expect(proof.get_by_text("python -m nspca verify orl-faces orl-faces-k")).to_be_visible()
    with proof.expect_download() as file:
        proof.get_by_role("button", name="Certificate, NPZ").click()
    certificate = nspca.Certificate.load(file.value.path())
    upper = nspca.verify(nspca.load_sample("orl-faces").X, certificate)
    assert file.value.suggested_filename == f"orl-faces-k{certificate.k}-certificate.npz"
    proof.get_by_text(format_bound(upper)).first.wait_for()


@pytest.mark.visit
def test_the_switch_between_the_paper_s_bound_and_ours(proof):
    figure = proof.locator(".js-plotly-plot").first
    expect(figure).to_contain_text(OURS)
    expect(figure).not_to_contain_text(PAPER)
    unfold(proof, "What is 100 %")
    proof.get_by_text("both", exact=True).click()
    expect(figure).to_contain_text(OURS)
    expect(figure).to_contain_text(PAPER)
    expect(proof).to_have_url(re.compile(r"[?&]bound=both(&|$)"))
    proof.reload()
    expect(figure).to_contain_text(OURS)
    expect(figure).to_contain_text(PAPER)
    unfold(proof, "What is 100 %")
    proof.get_by_text("the 2014 paper's bound", exact=True).first.click()
    expect(figure).not_to_contain_text(OURS)
    expect(figure).to_contain_text(PAPER)
    expect(figure).to_contain_text("rank-3 bound, its exact form (proved)")


@pytest.mark.visit
def test_the_report_opens_without_a_network(proof, browser, tmp_path):
    single_files(proof)
    with proof.expect_download() as file:
        proof.get_by_role("button", name="Report of this sweep, HTML").click()
    path = tmp_path / "report.html"
    file.value.save_as(path)
    context = browser.new_context(offline=True)
    report, asked = context.new_page(), []
    report.on("request", lambda request: asked.append(request.url))
    report.goto(path.as_uri())
    expect(report.locator("#sweep .scatterlayer .trace").first).to_be_visible()
    expect(report.get_by_text("What is proved")).to_be_visible()
    assert asked == [path.as_uri()]
    context.close()


@pytest.mark.visit
def test_everything_of_a_sweep_with_its_figures_as_files(proof):
    share(proof)
    with proof.expect_download() as file:
        proof.get_by_role("button", name="ZIP", exact=True).click()
    assert file.value.suggested_filename == "orl-faces-sweep.zip"
    with zipfile.ZipFile(file.value.path()) as zipped:
        read = {name.removeprefix("orl-faces-sweep/"): zipped.read(name) for name in zipped.namelist()}
    for begins in ("variance-by-k", "component-of-", "samples-along-"):
        name = next(path for path in read if path.startswith(f"figures/{begins}"))[8:-4]
        svg = ElementTree.fromstring(read[f"figures/{name}.svg"])
        assert svg.tag == "{http://www.w3.org/2000/svg}svg" and svg.get("width") == "960"
        with Image.open(io.BytesIO(read[f"figures/{name}.png"])) as png:
            assert png.width == 1920 and len(png.convert("RGB").getcolors(2**24)) > 5
    assert "the optimum is in here (proved)" in "".join(
        ElementTree.fromstring(read["figures/variance-by-k.svg"]).itertext()
    )
    assert len(read["report.html"]) < 1_000_000 and read["report.html"].count(b"<img ") == 3
    plot = proof.locator(".js-plotly-plot").first
    plot.hover()
    with proof.expect_download() as saved:
        plot.get_by_role("button", name="Download plot as PNG").click()
    with Image.open(saved.value.path()) as png:
        assert png.format == "PNG"


@pytest.mark.visit
def test_a_figure_over_the_whole_screen_and_back(proof):
    plot = proof.locator(".js-plotly-plot").first
    plot.scroll_into_view_if_needed()
    before = plot.bounding_box()
    plot.hover()
    plot.get_by_role("button", name="Whole screen").click()
    proof.wait_for_function("document.fullscreenElement?.matches('.js-plotly-plot')")
    proof.wait_for_function("document.fullscreenElement.querySelector('.main-svg').clientHeight > 700")
    plot.hover()
    plot.get_by_role("button", name="Whole screen").click()
    proof.wait_for_function("!document.fullscreenElement")
    proof.wait_for_function(
        f"document.querySelector('.js-plotly-plot .main-svg').clientHeight === {before['height']}"
    )


@pytest.mark.visit
def test_no_button_for_the_whole_screen_where_there_is_none(page, app_url):
    page.add_init_script("Object.defineProperty(document, 'fullscreenEnabled', { value: false })")
    page.goto(app_url)
    page.wait_for_function("globalThis.__nspcaSaving")
    plot = page.locator(".js-plotly-plot").filter(has=page.locator(".scatterlayer .trace")).first
    plot.hover()
    expect(plot.get_by_role("button", name="Download plot as PNG")).to_have_count(1)
    expect(plot.get_by_role("button", name="Whole screen")).to_have_count(0)
