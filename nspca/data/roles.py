"""The roles of the columns of a table: features, names of samples, labels and others.

Readers of tables find the roles by `find_columns`, in memory and for folders of shards.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from nspca.data.dialect import ANSWER, Layout, are_few, are_labels, quoted, shape
from nspca.data.findings import Finding
from nspca.data.names import quote_names, short, were
from nspca.data.numerals import MISSING
from nspca.data.options import ReadOptions
from nspca.data.suspicions import AXIS, ID, ORDER, TOTAL, genes_in_rows, is_counter, may_be_turned
from nspca.errors import InvalidData, Way, shown
from nspca.validation.options import is_whole

LONGEST_LABEL = 80
"""Maximum characters of a label. NumPy stores every label of a data set at the length of the longest."""
NO_LABEL = "(none)"
"""Label given to samples whose label cell is empty."""
NO_NAMES = "(none)"
"""Value of `id_column` for samples without names, and of `drop_rows` for a total that is kept."""
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = (
    r"\d{4}(?P<a>[-/.])\d{1,2}(?P=a)\d{1,2}|\d{1,2}(?P<b>[-/.] ?)\d{1,2}(?P=b)(\d{4}|\d{2})"
    r"|\d{4}[-/](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/]\d{4}|\d{4}-?Q[1-4]|Q[1-4][- ]\d{4}"
    rf"|(\d{{1,2}}\.?[- ])?{_MONTH}[- ](\d{{1,2}},? )?(\d{{4}}|\d{{2}})"
)
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AP]M)?(Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"({_DAY})([ T]{_TIME})?|{_TIME}", re.IGNORECASE)
"""Pattern of a date such as 2024-01-31, 1/31/24, 31 Jan 2024, 2024-01 or 2024Q1, or of a time, or of both."""
_UNITS = re.compile(
    r"\W*((q2:)?types?|units?|einheit(en)?|unités?|d?type|string|str|object|text|varchar|comments?"
    r"|ts|rn|nm|[µu]m|cm\W{0,2}1|s|sec|min|h|hz|ev|k|days?|years?)?\W*|\{.*",
    re.IGNORECASE,
)
"""The first cell of a row of units or types; a row of labels of the columns has a name of its own."""
_PLINK = ("fid", "iid", "pat", "mat", "sex", "phenotype")
"""The first columns of genotypes written by PLINK."""
_MOTHUR = ("label", "group", "numotus")
"""The first columns of counts of OTUs written by mothur: a distance, the sample, the number of OTUs."""

_GENE = re.compile(
    r"(hugo|hgnc|gene|entrez|transcript|target|feature)([_. ]?(gene[_. ]?)?(symbol|name|id))?s?"
    r"|probe([_ ]?set|[_ ]id)([_ ]?id)?|#?(otu|asv)s?([_. ]?ids?)?|peaks?([_. ]?id)?"
    r"|(clade|taxon)([_. ]?name)?|mi_?rnas?|cpgs?",
    re.IGNORECASE,
)
"""Names of a first column of genes, or of other things that are counted in every sample."""
_VARIABLE = re.compile(
    r"variables?|features?|analytes?|metabolites?|compounds?|proteins?|parameters?", re.IGNORECASE
)
"""Names of a first column that give cause to suspect that the rows are features."""
_OF_GENES = re.compile(
    r"entrez.*|(ncbi_)?tax(onomy)?_?id|m\W?z|((effective|transcript|gene)[_. ])?length|chr(om(osome)?)?"
    r"|start|end|strand|rt|retention[_. ]?time"
    r"|#? ?(unique |razor )?(peptides|psms)|mw\W.*|q.?value|score|base_?mean"
    r"|log2?_?(fc|fold_?change)|lfc_?se|stat|(adj\W?)?p\W?(adj|val(ue)?)(\W?adj)?|fdr|ave_?expr",
    re.IGNORECASE,
)
"""Names of columns of numbers about a gene, which are no samples."""
_TEST = re.compile("[tBFZ]|stat|lods", re.IGNORECASE)
"""Names of results of a test of each gene, which are no samples where all others are about the genes."""


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a table, as column numbers from 0.

    `excluded` are all columns that are no features, `dropped` those that are left out on request or count the
    rows. Where the rows are the features (`is_turned`), `features` are the columns of the samples. `skipped`
    are rows below the header that hold units, or the labels of columns.
    """

    features: tuple[int, ...]
    ids: int | None
    labels: int | None
    excluded: tuple[int, ...]
    dropped: frozenset[int] = frozenset()
    findings: tuple[Finding, ...] = ()
    is_turned: bool = False
    skipped: tuple[int, ...] = ()

    @property
    def others(self) -> tuple[int, ...]:
        """Columns without a role: empty ones are left out, those of text are left out or refused."""
        return tuple(i for i in self.excluded if i not in (self.ids, self.labels) and i not in self.dropped)

    def describe_excluded(self, layout: Layout) -> str:
        """Return a phrase such as `` (not counted: "name" as sample names)``; empty if all are features."""
        texts = dict.fromkeys(self.others, "text") | dict.fromkeys(layout.empty_columns, "empty")
        kinds = (
            texts
            | dict.fromkeys(self.dropped, "left out")
            | {self.ids: "sample names", self.labels: "labels"}
        )
        phrases = [f"column{quoted(layout, i)} as {kinds[i]}" for i in self.excluded]
        return f" (not counted: {', '.join(phrases[:8])}{', ...' * (len(phrases) > 8)})" if phrases else ""


