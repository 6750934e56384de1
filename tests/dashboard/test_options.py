"""Options of methods in forms: widgets from the dataclasses, in the address, the request and the Python."""

import json

import numpy as np
import pytest

import nspca
from nspca.components import DEFLATIONS
from nspca.dashboard.app.state import VALUES
from nspca.dashboard.runs import methods
from nspca.dashboard.sweep.rivals import ANGLE, BETWEEN
from nspca.errors import NSPCAError
from nspca.jobs import engine
from nspca.solving import line_of
from nspca.specs import ComparisonSpec, ComponentsSpec, DataSpec
from nspca.specs.method_options import options_words
from nspca.validation.address import write
from nspca.validation.options import option_texts

PAGE = "pages/sweep.py"
SHORT = {"sample": "pitprops", "ks": "2-3", "rivals": "em,epsnet"}


@pytest.mark.parametrize("method", methods.ALL)
def test_every_option_is_told_of_and_can_be_changed(method):
    Options = line_of(method).Options
    assert set(option_texts(Options)) == set(Options.__dataclass_fields__)
    for field in Options.__dataclass_fields__.values():
        assert not isinstance(field.default, str) or field.default in field.metadata["choices"]
        for choice in field.metadata.get("choices", ()):
            Options(**{field.name: choice})


def test_a_value_that_a_method_does_not_take_is_one_sentence(arrive, sentence):
    page = arrive(**SHORT, opts="em.restarts:0")
    assert "restarts must be a whole number, 1 or more, got 0" in sentence(page)


@pytest.mark.parametrize("text", ["em.restarts", "em.restarts:", "x", "~" * 9 + "a.b", "em.restarts:3;DROP"])
def test_a_wrong_address_is_as_if_nothing_was_said(text):
    with pytest.raises(ValueError):
        VALUES["opts"].read(text)


def test_a_value_of_another_kind_is_the_default(arrive):
    page = arrive(**SHORT, opts="em.restarts:many~em.starts:nowhere~em.polish:2~nobody.rank:3")
    assert not page.error and not page.exception
    default = line_of("em").Options()
    assert page.number_input(key="widget_opts_em_restarts").value == default.restarts == 10
    assert page.selectbox(key="widget_opts_em_starts").value == default.starts
    assert page.toggle(key="widget_opts_em_polish").value is default.polish


def test_the_address_gives_back_what_it_was_made_from():
    chosen = {"em.restarts": "3", "epsnet.eps": "0.05", "coordinate.beta": "1e-06"}
    assert VALUES["opts"].read(write(chosen)) == chosen


def test_what_was_not_changed_is_not_said():
    asked = ComparisonSpec(ks=(2,), methods=("em",))
    assert "options" not in asked.to_dict()
    changed = asked.but(options={"em": {"restarts": 2}})
    assert options_words(changed.options) == "em with restarts 2" in changed.describe().details


def test_the_snippet_takes_the_options(capsys):
    changed = {"em": {"restarts": 2, "polish": False}}
    data = DataSpec(sample="pitprops")
    asked = ComparisonSpec(data=data, ks=(2, 3), methods=("em",), options=changed, center=False)
    exec(asked.to_python(), {})
    assert "em" in capsys.readouterr().out and "'polish': False" in asked.to_python()


def test_parts_take_options(visit, address):
    page = visit("pages/components.py", sample="digits", r="2", size="3", by="bipartite,tpower")
    page.number_input(key="widget_opts_bipartite_rank").set_value(2).run()
    assert not page.error and not page.exception
    page.number_input(key="widget_opts_bipartite_samples").set_value(500).run()
    page.button(key="run").click().run()
    run = engine().store.list_runs(address(page)["w"])[0]
    assert json.loads(run.parameters)["spec"]["options"] == {"bipartite": {"samples": 500, "rank": 2}}
    engine().cancel(run.id)


def test_deflations_and_the_angle_can_be_chosen():
    assert set(BETWEEN) == {*DEFLATIONS, ANGLE}
    X = np.random.default_rng(2).gamma(2.0, 1.0, (30, 10))
    spec = ComponentsSpec(sizes=(3, 3, 3), methods=("tpower",), effort=None)
    problem = nspca.Problem.from_data(X, k=3)
    for between in ({}, {"deflation": "projection"}, {"angle": 60.0}):
        U = spec.but(**between).run(X=X)["tpower", 3].components
        if not between:
            assert (np.count_nonzero(U, axis=1) <= 1).all()
        if "angle" in between:
            assert np.degrees(np.arccos(np.clip(U.T @ U - np.eye(3), -1, 1))).min() >= 60 - 1e-6
        assert all(problem.violation(u) <= 1e-12 for u in U.T)
    with pytest.raises(NSPCAError):
        spec.but(methods=("joint",), angle=60.0).run(X=X)
