"""The examples of docs/examples run with the data at hand, and their pages show their output."""

import re

import pytest

from scripts import examples
from tests.test_project import ROOT

EXAMPLES = sorted(ROOT.glob("docs/examples/*.py"))


def test_cells_are_words_and_code_in_order(tmp_path):
    example = tmp_path / "one.py"
    example.write_text(
        "# %% [markdown]\n# # Title\n#\n# Words.\n\n# %%\nx = 2\nprint('out')\nx + 1\n\n# %%\ny = x\n"
    )
    assert examples.page(example) == (
        "# Title\n\nWords.\n\n```python\nx = 2\nprint('out')\nx + 1\n```\n\n```text\nout\n3\n```\n\n"
        "```python\ny = x\n```\n"
    )


def test_what_draws_itself_is_shown_as_drawn(tmp_path):
    example = tmp_path / "one.py"
    example.write_text("# %%\nimport pandas as pd\npd.DataFrame({'k': [7]})\n")
    shown = examples.page(example)
    assert "```{raw} html" in shown and re.search(r"<td>7</td>", shown)


def test_code_before_the_first_cell_is_refused():
    with pytest.raises(ValueError, match="must begin with a line # %%"):
        examples.cells("import nspca\n# %%\n")


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