def find_columns(layout: Layout, options: ReadOptions, rows: int = 0, known: Collection[str] = ()) -> Columns:
    """Return the roles of the columns of a table.

    Its number of `rows` tells tables of genes. `known` are the cells of a table about the samples, which tell
    whether the samples are in rows.
    """
    names = layout.columns
    _refuse_genotypes(layout)
    dropped = {*match_items(names, options.drop_columns, "column")}
    if options.columns:
        dropped |= {*range(len(names))} - {*match_items(names, options.columns, "column")}
    findings: tuple[Finding, ...] = ()
    turned, why = bool(options.features_in_rows), ""
    is_open = options.label_column not in names and options.id_column in (None, NO_NAMES)
    if options.features_in_rows is None and is_open and not isinstance(options.label_column, int):
        turned, why = _are_turned(layout, rows, dropped, known)
    if turned:
        return _turned_columns(layout, options, dropped, why)
    if why:
        findings += (may_be_turned(why),)
    labels = None if options.label_column is None else find_column(names, options.label_column, "label")
    ids: int | None = None
    if options.id_column == NO_NAMES:
        dropped |= {i for i in layout.text_columns if i == layout.id_column or _are_names(layout, i)}
    elif options.id_column is not None:
        ids = find_column(names, options.id_column, "id")
    elif tuple(map(str.lower, names[:6])) == _PLINK:
        ids = 1 if _is_distinct(layout.column(1)) else 0
        dropped |= {*range(6)}
        ways = tuple(Way("label_column", names[i], "Use as labels") for i in (5, 4) if i != labels)
        findings += (Finding(f"Columns of PLINK were set aside: {quote_names(names[:6], 6)}", ways=ways),)
    elif tuple(map(str.lower, names[:3])) == _MOTHUR:
        ids = 1
        dropped |= {0, 2}
        several = len(set(layout.column(0))) > 1
        ways = (Way("label_column", names[0], "Use as labels"),) * (several and labels is None)
        words = f"Columns of mothur were set aside: {quote_names((names[0], names[2]))}"
        findings += (Finding(words, ways=ways),)
    else:
        ids, counters, said = _find_names(layout, {*dropped, labels})
        dropped |= {*counters}
        findings += said
    dropped -= {ids, labels}
    aside = {*layout.text_columns, *layout.empty_columns, *dropped, ids, labels} - {None}
    features = tuple(i for i in range(len(names)) if i not in aside)
    skipped = _find_units(layout, ids, options)
    if skipped:
        cells = [cell for cell in layout.body_rows[0] if cell.strip()]
        what = f'A row below the header ("{short(", ".join(cells[:3]))}") holds no numbers and was left out'
        # Names that come again group columns; a second row without numbers, or distinct words, are units.
        is_group = len(skipped) == 1 and len({*cells}) < len(cells)
        ways = (Way("features_in_rows", True, "It groups the columns, which are the samples"),) * is_group
        findings += (Finding(what, "row 1", ways=ways),)
    excluded = tuple(sorted(i for i in aside if i is not None))
    return Columns(features, ids, labels, excluded, frozenset(dropped), findings, skipped=skipped)


