"""Small files that ask for much work or memory: what `verify` spends is bounded by the file and the table."""

import io
import itertools
import tracemalloc
import zipfile
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.api import prove_optimum
from nspca.checker import cover, fixing, matrix
from nspca.errors import CertificateError
from tests.oracles import brute_force, brute_force_joint

X = np.random.default_rng(0).standard_normal((12, 7)) @ np.diag(np.linspace(2, 0.5, 7))
A = np.cov(X.T, bias=True)
MIB = 2**20


def about(data, k, **recipe):
    """Return a certificate about a problem, whose witness is to be replaced."""
    return nspca.certify(nspca.Problem.from_data(data, k, **recipe), effort="fast")


def fixing_of(data, k, level=1e6, **arrays):
    """Return a certificate of form `fixing` without witnesses, a very weak one, with some arrays."""
    numbers = {name: np.zeros(0, int) for name in ("branch", "stages", "features", "use", "rows")}
    numbers |= {name: np.zeros(0) for name in ("tau", "W", "M", "U")}
    numbers |= {"fixed": np.zeros((0, 2), int), "sizes": np.zeros((0, 3), int), "claims": np.zeros((0, 2))}
    numbers |= {"level": np.array([level]), "tree": np.zeros(0, np.uint8)} | arrays
    if "stages" not in arrays:
        numbers["stages"] = np.zeros(len(numbers["branch"]), int)
    return replace(about(data, k), form="fixing", upper=1e12, witness=numbers)


def spent(monkeypatch, data, certificate):
    """Verify a certificate; return what was counted, the peak of memory in MiB, and the outcome."""
    counted = Counter()

    def counting(module, name, key, amount=lambda *given: 1):
        real = getattr(module, name)

        def count(*given, **words):
            counted[key] += amount(*given)
            return real(*given, **words)

        patch.setattr(module, name, count)

    with monkeypatch.context() as patch:
        counting(cover, "prove_cones", "cones", lambda f, F, cones, first: len(cones))
        counting(fixing.Trees, "_next", "uses")
        counting(fixing.Trees, "reduce", "reduced")
        counting(np.linalg, "cholesky", "factorisations")
        tracemalloc.start()
        try:
            outcome = nspca.verify(data, certificate)
        except CertificateError as error:
            outcome = str(error)
        finally:
            peak = tracemalloc.get_traced_memory()[1] / MIB
            tracemalloc.stop()
    return counted, peak, outcome


@pytest.mark.parametrize(("F", "says"), [(1e3, "proved"), (1e-9, "cone 0 is not proved")])
def test_cones_are_proved_as_they_come(monkeypatch, F, says):
    """2^15 orthants of 16 dimensions took 130 MB together, those of 20 dimensions 20 GB."""
    data = np.random.default_rng(0).standard_normal((30, 18))
    U = np.full((18, 16), 0.01)
    witness = {"U": U, "claims": np.array([50.0, F]), "tree": np.full(2**15, 255, np.uint8)}
    forged = replace(about(data, 2, nonneg=False), form="inequality", witness=witness, upper=1e6)
    content = forged.to_bytes()
    assert len(content) < 4000
    counted, peak, outcome = spent(monkeypatch, data, nspca.Certificate.from_bytes(content))
    assert says in outcome if isinstance(outcome, str) else says == "proved"
    assert peak < 32 and counted["cones"] <= 2048


def test_a_cone_that_is_split_very_deep_needs_no_memory_for_each_level(monkeypatch):
    data = np.random.default_rng(0).standard_normal((30, 12))
    orthants = 2**9
    tree = np.append(np.full(50_000, 1, np.uint8), np.full(orthants, 255, np.uint8))
    witness = {"U": np.full((12, 10), 0.01), "claims": np.array([50.0, 1e3]), "tree": tree}
    forged = replace(about(data, 2, nonneg=False), form="inequality", witness=witness, upper=1e6)
    _, peak, outcome = spent(monkeypatch, data, forged)
    assert "too early" in outcome and peak < 8  # 50 000 halves of 800 bytes would be 40 MB


def test_orthants_without_codes_are_refused_before_any_is_made(monkeypatch):
    data = np.random.default_rng(0).standard_normal((30, 400))
    witness = {"U": np.full((400, 390), 1e-3), "claims": np.array([1e3, 1e3])}
    forged = replace(about(data, 2), form="inequality", upper=1e6)
    witness["tree"] = np.full(3000, 255, np.uint8)  # 3000 cones of 390 generators would be 3.6 GB
    counted, peak, outcome = spent(monkeypatch, data, replace(forged, witness=witness))
    assert "too early" in outcome and counted["cones"] == 0 and peak < 64


