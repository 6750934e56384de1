"""Check passwords so that guessing is slow.

Guesses from one address are checked one at a time, and every wrong guess delays the next. Without this queue,
a thousand guesses sent at once would take no longer than one guess. `access.AccessControl` has one
`PasswordCheck` for the server.
"""

import asyncio
import enum
import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

FIRST_DELAY = 1.0  # seconds after the first wrong password of an address; each further one doubles it
LONGEST_DELAY = 8.0  # seconds: a class behind one address is not locked out by a few of its members
FORGET_AFTER = 600.0  # seconds without a wrong password, after which an address starts anew
MOST_WAITING = 100  # waiting guesses of one address; a whole class may log in at once
MOST_ADDRESSES = 10_000  # addresses that are remembered, about 5 MB
NETWORK_BITS = 64  # an IPv6 customer has at least this many bits of addresses to choose from
log = logging.getLogger("nspca.access")


class Outcome(enum.Enum):
    """Result of checking a password."""

    RIGHT = "right"
    WRONG = "wrong"
    BUSY = "busy"  # too many guesses of this address are waiting; this password was not checked


@dataclass
class _Guesses:
    """Count of wrong passwords of one address, and of its guesses that wait to be checked."""

    wrong: int = 0
    last: float = 0.0  # clock time of the last wrong password
    waiting: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class PasswordCheck:
    """Check passwords, one guess of an address at a time, with a delay after each wrong one.

    Parameters
    ----------
    clock : returns seconds that never decrease
    sleep : waits for a number of seconds
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._guesses: dict[str, _Guesses] = {}  # by address, in order of addition

    async def check(self, address: str, is_right: Callable[[], bool]) -> Outcome:
        """Return whether a password is right. The answer to a wrong password is delayed.

        Parameters
        ----------
        address : address that the request comes from, see `name_address`
        is_right : compares the password; called when earlier guesses of the address are checked
        """
        guesses = self._find(address)
        if guesses.waiting >= MOST_WAITING:
            return Outcome.BUSY
        guesses.waiting += 1
        try:
            async with guesses.turn:
                if is_right():
                    guesses.wrong = 0
                    return Outcome.RIGHT
                if self._clock() - guesses.last > FORGET_AFTER:
                    guesses.wrong = 0
                guesses.wrong, guesses.last = guesses.wrong + 1, self._clock()
                log.warning("wrong password from %s", address)
                await self._sleep(min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(guesses.wrong - 1, 10)))
                return Outcome.WRONG
        finally:
            guesses.waiting -= 1
            if not guesses.wrong and not guesses.waiting:
                self._guesses.pop(address, None)

    def _find(self, address: str) -> _Guesses:
        """Return the record of an address. When many are known, a new one displaces the oldest idle one."""
        if address not in self._guesses and len(self._guesses) >= MOST_ADDRESSES:
            idle = next((name for name, other in self._guesses.items() if not other.waiting), None)
            if idle is not None:
                del self._guesses[idle]
        return self._guesses.setdefault(address, _Guesses())


def name_address(client: str | None) -> str:
    """Return the address under which the guesses of a client are counted.

    All IPv6 addresses of a network share one name. An IPv4 address written as IPv6 counts as IPv4. Text from
    a proxy that is no address becomes "an unknown address", so it never reaches the log.
    """
    try:
        address = ipaddress.ip_address(client or "")
    except ValueError:
        return "an unknown address"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((int(address), NETWORK_BITS), strict=False))
