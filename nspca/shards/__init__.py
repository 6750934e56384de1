"""Folders of shards: a table on disk as one matrix in compressed rows, read in passes and never held whole.

    reader    `Shards`, and its record meta.json: size, names, digest. What is read is checked the first time
    writer    writes a folder, which has its name only once it is complete
    sources   `shard`: writes a folder from the blocks that a reader of `nspca.data.formats` yields
    served    the folders that an operator lets the dashboard open

Files are plain `.npy`, can be mapped into memory, and are never unpickled. Importing this package loads
`Shards` only. `sources` also loads the file readers, so it is imported where it is used.
"""

from nspca.shards.reader import Shards

__all__ = ["Shards"]
