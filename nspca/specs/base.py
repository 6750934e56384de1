"""Base class of all specs. A spec is a question as an object."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from nspca.errors import InvalidOption, shown
from nspca.progress import Report, silent
from nspca.validation.model import Model

SCHEMA = 1
"""Version of the JSON form. Other versions are refused, since their fields may mean something else."""


@dataclass(frozen=True)
class Description:
    """A question in words."""

    data: str  # the data set and its preparation
    question: str  # such as ``sweep k = 1 to 30``
    details: tuple[str, ...] = ()  # the settings, each in a few words

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


def arguments(given: Mapping[str, Any], *first: str) -> str:
    """Return the arguments of a call as source code: keywords, and those that come `first`."""
    return ", ".join([*first, *(f"{name}={value!r}" for name, value in given.items())])


def load(text: str | bytes) -> dict[str, Any]:
    """Return the object that a JSON text holds, as a dict."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidOption("a spec must be JSON, got a text that is not; export it again") from None
    if not isinstance(values, dict):
        raise InvalidOption(f"a spec must be a JSON object, got {shown(values)}; export it again")
    return values


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
        if schema != SCHEMA:
            raise InvalidOption(f"a spec must be of schema {SCHEMA}, got {shown(schema)}; export it again")
        found = Spec.KINDS.get(kind) if isinstance(kind, str) else None
        if found is None or not issubclass(found, cls):
            known = [name for name, one in Spec.KINDS.items() if issubclass(one, cls)]
            raise InvalidOption(f"kind of a spec must be {' or '.join(map(repr, known))}, got {shown(kind)}")
        return found(**values)
