"""Sparse and nonnegative sparse PCA with certificates: a component, and a proof of how good it is."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nspca.api import certify as certify
    from nspca.api import solve as solve
    from nspca.api import sweep as sweep
    from nspca.certificate import Certificate as Certificate
    from nspca.data import Dataset as Dataset
    from nspca.data import load_sample as load_sample
    from nspca.data import prepare as prepare
    from nspca.data import read as read
    from nspca.data import read_text as read_text
    from nspca.errors import Cancelled as Cancelled
    from nspca.errors import CertificateError as CertificateError
    from nspca.errors import InvalidData as InvalidData
    from nspca.errors import InvalidOption as InvalidOption
    from nspca.errors import InvalidProblem as InvalidProblem
    from nspca.errors import NSPCAError as NSPCAError
    from nspca.estimator import NSPCA as NSPCA
    from nspca.planning import Plan as Plan
    from nspca.planning import plan as plan
    from nspca.problem import Problem as Problem
    from nspca.progress import Event as Event
    from nspca.result import Result as Result
    from nspca.result import Status as Status
    from nspca.result import Sweep as Sweep
    from nspca.result import knee as knee
    from nspca.selection import Choice as Choice
    from nspca.selection import GroupEffects as GroupEffects
    from nspca.selection import NoiseTest as NoiseTest
    from nspca.selection import choose_components as choose_components
    from nspca.selection import choose_k as choose_k
    from nspca.selection import group_effects as group_effects
    from nspca.selection import held_out_group_effects as held_out_group_effects
    from nspca.selection import noise_test as noise_test
    from nspca.selection.answers import Answers as Answers
    from nspca.selection.answers import answers as answers
    from nspca.selection.membership import Membership as Membership
    from nspca.selection.membership import Place as Place
    from nspca.selection.membership import membership as membership
    from nspca.shards import Shards as Shards
    from nspca.solvers import METHODS as METHODS
    from nspca.specs import ChoiceSpec as ChoiceSpec
    from nspca.specs import ComparisonSpec as ComparisonSpec
    from nspca.specs import ComponentsSpec as ComponentsSpec
    from nspca.specs import DataSpec as DataSpec
    from nspca.specs import GroupsSpec as GroupsSpec
    from nspca.specs import MembershipSpec as MembershipSpec
    from nspca.specs import NoiseSpec as NoiseSpec
    from nspca.specs import PaperSpec as PaperSpec
    from nspca.specs import ProblemSpec as ProblemSpec
    from nspca.specs import Spec as Spec
    from nspca.specs import StabilitySpec as StabilitySpec
    from nspca.specs import SweepSpec as SweepSpec
    from nspca.specs import published_bounds as published_bounds
    from nspca.verifying import verify as verify

__version__ = "0.1.0"

# A name is loaded when it is first used: ``import nspca`` and `nspca --help` wait for no numerics, and who
# solves waits for no parsers, Pillow or scikit-learn.
_ROOMS = {
    "api": "certify solve sweep",
    "certificate": "Certificate",
    "data": "Dataset load_sample prepare read read_text",
    "errors": "Cancelled CertificateError InvalidData InvalidOption InvalidProblem NSPCAError",
    "estimator": "NSPCA",
    "planning": "Plan plan",
    "problem": "Problem",
    "progress": "Event",
    "result": "Result Status Sweep knee",
    "selection": "Choice GroupEffects NoiseTest choose_components choose_k group_effects "
    "held_out_group_effects noise_test",
    "selection.answers": "Answers answers",
    "selection.membership": "Membership Place membership",
    "shards": "Shards",
    "solvers": "METHODS",
    "specs": "ChoiceSpec ComparisonSpec ComponentsSpec DataSpec "
    "GroupsSpec MembershipSpec NoiseSpec PaperSpec "
    "ProblemSpec Spec StabilitySpec SweepSpec published_bounds",
    "verifying": "verify",
}
_ROOM = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_ROOM)


def __getattr__(name: str) -> Any:
    """Return a public name or a submodule of the package, imported at its first use."""
    if name in _ROOM:
        found = getattr(import_module(f"nspca.{_ROOM[name]}"), name)
        globals()[name] = found  # the next time there is nothing to look up
        return found
    if not name.startswith("_") and find_spec(f"nspca.{name}") is not None:
        return import_module(f"nspca.{name}")
    raise AttributeError(f"module 'nspca' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, those not imported yet included, for completion in a shell."""
    return sorted({*globals(), *__all__})
