"""Base classes of all specs: validation, JSON, addresses and descriptions.

A spec is a question as an object. Each field is declared once, with an `Option` that holds its label, its
name in addresses, and its place in exported Python. Descriptions, addresses and Python are derived from these
declarations.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from nspca.errors import InvalidOption, shown
from nspca.progress import Report, silent
from nspca.specs import address
from nspca.specs.address import Text

SCHEMA = 1
"""Version of the JSON form. Other versions are refused, since their fields may mean something else."""
PLAIN_WORDS = {
    "a valid tuple": "a list",
    "a valid dictionary": "an object",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid string": "a text",
    "a valid boolean": "True or False",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}
"""Words in the errors of pydantic, and the words that replace them for users."""


@dataclass(frozen=True)
class Option:
    """Properties of one field of a spec besides its type.

    Parameters
    ----------
    label : str
        The field in a few words, for descriptions and errors.
    query : str
        Name of the field in addresses; empty for a field that addresses do not carry.
    text : Text, optional
        Reader and writer of the value in addresses; by default chosen from the type of the default value.
    to : "call", "problem" or ""
        Call that gets the field as a keyword in exported Python: the one that answers the question, or the
        one that makes the problem.
    keyword : str
        Name of the keyword; by default that of the field.
    say : callable, optional
        ``say(value)`` returns a phrase for the description, empty for none. By default label and value.
    always : bool
        Whether description and address mention the default value too.
    """

    label: str
    query: str = ""
    text: Text | None = None
    to: str = ""
    keyword: str = ""
    say: Any = None
    always: bool = False


@dataclass(frozen=True)
class Required:
    """The values that a field takes, in words, which replace those of pydantic in a refusal.

    Parameters
    ----------
    words : str
        What is allowed, such as ``a whole number of at least 1``.
    remedy : str
        What to write instead, if `words` do not say it.
    """

    words: str
    remedy: str = ""


@dataclass(frozen=True)
class Description:
    """A question in words.

    Parameters
    ----------
    data : str
        The data set and its preparation.
    question : str
        The question, such as ``sweep k = 1 to 30``.
    details : tuple of str
        The settings, each in a few words.
    """

    data: str
    question: str
    details: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Data and question in one line."""
        return f"{self.data}, {self.question}"

    @property
    def line(self) -> str:
        """Data, question and settings in one line."""
        return ", ".join([self.data, self.question, *self.details])

    @property
    def asked(self) -> str:
        """Question and settings in one line, without the data."""
        return ", ".join([self.question, *self.details])


class Model(BaseModel):
    """A frozen, validated object. A bad value raises `InvalidOption` with one sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise InvalidOption(_sentence(type(self), values, error)) from None

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, values: Any) -> Any:
        """Convert NumPy's numbers and arrays, and ranges, to types that JSON has."""
        return {name: plain(value) for name, value in values.items()} if isinstance(values, dict) else values

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, as plain values that JSON can hold."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def but(self, **values: Any) -> Self:
        """Return a copy of this object with some values replaced; all are validated."""
        return type(self)(**dict(self) | values)

    @classmethod
    def declared(cls) -> Iterator[tuple[str, Option, Any]]:
        """Yield name, `Option` and default value of each field that has an `Option`, in their order."""
        for name, field in cls.model_fields.items():
            for option in field.metadata:
                if isinstance(option, Option):
                    default = None if field.is_required() else field.get_default(call_default_factory=True)
                    yield name, option, default

    def to_query(self) -> dict[str, str]:
        """Return this object as the names and texts of an address; see `from_query`."""
        query = {}
        for name, option, default in self.declared():
            value = getattr(self, name)
            if option.query and (option.always or value != default):
                query[option.query] = _text(option, default).write(value)
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Return the object that an address describes; unknown names are ignored.

        Raises
        ------
        InvalidOption
            For a text that is not a value of its field.
        """
        return cls(**cls.values_of_query(query))

    @classmethod
    def values_of_query(cls, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the fields that an address names."""
        values = {}
        for name, option, default in cls.declared():
            if option.query in query:
                text = query[option.query]
                try:
                    values[name] = _text(option, default).read(text)
                except (ValueError, KeyError):
                    raise InvalidOption(
                        f"{option.query}= in an address must be a value for {option.label}, got "
                        f"{shown(text)}; leave it out"
                    ) from None
        return values

    def details(self) -> tuple[str, ...]:
        """Return the settings in words; those at their defaults only if their `Option` says always."""
        said = []
        for name, option, default in self.declared():
            value = getattr(self, name)
            if option.always or value != default:
                words = f"{option.label} {value}" if option.say is None else option.say(value)
                said.append(words)
        return tuple(filter(None, said))

    def keywords(self, to: str) -> dict[str, str]:
        """Return the keywords of the call `to` in exported Python, with their values as source code."""
        found = {}
        for name, option, _ in self.declared():
            value = getattr(self, name)
            if option.to == to and value not in ((), None, {}):
                found[option.keyword or name] = repr(value)
        return found


def plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy, and ranges, as Python numbers and lists."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return tuple(value) if isinstance(value, range) else value