@pytest.mark.parametrize("code", [fixing.REDUCED, fixing.CAPPED])
def test_a_node_without_features_in_is_not_reduced(monkeypatch, code):
    """A chain of such codes did the work of a factorisation for each, and got nowhere."""
    branch = np.full(50_000, code)
    uses = len(branch) if code == fixing.CAPPED else 0
    arrays = {"use": np.full(uses, -1), "claims": np.full((uses, 2), 1e3), "tau": np.zeros(uses)}
    forged = fixing_of(X, 4, branch=branch, **arrays)
    content = forged.to_bytes()
    assert len(content) < 20_000
    with pytest.raises(CertificateError, match=r"cannot be reduced|unpack"):
        nspca.verify(X, nspca.Certificate.from_bytes(content))
    counted, _, outcome = spent(monkeypatch, X, forged)
    assert "cannot be reduced: no feature is in" in outcome
    assert counted["reduced"] == 0 and counted["uses"] == 0


def test_nodes_that_wait_hold_no_entries_of_their_own(monkeypatch):
    n, k = 302, 150
    monkeypatch.setattr(matrix, "DENSE_LIMIT", n - 1)  # each node where one feature is out would hold A
    data = np.random.default_rng(0).standard_normal((5, n))
    forged = fixing_of(data, k, branch=np.arange(k - 1))
    _, peak, outcome = spent(monkeypatch, data, forged)
    assert "too early" in outcome and peak < 16  # 150 matrices are 109 MB


def test_matrices_of_reduced_nodes_below_each_other_are_limited(monkeypatch):
    monkeypatch.setattr(fixing, "MOST_HELD", 10 * 60**2 * 8)
    data = np.random.default_rng(0).standard_normal((80, 60))
    chain = itertools.chain.from_iterable((j, fixing.REDUCED) for j in range(40))
    # each reduced node is branched on, and the child without the feature waits
    forged = fixing_of(data, 59, branch=np.array(list(chain)))
    counted, _, outcome = spent(monkeypatch, data, forged)
    assert "need more than" in outcome and counted["reduced"] < 40


def test_a_file_that_unpacks_to_very_much_more_is_refused():
    content, packed = (
        replace(about(X, 4), witness={"tree": np.full(2**26, 255, np.uint8)}).to_bytes(),
        io.BytesIO(),
    )
    with (
        zipfile.ZipFile(io.BytesIO(content)) as one,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as other,
    ):
        for name in one.namelist():
            other.writestr(name, one.read(name))
    content = packed.getvalue()
    assert len(content) < 10_000
    with pytest.raises(CertificateError, match="would unpack to"):
        nspca.Certificate.from_bytes(content)


def repacked(*more, without="nothing", header=str):
    """Return the file of an honest certificate with more members, or with another text of its header."""
    content, packed = about(X, 4).to_bytes(), io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as one,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as other,
    ):
        arrays = [(name, np.load(one.open(name))) for name in one.namelist() if without not in name]
        for name, array in (*arrays, *more):
            part = io.BytesIO()
            np.save(part, np.array(header(str(array))) if name == "header.npy" else array)
            other.writestr(name, array if isinstance(array, bytes) else part.getvalue())
    return packed.getvalue()


def empty_texts(dtype, count):
    """Return an .npy of `count` texts of length 0, which has no byte besides its header."""
    part = io.BytesIO()
    np.lib.format.write_array_header_1_0(part, {"descr": dtype, "fortran_order": False, "shape": (count,)})
    return part.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (repacked(("witness_W_upper.npy", np.zeros(10**5)), without="_W"), "W_upper must be square"),
        (repacked(("witness_W_upper.npy", np.zeros((10**5, 1))), without="_W"), "W_upper must be square"),
        (repacked(("witness_q.npy", empty_texts("|S0", 2**40))), "real numbers or text"),
        (repacked(("witness_q.npy", empty_texts("<U0", 2**40))), "real numbers or text"),
        (repacked(("header", np.array("{}"))), "two arrays of one name"),
        (repacked(("claims.npy", np.ones(2))), "claims"),
        (repacked(header=lambda text: text[:-1] + ', "upper": 1e9}'), "twice"),
        (
            repacked(header=lambda text: text.replace('"shape": [', '"shape": [7, ')),
            "not of two whole numbers",
        ),
    ],
)
def test_files_that_grow_when_read_or_say_a_thing_twice_are_refused(content, said):
    """80 GB and 1 TB were asked for; of two headers, and of two bounds in one, the last was believed."""
    assert len(content) < 10_000
    tracemalloc.start()
    try:
        with pytest.raises(CertificateError, match=said):
            nspca.Certificate.from_bytes(content)
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()
    assert nspca.Certificate.from_bytes(repacked()).upper == about(X, 4).upper


