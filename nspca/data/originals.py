"""Find, download or adopt the four data sets of the papers, and keep them in the user's cache.

`load_sample` calls `find_original`. The command `fetch` and the page Data fetch or adopt on request.
"""

import tempfile
import tomllib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from nspca.data.annotation import PREFIX
from nspca.data.arrays import to_npz
from nspca.data.catalogue import (
    SAMPLES,
    Original,
    Sample,
    cache_folder,
    find_sample,
    originals_folder,
    write_atomically,
)
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.limits import bounded_bytes
from nspca.data.names import numbered, pixel_names
from nspca.data.reading import read
from nspca.errors import DownloadError, InvalidData, Late
from nspca.progress import Event, Report, silent
from nspca.validation.archive import MAX_BYTES, mib

requests: Any = Late("requests", "downloads", "samples")
_TIMEOUT_SECONDS = 20
"""Seconds without an answer after which a server counts as absent."""
_PIECE = 2**16
"""Bytes of a download between two reports."""
_SAME_TOTAL = 1e-9
"""Relative difference up to which sums over a million rounded values, in another order, are equal."""
_INSTRUMENT = tomllib.loads(Path(__file__).with_name("lrs.toml").read_text(encoding="utf-8"))
_BANDS = [(series, number) for series in ("blue", "red") for number in _INSTRUMENT[series].split()]
WAVELENGTH_UM = np.array([float(number) for _, number in _BANDS])
BAND_NAMES = tuple(f"{series} {number} µm" for series, number in _BANDS)
HEADER_NAMES = tuple(_INSTRUMENT["header"])
# Columns of a spectrum: name, class and type, then the header fields, then the fluxes.
_NAME, _CLASS, _HEADER, _FIELDS = 0, 1, 3, 103
_BEFORE = _HEADER + len(HEADER_NAMES)


def find_original(name: str) -> Dataset | None:
    """Return the real data set from ``NSPCA_DATA`` or from the cache; None when neither has it."""
    path = original_path(name)
    if path is None:
        return None
    try:
        return complete(name, read(path, name=name))
    except InvalidData:
        if path != kept_path(name):
            raise
        path.unlink(missing_ok=True)  # this module wrote the file, so it was damaged on disk
        return None


def original_path(name: str) -> Path | None:
    """Return the file of a real data set; None when this machine does not have one."""
    folder = originals_folder()
    candidates = [folder / SAMPLES[name].file, kept_path(name, folder)] if folder else []
    return next((path for path in (*candidates, kept_path(name)) if path.is_file()), None)


def is_absent(name: str) -> bool:
    """Tell whether a data set of the papers is not on this machine, so that its relative is shown."""
    return name in SAMPLES and bool(SAMPLES[name].relative) and original_path(name) is None


def present_samples() -> list[str]:
    """Return the names of the samples that can be opened here, without a download or another package."""
    return [name for name in SAMPLES if not is_absent(name) and is_installed(name)]


def is_installed(name: str) -> bool:
    """Tell whether the package that holds a sample is installed; True for samples of no package."""
    package = SAMPLES[name].package
    return not package or find_spec(package) is not None


def shown_name(name: str) -> str:
    """Return the name of the sample that is shown for `name`: of its relative while it is absent."""
    return SAMPLES[name].relative if is_absent(name) else name


def absent_original(name: str | None) -> str | None:
    """Return the data set of the papers in whose place the sample `name` is shown; None for others."""
    if name is None or is_absent(name):
        return name
    return next((one for one in SAMPLES if SAMPLES[one].relative == name and is_absent(one)), None)


def kept_path(name: str, folder: Path | None = None) -> Path:
    """Return the file for a fetched or adopted copy, in `folder` or else in the user's cache."""
    return (folder or cache_folder()) / f"{name}.npz"


