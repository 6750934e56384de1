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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from nspca.errors import InvalidOption, NSPCAError

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # characters of codes, without I, O, 0 and 1, which look alike
LENGTH = 6  # characters of a code, of which there are a billion; who guesses one sees no guess
# Maximum rooms at a time, and phones that answer: the largest lecture that can read a projector.
MOST_ROOMS, MOST_PHONES = 100, 250
LONGEST, IDLE = 4 * 3600.0, 3600.0  # maximum seconds of a room, and without a view by the teacher
PRESENT = 12.0  # seconds after its last request for which a phone is here. Phones ask every two seconds.
ANGLES = {1: (0.0, 180.0), 3: (-90.0, 90.0)}  # screens that ask for an angle, with its range in degrees
PAINTING = 5  # screen that asks for pixels
QUESTIONS = (*ANGLES, PAINTING)
Guess = float | tuple[int, ...]
"""An angle in degrees, or the numbers of pixels."""


class RoomError(NSPCAError):
    """The error of a room or a server that is full."""


class NoRoom(RoomError):
    """The error for a code or a secret that belongs to no open room."""


@dataclass(frozen=True)
class Asked:
    """View of a room for a phone: the number of the open screen, and whether its answer is revealed."""

    screen: int
    is_revealed: bool


@dataclass(frozen=True)
class View(Asked):
    """View of a room for the teacher: also its code, guesses without names, and the number of phones here."""

    code: str
    guesses: tuple[Guess, ...]
    here: int


@dataclass(eq=False)
class _Room:
    code: str
    opened: float
    looked: float  # time of the teacher's last view
    screen: int = 1
    revealed: set[int] = field(default_factory=set)  # screens whose answers are shown
    guesses: dict[int, dict[str, Guess]] = field(default_factory=dict)  # by screen and phone
    seen: dict[str, float] = field(default_factory=dict)  # time of the last request of each phone here

    @property
    def asked(self) -> Asked:
        return Asked(self.screen, self.screen in self.revealed)


class Rooms:
    """All open rooms of a server. Every method raises `NoRoom` for a code or a secret without an open room.

    `clock` returns seconds that never decrease.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rooms: dict[str, _Room] = {}  # by secret

    def open(self) -> str:
        """Open a room, and return its secret; raise `RoomError` if the server has `MOST_ROOMS` rooms."""
        with self._held() as now:
            if len(self._rooms) >= MOST_ROOMS:
                raise RoomError(
                    f"This server takes {MOST_ROOMS} rooms at once. Try again when a lesson has ended."
                )
            secret, code = secrets.token_urlsafe(24), "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
            self._rooms[secret] = _Room(code, now, now)
            return secret

    def view(self, secret: str) -> View:
        """Return the teacher's view of a room, and keep the room from ending as idle."""
        with self._held() as now:
            room = self._of(secret)
            room.looked = now
            here = sum(now - at <= PRESENT for at in room.seen.values())
            guesses = tuple(room.guesses.get(room.screen, {}).values())
            return View(**vars(room.asked), code=room.code, guesses=guesses, here=here)

    def turn(self, secret: str, screen: int) -> None:
        """Turn the room to a screen of the lesson; on one without a question, phones wait for the next."""
        with self._held():
            self._of(secret).screen = screen

    def reveal(self, secret: str, *, is_revealed: bool = True) -> None:
        """Reveal the answer to the open question, so that no more guesses are accepted, or hide it again."""
        with self._held():
            room = self._of(secret)
            (room.revealed.add if is_revealed else room.revealed.discard)(room.screen)

    def end(self, secret: str) -> tuple[int, dict[int, int]]:
        """Close a room, and return how many phones answered, and the number of guesses for each screen."""
        with self._held():
            guesses = self._of(secret).guesses
            del self._rooms[secret]
            return len(set().union(*guesses.values())), {at: len(guesses[at]) for at in sorted(guesses)}

    def ask(self, code: str, phone: str) -> Asked:
        """Return the open question of a room for a phone, whose secret name is `phone`."""
        with self._held() as now:
            room = self._at(code)
            room.seen = {name: at for name, at in room.seen.items() if now - at <= PRESENT} | {phone: now}
            return room.asked

    def answer(self, code: str, phone: str, screen: int, guess: object) -> Guess:
        """Store and return a guess, in place of an earlier one of the phone.

        Raises `InvalidOption` for a screen that accepts no guesses now, and for a value that is no guess.
        """
        given = read_guess(screen, guess)
        with self._held():
            room = self._at(code)
            if room.asked != Asked(screen, False):
                raise InvalidOption("This question is over. The next one will appear here.")
            guesses = room.guesses.setdefault(screen, {})
            if phone not in guesses and len(guesses) >= MOST_PHONES:
                raise RoomError(f"This room is full: it takes {MOST_PHONES} phones.")
            guesses[phone] = given
            return given

    @contextmanager
    def _held(self) -> Iterator[float]:
        """Hold the rooms, without those that are over, and return the present time."""
        with self._lock:
            now = self._clock()
            for secret, room in list(self._rooms.items()):
                if now - room.opened > LONGEST or now - room.looked > IDLE:
                    del self._rooms[secret]
            yield now

    def _of(self, secret: str) -> _Room:
        if secret not in self._rooms:
            raise NoRoom("This room is closed. Open a new one for the next lesson.")
        return self._rooms[secret]

    def _at(self, code: str) -> _Room:
        for room in self._rooms.values():
            if room.code == read_code(code):
                return room
        raise NoRoom(
            "No room is open under this code. Check the six characters on the projector, or ask whether the "
            "room has been closed."
        )


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
    """Return a valid guess from an untrusted value of a browser: an angle, or `k` of so many `pixels`."""
    if screen in ANGLES and isinstance(guess, int | float) and -math.inf < guess < math.inf:
        low, high = ANGLES[screen]
        return round(float(min(high, max(low, guess))), 1)
    if screen == PAINTING and isinstance(guess, Sequence) and not isinstance(guess, str):
        chosen = {pixel for pixel in guess if type(pixel) is int and 0 <= pixel < pixels}
        if len(chosen) == k == len(guess):
            return tuple(sorted(chosen))
    raise InvalidOption(
        f"A guess for screen {screen} needs {'an angle' if screen in ANGLES else f'{k} pixels'}."
    )