def _refuse_genotypes(layout: Layout) -> None:
    """Refuse genotypes as PLINK writes them in .ped files: six columns about a person, then letters."""
    body, width = layout.body_rows, len(layout.columns)
    if layout.header or width < 8 or any(len(row) != width or row[4] not in ("0", "1", "2") for row in body):
        return
    alleles = ["".join(row[6:]).replace(" ", "") for row in body]
    are_letters = all({*found} <= {*"ACGTID0N-"} and {*found} & {*"ACGT"} for found in alleles)
    are_founders = all(row[2] == row[3] == "0" for row in body)
    # Of numbers 0 is missing, for both alleles of a marker at once; counts have zeros anywhere.
    are_pairs = all(re.fullmatch("(00|[1-4]{2})*[1-4]{2}(00)*", found) for found in alleles)
    if are_letters or (are_founders and are_pairs):
        raise InvalidData(
            "This is a .ped file of PLINK, with two letters for each marker and no numbers: write counts of "
            "alleles by plink --recode A, and give the .raw file."
        )


def _find_units(layout: Layout, ids: int | None, options: ReadOptions) -> tuple[int, ...]:
    """Return the rows directly below the header that hold units or other words about the columns."""
    rows = layout.label_rows
    if not layout.header or not 0 < len(rows) <= 2 or rows[-1] != len(rows) - 1:
        return ()
    about = all(ids is None or _is_about_columns(layout, r, ids) for r in rows)
    return rows if about or options.features_in_rows is False else ()


def _is_about_columns(layout: Layout, r: int, ids: int) -> bool:
    """Tell whether a row of texts has no name of its own: none, a word such as "unit", or the header's."""
    row, header = layout.body_rows[r], layout.columns[ids]
    plain = [re.sub(r"\W", "", text).lower() for text in (row[ids], header)]
    return not row[0].strip() or bool(_UNITS.fullmatch(row[ids])) or plain[0] == plain[1]


def _name_column(layout: Layout) -> int:
    """Return the column of texts that names the rows; the first column when there is none."""
    if layout.id_column in layout.text_columns:
        return layout.id_column or 0
    first = 0 if layout.id_column is None else layout.id_column  # numbers without a name, before the names
    return next((i for i in layout.text_columns if _are_names(layout, i)), first)


def _is_distinct(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells) > 1


def _are_dates(cells: Iterable[str]) -> bool:
    return all(map(_DATE.fullmatch, cells))


def _are_names(layout: Layout, i: int) -> bool:
    """Tell whether a column of texts holds short distinct names, which are no numbers with words.

    Rows that sum up others, by their cell or the one before, have no name.
    """
    pairs = zip(layout.column(max(0, i - 1)), layout.column(i), strict=False)
    cells = [cell for beside, cell in pairs if not (TOTAL.fullmatch(beside) or TOTAL.fullmatch(cell))]
    is_code = any(cell[:1].isdigit() for cell in cells) and not ID.search(layout.columns[i])
    return _is_distinct(cells) and not is_code and all(len(cell) <= 40 and cell for cell in cells)


