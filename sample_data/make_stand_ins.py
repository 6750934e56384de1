"""Make the small stand-ins for the four data sets of the papers: ``python sample_data/make_stand_ins.py``.

Nothing here is measured. Each generator has the structure that makes its original interesting: parts of
faces, overlapping bands of spectra, groups among many noisy genes, topics among rare words. So every page of
the dashboard has a structure to find.
"""

import argparse
import gzip
import io
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import to_npz
from nspca.data.dataset import Dataset
from nspca.data.lrs import BAND_NAMES, WAVELENGTH_UM
from nspca.data.names import numbered, pixel_names

SEED = 20140601
FACE = (19, 19)


def faces(rng: np.random.Generator, count: int = 600) -> Dataset:
    """Grey faces drawn from parameters: an elliptic head, hair, brows, eyes, nose, mouth, and light from one
    side.
    """
    y, x = np.mgrid[0:19, 0:19] / 9.0 - 1.0
    images = np.stack([_face(rng, x, y) for _ in range(count)])
    pixels = np.clip(np.round(images), 0, 255).astype(np.uint8)
    return Dataset(
        "faces",
        pixels.reshape(count, -1),
        pixel_names(FACE),
        numbered("face", count),
        image_shape=FACE,
        kind="image",
    )


def _face(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    dx, dy = rng.normal(0, 0.03, 2)
    tilt = rng.normal(0, 0.05)
    # Cropped as close as detectors crop: little ground is left in the corners.
    x, y = x / 1.18 - dx + tilt * y, y / 1.18 - dy - tilt * x
    width, height = rng.normal(0.86, 0.06), rng.normal(1.08, 0.06)
    radius = (x / width) ** 2 + ((y - 0.05) / height) ** 2
    head = _edge(1 - radius, 0.08)
    skin, ground = rng.uniform(135, 205), rng.uniform(30, 130)
    side, above = rng.normal(0, 0.22), rng.normal(-0.08, 0.12)
    image = skin * (1 + side * x + above * y - 0.22 * radius)
    line = rng.normal(-0.62, 0.1)
    hair = _edge(line - y + 0.25 * x**2 - rng.normal(0.1, 0.05), 0.08)
    image += hair * (rng.uniform(25, 110) - image)
    apart, eyes = rng.normal(0.40, 0.03), rng.normal(-0.28, 0.03)
    dark = rng.uniform(0.45, 0.75)
    for sign in (-1, 1):
        image *= 1 - dark * _blob(x - sign * apart, y - eyes, 0.15, rng.uniform(0.06, 0.09))
        image *= 1 - rng.uniform(0.2, 0.55) * _blob(x - sign * apart, y - eyes + 0.2, 0.21, 0.055)
        image *= 1 + rng.uniform(0.0, 0.18) * _blob(x - sign * 0.48, y - 0.18, 0.17, 0.17)
    image *= 1 + rng.uniform(0.05, 0.22) * _blob(x, y + 0.02, 0.07, 0.26)
    image *= 1 - rng.uniform(0.15, 0.4) * _blob(x, y - 0.30, 0.17, 0.05)
    mouth, wide, smile = rng.normal(0.60, 0.03), rng.normal(0.27, 0.04), rng.normal(0.12, 0.25)
    image *= 1 - rng.uniform(0.3, 0.6) * _blob(x, y - mouth + smile * x**2, wide, rng.uniform(0.05, 0.09))
    image *= 1 - rng.uniform(0, 0.2) * _blob(x, y - mouth - 0.16, 0.2, 0.05)
    return head * image + (1 - head) * ground + rng.normal(0, 4, x.shape)


def _edge(distance: np.ndarray, softness: float) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(distance / softness, -40, 40)))


def _blob(x: np.ndarray, y: np.ndarray, width: float, height: float) -> np.ndarray:
    return np.exp(-((x / width) ** 2 + (y / height) ** 2))


def spectra(rng: np.random.Generator, count: int = 400) -> Dataset:
    """Stars as black bodies with dust: silicate bands at 9.7 and 18 µm in emission or absorption, or the 11.3
    µm carbide band.
    """
    lam = WAVELENGTH_UM
    group = rng.choice(4, count, p=(0.35, 0.35, 0.15, 0.15))
    rows = np.empty((count, lam.size))
    for i, kind in enumerate(group):
        star, dust = _planck(lam, rng.uniform(2200, 4200)), _planck(lam, rng.uniform(150, 600))
        warm = rng.beta(1.2, 2.5) if kind else rng.beta(1, 9)
        flux = (1 - warm) * star + warm * dust
        silicate = _band(lam, 9.7, 1.1) + rng.normal(0.45, 0.06) * _band(lam, 18.0, 2.3)
        strength = (0.0, rng.gamma(4, 0.3), -rng.uniform(0.2, 0.75), 0.0)[kind]
        flux = flux * np.exp(strength * silicate)
        if kind == 3:
            flux = flux * (1 + rng.gamma(3, 0.12) * _band(lam, 11.3, 0.8))
        # The two series are calibrated separately, so they do not meet exactly.
        flux[44:] *= rng.normal(1.0, 0.03)
        rows[i] = flux / flux.mean() * 5000
    rows += rng.standard_normal(rows.shape) * rng.gamma(2, 60, (count, 1))
    names = np.array(["star", "silicate emission", "silicate absorption", "carbide"])
    return Dataset(
        "spectra",
        np.round(rows),
        BAND_NAMES,
        numbered("source", count),
        labels=names[group],
        kind="spectrum",
        axis=lam,
    )