def load(text: str | bytes) -> dict[str, Any]:
    """Return the object that a JSON text holds, as a dict.

    Raises
    ------
    InvalidOption
        For a text that is not JSON, or JSON that is not an object.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidOption("a spec must be JSON, got a text that is not; export it again") from None
    if not isinstance(values, dict):
        raise InvalidOption(f"a spec must be a JSON object, got {shown(values)}; export it again")
    return values


def _text(option: Option, default: Any) -> Text:
    """Return reader and writer of a field in addresses, from its `Option` or else from its default."""
    if option.text is not None:
        return option.text
    if isinstance(default, bool):
        return address.FLAG
    if isinstance(default, int):
        return address.INTEGER
    if isinstance(default, tuple):
        return address.WORDS if all(isinstance(one, str) for one in default) and default else address.INTEGERS
    return address.WORD


def _sentence(cls: type[Model], values: Mapping[str, Any], error: ValidationError) -> str:
    """Return one sentence for the first wrong one of the `values`: what was required, and what was got."""
    errors = error.errors(include_url=False)
    # Of a field that takes a number or a list, the innermost error names the entry that is wrong.
    first = max(
        (one for one in errors if one["loc"][:1] == errors[0]["loc"][:1]), key=lambda e: len(e["loc"])
    )
    inner = first.get("ctx", {}).get("error")
    if isinstance(inner, Exception):
        return str(inner)
    what = f"{'an' if cls.__name__[0] in 'AEIO' else 'a'} {cls.__name__}"
    name = str(first["loc"][0]) if first["loc"] else ""
    words = _required(cls, name)
    if first["type"] == "extra_forbidden":
        return f"{what} has no {name!r}; leave it out"
    if first["type"] == "missing":
        needs = f", {words.words}" if words else ""
        return f"{what} needs {name!r}{needs}, got none"
    got = shown(first["input"])
    if words is not None:
        given = values.get(name)
        inside = (
            f" in {shown(given)}" if isinstance(given, list | tuple) and first["input"] is not given else ""
        )
        remedy = f"; {words.remedy}" if words.remedy else ""
        return f"{name} of {what} must be {words.words}, got {got}{inside}{remedy}"
    return f"{name} of {what} must {_in_plain_words(first)}, got {got}"


def _in_plain_words(error: Any) -> str:
    """Return what pydantic requires in an error, as the end of a sentence after "must"."""
    if error["type"] in ("too_short", "too_long"):
        few = error["type"] == "too_short"
        many = error["ctx"]["min_length" if few else "max_length"]
        required = f"have at {'least' if few else 'most'} {many} {'entry' if many == 1 else 'entries'}"
    else:
        required = "be " + error["msg"].removeprefix("Input should be ")
    for theirs, ours in PLAIN_WORDS.items():
        required = required.replace(theirs, ours)
    return required


def _required(cls: type[Model], name: str) -> Required | None:
    """Return what the field `name` must be, where it is declared in words."""
    field = cls.model_fields.get(name)
    return next((one for one in field.metadata if isinstance(one, Required)), None) if field else None


def load_kinds() -> None:
    """Load every kind of question, so that each is known by its name; else it is loaded when it is used."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")


class Spec(Model):
    """A question that can be stored, run and exported. JSON names its class by `kind`."""

    kind: ClassVar[str] = ""
    KINDS: ClassVar[dict[str, type["Spec"]]] = {}
    goes_on: ClassVar[bool] = False
    """Whether `run` takes the result of a cancelled run as `begun`, and does not compute it again."""

    def run(self, report: Report = silent, *args: Any, **given: Any) -> Any:
        """Return the answer; ``report(event)`` gets progress events and may raise `nspca.Cancelled`."""
        raise NotImplementedError

    def pack(self, result: Any) -> bytes:
        """Return the result of `run` as bytes for the store; `unpack` reads them."""
        return result.to_bytes()

    unpack: ClassVar[Any]  # returns the result from the bytes of `pack`

    def describe(self) -> Description:
        """Return the question in words."""
        raise NotImplementedError

    def to_python(self) -> str:
        """Return Python that answers the question; a subclass that has public names for that uses them."""
        return f"import nspca\n\nprint(nspca.Spec.from_json({self.to_json()!r}).run())\n"

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Remember a new class that declares its own `kind`; called by pydantic."""
        super().__pydantic_init_subclass__(**arguments)
        if "kind" in cls.__dict__:
            Spec.KINDS.setdefault(cls.kind, cls)

    def to_json(self) -> str:
        """Return the spec as JSON, for `from_json` and ``python -m nspca run``."""
        return json.dumps(self.to_plain(), indent=1, ensure_ascii=False)

    def to_plain(self) -> dict[str, Any]:
        """Return the spec as plain values that JSON can hold, with its kind and the version of the form."""
        return {"kind": self.kind, "schema": SCHEMA, **self.to_dict()}

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the spec that `to_json` wrote.

        Raises
        ------
        InvalidOption
            For other text, and for a spec of another kind.
        """
        return cls.from_plain(load(text))

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """Return the spec from plain values of `to_plain`."""
        if not isinstance(values, Mapping):
            raise InvalidOption(f"a spec must be a JSON object, got {shown(values)}; export it again")
        values = dict(values)
        kind, schema = values.pop("kind", None), values.pop("schema", SCHEMA)
        load_kinds()
        if schema != SCHEMA:
            raise InvalidOption(f"a spec must be of schema {SCHEMA}, got {shown(schema)}; export it again")
        found = Spec.KINDS.get(kind) if isinstance(kind, str) else None
        if found is None or not issubclass(found, cls):
            known = [name for name, one in Spec.KINDS.items() if issubclass(one, cls)]
            raise InvalidOption(f"kind of a spec must be {' or '.join(map(repr, known))}, got {shown(kind)}")
        return found(**values)
