"""Execute the examples of docs/examples as notebooks and store them, with their output, in docs/notebooks.

    python -m scripts.notebooks

Only samples that are the same on every machine are used.
The notebooks hold no time and no machine: the same code and the same results give the same file.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from scripts import examples

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "docs" / "examples").glob("*.py"))
FOLDER = ROOT / "docs" / "notebooks"
SECONDS = 600
"""Time limit of one cell. The slowest one takes some seconds on an idle machine."""
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def stored(source: Path) -> Path:
    """Return the path of the notebook that belongs to an example."""
    return FOLDER / f"{source.stem}.ipynb"


def notebook(source: Path) -> nbformat.NotebookNode:
    """Return an example as a notebook without output, with cells numbered instead of random names."""
    make = {True: nbformat.v4.new_code_cell, False: nbformat.v4.new_markdown_cell}
    pairs = examples.cells(source.read_text(encoding="utf-8"))
    cells = [
        make[is_code](text.strip(), id=f"cell-{number}")
        for number, (is_code, text) in enumerate(pairs, start=1)
    ]
    return nbformat.v4.new_notebook(cells=cells, metadata=KERNEL)


def executed(source: Path) -> nbformat.NotebookNode:
    """Return an example as a notebook that was executed in an empty folder, on the shipped samples."""
    book = notebook(source)
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: text for name, text in os.environ.items() if name != "NSPCA_DATA"}
        environment |= {
            "PYTHONPATH": str(ROOT),
            "OPENBLAS_NUM_THREADS": "1",
            "NSPCA_HOME": folder,
            "IPYTHONDIR": folder,
        }
        # Sockets in the folder, where the system has them, so that no port is opened.
        sockets = {} if os.name == "nt" else {"transport": "ipc", "ip": f"{folder}/kernel"}
        kernel = AsyncKernelManager(kernel_name="python3", **sockets)
        client = NotebookClient(book, km=kernel, timeout=SECONDS, record_timing=False)
        client.execute(env=environment, cwd=folder)
    book.metadata = KERNEL
    return book


def main() -> None:
    """Execute and store every notebook."""
    FOLDER.mkdir(exist_ok=True)
    for source in SOURCES:
        nbformat.write(executed(source), stored(source))
        sys.stdout.write(f"{stored(source).relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
