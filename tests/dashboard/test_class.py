"""The room of a class: its limits, its secrecy, sixty phones at once, and the pages of both sides."""

import html
import re
import threading

import numpy as np
import pytest

from nspca.dashboard.app import links, wording
from nspca.dashboard.learn import questions, rooms
from nspca.dashboard.learn.lesson import lesson, pair
from nspca.dashboard.learn.rooms import ALPHABET, LENGTH, NoRoom, RoomError, Rooms, read_code
from nspca.errors import InvalidOption

LEARN, JOIN = "pages/learn.py", "pages/join.py"


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_room(clock):
    """Return rooms with a clock, and secret and code of one open room."""
    house = Rooms(clock)
    secret = house.open()
    return house, secret, house.view(secret).code


def test_sixty_phones_answer_at_once(open_room):
    house, secret, code = open_room
    failed, together = [], threading.Barrier(60)

    def phone(number):
        try:
            together.wait()
            for turn in range(20):
                asked = house.ask(code, f"phone {number}")
                house.answer(code, f"phone {number}", asked.screen, float(number + turn))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=phone, args=(number,)) for number in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    view = house.view(secret)
    assert failed == [] and view.here == 60
    assert sorted(view.guesses) == [float(number + 19) for number in range(60)], "one guess a phone, its last"
    assert house.end(secret) == (60, {1: 60})


def test_a_code_opens_the_question_and_nothing_else(open_room):
    house, secret, code = open_room
    house.answer(code, "a", 1, 12.0)
    asked = house.ask(code, "b")
    assert set(vars(asked)) == {"screen", "is_revealed"}
    for call in (house.view, house.end, house.reveal):
        with pytest.raises(NoRoom):
            call(code)
    assert secret != code and len(secret) >= 32 and house.view(secret).guesses == (12.0,)
    assert house.view(house.open()).guesses == (), "two rooms do not meet"
    with pytest.raises(NoRoom, match="No room is open under this code"):
        house.ask("A" * LENGTH if code != "A" * LENGTH else "B" * LENGTH, "x")


def test_a_room_ends_with_its_age_and_when_nobody_looks(clock):
    house = Rooms(clock)
    secret = house.open()
    code = house.view(secret).code
    while clock.now < rooms.LONGEST:
        clock.now += 1800
        house.view(secret)
        house.ask(code, "a")
    clock.now += 1
    for call in (lambda: house.view(secret), lambda: house.answer(code, "a", 1, 3.0)):
        with pytest.raises(NoRoom):
            call()
    left = house.open()
    clock.now += rooms.IDLE + 1
    with pytest.raises(NoRoom):
        house.view(left)
    assert not house._rooms


def test_a_full_room_and_a_full_server(open_room, clock):
    house, secret, code = open_room
    for number in range(rooms.MOST_PHONES):
        house.ask(code, f"{number}")
        house.answer(code, f"{number}", 1, 1.0)
    with pytest.raises(RoomError, match=r"full|at once"):
        house.answer(code, "one more", 1, 1.0)
    house.answer(code, "7", 1, 2.0)
    clock.now += rooms.PRESENT + 1
    house.ask(code, "one more")
    assert house.view(secret).here == 1, "the others went"
    for _ in range(rooms.MOST_ROOMS - 1):
        house.open()
    with pytest.raises(RoomError, match=r"full|at once"):
        house.open()


def test_no_guess_is_taken_once_the_answer_is_shown(open_room):
    house, secret, code = open_room
    house.reveal(secret)
    assert house.ask(code, "a").is_revealed
    with pytest.raises(InvalidOption, match="over"):
        house.answer(code, "a", 1, 1.0)
    house.turn(secret, 3)
    with pytest.raises(InvalidOption, match="over"):
        house.answer(code, "a", 1, 1.0)
    assert house.answer(code, "a", 3, -20.0) == -20.0 and not house.view(secret).is_revealed


@pytest.mark.parametrize(
    ("screen", "guess"),
    [
        (1, float("nan")),
        (1, "12"),
        (1, [1.0]),
        (2, 1.0),
        (5, 1.0),
        (5, "12345678"),
        (5, [1, 2, 3]),
        (5, [1, 1, 2, 3, 4, 5, 6, 7]),
        (5, [1, 2, 3, 4, 5, 6, 7, 64]),
        (5, [1, 2, 3, 4, 5, 6, 7, -1]),
        (5, [True, 0, 2, 3, 4, 5, 6, 7]),
        (5, list(range(100_000))),
    ],
)
def test_what_is_no_guess_is_refused(open_room, screen, guess):
    house, secret, code = open_room
    house.turn(secret, screen)
    with pytest.raises(InvalidOption, match="needs"):
        house.answer(code, "a", screen, guess)
    assert house.view(secret).guesses == ()


def test_angles_stay_in_their_range():
    assert rooms.read_guess(1, 10**400) == 180.0 and rooms.read_guess(3, -1e9) == -90.0


def test_codes_are_drawn_from_a_billion_and_read_as_people_type_them(clock):
    house = Rooms(clock)
    codes = {house.view(house.open()).code for _ in range(rooms.MOST_ROOMS)}
    assert len(codes) == rooms.MOST_ROOMS and len(ALPHABET) ** LENGTH > 1e9
    code = codes.pop()
    assert read_code(f" {rooms.write_code(code).lower()} ") == code
    assert read_code("ABCDE1") == read_code("") == read_code("ABCDEFG") == read_code("<b>" * 10**6) == ""


