"""The pages in docs/ say what the code says."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nspca
from nspca.bounds import core, elementary, elimination, lowrank, witness
from nspca.bounds.answers import bound_others
from nspca.bounds.disjoint.search import JointTree
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import JOINT_PLANS, PLANS
from nspca.bounds.remainder import collect
from nspca.bounds.search import SearchOfSeveral
from nspca.certificate import KINDS
from nspca.validation.archive import read_arrays
from scripts import methods_page
from scripts.lean import of_numbers, of_weights

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_page_of_methods_is_what_the_table_says_now():
    assert methods_page.PAGE.read_text(encoding="utf-8") == methods_page.page(), (
        "run python -m scripts.methods_page"
    )


# the certificate file

FORMAT = (DOCS / "certificate-format.md").read_text(encoding="utf-8")
TYPES = {
    "text": str,
    "number": float,
    "whole number": int,
    "true or false": bool,
    "list of whole numbers": list,
    "list of texts": list,
    "whole number, or list of whole numbers": (int, list),
}


def table(heading: str) -> dict[str, list[str]]:
    """Rows of the tables below a heading, by their first cell."""
    text = re.split(r"^#+ ", FORMAT.split(f"# {heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    return {first.strip("`"): rest for first, *rest in rows}


def inequalities():
    """Certificates with and without every array that the inequality can have."""
    X = np.random.default_rng(0).standard_normal((30, 12)) * np.linspace(3, 1, 12)
    problem = nspca.Problem.from_data(X, 3)
    yield X, elementary.eigenvalue(problem)
    yield X, lowrank.bound(problem, 2)[0]
    for kept in (elimination.all_rows(problem), elimination.keep(problem, 5)):
        W = elimination.search_threshold(kept, problem)[1]
        yield X, witness.certificate(problem, kept, witness.Witness(W))[0]
        parts = witness.Witness(W, 0.01 * kept.block, 0.1 * np.ones((len(kept.block), 1)))
        yield X, witness.certificate(problem, kept, parts)[0]
    kept = weighted(problem)
    yield X, witness.certificate(problem, kept, witness.Witness(np.minimum(kept.block, kept.floor)))[0]


def weighted(problem):
    """A core of five features with weights for the others, some of whose entries are above tau."""
    tau = 0.3 * float(problem.covariance.diagonal.max())
    found = core.with_core(problem, collect(problem.covariance, True, tau), np.arange(5), tau, 1.0)
    assert found is not None
    return found


def fixings():
    """A tree with stages, and one that needs no witness."""
    X = np.random.default_rng(0).standard_normal((60, 40)) * np.geomspace(3, 0.1, 40)
    problem = nspca.Problem.from_data(X, 6)
    A, kept = problem.covariance, elimination.all_rows(problem)
    value = nspca.solve(problem, certify=None).value / A.unit
    tree = FixingTree(problem=problem, plan=PLANS["standard"], lower=value, ground=Ground.of(problem, kept))
    found, _ = witness.lifted(kept, witness.Witness(elimination.search_threshold(kept, problem)[1]), 2)
    tree.begin(Stored.of(np.arange(40), replace(found, M=np.zeros((40, 40)))))
    assert tree.root.stages
    yield X, tree.certificate()
    X = np.random.default_rng(0).standard_normal((30, 12))
    yield X, nspca.certify(nspca.Problem.from_data(X, 3), effort="fast")


def lists():
    """A tree with stages and covered leaves."""
    X = np.random.default_rng(0).standard_normal((60, 24)) * np.geomspace(3, 0.1, 24)
    problem = nspca.Problem.from_data(X, 5)
    yield X, nspca.answers(problem, nspca.solve(problem, certify="standard"), 0.001).certificate


def joints():
    wide = np.random.default_rng(0).standard_normal((40, 420))
    yield wide, nspca.certify(nspca.Problem.from_data(wide, (3, 2, 2)), effort="fast")
    small = np.random.default_rng(0).standard_normal((40, 12))
    yield small, nspca.certify(nspca.Problem.from_data(small, (3, 2)), effort="fast")
    problem = nspca.Problem.from_covariance(np.eye(4), (1, 1))
    search = SearchOfSeveral(problem, JOINT_PLANS["fast"], 0.0)
    search.prove_ky_fan()
    yield np.eye(4), search.best
    problem = nspca.Problem.from_data(small, (3, 3, 2))
    kept = elimination.all_rows(problem)
    for M in (None, 0.01 * kept.block):
        for scales in (None, np.linspace(0.5, 2, 12)):
            packed = witness.Witness(kept.block / 2, M, 0.1 * np.ones((12, 2)), np.full(12, 0.01), scales)
            yield small, of_numbers(problem, kept, packed)
    kept = weighted(problem)
    W = np.minimum(kept.block, kept.floor)
    yield small, of_weights(problem, kept, W)
    yield small, of_numbers(problem, kept, witness.Witness(W, None, 0.1 * np.ones((5, 2)), np.full(5, 0.01)))


def packings():
    """A search over sets that branches, and one of data."""
    A = np.kron(np.eye(2), 0.1 * np.eye(3) + 0.9 * np.ones((3, 3)))
    yield A, nspca.certify(nspca.Problem.from_covariance(A, (2, 2, 2)), effort="exhaustive", nodes=20)
    X = np.random.default_rng(0).standard_normal((40, 8)) * np.linspace(3, 1, 8)
    problem = nspca.Problem.from_data(X, (3, 2))
    ground = Ground.of(problem.with_k(3), elimination.all_rows(problem))
    tree = JointTree(problem, PLANS["standard"], 0.0, ground=ground, limits=Limits(nodes=3))
    tree.run()
    yield X, tree.certificate()


def others():
    X = np.random.default_rng(0).standard_normal((40, 6)) * np.linspace(3, 1, 6)
    problem = nspca.Problem.from_data(X, (2, 2))
    result = nspca.solve(problem, certify="standard")
    yield X, bound_others(problem, result.components, result.certificate, Limits())


def elementaries(make):
    X = np.random.default_rng(0).standard_normal((30, 12))
    yield X, make(nspca.Problem.from_data(X, 3))


FORMS = {
    "inequality": inequalities,
    "fixing": fixings,
    "answers": lists,
    "joint": joints,
    "packing": packings,
    "others": others,
    "diagonal": lambda: elementaries(elementary.diagonal),
}


@pytest.mark.parametrize("form", FORMS)
def test_certificates_of_each_form_have_exactly_the_arrays_of_the_page(form):
    page, seen, most = table(form), [], 0
    if form in ("answers", "packing", "others"):
        page = table("packing") | page if form == "others" else page
        page = {name: row for name, row in table("fixing").items() if row[0] == "always"} | page
    for data, certificate in FORMS[form]():
        assert certificate.form == form and nspca.verify(data, certificate) <= certificate.upper
        arrays = read_arrays(certificate.to_bytes())
        header = json.loads(str(arrays.pop("header")))
        assert set(header) == set(table("Header")) and arrays.keys() == {
            f"witness_{name}"
            for name in certificate.witness.keys() - {"W"} | ({"W", "W_upper"} & {a[8:] for a in arrays})
        }
        assert all(isinstance(value, TYPES[table("Header")[name][0]]) for name, value in header.items())
        sizes = measured(certificate)
        for name, array in certificate.witness.items():
            _, kind, shape, _ = page[name]
            assert str(array.dtype) in kind.split(" or "), (form, name)
            assert array.shape == eval(shape, {}, sizes), (form, name)
        seen.append(set(certificate.witness))
        if form == "fixing":
            seen.append(set(certificate.witness) | told_of_features(data, certificate))
        most = max(most, sizes.get("p", 1))
    assert most > 0
    always = {name for name, row in page.items() if row[0] == "always"}
    assert set().union(*seen) == set(page) and set(page).intersection(*seen) == always


def told_of_features(data, certificate) -> set[str]:
    """The arrays about single features, which a certificate of one component can have."""
    bounds = np.full(certificate.shape[1], np.ldexp(certificate.upper, -certificate.exponent))
    more = {"having": bounds, "lacking": bounds.copy()}
    told = replace(certificate, witness=certificate.witness | more)
    assert nspca.verify(data, told) <= told.upper
    for name in more:
        with pytest.raises(nspca.CertificateError, match=r"missing|shape"):
            nspca.verify(data, replace(told, witness=certificate.witness | {name: bounds}))
    return set(more)


def fixing_sizes(parts) -> dict[str, int]:
    """The sizes of trees with stages, from the few arrays that the others follow."""
    leaves, split = (int((parts["branch"] == -1).sum()), int((parts["branch"] >= 0).sum()))
    trees = parts["level"].size
    r, d, cuts = parts["sizes"].T
    return {
        "s": int(parts["stages"].sum()),
        "u": int(parts["stages"].sum()) + leaves,
        "nodes": 2 * split + trees,
        "f": int(parts["fixed"].sum()),
        "p": len(r),
        "R": int(r.sum()),
        "w": int((r * (r + 1) // 2).sum()),
        "c": int((r * r * cuts).sum()),
        "e": int((r * d).sum()),
    }


def measured(certificate) -> dict[str, int]:
    """The sizes that the page's shapes are made of."""
    parts, n = certificate.witness, certificate.shape[1]
    U = parts.get("U", np.zeros((n, 0)))
    sizes = {
        "n": n,
        "r": parts["rows"].size if "rows" in parts else n,
        "d": U.shape[-1],
        "codes": parts.get("tree", U).size,
        "D": parts.get("lift", U).shape[-1],
        "q": parts["claims"].size - 1 if "claims" in parts and certificate.form == "joint" else 1,
    }
    if certificate.form in ("fixing", "answers", "packing", "others"):
        sizes |= fixing_sizes(parts)
    if certificate.form in ("answers", "others"):
        sizes |= {"m": parts["counts"].size, "z": int(parts["counts"].sum())}
    if certificate.form in ("packing", "others"):
        sizes |= {"g": parts["split"].size, "a": int(parts["pricings"].sum()), "o": parts["level"].size}
    if certificate.form == "joint":
        assert U.shape[-1] == len(certificate.k) - 1
    return sizes


def test_the_page_has_every_form_and_every_kind():
    assert set(table("Kinds")) == set(KINDS)
    assert set(re.findall("^### (.+)$", FORMAT, re.MULTILINE)) == set(FORMS)
    unknown = replace(elementary.diagonal(nspca.Problem.from_covariance(np.eye(3), 1)), form="none")
    with pytest.raises(nspca.CertificateError) as refused:  # the sentence of the error lists all forms
        nspca.verify(np.eye(3), unknown)
    assert set(re.findall(r"'(\w+)'", str(refused.value))) == {*FORMS, "none"}


def test_every_public_name_is_on_the_page_of_the_api():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.\. auto(?:class|function|exception):: (\w+)$", page, re.MULTILINE))
    assert named | {"METHODS"} == set(nspca.__all__)
