"""The examples of docs/examples run with the data at hand, and their pages show their output."""

import pytest

from scripts import examples
from tests.test_project import ROOT

EXAMPLES = sorted(ROOT.glob("docs/examples/*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_on_the_site(path):
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"\nexamples/{path.stem}\n" in listed
    (is_code, title), *_ = examples.cells(path.read_text(encoding="utf-8"))
    assert not is_code and title.startswith("# ")


@pytest.mark.visit
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path):
    assert "of the optimum" in examples.page(path)
