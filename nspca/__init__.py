"""Sparse and nonnegative sparse PCA with certificates: a component, and a proof of how good it is."""

from nspca.api import certify, solve, sweep
from nspca.certificate import Certificate
from nspca.errors import Cancelled, CertificateError, InvalidData, InvalidOption, InvalidProblem, NSPCAError
from nspca.estimator import NSPCA
from nspca.problem import Problem
from nspca.progress import Event
from nspca.result import Result, Status
from nspca.solvers import METHODS
from nspca.sweeps import Sweep
from nspca.verify import verify

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "NSPCA",
    "Cancelled",
    "Certificate",
    "CertificateError",
    "Dataset",
    "Event",
    "InvalidData",
    "InvalidOption",
    "InvalidProblem",
    "NSPCAError",
    "Problem",
    "Result",
    "Status",
    "Sweep",
    "certify",
    "load_sample",
    "read",
    "solve",
    "sweep",
    "verify",
]

_DATA = ("Dataset", "load_sample", "read")


def __getattr__(name: str):
    # The readers bring in pandas' parsers, Pillow and pooch: loaded when somebody reads data, not at import.
    if name in _DATA:
        import nspca.data

        return getattr(nspca.data, name)
    raise AttributeError(f"module 'nspca' has no attribute {name!r}")
