"""Tables of genes or proteins: GCT, GEO series matrices, and the tables of counting and search programs.

A row is a gene in all of them, and some columns describe the gene. The format is recognised by its first
lines, and converted to a table that has the names of the genes and the samples alone.
"""

import csv
import io
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import pandas as pd

from nspca.data.encodings import as_utf8
from nspca.data.findings import Finding, suspicion
from nspca.data.formats.base import Converted, Format, Source, Strings
from nspca.data.formats.strings import read_frame, short_name, visible
from nspca.data.limits import Files, check_dense, plain_bytes
from nspca.data.names import quote_names
from nspca.data.options import ReadOptions
from nspca.data.roles import match_items
from nspca.errors import InvalidData, Way

_ROWS = {"features_in_rows": True, "header": True, "id_column": 0}
"""Options of reading that hold for a converted table."""
_GCT = (b"#1.2", b"#1.3")
_GEO = re.compile(rb'\s*"?!(Series|Sample)_')
_GEO_TABLE = re.compile(rb'^"?!series_matrix_table_begin"?[^\n]*\n', re.MULTILINE | re.IGNORECASE)
_GEO_END = re.compile(rb'^"?!series_matrix_table_end', re.MULTILINE | re.IGNORECASE)
_HTSEQ = (b"__no_feature", b"__ambiguous", b"__too_low_aqual", b"__not_aligned", b"__alignment_not_unique")
_STAR = (b"n_unmapped", b"n_multimapping", b"n_nofeature", b"n_ambiguous")
"""Names of the rows of HTSeq (below) and STAR (above) that count no gene, in lower case."""
_NO_GENES = [name.decode() for name in (*_HTSEQ, *_STAR)]
_COMMENTS = re.compile(rb"\A((#|\t\t|,,)[^\n]*\n)+")
"""Comments above a header, and lines about the samples without cells about the rows, as of MS-DIAL."""
_PERSEUS = re.compile(rb"[^\n]*\n#!\{Type\}")
"""The beginning of a table of Perseus, with a line of the types of its columns below the header."""
_COUNTS_ENDS = (".tab", ".tsv", ".txt", ".count", ".counts", ".gz")
_COUNTS_NAME = re.compile(
    r"[._-]?(quant(\.genes)?\.sf|abundance\.tsv|(genes|isoforms)\.results"
    r"|(ReadsPerGene\.out|htseq(_counts?)?|(feature)?counts?)?\.(tab|tsv|txt|counts?))(\.gz)?$",
    re.IGNORECASE,
)
"""The end of the name of a file of counts, after the name of the sample."""
_ESTIMATES = ("quant.sf", "quant.genes.sf", "abundance.tsv", ".genes.results", ".isoforms.results")
"""Ends of the names of files of Salmon, kallisto and RSEM, which write other files beside them."""
_COUNTED = (("name", "numreads"), ("target_id", "est_counts"), ("gene_id", "expected_count"),
            ("transcript_id", "expected_count"))  # fmt: skip
"""Their columns of names and of counts, in lower case."""
_OTHERS = {"ibaq": "iBAQ", "intensity": "Intensity", "reporter": "Reporter intensity"}
_HEAD = 2**16
"""Bytes at the beginning of a file that its format is found from."""
_TAIL = 2**12
"""Bytes at the end of a file that may hold the summary rows of HTSeq."""


@dataclass(frozen=True)
class _Kind:
    """A kind of table that is known by its header, as genes.toml describes it."""

    called: str
    needs: Sequence[str]
    ids: Sequence[str]
    values: Sequence[str] = ()
    aside: str = ""
    marks: str = ""
    left: str = ""


_TABLE = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
_KINDS = [_Kind(**kind) for kind in tomllib.loads(_TABLE)["kinds"]]


def convert(source: Source, options: ReadOptions) -> Converted:
    """Return a table of genes or proteins as a plain table with the genes in rows."""
    text, findings = as_utf8(source.raw, options.encoding)
    found = convert_text(text, options)
    if found is None:  # what `matches` has seen is gone in the text
        raise InvalidData("The table of genes is damaged: get it again.")
    return replace(found, findings=(*findings, *found.findings))


