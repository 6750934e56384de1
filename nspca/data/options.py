"""The options of reading, each declared once.

The keywords of `nspca.read` and `nspca.read_text`, the fields of `DataSpec`, the flags of the command line,
the names in addresses and the inputs of the page Data follow from the fields here.
"""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)
from pydantic import Field as Limits

from nspca.errors import InvalidOption, Way
from nspca.presentation.phrases import listed
from nspca.validation import address
from nspca.validation.address import Text
from nspca.validation.model import Model, Option, Required, text_of

SIDES = (4, 256)
"""Minimum and maximum side of converted images, in pixels. A side of 256 gives 65 536 features."""
MOST_WORDS = 4000
"""Words that are kept by default. More words make pages and pictures of the table too long."""
LIMIT_WORDS = 200_000
"""Maximum words that may be kept on request."""
MARKS = {"tab": "\t", "blank": " ", "comma": ",", "semicolon": ";", "bar": "|", "point": ".", "quote": "'"}
"""Names of marks, for addresses and the command line."""
_NAMES = {mark: name for name, mark in MARKS.items()}


def mark_name(mark: str) -> str:
    """Return the name of a mark in words, or the mark itself in quotes."""
    return _NAMES.get(mark, repr(mark))


def _read_items(text: str) -> tuple[str | int, ...]:
    """Return names and numbers separated by commas; a doubled comma stands for a comma in a name."""
    parts = (part.replace("\0", ",").strip() for part in text.replace(",,", "\0").split(","))
    return tuple(int(part) if part.isdecimal() and len(part) < 10 else part for part in parts if part)


def _read_codes(text: str) -> tuple[str | float, ...]:
    """Return codes of missing values separated by commas, numbers as numbers."""
    parts = (part.strip() for part in text.split(","))
    return tuple(float(part) if _is_float(part) else part for part in parts if part)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _write_items(values: Any) -> str:
    """Return the inverse of `_read_items` and `_read_codes`."""
    return ",".join(
        repr(value).removesuffix(".0") if isinstance(value, float) else str(value).replace(",", ",,")
        for value in values
    )


def _read_header(text: str) -> str | bool | int:
    words: dict[str, str | bool] = {"auto": "auto", "yes": True, "no": False}
    return words[text] if text in words else address.read_integer(text)


def _check_encoding(name: str | None) -> str | None:
    """Refuse an encoding that Python does not know."""
    try:
        if name is not None:
            "a".encode(name).decode(name)
    except (LookupError, UnicodeError, TypeError):
        raise ValueError(name) from None
    return name


GAPS = {
    "refuse": "",
    "samples": "without samples that miss values",
    "features": "without features that miss values",
    "mean": "means for missing values",
}
"""Treatments of missing values, in words."""
FOUND = {"automatic": "found automatically"}
"""The choice of what is not said."""
MARK = Text(lambda text: MARKS.get(text, text), lambda mark: _NAMES.get(mark, mark), str, metavar="SIGN")
CODES = Text(_read_codes, _write_items, str, metavar="CODE,...")
COLUMNS = Text(_read_items, _write_items, str, metavar="COLUMN,...")
WORDS = Text(
    lambda text: tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip())),
    lambda words: ",".join(words),
    str,
    metavar="WORD,...",
)
HEADER = Text(
    _read_header,
    lambda value: {True: "yes", False: "no"}.get(value, str(value)),
    str,
    metavar="auto|yes|no|LINE",
)
TYPED = (MARK, CODES, COLUMNS, WORDS, HEADER)
"""Texts of values that forms show as they are typed."""
Column = Annotated[
    Annotated[StrictInt, Limits(ge=0, lt=10**9)] | StrictStr | None, Required("a name or a number from 0")
]
Items = tuple[StrictInt | StrictStr, ...]
Share = Annotated[float, Limits(ge=0, le=1), Required("a share of the documents from 0 to 1")]


