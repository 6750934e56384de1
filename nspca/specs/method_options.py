"""Options of methods in specs: validation, words, and their texts in addresses.

Specs with the field `options` declare it as `Options`. Forms read single options with `read_option`.
"""

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Annotated, Any

from pydantic import AfterValidator

from nspca.solving import line_of
from nspca.validation import address
from nspca.validation.address import Text
from nspca.validation.model import Option
from nspca.validation.options import made


def options_words(options: Mapping[str, Mapping[str, Any]]) -> str:
    """Return changed options in words: ``em with restarts 3 and starts paper``; empty for none."""
    return "; ".join(
        f"{method} with " + " and ".join(f"{name} {value}" for name, value in given.items())
        for method, given in options.items()
        if given
    )


def write_options(options: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return options as texts of an address: ``{"em.restarts": "3", "em.starts": "paper"}``."""
    return {
        f"{method}.{name}": address.write(value)
        for method, given in options.items()
        for name, value in given.items()
        if value is not None
    }


def is_whole(one: Field[Any]) -> bool:
    """Tell whether an option of a method is a whole number."""
    return "int" in str(one.type)


def read_option(one: Field[Any], text: str) -> Any:
    """Return the value of an option of a method from its text in an address.

    Raises
    ------
    ValueError, KeyError
        For a text that is not a value of the option.
    """
    if isinstance(one.default, bool):
        return address.read_flag(text)
    if isinstance(one.default, str):
        return {choice: choice for choice in one.metadata["choices"]}[text]
    return int(text) if is_whole(one) else float(text)


def read_options(text: str) -> dict[str, dict[str, Any]]:
    """Return typed options by method from their texts in an address."""
    found: dict[str, dict[str, Any]] = {}
    for name, said in address.read_options(text).items():
        method, _, option = name.partition(".")
        known = {one.name: one for one in fields(line_of(method).Options)}
        found.setdefault(method, {})[option] = read_option(known[option], said)
    return found


def check_options(options: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return options by method; refuse unknown names, and values that a method does not allow."""
    for method, given in options.items():
        made(line_of(method).Options, method, given)
    return options


Options = Annotated[
    dict[str, dict[str, Any]],
    Option(
        "Options of the methods",
        "opts",
        Text(read_options, lambda value: address.write(write_options(value)), address.read_options),
        say=options_words,
    ),
    AfterValidator(check_options),
]
"""Type of the field `options` of specs: changed options by method."""
