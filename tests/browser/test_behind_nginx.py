"""The dashboard behind nginx, with the file of deploy/: a class gets in at once, and its room works."""

import base64
import contextlib
import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from nspca.jobs import certificates
from tests.browser.conftest import LIMIT
from tests.browser.students import STREAM, Student, open_stream
from tests.patience import STUCK, wait_for
from tests.servers import ROOT, Server, free_port

FILE = ROOT / "deploy" / "nginx.conf"
TEXT = FILE.read_text(encoding="utf-8")
NAME = "pca.localhost"  # browsers know without asking that this is their own machine
CLASS, TOGETHER = 60, 30
# Requests of a first visit to Home that each location of the file gets, at most; a test counts them.
PAGES, FILES = 8, 110
WHOLE = """
user {user};
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    log_format told escape=json
        '{{"status": $status, "cache": "$upstream_cache_status", "uri": "$uri", "up": "$upstream_addr"}}';
    access_log {folder}/access.log told;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {text}
}}
"""


@pytest.fixture(scope="module")
def nginx() -> str:
    """The path of nginx."""
    found = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    return found or pytest.skip("no nginx is installed: `sudo apt-get install nginx-light`")


def adapt(text: str, folder: Path, plain: int, encrypted: int, server: int) -> Path:
    """Write a whole configuration with the file of deploy/ inside; only names, paths and ports are others."""
    certificates.write(folder)
    for here, there in (
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ", f"listen 127.0.0.1:{encrypted} "),
        ("http://127.0.0.1:8501", f"http://127.0.0.1:{server}"),
        ("pca.example.org;", f"{NAME};"),
        ("/etc/ssl/pca.example.org.pem", f"{folder}/cert.pem"),
        ("/etc/ssl/pca.example.org.key", f"{folder}/key.pem"),
        ("/var/cache/nspca ", f"{folder}/cache "),
    ):
        assert here in text, here
        text = text.replace(here, there)
    user = subprocess.check_output(["id", "-un"], text=True).strip()
    whole = folder / "nginx.conf"
    whole.write_text(WHOLE.format(user=user, folder=folder, text=text), encoding="utf-8")
    return whole


