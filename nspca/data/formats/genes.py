"""Tables of genes or proteins: GCT, GEO series matrices, and the tables of counting and search programs.

In all of them a row is a gene and the columns beside the samples describe the gene. `convert` recognises the
format by its first lines, and returns a table that has the names of the genes and the samples alone.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from nspca.data.formats.converted import Converted
from nspca.data.formats.strings import quote_names, short_name
from nspca.data.limits import Files, check_dense, plain_bytes
from nspca.errors import InvalidData

_ROWS = {"features_in_rows": True, "header": True, "id_column": 0}
"""Options of reading that hold for a converted table."""
_GEO_TABLE = re.compile(rb'^"?!series_matrix_table_begin"?[^\n]*\n', re.MULTILINE | re.IGNORECASE)
_GEO_END = re.compile(rb'^"?!series_matrix_table_end', re.MULTILINE | re.IGNORECASE)
_HTSEQ = ("__no_feature", "__ambiguous", "__too_low_aqual", "__not_aligned", "__alignment_not_unique")
_STAR = ("n_unmapped", "n_multimapping", "n_nofeature", "n_ambiguous")
_HEAD = 2**16
"""Bytes at the beginning of a file that its format is found from."""
_TAIL = 2**12
"""Bytes at the end of a file that may hold the summary rows of HTSeq."""


@dataclass(frozen=True)
class _Kind:
    """A kind of table that is known by its header.

    Parameters
    ----------
    called : str
    needs : tuple of str
        Columns that the header begins with, in lower case, as patterns.
    ids : tuple of str
        Columns that name the genes or proteins, the best first.
    values : tuple of str
        Patterns of the sample columns, the best first; `()` takes every column that is not in `aside`. The
        first group of a pattern is the name of the sample.
    aside : str
        Pattern of the columns that describe the gene.
    marks : str
        Pattern of the columns in which a ``+`` leaves the row out.
    left : str
        Pattern of first cells that leave the row out.
    """

    called: str
    needs: tuple[str, ...]
    ids: tuple[str, ...]
    values: tuple[str, ...] = ()
    aside: str = ""
    marks: str = ""
    left: str = ""


_KINDS = (
    _Kind(
        "featureCounts",
        ("geneid", "chr", "start", "end", "strand", "length"),
        ("geneid",),
        aside="geneid|chr|start|end|strand|length|gene_(name|symbol|biotype|type)",
    ),
    _Kind(
        "MaxQuant",
        ("(majority )?protein ids", ".*"),
        ("majority protein ids", "protein ids"),
        (
            "lfq intensity (.+)",
            "reporter intensity corrected (.+)",
            "intensity (.+)",
            "ibaq (?!peptides)(.+)",
        ),
        marks="reverse|(potential )?contaminant|only identified by site",
        left="(rev|con)__.*",
    ),
    _Kind(
        "FragPipe",
        ("protein", "protein id", "entry name", "gene"),
        ("protein id",),
        ("(.+) maxlfq intensity", "(.+?)(?<! total)(?<! unique)(?<! razor) intensity", "(.+) spectral count"),
        left="(rev|contam)_.*",
    ),
    _Kind(
        "DIA-NN",
        ("protein.group", "(protein.ids|protein.names)"),
        ("protein.group",),
        aside=r"protein\.(group|ids|names)|genes|first\.protein\.description|n\.(proteotypic\.)?sequences",
    ),
    _Kind(
        "genes with two names",
        (
            "(ensembl_)?(gene|transcript)_?id|ensembl|geneid|tx_?id",
            "(gene_?)?(name|symbol)|gene_id|hgnc_symbol|description",
        ),
        ("gene_id", "geneid", "gene", "ensembl", "ensembl_gene_id"),
        aside="(ensembl_)?(gene|transcript|tx)_?(id|name|symbol|biotype|type)?|ensembl|symbol|name|hgnc_symbol"
        "|description|(effective_)?length|entrez(_?id)?|chr|chrom|chromosome|start|end|strand",
    ),
)


def convert(raw: bytes, kept: Sequence[str] | None = None) -> Converted | None:
    """Return a table of genes in UTF-8 as a plain table; None for any other text.

    `kept` are names of the sample columns, if the user chose them; by default the format decides.
    """
    head = raw[:_HEAD]
    if head.startswith((b"#1.2", b"#1.3")):
        return _convert_gct(raw)
    if head[:_HEAD].lstrip(b' \r\n\t"').lower().startswith((b"!series_", b"!sample_")):
        return _convert_geo(raw)
    lines = (line for line in head.splitlines() if not line.startswith(b"#"))
    first = next(lines, b"")
    delimiter = "\t" if b"\t" in first else ","
    header = next(csv.reader([first.decode(errors="replace")], delimiter=delimiter), [])
    plain = [_plain(cell) for cell in header]
    for kind in _KINDS:
        fits = len(plain) > len(kind.needs) and all(map(re.fullmatch, kind.needs, plain))
        found = _select(kind, plain, kept) if fits else None
        if found is not None:
            return _convert_known(raw, delimiter, header, kind, *found)
    ends = raw[-_TAIL:].lower()
    if (
        sum(name.encode() in ends for name in _HTSEQ) > 1
        or sum(name.encode() in head.lower() for name in _STAR) > 1
    ):
        return _convert_counts(raw, delimiter)
    return None


def _plain(cell: str) -> str:
    """Return a column name in lower case. R writes dots for blanks."""
    cell = " ".join(cell.split()).lower()
    return (
        cell.replace(".", " ")
        if cell.startswith(("lfq.", "majority.", "protein.ids", "intensity."))
        else cell
    )


def _select(
    kind: _Kind, plain: Sequence[str], kept: Sequence[str] | None
) -> tuple[int, dict[int, str]] | None:
    """Return the number of the column of names, and of each sample column with its pattern."""
    ids = next((plain.index(name) for name in kind.ids if name in plain), 0)
    if kept is not None:
        return ids, {i: "(.+)" for i, name in enumerate(plain) if name in {_plain(one) for one in kept}}
    if not kind.values:
        samples = {i: "(.+)" for i, name in enumerate(plain) if not re.fullmatch(kind.aside, name)}
        return (ids, samples) if len(samples) > 1 else None
    for pattern in kind.values:
        samples = {i: pattern for i, name in enumerate(plain) if re.fullmatch(pattern, name)}
        if len(samples) > 1:
            return ids, samples
    return None


def _convert_known(
    raw: bytes, delimiter: str, header: Sequence[str], kind: _Kind, ids: int, samples: dict[int, str]
) -> Converted:
    """Return the names and the sample columns of a table of a known kind."""
    plain = [_plain(cell) for cell in header]
    marks = [i for i, name in enumerate(plain) if kind.marks and re.fullmatch(kind.marks, name)]
    names = [_sample(header[i], pattern) for i, pattern in samples.items()]
    left = re.compile(kind.left or "(?!)", re.IGNORECASE)
    out, zeros, marked = [[header[ids], *names]], 0, 0
    for row in _rows(raw, delimiter, len(header)):
        if any(row[i].strip() == "+" for i in marks) or left.fullmatch(row[0]) or left.fullmatch(row[ids]):
            marked += 1
            continue
        cells = [row[i] for i in samples]
        zeros += sum(cell in ("0", "0.0") for cell in cells)
        out.append([row[ids], *cells])
    aside = [name for i, name in enumerate(header) if i != ids and i not in samples]
    notes = [
        f"A table of {kind.called}: the genes are the features, the {len(samples)} samples are its rows."
    ]
    if kind.values:
        notes[0] = (
            f"A protein table of {kind.called}: the proteins are the features, and the {len(samples)} columns "
            f'such as "{header[next(iter(samples))]}" are the samples (option columns takes others).'
        )
    if aside:
        notes.append(f"Columns that are no samples were set aside: {quote_names(aside)}.")
    if marked:
        notes.append(
            f"{marked} rows of decoys and contaminants (reverse, contaminant, by site) were left out."
        )
    if kind.values and zeros > len(out):
        notes.append(
            f"{zeros / max(1, (len(out) - 1) * len(samples)):.0%} of the values are 0, which means not measured "
            "in such a table (option missing_codes takes 0 for missing)."
        )
    return _table(out, tuple(notes))


def _sample(column: str, pattern: str) -> str:
    """Return the name of a sample from that of its column, without the words of the program and its path."""
    found = re.fullmatch(pattern, _plain(column))
    name = column[found.start(1) : found.end(1)] if found and found.re.groups else column
    path = PurePosixPath(name.replace("\\", "/"))
    return path.stem if path.suffix.lower() in (".bam", ".sam", ".raw", ".mzml", ".d") else name


def _rows(raw: bytes, delimiter: str, width: int) -> Iterator[list[str]]:
    """Yield the rows below the header; refuse one of another width."""
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    rows = csv.reader((line for line in lines if not line.startswith("#")), delimiter=delimiter)
    try:
        next(rows)
        for number, row in enumerate(rows, 1):
            if not any(map(str.strip, row)):
                continue
            if len(row) > width:
                raise InvalidData(
                    f"Row {number} below the header has {len(row)} cells, the header {width} names."
                )
            check_dense(number, width)
            yield row + [""] * (width - len(row))
    except csv.Error as error:
        raise InvalidData(f"The table cannot be split into cells ({error}): save it again.") from None


def _table(rows: Sequence[Sequence[str]], notes: tuple[str, ...], **labels: Sequence[str]) -> Converted:
    """Return rows, the header first, as a converted table with genes in rows."""
    if len(rows) < 3:
        raise InvalidData("The table holds no rows of genes: at least two are needed.")
    stream = io.StringIO()
    csv.writer(stream, delimiter="\t", lineterminator="\n").writerows(rows)
    return Converted(stream.getvalue().encode(), "\t", _ROWS, labels, notes)


def _convert_gct(raw: bytes) -> Converted:
    """Return a GCT file, version 1.2 or 1.3, without its descriptions; those of samples become labels."""
    lines = raw.split(b"\n", 2)
    sizes = (
        [int(word) for word in lines[1].split() if word.isdigit() and len(word) < 10]
        if len(lines) > 2
        else []
    )
    if len(sizes) < 2:
        raise InvalidData(
            "The second line of a GCT file holds the numbers of rows and columns: save it again."
        )
    genes, count, described, groups = [*sizes[:4], 1, 0][:4] if len(sizes) < 4 else sizes[:4]
    check_dense(genes, count)
    header = next(csv.reader([lines[2].split(b"\n", 1)[0].decode().rstrip("\r")], delimiter="\t"), [])
    if len(header) != 1 + described + count:
        raise InvalidData(
            f"The GCT file says {count} samples and {described} columns about the genes, and its header has "
            f"{len(header)} names: save it again."
        )
    kept = [0, *range(1 + described, len(header))]
    rows = [[row[i] for i in kept] for row in _rows(lines[2], "\t", len(header))]
    if len(rows) != genes + groups:
        raise InvalidData(
            f"The GCT file says {genes} rows and holds {len(rows) - groups}: it may be cut short, get it again."
        )
    notes: tuple[str, ...] = (
        f"A GCT file: its {genes} genes are the features, its {count} samples the rows.",
    )
    if described:
        notes += (f"Columns about the genes were set aside: {quote_names(header[1 : 1 + described])}.",)
    found = {row[0]: row[1:] for row in rows[:groups] if 1 < len(set(row[1:])) < count}
    return _table([[header[i] for i in kept], *rows[groups:]], notes, **found)


def _convert_geo(raw: bytes) -> Converted:
    """Return the table of a GEO series matrix; what its ``!Sample_`` lines say becomes labels."""
    begin = _GEO_TABLE.search(raw)
    if begin is None:
        raise InvalidData("The GEO file holds no table (!series_matrix_table_begin): get the series matrix.")
    end = _GEO_END.search(raw, begin.end())
    if end is None:
        raise InvalidData("The GEO series matrix is cut short, its table has no end: get it again.")
    body = raw[begin.end() : end.start()]
    header = next(csv.reader([body[: body.find(b"\n")].decode().rstrip("\r")], delimiter="\t"), [])
    rows = [header, *_rows(body, "\t", len(header))]
    if len(rows) < 3:
        raise InvalidData(
            "This GEO series matrix describes samples and holds no numbers, as for sequencing: read the table of "
            "counts among the supplementary files of the series."
        )
    labels: dict[str, list[str]] = {}
    for name, cells in _sample_lines(raw[: begin.start()], len(header) - 1):
        if 1 < len(set(cells)) < len(cells):
            labels.setdefault(name, cells)
    notes = (f"A GEO series matrix: its probes are the features, its {len(header) - 1} samples the rows.",)
    return _table(rows, notes, **labels)


def _sample_lines(raw: bytes, count: int) -> Iterator[tuple[str, list[str]]]:
    """Yield name and cells of what a GEO file says of each sample.

    A characteristic is written as ``key: value``. Each key is a column, wherever it stands.
    """
    text = io.StringIO(raw.decode(errors="replace"), newline="")
    found: dict[str, list[str]] = {}
    for row in csv.reader(text, delimiter="\t"):
        if len(row) != count + 1 or not row[0].startswith("!Sample_"):
            continue
        name, cells = row[0].removeprefix("!Sample_"), row[1:]
        if not name.startswith("characteristics"):
            found.setdefault(name, cells)
            continue
        for i, cell in enumerate(cells):
            key, _, value = cell.partition(":")
            found.setdefault(key.strip() or name, [""] * count)[i] = value.strip() or cell
    yield from sorted(found.items(), key=lambda one: one[0] in ("title", "source_name_ch1"))


def _convert_counts(raw: bytes, delimiter: str) -> Converted:
    """Return counts of HTSeq or STAR of several samples without the rows that count no gene."""
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    rows = [row for row in csv.reader(lines, delimiter=delimiter) if any(row)]
    kept = [row for row in rows if row[0].lower() not in (*_HTSEQ, *_STAR)]
    width = max(map(len, kept), default=0)
    check_dense(len(kept), width)
    named = not all(cell.strip().isdigit() for cell in kept[0][1:]) if kept else True
    samples = width - 1 if not _is_star(kept[0], rows) else 1
    if samples < 2:
        raise InvalidData(
            "These are the counts of one sample, and at least two are needed: give a ZIP or a folder with the "
            "files of all samples."
        )
    if named and len(kept[0]) == width - 1:
        kept[0].insert(0, "gene")
    header = [] if named else [["gene", *(f"sample {i}" for i in range(1, width))]]
    notes = (
        f"A table of counts: the genes are the features, the {width - 1} samples the rows.",
        f"{len(rows) - len(kept)} rows that count no gene ({rows[-1][0] if rows[-1] not in kept else rows[0][0]} "
        "and the like) were left out.",
    )
    return _table([*header, *kept], notes)


def _is_star(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are a file of STAR: one sample, counted in three ways."""
    return len(row) == 4 and rows[0][0].lower() in _STAR


