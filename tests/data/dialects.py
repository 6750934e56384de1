"""Write a known table in a random dialect, as people and programs write tables."""

from dataclasses import dataclass, field

import numpy as np

WORDS = [
    "ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "spruce",
    "teak", "willow", "yew", "alder"
]  # fmt: skip
UNITS = ["mg/l", "m", "%", "°C", "kg", "m", "m", "s", "min", "mol", "cm"]
TOWNS = [
    "Aachen", "Bremen", "Calais", "Dover", "Essen", "Fulda", "Genf", "Hamm", "Ilmenau", "Jena", "Kiel",
    "Lille", "Mainz", "Namur", "Oslo", "Paris"
]  # fmt: skip


@dataclass
class Written:
    """A table, and the text that it was written as.

    Parameters
    ----------
    raw : bytes
    X : (m, n) float64
    features, samples : list of str or None
        None where the file has no names.
    total : bool
        Whether a last row sums up the others.
    said : list of str
        Words of which one must be in a finding, where the table cannot come back by itself.
    about : dict
        The choices, for the message of a failure.
    """

    raw: bytes
    X: np.ndarray
    features: list[str] | None
    samples: list[str] | None
    total: bool = False
    about: dict[str, object] = field(default_factory=dict)


def write(seed: int) -> Written:
    """Return a random table in a random dialect."""
    rng = np.random.default_rng(seed)
    pick = lambda *choices: choices[int(rng.integers(len(choices)))]  # noqa: E731
    m, n = int(rng.integers(6, 16)), int(rng.integers(5, 12))
    scale, digits = pick((1, 3), (10, 2), (100, 1), (0.1, 4), (1000, 2))
    X = np.round(rng.normal(pick(0.0, 3.0) * scale, scale, (m, n)), digits)
    delimiter = pick(",", ";", "\t", "|", " ")
    decimal = "." if delimiter == "," else pick(".", ",")
    header = pick("words", "words", "wavelengths", "years", "counter", "doses", "falling", "none")
    ids = pick("none", "form", "towns", "number", "counter", "corner", "last", "dates", "zeros")
    above = pick("", "", "#", "title", "sep", "keys")
    total = bool(rng.random() < 0.2) and pick("Total", "Mean")
    encoding = pick("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252")
    blanks, quote, end = bool(rng.random() < 0.15), pick("", "", "", '"', "'"), pick("\n", "\r\n")
    below, negative = pick("", "", "units", "header", "groups"), pick("-", "-", "(")
    inside, after, sign = pick("", "", "empty"), pick("", "", "notes"), pick("", "", "", "%")
    if (above == "sep" and delimiter == " ") or (above == "keys" and header == "none"):
        above = ""
    names = {
        "words": WORDS[:n],
        "wavelengths": [str(400 + 5 * j) for j in range(n)],
        "years": [str(1970 + j) for j in range(n)],
        "counter": [str(j) for j in range(n)],
        "doses": [f"{value:g}" for value in np.cumsum(np.arange(n) + 1) * 0.5],
        "falling": [str(3000 - 20 * j) for j in range(n)],
        "none": None,
    }[header]
    if header in ("doses",) and decimal == ",":
        names = [name.replace(".", ",") for name in names or []]
    samples = {
        "none": None,
        "form": [f"leaf_{i}" for i in range(m)],
        "towns": TOWNS[:m],
        "last": TOWNS[:m],
        "number": [str(20230100 + 7 * i) for i in range(m)],
        "counter": [str(i + 1) for i in range(m)],
        "corner": [str(i) for i in range(m)],
        "dates": [f"2024-03-{i + 1:02}" for i in range(m)],
        "zeros": [f"{i:03}" for i in range(m)],
    }[ids]
    if names is None and ids in ("number", "corner", "zeros"):
        samples, ids = None, "none"
    corner = {"form": "sample", "towns": pick("Ort", "city"), "last": "city", "number": "sample_id"}
    corner |= {"counter": "No.", "corner": "", "dates": "date", "zeros": "plot"}
    if delimiter == " " and ids == "corner":
        corner["corner"] = "id"
    if encoding == "cp1252" and names is not None and header == "words":
        names = [f"{names[0]}é", *names[1:]]
    rows = [[_number(value, digits, decimal, negative) for value in row] for row in X]
    if sign and delimiter != " ":
        rows = [[f"{row[0]}{sign}", *row[1:]] for row in rows]
        total = False
    if total:
        last = X.sum(axis=0) if total == "Total" else X.mean(axis=0)
        rows.append([_number(value, digits + 2, decimal, negative) for value in last])
    if samples is not None:
        kept = [*samples, *([total] if total and ids in ("form", "towns", "last") else [])]
        if len(kept) < len(rows):  # a total has no number
            rows, total = rows[:m], False
        rows = [[name, *row] for name, row in zip(kept, rows, strict=True)]
    lines = [] if names is None else [[*([corner[ids]] if samples is not None else []), *names]]
    if header == "words" and below == "units" and (samples is None or corner[ids]):
        lines += [[*([""] if samples is not None and delimiter != " " else []), *UNITS[:n]]]
        lines = lines if len(lines[0]) == len(lines[1]) else lines[:1]
    lines += rows
    if header == "words" and below == "header":
        lines.insert(1 + m // 2, lines[0])
    if inside and delimiter != " ":
        lines.insert(len(lines) - 2, [""] * len(lines[-1]))
    if header == "words" and below == "groups" and delimiter != " " and n >= 6:
        lines.insert(
            0,
            [
                *[""] * (samples is not None),
                "first",
                *[""] * (n // 2 - 1),
                "second",
                *[""] * (n - n // 2 - 1),
            ],
        )
    if ids == "last":
        lines = [[*line[1:], line[0]] for line in lines]
    pad = "  " if blanks and delimiter != " " else ""
    cell = (lambda text: f"{quote}{text}{quote}") if quote else (lambda text: f"{pad}{text}{pad}")
    text = [delimiter.join(map(cell, line)) for line in lines]
    top = {
        "#": ["# exported by a program", "# on 2024-02-01"],
        "title": ["Table 3: what was measured by everybody who took part in this long year of ours", ""],
        "sep": [f"sep={delimiter}"],
        "keys": [f"Instrument{delimiter}Spectro", f"Gain{delimiter}3"],
    }
    notes = ["", "Source: a survey", "* p < .05"] if after and delimiter != " " else []
    whole = end.join([*top.get(above, []), *text, *notes, ""])
    about = {"delimiter": delimiter, "decimal": decimal, "header": header, "ids": ids, "above": above}
    about |= {"encoding": encoding, "blanks": blanks, "quote": quote, "below": below, "scale": scale}
    about |= {"negative": negative, "inside": inside, "after": after, "sign": sign, "shape": (m, n)}
    return Written(whole.encode(encoding), X, names, samples, bool(total), about)


def _number(value: float, digits: int, decimal: str, negative: str) -> str:
    text = f"{value:.{digits}f}".replace(".", decimal)
    return f"({text[1:]})" if negative == "(" and text.startswith("-") else text
