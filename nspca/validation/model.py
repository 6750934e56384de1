"""Base class of everything with settings: validation, JSON, addresses and descriptions.

Each field is declared once, with an `Option` that holds its label, its name in addresses and on the command
line, and its place in exported Python. Descriptions, addresses, arguments, inputs of forms and Python follow
from these declarations. `nspca.cli.arguments.add_options` has the loop for the command line, and
`nspca.dashboard.app.form` the one for forms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from nspca.errors import InvalidOption, NSPCAError, shown
from nspca.validation import address
from nspca.validation.address import Names, Text

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
    """Properties of one field of a spec besides its type."""

    label: str  # the field in a few words, for descriptions and errors
    query: str = ""  # its name in addresses; empty for a field that addresses do not carry
    # Reader and writer of the value in addresses, by default chosen from the type of the default; `Names` are
    # for a value that takes several names, and need no `query`.
    text: Text | Names | None = None
    # The call that gets the field as a keyword in exported Python: "call", which answers the question, or
    # "problem", which makes the problem.
    to: str = ""
    keyword: str = ""  # by default the name of the field
    # Phrase for the description, with {} for the value, or the function that returns one; empty for none.
    say: str | Callable[[Any], str] = "{label} {}"
    always: bool = False  # whether description and address mention the default value too
    flag: str = ""  # name on the command line, such as ``--image-size``
    metavar: str = ""  # the value in the help of the command line; by default that of `text`
    # Value that the flag stands for; without one the flag of a boolean means the opposite of its default,
    # and any other needs a value.
    const: Any = None
    words: Mapping[Any, str] | None = None  # the choices in words, for the widget
    by_data: bool = False  # whether a form without a value asks the data, and not the default
    help: str = ""  # the docstring of the field, for its flag and its widget, as the end of a sentence

    def phrase(self, value: Any) -> str:
        """Return the phrase for the description of a question."""
        return self.say.format(value, label=self.label) if isinstance(self.say, str) else self.say(value)


@dataclass(frozen=True)
class Required:
    """The values that a field takes, in words, which replace those of pydantic in a refusal."""

    words: str  # what is allowed, such as ``a whole number of at least 1``
    remedy: str = ""  # what to write instead, if `words` do not say it


class Model(BaseModel):
    """A frozen, validated object. A bad value raises `InvalidOption` with one sentence."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        protected_namespaces=(),
        use_attribute_docstrings=True,
    )

    shown_as: ClassVar[str] = ""
    """What refusals call the object, where users do not know its class."""

    if not TYPE_CHECKING:

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise InvalidOption(_sentence(type(self), values, error)) from None

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        """Add the fields to the docstring of the class, each with its own docstring; called by pydantic."""
        lines = [cleandoc(cls.__doc__ or ""), "", "Parameters", "----------"]
        for name, field in cls.model_fields.items():
            option = next((one for one in field.metadata if isinstance(one, Option)), Option(""))
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            required = _required(cls, name)
            parts = option.label, required.words if required else ""
            said = field.description or ": ".join(filter(None, parts))
            # The docstring of a flag says what the flag does, and that is the opposite of True.
            said = f"False: {said}" if default is True and option.flag else said
            known = "" if default is None or isinstance(default, Model) else f" : default {default!r}"
            lines += [f"{name}{known}", f"    {' '.join(said.split())}"]
        cls.__doc__ = "\n".join(lines)

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
    @cache
    def declared(cls) -> tuple[tuple[str, Option, Any], ...]:
        """Return name, `Option` and default value of each field that has an `Option`, in their order."""
        found = []
        for name, field in cls.model_fields.items():
            for option in field.metadata:
                if isinstance(option, Option):
                    default = None if field.is_required() else field.get_default(call_default_factory=True)
                    words = " ".join((field.description or option.help).split()).removesuffix(".")
                    is_word = words[1:2].islower() or words[1:2] == " "
                    words = words[:1].lower() + words[1:] if is_word else words
                    metavar = option.metavar or getattr(text_of(option, default), "metavar", "")
                    found.append((name, replace(option, help=words, metavar=metavar), default))
        return tuple(found)

    @classmethod
    def option(cls, name: str) -> tuple[Option, Any]:
        """Return `Option` and default value of the field `name`."""
        return next((option, default) for field, option, default in cls.declared() if field == name)

    @classmethod
    def choices(cls, name: str) -> tuple[Any, ...]:
        """Return the values that the type of a field lists; empty for a field that takes others too."""
        listed = [
            kind.get("enum") or [kind[key] for key in kind if key == "const"] for kind in _kinds(cls, name)
        ]
        return tuple(one for part in listed for one in part) if all(listed) else ()

    @classmethod
    def types(cls, name: str) -> set[str | None]:
        """Return the types of the values that a field takes beside None, as JSON calls them."""
        return {kind.get("type") for kind in _kinds(cls, name)}

    @classmethod
    def limits(cls, name: str) -> tuple[Any, Any]:
        """Return the least and the largest value of a field of numbers; None where there is no limit."""
        low, high = (
            next((kind[key] for kind in _kinds(cls, name) if key in kind), None)
            for key in ("minimum", "maximum")
        )
        return low, high

    @classmethod
    def read(cls, name: str, text: str) -> Any:
        """Return the value of a field from its text in an address or on the command line.

        The refusal of another text leaves its subject to the caller: ``must be at least 2, got 'x'``.
        """
        option, default = cls.option(name)
        form = text_of(option, default)
        try:
            value = form.read(text)
        except (ValueError, KeyError):
            if form.words:
                raise InvalidOption(f"must be {form.words}, got {shown(text)}") from None
            value = text  # so that the sentence says what the field takes
        try:
            return _adapter(cls, name).validate_python(plain(value))
        except ValidationError as error:
            raise InvalidOption(_why(cls, name, text, error.errors(include_url=False))) from None

    def to_query(self) -> dict[str, str]:
        """Return this object as the names and texts of an address; see `from_query`."""
        query: dict[str, str] = {}
        for name, option, default in self.declared():
            value = getattr(self, name)
            if isinstance(option.text, Names):
                query |= option.text.write(value)
            elif option.query and (option.always or value != default):
                query[option.query] = text_of(option, default).write(value)
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
            if isinstance(option.text, Names):
                if option.text.texts.keys() & query.keys():
                    values[name] = option.text.read(query)
            elif option.query in query:
                text = query[option.query]
                try:
                    values[name] = text_of(option, default).read(text)
                except NSPCAError:
                    raise
                except (ValueError, KeyError):
                    raise InvalidOption(
                        f"{option.query}= in an address must be a value for {option.label}, got "
                        f"{shown(text)}; leave it out"
                    ) from None
        return values

    def details(self, *names: str) -> tuple[str, ...]:
        """Return all settings, or those named, in words; defaults only where an `Option` says always."""
        said = []
        for name, option, default in self.declared():
            value = getattr(self, name)
            if (not names or name in names) and (option.always or value != default):
                said.append(option.phrase(value))
        return tuple(filter(None, said))

    def given_to(self, to: str) -> dict[str, Any]:
        """Return the keyword arguments of the call `to`; those that are empty by default are left out."""
        found = {}
        for name, option, default in self.declared():
            value = getattr(self, name)
            if option.to == to and not (value == default and value in ((), None, {})):
                found[option.keyword or name] = value
        return found


