"""Spec of a data set: its source, the options for reading its file, and the steps applied to its numbers.

Every `ProblemSpec` has a `DataSpec` as its field `data`. The dashboard makes it from the state of the page
Data (`dashboard/open_data`), which applies the steps too.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, StrictBool, StrictInt, StrictStr
from pydantic import Field as Limits

from nspca.covariance.numbers import canonical, dense_digest, sparse_digest
from nspca.covariance.weighing import Weights
from nspca.data import PREPARATIONS, SAMPLES, Dataset, load_sample, prepare, read, read_text, shown_name
from nspca.data.dataset import Kind
from nspca.data.findings import Finding
from nspca.data.options import OF_TABLES, OF_TEXTS, ReadOptions
from nspca.errors import InvalidData, InvalidOption
from nspca.presentation.phrases import things
from nspca.shards import Shards, reader, served
from nspca.specs.base import arguments
from nspca.validation import address
from nspca.validation.model import Option

ROWS, ENTRIES = 1000, 2_000_000
"""Maximum rows, and approximate maximum entries, of a sample of a folder of shards."""


def varying(data: Dataset) -> Dataset:
    """Return the data without constant features. Images become a plain table, since pixels are missing."""
    constant = data.constant_columns()
    if data.is_covariance or not constant.size:
        return data
    keep = np.setdiff1d(np.arange(data.X.shape[1]), constant)
    note = (
        f"Left out because of one value only: {things(len(constant), 'feature')}, the first is "
        f"{data.feature_names[constant[0]]}."
    )
    return replace(
        data,
        X=data.X[:, keep],
        feature_names=tuple(data.feature_names[j] for j in keep),
        axis=None if data.axis is None else data.axis[keep],
        image_shape=None,
        kind="table" if data.kind == "image" else data.kind,
        findings=(*data.findings, Finding(note)),
    )


def logged(data: Dataset) -> Dataset:
    """Return the data with log2(x + 1) in place of every x; a covariance is returned unchanged."""
    return data if data.is_covariance else prepare(data, "log2")


def join_features(data: Dataset, whole: Dataset, group: Sequence[int]) -> Dataset:
    """Return the data with a group of features joined into one, given by their numbers in `whole`.

    Features that earlier steps left out are ignored.
    """
    there = set(data.feature_names)
    names = [name for name in (whole.feature_names[j] for j in whole.numbers(group)) if name in there]
    return data if len(names) < 2 else data.together(names)


def sample_rows(table: Shards) -> int:
    """Return the maximum number of rows in a sample of a folder of shards."""
    return int(np.clip(ENTRIES * table.shape[0] / max(table.nonzeros, 1), 2, ROWS))


def sample_of(table: Shards, most: int) -> Dataset:
    """Return at most `most` random rows of a folder of shards; equal folders give equal rows."""
    X, numbers = table.sample(most)
    counts = table.has_names and bool(np.all((X.data > 0) & (X.data % 1 == 0)))
    total = f"{table.shape[0]:,}"
    kind: Kind = "words" if counts else "table"
    names = tuple(f"{'document' if counts else 'row'} {number + 1}" for number in numbers)
    said = f"{len(names):,} of the {total} rows of a folder on the server, chosen at random"
    return Dataset(table.folder.name, X, table.feature_names, names, kind=kind, provenance=said)


def content_of(data: Dataset | Shards) -> str:
    """Return the digest of the numbers of a data set, and of the weights of its samples."""
    if isinstance(data, Shards):
        return f"shards {data.digest}"
    found = dense_digest(data.X) if isinstance(data.X, np.ndarray) else sparse_digest(canonical(data.X))
    weights = "" if data.weights is None else Weights(data.weights, data.X.shape[0]).digest
    return f"{found} weights {weights}" if weights else found


FURTHER = {"vocabulary": "the vocabulary file", "annotation": "the table about the samples"}
"""Fields that name a further file, and what it is in exported Python where only its content is known."""
BESIDE = tuple(FURTHER)
PLACES = ("sample", "upload", "folder", "path")
"""Fields that name the source; at most one of them is set."""
CHANGES = (
    *("prepared", "samples_without", "samples_only", "without", "only"),
    *("drop_constant", "log2", "together"),
)
"""Fields with changes of the numbers after reading."""
OF_FEATURES = ("without", "only", "together")
"""Entries of `CHANGES` that name features by number."""
LONGEST_TITLE = 60
"""Maximum characters of a title that is made from a file name."""
COVARIANCES = ("pitprops",)
"""Samples that are covariances."""
Numbers = tuple[Annotated[StrictInt, Limits(ge=0)], ...]
SOME = address.Text(
    lambda text: ROWS * address.read_flag(text), lambda value: address.write(value > 0), address.read_flag
)
"""Text of `some` in addresses: only whether a sample of rows is taken. The folder decides how many."""
STEPS = address.Text(
    address.read_words,
    address.write,
    lambda text: [name for name in address.read_words(text) if name in PREPARATIONS],
)
"""Text of `prepared` in addresses: a form shows the preparations that it knows."""
OTHER = "the data of this spec have changed since it was written; take its content out to run it on these"


def check_preparation(name: str) -> str:
    """Return the name of a preparation; refuse an unknown one."""
    if name not in PREPARATIONS:
        raise InvalidOption(f"a preparation must be one of {', '.join(PREPARATIONS)}, got {name!r}")
    return name


def titles(preparations: tuple[str, ...]) -> str:
    """Return the titles of preparations, with commas between."""
    return ", ".join(PREPARATIONS[name].title for name in preparations)


def count_of(how: str, noun: str) -> Callable[[Numbers], str]:
    """Return a function that says how many numbers there are: ``without 2 features``."""
    return lambda numbers: f"{how} {things(len(numbers), noun)}"


def joined_words(groups: tuple[Numbers, ...]) -> str:
    """Return a phrase about groups of features: ``2 features as one, 3 features as one``."""
    return ", ".join(f"{things(len(group), 'feature')} as one" for group in groups)


def keeping(count: int) -> str:
    """Return a phrase about the number of forced features: ``keeping 2 features``."""
    return f"keeping {things(count, 'feature')}"


class DataSpec(ReadOptions):
    """A data set: its source, the options of reading, and the steps of preparation.

    One of `sample`, `upload`, `folder` and `path` is the source. Without any, the caller passes the data.
    `vocabulary` and `annotation` of an upload are SHA-256 hashes too. The steps number samples and features
    from 0. `prepared` comes first, and constant features are dropped after `only` and `without`.
    """

    shown_as: ClassVar[str] = ""

    sample: Annotated[StrictStr | None, Option("Sample", "sample", address.WORD)] = None
    """A name of `nspca.data.SAMPLES`."""
    upload: Annotated[StrictStr | None, Option("Upload", "upload", address.WORD)] = None
    """SHA-256 of an uploaded file."""
    file: StrictStr = ""
    """Name of an uploaded file."""
    folder: Annotated[StrictStr | None, Option("Folder of shards", "folder", address.PLAIN)] = None
    """A folder of shards by its name on the server or its path."""
    digest: StrictStr = ""
    """Digest of the numbers of the folder."""
    some: Annotated[StrictInt, Limits(ge=0), Option("A sample of the rows", "some", SOME)] = 0
    """Maximum number of rows taken from the folder, chosen at random; 0 for all of them."""
    path: StrictStr | None = None
    """A file on this computer."""
    vocabulary: Annotated[StrictStr | None, Option("Vocabulary", "vocab", address.WORD)] = None
    covariance: Annotated[StrictBool, Option("Covariance", "cov", flag="--covariance")] = False
    """The table is a covariance, and no samples (an NPZ may say so)."""
    repair: Annotated[StrictBool, Option("Accept single precision", "repair")] = False
    """Accept a covariance that is indefinite by rounding to single precision."""
    annotation: Annotated[
        StrictStr | None,
        Option("Table about the samples", "about", address.WORD, flag="--annotation", metavar="FILE"),
    ] = None
    """A second table about the samples, CSV or Excel, joined by their names; --labels may name one of its
    columns."""
    words: Annotated[StrictBool, Option("Count words", "words", flag="--text")] = False
    """SOURCE holds texts, and their words are counted: a folder or ZIP of .txt files, a table with a column
    of texts, or a text with a document in every line."""
    prepared: Annotated[
        tuple[Annotated[StrictStr, AfterValidator(check_preparation)], ...],
        Option("Preparation", "prep", STEPS, say=titles, flag="--prepare", metavar="STEP,..."),
    ] = ()
    """What is done to the data first, in order: lee-seung, equalised, log2, off-first, with-header."""
    samples_without: Annotated[
        Numbers, Option("Without samples", "less", say=count_of("without", "sample"))
    ] = ()
    samples_only: Annotated[Numbers, Option("Only samples", "these", say=count_of("only", "sample"))] = ()
    without: Annotated[Numbers, Option("Without features", "out", say=count_of("without", "feature"))] = ()
    only: Annotated[Numbers, Option("Only features", "only", say=count_of("only", "feature"))] = ()
    log2: Annotated[StrictBool, Option("log2(x + 1)", "log", say="log2(x + 1)")] = False
    together: Annotated[
        tuple[Numbers, ...], Option("Features as one", "one", address.GROUPS, say=joined_words)
    ] = ()
    content: StrictStr = ""
    """Hash of the numbers after all steps. If given, data with another hash are refused."""

    def model_post_init(self, context: Any) -> None:
        """Refuse contradicting fields; called by pydantic after the types are checked."""
        if self.sample in COVARIANCES:
            self.__dict__["covariance"] = True  # so that specs of equal data compare equal
        places = [name for name in PLACES if getattr(self, name) is not None]
        if len(places) > 1:
            raise InvalidOption(f"data must be in one place, got {' and '.join(places)}; keep one of them")
        if (self.only and self.without) or (self.samples_only and self.samples_without):
            raise InvalidOption("only and without exclude each other, got both; keep one of them")

    # ---- the data themselves

    def open(self, upload: Callable[[str], bytes] | None = None, beside: Path = Path()) -> Dataset | Shards:
        """Return the data after all steps; refuse data that have not the hash `content`.

        ``upload(sha256)`` returns the bytes of an upload. By default a file with its name and hash is looked
        for. Relative paths are looked for in the current folder, and then in the folder `beside`.
        """
        return self.changed(self._source(upload, beside))

    def changed(self, data: Dataset | Shards) -> Dataset | Shards:
        """Return data that were read after all steps; refuse data without the hash `content`."""
        if isinstance(data, Shards):
            if any(getattr(self, name) for name in CHANGES):
                raise InvalidData("a folder of shards is taken as it is, got steps to do; leave them out")
            return data
        if self.covariance and data.weights is not None:
            raise InvalidData("a covariance has no samples with weights, got both; leave one out")
        if self.covariance and not data.is_covariance:
            data = replace(data, is_covariance=True, labels=None)
        data = whole = _some_samples(prepare(data, *self.prepared), self)
        # `only`, `without` and `together` number the features as they are after the preparations.
        data = data.only(self.only) if self.only else data
        data = data.without(self.without) if self.without else data
        data = varying(data) if self.drop_constant else data
        data = logged(data) if self.log2 else data
        for group in self.together:
            data = join_features(data, whole, group)
        if self.content and content_of(data) != self.content:
            raise InvalidData(OTHER)
        return data

    def _source(self, upload: Callable[[str], bytes] | None, beside: Path) -> Dataset | Shards:
        if self.sample is not None:
            if self.sample not in SAMPLES:
                raise InvalidData(f"sample must be one of {', '.join(SAMPLES)}, got {self.sample!r}")
            return load_sample(self.sample)
        if self.folder is not None:
            table = self.shards(beside)
            return sample_of(table, self.some) if self.some else table
        if self.upload is not None and upload is not None:
            about = {name: upload(getattr(self, name)) for name in BESIDE if getattr(self, name)}
            return self._read(upload(self.upload), name=self.file, **about)
        if self.upload is not None:
            if self.annotation:
                raise InvalidData(
                    "the table about the samples was uploaded, and this spec knows only its content; name it "
                    "with nspca.read(..., annotation=...)"
                )
            return self._read(_file(self.file, beside, self.upload))
        if self.path is None:
            raise InvalidData(
                "a spec without data can be run on data only, got none; name a sample or a path"
            )
        path = _file(self.path, beside)
        if path.is_dir() and (path / reader.META).is_file():
            return Shards(path)
        about = {name: getattr(self, name) for name in BESIDE if getattr(self, name)}
        return self._read(path, **about)

    def _read(self, source: Path | bytes, **about: Any) -> Dataset:
        """Return the data of a file, or the word counts of its texts; `about` has the further files."""
        if not self.words:
            return read(source, **about, **self.reading())
        about.pop("vocabulary", None)
        return read_text(source, **about, **self.reading())

    def reading(self) -> dict[str, Any]:
        """Return the keyword arguments of `nspca.read`, or of `nspca.read_text` for texts."""
        others = OF_TABLES if self.words else OF_TEXTS
        return {name: value for name, value in self.given().items() if name not in (*others, "drop_constant")}

    def shards(self, beside: Path = Path()) -> Shards:
        """Return the open folder of shards, by its name on the server or else by its path."""
        assert self.folder is not None
        paths = [path for path in (Path(self.folder), beside / self.folder) if path.is_dir()]
        is_served = served.stamp(self.folder) or not paths
        table = served.opened(self.folder) if is_served else Shards(paths[0])
        if self.digest and table.digest != self.digest:
            raise InvalidData(
                f"The folder {self.folder} has changed since this was asked: start it again, on what the "
                "folder holds now."
            )
        return table

    # ---- words

    @property
    def title(self) -> str:
        """Name of the data set, with its preparations."""
        if self.folder is not None:
            name = f"{self.folder}, some rows" if self.some else self.folder
        elif self.sample is not None:
            name = SAMPLES[shown_name(self.sample)].title if self.sample in SAMPLES else self.sample
        else:
            name = title_of(self.file or self.path or "") if self.file or self.path else "these data"
        counted = self.details(*OF_TEXTS) if self.words else ()
        return ", ".join([name, *self.details("missing"), *counted, *self.change_words()])

    @property
    def is_words(self) -> bool:
        """Tell whether the features are known to be words."""
        return self.words or (self.sample in SAMPLES and SAMPLES[self.sample].kind == "words")

    def change_words(self) -> list[str]:
        """Return a phrase for each step that changes the numbers, in the order in which they are done."""
        return [words for name in CHANGES for words in self.details(name)]

    # ---- address

    def to_query(self) -> dict[str, str]:
        """Return the address of the data, which has the source but not the hash of the content."""
        if self.path is not None:
            raise InvalidOption(f"a file on this computer has no address, got {self.path!r}; upload it")
        query = super().to_query()
        if self.upload is None:
            query.pop("cov", None)  # a sample is what it is known to be
        return query

    @classmethod
    def values_of_query(cls, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the fields that an address names; contradicting ones are left out."""
        values = super().values_of_query(query)
        for name in ("upload", "folder", "sample"):
            if name in values:  # the first source wins; an old address may have several
                values = {key: value for key, value in values.items() if key == name or key not in PLACES}
                break
        for before in ("", "samples_"):
            if values.get(f"{before}only"):
                values.pop(f"{before}without", None)
        if not values.get("upload"):
            values.pop("covariance", None)
        return values

    def but_for(self, *names: str) -> "DataSpec":
        """Return this spec with the named fields at their defaults, and without the hash of the content."""
        left_out = {*names, "content"}
        return type(self)(**{name: value for name, value in self if name not in left_out})

    def to_python(self) -> list[str]:
        """Return lines of Python that open the data as X with its names."""
        if self.folder is not None and not self.some:
            return [f"X = nspca.Shards({self.folder!r})  # by its path", "names = X.feature_names"]
        file = self.path or self.file or "data.npz"
        beside = {name: getattr(self, name) for name in BESIDE if getattr(self, name)}
        if self.upload is not None:
            beside = {name: FURTHER[name] for name in beside}
        if self.words:
            beside.pop("vocabulary", None)
        if self.folder is not None or any(getattr(self, name) for name in CHANGES):
            given = self.model_dump(exclude_defaults=True, exclude={"upload", "file", "digest", "content"})
            where = {} if self.folder or self.sample else {"path": file}
            opened = f"nspca.DataSpec({arguments(given | where | beside)}).open()  # numbers are from 0"
        elif self.sample is not None:
            opened = f"nspca.load_sample({self.sample!r})"
        else:
            opened = f"nspca.{'read_text' if self.words else 'read'}"
            opened += f"({arguments(self.reading() | beside, repr(file))})"
        # Problems and the checker take the weights of samples from the data set.
        return [
            f"data = {opened}",
            f"X, names = data{'' if self.weight_column else '.X'}, data.feature_names",
        ]


