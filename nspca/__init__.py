"""Sparse and nonnegative sparse PCA with certificates: a component, and a proof of how good it is."""

from importlib import import_module
from typing import TYPE_CHECKING

from nspca.api import certify, solve, sweep
from nspca.certificate import Certificate
from nspca.checker import verify
from nspca.errors import Cancelled, CertificateError, InvalidData, InvalidOption, InvalidProblem, NSPCAError
from nspca.places import Membership, Place, membership
from nspca.problem import Problem
from nspca.progress import Event
from nspca.result import Result, Status, Sweep, knee
from nspca.solvers import METHODS

if TYPE_CHECKING:
    from nspca.choosing import Choice, NoiseTest, choose_components, choose_k, noise_test
    from nspca.data import Dataset, load_sample, prepare, read
    from nspca.estimator import NSPCA
    from nspca.planning import Plan, plan
    from nspca.shards import Shards

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "NSPCA",
    "Cancelled",
    "Certificate",
    "CertificateError",
    "Choice",
    "Dataset",
    "Event",
    "InvalidData",
    "InvalidOption",
    "InvalidProblem",
    "Membership",
    "NSPCAError",
    "NoiseTest",
    "Place",
    "Plan",
    "Problem",
    "Result",
    "Shards",
    "Status",
    "Sweep",
    "certify",
    "choose_components",
    "choose_k",
    "knee",
    "load_sample",
    "membership",
    "noise_test",
    "plan",
    "prepare",
    "read",
    "solve",
    "sweep",
    "verify",
]

# Where the names live that bring in pandas' parsers, Pillow, pooch or scikit-learn: loaded when used.
_LATER = {
    "Choice": "nspca.choosing",
    "Dataset": "nspca.data",
    "NSPCA": "nspca.estimator",
    "NoiseTest": "nspca.choosing",
    "Plan": "nspca.planning",
    "Shards": "nspca.shards",
    "choose_components": "nspca.choosing",
    "choose_k": "nspca.choosing",
    "load_sample": "nspca.data",
    "noise_test": "nspca.choosing",
    "plan": "nspca.planning",
    "prepare": "nspca.data",
    "read": "nspca.data",
}


def __getattr__(name: str):
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'nspca' has no attribute {name!r}")