@cache
def _adapter(cls: type[Model], name: str) -> TypeAdapter[Any]:
    field = cls.model_fields[name]
    metadata = [one for one in field.metadata if not isinstance(one, Option)]
    annotation: Any = Annotated[field.annotation, *metadata] if metadata else field.annotation
    return TypeAdapter(annotation)


@cache
def _kinds(cls: type[Model], name: str) -> list[dict[str, Any]]:
    """Return the JSON schema of each kind of value that a field takes beside None."""
    schema = _adapter(cls, name).json_schema()
    return [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]


def plain(value: Any) -> Any:
    """Return numbers and arrays of NumPy, and ranges, as Python numbers and lists."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return tuple(value) if isinstance(value, range) else value


def text_of(option: Option, default: Any) -> Text:
    """Return reader and writer of a field in addresses, from its `Option` or else from its default."""
    if isinstance(option.text, Text):
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
    name = str(errors[0]["loc"][0]) if errors[0]["loc"] else ""
    what = cls.shown_as or f"{'an' if cls.__name__[0] in 'AEIO' else 'a'} {cls.__name__}"
    if errors[0]["type"] == "extra_forbidden":
        return f"{what} has no {name!r}; leave it out"
    if errors[0]["type"] == "missing":
        required = _required(cls, name)
        return f"{what} needs {name!r}{f', {required.words}' if required else ''}, got none"
    of_field = [one for one in errors if one["loc"][:1] == errors[0]["loc"][:1]]
    why = _why(cls, name, values.get(name), of_field)
    return f"{name}{'' if cls.shown_as else f' of {what}'} {why}" if why.startswith("must ") else why


def _why(cls: type[Model], name: str, given: Any, errors: Sequence[Any]) -> str:
    """Return what the field `name` must be and what was `given`, or else what its validator said."""
    # Of a field that takes a number or a list, the innermost error names the entry that is wrong.
    first = max(errors, key=lambda one: len(one["loc"]))
    inner, required, got = first.get("ctx", {}).get("error"), _required(cls, name), shown(first["input"])
    if isinstance(inner, NSPCAError):
        return str(inner)
    if required is None:
        return f"must {_in_plain_words(first)}, got {got}"
    is_inside = isinstance(given, list | tuple) and first["input"] is not given
    inside = f" in {shown(given)}" if is_inside else ""
    return f"must be {required.words}, got {got}{inside}{f'; {required.remedy}' if required.remedy else ''}"


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