def merge_counts(files: Files) -> Converted | None:
    """Return the counts of several samples, one in each file of HTSeq or STAR; None for other files."""
    found: list[tuple[str, list[str], list[str]]] = []
    star = False
    for label, read in files:
        raw = plain_bytes(read())
        if not any(
            name in (raw[:_TAIL] + raw[-_TAIL:]).lower() for name in map(str.encode, (*_HTSEQ, *_STAR))
        ):
            return None
        rows = [line.split("\t") for line in raw.decode(errors="replace").splitlines() if line.strip()]
        star = len(rows[0]) == 4
        rows = [row for row in rows if row[0].lower() not in (*_HTSEQ, *_STAR) and len(row) > 1]
        if rows and not rows[0][1].strip().isdigit():
            rows = rows[1:]
        name = re.sub(
            r"[._-]?(ReadsPerGene\.out|htseq|counts?)?\.(tab|tsv|txt|csv|counts?)(\.gz)?$",
            "",
            short_name(label),
        )
        found.append((name, [row[0] for row in rows], [row[1] for row in rows]))
        check_dense(len(rows), len(found))
    if len(found) < 2:
        return None
    genes = found[0][1]
    for name, others, _ in found:
        if others != genes:
            raise InvalidData(
                f'All files of counts must name the same genes in one order, "{name}" names others.'
            )
    numbers = np.array([counts for _, _, counts in found], dtype=object).T
    notes = (
        f"The files of {len(found)} samples were joined: their genes are the features.",
        "Rows that count no gene (not mapped, ambiguous and the like) were left out.",
    )
    if star:
        notes += ("STAR counts in three ways; the first, for libraries without strands, was taken.",)
    rows = [
        ["gene", *(name for name, _, _ in found)],
        *([g, *row] for g, row in zip(genes, numbers, strict=True)),
    ]
    return _table(rows, notes)
