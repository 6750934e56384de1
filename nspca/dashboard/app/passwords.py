"""Check passwords so that guessing is slow.

Guesses from one address are checked one at a time, and every wrong one delays the next. Without the queue, a
thousand guesses sent at once would cost no more time than one.
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
MOST_WAITING = 100  # guesses of one address that wait for their turn; a class may come at once
MOST_ADDRESSES = 10_000  # addresses that are remembered, about 5 MB
NETWORK_BITS = 64  # an IPv6 customer has at least this many bits of addresses to choose from
log = logging.getLogger("nspca.access")


class Outcome(enum.Enum):
    """Result of checking a password."""

    RIGHT = "right"
    WRONG = "wrong"
    BUSY = "busy"  # too many guesses of this address wait already; the password was not looked at


@dataclass
class _Guesses:
    """Wrong passwords of one address, and the guesses that wait."""

    wrong: int = 0
    last: float = 0.0  # clock time of the last wrong one
    waiting: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class PasswordCheck:
    """Check passwords, one guess of an address at a time, with a delay after each wrong one.

    Parameters
    ----------
    clock : returns seconds that only grow
    sleep : waits for a number of seconds
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._guesses: dict[str, _Guesses] = {}  # by address, the one that was added first in front

    async def check(self, address: str, is_right: Callable[[], bool]) -> Outcome:
        """Return whether the password of a request is right, after the delay that its address has earned.

        Parameters
        ----------
        address : address that the request comes from, see `name_address`
        is_right : compares the password; called when it is this guess's turn
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
        """Return what is known of an address; the oldest other address is forgotten when there are many."""
        if address not in self._guesses and len(self._guesses) >= MOST_ADDRESSES:
            idle = next((name for name, other in self._guesses.items() if not other.waiting), None)
            if idle is not None:
                del self._guesses[idle]
        return self._guesses.setdefault(address, _Guesses())


def name_address(client: str | None) -> str:
    """Return the address under which the guesses of a client are counted.

    An IPv6 address counts with all others of its network, an IPv4 address written as IPv6 as IPv4. Text that
    is no address, which a proxy may send, is not repeated.
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
