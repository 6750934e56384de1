"""Write docs/methods.md from `nspca.METHODS` and the docstrings of the methods.

    python -m scripts.methods_page

The code is the source and the page is a copy. A test fails when the two differ.
"""

import inspect
from dataclasses import fields
from pathlib import Path
from textwrap import fill

from nspca import METHODS
from nspca.solvers import Method
from nspca.solving import line_of
from nspca.validation.options import option_texts

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
WIDTH = 140
HEAD = """# Methods

Written by `python -m scripts.methods_page` from the table of methods and from their docstrings; change those,
not this page.

`nspca.solve(problem, method, **options)` runs a method. `nspca.METHODS[name]` is its line of the table,
`.Options` its options, and
`.refusal(problem)` the sentence why it cannot solve a problem, None when it can. `auto` is the policy that
chooses when nothing is said.
An option name means the same in every method that has it.
"""


def page() -> str:
    """The whole page."""
    lines = [line_of(name) for name in ("auto", *METHODS)]
    told: dict[str, str] = {}
    return "\n".join([HEAD, overview(lines), *(section(line, told) for line in lines)])


def overview(lines: list[Method]) -> str:
    """A row for every method: what it can do."""
    rows = [
        "| method | nonnegative | any sign | several together | exact for A_d | needs samples | baseline |",
        "|---" * 7 + "|",
    ]
    for line in lines:
        able = (line.nonneg, line.signed, line.joint, line.exact, line.needs_data, line.baseline)
        rows.append(
            f"| [`{line.name}`](#{line.name}) | " + " | ".join("yes" if one else "" for one in able) + " |"
        )
    return "\n".join(rows) + "\n"


def section(line: Method, told: dict[str, str]) -> str:
    """All that is known of a method; the text of its file once, with the first method that is in it."""
    module = inspect.getmodule(line.solve)
    together = "one, or several disjoint ones together when k is a tuple of sizes"
    facts = [
        f"- Source: {line.reference}.",
        f"- Weights: {' and '.join(['nonnegative'] * line.nonneg + ['of any sign'] * line.signed)}.",
        f"- Components: {together if line.joint else 'one; several are found one after another'}.",
        "- Exact: it finds the optimum of the rank-d problem." if line.exact else "- Exact: no.",
        f"- Works on: {'the samples' if line.needs_data else 'data, or a covariance'}.",
    ]
    if line.baseline:
        facts.append("- Baseline: what it finds elsewhere is cut to k entries, to stand beside the others.")
    if line.forced:
        facts.append("- Forced features: it keeps them in.")
    if line.path is not None:
        facts.append("- A sweep gets all its k in one pass.")
    if line.require is not None:
        facts.append(
            "- Refuses problems that it would not finish or cannot take; the sentence names the number and "
            "an alternative."
        )
    parts = [f"## {line.name}\n", sentence(line.summary) + "\n", "\n".join(facts) + "\n", options(line)]
    file = module.__name__.replace(".", "/") + ".py"
    if file in told:
        parts.append(f"`{file}` is told of under [`{told[file]}`](#{told[file]}).\n")
    else:
        told[file] = line.name
        parts.append(f"`{file}` says:\n\n```text\n{inspect.cleandoc(module.__doc__)}\n```\n")
    return "\n".join(parts)


def options(line: Method) -> str:
    """Every option with its type, its default and what its docstring says.

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
    items = [
        f"- `{name}` ({texts[name][0]}, default `{default!r}`): {texts[name][1]}"
        for name, default in defaults.items()
    ]
    return (
        "\n".join(
            [
                "Options:\n",
                *(fill(item, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for item in items),
            ]
        )
        + "\n"
    )


def sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
