"""The outcome of a sweep: a table to plot and the results behind it."""

import io
import zipfile
from typing import TYPE_CHECKING

from nspca.errors import InvalidData
from nspca.result import Result

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("method", "k", "value", "upper", "ratio", "kind", "seconds")


def row_of(method: str, k: int, result: Result) -> dict:
    """One row of `Sweep.frame`; `upper`, `ratio` and `kind` are None without a certificate."""
    proof = result.certificate
    upper, ratio, kind = (None, None, None) if proof is None else (proof.upper, result.ratio, proof.kind)
    return dict(zip(COLUMNS, (method, int(k), result.value, upper, ratio, kind, result.seconds), strict=True))


class Sweep:
    """Results by method and k: ``sweep[method, k]`` is a Result, ``sweep.frame`` a data frame with one row each."""

    def __init__(self, results: dict[tuple[str, int], Result]):
        self.results = dict(results)

    def __getitem__(self, key: tuple[str, int]) -> Result:
        return self.results[key]

    def __iter__(self):
        return iter(self.results)

    def __len__(self):
        return len(self.results)

    @property
    def frame(self) -> "pd.DataFrame":
        """One row per method and k: method, k, value, upper, ratio, kind, seconds."""
        import pandas as pd  # half a second that a caller who reads no table need not wait

        rows = [row_of(method, k, result) for (method, k), result in self.results.items()]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def to_bytes(self) -> bytes:
        """One zip of `Result.to_bytes`, in order; `from_bytes` reads it."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for (method, k), result in self.results.items():
                archive.writestr(zipfile.ZipInfo(f"{method}/{k}"), result.to_bytes())
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Sweep":
        """Read what `to_bytes` wrote."""
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                keys = [(name, name.rsplit("/", 1)) for name in archive.namelist()]
                return cls({(method, int(k)): Result.from_bytes(archive.read(name)) for name, (method, k) in keys})
        except (zipfile.BadZipFile, ValueError, KeyError) as error:
            raise InvalidData(f"a stored sweep must be bytes written by Sweep.to_bytes, got {error}; run it again") from error
