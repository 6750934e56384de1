"""Errors of the package. A message is one sentence: what was required, what was got, and the way out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

LONGEST = 100
"""Maximum characters of a value shown in an error."""


def shown(value: Any) -> str:
    """Return a short one-line text of any value for an error message."""
    try:
        said = " ".join(repr(value).split())
    except Exception:  # `repr` refuses ints of over 4300 digits; any other class may raise too
        return f"one of type {type(value).__name__} that cannot be shown"
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."


class NSPCAError(Exception):
    """Base class of all errors that this package raises on purpose."""


class InvalidProblem(NSPCAError, ValueError):
    """The matrix, k or a component does not define a problem that can be solved."""


class InvalidOption(NSPCAError, ValueError):
    """A method was given an option, or an option value, that it does not have."""


@dataclass(frozen=True)
class Way:
    """A value of an option of reading that turns a decision or mends a refusal.

    Parameters
    ----------
    option : str
        The keyword of `nspca.read`.
    value : optional
        The value that turns the decision.
    words : str
        What reading then does, such as "It is the header": the text of a button.
    """

    option: str
    value: Any
    words: str

    def __str__(self) -> str:
        """Return the way in Python: keyword, value and words."""
        return f"{self.option}={self.value!r} ({self.words[:1].lower()}{self.words[1:]})"


class InvalidData(NSPCAError, ValueError):
    """A file, an upload or a table cannot be read as data.

    Parameters
    ----------
    message : str
        One sentence: the true cause, and what to change in the file.
    ways : sequence of Way
        Options with which the file can be read. A page draws a button for each.
    """

    def __init__(self, message: str, ways: Sequence[Way] = ()) -> None:
        super().__init__(message, tuple(ways))
        self.message, self.ways = message, tuple(ways)

    def __str__(self) -> str:
        """Return the message with the ways out as keywords of Python."""
        return self.say(str)

    def say(self, written: Callable[[Way], str]) -> str:
        """Return the message with the ways out, each as `written` returns it."""
        ways = ", or ".join(map(written, self.ways))
        return f"{self.message.removesuffix('.')}, or use {ways}." if ways else self.message


class MissingValues(InvalidData):
    """A table has cells without a number; the option `missing` leaves them out or fills them in."""


class NotPrepared(InvalidData):
    """A preparation step cannot be applied to the data.

    Parameters
    ----------
    message : str
    step : str
        A key of `nspca.data.PREPARATIONS`.
    """

    def __init__(self, message: str, step: str = "") -> None:
        super().__init__(message)
        self.args = message, step
        self.step = step


class Refused(NSPCAError):
    """A computation would be too large, would not finish, or can prove nothing here.

    The message gives the number and an alternative.
    """


class NotConverged(NSPCAError):
    """A numerical loop reached its cap, or a residual check failed."""


class CertificateError(NSPCAError):
    """A certificate does not prove what it claims, or does not belong to the data."""


class DownloadError(NSPCAError):
    """A data set could not be fetched; the message says what to do offline."""


class JobError(NSPCAError):
    """Background runs, or the store of runs, uploads and results, cannot do what was asked."""


class MissingPackage(NSPCAError, ImportError):
    """A feature needs a package that only an extra such as ``nspca[files]`` installs."""


class Cancelled(NSPCAError):
    """Stop a computation; raised by a `report` hook.

    Partial results are attached while the exception travels up. `best` is the Certificate proved by then, or
    for a sweep the Sweep of finished rows. `result` is the Result found by then, of status CANCELLED, or for
    a task in a worker the bytes of its partial result. `point` is a component
    better than the known one, if the search for a proof found one. All are None when nothing was ready.
    """

    best: Any = None
    result: Any = None
    point: Any = None


class WorkersLost(JobError, Cancelled):
    """The workers of a Dask cluster, or its scheduler, are lost in the middle of a computation.

    What was ready is attached as for any `Cancelled`.
    """


@contextmanager
def within_memory() -> Iterator[None]:
    """Turn `MemoryError` into `Refused` with a sentence; usable as a decorator."""
    try:
        yield
    except MemoryError as error:
        raise Refused(
            "the arrays needed must fit into memory, got too little of it "
            f"({str(error) or 'none is left'}); take fewer features, samples or starts"
        ) from None


_EXTRAS = {"app": "of the dashboard", "files": "for more formats of files", "samples": "of the samples"}


@contextmanager
def needs(what: str, extra: str = "app") -> Iterator[None]:
    """Turn a missing package of an extra into `MissingPackage`; `what` begins its sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"{what} must have the packages {_EXTRAS[extra]}, got no {error.name}: "
            f"pip install 'nspca[{extra}]'"
        ) from error


class Late:
    """A module of an extra, imported when it is first used; `needs` names the extra where it is missing.

    Parameters
    ----------
    module : str
        Its full name.
    what, extra : str
        As in `needs`.
    """

    def __init__(self, module: str, what: str, extra: str):
        self._module, self._what, self._extra = module, what, extra

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module."""
        with needs(self._what, self._extra):
            return getattr(import_module(self._module), name)
