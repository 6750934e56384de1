"""Names of methods in forms, and the methods that can solve a problem.

The forms of Sweep and of the page Components use them.
"""

from dataclasses import replace

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.open_data import Chosen
from nspca.errors import NSPCAError
from nspca.presentation.phrases import method_name
from nspca.solving import line_of

ALL = ("auto", *nspca.METHODS)
IN_PASSES = ("auto", "joint")  # methods that read a folder of shards only a few times
IN_MEMORY = "works on data in memory; choose auto or joint for all rows of a folder, or a sample of them"


def refusals(
    of: Chosen, nonneg: bool, center: bool, scale: bool, forced: tuple[int, ...] = ()
) -> dict[str, str | None]:
    """Return for every method why it cannot find a component of the data `of`; None if it can."""
    if of.table is not None:
        return {name: None if name in IN_PASSES else f"{name} {IN_MEMORY}" for name in ALL}
    try:
        problem = replace(open_data.problem(of, nonneg, center, scale), k=max(1, len(forced)), forced=forced)
    except NSPCAError:
        return dict.fromkeys(ALL)
    return {name: line_of(name).refusal(problem) for name in ALL}


def able(refusals: dict[str, str | None]) -> list[str]:
    """Return the methods without a refusal among those that `refusals` returned."""
    return [name for name, sentence in refusals.items() if sentence is None]


def summaries(names: list[str]) -> str:
    """Return a list of methods with their summaries, for the help text of a form."""
    return "\n".join(f"- **{name}**: {line_of(name).summary}" for name in names)


def how(name: str) -> str:
    """Return a phrase that says how a method finds several components."""
    return "at once" if line_of(name).joint else "one by one"


def label(name: str) -> str:
    """Return the label of a method in forms."""
    if name == "auto":
        return f"{method_name(name)} ({name})"
    return f"{name} (baseline)" if line_of(name).baseline else name


def baselines() -> list[str]:
    """Return the names of the methods that are baselines, which figures draw dotted."""
    return [name for name in ALL if line_of(name).baseline]
