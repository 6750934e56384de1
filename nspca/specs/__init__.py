"""Questions as objects (specs), which are written to and read from addresses and JSON.

A spec opens its data, runs, estimates its cost, describes itself in words, and exports Python code. Pages
make a spec of their form, and a worker runs it. The command `run` runs one from JSON.

    base           fields, validation and JSON of all specs
    data           the data set: source, options of reading, and preparation
    question       the problem, and the methods that all specs share
    sweep, ...     one module for each kind of question
    rows           rows that a run reports
    job            the function that a worker calls
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nspca.specs.base import Description as Description
    from nspca.specs.base import Spec as Spec
    from nspca.specs.comparison import ComparisonSpec as ComparisonSpec
    from nspca.specs.components import ComponentsSpec as ComponentsSpec
    from nspca.specs.data import DataSpec as DataSpec
    from nspca.specs.groups import GroupsSpec as GroupsSpec
    from nspca.specs.membership import MembershipSpec as MembershipSpec
    from nspca.specs.optimum import OptimumSpec as OptimumSpec
    from nspca.specs.paper import PaperSpec as PaperSpec
    from nspca.specs.proof import CheckSpec as CheckSpec
    from nspca.specs.published import published_bounds as published_bounds
    from nspca.specs.question import ProblemSpec as ProblemSpec
    from nspca.specs.selection import ChoiceSpec as ChoiceSpec
    from nspca.specs.selection import NoiseSpec as NoiseSpec
    from nspca.specs.server import SpeedSpec as SpeedSpec
    from nspca.specs.server import TableSpec as TableSpec
    from nspca.specs.server import WordsSpec as WordsSpec
    from nspca.specs.stability import StabilitySpec as StabilitySpec
    from nspca.specs.successive import SuccessiveSpec as SuccessiveSpec
    from nspca.specs.sweep import SweepSpec as SweepSpec


# A kind of question is loaded when it is first used: `nspca solve` needs one of them, and no paper.
_MODULES = {
    "base": "Description Spec",
    "comparison": "ComparisonSpec",
    "components": "ComponentsSpec",
    "data": "DataSpec",
    "groups": "GroupsSpec",
    "membership": "MembershipSpec",
    "optimum": "OptimumSpec",
    "paper": "PaperSpec",
    "proof": "CheckSpec",
    "published": "published_bounds",
    "question": "ProblemSpec",
    "selection": "ChoiceSpec NoiseSpec",
    "server": "SpeedSpec TableSpec WordsSpec",
    "stability": "StabilitySpec",
    "successive": "SuccessiveSpec",
    "sweep": "SweepSpec",
}
_MODULE = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    """Import and return one of the names in `__all__` when it is first used."""
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)
    globals()[name] = found  # the next time there is nothing to look up
    return found