def convert_text(raw: bytes, options: ReadOptions) -> Converted | None:
    """Return a table of genes in UTF-8 as a plain table; None for any other text.

    The format decides which columns name the genes and which are samples, unless the user chose them.
    """
    head = raw[:_HEAD]
    if head.startswith(_GCT):
        return _convert_gct(raw)
    if _GEO.match(head):
        return _convert_geo(raw)
    if _PERSEUS.match(head):
        return _convert_perseus(raw)
    found = _find_kind(head, options.columns, options.id_column)
    if found is not None:
        return _convert_known(raw, *found)
    return _convert_counts(raw, _read_header(head)[0]) if _has_summary(head, raw[-_TAIL:]) else None


def _find_kind(
    head: bytes, kept: Sequence[str | int] = (), named: str | int | None = None
) -> tuple[str, list[str], _Kind, int, dict[int, str]] | None:
    """Return delimiter, header, kind, column of names and sample columns of a table of a known kind."""
    delimiter, header = _read_header(head)
    plain = [_plain(cell) for cell in header]
    for kind in _KINDS:
        if len(plain) > len(kind.needs) and all(map(re.fullmatch, kind.needs, plain)):
            found = _select(kind, header, plain, kept, named)
            if found is not None:
                return delimiter, header, kind, *found
    return None


def _read_header(head: bytes) -> tuple[str, list[str]]:
    """Return delimiter and cells of the first line that is no comment."""
    lines = (line for line in _COMMENTS.sub(b"", head).split(b"\n") if line.strip() and line[:1] != b"#")
    first = next(lines, b"").decode(errors="replace").rstrip("\r")
    delimiter = "\t" if "\t" in first else ","
    try:
        return delimiter, next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        return delimiter, []


def _has_summary(head: bytes, tail: bytes) -> bool:
    """Tell whether a text has the rows of HTSeq or STAR that count no gene."""
    head, tail = head.lower(), tail.lower()
    return (
        _is_estimate(head)
        or any(b"\n" + name in tail for name in _HTSEQ)
        or sum(map(head.__contains__, _STAR)) > 1
    )


def _is_estimate(head: bytes) -> bool:
    """Tell whether a text has the header of what Salmon, kallisto or RSEM estimate of one sample."""
    return any({*pair} <= {*_read_header(head.lower())[1]} for pair in _COUNTED)


def _plain(cell: str) -> str:
    """Return a column name in lower case. R writes dots for blanks."""
    cell = " ".join(cell.split()).lower()
    return (
        cell.replace(".", " ")
        if cell.startswith(("lfq.", "majority.", "protein.ids", "intensity."))
        else cell
    )


def _select(
    kind: _Kind,
    header: Sequence[str],
    plain: Sequence[str],
    kept: Sequence[str | int],
    named: str | int | None,
) -> tuple[int, dict[int, str]] | None:
    """Return the number of the column of names, and of each sample column with its pattern."""
    usual = next((plain.index(name) for name in kind.ids if name in plain), 0)
    ids = header.index(named) if named in header else usual
    if kept:
        return ids, {i: "" for i in match_items(header, kept, "column") if i != ids}
    if not kind.values:
        samples = {i: "" for i, name in enumerate(plain) if not re.fullmatch(kind.aside, name) and i != ids}
        return (ids, samples) if len(samples) > 1 else None
    found = [
        {i: pattern for i, name in enumerate(plain) if re.fullmatch(pattern, name)} for pattern in kind.values
    ]
    samples = next((one for one in found if len(one) > 1), max(found, key=len))
    return (ids, samples) if samples else None


