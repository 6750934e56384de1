"""Every error a user can meet. A message is one sentence: what was required, what was got, the way out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONGEST = 100
"""Characters of a value that an error shows."""


def shown(value: Any) -> str:
    """`value` as an error shows it: in one line, cut where it is long, and whatever it is."""
    try:
        said = " ".join(repr(value).split())
    except Exception:  # whole numbers of more than 4300 digits have no repr, others have one of their own
        return f"one of type {type(value).__name__} that cannot be shown"
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."


class NSPCAError(Exception):
    """Base of all errors this package raises on purpose."""


class InvalidProblem(NSPCAError, ValueError):
    """The matrix, k or a component does not define a problem that can be solved."""


class InvalidOption(NSPCAError, ValueError):
    """A method was given an option, or an option value, that it does not have."""


class InvalidData(NSPCAError, ValueError):
    """A file, an upload or a table cannot be read as data."""


class MissingValues(InvalidData):
    """A table has cells without a number, which can be left out or filled in when somebody says so.

    Parameters
    ----------
    message : str
    cells, rows, columns : int
        How many there are, and in how many rows and columns of the file.
    """

    def __init__(self, message: str, cells: int = 0, rows: int = 0, columns: int = 0) -> None:
        super().__init__(message, cells, rows, columns)
        self.cells, self.rows, self.columns = cells, rows, columns

    def __str__(self) -> str:
        return str(self.args[0])


class NotNumbers(InvalidData):
    """A column of a table holds text, which it may when somebody says that it holds names or labels.

    Parameters
    ----------
    message : str
    column : int
        Its position in the file.
    """

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message, column)
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


class NotPrepared(InvalidData):
    """A preparation cannot be done to these data.

    Parameters
    ----------
    message : str
    step : str
        A key of `nspca.data.PREPARATIONS`.
    """

    def __init__(self, message: str, step: str = "") -> None:
        super().__init__(message, step)
        self.step = step

    def __str__(self) -> str:
        return str(self.args[0])


class Refused(NSPCAError):
    """An exact method would not finish, or is outside its theorem; the message names the number and an
    alternative.
    """


class NotConverged(NSPCAError):
    """A numerical loop reached its cap, or a residual check failed."""


class CertificateError(NSPCAError):
    """A certificate does not prove what it claims, or does not belong to the data."""


class DownloadError(NSPCAError):
    """A data set could not be fetched; the message says what to do offline."""


class JobError(NSPCAError):
    """A background run could not be started or ended without a result."""


class MissingPackage(NSPCAError, ImportError):
    """What was asked for needs a package that comes with ``nspca[app]`` alone."""


class Cancelled(NSPCAError):
    """Raised by a `report` hook to stop a computation.

    On its way out it is given what there is: `best`, the Certificate proved by then, or of a sweep the Sweep
    of what was ready; and `result`, the Result found by then, of status CANCELLED, or of a task in a worker
    the bytes that it hands in. None where there was none yet.
    """

    best: Any = None
    result: Any = None


@contextmanager
def within_memory() -> Iterator[None]:
    """What no array can be made for is refused with a sentence; for a function that may be handed anything,
    as a decorator.
    """
    try:
        yield
    except MemoryError as error:
        raise Refused(
            "the arrays needed must fit into memory, got too little of it "
            f"({str(error) or 'none is left'}); take fewer features, samples or starts"
        ) from None


@contextmanager
def of_the_app(what: str) -> Iterator[None]:
    """`what` is refused with a sentence where the packages of the dashboard are not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"{what} must have the packages of the dashboard, got no {error.name}: pip install 'nspca[app]'"
        ) from error