class ColumnOptions(Model):
    """Options of every reading: columns of names and of groups of the samples, and the encoding."""

    shown_as: ClassVar[str] = "the reading"

    id_column: Annotated[Column, Option("Column with names", "id", address.COLUMN, flag="--id")] = None
    """The column with the names of the samples (of the features, if these are in rows), by name or by number
    from 0, or `(none)`."""
    label_column: Annotated[Column, Option("Labels", "label", address.COLUMN, flag="--labels")] = None
    """The column with the groups of the samples (the row, if features are in rows), by name or by number from
    0; it may be a column of the annotation, or `beginning of the names`."""

    encoding: Annotated[
        StrictStr | None,
        Option("Encoding", "encoding", address.WORD, flag="--encoding", metavar="NAME"),
        Required("a name such as utf-8 or cp1252"),
        AfterValidator(_check_encoding),
    ] = None
    """The encoding of a text, such as utf-8, cp1252 or gbk."""

    @field_validator("*", mode="before")
    @classmethod
    def _from_text(cls, value: Any, info: Any) -> Any:
        """Return the value of a text as it is typed into a form or on the command line."""
        for name, option, _ in cls.declared():
            if name == info.field_name and isinstance(value, str) and option.text in TYPED:
                with suppress(ValueError, KeyError):
                    return option.text.read(value)
        return value


class TableOptions(ColumnOptions):
    """Options of `nspca.read`, about tables, matrices and images. What is not given is found in the file."""

    header: Annotated[
        Literal["auto"] | StrictBool | Annotated[StrictInt, Limits(ge=1)],
        Option("Header", "head", HEADER, flag="--header"),
        Required('"auto", True, False or the number of a line, counted from 1'),
    ] = "auto"
    """Whether the first line of a table holds names (yes, no), or the number of the line that does; lines
    above it are left out."""
    sheet: Annotated[Column, Option("Sheet", "sheet", address.COLUMN, flag="--sheet", metavar="SHEET")] = None
    """The sheet of a workbook, by name or by number from 0 (default: the first with a table); of a ZIP
    or folder with several tables, the name of one file."""
    delimiter: Annotated[
        StrictStr | None,
        Limits(pattern=r'^[^"\r\n]$'),
        Option("Columns are separated by", "sep", MARK, flag="--delimiter"),
        Required("one character such as , or ;"),
    ] = None
    """The sign between the columns of a text table: one character, or comma, semicolon, tab, bar or blank
    (which stands for any run of blanks)."""
    decimal: Annotated[
        StrictStr | None,
        Limits(pattern="^[.,]$"),
        Option("Decimal sign", "decimal", MARK, flag="--decimal"),
        Required('"," or "."'),
    ] = None
    """The decimal sign of a text table."""
    thousands: Annotated[
        StrictStr | None,
        Limits(pattern="^[,. ']$"),
        Option("Mark between thousands", "thousands", MARK, flag="--thousands"),
        Required("""",", ".", " " or "'" """.strip()),
    ] = None
    """The mark between thousands of a text table: comma, point, blank or quote."""
    comment: Annotated[
        StrictStr | None,
        Limits(pattern=r'^[^"\r\n]{1,2}$'),
        Option("Comments begin with", "comment", address.PLAIN, flag="--comment", metavar="SIGN"),
        Required("one or two characters such as #"),
    ] = None
    """The sign with which lines begin that are no rows of the table, such as #."""
    missing_codes: Annotated[
        tuple[StrictFloat | StrictInt | StrictStr, ...],
        Option(
            "Codes of missing values",
            "codes",
            CODES,
            flag="--missing-codes",
        ),
    ] = ()
    """Numbers or words that stand for a missing value, such as -9999, separated by commas."""
    missing: Annotated[
        Literal["refuse", "samples", "features", "mean"],
        Option("Missing values", "gaps", say=GAPS.__getitem__, flag="--missing"),
    ] = "refuse"
    """Leave out the samples or the features with missing values, or put in the mean of the feature (default:
    the file is refused)."""
    features_in_rows: Annotated[
        StrictBool | None,
        Option("Features are in rows", "rows", address.FLAG, flag="--features-in-rows"),
        Required("True, False or None"),
    ] = None
    """Whether the rows are the features (yes, no), as genes often are; without it, only tables of genes are
    turned."""
    spectra: Annotated[
        StrictBool | None,
        Option("Rows are spectra", "spectra", address.FLAG, flag="--spectra"),
        Required("True, False or None"),
    ] = None
    """Whether the rows are spectra over the numbers in the names of the columns (yes, no); without it, only
    where these are in order and the rows rise and fall slowly."""
    columns: Annotated[Items, Option("Only the columns", "cols", COLUMNS, flag="--columns")] = ()
    """The columns that are read: names, numbers from 0, or patterns such as `LFQ intensity *`, separated by
    commas."""
    drop_columns: Annotated[
        Items, Option("Without the columns", "nocols", COLUMNS, flag="--drop-columns")
    ] = ()
    """Columns that are left out, as for --columns."""
    drop_rows: Annotated[
        Items, Option("Without the rows", "norows", COLUMNS, flag="--drop-rows", metavar="ROW,...")
    ] = ()
    """Rows that are left out: names, patterns, or numbers from 0, separated by commas. `(none)` keeps a last
    row that is the sum of the others and called so, and lines below the table."""
    weight_column: Annotated[
        StrictStr | None,
        Option("Column with weights", "weight", address.WORD, flag="--weights", metavar="COLUMN"),
    ] = None
    """The column, by name, with the weights of the samples, which is then no feature: a sample of weight 2
    counts as two, one of weight 0 is left out."""
    drop_constant: Annotated[
        StrictBool,
        Option(
            "Without constant features",
            "drop",
            say=lambda _: "without constant features",
            flag="--drop-constant",
        ),
    ] = False
    """Leave out the features that take one value only."""
    image_size: Annotated[
        Annotated[StrictInt, Limits(ge=SIDES[0], le=SIDES[1])] | None,
        Option("Grey images of one size", "pixels", address.INTEGER, flag="--image-size"),
        Required(f"a whole number of pixels from {SIDES[0]} to {SIDES[1]}"),
    ] = None
    """Of images of any size and colour: make them grey squares with so many pixels a side."""

    @model_validator(mode="after")
    def _check_marks(self) -> "TableOptions":
        """Refuse one mark as decimal sign and between thousands."""
        if self.thousands is not None and self.thousands == self.decimal:
            raise InvalidOption(
                f"The decimal sign and the mark between thousands must differ, got {self.decimal!r} for both."
            )
        return self


