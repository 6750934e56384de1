"""Documents for operators: settings, files of deploy/ and lines of the log are as documented."""

import ast
import functools
import json
import logging
import re
from pathlib import Path

import yaml

from nspca.dashboard.app import server
from nspca.jobs import certificates

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
SOURCES = [*ROOT.glob("nspca/**/*.py"), *ROOT.glob("tests/browser/conftest.py")]


@functools.cache
def strings() -> list[str]:
    """The texts in files that read a setting or write to the log: the others are not parsed in vain."""
    sources = [path.read_text(encoding="utf-8") for path in SOURCES]
    return [
        node.value
        for source in sources
        if "NSPCA_" in source or re.search(r"\blog(ger|ging)?\b", source)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_every_setting_is_in_the_table():
    read = {text for text in strings() if re.fullmatch(r"NSPCA_[A-Z_]+", text)}
    told = set(
        re.findall(r"NSPCA_[A-Z_]+", "\n".join(re.findall(r"^\| (`.*?) \|", SETTINGS, flags=re.MULTILINE)))
    )
    assert told == read | {"NSPCA_BESIDE"}  # read by tests alone


def test_lines_of_the_log_are_those_that_are_written():
    table = PAGE.split("## Log\n")[1].split("\n## ")[0]
    lines = re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE)))
    written = "\n".join(strings())
    assert len(lines) > 6
    for line in lines:
        assert line in written or re.sub("^run (done|failed):", "run %s:", line) in written, line


def test_services_of_compose_use_what_there_is():
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    assert {"dashboard", "scheduler", "worker", "certificates"} == set(compose["services"])
    for service in compose["services"].values():
        assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert compose["services"]["worker"]["deploy"]["replicas"] == 2
    environment = compose["services"]["dashboard"]["environment"]
    assert all(name in SETTINGS for name in environment if name.startswith("NSPCA_"))
    assert all(port.startswith("127.0.0.1:") for port in compose["services"]["dashboard"]["ports"])


def test_compose_names_the_certificates_that_are_made(tmp_path):
    named = certificates.write(tmp_path)
    assert all(Path(value).read_text().startswith("-----BEGIN") for value in named.values())
    before = (tmp_path / "key.pem").read_text()
    assert certificates.write(tmp_path) == named and (tmp_path / "key.pem").read_text() == before
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    environment = compose["services"]["worker"]["environment"]
    assert {name: f"/etc/nspca/tls/{Path(value).name}" for name, value in named.items()}.items() <= (
        environment.items()
    )


def test_a_line_of_the_log_can_be_read_by_a_program(monkeypatch, capsys):
    monkeypatch.setenv("NSPCA_LOG", "json")
    logger = logging.getLogger("nspca")
    before = logger.handlers[:], logger.level, logger.propagate
    try:
        server.begin_log()
        logging.getLogger("nspca.jobs.engine").info("run %s: task=%s", "done", "sweep")
        try:
            raise ValueError("a\nreason")
        except ValueError:
            logging.getLogger("nspca.dashboard").exception("page failed")
        first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
        monkeypatch.delenv("NSPCA_LOG")
        server.begin_log()
        logger.info("plain")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO nspca: plain\n", capsys.readouterr().err)
    finally:
        logger.handlers[:], logger.level, logger.propagate = before
    assert (first["level"], first["logger"], first["message"]) == (
        "INFO",
        "nspca.jobs.engine",
        "run done: task=sweep",
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["time"]) and "reason" in second["trace"]
