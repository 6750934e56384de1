"""What holds for every field of every spec, and one new option that is found at all doors."""

import sys
from typing import Annotated, ClassVar

import pytest
from pydantic import Field, StrictInt
from streamlit.testing.v1 import AppTest

import nspca.specs
from nspca.cli import entry
from nspca.cli.arguments import Parser, add_options, given_options
from nspca.cli.completion import subparsers
from nspca.dashboard.app import state
from nspca.result import Sweep
from nspca.specs import DataSpec, ProblemSpec, Spec, SweepSpec
from nspca.validation import address
from nspca.validation.model import Option, text_of

MODELS = {one.__name__: one for one in (*Spec.KINDS.values(), DataSpec, ProblemSpec)}
FIELDS = [
    pytest.param(model, name, option, default, id=f"{cls}.{name}")
    for cls, model in MODELS.items()
    for name, option, default in model.declared()
]


@pytest.mark.parametrize(("model", "name", "option", "default"), FIELDS)
def test_a_field_is_the_same_at_every_door(model, name, option, default):
    assert option.label
    if default is not None:
        assert isinstance(option.phrase(default), str)
    text = text_of(option, default)
    if option.query and default is not None:
        assert model.read(name, text.write(default)) == default
    if isinstance(default, int | float) and not isinstance(default, bool):
        low, high = model.limits(name)
        assert (low is None or low <= default) and (high is None or default <= high)
    if not option.flag:
        return
    parser = Parser()
    add_options(parser, model.__name__, name)
    (action,) = [action for action in parser._actions if action.dest == name]
    assert action.option_strings[0] == option.flag and action.help == option.help
    assert given_options(parser.parse_args([]), model.__name__, name) == {}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_names_and_flags_of_a_model_are_its_own(model):
    declared = [option for _, option, _ in model.declared()]
    queries = [option.query for option in declared if option.query]
    queries += [
        one for option in declared if isinstance(option.text, address.Names) for one in option.text.texts
    ]
    flags = [option.flag for option in declared if option.flag]
    assert len(set(queries)) == len(queries) and len(set(flags)) == len(flags)
    if model in state.SPECS:
        assert set(queries) <= set(state.VALUES)


class Wider(SweepSpec):
    """A sweep with one more option: the lines of `tries` are all that declares it."""

    kind: ClassVar[str] = "a wider sweep"
    tries: Annotated[
        StrictInt,
        Field(ge=1, le=9),
        Option("Tries", "tries", to="call", keyword="restarts", flag="--tries", help="how often it is tried"),
    ] = 1
    least: Annotated[StrictInt | None, Field(ge=1), Option("Least", "least", address.INTEGER)] = None


@pytest.fixture
def wider(monkeypatch):
    """The wider sweep in place of a sweep, where commands and the address look for it."""
    monkeypatch.setattr(nspca.specs, "SweepSpec", Wider, raising=False)
    monkeypatch.setattr(state, "VALUES", state.VALUES | state._declared(Wider, "sweep"))


def test_an_option_declared_once_is_found_everywhere(wider, monkeypatch):
    spec = Wider(data=DataSpec(sample="digits"), ks=(3,), methods=("em",), tries=4)
    assert spec.to_query()["tries"] == "4" and Wider.from_query(spec.to_query()) == spec
    assert '"tries": 4' in spec.to_json() and Spec.from_json(spec.to_json()) == spec
    assert "restarts=4" in spec.to_python() and "Tries 4" in spec.describe().details
    assert not hasattr(SweepSpec(ks=(3,)), "tries")
    calls = []
    monkeypatch.setattr("nspca.specs.sweep.sweep", lambda *_, **how: calls.append(how) or Sweep({}))
    spec.but(published=False, effort=None).run()
    assert calls[0]["restarts"] == 4 and calls[0]["certify"] is None


def test_the_command_line_takes_it(wider, capsys):
    top = entry.parser("sweep")
    args = top.parse_args(["sweep", "digits", "--k", "3", "--tries", "4"])
    assert given_options(args, "SweepSpec")["tries"] == 4
    with pytest.raises(SystemExit):
        top.parse_args(["sweep", "digits", "--k", "3", "--tries", "10"])
    assert "--tries: must be at most 9, got 10" in capsys.readouterr().err


def form_of_a_sweep():
    import streamlit as st

    from nspca.dashboard import open_data
    from nspca.dashboard.app import state
    from nspca.dashboard.sweep import form
    from tests.specs.test_options import Wider

    form.SweepSpec = Wider
    state.VALUES |= state._declared(Wider, "sweep")
    state.begin("sweep")
    data = open_data.opened()
    form.inputs(data)
    st.json({"tries": form.question(data).tries})


def test_the_form_draws_it_and_the_question_has_it(monkeypatch):
    from nspca.dashboard.sweep import form

    monkeypatch.setattr(form, "SweepSpec", SweepSpec)  # given back when the test ends
    monkeypatch.setattr(state, "VALUES", dict(state.VALUES))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # a page takes its place
    page = AppTest.from_function(form_of_a_sweep, default_timeout=60)
    page.query_params.update({"sample": "pitprops", "tries": "3"})
    page.run()
    assert not page.exception
    drawn = page.number_input(key="widget_tries")
    assert (drawn.label, drawn.min, drawn.max, drawn.value) == ("Tries", 1, 9, 3)
    assert drawn.help == "How often it is tried."
    least = page.number_input(key="widget_least")
    assert (least.min, least.value) == (1, None)
    least.set_value(2).run()
    assert not page.exception and page.query_params["least"] in ("2", ["2"])
    drawn.set_value(5).run()
    assert page.query_params["tries"] in ("5", ["5"]) and '"tries": 5' in page.json[0].value.replace(
        '":5', '": 5'
    )


def test_a_value_that_the_field_does_not_take_is_not_read_from_an_address(wider):
    assert state.VALUES["tries"].read("9") == 9
    with pytest.raises(ValueError, match="must be at most 9"):
        state.VALUES["tries"].read("10")


def test_nothing_is_declared_for_a_command_that_is_not_called():
    other = subparsers(entry.parser("solve"))["sweep"]
    assert [action.dest for action in other._actions] == ["help"]
