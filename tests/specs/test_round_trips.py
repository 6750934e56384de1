"""Every kind of spec through JSON, an address and Python, and one new option that is found in all of them."""

import contextlib
import functools
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nspca
from nspca import specs
from nspca.data import SAMPLES, load_sample
from nspca.errors import InvalidOption
from nspca.specs import DataSpec, Spec
from nspca.specs.data import COVARIANCES, OF_FEATURES, ROWS

NAMES = st.sampled_from(["digits", "pitprops", "stars"])
NUMBERS = st.lists(st.integers(0, 60), max_size=4, unique=True).map(sorted).map(tuple)
WORD = st.text("abcdef0123456789", min_size=4, max_size=8)
KS = st.lists(st.integers(1, 12), min_size=1, max_size=5, unique=True).map(sorted).map(tuple)
METHODS = st.lists(st.sampled_from(["em", "tpower", "greedy"]), min_size=1, max_size=3, unique=True).map(
    tuple
)
OPTIONS = st.sampled_from(
    [{}, {"em": {"restarts": 3}}, {"em": {"starts": "paper"}, "tpower": {"restarts": 2}}]
)
COUNTING = st.fixed_dictionaries(
    {},
    optional={
        "text_column": st.sampled_from(["text", 3]),
        "split": st.sampled_from(["lines", "paragraphs"]),
        "stop_words": st.sampled_from(["none", "german"]),
        "own_stop_words": st.sampled_from([("sea",), ("gold", "ship")]),
        "lowest_share": st.sampled_from([0.015, 0.1, 1 / 8]),
        "highest_share": st.sampled_from([0.33, 1.0]),
        "weights": st.just("tfidf"),
        "pairs": st.booleans(),
        "most_words": st.integers(2, 9000),
    },
)
EFFORTS = st.sampled_from(["fast", "standard", "thorough"])


def groups(numbers: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(numbers[i : i + 2]) for i in range(0, len(numbers) - 1, 2))


@st.composite
def data(draw, changed: bool = True) -> DataSpec:
    where = draw(
        st.sampled_from(
            [
                {"sample": draw(NAMES)},
                {"upload": draw(WORD), "file": "a.csv", "id_column": draw(st.sampled_from([None, "id", 3]))},
                {"upload": draw(WORD), "missing": "mean", "covariance": draw(st.booleans()), "repair": True},
                {"upload": draw(WORD), "missing": "samples", "missing_codes": (-9999999.0, 99999.25, "NA")},
                {"upload": draw(WORD), "annotation": draw(WORD), "label_column": "batch", "image_size": 64},
                {"upload": draw(WORD), "words": True, **draw(COUNTING)},
                {"folder": "rows", "some": draw(st.sampled_from([0, 1000]))},
            ]
        )
    )
    if not changed:
        return DataSpec(**where, content=draw(WORD))
    out = draw(st.sampled_from(["only", "without"]))
    one = draw(st.lists(st.integers(0, 60), max_size=5, unique=True).map(sorted).map(groups))
    return DataSpec(
        **where,
        **{out: draw(NUMBERS)},
        together=one,
        drop_constant=draw(st.booleans()),
        log2=draw(st.booleans()),
        prepared=draw(st.sampled_from([(), ("equalised",), ("lee-seung", "equalised")])),
    )


@st.composite
def questions(draw) -> Spec:
    """Draw a spec of any kind that has an address."""
    keeps = draw(st.booleans())
    how = {
        "data": draw(data(changed=not keeps)),
        "nonneg": draw(st.booleans()),
        "center": draw(st.booleans()),
        "scale": draw(st.booleans()),
    }
    ks, methods, options = draw(KS), draw(METHODS), draw(OPTIONS)
    forced = draw(NUMBERS) if keeps else ()
    effort, k = draw(EFFORTS), draw(st.integers(1, 12))
    return draw(
        st.sampled_from(
            [
                specs.SweepSpec(**how, ks=ks, methods=methods, effort=effort, forced=forced),
                specs.ComparisonSpec(**how, ks=ks, methods=methods, effort=effort, options=options),
                specs.ComponentsSpec(
                    **how,
                    sizes=(k,) * draw(st.integers(1, 4)),
                    methods=methods,
                    options=options | {"bipartite": {"samples": 70}},
                    effort=draw(st.sampled_from([None, effort])),
                    noun=draw(st.sampled_from(["component", "topic"])),
                ),
                specs.ComponentsSpec(**how, sizes=draw(st.tuples(*[st.integers(1, 9)] * 3)), methods=methods),
                specs.MembershipSpec(**how, k=k, within=draw(st.integers(1, 1000))),
                specs.AnswersSpec(**how, k=k, within=draw(st.integers(0, 50_000))),
            ]
        )
    )


