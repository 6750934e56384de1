"""Read HDF5 by h5py: one table, or single cells in files of AnnData (.h5ad), 10x Genomics and Loom.

Only a file that the user names by a path is opened, never an upload. A cell is a sample, a gene a feature.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.dialect import are_few
from nspca.data.formats.base import Block, Format, Reader, Size
from nspca.data.formats.npz import FEATURE_NAMES, checked_rows, compressed_rows
from nspca.data.names import numbered, quote_names, unique_names
from nspca.data.roles import to_labels
from nspca.errors import InvalidData, Late, Way, shown
from nspca.validation.archive import parsing

h5py: Any = Late("h5py", "HDF5 files", "files")
MAGIC = b"\x89HDF"
MOST_NAMES = 2_000_000
"""Maximum rows of a table of cells or genes."""
_NAMED = ("X", "data", "table", "matrix")
"""Usual names of a table, tried first."""
_LOOM_GENES, _LOOM_CELLS = (
    ("Gene", "gene_names", "var_names", "Accession"),
    ("CellID", "cell_names", "obs_names"),
)
"""Usual names of what names the rows and the columns of a Loom file."""


class Hdf5Reader(Reader):
    """Reader of the dataset X or the only table of numbers, of a sparse group X, or of cells by genes.

    In a file of AnnData, the option `sheet` names another layer than X.
    """

    def _read_header(self) -> None:
        open_file = h5py.File  # a missing package is told before the file is blamed
        try:
            self.file = open_file(self.source.path, "r")
        except OSError as error:
            found = re.search(r"\(([^,:()]+)", str(error))  # of h5py: "Unable to ... (truncated file: ...)"
            reason = f" ({found[1].strip()})" if found else ""
            raise InvalidData(
                f"{self.source.called} cannot be opened as an HDF5 file{reason}: it may be damaged or cut "
                "short, get it again."
            ) from None
        with self._guarded():
            linked = self.file.visititems_links(
                lambda name, link: name if isinstance(link, h5py.ExternalLink) else None
            )
            if linked is not None:
                raise self._elsewhere(linked)
            self.is_loom = {"matrix", "row_attrs", "col_attrs"} <= set(self.file)
            self.is_anndata = {"obs", "var"} <= set(self.file)
            self.tenx = self._find_tenx()
            if self.is_loom and self.on_disk:
                raise InvalidData(
                    f"{self.source.called} is a Loom file, which has its cells in columns and is read into "
                    "memory only: save it as H5AD."
                )
            self._table = self.tenx or (self._find_layer() if self.is_anndata else self._find_table())
            self.is_sparse = isinstance(self._table, h5py.Group)
            if self.is_sparse:
                self._read_sparse_header(self._table)
            else:
                rows, columns = map(int, self._own(self._table).shape)
                self._sides = (columns, rows) if self.is_loom else (rows, columns)
                self._entries = rows * columns

    def _guarded(self) -> AbstractContextManager[None]:
        return parsing(f"{self.source.called} is damaged or of an unknown version: save it again.")

    def close(self) -> None:
        self.file.close()

    def _own(self, node: Any) -> Any:
        """Return a dataset; refuse one whose numbers are in another file, which a stranger may name."""
        if node.is_virtual or node.external:
            raise self._elsewhere(node.name.lstrip("/"))
        return node

    def _elsewhere(self, name: str) -> InvalidData:
        return InvalidData(
            f"{self.source.called} must hold its numbers itself, got {name}, which is in another file: save "
            "it in one file."
        )

    def _find_tenx(self) -> Any:
        """Return the matrix of a 10x file: the group "matrix" of version 3, or the genome of version 2."""
        groups = [one for one in self.file.values() if isinstance(one, h5py.Group)]
        found = [one for one in groups if {"barcodes", "indptr"} <= set(one)]
        if len(found) > 1:
            genomes = quote_names(one.name[1:] for one in found)
            raise InvalidData(f"The file holds the genomes {genomes}: keep one.")
        return found[0] if found else None

    def _find_layer(self) -> Any:
        """Return X, another layer of a file of AnnData, or "raw", which has genes of its own."""
        layers = dict(self.file.get("layers", {}))
        if "raw/X" in self.file:
            layers["raw"] = self.file["raw/X"]
        known = {"X": self.file["X"], **layers} if "X" in self.file else layers
        wanted = self.options.sheet or "X"
        if wanted not in known:
            ways = tuple(Way("sheet", name, f"Read the layer {name}") for name in [*known][:3])
            raise InvalidData(
                f"There is no layer {shown(wanted)}: the layers are {quote_names(known) or 'none'}.", ways
            )
        if layers and self.options.sheet is None:
            self.findings = (
                f"X was read; the file also has the layers {quote_names(layers)} (option sheet).",
            )
        return known[wanted]

    def _find_table(self) -> Any:
        if isinstance(self.file.get("X"), h5py.Group):
            return self.file["X"]
        members: list[Any] = []
        self.file.visititems(
            lambda name, node: members.append(node) if isinstance(node, h5py.Dataset) else None
        )
        tables = {node.name[1:]: node for node in members if _is_table(node)}
        name = next((name for name in _NAMED if name in tables), None)
        if (name is None and len(tables) != 1) or (name != "X" and "X" in self.file):
            others = [_describe(node) for node in members if not _is_table(node)]
            no_tables = f", and it also holds {', '.join(others[:8])}" if others else ""
            raise InvalidData(
                f"{self.source.called} must hold a table X, or exactly one table of numbers; its tables are "
                f"{', '.join(sorted(tables)[:8]) or 'none'}{no_tables}: save the table as X."
            )
        name = name or next(iter(tables))
        if name != "X" and not self.is_loom:
            self.findings = (f'The table "{name}" was taken.',)
        return tables[name]

    def _read_sparse_header(self, group: Any) -> None:
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        kind = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
        if self.tenx is not None:  # 10x writes features in rows, by columns: its columns are the cells
            shape, kind = self._own(group["shape"])[()][::-1], "csr"
        self._by_columns = kind.startswith("csc")
        parts = [self._own(group[name]) for name in ("data", "indices", "indptr") if name in group]
        is_known = kind.startswith("csr") or (self._by_columns and not self.on_disk)
        if shape is None or len(shape) != 2 or len(parts) < 3 or not is_known:
            raise InvalidData(
                f"{self.source.called} must hold X as a table or as a sparse matrix by rows (csr_matrix), "
                f"got {kind or 'another group'}: save it so."
            )
        self._sides, self._entries = (int(shape[0]), int(shape[1])), int(parts[0].shape[0])
        self._parts = parts[0], parts[1], parts[2]

    @property
    def shape(self) -> Size:
        return Size(*self._sides, self._entries, sparse=self.is_sparse)

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        count, columns = self._sides
        misfit = InvalidData(
            f"The parts of the sparse matrix of {self.source.called} do not fit: save it again."
        )
        if self.is_sparse and self._by_columns:
            (X,) = compressed_rows(*self._parts, (columns, count), misfit)
            yield Block(sp.csr_array(X.T))
        elif self.is_sparse:
            yield from map(Block, compressed_rows(*self._parts, self._sides, misfit, rows))
        elif not self.on_disk:
            X = self._read(slice(None))
            yield Block(X.T if self.is_loom else X)
        else:
            step = max(1, rows or count)
            for start in range(0, max(1, count), step):  # one empty block of a table without rows
                numbers = self._read(slice(start, min(start + step, count)))
                yield Block(checked_rows(numbers, start, self.source))

    def _read(self, where: slice) -> np.ndarray:
        try:
            return np.asarray(self._table[where])
        except OSError:
            raise InvalidData(
                f"{self.source.called} is damaged, its {self._table.name.lstrip('/')} cannot be read: get it "
                "again."
            ) from None

    def feature_names(self) -> Sequence[str] | None:
        if self.is_anndata:
            genes = self.file["raw/var" if self._table.name == "/raw/X" else "var"]
            return unique_names(self._read_frame(genes)[0], "feature")[0]
        if self.is_loom:
            return unique_names(self._read_attributes("row_attrs", _LOOM_GENES)[0], "feature")[0]
        if self.tenx is not None:
            names = self.tenx["features/name"] if "features" in self.tenx else self.tenx["gene_names"]
            return unique_names(self._texts(names), "feature")[0]
        for name in FEATURE_NAMES:
            node = self.file.get(name)
            if node is not None and getattr(node, "shape", None) == (self._sides[1],):
                return unique_names(self._texts(node), "feature")[0]
        return None

    def _find_cells(self) -> tuple[list[str], dict[str, list[str]]] | None:
        """Return the names of the cells and the columns about them; None for a table of something else."""
        if self.is_anndata:
            return self._read_frame(self.file["obs"])
        if self.is_loom:
            return self._read_attributes("col_attrs", _LOOM_CELLS)
        return (self._texts(self.tenx["barcodes"]), {}) if self.tenx is not None else None

    def about(self) -> dict[str, Any]:
        """Return names, and columns about the cells; those with few values are groups."""
        with self._guarded():
            cells, features = self._find_cells(), self.feature_names()
            has_types = self.tenx is not None and "features/feature_type" in self.tenx
            types = sorted({*self._texts(self.tenx["features/feature_type"])} if has_types else ())
        names, columns = cells or ([*numbered("sample", self._sides[0])], {})
        features = features or numbered("feature", self._sides[1])
        if (len(names), len(features)) != self._sides:
            rows, count = self._sides
            raise InvalidData(
                f"X is {rows} x {count}, and {len(names)} cells and {len(features)} genes are named: save it "
                "again."
            )
        samples, renamed = unique_names(names, "sample")
        if len(types) > 1:
            renamed += (f"The features are of several types, all kept: {quote_names(types)}.",)
        wanted = self.options.label_column
        groups = {
            name: to_labels(values)
            for name, values in columns.items()
            if name == wanted or are_few(len(set(values)), len(values))
        }
        said = [*self.findings, *renamed]
        if left := [name for name in columns if name not in groups]:
            said.append(f"Columns about the cells that are no groups were left out: {quote_names(left)}.")
        return {
            "feature_names": features,
            "sample_names": samples,
            "label_columns": groups,
            "findings": said,
        }

    def _read_frame(self, node: Any) -> tuple[list[str], dict[str, list[str]]]:
        """Return the index and the columns of a data frame of AnnData."""
        if not hasattr(node, "keys"):  # before AnnData 0.7: one array with fields
            rows = self._own(node)[()]
            fields = list(rows.dtype.names)
            first = next((name for name in ("index", "_index") if name in fields), fields[0])
            return _words(rows[first]), {name: _words(rows[name]) for name in fields if name != first}
        index = node.attrs.get("_index", "_index")
        names = self._texts(node[index])
        columns = {
            name: self._texts(node[name], node.get("__categories", {}).get(name))
            for name in node
            if name not in (index, "__categories")
        }
        return names, {name: cells for name, cells in columns.items() if len(cells) == len(names)}

    def _read_attributes(self, side: str, usual: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
        """Return the names of the rows or columns of a Loom file, and what else is said about them."""
        about = {name: self._texts(node) for name, node in self.file[side].items() if len(node.shape) == 1}
        first = next((name for name in usual if name in about), None)
        count = self._sides[side == "row_attrs"]
        names = about.pop(first) if first else [*numbered("gene" if side == "row_attrs" else "cell", count)]
        return names, about

    def _texts(self, node: Any, categories: Any = None) -> list[str]:
        """Return a column as texts: an array, codes with categories, or values with a mask."""
        if hasattr(node, "keys"):
            if "codes" in node:
                return self._texts(node["codes"], node["categories"])
            masked = zip(self._texts(node["values"]), self._own(node["mask"])[()].tolist(), strict=True)
            return ["" if out else value for value, out in masked]
        if node.size > MOST_NAMES:
            raise InvalidData(f"At most {MOST_NAMES:,} names are read, not {node.size:,}: keep fewer.")
        values = self._own(node)[()]
        if categories is None:
            return _words(values)
        names = self._texts(categories)
        return [names[code] if 0 <= code < len(names) else "" for code in values.tolist()]


def _is_table(node: Any) -> bool:
    """Tell whether a dataset is a 2-D table of numbers; an empty one has no shape."""
    return node.shape is not None and len(node.shape) == 2 and node.dtype.kind in "biuf"


def _describe(node: Any) -> str:
    lengths = " x ".join(map(str, node.shape or ())) or ("empty" if node.shape is None else "one value")
    return f"{node.name.lstrip('/')} ({lengths}, {node.dtype})"


def _words(values: Any) -> list[str]:
    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for value in values.tolist()
    ]


FORMAT = Format(
    "an HDF5 file",
    lambda source: source.path is not None and source.first().startswith(MAGIC),
    reader=Hdf5Reader,
)
