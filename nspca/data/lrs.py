"""Parse the Low Resolution Spectrometer file of the UCI archive: 103 fields in parentheses per spectrum.

`nspca.data.originals` calls it for a downloaded or given copy of the sample "lrs".
"""

import tomllib
from pathlib import Path

import numpy as np

from nspca.errors import InvalidData

_INSTRUMENT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_BANDS = [(series, number) for series in ("blue", "red") for number in _INSTRUMENT[series].split()]
WAVELENGTH_UM = np.array([float(number) for _, number in _BANDS])
BAND_NAMES = tuple(f"{series} {number} µm" for series, number in _BANDS)
HEADER_NAMES = tuple(_INSTRUMENT["header"])
# Columns of a spectrum: name, class and type, then the header fields, then the fluxes.
_NAME, _CLASS, _HEADER, _FIELDS = 0, 1, 3, 103
_BEFORE = _HEADER + len(HEADER_NAMES)


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