def _keep(name: str, data: Dataset, folder: Path | None) -> Dataset:
    path = kept_path(name, folder)
    try:
        write_atomically(path, to_npz(data))
    except OSError as error:
        other = "set NSPCA_HOME to another folder" if folder is None else "name another folder"
        raise DownloadError(
            f"{SAMPLES[name].title} was read but cannot be kept in {path.parent} ({error.strerror}): "
            f"make room there, or {other}."
        ) from error
    return data


def complete(name: str, data: Dataset) -> Dataset:
    """Return the table of a sample with the feature names, axis and provenance of the catalogue."""
    sample, features, labels = SAMPLES[name], data.feature_names, data.labels
    if sample.shape is not None and data.X.shape != sample.shape:
        (m, n), (rows, columns) = sample.shape, data.X.shape
        raise InvalidData(
            f"{sample.title} has {m} samples and {n} features, the copy has {rows} and {columns}: "
            f"{sample.how}."
        )
    if name == "leukemia" and features == numbered("feature", len(features)):
        features = numbered("probe", len(features))
    if name == "lrs":
        features, labels = BAND_NAMES, None if labels is None else class_names(labels)
    if name == "cbcl":
        features = pixel_names((19, 19))
    total, size = (float(X.sum(dtype=np.float64)) for X in (data.X, abs(data.X)))
    is_other = sample.total is not None and abs(total - sample.total) > _SAME_TOTAL * size
    said: tuple[str, ...] = ()
    if is_other:
        said = (
            f"The values of this copy add up to {total:.10g}, those of the copy our reference figures come "
            f"from to {sample.total:.10g}.",
        )
    if features == numbered("word", len(features)):
        said += ("The words have no names: give the vocabulary too.",)
    return replace(
        data,
        name=name,
        feature_names=features,
        image_shape=(19, 19) if name == "cbcl" else None,
        labels=labels if name in ("lrs", "leukemia") else None,
        source="copy" if is_other else "real",
        kind=sample.kind,
        axis=WAVELENGTH_UM if name == "lrs" else None,
        axis_name="wavelength (µm)" if name == "lrs" else "",
        provenance=sample.provenance,
        findings=as_findings(said),
    )


def fetch_sample(name: str, report: Report | None = None, folder: Path | None = None) -> Dataset:
    """Download a sample from its original address, keep it, and return it.

    Nothing calls this function without a request of the user.

    Parameters
    ----------
    name : str
        A name of `SAMPLES`.
    report : callable, optional
        Gets an event for every piece that arrives and may raise `Cancelled`.
    folder : Path, optional
        Folder for the file, instead of the user's cache; ``NSPCA_DATA`` may name it later.

    Raises
    ------
    DownloadError
        When the sample has no address, the network fails or the file cannot be read. The message says how to
        give a local copy.
    """
    sample, report = find_sample(name), report or silent
    if not sample.downloadable:
        way = f"{sample.how}." if sample.how else "it is always there, nothing has to be fetched."
        raise DownloadError(f"{sample.title} cannot be fetched by itself: {way}")
    with tempfile.TemporaryDirectory() as arriving:
        for original in sample.originals:
            _fetch(sample, original, Path(arriving), report)
        try:
            data = _parse(name, Path(arriving) / sample.originals[0].file)
        except InvalidData as error:
            raise DownloadError(
                f"What {sample.originals[0].url} sent is not {sample.title} ({error}) {_by_hand(sample)}"
            ) from error
    return _keep(name, data, folder)


def adopt_copy(
    name: str, path_or_buffer: str | Path | bytes | BinaryIO, folder: Path | None = None
) -> Dataset:
    """Read a user's own copy of a sample, keep it as NPZ, and return it.

    The copy may be a folder or ZIP of PGM images, docword, CSV, ``lrs.data`` or NPZ. Its shape must be that
    of the original.

    Parameters
    ----------
    name : str
        "cbcl", "leukemia", "lrs" or "bow-kos".
    path_or_buffer : path, bytes or open binary file
    folder : Path, optional
        Folder for the file, instead of the user's cache.

    Raises
    ------
    InvalidData
        When the copy cannot be read or is another data set.
    DownloadError
        When the file cannot be written.
    """
    sample = find_sample(name)
    if not sample.relative:
        raise InvalidData(f"{sample.title} is always there, no copy is needed.")
    return _keep(name, _parse(name, path_or_buffer), folder)


