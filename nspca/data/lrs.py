"""Parse the Low Resolution Spectrometer file of the UCI archive: 103 fields in parentheses per spectrum.

`nspca.data.originals` calls it for a downloaded or given copy of the sample "lrs".
"""

import numpy as np

from nspca.errors import InvalidData

# Calibration of the instrument, in micrometres: 44 bands of the blue series, then 49 of the red one, which
# overlaps it.
BLUE = """
7.8636 8.0485 8.2286 8.4043 8.5758 8.7436 8.9078 9.0686 9.2262 9.3809 9.5328 9.6820 9.8286 9.9728 10.1148
10.2545 10.3922 10.5279 10.6616 10.7935 10.9237 11.0521 11.1790 11.3042 11.4280 11.5503 11.6711 11.7907
11.9089 12.0258 12.1415 12.2560 12.3693 12.4816 12.5927 12.7028 12.8118 12.9199 13.0269 13.1330 13.2382
13.3425 13.4459 13.5485
"""
RED = """
10.9929 11.3704 11.7357 12.0899 12.4339 12.7687 13.0948 13.4131 13.7239 14.0278 14.3252 14.6166 14.9022
15.1825 15.4576 15.7280 15.9937 16.2551 16.5123 16.7656 17.0151 17.2610 17.5034 17.7425 17.9784 18.2113
18.4412 18.6682 18.8925 19.1142 19.3334 19.5500 19.7643 19.9763 20.1861 20.3937 20.5992 20.8026 21.0041
21.2037 21.4014 21.5973 21.7914 21.9838 22.1745 22.3636 22.5511 22.7371 22.9216
"""
WAVELENGTH_UM = np.array([float(number) for number in (BLUE + " " + RED).split()])
BAND_NAMES = tuple(
    f"{series} {number} µm" for series, text in (("blue", BLUE), ("red", RED)) for number in text.split()
)
HEADER_NAMES = (
    "right ascension", "declination", "scale factor", "blue base 1", "blue base 2", "red base 1",
    "red base 2",
)  # fmt: skip
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


# The first digit of a class, as the catalogue of the satellite (IRAS Science Team 1986) uses it: what the
# spectrum shows at 10 µm.
CLASSES = {
    0: "other",
    1: "blue, featureless",
    2: "blue, silicate emission",
    3: "blue, silicate absorption",
    4: "blue, silicon carbide emission",
    5: "red, featureless",
    6: "red, silicate emission",
    7: "red, silicate absorption",
    8: "red, hydrocarbon bands",
    9: "red, emission lines",
}


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
    return np.array([CLASSES[number // 10] for number in numbers])