def _planck(lam: np.ndarray, kelvin: float) -> np.ndarray:
    """Black-body flux density per unit frequency (hc/k = 14388 µm K), scaled to mean 1."""
    flux = lam**-3 / np.expm1(14388.0 / (lam * kelvin))
    return flux / flux.mean()


def _band(lam: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.exp(-0.5 * ((lam - centre) / width) ** 2)


def expression(rng: np.random.Generator, samples: int = 72, genes: int = 2000) -> Dataset:
    """Gene expression of three groups: sparse factors, heavy-tailed levels and noise, raw intensities with
    negative values.
    """
    group = np.repeat([0, 1, 2], (24, 20, 28))
    level = np.exp(rng.normal(5.0, 1.4, genes))
    logs = rng.normal(0, 0.15, (samples, 1)) + np.zeros((samples, genes))
    for marker in range(3):
        chosen = rng.choice(genes, 90, replace=False)
        logs[:, chosen] += np.outer(group == marker, rng.gamma(3, 0.45, chosen.size))
    for _ in range(5):
        chosen = rng.choice(genes, 60, replace=False)
        logs[:, chosen] += np.outer(rng.standard_normal(samples), rng.normal(0, 0.45, chosen.size))
    noise = rng.standard_t(4, (samples, genes)) * 0.2
    values = level * np.exp(np.clip(logs + noise, -4, 4)) + rng.standard_normal((samples, genes)) * 60 - 40
    labels = np.array(["ALL-like", "MLL-like", "AML-like"])[group]
    return Dataset(
        "expression", np.round(values), numbered("probe", genes), numbered("patient", samples), labels=labels
    )


PROGRAMS = {
    "T cell": "CD3D CD3E CD3G CD2 CD5 CD7 CD28 LCK ZAP70 TRAC TRBC1 IL7R CCR7 LEF1 TCF7 BCL11B ITK GATA3 "
    "CD27 SELL",
    "B cell": "CD19 MS4A1 CD79A CD79B CD22 PAX5 BLK BANK1 CD74 HLA-DRA IGHM IGHD TCL1A FCRL1 VPREB3 CD72 "
    "BLNK EBF1 POU2AF1 TNFRSF13C",
    "monocyte": "CD14 LYZ S100A8 S100A9 S100A12 FCN1 VCAN CSF1R CD68 ITGAM CD163 CTSS FCGR1A MNDA CEBPB "
    "TYROBP FCER1G CST3 AIF1 LST1",
    "NK cell": "NKG7 GNLY KLRD1 KLRF1 NCAM1 PRF1 GZMB GZMA FGFBP2 SPON2 KLRB1 NCR1 NCR3 CD160 XCL1 XCL2 "
    "TBX21 EOMES CTSW KLRC1",
    "interferon": "ISG15 IFI6 IFI27 IFI44 IFI44L IFIT1 IFIT2 IFIT3 MX1 MX2 OAS1 OAS2 OAS3 OASL RSAD2 XAF1 "
    "USP18 STAT1 IRF7 HERC5",
    "division": "MKI67 TOP2A CCNB1 CCNB2 CDK1 PLK1 AURKA AURKB BUB1 BUB1B CENPE CENPF BIRC5 UBE2C TYMS RRM2 "
    "MCM2 MCM3 MCM5 PCNA",
}  # fmt: skip
"""Genes that are active together in blood cells, by what they mark; the names are those of textbooks."""
CELLS = ("T cell", "B cell", "monocyte", "NK cell")
RIBOSOMAL = 80
"""Genes of ribosomal proteins, active in every cell."""


def blood(rng: np.random.Generator, each: int = 15) -> tuple[bytes, bytes]:
    """Gene expression of four kinds of blood cells, genes in rows, and a table about the samples, as CSV.

    The names of the genes are real, and which of them are active together is as in textbooks. Every number
    is made up.
    """
    genes = [gene for names in PROGRAMS.values() for gene in names.split()]
    genes += [f"RP{'LS'[i % 2]}{i // 2 + 3}" for i in range(RIBOSOMAL)]
    cell = np.repeat(CELLS, each)
    treated, donor = np.tile([True, False], 2 * each), np.tile(np.arange(each), 4)
    values = np.repeat(rng.uniform(4, 9, len(genes))[:, None], cell.size, axis=1)
    activity = {name: 2.5 * (cell == name) for name in CELLS}
    activity |= {"interferon": 2.0 * treated, "division": rng.gamma(1.0, 0.6, cell.size)}
    for number, name in enumerate(PROGRAMS):
        rows = slice(20 * number, 20 * number + 20)
        values[rows] += np.outer(rng.uniform(0.6, 1.2, 20), activity[name])
    values += rng.normal(0, 0.35, values.shape) + rng.normal(0, 0.2, each)[donor]
    names = [f"{kind.split()[0]}_{number}" for number, kind in enumerate(cell, 1)]
    table = [",".join(["gene", *names])]
    table += [",".join([gene, *(f"{x:.2f}" for x in row)]) for gene, row in zip(genes, values, strict=True)]
    about = ["sample,cell,treatment,donor"]
    for i in rng.permutation(cell.size):
        how = "interferon" if treated[i] else "none"
        about.append(f"{names[i]},{cell[i]},{how},donor {donor[i] + 1}")
    return ("\n".join(table) + "\n").encode(), ("\n".join(about) + "\n").encode()


def topics(
    rng: np.random.Generator, documents: int = 900, per_topic: int = 110, shared: int = 340
) -> Dataset:
    """Word counts of a Dirichlet mixture of six topics; the words of a topic begin alike, so a reader sees
    what was found.
    """
    stems = ("mar", "vel", "tor", "sil", "bru", "kan")
    words = [word for stem in stems for word in _words(rng, per_topic, stem)] + _words(rng, shared, "")
    total = len(words)
    zipf = 1.0 / np.arange(1, total + 1)
    common = np.concatenate(
        [np.full(per_topic * len(stems), 0.02 / total), zipf[:shared] / zipf[:shared].sum()]
    )
    common /= common.sum()
    mixtures = rng.dirichlet(np.full(len(stems), 0.15), documents)
    lengths = np.maximum(20, np.round(np.exp(rng.normal(4.6, 0.6, documents)))).astype(int)
    own = zipf[:per_topic] ** 0.8
    counts = np.zeros((documents, total))
    for i, (mixture, length) in enumerate(zip(mixtures, lengths, strict=True)):
        p = 0.55 * common
        for t, share in enumerate(mixture):
            p[t * per_topic : (t + 1) * per_topic] += 0.45 * share * own / own.sum()
        counts[i] = rng.multinomial(length, p / p.sum())
    order = np.argsort(words)
    X = sp.csr_array(counts[:, order])
    return Dataset("topics", X, tuple(words[j] for j in order), numbered("document", documents), kind="words")


def _words(rng: np.random.Generator, count: int, stem: str) -> list[str]:
    syllables = [c + v for c in ("b", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t") for v in "aeiou"]
    endings = ("", "n", "s", "th", "l", "x")
    made: dict[str, None] = {}
    while len(made) < count:
        middle = "".join(rng.choice(syllables, 2 if stem else 3))
        word = stem + middle + str(rng.choice(endings))
        # Words of all documents must not begin like a topic.
        if stem or not word.startswith(("mar", "vel", "tor", "sil", "bru", "kan")):
            made[word] = None
    return list(made)


def docword(data: Dataset) -> bytes:
    """Word counts in the UCI format, gzipped without a date."""
    entries = data.X.tocoo()
    table = np.column_stack([entries.coords[0] + 1, entries.coords[1] + 1, entries.data.astype(np.int64)])
    text = io.StringIO()
    np.savetxt(
        text, table, fmt="%d", header=f"{data.X.shape[0]}\n{data.X.shape[1]}\n{data.X.nnz}", comments=""
    )
    return gzip.compress(text.getvalue().encode(), mtime=0)


def make() -> dict[str, bytes]:
    """All stand-ins: file name and content."""
    words = topics(np.random.default_rng(SEED + 3))
    genes, about = blood(np.random.default_rng(SEED + 4))
    return {
        "blood-genes.csv": genes,
        "blood-samples.csv": about,
        "faces.npz": to_npz(faces(np.random.default_rng(SEED))),
        "spectra.npz": to_npz(spectra(np.random.default_rng(SEED + 1))),
        "expression.npz": to_npz(expression(np.random.default_rng(SEED + 2))),
        "docword.topics.txt.gz": docword(words),
        "vocab.topics.txt": "".join(f"{word}\n" for word in words.feature_names).encode(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the stand-ins of the sample data.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().folder
    for file, content in make().items():
        (folder / file).write_bytes(content)


if __name__ == "__main__":
    main()