SEVERAL = {"sizes": (3, 3), "methods": ("auto", "em"), "effort": None}
FURTHER = {"data": DataSpec(sample="digits", content="abc"), "nonneg": False, "scale": True, "forced": (1, 2)}
OTHERS = [
    specs.SweepSpec(**FURTHER, ks=(2, 5)),
    specs.OptimumSpec(**FURTHER, k=3, effort="thorough", seconds=0),
    specs.OptimumSpec(**FURTHER, k=3, method="em", seconds=60, attempt=2),
    specs.OptimumSpec(**FURTHER, k=(3, 4), method="joint"),
    specs.CheckSpec(**FURTHER, k=(3, 4), source="covariance"),
    specs.ComponentsSpec(**FURTHER, **SEVERAL, deflation="schur", options={"em": {"restarts": 2}}),
    specs.ComponentsSpec(**FURTHER, **SEVERAL, angle=80.0),
    specs.StabilitySpec(**FURTHER, k=4, methods=("em", "auto"), resamples=3),
    specs.StabilitySpec(**FURTHER, k=(3, 4), methods=("cone",)),
    specs.ChoiceSpec(**FURTHER, ks=(2, 3), folds=3, draws=0),
    specs.ChoiceSpec(**FURTHER, ks=(3,), most=4, folds=3, draws=0),
    specs.GroupsSpec(**FURTHER, sizes=(3, 4), label="tissue", permutations=99),
    specs.NoiseSpec(**FURTHER, k=4, tables=9, seed=5),
    specs.PaperSpec(item=next(iter(nspca.papers.ITEMS)), files="abc"),
]


def test_every_kind_is_here():
    met = {type(spec) for spec in OTHERS} | {
        specs.SweepSpec,
        specs.ComparisonSpec,
        specs.ComponentsSpec,
        specs.AnswersSpec,
        specs.MembershipSpec,
    }
    assert met == {one for one in Spec.KINDS.values() if one.__module__.startswith("nspca.")}


@settings(max_examples=40, deadline=None)
@given(questions())
def test_json_is_a_way_and_a_way_back(spec):
    assert Spec.from_json(spec.to_json()) == spec
    assert type(spec).from_plain(json.loads(json.dumps(spec.to_plain()))) == spec
    assert hash(spec.to_json()) == hash(Spec.from_json(spec.to_json()).to_json())


@pytest.mark.parametrize("spec", OTHERS, ids=lambda spec: spec.kind)
def test_json_of_the_others(spec):
    assert Spec.from_json(spec.to_json()) == spec
    assert spec.describe().line and "None" not in spec.describe().line


def _in_an_address(data):
    """Return the data with only what an address can hold: without digests and the name of the file."""
    covariance = data.covariance and (data.upload is not None or data.sample in COVARIANCES)
    return data.but(file="", digest="", content="", covariance=covariance, some=ROWS if data.some else 0)


@settings(max_examples=40, deadline=None)
@given(questions())
def test_an_address_says_all_but_what_is_looked_up(spec):
    """The store knows digests and names of files; the page knows what a part is called."""
    again = type(spec).from_query(spec.to_query())
    assert again == spec.but(data=_in_an_address(spec.data), **_of_covariance(spec))
    assert again.to_query() == spec.to_query()


def _of_covariance(spec) -> dict:
    """A covariance is taken as it is, so an address says nothing of centring, by which topics are known."""
    if not spec.data.covariance:
        return {}
    noun = {"noun": "component"} if isinstance(spec, specs.ComponentsSpec) else {}
    return {"center": True, "scale": False, **noun}


@settings(max_examples=40, deadline=None)
@given(questions())
def test_every_question_is_described_without_a_riddle(spec):
    said = spec.describe()
    assert said.title == f"{said.data}, {said.question}"
    assert all(said.details) and "None" not in said.line and "{" not in said.line
    assert ("nonnegative" in said.details) == spec.nonneg


SMALL = {
    "sweep": specs.SweepSpec(data=DataSpec(sample="pitprops"), ks=(2, 3), methods=("auto", "em")),
    "table": specs.SweepSpec(
        data=DataSpec(
            sample="digits", drop_constant=True, log2=True, together=((20, 21), (0, 30)), without=(3, 4)
        ),
        ks=(2, 4),
        effort=None,
        forced=(1,),
    ),
    "comparison": specs.ComparisonSpec(
        data=DataSpec(sample="pitprops"), ks=(2,), methods=("em", "greedy"), options={"em": {"restarts": 2}}
    ),
    "parts": specs.ComponentsSpec(data=DataSpec(sample="pitprops"), sizes=(3, 3), methods=("joint",)),
    "unequal parts": specs.ComponentsSpec(
        data=DataSpec(sample="pitprops"), sizes=(3, 2), methods=("em",), effort="fast"
    ),
    "unequal parts of a table": specs.ComponentsSpec(
        data=DataSpec(sample="digits"), sizes=(3, 2), methods=("em",), scale=False, effort="fast"
    ),
    "deflated": specs.ComponentsSpec(
        data=DataSpec(sample="pitprops"), sizes=(3, 3), methods=("auto",), deflation="schur", effort=None
    ),
    "proof": specs.OptimumSpec(data=DataSpec(sample="pitprops"), k=3, effort="standard", seconds=0),
    "optimum": specs.OptimumSpec(data=DataSpec(sample="pitprops"), k=3),
    "optimum of several": specs.OptimumSpec(data=DataSpec(sample="pitprops"), k=(3, 3)),
    "answers": specs.AnswersSpec(data=DataSpec(sample="pitprops"), k=8, within=1000),
    "membership": specs.MembershipSpec(data=DataSpec(sample="pitprops"), k=3, within=950),
    "stability": specs.StabilitySpec(
        data=DataSpec(sample="digits", drop_constant=True), k=3, methods=("em",), resamples=2, scale=True
    ),
    "stability of parts": specs.StabilitySpec(
        data=DataSpec(sample="digits"), k=(3, 3), methods=("tpower",), resamples=2
    ),
    "choice": specs.ChoiceSpec(data=DataSpec(sample="digits"), ks=(2, 3), folds=2, draws=2, method="tpower"),
    "components choice": specs.ChoiceSpec(
        data=DataSpec(sample="digits"), ks=(3,), most=2, folds=2, draws=0, method="tpower"
    ),
    "groups": specs.GroupsSpec(data=DataSpec(sample="digits"), sizes=(3, 2), permutations=9),
    "noise": specs.NoiseSpec(data=DataSpec(sample="digits"), k=3, tables=2, method="tpower"),
}


