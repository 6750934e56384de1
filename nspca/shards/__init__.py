"""Folders of shards: a table on disk in blocks of rows, read in passes and never held whole.

    manifest  shards.json: the content of the folder, with the checksums of its files
    reader    `Shards`: shape, digest and blocks of rows; every file is checked when it is first read
    writer    writes a folder, which has its name only once it is complete
    sources   `shard`: writes a folder from the blocks that a reader of `nspca.data.formats` yields
    served    the folders that an operator lets the dashboard open

A file is plain `.npy`, can be mapped into memory, and is never unpickled. Importing this package loads
`Shards` only. `sources` also loads the file readers, so it is imported where it is used.
"""

from nspca.shards.reader import Shards

__all__ = ["Shards"]