def _turned_columns(layout: Layout, options: ReadOptions, dropped: set[int], why: str) -> Columns:
    """Return the roles of the columns of a table whose rows are the features, since `why` if it was found."""
    names, ids = layout.columns, _name_column(layout)
    findings = [Finding("Features were in rows; the table was transposed.", "rows")]
    if why:
        what = "The rows were taken as the features, and the columns as the samples"
        way = Way("features_in_rows", False, "The rows are the samples")
        findings = [Finding(what, "rows", why, (way,))]
    if options.id_column not in (None, NO_NAMES):
        ids = find_column(names, options.id_column or 0, "id")
    texts = {*layout.text_columns, *layout.empty_columns, *dropped, ids}
    is_thing = why or _GENE.fullmatch(names[ids]) or _VARIABLE.fullmatch(names[ids])
    counters = [i for i in range(ids) if i not in texts and is_counter(layout.column(i))]
    dropped |= {*counters}
    texts |= dropped
    if counters:
        said = f"Column{quoted(layout, counters[0])} only numbers the rows and was left out."
        findings.append(Finding(said))
    about = [i for i, name in enumerate(names) if i not in texts and _OF_GENES.fullmatch(name)]
    rest = [name for i, name in enumerate(names) if i not in (*texts, *about)]
    if about and all(map(_TEST.fullmatch, rest)):
        about = [i for i in range(len(names)) if i not in texts]
    if about and is_thing and not options.columns:
        called, way = quote_names(names[i] for i in about), Way("columns", ("*",), "They are samples")
        if len(about) == len(names) - len(texts):
            rows = Way("features_in_rows", False, "The rows are the samples")
            what = f"The columns {called} are about the features in the rows, and none is a sample"
            raise InvalidData(f"{what}: give the table of the samples.", (rows, way))
        dropped |= {*about}
        findings.append(Finding(f"Columns about the features were set aside: {called}", ways=(way,)))
    aside = {ids, *layout.text_columns, *layout.empty_columns, *dropped}
    left_out = [i for i in (*layout.text_columns, *layout.empty_columns) if i not in (ids, *dropped)]
    if left_out:
        called = quote_names(names[i] for i in left_out)
        findings.append(Finding(f"{were(len(left_out), 'column')} left out, without numbers: {called}."))
    features = tuple(i for i in range(len(names)) if i not in aside)
    out = frozenset({*dropped, *left_out})
    return Columns(features, ids, None, tuple(sorted(aside)), out, tuple(findings), True, layout.label_rows)


def _are_turned(layout: Layout, rows: int, dropped: set[int], known: Collection[str]) -> tuple[bool, str]:
    """Return whether the rows of a table are surely features, and the evidence that they may be."""
    names, body, ids = layout.columns, layout.body_rows, _name_column(layout)
    aside = {ids, *dropped, *layout.text_columns, *layout.empty_columns}
    columns = [name for i, name in enumerate(names) if i not in aside]
    columns = [name for name in columns if not _OF_GENES.fullmatch(name)] or columns
    is_mass = names[ids].lower() in ("mz", "m/z") and ids not in layout.text_columns
    is_gene = layout.header and (is_mass or bool(_GENE.fullmatch(names[ids])))
    if not layout.header or not columns or not (is_gene or ids in layout.text_columns):
        return False, ""
    first = layout.column(ids)
    if layout.label_rows[:1] == (0,) and not _is_about_columns(layout, 0, ids):
        groups = [cell for i, cell in enumerate(body[0]) if i not in aside]
        if len(set(groups)) > 1 and are_labels(groups) and shape(body[0][ids]) not in map(shape, first):
            return True, f'the row "{short(body[0][ids])}" holds groups of the columns'
    if known:
        across, down = (sum(name in known for name in those) for those in (columns, first))
        if 2 * across > len(columns) and down < 2:
            return True, f"the second table names {across} of the {len(columns)} columns"
    rows -= len(layout.label_rows)
    turned, why = genes_in_rows(rows, len(columns), first, columns)
    called = f'the first column is called "{short(names[ids])}"'
    if not turned and rows > len(columns) > 1 and is_gene and _is_distinct(first):
        return True, called
    return turned, why or (called if is_gene or _VARIABLE.fullmatch(names[ids]) else "")