def _convert_known(
    raw: bytes, delimiter: str, header: Sequence[str], kind: _Kind, ids: int, samples: dict[int, str]
) -> Converted:
    """Return the names and the sample columns of a table of a known kind; lines above may group these."""
    comments = _COMMENTS.match(raw)
    above = [
        line.rstrip("\r").split(delimiter) for line in ((comments and comments[0].decode()) or "").split("\n")
    ]
    above = [row for row in above if len(row) == len(header)]
    sums = {i for row in above for i, cell in enumerate(row) if cell in ("Average", "Stdev")}
    samples = {i: pattern for i, pattern in samples.items() if i not in sums}
    if len(samples) < 2:
        named = quote_names(header[i] for i in samples)
        raise InvalidData(
            f"{kind.called} must have two samples at least, and this has {named} alone: export the table of "
            "all samples, or name their columns (option columns)."
        )
    rows = read_frame(_COMMENTS.sub(b"", raw), delimiter).iloc[1:]
    # By `re`: texts held by Arrow know no pattern that looks ahead.
    left = re.compile(kind.left or "(?!)", re.IGNORECASE)
    out = rows[[0, ids]].map(lambda cell: left.fullmatch(str(cell)) is not None).any(axis=1)
    for i, name in enumerate(map(_plain, header)):
        if kind.marks and re.fullmatch(kind.marks, name):
            out |= rows[i].str.strip() == "+"
    kept = rows.loc[~out, [ids, *samples]]
    aside = [name for i, name in enumerate(header) if i != ids and i not in samples]
    taken = quote_names((header[i] for i in samples), 1)
    findings = [
        Finding(f"{kind.called}: its rows are the features, its {len(samples)} samples the rows ({taken})")
    ]
    if aside:
        kinds = (_plain(name).partition(" ") for name in aside)
        others = sorted({kind for kind, blank, _ in kinds if blank} & {*_OTHERS})
        ways = tuple(
            Way("columns", (f"{_OTHERS[name]} *",), f"Take the columns {_OTHERS[name]}") for name in others
        )
        ways += tuple(
            Way("id_column", name, f"Name the rows by {name}")
            for name in aside
            if re.fullmatch(r"(gene|hgnc)?[_ ]?(name|symbol)s?", _plain(name))
        )
        findings.append(
            Finding(f"Columns that are no samples were set aside: {quote_names(aside)}", ways=ways)
        )
    if out.any():
        findings.append(Finding(f"Rows of decoys and contaminants were left out: {out.sum()}"))
    zeros = int(kept.isin(["0", "0.0"]).to_numpy().sum())
    if kind.values and zeros > len(kept):
        findings.append(
            suspicion(
                f"{zeros / (len(kept) * len(samples)):.0%} of the values are 0, which in such a table means "
                "not measured",
                Way("missing_codes", (0.0,), "Take 0 for missing"),
            )
        )
    names = [_sample(header[i], pattern) for i, pattern in samples.items()]
    about = {row[min(samples) - 1] or "group": [row[i] for i in samples] for row in above}
    return _table([header[ids], *names], kept, findings, _groups(about))


def _sample(column: str, pattern: str) -> str:
    """Return the name of a sample from that of its column, without the words of the program and its path."""
    found = re.fullmatch(pattern, _plain(column))
    name = column[found.start(1) : found.end(1)] if found and found.re.groups else column
    path = PurePosixPath(name.replace("\\", "/"))
    return path.stem if path.suffix.lower() in (".bam", ".sam", ".raw", ".mzml", ".d") else name


def _table(
    header: Sequence[str],
    rows: pd.DataFrame,
    findings: Iterable[Finding],
    labels: Mapping[str, Sequence[str]] | None = None,
) -> Converted:
    """Return a table with genes in rows, the names first; `labels` are groups of the samples."""
    if len(rows) < 2:
        raise InvalidData("The table holds no rows of genes: at least two are needed.")
    text = rows.to_csv(sep="\t", index=False, header=[*header], lineterminator="\n")
    annotation = None
    if labels:
        annotation = Strings(("sample", *labels), [[*header[1:]], *map(list, labels.values())])
    return Converted(text.encode(), "\t", _ROWS, annotation, tuple(findings))