@functools.cache
def answer(name: str):
    """Return the result of one of `SMALL`, which tests only read."""
    return SMALL[name].run()


@functools.cache
def ran(code: str) -> dict:
    """Return the names that exported Python defines, which tests only read."""
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "exported.py", "exec"), names)
    return names


def test_exported_python_of_every_kind_runs(tmp_path, monkeypatch):
    """`SMALL` has a question of every kind besides a check, which needs a file, and a paper."""
    kinds = {one.kind for one in Spec.KINDS.values() if one.__module__.startswith("nspca.")}
    assert kinds == {spec.kind for spec in SMALL.values()} | {"check", "paper"}
    monkeypatch.chdir(tmp_path)
    answer("proof").certificate.save("certificate.npz")
    ran(specs.CheckSpec(data=DataSpec(sample="pitprops"), k=3).to_python())
    assert ran(specs.PaperSpec(item="asteris2014-figure-1").to_python())["outcome"].panels


@pytest.mark.parametrize("name", [name for name in SMALL if name != "words"])
def test_exported_python_runs_and_uses_public_names(name):
    code = SMALL[name].to_python()
    used = {part.split("(")[0].split(".")[1] for part in code.split() if part.startswith("nspca.")}
    assert used <= set(nspca.__all__) and "import nspca\n" in code and "from nspca" not in code
    ran(code)


def test_exported_python_finds_what_the_spec_finds():
    for name in ("sweep", "table"):
        spec = SMALL[name]
        found, there = answer(name), ran(spec.to_python())["sweep"]
        for pair in found:
            assert np.array_equal(found[pair].components, there[pair].components), (name, pair)


@pytest.mark.parametrize("name", ["unequal parts", "unequal parts of a table", "parts"])
def test_exported_python_finds_the_same_parts(name):
    spec = SMALL[name]
    found, there = answer(name)[spec.methods[0], spec.r], ran(spec.to_python())["result"]
    assert found.value == pytest.approx(there.value, rel=1e-9)
    assert np.array_equal(found.components != 0, there.components != 0)


@pytest.mark.parametrize("name", [name for name in SMALL if name != "words"])
def test_a_result_is_packed_and_read_again(name):
    spec = SMALL[name]
    body = spec.pack(answer(name))
    assert isinstance(body, bytes) and spec.pack(spec.unpack(body)) == body


def test_samples_that_are_covariances_are_known():
    for name in SAMPLES:
        if SAMPLES[name].shape and SAMPLES[name].shape[1] < 100:
            assert load_sample(name).is_covariance == (name in COVARIANCES), name


@settings(max_examples=10, deadline=None)
@given(st.text(max_size=40))
def test_an_address_that_somebody_edited_is_refused_in_a_sentence(text):
    for name in ("from", "effort", "signed", "out", "prep", "methods"):
        with contextlib.suppress(InvalidOption):
            specs.SweepSpec.from_query({"from": "1", "to": "3", name: text})


@pytest.mark.parametrize("kind", [DataSpec, *Spec.KINDS.values()])
def test_the_docstring_of_a_spec_says_something_of_every_field(kind):
    lines = kind.__doc__.splitlines()
    for name in kind.model_fields:
        (at,) = [i for i, line in enumerate(lines) if line == name or line.startswith(f"{name} : ")]
        assert lines[at + 1].strip(), name
    if "nonneg" in kind.model_fields:
        assert "nonneg : default True\n    False: Allow negative weights." in kind.__doc__


def test_changes_are_named_in_the_order_in_which_they_are_done():
    changed = DataSpec(sample="digits", log2=True, drop_constant=True, without=(3,), prepared=("off-first",))
    said = "First component out, without 1 feature, without constant features, log2(x + 1)"
    assert changed.title == f"Handwritten digits, {said}"


def test_what_features_are_called():
    assert set(OF_FEATURES) <= set(DataSpec.model_fields)
