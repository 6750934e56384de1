"""A bare address after a first visit: the browser has remembered the workspace, and forgets it when it is
told to.
"""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from nspca.dashboard.runs.start import own_page
from nspca.dashboard.sweep.form import SWEEP
from nspca.jobs import Store, new_workspace
from nspca.specs import DataSpec, SweepSpec
from nspca.specs.rows import Found, pack


@pytest.mark.visit
def test_the_second_visit_goes_on_and_can_start_fresh(page, app_server):
    store, workspace = Store(app_server.home), new_workspace()
    spec = SweepSpec(data=DataSpec(sample="pitprops", content="content"), ks=(2, 4, 6))
    run, _ = store.add_run(
        workspace,
        f"{workspace} 0",
        "Pitprops, k = 2 to 6",
        "sweep",
        json.dumps({"spec": spec.to_plain()}),
        own_page(SWEEP, spec),
    )
    rows = json.dumps([pack(Found("auto", k, 1.0))["row"] for k in (2, 4, 6)])
    store.finish_runs([run], "done", started=time.time(), rows=rows, result=(f"{workspace} 0", b""))
    store.close()
    page.goto(f"{app_server.url}/runs?w={workspace}")
    expect(page.get_by_text("Pitprops · sweep k = 2 to 6")).to_be_visible()
    page.get_by_role("button", name="Stay in it").click()
    page.wait_for_function("localStorage['nspca.workspace']")
    page.goto(app_server.url)
    back = page.get_by_text("Continue where you were: Pitprops, sweep k = 2 to 6 in steps of 2; done")
    expect(back).to_be_visible()  # home of a fresh server solves first
    expect(page).to_have_url(re.compile(f"w={workspace}"))
    page.get_by_role("button", name="Start fresh").click()
    page.get_by_role("button", name="Forget this workspace").click()
    expect(page.get_by_text("Continue where you were")).to_have_count(0)
    expect(page).to_have_url(f"{app_server.url}/")
    page.wait_for_function("!('nspca.workspace' in localStorage)")
    page.evaluate("localStorage['nspca.workspace'] = 'another'")
    page.goto(f"{app_server.url}/runs?w={workspace}")
    expect(page.get_by_text("a workspace that this browser has not used before")).to_be_visible()
    assert page.evaluate("localStorage['nspca.workspace']") == "another"
    page.get_by_role("button", name="Stay in it").click()
    page.wait_for_function(f"localStorage['nspca.workspace'] == '{workspace}'")