class TextOptions(ColumnOptions):
    """Options of `nspca.read_text`, about texts whose words are counted."""

    text_column: Annotated[
        Column, Option("Column with the texts", "text", address.COLUMN, flag="--text-column")
    ] = None
    """With --text: the column of a table with the texts, by name or by number from 0."""
    split: Annotated[
        Literal["automatic", "lines", "paragraphs"],
        Option(
            "A text is",
            "split",
            say=lambda kind: f"every {kind.removesuffix('s')} a text",
            flag="--split",
            words=FOUND | {"lines": "a line", "paragraphs": "a paragraph"},
        ),
    ] = "automatic"
    """With --text: what a document is in one text file."""
    stop_words: Annotated[
        Literal["automatic", "none", "english", "german", "french", "spanish"],
        Option(
            "Stop words",
            "stop",
            say=lambda name: f"stop words: {name}",
            words=FOUND | {"none": "none"},
            flag="--stop-words",
        ),
    ] = "automatic"
    """With --text: words that are not counted (automatic: those of the language, which is guessed)."""
    own_stop_words: Annotated[
        tuple[StrictStr, ...],
        Option(
            "Words of your own to leave out",
            "nowords",
            WORDS,
            say=lambda words: f"without {listed(words)}",
            flag="--own-stop-words",
        ),
    ] = ()
    """With --text: further words that are not counted, separated by commas."""
    lowest_share: Annotated[
        Share,
        Option(
            "In at least so many % of the texts",
            "low",
            address.SHARE,
            say=lambda share: f"words in {address.SHARE.write(share)} % of the texts at least",
            flag="--lowest-share",
        ),
    ] = 0.0
    """With --text: words in so many per cent of the documents at least."""
    highest_share: Annotated[
        Share,
        Option(
            "In at most so many % of the texts",
            "high",
            address.SHARE,
            say=lambda share: f"words in {address.SHARE.write(share)} % of the texts at most",
            flag="--highest-share",
        ),
    ] = 0.5
    """With --text: words in so many per cent of the documents at most; not applied to fewer than ten
    documents."""
    weights: Annotated[
        Literal["counts", "tfidf"],
        Option(
            "A word counts by",
            "weigh",
            say=lambda _: "tf-idf",
            words={"counts": "how often it occurs", "tfidf": "tf-idf: rare words weigh more"},
            flag="--tfidf",
            const="tfidf",
        ),
    ] = "counts"
    """With --text: weigh the counts by tf-idf."""
    pairs: Annotated[
        StrictBool,
        Option("Pairs of words count too", "pairs", say=lambda _: "with pairs of words", flag="--pairs"),
    ] = False
    """With --text: count pairs of words too."""
    most_words: Annotated[
        StrictInt,
        Limits(ge=2, le=LIMIT_WORDS),
        Option("Words at most", "most", say=lambda most: f"{most:,} words at most", flag="--most-words"),
    ] = MOST_WORDS
    """With --text: keep so many words at most."""

    @model_validator(mode="after")
    def _check_shares(self) -> "TextOptions":
        """Refuse a lowest share above the highest."""
        if self.lowest_share > self.highest_share:
            raise InvalidOption(
                f"lowest_share must not exceed highest_share, got {self.lowest_share} and "
                f"{self.highest_share}"
            )
        return self


