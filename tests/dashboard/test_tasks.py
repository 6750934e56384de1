"""The names of the tasks: each leads to its function, and the pages use no other."""

import inspect
from importlib import import_module

import pytest

from nspca.dashboard.compare import more as compare_more
from nspca.dashboard.compare.request import COMPARISON
from nspca.dashboard.data import cards
from nspca.dashboard.joint import page as joint_page
from nspca.dashboard.joint import parts, stability
from nspca.dashboard.papers import page as papers_page
from nspca.dashboard.papers import uses
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import beforehand, tables
from nspca.dashboard.runs.request import SWEEP
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.sweep import choosing, noise, preview
from nspca.dashboard.views import places
from nspca.jobs import engine as the_engine
from nspca.tasks import TASKS

PAGE = "pages/sweep.py"


@pytest.mark.parametrize("name", TASKS)
def test_a_name_leads_to_a_function_that_reports(name):
    module, _, function = TASKS[name].partition(":")
    assert "report" in inspect.signature(getattr(import_module(module), function)).parameters


def test_pages_use_every_name_and_no_other():
    kinds = (SWEEP, COMPARISON, joint_page._kind(parts.SUBJECT, parts.VIEW))
    others = (
        proofs.MORE,
        proofs.CHECK,
        compare_more.COMPONENTS,
        compare_more.STABILITY,
        stability.TASK,
        *(choosing.TASK, noise.TASK),
        *(uses.GENES, uses.FACES, uses.PROPS),
        papers_page.TASK,
    )
    unasked = (preview.TASK, places.TASK, beforehand.TASK, tables.TASK, cards.TASK)
    assert {*(kind.task for kind in kinds), *others, *unasked} == set(TASKS)
    assert engine() is the_engine() and engine().tasks.items() >= TASKS.items()


@pytest.mark.parametrize("stored", ["sweep", "nspca.tasks:run_sweep"])
def test_a_run_is_found_by_its_name_and_one_from_before_by_its_function(
    visit, finish, address, texts, stored
):
    page = visit(PAGE, sample="pitprops", from_=3, to=3, step=1)
    page.button(key="run").click().run()
    page = finish(page)
    store, run = engine().store, address(page)["run"]
    assert store.find_run(run).function == "sweep"
    with store._writing() as database:
        database.execute("UPDATE runs SET function = ? WHERE id = ?", (stored, run))
    again = visit(PAGE, **address(page))
    assert not again.error and texts(again) == texts(page)
