"""Run an example of docs/examples and return its page, with the output of each cell.

    python -m scripts.examples docs/examples/faces.py

An example is Python with ``# %%`` cells. Editors run it like a notebook, and the site shows it with its
output.
"""

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

CELL = re.compile(r"^# %%(?P<text> \[markdown\])?\n", re.MULTILINE)


def cells(source: str) -> list[tuple[bool, str]]:
    """Pairs (whether it is code, its text), in order."""
    before, *parts = CELL.split(source)
    if before.strip() or not parts:
        raise ValueError(f"an example must begin with a line # %%, got {before[:40]!r}")
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [(mark is None, body.strip("\n") if mark is None else uncommented(body)) for mark, body in pairs]


def uncommented(body: str) -> str:
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip("\n").splitlines())


def run(code: str, names: dict, name: str) -> tuple[str, str]:
    """Return the text that a cell prints, and the HTML of its last expression. An expression without HTML is
    printed as text.
    """
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, html = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), names)
        if hasattr(value, "_repr_html_"):
            html = value._repr_html_()
        elif value is not None:
            sys.stdout.write(f"{value!r}\n")
    return printed.getvalue(), html


def page(path: Path) -> str:
    """The example as Markdown: its words, its code, and what came out here and now."""
    names: dict = {"__name__": "__main__"}
    parts = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for is_code, text in cells(path.read_text(encoding="utf-8")):
            if not is_code:
                parts.append(text)
                continue
            parts.append(f"```python\n{text}\n```")
            printed, html = run(text, names, path.name)
            if printed:
                parts.append(f"```text\n{printed.rstrip()}\n```")
            if html:
                parts.append(f"```{{raw}} html\n{html}\n```")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stdout.write(page(Path(sys.argv[1]).resolve()))
