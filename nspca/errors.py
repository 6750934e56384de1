"""Errors of the package. A message is one sentence: what was required, what was got, and the way out."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar

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


class InvalidData(NSPCAError, ValueError):
    """A file, an upload or a table cannot be read as data."""

    def __str__(self) -> str:
        """Return the message alone, without the further arguments of a subclass."""
        return str(self.args[0]) if self.args else ""


class MissingValues(InvalidData):
    """A table has cells without a number; readers have options that leave them out or fill them in.

    Parameters
    ----------
    message : str
    cells, rows, columns : int
        Number of missing cells, and of the rows and columns of the file that have some.
    shape : pair of int
        Rows and columns of the table; zeros when they are not known.
    """

    WAYS: ClassVar = "use the option missing: leave out its samples, leave out its features, or put in means"
    """End of the message in Python and on the command line."""

    def __init__(
        self, message: str, cells: int = 0, rows: int = 0, columns: int = 0, shape: tuple[int, int] = (0, 0)
    ) -> None:
        super().__init__(message, cells, rows, columns, tuple(shape))
        self.cells, self.rows, self.columns = cells, rows, columns
        self.shape = int(shape[0]), int(shape[1])

    def offering(self, ways: str) -> str:
        """Return the message for a page, which offers `ways` in place of the option of Python."""
        return str(self).replace(self.WAYS, ways)


class UnclearDecimals(InvalidData):
    """Numbers such as 1,234 have a mark that may stand between thousands or before decimals.

    Readers have an option that names the decimal sign.

    Parameters
    ----------
    message : str
    mark : str
        The mark, "," or ".".
    """

    WAY: ClassVar = "name the decimal sign (decimal: {})"
    """End of the message in Python and on the command line."""

    def __init__(self, message: str, mark: str = ",") -> None:
        super().__init__(message, mark)
        self.mark = mark

    def offering(self, way: str) -> str:
        """Return the message for a page, which offers `way` in place of the option of Python."""
        return str(self).replace(self.WAY.format(self.mark), way)


class UnlikeImages(InvalidData):
    """Images of an archive have several sizes, or some of them cannot be read.

    Readers have an option that converts all of them to grey images of one size.
    """


class NotNumbers(InvalidData):
    """A column of a table holds text; readers have options that declare it as names or labels.

    Parameters
    ----------
    message : str
    column : int
        Position of the column in the file.
    """

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message, column)
        self.column = column


class NotPrepared(InvalidData):
    """A preparation step cannot be applied to the data.

    Parameters
    ----------
    message : str
    step : str
        A key of `nspca.data.PREPARATIONS`.
    """

    def __init__(self, message: str, step: str = "") -> None:
        super().__init__(message, step)
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