def _groups(labels: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return what is said of the samples, where it groups them."""
    return {name: [*cells] for name, cells in labels.items() if 1 < len(set(cells)) < len(cells)}


def _convert_gct(raw: bytes) -> Converted:
    """Return a GCT file, version 1.2 or 1.3, without its descriptions; those of samples become labels."""
    lines = raw.split(b"\n", 2)
    words = lines[1].split() if len(lines) > 2 else []
    sizes = [int(word) for word in words if word.isdigit() and len(word) < 10]
    if len(sizes) not in (2, 4):
        raise InvalidData("Line 2 of a GCT file holds the numbers of rows and columns: save it again.")
    genes, count, described, groups = sizes if len(sizes) == 4 else (*sizes, 1, 0)
    check_dense(genes, count)
    header = _read_header(lines[2].split(b"\n", 1)[0])[1]
    if len(header) != 1 + described + count:
        raise InvalidData(
            f"The GCT file says {count} samples and {described} columns about the genes, and its header has "
            f"{len(header)} names: save it again."
        )
    kept = [0, *range(1 + described, len(header))]
    rows = read_frame(lines[2], "\t").iloc[1:][kept]
    if len(rows) != genes + groups:
        raise InvalidData(
            f"The GCT file says {genes} genes and holds {len(rows) - groups}: it may be cut short, get "
            "it again."
        )
    findings = [Finding(f"A GCT file: its {genes} genes are the features, its {count} samples the rows")]
    if described:
        aside = quote_names(header[1 : 1 + described])
        findings.append(Finding(f"Columns about the genes were set aside: {aside}"))
    labels = _groups({row[0]: row[1:] for row in rows.iloc[:groups].values.tolist()})
    return _table([header[i] for i in kept], rows.iloc[groups:], findings, labels)


def _convert_geo(raw: bytes) -> Converted:
    """Return the table of a GEO series matrix; what its ``!Sample_`` lines say becomes labels."""
    begin = _GEO_TABLE.search(raw)
    if begin is None:
        raise InvalidData("The GEO file holds no table (!series_matrix_table_begin): get the series matrix.")
    end = _GEO_END.search(raw, begin.end())
    if end is None:
        raise InvalidData("The GEO series matrix is cut short, its table has no end: get it again.")
    rows = read_frame(raw[begin.end() : end.start()], "\t")
    if len(rows) < 3:
        raise InvalidData(
            "This GEO series matrix describes samples and holds no numbers, as for sequencing: read the "
            "table of counts among the supplementary files of the series."
        )
    count = rows.shape[1] - 1
    labels = _groups(_sample_lines(raw[: begin.start()].decode(errors="replace"), count))
    findings = [Finding(f"A GEO series matrix: its probes are the features, its {count} samples the rows")]
    return _table([*rows.iloc[0]], rows.iloc[1:], findings, labels)


def _convert_perseus(raw: bytes) -> Converted:
    """Return the main columns of a table of Perseus; its lines that group them become labels."""
    rows = read_frame(raw, "\t")
    is_line = rows[0].str.startswith("#!{")
    lines = {}
    for first, *others in rows[is_line].to_numpy().tolist():
        name, _, cell = first.removeprefix("#!{").partition("}")
        lines[name.removeprefix("C:")] = [cell, *others]
    types = lines.pop("Type")
    samples = [i for i, kind in enumerate(types) if kind == "E"]
    if len(samples) < 2:
        raise InvalidData(
            "A table of Perseus has the samples in main columns (type E), and two are needed at least: "
            "change the type of their columns in Perseus."
        )
    ids = next((i for i, kind in enumerate(types) if kind == "T"), 0)
    header = [*rows.iloc[0]]
    findings = [
        Finding(f"A table of Perseus: its rows are the features, its {len(samples)} samples the rows")
    ]
    if aside := [name for i, name in enumerate(header) if i not in (ids, *samples)]:
        findings.append(Finding(f"Columns that are no samples were set aside: {quote_names(aside)}"))
    kept = [ids, *samples]
    groups = _groups({name: [cells[i] for i in samples] for name, cells in lines.items()})
    return _table([header[i] for i in kept], rows.loc[~is_line, kept].iloc[1:], findings, groups)


def _sample_lines(text: str, count: int) -> dict[str, list[str]]:
    """Return what a GEO file says of each sample, characteristics first.

    A characteristic is written as ``key: value``. Each key is a column, wherever it stands.
    """
    keyed: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t"):
        if len(row) != count + 1 or not row[0].startswith("!Sample_"):
            continue
        name, cells = row[0].removeprefix("!Sample_"), row[1:]
        if not name.startswith("characteristics"):
            others.setdefault(name, cells)
            continue
        for i, cell in enumerate(cells):
            key, _, value = cell.rpartition(":") if cell.count(":") == 1 else cell.partition(":")
            keyed.setdefault(key.strip() or name, [""] * count)[i] = value.strip()
    return {**keyed, **{name: cells for name, cells in others.items() if name not in keyed}}


def _counted(raw: bytes, delimiter: str) -> tuple[list[str] | None, pd.DataFrame, int]:
    """Return the header of counts, the rows of genes, and how many rows count no gene."""
    rows = read_frame(_COMMENTS.sub(b"", raw), delimiter)
    none = rows[0].str.strip().str.lower().isin(_NO_GENES)
    genes = rows[~none]
    if genes.empty or genes.iloc[0, -1].strip().isdigit():
        return None, genes, int(none.sum())
    header = [*genes.iloc[0]]
    if not header[-1]:  # R writes no name above the names of rows
        header = ["gene", *header[:-1]]
    return header, genes.iloc[1:], int(none.sum())


def _convert_counts(raw: bytes, delimiter: str) -> Converted:
    """Return counts of HTSeq or STAR of several samples without the rows that count no gene."""
    header, rows, left = _counted(raw, delimiter)
    samples = rows.shape[1] - 1
    is_star = samples == 3 and raw.lower().startswith(b"n_unmapped")
    if samples < 2 or is_star or _is_estimate(raw[:_HEAD]):
        raise InvalidData(
            "These are the counts of one sample, and at least two are needed: give a ZIP or a folder with "
            "the files of all samples."
        )
    header = header or ["gene", *(f"sample {i}" for i in range(1, samples + 1))]
    return _table(header, rows, _describe_counts(samples, left))


def _describe_counts(samples: int, left: int) -> list[Finding]:
    said = [Finding(f"A table of counts: its genes are the features, its {samples} samples the rows")]
    if left:
        said.append(
            Finding(f"Rows that count no gene (not mapped, ambiguous and the like) were left out: {left}")
        )
    return said


def _merge_counts(source: Source, options: ReadOptions) -> Converted:
    """Return the counts of several samples, one in each file."""
    names, columns, star, left, taken = ["gene"], list[pd.Series](), False, 0, ""
    files = _count_files(source)
    for label, read in files:
        header, rows, none = _counted(plain_bytes(read(), source.packed or None), "\t")
        place = _count_columns(header, rows.shape[1])
        if place is None:
            raise InvalidData(
                f'The files of a ZIP or folder are counts of one sample each, but not "{short_name(label)}": '
                "leave it out."
            )
        star, left = star or (header is None and rows.shape[1] == 4), left + none
        taken = header[place[1]] if header is not None and rows.shape[1] > 2 else taken
        genes = [*rows[place[0]]]
        columns = columns or [rows[place[0]].reset_index(drop=True)]
        if genes != [*columns[0]]:
            at = {gene: i for i, gene in enumerate(genes)}
            if len(at) < len(genes) or len(genes) != len(columns[0]) or not at.keys() >= {*columns[0]}:
                raise InvalidData(
                    f'All files of counts must name the same genes, "{short_name(label)}" names others.'
                )
            rows = rows.iloc[[at[gene] for gene in columns[0]]]
        path = PurePosixPath(label.replace("\\", "/"))
        names.append(_COUNTS_NAME.sub("", short_name(label)) or path.parent.name)
        columns.append(rows[place[1]].reset_index(drop=True))
        check_dense(len(rows), len(columns))
    samples = len(names) - 1
    findings = [Finding(f"The files of {samples} samples were joined."), *_describe_counts(samples, left)]
    if star:
        findings.append(
            Finding("STAR counts in three ways; the first, for libraries without strands, was taken")
        )
    elif taken.lower() in {counts for _, counts in _COUNTED}:
        findings.append(Finding(f'Of the columns of each file, "{taken}" was taken'))
    kept = [label for label, _ in files]
    if aside := [short_name(label) for label, _ in visible(source.files) if label not in kept]:
        findings.append(Finding(f"Files that are no counts were left aside: {quote_names(aside)}"))
    return _table(names, pd.concat(columns, axis=1), findings)


def _count_files(source: Source) -> Files:
    """Return the files of a ZIP or folder that may be counts of one sample each."""
    files = visible(source.files)
    plain = [PurePosixPath(label.lower().replace("\\", "/")).name.removesuffix(".gz") for label, _ in files]
    for end in _ESTIMATES:
        found = [one for one, name in zip(files, plain, strict=True) if name.endswith(end)]
        if len(found) > 1:
            return found
    found = [one for one, name in zip(files, plain, strict=True) if not name.endswith(".summary")]
    return found if all(label.lower().endswith(_COUNTS_ENDS) for label, _ in found) else []


def _count_columns(header: Sequence[str] | None, width: int) -> tuple[int, int] | None:
    """Return the columns of names and of counts in a file of one sample; None for any other table."""
    plain = [cell.strip().lower() for cell in header or ()]
    for names, counts in _COUNTED:
        if names in plain and counts in plain:
            return plain.index(names), plain.index(counts)
    if plain[:6] == [*_KINDS[0].needs]:  # featureCounts
        return (0, 6) if width == 7 else None
    return (0, 1) if width == 2 or (header is None and width == 4) else None


def _are_counts(source: Source) -> bool:
    """Tell whether the files of a ZIP or folder are counts of one sample each; the first two are read."""
    files = _count_files(source)
    if len(files) < 2:
        return False
    raws = [plain_bytes(read(), source.packed or None) for _, read in files[:2]]
    if all(_has_summary(raw[:_HEAD], raw[-_TAIL:]) for raw in raws):
        return True
    first, second = map(_counted_names, raws)
    return bool(first) and 2 * len({*first} & {*second}) >= len(first)


def _counted_names(raw: bytes) -> list[str]:
    """Return the first names in a file of counts of one sample; none for any other file."""
    head = raw if len(raw) < _HEAD else raw[: raw.rfind(b"\n", 0, _HEAD) + 1]
    try:
        header, rows, _ = _counted(as_utf8(head)[0], "\t")
    except InvalidData:
        return []
    place = _count_columns(header, rows.shape[1])
    if place is None or not len(rows) or (header is None and rows.shape[1] > 2):
        return []
    names, counts = ([str(cell).strip() for cell in rows[i][:20]] for i in place)
    are_counts = all(re.fullmatch(r"\d+" if rows.shape[1] == 2 else r"[\d.e+]+", cell) for cell in counts)
    are_names = not any(name.isdigit() for name in names)
    return names if are_counts and are_names else []


def _is_gene_table(source: Source) -> bool:
    """Tell whether a text begins like a table of genes."""
    if source.files is not None:
        return False
    head = source.first()
    if head.startswith(_GCT) or _GEO.match(head) or _PERSEUS.match(head):
        return True
    return _find_kind(head) is not None or _has_summary(head, source.last(_TAIL))


FORMAT = Format("a table of genes in rows", _is_gene_table, convert=convert)
COUNTS = Format("counts of genes in several files", _are_counts, convert=_merge_counts)
