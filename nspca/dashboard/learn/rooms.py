"""Rooms for classes: a teacher asks, phones answer, and only counts are kept. No Streamlit calls.

Anybody with the short code of a room may answer, and only the holder of its secret sees the guesses. Rooms
exist in the memory of the server. Their number, size and age are limited. `classroom` calls the methods of
`Rooms` that take a secret, and `phone` those that take a code.
"""

import math
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nspca.errors import InvalidOption, NSPCAError

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Characters of codes, without those that look alike (I, O, 0, 1)."""
LENGTH = 6
"""Characters of a code. Of a billion codes, guessing at the rate below finds no room during a lesson."""
MOST_ROOMS = 100
"""Maximum rooms at a time. A room takes at most about 200 kB."""
MOST_PHONES = 250
"""Maximum phones in a room: the largest lecture that can read a curve on a projector."""
LONGEST = 4 * 3600.0
"""Maximum seconds of a room, longer than any lesson."""
IDLE = 3600.0
"""Seconds without a view by the teacher after which a room ends."""
PRESENT = 12.0
"""Seconds after its last request for which a phone counts as present. Phones ask every two seconds."""
WINDOW = 60.0
"""Seconds over which wrong codes are counted."""
MOST_WRONG = 60
"""Maximum wrong codes of one address in that time. A class may share an address, and each mistype once."""
MOST_WRONG_IN_ALL = 300
"""Maximum wrong codes of all addresses in that time."""
MOST_ADDRESSES = 1000
"""Maximum addresses whose wrong codes are counted separately."""
ANGLES = {1: (0.0, 180.0), 3: (-90.0, 90.0)}
"""Screens that ask for an angle, with its range in degrees."""
PAINTING = 5
"""Screen that asks for pixels."""
QUESTIONS = (*ANGLES, PAINTING)
Guess = float | tuple[int, ...]
"""An angle in degrees, or the numbers of pixels."""


class NoRoom(NSPCAError):
    """The error for a code or a secret that belongs to no open room."""


class TooManyCodes(NSPCAError):
    """The error after too many wrong codes."""


class RoomFull(NSPCAError):
    """The error when a room has too many phones, or the server too many rooms."""


@dataclass(frozen=True)
class Asked:
    """View of a room for a phone: the number of the open screen, and whether its answer is revealed."""

    screen: int
    is_revealed: bool


@dataclass(frozen=True)
class Counts:
    """The counts of a closed room: phones that answered, and guesses for each screen."""

    phones: int
    guesses: dict[int, int]


@dataclass(frozen=True)
class View:
    """View of a room for the teacher: its code, the number of the open screen, and guesses without names.

    `here` counts the phones that are present.
    """

    code: str
    screen: int
    is_revealed: bool
    guesses: tuple[Guess, ...]
    here: int


@dataclass(eq=False)
class _Room:
    """A room; times are in seconds of the clock.

    `looked` is the time of the teacher's last view, `revealed` has the screens whose answers are shown,
    `guesses` those of each phone by screen, and `seen` the time of each phone's last request.
    """

    code: str
    opened: float
    looked: float
    screen: int = 1
    revealed: set[int] = field(default_factory=set)
    guesses: dict[int, dict[str, Guess]] = field(default_factory=dict)
    seen: dict[str, float] = field(default_factory=dict)

    def phones(self) -> set[str]:
        """Return the names of all phones that answered."""
        return set().union(*self.guesses.values()) if self.guesses else set()


class Rooms:
    """All open rooms of a server.

    Parameters
    ----------
    clock : returns seconds that never decrease
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._by_secret: dict[str, _Room] = {}
        self._by_code: dict[str, _Room] = {}
        self._wrong: dict[str, deque[float]] = {}
        self._wrong_in_all: deque[float] = deque()

    def open(self) -> str:
        """Open a room, and return its secret.

        Raises
        ------
        RoomFull
            If the server has `MOST_ROOMS` rooms.
        """
        with self._lock:
            self._end_old()
            if len(self._by_secret) >= MOST_ROOMS:
                raise RoomFull(
                    f"This server takes {MOST_ROOMS} rooms at once. Try again when a lesson has ended."
                )
            code = next(code for code in iter(_new_code, "") if code not in self._by_code)
            secret, now = secrets.token_urlsafe(24), self._clock()
            self._by_secret[secret] = self._by_code[code] = _Room(code, now, now)
            return secret

    def view(self, secret: str) -> View:
        """Return the teacher's view of a room, and keep the room from ending as idle.

        Raises
        ------
        NoRoom
            If the secret belongs to no open room.
        """
        with self._lock:
            room = self._of(secret)
            now = room.looked = self._clock()
            here = sum(now - seen <= PRESENT for seen in room.seen.values())
            guesses = tuple(room.guesses.get(room.screen, {}).values())
            return View(room.code, room.screen, room.screen in room.revealed, guesses, here)

    def turn(self, secret: str, screen: int) -> None:
        """Turn the room to a screen of the lesson."""
        with self._lock:
            self._of(secret).screen = screen

    def reveal(self, secret: str, *, is_revealed: bool = True) -> None:
        """Reveal the answer to the open question, so that no more guesses are accepted, or hide it again."""
        with self._lock:
            room = self._of(secret)
            (room.revealed.add if is_revealed else room.revealed.discard)(room.screen)

    def end(self, secret: str) -> Counts:
        """Close a room, delete its guesses, and return the counts."""
        with self._lock:
            room = self._of(secret)
            self._remove(secret)
            counts = {screen: len(guesses) for screen, guesses in sorted(room.guesses.items())}
            return Counts(len(room.phones()), counts)

    def ask(self, code: str, phone: str, address: str, *, has_joined: bool = False) -> Asked:
        """Return the open question of a room.

        Parameters
        ----------
        code : str
            Code as it was typed.
        phone : str
            Secret name of the phone.
        address : str
            Network address, for counting wrong codes.
        has_joined : bool
            Whether this phone has given the right code before, so that others at its address cannot lock it
            out.

        Raises
        ------
        NoRoom
            If the code belongs to no open room.
        TooManyCodes
            If too many wrong codes came from this address, or from all.
        RoomFull
            If the room has `MOST_PHONES` phones.
        """
        with self._lock:
            self._end_old()
            now = self._clock()
            if not has_joined:
                self._refuse_guessing(address, now)
            room = self._by_code.get(read_code(code))
            if room is None:
                if not has_joined:
                    self._note_wrong(address, now)
                raise NoRoom("No room has this code. Check the six characters on the projector.")
            if phone not in room.seen and len(room.seen) >= MOST_PHONES:
                gone = [name for name, seen in room.seen.items() if now - seen > PRESENT]
                for name in gone:
                    del room.seen[name]
                if len(room.seen) >= MOST_PHONES:
                    raise RoomFull(f"This room is full: it takes {MOST_PHONES} phones.")
            room.seen[phone] = now
            return Asked(room.screen, room.screen in room.revealed)

    def answer(self, code: str, phone: str, screen: int, guess: object) -> Guess:
        """Store and return a guess; it replaces an earlier guess of the phone.

        Raises
        ------
        NoRoom
            If the code belongs to no open room.
        RoomFull
            If `MOST_PHONES` other phones have answered.
        InvalidOption
            If the screen does not accept guesses now, or the guess is not valid for it.
        """
        given = read_guess(screen, guess)
        with self._lock:
            self._end_old()
            room = self._by_code.get(read_code(code))
            if room is None:
                raise NoRoom("This room is closed.")
            if room.screen != screen or screen in room.revealed:
                raise InvalidOption("This question is over. The next one will appear here.")
            guesses = room.guesses.setdefault(screen, {})
            if phone not in guesses and len(guesses) >= MOST_PHONES:
                raise RoomFull(f"This room is full: it takes {MOST_PHONES} phones.")
            guesses[phone] = given
            return given

    def _of(self, secret: str) -> _Room:
        """Return the open room with this secret; raise `NoRoom` without one."""
        self._end_old()
        room = self._by_secret.get(secret)
        if room is None:
            raise NoRoom("This room is closed. Open a new one for the next lesson.")
        return room

    def _end_old(self) -> None:
        """Close rooms that are too old or idle."""
        now = self._clock()
        for secret, room in list(self._by_secret.items()):
            if now - room.opened > LONGEST or now - room.looked > IDLE:
                self._remove(secret)

    def _remove(self, secret: str) -> None:
        """Drop a room from both tables."""
        del self._by_code[self._by_secret.pop(secret).code]

    def _refuse_guessing(self, address: str, now: float) -> None:
        """Raise `TooManyCodes` after too many wrong codes within `WINDOW`; drop the count of older ones."""
        mine = self._wrong.get(address, deque())
        for tried in (mine, self._wrong_in_all):
            while tried and now - tried[0] > WINDOW:
                tried.popleft()
        if len(mine) >= MOST_WRONG or len(self._wrong_in_all) >= MOST_WRONG_IN_ALL:
            raise TooManyCodes("Too many wrong codes were tried. Wait a minute, then enter the code again.")

    def _note_wrong(self, address: str, now: float) -> None:
        """Record a wrong code from an address."""
        if address not in self._wrong and len(self._wrong) >= MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]  # the oldest
        self._wrong.setdefault(address, deque()).append(now)
        self._wrong_in_all.append(now)