def test_what_guesses_reach_against_the_definition():
    of = lesson()
    points = of.X[:, list(pair(of)[0])]
    turn = np.radians(30)
    most = max(np.var(points @ [np.cos(t), np.sin(t)]) for t in np.linspace(0, np.pi, 3601))
    assert questions.shares(1, [30.0], of)[0] == pytest.approx(
        np.var(points @ [np.cos(turn), np.sin(turn)]) / most, rel=1e-5
    )
    grid = np.linspace(-90, 90, 1801).tolist()
    assert max(questions.shares(3, grid, of)) == pytest.approx(1, abs=1e-4)
    assert max(questions.shares(3, grid, of)) <= 1 + 1e-12
    best = tuple(int(j) for j in of.result.components[:, 0].nonzero()[0])
    assert questions.shares(5, [best], of)[0] == pytest.approx(of.result.value / of.upper, rel=1e-6)


@pytest.mark.parametrize("screen", rooms.QUESTIONS)
def test_the_answer_is_drawn_only_when_it_is_shown(screen):
    of = lesson()
    guesses = [(1, 2, 3, 4, 5, 6, 7, 9)] if screen == 5 else [10.0, 20.0]
    hidden, shown = (questions.figure(screen, guesses, is_revealed, of) for is_revealed in (False, True))
    assert len(hidden.data) == (1 if screen == 1 else 2) and len(shown.data) == 3
    assert "best" not in str(hidden.to_plotly_json()["data"])
    assert screen == 5 or list(hidden.data[0].y) == [1, 1], "no height tells what a guess reaches"
    beside = questions.beside(screen, [], False, of)
    asked = beside if screen == 1 else questions.figure(screen, [], False, of)
    assert any(len(trace.z if screen == 5 else trace.x) for trace in asked.data), "the projector shows it"
    assert (
        "100 %" in questions.verdict(screen, guesses, of)
        or "proved" in questions.verdict(screen, [], of)
        or ("principal component" in questions.verdict(screen, [], of))
    )


def test_a_lesson_with_a_class(visit, texts):
    teacher = visit(LEARN)
    teacher.button(key="class_open").click().run()
    assert not teacher.exception and not teacher.error
    secret = teacher.session_state["class_secret"]
    house, code = rooms.ROOMS, rooms.ROOMS.view(secret).code
    assert rooms.write_code(code) in texts(teacher)
    phone = visit(JOIN, room=code.lower())
    assert not phone.exception and not phone.error and questions.TASKS[1] in texts(phone)
    assert secret not in texts(phone)
    house.answer(code, "a", 1, 40.0)
    teacher.run()
    assert "Guesses: **1**, phones here: **1**" in texts(teacher)
    teacher.button(key="class_reveal").click().run()
    assert "principal component" in texts(teacher)
    phone.run()
    assert "on the projector" in phone.info[0].value and "Your guess" not in phone.info[0].value
    for _ in range(4):
        teacher.button(key="turn_right").click().run()
    phone.run()
    assert questions.TASKS[5] in texts(phone) and phone.button(key="phone_send").disabled
    phone.session_state["phone_pixels"] = [1, 2, 3, 4, 5, 6, 7, 10]
    phone.run()
    phone.button(key="phone_send").click().run()
    assert house.view(secret).guesses == ((1, 2, 3, 4, 5, 6, 7, 10),) and "was sent" in texts(phone)
    assert "/join**" in texts(teacher), "the address is there in letters"
    teacher.button(key="class_reveal").click().run()
    (share,) = questions.shares(5, [(1, 2, 3, 4, 5, 6, 7, 10)], lesson())
    phone.run()
    assert f"Your guess reaches **{wording.down(share)}** of the limit." in phone.info[0].value
    teacher.button(key="class_end").click().run()
    assert "2 phones answered. Guesses: 1 for screen 1, 1 for screen 5" in texts(teacher)
    assert class_box(teacher).expanded, "on the screen where the room was closed"
    teacher.button(key="turn_left").click().run()
    assert not class_box(teacher).expanded, "on any other"
    teacher.button(key="turn_right").click().run()
    assert class_box(teacher).expanded
    phone.run()
    assert "The room is closed" in texts(phone) and not phone.error


def class_box(teacher):
    """Return the box of the class as the browser is told to draw it."""
    return next(box.proto for box in teacher.expander if box.label == "With a class")


def join(phone):
    next(button for button in phone.button if button.label == "Join").click().run()


def test_a_phone_without_a_room(visit, texts):
    phone = visit(JOIN)
    phone.text_input[0].set_value("no code")
    join(phone)
    assert "six letters and digits" in phone.error[0].value
    phone.text_input[0].set_value("abc-def")
    join(phone)
    assert re.search("No room is open under this code", phone.error[0].value)
    assert not phone.exception


def test_the_password_of_the_server_is_mentioned(visit, monkeypatch, texts):
    monkeypatch.setenv("NSPCA_PASSWORD", "secret words")
    teacher = visit(LEARN)
    teacher.button(key="class_open").click().run()
    assert "Students need it too" in texts(teacher) and "secret words" not in texts(teacher)
    teacher.button(key="class_end").click().run()


@pytest.mark.parametrize(("host", "is_alone"), [("localhost:8501", True), ("10.0.0.7:8501", False)])
def test_an_address_that_no_phone_can_open_is_said_before_and_beside_the_code(
    visit, monkeypatch, texts, host, is_alone
):
    monkeypatch.setattr(links, "address", lambda page: f"http://{host}/{page}")
    teacher = visit(LEARN)
    assert (f"material/warning: {links.ALONE}" in texts(teacher)) == is_alone
    teacher.button(key="class_open").click().run()
    said = html.unescape(texts(teacher))
    assert f"{host}/join" in said, "for phones without a camera"
    assert (f"material/warning: {links.ALONE}" in said) == is_alone
    teacher.button(key="class_end").click().run()