# ---- words


def features_words(data: DataSpec, kept: int = 0) -> str:
    """Return a phrase about the features of a question: ``without 2 features, keeping 1 feature``."""
    said = [*data.details(*OF_FEATURES), *([keeping(kept)] if kept else [])]
    return ", ".join(said) or "all features"


def _some_samples(data: Dataset, where: DataSpec) -> Dataset:
    if not (where.samples_only or where.samples_without):
        return data
    m = len(data.sample_names)
    numbers = where.samples_only or where.samples_without
    if data.is_covariance or max(numbers) >= m:
        raise InvalidData(f"samples must be numbers below {m} of a table, got {max(numbers)}; leave it out")
    kept = set(where.samples_only) or set(range(m)) - set(where.samples_without)
    if len(kept) < 2:
        raise InvalidData(f"At least two samples must be left, got {len(kept)}: leave out fewer.")
    return data.rows(sorted(kept))


def title_of(file: str) -> str:
    """Return the title of a data set from the name of its file."""
    return PurePosixPath(file.replace("\\", "/")).name.partition(".")[0][:LONGEST_TITLE] or "upload"


def _file(name: str, beside: Path, sha256: str = "") -> Path:
    """Return the path of a file or folder, in the current folder or in `beside`, with the given hash."""
    for path in (Path(name), beside / name):
        if sha256 and path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            return path
        if not sha256 and path.exists():
            return path
    what = f"the uploaded file {name!r}" if sha256 else repr(name)
    raise InvalidData(f"{what} must be in this folder or beside the spec, got none; put it there")