def _find_names(
    layout: Layout, taken: set[int | None]
) -> tuple[int | None, tuple[int, ...], tuple[Finding, ...]]:
    """Return the column of sample names found by itself, columns that only count the rows, and findings."""
    names, last = layout.columns, len(layout.columns) - 1
    named = [i for i in layout.text_columns if i not in taken and _are_names(layout, i)]
    i = layout.id_column
    if i is not None and i not in taken:
        is_distinct, are_dates = _is_distinct(layout.column(i)), _are_dates(layout.column(i))
        is_index = named[:1] == [1] and _counts(layout, i)
        is_only = i not in layout.text_columns or not {*named} - {i}
        if not is_index and (is_only or (is_distinct and not are_dates)):
            are = "distinct names" if is_distinct else "names"
            said = f"The first column{quoted(layout, i)} holds {are} and was taken as sample names."
            return i, (), (Finding(said),)
    aside = {*taken, *layout.text_columns, *layout.empty_columns, *layout.marks}
    has_id = layout.header and ID.search(names[0])
    first = range(min(2, len(names))) if not named or named[0] == 1 or has_id else ()
    counters = [*takewhile(lambda i: i not in aside and _counts(layout, i), first)]
    if not counters and not named and last > 1 and layout.header and ID.search(names[last]):
        counters = [last] if last not in aside and _counts(layout, last) else []
    dateless = (i for i in named if not _are_dates(layout.column(i)))
    beside = counters[-1] + 1 if counters else next(dateless, None)
    if beside is None:
        return None, (), ()
    is_free = beside in layout.text_columns and beside not in taken
    if (
        is_free
        and (beside in named or _is_distinct(layout.column(beside)))
        and not _are_dates(layout.column(beside))
    ):
        said = f"Column{quoted(layout, beside)} holds distinct names and was taken as sample names"
        way = Way("drop_columns", (names[beside],), "Leave it out")
        if counters:
            said += f"; column{quoted(layout, counters[0])} only numbers the rows and was left out"
            way = Way("id_column", names[counters[0]], "Use the numbers as names")
        return beside, tuple(counters), (Finding(f"{said}.", ways=(way,)),)
    i, *others = counters
    ways: tuple[Way, ...] = (Way("id_column", NO_NAMES, "It is a feature"),)
    if layout.header and re.search(rf"\b({AXIS})", names[i].lower()):
        ways += (Way("features_in_rows", True, "The columns are the samples"),)
    called = f"{'Column' if i else 'The first column'}{quoted(layout, i)}"
    said = f"{called} was taken as the names of the samples, not as a feature"
    why = "its numbers tell the rows apart"
    return i, tuple(others), (Finding(said, f"column{quoted(layout, i)}", why, ways),)


def _counts(layout: Layout, i: int) -> bool:
    """Tell whether a column of numbers names the rows: by its name, or as it counts them from 0 or 1."""
    cells = [cell for cell in layout.column(i) if not TOTAL.fullmatch(cell)]
    numbers = [layout.numerals.plain(cell) for cell in cells]
    aside = {i, *layout.text_columns, *layout.empty_columns}
    if len(cells) < 2 or None in numbers or len(layout.columns) - len(aside) < 2:
        return False
    if len(cells) > 2 and layout.header and ORDER.fullmatch(layout.columns[i]):
        steps = np.diff(np.array(numbers, dtype=float))
        if (steps > 0).all() or (steps < 0).all():
            return True
    if not all(re.fullmatch(r"\d{1,15}(\.0?)?", cell) for cell in cells):
        return False
    if layout.header and ID.search(layout.columns[i]):
        return 2 * len(set(cells)) > len(cells)
    if any(re.match(r"0\d", cell) for cell in cells):  # 007 is no quantity
        return i == 0 and _is_distinct(cells)
    has_unit = layout.header and re.search(r"\w\W*[(\[]", layout.columns[i])
    if len(cells) < 5 or has_unit or not is_counter(cells):
        return False
    return not any(is_counter(layout.column(j)) for j in range(len(layout.columns)) if j != i)


def match_items(names: Sequence[str], items: Sequence[str | int], what: str) -> list[int]:
    """Return the positions of names that are given by name, by number from 0, or by a pattern with ``*``."""
    place = {name: i for i, name in reversed(list(enumerate(names)))} if items else {}
    found: dict[int, None] = {}
    for item in items:
        if item == NO_NAMES and item not in place:
            continue
        if str(item) in place:
            those = [place[str(item)]]
        elif isinstance(item, str) and "*" in item:
            pattern = re.compile(".*".join(map(re.escape, item.split("*"))))
            those = [i for i, name in enumerate(names) if pattern.fullmatch(name)]
        else:
            at = int(item) if not isinstance(item, str) or (item.isdecimal() and len(item) < 10) else -1
            those = [at] if 0 <= at < len(names) else []
        if not those:
            raise InvalidData(f"There is no {what} {shown(item)}: the {what}s are {quote_names(names, 8)}.")
        found |= dict.fromkeys(those)
    return sorted(found)


