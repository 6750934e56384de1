"""What holds for every format: the table comes back, packed or not, and no damage ends in anything else."""

import gzip
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
import xlwt
from PIL import Image

from nspca.data import read
from nspca.data.formats import FORMATS
from nspca.errors import Cancelled, InvalidData
from tests.data.test_spreadsheets import as_ods
from tests.files import archive, npy, npz, saved, xlsx

NAMES, X = (
    ("ann", "bob", "cid", "dan", "eve"),
    [[3, 1, 4, 1], [0, 5, 9, 2], [6, 0, 3, 5], [8, 9, 0, 7], [2, 3, 8, 4]],
)
FEATURES = ("a", "b", "c", "d")
FRAME = pd.DataFrame(X, columns=FEATURES).assign(kind=list("xyxyx"))
FRAME.insert(0, "who", NAMES)
ROWS = [[*FRAME], *FRAME.to_numpy().tolist()]
TURNED = FRAME[[*FEATURES]].T.set_axis(NAMES, axis=1).rename_axis("gene").reset_index()


def old_workbook() -> bytes:
    book = xlwt.Workbook()
    sheet = book.add_sheet("one")
    for i, row in enumerate(ROWS):
        for j, cell in enumerate(row):
            sheet.write(i, j, cell)
    return saved(book.save)


def arff() -> bytes:
    kinds = ["string", *["numeric"] * 4, "{x,y}"]
    head = "".join(f"@attribute {name} {kind}\n" for name, kind in zip(FRAME, kinds, strict=True))
    return f"@relation people\n{head}@data\n{FRAME.to_csv(index=False, header=False)}".encode()


def entries() -> str:
    return "".join(f"{i} {j} {n}\n" for i, row in enumerate(X, 1) for j, n in enumerate(row, 1) if n)


def tsv(frame) -> bytes:
    return frame.to_csv(sep="\t", index=False).encode()


def geo() -> bytes:
    named = "\t".join(f'"{name}"' for name in NAMES)
    table = tsv(TURNED.rename(columns={"gene": "ID_REF"})).decode()
    return f"!Sample_title\t{named}\n!series_matrix_table_begin\n{table}!series_matrix_table_end\n".encode()


def idx() -> bytes:
    images = np.array(X, dtype=np.uint8).reshape(5, 2, 2)
    return bytes([0, 0, 8, 3]) + b"".join(n.to_bytes(4, "big") for n in images.shape) + images.tobytes()


def pictures(form: str, ending: str) -> bytes:
    images = [Image.fromarray(np.array(row, dtype=np.uint8).reshape(2, 2)) for row in X]
    return archive(
        {f"{name}.{ending}": saved(one.save, form) for name, one in zip(NAMES, images, strict=True)}
    )


NAMED = {
    "csv": FRAME.to_csv(index=False).encode(),
    "tsv": tsv(FRAME),
    "xlsx": xlsx(one=ROWS),
    "xls": old_workbook(),
    "ods": as_ods(one=ROWS),
    "parquet": saved(FRAME.to_parquet),
    "parquet with an index": saved(FRAME.set_index("who").to_parquet),
    "feather": saved(FRAME.to_feather),
    "feather, plain": saved(FRAME.astype({"kind": "category"}).to_feather, compression="uncompressed"),
    "feather, LZ4": saved(FRAME.to_feather, compression="lz4"),
    "stata": saved(FRAME.to_stata, write_index=False, version=118),
    "stata 13": saved(FRAME.to_stata, write_index=False, version=117),
    "old stata": saved(FRAME.to_stata, write_index=False, version=114),
    "json lines": FRAME.to_json(orient="records", lines=True).encode(),
    "json list": FRAME.to_json(orient="records").encode(),
    "json lists of columns": json.dumps(FRAME.to_dict("list")).encode(),
    "arff": arff(),
    "arff, CRLF": arff().replace(b"\n", b"\r\n"),
    "npz": npz(X=np.array(X), feature_names=FEATURES, sample_names=NAMES, labels=list("xyxyx")),
}
"""Tables with names of samples and features, and labels."""
GENES = {
    "gct": b"#1.2\n4\t5\n" + tsv(TURNED.assign(about="na")[["gene", "about", *NAMES]]),
    "geo": geo(),
    "feature counts": tsv(
        TURNED.rename(columns={"gene": "Geneid"}).assign(Chr=1, Start=2, End=3, Strand="+", Length=4)[
            ["Geneid", "Chr", "Start", "End", "Strand", "Length", *NAMES]
        ]
    ),
    "htseq": tsv(TURNED) + b"__no_feature\t1\t1\t1\t1\t1\n",
    "10x": archive(
        {
            "matrix.mtx": saved(scipy.io.mmwrite, sp.coo_array(np.array(X).T)),
            "features.tsv": "".join(f"E{name}\t{name}\n" for name in FEATURES),
            "barcodes.tsv": "".join(f"{name}\n" for name in NAMES),
        }
    ),
}
"""Tables with names of samples and features alone."""
PLAIN = {
    "npy": npy(np.array(X)),
    "sparse npz": saved(sp.save_npz, sp.csc_array(np.array(X))),
    "matrix market": saved(scipy.io.mmwrite, np.array(X)),
    "sparse matrix market": saved(scipy.io.mmwrite, sp.coo_array(X)),
    "docword": f"5\n4\n{np.count_nonzero(X)}\n{entries()}".encode(),
    "svmlight": "".join(
        "1 " + " ".join(f"{j}:{n}" for j, n in enumerate(row, 1) if n) + "\n" for row in X
    ).encode(),
    "idx": idx(),
}
"""Arrays without names."""
IMAGES = {
    form: pictures(form, ending)
    for form, ending in {"PNG": "png", "TIFF": "tif", "BMP": "bmp", "GIF": "gif", "PPM": "pgm"}.items()
}
FILES = NAMED | GENES | PLAIN | IMAGES


