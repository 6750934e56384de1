"""The notebooks of docs/notebooks: executed, small, and the same as the examples that they are made from."""

import json
import re

import pytest

from nspca.data import present_samples
from scripts import notebooks

SOURCES = pytest.mark.parametrize("source", notebooks.SOURCES, ids=lambda source: source.stem)


def read(source):
    return json.loads(notebooks.stored(source).read_text(encoding="utf-8"))


def printed(book) -> list[str]:
    """Return what every cell prints, with one sign in place of every number."""
    texts = [
        "".join("".join(output.get("text", "")) for output in cell["outputs"])
        for cell in book["cells"]
        if cell["cell_type"] == "code"
    ]
    return [re.sub(r"\d+(\.\d+)?", "#", text) for text in texts]


def test_there_is_a_notebook_for_every_example_and_no_other():
    assert len(notebooks.SOURCES) >= 3
    assert sorted(notebooks.FOLDER.iterdir()) == [notebooks.stored(source) for source in notebooks.SOURCES]


@SOURCES
def test_notebooks_have_the_cells_of_their_examples(source):
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in read(source)["cells"]]
    expected = [(cell.cell_type, cell.source) for cell in notebooks.notebook(source).cells]
    assert cells == expected, "run python -m scripts.notebooks"


@SOURCES
def test_notebooks_were_executed_from_top_to_bottom_on_shipped_samples(source):
    code = [cell for cell in read(source)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
    assert "stream" in kinds and "error" not in kinds
    assert any(name in "".join(code[0]["outputs"][0]["text"]) for name in present_samples())


@pytest.mark.visit
@SOURCES
def test_notebooks_print_the_same_when_they_are_executed_again(source):
    assert printed(notebooks.executed(source)) == printed(read(source))