ROOMS = Rooms()
"""The rooms of this server."""


def read_code(text: str) -> str:
    """Return a typed code in capital letters, without blanks and dashes; empty if it cannot be a code."""
    code = re.sub(r"[\s\-]", "", text[:40]).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else ""


def write_code(code: str) -> str:
    """Return a code in two halves, which are easier to read aloud."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"


def read_guess(screen: int, guess: object, *, pixels: int = 64, k: int = 8) -> Guess:
    """Return a valid guess from an untrusted value of a browser: an angle, or `k` of so many `pixels`.

    Raises
    ------
    InvalidOption
        If the value is not a guess for the question of the screen.
    """
    if screen in ANGLES and isinstance(guess, int | float) and math.isfinite(guess):
        low, high = ANGLES[screen]
        return round(min(high, max(low, float(guess))), 1)
    if screen == PAINTING and isinstance(guess, Sequence) and not isinstance(guess, str):
        chosen = {pixel for pixel in guess if type(pixel) is int and 0 <= pixel < pixels}
        if len(chosen) == k == len(guess):
            return tuple(sorted(chosen))
    raise InvalidOption(
        f"A guess for screen {screen} needs {'an angle' if screen in ANGLES else f'{k} pixels'}."
    )


def _new_code() -> str:
    """Return a random code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
