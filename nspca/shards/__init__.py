"""Folders of shards: a table on disk in blocks of rows, read in passes and never held whole.

    manifest   shards.json: what the folder holds, and the checksums of its files
    reader     `Shards`: shape, digest and blocks of rows; every file is checked when it is first read
    writer     the way into a folder, which has its name only once it is whole
    served     the folders that an operator lets the dashboard open
    entries    entries in any order, on disk until they are rows
    sources    which file is what; coordinates (docword, Matrix Market) and tables (Parquet, CSV, NPZ) read
               it in pieces; texts: pieces of a long CSV; aside: what becomes of columns that are no features

A file is plain `.npy`, can be mapped into memory, and is never unpickled. `Shards` is imported with the room;
what makes a folder (`sources`) brings in the parsers of `nspca.data`, so it is imported where it is used.
"""

from nspca.shards.reader import Shards

__all__ = ["Shards"]