@contextlib.contextmanager
def serve(nginx: str, folder: Path, server: int, text: str = TEXT):
    """Run nginx before a server on this port; yield the port of its TLS side."""
    port = free_port()
    whole = adapt(text, folder, free_port(), port, server)
    command = [nginx, "-e", f"{folder}/error.log", "-c", whole, "-g", "daemon off;"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: process.poll() is not None or (folder / "pid").exists())
        assert process.poll() is None, (folder / "error.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(STUCK)


def test_the_file_is_what_nginx_takes(nginx, tmp_path):
    whole = adapt(TEXT, tmp_path, free_port(), free_port(), 8501)
    run = subprocess.run(
        [nginx, "-t", "-e", f"{tmp_path}/error.log", "-c", whole], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_the_limits_fit_a_class():
    """A burst is let through at once, however slow the rate behind it is."""
    pages, files = (int(size) for size in re.findall(r"limit_req zone=\w+ burst=(\d+) nodelay;", TEXT)[::-1])
    assert pages >= CLASS * PAGES and files >= CLASS * FILES
    assert int(re.search(r"limit_conn nspca_open (\d+);", TEXT)[1]) >= CLASS * PAGES
    assert "limit_conn nspca_open" not in TEXT.partition("location / {")[0], (
        "each request of HTTP/2 counts as a connection"
    )


def first_visit(browser, url: str) -> dict[str, dict[str, str]]:
    """Return what a browser asks for that has never been here: the headers of the answers by path.

    Home is there at the end.
    """
    context = browser.new_context(ignore_https_errors=True)
    context.set_default_timeout(LIMIT)
    try:
        page, asked = context.new_page(), []
        page.on("response", lambda answer: asked.append((answer.url, answer.headers)))
        page.on("websocket", lambda socket: asked.append((socket.url, {})))
        page.goto(url)
        page.locator(".js-plotly-plot").first.wait_for()
        page.wait_for_load_state("networkidle")
    finally:
        context.close()
    parts = [(urlsplit(one), heads) for one, heads in asked if one.startswith(("http", "ws"))]
    assert {part.netloc for part, _ in parts} == {urlsplit(url).netloc}
    visit = {part.path + (f"?{part.query}" if part.query else ""): heads for part, heads in parts}
    assert len(visit) == len(parts), "nothing is asked for twice"
    return visit


def is_file(path: str) -> bool:
    pattern = re.search(r"location ~ (\S+) \{", TEXT)[1]
    return re.search(pattern, path) is not None


def replay(port: int, visits: int, paths: list[str]) -> Counter:
    """Ask for all of this from one address, as so many browsers would at once; count the answers.

    A browser has six connections, and a websocket that stays open.
    """
    trust = ssl._create_unverified_context()
    streams = [path for path in paths if path.startswith(STREAM)]
    shares = [[path for path in paths if path not in streams][start::6] for start in range(6)]

    def ask(share: list[str]) -> list[int]:
        connection = HTTPSConnection("127.0.0.1", port, timeout=STUCK, context=trust)
        answers = []
        for path in share:
            connection.request("GET", path, headers={"Host": f"{NAME}:{port}", "Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            answers.append(answer.status)
        connection.close()
        return answers

    over = threading.Event()

    def stream(path: str) -> None:
        address, origin = f"wss://{NAME}:{port}{path}", f"https://{NAME}:{port}"
        plain = socket.create_connection(("127.0.0.1", port), timeout=STUCK)
        with connect(address, sock=plain, origin=origin, ssl=trust, open_timeout=STUCK):
            over.wait(STUCK)

    with ThreadPoolExecutor(7 * visits) as pool:
        opened = [pool.submit(stream, path) for path in streams * visits]
        asked = [pool.submit(ask, share) for share in shares * visits]
        try:
            answers = Counter(status for one in asked for status in one.result())
        finally:
            over.set()
        for one in opened:
            one.result()
    return answers


@pytest.mark.visit
def test_a_class_gets_in_at_once(nginx, browser, tmp_path, monkeypatch):
    """30 first visits from one address, all at once: everything is answered, nginx has most of it, and a
    second visit of a browser asks for no file again.
    """
    monkeypatch.setenv("STREAMLIT_SERVER_ALLOWED_HOSTS", NAME)
    home, folder = tmp_path / "home", tmp_path / "nginx"
    home.mkdir(), folder.mkdir()
    server = Server(home, first="from tests import hasty; hasty.hire(); ").start()
    try:
        with serve(nginx, folder, server.port) as port:
            visit = first_visit(browser, f"https://{NAME}:{port}/")
            paths = [*visit]
            files = [path for path in paths if is_file(path)]
            assert 50 < len(files) <= FILES and len(paths) - len(files) <= PAGES, paths
            assert any(path.startswith(STREAM) for path in paths)
            for path in files:  # kept for long, under a name that changes with what is in it
                assert "immutable" in visit[path].get("cache-control", "") or "expires" in visit[path], path
                assert path == "/favicon.png" or re.search(r"\.[\w-]{8}\.(js|css|woff2)$|\?v=", path), path
            answers = replay(port, TOGETHER, paths)
            streams = sum(path.startswith(STREAM) for path in paths)
            assert answers == {200: TOGETHER * (len(paths) - streams)}
        logged = [json.loads(line) for line in (folder / "access.log").read_text().splitlines()]
        passed_on = [line for line in logged if line["up"]]
        most = (TOGETHER + 1) * (len(paths) - len(files)) + 2 * len(files)  # packed or not
        assert len(passed_on) <= most < len(logged) / 5, "files come from the cache of nginx"
        assert {line["status"] for line in logged} <= {101, 200}
    finally:
        server.stop()


PASSWORD, PHONES, SOCKETS = "for the class", 2, 8
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@contextlib.contextmanager
def visitor(browser, **options):
    """Open a page of a browser that knows the password."""
    login = {"username": "", "password": PASSWORD}
    context = browser.new_context(ignore_https_errors=True, http_credentials=login, **options)
    context.set_default_timeout(LIMIT)
    try:
        yield context.new_page()
    finally:
        context.close()


def give_password(port: int) -> str:
    """Return the cookie of a browser that gave the password through nginx."""
    connection = HTTPSConnection("127.0.0.1", port, timeout=STUCK, context=ssl._create_unverified_context())
    login = base64.b64encode(f":{PASSWORD}".encode()).decode()
    connection.request("GET", "/join", headers={"Host": f"{NAME}:{port}", "Authorization": f"Basic {login}"})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200
    connection.close()
    cookie = answer.getheader("Set-Cookie")
    assert "Secure" in cookie
    return cookie.split(";")[0]


@pytest.mark.visit
def test_the_room_of_a_class_works_behind_nginx_and_the_password(nginx, browser, tmp_path, monkeypatch):
    """A teacher opens a room; phones with and without a browser join through nginx, and the projector shows
    every guess.
    """
    monkeypatch.setenv("STREAMLIT_SERVER_ALLOWED_HOSTS", NAME)
    monkeypatch.setenv("NSPCA_PASSWORD", PASSWORD)
    home, folder = tmp_path / "home", tmp_path / "nginx"
    home.mkdir(), folder.mkdir()
    server = Server(home, first="from tests import hasty; hasty.hire(); ").start()
    try:
        with serve(nginx, folder, server.port) as port, contextlib.ExitStack() as stack:
            url = f"https://{NAME}:{port}"
            with pytest.raises(InvalidStatus, match="403"):
                open_stream(url)
            teacher = stack.enter_context(visitor(browser))
            teacher.goto(f"{url}/learn")
            teacher.get_by_text("With a class").click()
            teacher.get_by_role("button", name="Open a room").click()
            heading = teacher.get_by_role("heading", level=2).first
            expect(heading).to_have_text(re.compile(r"^\w{3}-\w{3}$"))
            code = heading.inner_text().replace("-", "")
            expect(teacher.get_by_text("Students need it too")).to_have_count(1)

            cookie = give_password(port)
            with ThreadPoolExecutor(SOCKETS) as pool:
                streams = pool.map(lambda _: open_stream(url, cookie), range(SOCKETS))
                students = [Student(stack.enter_context(stream), code) for stream in streams]
                list(pool.map(Student.join, students))
                list(pool.map(Student.guess, students, range(10, 10 + SOCKETS)))
            expect(teacher.get_by_text(f"Guesses: {SOCKETS},")).to_be_visible()
            for number in range(PHONES):
                phone = stack.enter_context(visitor(browser, **PHONE))
                phone.goto(f"{url}/join?room={code}")
                phone.locator(".nspca-turner .angle").fill(str(90 + number))
                phone.get_by_role("button", name="Send my guess").click()
                expect(teacher.get_by_text(f"Guesses: {SOCKETS + number + 1},")).to_be_visible()
            drawn = "document.querySelector('.nspca-figure.js-plotly-plot').calcdata[0].length"
            teacher.wait_for_function(f"{drawn} === {SOCKETS + PHONES}")  # the projector shows each of them
            teacher.get_by_role("button", name="Show the answer").click()
            expect(phone.get_by_text("on the projector")).to_be_visible()
        logged = [json.loads(line) for line in (folder / "access.log").read_text().splitlines()]
        refused = {line["uri"] for line in logged if line["status"] not in (101, 200, 401, 403)}
        # Streamlit looks for its server below the folder of every page first.
        assert all(uri.endswith(("/_stcore/health", "/_stcore/host-config")) for uri in refused), refused
    finally:
        server.stop()