class ReadOptions(TextOptions, TableOptions):
    """All options of reading, those about tables and those about texts."""

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        values = {name: (getattr(self, name), default) for name, _, default in ReadOptions.declared()}
        return {name: value for name, (value, default) in values.items() if value != default}

    def filled(self, found: Mapping[str, Any]) -> "ReadOptions":
        """Return these options, with the values of `found` for those that were not given."""
        given = self.given()
        return self.but(**{name: value for name, value in found.items() if name not in given})


OF_TABLES = tuple(name for name in TableOptions.model_fields if name not in ColumnOptions.model_fields)
"""Options that do not apply to texts."""
OF_TEXTS = tuple(name for name in TextOptions.model_fields if name not in ColumnOptions.model_fields)
"""Options that apply to texts alone."""


def as_text(way: Way) -> str:
    """Return the value of a way out as it is typed into a form or on the command line."""
    return text_of(*ReadOptions.option(way.option)).write(way.value)


def as_flag(way: Way) -> str:
    """Return a way out on the command line: flag, value and words."""
    option, default = ReadOptions.option(way.option)
    words = f"({way.words[:1].lower()}{way.words[1:]})"
    if isinstance(default, bool):
        return f"{option.flag} {words}"
    if isinstance(way.value, bool) and default is None:
        return f"{option.flag if way.value else '--no-' + option.flag.removeprefix('--')} {words}"
    text = as_text(way)
    is_plain = bool(text) and all(sign.isalnum() or sign in "-_.,+" for sign in text)
    return f"{option.flag} {text if is_plain else shlex.quote(text)} {words}"


def keywords(call: Any, model: type[Model]) -> Any:
    """Give the function `call(..., **options)` a signature and a docstring with the fields of a model."""
    own = signature(call)
    fields = [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=default, annotation=model.model_fields[name].annotation
        )
        for name, _, default in model.declared()
    ]
    fixed = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    call.__signature__ = Signature([*fixed, *fields], return_annotation=own.return_annotation)
    lines = [
        f"    {name} : default {default!r}\n        {option.help[:1].upper()}{option.help[1:]}.\n"
        for name, option, default in model.declared()
    ]
    call.__doc__ = (call.__doc__ or "").replace("    **options\n", "".join(lines))
    return call