# --- any file of at most 100 kB -----------------------------------------------------------------------------


def honest():
    """Return certificates of every form about X, each with the optimum of its problem."""
    found = []
    for nonneg in (True, False):
        problem = nspca.Problem.from_data(X, 4, nonneg=nonneg)
        optimum = brute_force(A, 4, nonneg)[0]
        own = nspca.certify(problem, effort="fast")
        found.append((replace(own, form="diagonal", witness={}, upper=1e6), optimum))
        found.append((prove_optimum(problem, nspca.solve(problem)).certificate, optimum))
        witness = {"U": np.linalg.eigh(A)[1][:, -3:], "claims": np.array([9.0, 30.0])}
        witness["tree"] = np.full(4, 255, np.uint8)
        found.append((replace(own, form="inequality", witness=witness, upper=1e6), optimum))
        problem, optimum = problem.with_k((2, 2)), brute_force_joint(A, (2, 2), nonneg)[0]
        found.append((nspca.certify(problem, effort="standard"), optimum))
        found.append((nspca.certify(problem, effort="exhaustive", nodes=30), optimum))
    assert {one.form for one, _ in found} >= {"diagonal", "inequality", "fixing"}
    return found


def grown(array, rng):
    """Return an array changed at random: repeated, cut, filled with one value, or with other codes."""
    how, times = rng.integers(6), int(rng.integers(2, 2000))
    if how == 0 and array.ndim == 1:
        return np.tile(array, times)[:20_000]
    if how == 1 and array.ndim == 1:
        return np.repeat(array, times)[:20_000]
    if how == 2:
        return array[: int(rng.integers(0, len(array) + 1))]
    if how == 3 and array.dtype.kind in "iu" and array.size:
        return np.full_like(array, rng.choice([0, 1, 2, 3, 255] if array.dtype == np.uint8 else range(-5, 5)))
    changed = array.copy()
    if changed.size:
        at = rng.integers(changed.size, size=int(rng.integers(1, 4)))
        kind = changed.dtype.kind
        changed.flat[at] = (
            changed.flat[at] * rng.choice([0, 0.5, 2, 1e6])
            if kind == "f"
            else rng.choice([0, 1, 2, 255] if changed.dtype == np.uint8 else range(-5, 9), size=at.size)
        )
    return changed


@pytest.mark.parametrize("count", [40, pytest.param(1200, marks=pytest.mark.long)])
def test_work_and_memory_are_bounded_for_files_of_at_most_100_kb(monkeypatch, count):
    """The bounds are those of docs/certificate-format.md; n = 7 and 12 rows are a small table."""
    rng, outcomes = np.random.default_rng(0), Counter()
    given = honest()
    for number in range(count):
        certificate, optimum = given[number % len(given)]
        witness = dict(certificate.witness)
        names = sorted(witness)
        for name in rng.choice(names, size=min(len(names), int(rng.integers(1, 4)))) if names else ():
            witness[name] = grown(np.asarray(witness[name]), rng)
        forged = replace(certificate, witness=witness, upper=0.5 * optimum if number % 2 else 1e9)
        if "branch" in witness and rng.random() < 0.5:  # as many stages as nodes, and uses to spare
            witness["stages"] = np.resize(witness["stages"], witness["branch"].shape)
            most = len(witness["branch"]) + len(witness["fixed"])
            for name in ("use", "claims", "tau"):
                witness[name] = np.resize(witness[name], (most, *np.shape(witness[name])[1:]))
        content = forged.to_bytes()
        if len(content) > 100_000:
            continue
        try:
            read = nspca.Certificate.from_bytes(content)
        except CertificateError:
            outcomes["not read"] += 1
            continue
        counted, peak, outcome = spent(monkeypatch, X, read)
        codes, uses = (len(np.atleast_1d(witness.get(name, ()))) for name in ("tree", "use"))
        nodes = len(np.atleast_1d(witness.get("branch", ())))
        assert counted["cones"] <= codes
        assert counted["uses"] <= uses and counted["reduced"] <= nodes
        assert counted["factorisations"] <= 4 * counted["cones"] + 2 * uses + nodes + 8
        assert peak <= 16 + 64 * read.nbytes / MIB
        outcomes["refused" if isinstance(outcome, str) else "accepted"] += 1
        assert isinstance(outcome, str) or outcome >= optimum * (1 - 1e-9), "accepted below the optimum"
    assert outcomes["refused"] > count / 4 and outcomes["accepted"] > count / 40, outcomes