def find_column(names: Sequence[str], wanted: "str | int", role: str) -> int:
    """Return the number of a column given by name or by number from 0, called `role` in the error."""
    if str(wanted) in names:  # a column that is called 400 goes before the column with that number
        return names.index(str(wanted))
    if isinstance(wanted, str):
        raise InvalidData(
            f'There is no column "{short(wanted)}" to take as the {role} column: the columns are '
            f"{quote_names(names, 8)}."
        )
    if not is_whole(wanted) or not 0 <= wanted < len(names):
        last = len(names) - 1
        raise InvalidData(f"The {role} column must be a name or between 0 and {last}, got {shown(wanted)}.")
    return int(wanted)


def describe_left_out(
    layout: Layout, i: int, texts: Mapping[str, int], count: int, named: bool
) -> "Finding | InvalidData":
    """Return the finding about a column that is left out, or the error for one whose role is unclear.

    `texts` are its different texts, each with the first row (from 1) that has it, `count` the number of rows.
    Where another column names the samples (`named`), further texts without numbers are left out.
    """
    column, name = f"Column{quoted(layout, i)}", layout.columns[i]
    held = sorted((row, text) for text, row in texts.items() if text.strip())
    filled, numerals = distinct_texts(texts), layout.numerals
    are_answers = bool(filled) and all(map(ANSWER.match, filled))
    if i in layout.empty_columns or not held:
        return Finding(f"{column} is empty and was left out.")
    if are_few(len(texts), count):
        many = f"{len(filled)} different text{'s' * (len(filled) != 1)}"
        what = f"{column} holds {many}, no numbers: a label column that can group the samples."
        if are_answers:
            what = f'{column} holds answers such as "{short(held[0][1])}", words behind numbers, and is no '
            what += "feature: write the numbers alone to make it one."
        return Finding(what, ways=(Way("label_column", name, "Use as labels"),))
    if filled and _are_dates(filled):
        return Finding(f"{column} holds dates and was left out.")
    if (
        named
        and filled
        and not any(text[:1].isdigit() or numerals.number(text) is not None for text in filled)
    ):
        ways = (Way("id_column", name, "Use as names"),)
        return Finding(f"{column} holds texts beside the names and was left out.", ways=ways)
    if are_answers:
        return InvalidData(
            f"Every column must hold numbers, but column{quoted(layout, i)} holds answers with words behind "
            f'their numbers ("{short(held[0][1])}"): write the numbers alone.',
            (
                Way("label_column", name, f"Use “{short(name)}” as labels"),
                Way("drop_columns", (name,), "Leave the column out"),
            ),
        )
    words = [(row, text) for row, text in held if not numerals.is_number(text)]
    row, text = (words or held)[0]
    what, instead = ("text", "") if words else ("numbers stored as text", "save them as numbers, or ")
    return InvalidData(
        f'Every column must hold numbers, but column{quoted(layout, i)} holds {what} ("{short(text)}" in row '
        f"{row}): {instead}remove it, or name it as names or labels.",
        (
            Way("id_column", name, f"Use “{short(name)}” as names"),
            Way("label_column", name, f"Use “{short(name)}” as labels"),
            Way("drop_columns", (name,), "Leave the column out"),
        ),
    )


def distinct_texts(cells: Sequence[str] | Mapping[str, int]) -> set[str]:
    """Return the set of texts in the cells, without words for missing values."""
    return {cell.strip() for cell in cells if cell.strip().lower() not in MISSING}


def to_labels(texts: Sequence[str]) -> np.ndarray:
    """Return labels as an integer array when every text is an integer, otherwise as an array of texts."""
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([text.strip()[:LONGEST_LABEL] or NO_LABEL for text in texts], dtype=np.str_)
