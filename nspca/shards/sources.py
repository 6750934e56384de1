"""Files that become shards, read in pieces: what one is, its first bytes say.

Memory is bounded by a piece and a block of rows, whatever the length of the file.
"""

from collections.abc import Callable
from pathlib import Path

from nspca.data.how import How
from nspca.data.readers import (
    DelimitedReader,
    DocwordReader,
    MatrixMarketReader,
    ParquetReader,
    Reader,
    Source,
    find_format,
)
from nspca.errors import InvalidData, InvalidOption
from nspca.options import whole
from nspca.progress import Report, silent
from nspca.shards.coordinates import docword, matrix_market
from nspca.shards.making import MEGABYTES, Made
from nspca.shards.reader import Shards
from nspca.shards.tables import csv, npz, parquet


def shard(
    source: str | Path,
    folder: str | Path,
    *,
    rows: int | None = None,
    megabytes: float = MEGABYTES,
    vocabulary: str | Path | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    decimal: str | None = None,
    report: Report | None = None,
) -> Shards:
    """A folder of shards of a file that need not fit into memory.

    Parameters
    ----------
    source : path
        UCI docword (plain or gzipped), Matrix Market in coordinate form (likewise), Parquet, a sparse matrix
        saved by ``scipy.sparse.save_npz``, or CSV.
    folder : path
        A new one.
    rows : int, optional
        Rows of a shard.
    megabytes : float
        About the size of a shard, where `rows` are not given.
    vocabulary : path, optional
        The words of a docword file; ``vocab.x.txt`` beside ``docword.x.txt`` is found by itself.
    id_column, label_column : str or int, optional
        Columns of a CSV or Parquet file, by name or 0-based position, that are names and groups of the
        samples: no features, as for `nspca.read`.
    decimal : "," or ".", optional
        The decimal sign of a CSV file, found by itself when not given.
    report : callable, optional
        Gets progress events and may raise `Cancelled`; then nothing is left behind.

    Returns
    -------
    Shards

    Raises
    ------
    InvalidData
        One sentence, with the line of a text that cannot be read.
    """
    if rows is not None:
        whole("rows", rows, 1)
    if isinstance(megabytes, bool) or not isinstance(megabytes, int | float) or not 0 < megabytes < 1e6:
        raise InvalidOption(f"megabytes must be a number above 0, got {megabytes!r}")
    path = Path(source)
    if not path.is_file():
        raise InvalidData(f"There is no file {path}: check the path.")
    words = None if vocabulary is None else Path(vocabulary)
    how = How(id_column=id_column, label_column=label_column, decimal=decimal)
    made = Made(path, Path(folder), rows, megabytes, report or silent, words, how)
    first = Source(path).first()
    reader = find_format(first)
    if first.startswith(b"PK\x03\x04"):
        return npz(made)
    if reader is None:
        raise InvalidData(
            f"{path} must be a docword, Matrix Market, Parquet, CSV or sparse NPZ file, got another: "
            "convert it."
        )
    return WRITERS[reader](made)


WRITERS: dict[type[Reader], Callable[[Made], Shards]] = {
    DocwordReader: docword,
    MatrixMarketReader: matrix_market,
    ParquetReader: parquet,
    DelimitedReader: csv,
}
"""The function that writes the shards of a file of each format."""
