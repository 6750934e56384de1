"""Every page in a real browser, checked with axe-core: nothing of serious or critical impact."""

import pytest

from benchmarks import accessibility


@pytest.mark.visit
@pytest.mark.parametrize("screen", accessibility.SCREENS)
def test_nothing_serious(browser, app_url, screen):
    found = {
        name: [one for one in accessibility.violations(page) if one["impact"] in accessibility.SEVERE]
        for name, page in accessibility.shown(browser, app_url, screen, list(accessibility.PAGES))
    }
    assert set(found) == set(accessibility.PAGES)
    assert not {name: severe for name, severe in found.items() if severe}
