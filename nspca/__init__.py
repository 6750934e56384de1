"""Sparse and nonnegative sparse PCA with certificates: a component, and a proof of how good it is."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nspca.api import certify, solve, sweep
    from nspca.certificate import Certificate
    from nspca.data import Dataset, load_sample, prepare, read, read_text
    from nspca.errors import (
        Cancelled,
        CertificateError,
        InvalidData,
        InvalidOption,
        InvalidProblem,
        NSPCAError,
    )
    from nspca.estimator import NSPCA
    from nspca.planning import Plan, plan
    from nspca.problem import Problem
    from nspca.progress import Event
    from nspca.result import Result, Status, Sweep, knee
    from nspca.selection import (
        Choice,
        GroupEffects,
        NoiseTest,
        choose_components,
        choose_k,
        group_effects,
        held_out_group_effects,
        noise_test,
    )
    from nspca.selection.membership import Membership, Place, membership
    from nspca.shards import Shards
    from nspca.solvers import METHODS
    from nspca.specs import (
        ChoiceSpec,
        ComparisonSpec,
        ComponentsChoiceSpec,
        ComponentsSpec,
        ComponentsStabilitySpec,
        DataSpec,
        DetectionSpec,
        GenesSpec,
        GroupsSpec,
        MembershipSpec,
        NoiseSpec,
        PaperSpec,
        PitpropsSpec,
        PreviewSpec,
        ProblemSpec,
        ProofSpec,
        Spec,
        StabilitySpec,
        SuccessiveSpec,
        SweepSpec,
        published_bounds,
    )
    from nspca.verifying import verify

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "NSPCA",
    "Cancelled",
    "Certificate",
    "CertificateError",
    "Choice",
    "ChoiceSpec",
    "ComparisonSpec",
    "ComponentsChoiceSpec",
    "ComponentsSpec",
    "ComponentsStabilitySpec",
    "DataSpec",
    "Dataset",
    "DetectionSpec",
    "Event",
    "GenesSpec",
    "GroupEffects",
    "GroupsSpec",
    "InvalidData",
    "InvalidOption",
    "InvalidProblem",
    "Membership",
    "MembershipSpec",
    "NSPCAError",
    "NoiseSpec",
    "NoiseTest",
    "PaperSpec",
    "PitpropsSpec",
    "Place",
    "Plan",
    "PreviewSpec",
    "Problem",
    "ProblemSpec",
    "ProofSpec",
    "Result",
    "Shards",
    "Spec",
    "StabilitySpec",
    "Status",
    "SuccessiveSpec",
    "Sweep",
    "SweepSpec",
    "certify",
    "choose_components",
    "choose_k",
    "group_effects",
    "held_out_group_effects",
    "knee",
    "load_sample",
    "membership",
    "noise_test",
    "plan",
    "prepare",
    "published_bounds",
    "read",
    "read_text",
    "solve",
    "sweep",
    "verify",
]

# A name is loaded when it is first used: ``import nspca`` and `nspca --help` wait for no numerics, and who
# solves waits for no parsers, Pillow, pooch or scikit-learn.
_ROOMS = {
    "api": ("certify", "solve", "sweep"),
    "certificate": ("Certificate",),
    "data": ("Dataset", "load_sample", "prepare", "read", "read_text"),
    "errors": (
        "Cancelled",
        "CertificateError",
        "InvalidData",
        "InvalidOption",
        "InvalidProblem",
        "NSPCAError",
    ),
    "estimator": ("NSPCA",),
    "planning": ("Plan", "plan"),
    "problem": ("Problem",),
    "progress": ("Event",),
    "result": ("Result", "Status", "Sweep", "knee"),
    "selection": (
        "Choice",
        "GroupEffects",
        "NoiseTest",
        "choose_components",
        "choose_k",
        "group_effects",
        "held_out_group_effects",
        "noise_test",
    ),
    "selection.membership": ("Membership", "Place", "membership"),
    "shards": ("Shards",),
    "solvers": ("METHODS",),
    "specs": (
        "ChoiceSpec",
        "ComparisonSpec",
        "ComponentsChoiceSpec",
        "ComponentsSpec",
        "ComponentsStabilitySpec",
        "DataSpec",
        "DetectionSpec",
        "GenesSpec",
        "GroupsSpec",
        "MembershipSpec",
        "NoiseSpec",
        "PaperSpec",
        "PitpropsSpec",
        "PreviewSpec",
        "ProblemSpec",
        "ProofSpec",
        "Spec",
        "StabilitySpec",
        "SuccessiveSpec",
        "SweepSpec",
        "published_bounds",
    ),
    "verifying": ("verify",),
}
_ROOM = {name: room for room, names in _ROOMS.items() for name in names}


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