def _parse(name: str, source: str | Path | bytes | BinaryIO) -> Dataset:
    is_folder = isinstance(source, (str, Path)) and Path(source).is_dir()
    if name == "lrs" and not is_folder and (raw := bounded_bytes(source)).lstrip()[:1] == b"(":
        fluxes, header, classes, names = parse_lrs(raw)
        features = numbered("feature", fluxes.shape[1])
        data = Dataset("lrs", fluxes, features, names, classes, header=header, header_names=HEADER_NAMES)
        return complete(name, data)
    data = read(source, name=name)
    if data.X.shape[::-1] == SAMPLES[name].shape:
        data = read(source, name=name, features_in_rows=True)
    groups = [one for one in data.label_columns if one != PREFIX]
    if data.labels is None and len(groups) == 1:
        data = data.labelled(groups[0]) or data
    return complete(name, data)


def parse_lrs(raw: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return fluxes (m, 93), header fields (m, 7), classes (m,) and names of the spectra of ``lrs.data``."""
    fields = raw.decode("latin-1").replace("(", " ").replace(")", " ").replace(",", " ").split()
    if not fields or len(fields) % _FIELDS:
        raise InvalidData(
            f"A spectrum in lrs.data has {_FIELDS} fields, but the file has {len(fields)}: it is cut short, "
            "get it again."
        )
    table = np.array(fields).reshape(-1, _FIELDS)
    try:
        fluxes, header = (
            table[:, part].astype(np.float64) for part in (slice(_BEFORE, None), slice(_HEADER, _BEFORE))
        )
        classes = table[:, _CLASS].astype(np.float64).astype(np.int64)
    except ValueError:
        raise InvalidData("lrs.data holds text where a number should be: get the file again.") from None
    return fluxes, header, classes, tuple(str(name).strip("|\"'") for name in table[:, _NAME])


def class_names(labels: np.ndarray) -> np.ndarray:
    """Return the classes of spectra (m,) in words, by their first digit.

    Labels other than numbers from 0 to 99 are returned unchanged.
    """
    try:
        numbers = np.asarray(labels).astype(int)
    except (TypeError, ValueError):
        return labels
    if numbers.size == 0 or numbers.min() < 0 or numbers.max() > 99:
        return labels
    return np.array([_INSTRUMENT["classes"][number // 10] for number in numbers])


def _fetch(sample: Sample, original: Original, folder: Path, report: Report) -> None:
    stage, done = f"fetching {original.file}", 0
    report(Event(stage))
    try:
        with (
            requests.get(original.url, stream=True, timeout=_TIMEOUT_SECONDS) as response,
            (folder / original.file).open("wb") as file,
        ):
            response.raise_for_status()
            total = int(response.headers.get("Content-Length", 0))
            for piece in response.iter_content(_PIECE):
                done += file.write(piece)
                if done > MAX_BYTES:
                    raise DownloadError(
                        f"{original.file} is larger than {mib(MAX_BYTES)}, far more than it should be: the "
                        "download was stopped."
                    )
                report(Event(stage, done=done, total=total))
    except OSError as error:  # errors of the connection are OSErrors that carry a request
        response = getattr(error, "response", None)
        network = "no connection" if response is None else f"HTTP {response.status_code}"
        reason = network if hasattr(error, "request") else f"it could not be stored: {error.strerror}"
        raise DownloadError(
            f"{sample.title} could not be fetched from {original.url} ({reason}). {_by_hand(sample)}"
        ) from error


def _by_hand(sample: Sample) -> str:
    return f"A local copy does as well: {sample.how[0].lower()}{sample.how[1:]}."
