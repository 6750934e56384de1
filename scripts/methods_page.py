"""Write docs/methods.md from `nspca.METHODS` and the docstrings of the methods.

    python -m scripts.methods_page

The code is the source and the page is a copy. A test fails when the two differ.
"""

import inspect
from dataclasses import fields
from textwrap import fill

from benchmarks.shared import DOCS, head, row
from nspca import METHODS
from nspca.solvers import Method
from nspca.solving import line_of
from nspca.validation.options import option_texts

PAGE = DOCS / "methods.md"
WIDTH = 140
HEAD = """# Methods

Written by `python -m scripts.methods_page` from `nspca.METHODS` and the docstrings of the methods.

`nspca.solve(problem, method, **options)` runs a method, and [Choosing](choosing.md) says which one.
`nspca.METHODS[name].refusal(problem)` is the sentence why a method cannot solve a problem, or None. An
option means the same in every method that has it. A_d is the best approximation of A with rank d.
"""
COLUMNS = {
    "nonnegative": "nonneg",
    "any sign": "signed",
    "several together": "joint",
    "exact for A_d": "exact",
    "keeps forced features": "forced",
    "all k of a sweep at once": "path",
    "needs samples": "needs_data",
    "refuses large problems": "require",
    "baseline": "baseline",
}
"""Columns of the table of abilities, and the attribute of `Method` that each shows."""


def page() -> str:
    """Return the whole page."""
    lines = [line_of(name) for name in ("auto", *METHODS)]
    told: dict[str, Method] = {}
    return "\n".join([HEAD, overview(lines), *(section(line, told) for line in lines)])


def overview(lines: list[Method]) -> str:
    """Return a row for every method: what it can do."""
    rows = [head(["method", *COLUMNS])]
    for line in lines:
        cells = ["yes" if getattr(line, name) else "" for name in COLUMNS.values()]
        rows.append(row([f"[`{line.name}`](#{line.name})", *cells]))
    return "\n".join(rows) + "\n"


def section(line: Method, told: dict[str, Method]) -> str:
    """Return the options of a method and the docstring of its file, each once on the page."""
    module = inspect.getmodule(line.solve)
    file = module.__name__.replace(".", "/") + ".py"
    if file in told:
        first, summary = told[file], line.summary[0].upper() + line.summary[1:]
        same = " Its options are the same." if first.Options is line.Options else "\n\n" + options(line)
        return f"## {line.name}\n\n{summary}; see [`{first.name}`](#{first.name}).{same.rstrip()}\n"
    told[file] = line
    text = f"```text\n{inspect.cleandoc(module.__doc__)}\n```\n"
    return "\n".join([f"## {line.name}\n", text, options(line)])


def options(line: Method) -> str:
    """Return every option with its type, its default and what its docstring says.

    Raises
    ------
    ValueError
        When the docstring does not tell of exactly the options that there are.
    """
    defaults = {field.name: field.default for field in fields(line.Options)}
    texts = option_texts(line.Options)
    if set(texts) != set(defaults):
        raise ValueError(
            f"{line.Options.__qualname__} of {line.name} must tell of {sorted(defaults)}, its docstring has "
            f"{sorted(texts)}"
        )
    if not defaults:
        return "No options.\n"
    items = ""
    for name, default in defaults.items():
        item = f"- `{name}` ({texts[name][0]}, default `{default!r}`): {texts[name][1]}"
        items += fill(item, WIDTH, subsequent_indent="  ", break_on_hyphens=False) + "\n"
    return items


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
