"""The spannogram page in a real browser: drag the angle, walk the cone search, come back after a reload."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import nspca
from nspca.dashboard.components.cone_replay import record
from nspca.lowrank.rankd import factor
from nspca.lowrank.spannogram import exact_rank_d
from tests.browser.folds import fold


def members(page: Page) -> list[str]:
    return [line.get_attribute("data-members") for line in page.locator(".nspca-spx .set").all()]


def angle(page: Page) -> float:
    return float(re.search(r"phi=(-?[\d.]+)", page.url)[1])


def test_dragging_phi_changes_the_set_and_a_reload_keeps_it(page, app_url):
    page.goto(f"{app_url}/spannogram?sample=digits&k=6")
    expect(page.get_by_text("these 6 pixels are")).to_be_visible()
    lines, picture = page.locator(".nspca-spx .set"), page.locator(".nspca-spx canvas.component")
    expect(lines).to_have_count(1)
    expect(page.locator(".nspca-spx .say")).to_contain_text(
        "the 6 highest curves keep the most here, at the star"
    )
    before, drawn = members(page), picture.evaluate("canvas => canvas.toDataURL()")
    canvas = page.locator(".nspca-spx canvas.curves").bounding_box()
    page.mouse.move(canvas["x"] + 0.3 * canvas["width"], canvas["y"] + 80)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 0.4 * canvas["width"], canvas["y"] + 80, steps=5)
    expect(lines.first).not_to_have_attribute("data-members", before[0])
    expect(page.locator(".nspca-spx .say")).to_have_text(
        re.compile(r"keep \d+\.\d % of what those at the star")
    )
    assert page.url.endswith("k=6"), "nobody is asked while the angle moves"
    assert picture.evaluate("canvas => canvas.toDataURL()") != drawn, "the picture follows while dragging"
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"phi=-?\d"))

    # A second drag goes on from there, and stays.
    first = page.url
    page.mouse.move(canvas["x"] + 0.7 * canvas["width"], canvas["y"] + 80)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 0.75 * canvas["width"], canvas["y"] + 80, steps=3)
    page.mouse.up()
    expect(page).not_to_have_url(first)
    expect(page.locator(".nspca-spx .say")).to_contain_text(f"φ = {angle(page):.1f}°".replace("-", "−"))

    # The curves are those of the direction on which the star lies.
    phi = np.radians(angle(page))
    problem = nspca.Problem.from_data(nspca.load_sample("digits").X, k=6)
    V = factor(problem.covariance, 2)[0]
    best = exact_rank_d(V, 6).x @ V
    first = (
        1 if best @ [np.sin(np.arctan(best[0] / best[1])), np.cos(np.arctan(best[0] / best[1]))] > 0 else -1
    )
    at = first * (V @ [np.sin(phi), np.cos(phi)])
    lit = np.argsort(-at)[: min(6, (at > 0).sum())]
    assert [set(map(int, line.split(","))) for line in members(page)] == [set(map(int, lit))]
    value = float(lines.first.get_attribute("data-value"))
    assert value == pytest.approx((at[lit] ** 2).sum(), rel=0.02)
    names = [nspca.load_sample("digits").feature_names[j] for j in lit]
    assert set(picture.get_attribute("aria-label").split(": ")[1].split(", ")) == set(names)

    after = members(page)
    page.reload()
    expect(page.locator(".nspca-spx .say")).to_contain_text(f"φ = {angle(page):.1f}°".replace("-", "−"))
    expect(lines.first).to_have_attribute("data-members", after[0])
    expect(fold(page, "6 pixels, nonnegative · change")).to_be_visible()

    page.get_by_role("button", name="Optimum").click()
    expect(page).not_to_have_url(re.compile("phi="))
    expect(lines.first).to_have_attribute("data-members", before[0])

    drawn, slider = picture.evaluate("canvas => canvas.toDataURL()"), page.locator(".nspca-spx .angle")
    expect(slider).to_have_attribute(
        "aria-valuetext", re.compile("of what those at the star keep|at the star")
    )
    page.get_by_role("button", name="Play").click()
    expect(lines.first).not_to_have_attribute("data-members", before[0])
    assert picture.evaluate("canvas => canvas.toDataURL()") != drawn, "the picture follows while playing"
    page.get_by_role("button", name="Pause").click()


@pytest.mark.visit
def test_the_cone_search_is_walked_until_its_bounds_meet(page, app_url):
    outside = []
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((app_url, "data:", "blob:")) else outside.append(asked.url)
        ),
    )
    page.goto(f"{app_url}/spannogram?sample=digits&k=12")
    page.get_by_role("button", name="Three directions").or_(
        page.get_by_role("radio", name="Three directions")
    ).click()
    root = page.locator(".nspca-cones")
    expect(root.locator(".say")).to_contain_text("settled and none is open")
    problem = nspca.Problem.from_data(nspca.load_sample("digits").X, k=12)
    V = factor(problem.covariance, 3)[0]
    went = record(V, 12, True, 1e-3)
    percent = 100 / problem.covariance.leading(1)[0][0]

    slider = root.locator(".step")
    slider.focus()
    slider.press("Home")
    expect(root).to_have_attribute("data-step", "0")
    expect(root.locator(".world .js-plotly-plot, .world.js-plotly-plot")).to_have_count(1)
    on = root.get_by_role("button", name="one step on")
    on.click()
    expect(root).to_have_attribute("data-step", "1")
    root.get_by_role("button", name="one step back").click()
    expect(root).to_have_attribute("data-step", "0")
    walk = """(on, steps) => Array.from({ length: steps }, () => {
      const { lower, upper } = on.closest('.nspca-cones').dataset;
      on.click();
      return [+lower, +upper];
    })"""
    seen = on.evaluate(walk, len(went.lower))
    assert np.allclose(seen, percent * np.column_stack([went.lower, went.upper]), rtol=1e-6)
    gaps = [upper - lower for lower, upper in seen]
    assert gaps[-1] < 0.01 * gaps[0] and gaps[-1] <= 1e-3 * seen[-1][0] * 1.001
    assert root.get_attribute("data-open") == "0"

    page.reload()
    expect(page).to_have_url(re.compile("view=sphere"))
    expect(root.locator(".say")).to_contain_text(f"{len(went.born)} cones made")
    expect(fold(page, "12 pixels, nonnegative · change")).to_be_visible()
    assert not [url for url in outside if not url.startswith(app_url.replace("http", "ws"))]


@pytest.mark.visit
def test_the_drawn_cones_follow_the_steps(page, app_url):
    page.goto(f"{app_url}/spannogram?sample=pitprops&k=4&view=sphere")
    root = page.locator(".nspca-cones")
    expect(root.locator(".say")).to_contain_text("none is open")
    drawn = """() => {
      const plot = document.querySelector('.nspca-cones .world');
      const open = plot.data?.find((trace) => trace.name === 'still open');
      return [open ? open.x.length : -1, plot.getAttribute('aria-label')];
    }"""
    page.wait_for_function(f"({drawn})()[0] === 0")
    root.locator(".step").press("Home")
    page.wait_for_function(f"({drawn})()[0] > 0")
    assert "Step 0" in page.evaluate(drawn)[1]
