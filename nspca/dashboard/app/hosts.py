"""Decide by the ``Host`` and ``Origin`` headers whether a request is meant for this server.

A page of another site can reach a server on loopback when its name is made to point there (DNS rebinding).
The browser then sends that name as ``Host``, so only configured names are answered. `access.AccessControl`
asks for each request; `internals` makes the list at the start of the server.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nspca.errors import InvalidOption

LOOPBACK = ("localhost", "127.0.0.1", "::1")
WILDCARDS = ("0.0.0.0", "::")
_HOST = r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9._-]{0,252}))(?::([0-9]{1,5}))?"
_AUTHORITY = re.compile(_HOST)
_ORIGIN = re.compile(rf"([a-z][a-z0-9+.-]{{0,30}})://{_HOST}")
_PORTS = {"http": 80, "https": 443}


class Authority(NamedTuple):
    """Host name in lower case, or address in its shortest form, and the port that was written, if any."""

    name: str
    port: int | None


class Origin(NamedTuple):
    """Scheme, host and port of the page that sends a request; a usual port is left out."""

    scheme: str
    host: Authority


@dataclass(frozen=True)
class AllowedHosts:
    """Host names under which this server answers, and other origins that may send requests.

    Parameters
    ----------
    names : lower-case names and addresses, without ports
    any_address : whether every literal IP address is allowed too, for a server on all interfaces; DNS
        rebinding needs a name
    origins : other origins that may send requests
    """

    names: frozenset[str] = frozenset(LOOPBACK)
    any_address: bool = False
    origins: frozenset[Origin] = frozenset()

    def has_host(self, host: Authority) -> bool:
        """Return whether requests for `host` are answered."""
        return host.name in self.names or (self.any_address and _is_address(host.name))

    def has_origin(self, origin: Origin, host: Authority) -> bool:
        """Return whether a page of `origin` may send requests to `host`."""
        return origin in self.origins or _with_port(origin.host, origin) == _with_port(host, origin)


def read_authority(text: str) -> Authority | None:
    """Return the host and port of a ``Host`` header, or None when the header is malformed."""
    match = _AUTHORITY.fullmatch(text.strip().lower())
    return None if match is None else _authority(*match.groups())


def read_origin(text: str) -> Origin | None:
    """Return the parts of an ``Origin`` header, or None when the header is malformed.

    ``null``, which browsers send for sandboxed pages, is well formed and equals no other origin.
    """
    plain = text.strip().lower()
    if plain == "null":
        return Origin("null", Authority("", None))
    match = _ORIGIN.fullmatch(plain)
    if match is None:
        return None
    host = _authority(match[2], match[3])
    if host is None:
        return None
    return Origin(match[1], host if host.port != _PORTS.get(match[1]) else Authority(host.name, None))


def list_allowed(
    listening: str | None, shown: str | None = None, hosts: Iterable[str] = (), origins: Iterable[str] = ()
) -> AllowedHosts:
    """Return the hosts and origins that a server answers.

    Parameters
    ----------
    listening : address that the server listens on; None for all interfaces
    shown : address that visitors are told to open, if different
    hosts : further names, from ``NSPCA_HOSTS``
    origins : other origins, from ``NSPCA_ORIGINS``

    Raises
    ------
    InvalidOption
        If a host or an origin of the environment is malformed.
    """
    everywhere = listening is None or listening in WILDCARDS
    own = [socket.gethostname(), f"{socket.gethostname()}.local"] if everywhere else [listening]
    names = {known.name for text in (*own, shown) if text and (known := _read_name(text))}
    for text in hosts:
        read = _read_name(text)
        if read is None or read.port is not None:
            raise InvalidOption(
                f"NSPCA_HOSTS needs host names such as pca.example.org, separated by commas, got {text!r}"
            )
        names.add(read.name)
    allowed = set()
    for text in origins:
        origin = read_origin(text.rstrip("/"))
        if origin is None:
            raise InvalidOption(
                "NSPCA_ORIGINS needs origins such as https://pca.example.org, separated by commas, "
                f"got {text!r}"
            )
        allowed.add(origin)
    return AllowedHosts(frozenset({*LOOPBACK, *names}), everywhere, frozenset(allowed))


def _read_name(text: str) -> Authority | None:
    """Return a host name as an `Authority`; an IPv6 address may come without its brackets."""
    return read_authority(f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text)


def _authority(name: str, port: str | None) -> Authority | None:
    """Return host name and port in normal form; None if either is malformed."""
    if port is not None and int(port) > 65535:
        return None
    if name.startswith("["):
        try:
            name = str(ipaddress.IPv6Address(name[1:-1]))
        except ValueError:
            return None
    return Authority(name.removesuffix("."), None if port is None else int(port))


def _with_port(host: Authority, origin: Origin) -> tuple[str, int | None]:
    """Return host and port; a missing port becomes the default port of the origin's scheme."""
    return host.name, host.port or _PORTS.get(origin.scheme)


def _is_address(name: str) -> bool:
    """Tell whether a host name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