@pytest.mark.parametrize("kind", FILES)
def test_the_table_comes_back(kind, tmp_path):
    (tmp_path / "file").write_bytes(FILES[kind])
    sources = [FILES[kind], io.BytesIO(FILES[kind]), tmp_path / "file", gzip.compress(FILES[kind])]
    if kind not in IMAGES and kind not in ("10x", "npz", "sparse npz"):  # a ZIP in a ZIP
        sources.append(archive({"folder/file": FILES[kind], "README.md": "about"}))
    for source in sources:
        data = read(source, label_column="kind" if kind in NAMED and kind != "npz" else None)
        assert (data.X.toarray() if sp.issparse(data.X) else data.X).tolist() == X
        if kind in NAMED or kind in GENES:
            assert (tuple(data.feature_names), tuple(data.sample_names)) == (FEATURES, NAMES)
        if kind in NAMED:
            assert data.labels.tolist() == list("xyxyx")


def damaged(raw: bytes, rng: np.random.Generator, trial: int) -> bytes:
    """Return a file cut short, with some other bytes, or with a part of its ZIP damaged and packed again."""
    if raw.startswith(b"PK") and trial % 2:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            parts = {name: packed.read(name) for name in packed.namelist()}
        name = rng.choice([name for name, part in parts.items() if len(part) > 4])
        return archive(parts | {name: damaged(parts[name], rng, trial // 2)})
    body = bytearray(raw[: rng.integers(4, len(raw))] if trial % 3 == 0 else raw)
    for _ in range(trial % 4):
        body[rng.integers(len(body))] = rng.integers(256)
    return bytes(body)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("trials", [15, pytest.param(60, marks=pytest.mark.long)])
def test_a_damaged_file_is_data_or_one_sentence(kind, trials):
    rng, refused = np.random.default_rng(len(kind)), 0
    for trial in range(trials):
        try:
            data = read(damaged(FILES[kind], rng, trial))
            assert np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all()
        except InvalidData as error:
            refused += 1
            assert str(error).endswith(".") and "\n" not in str(error)
    assert refused


def test_reading_is_reported_and_can_be_cancelled():
    def stop(event):
        seen.append(event.stage)
        if event.stage == "reading images":
            raise Cancelled(event.stage)

    seen: list[str] = []
    with pytest.raises(Cancelled, match="reading images"):
        read(IMAGES["PNG"], report=stop)
    assert seen == ["reading", "reading images"]


def test_every_format_is_here_or_refused():
    """Formats are found by their first bytes or files; one claims each file."""
    from nspca.data.containers import find_format, open_source

    found = {find_format(open_source(raw)).name for raw in FILES.values()}
    left = {one.name for one in FORMATS if not one.refused} - found
    assert left == {"an HDF5 file", "counts of genes in several files", "a ZIP or folder"}
