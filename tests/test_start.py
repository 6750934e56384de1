"""The start of the dashboard: options, theme, address and port."""

import os
import socket
import tomllib
from pathlib import Path

import pytest

from nspca.__main__ import main
from nspca.cli.app import check_port, streamlit_command
from nspca.errors import InvalidOption

ROOT = Path(__file__).resolve().parents[1]


def flags_of(command: list[str]) -> dict[str, str]:
    return dict(flag.removeprefix("--").split("=", 1) for flag in command if flag.startswith("--"))


def configuration(folder: Path) -> dict[str, object]:
    """Return the options of ``.streamlit/config.toml`` under their dotted names."""

    def flatten(table: dict, prefix: str = "") -> dict[str, object]:
        flat: dict[str, object] = {}
        for key, value in table.items():
            flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
        return flat

    return flatten(tomllib.loads((folder / ".streamlit" / "config.toml").read_text(encoding="utf-8")))


def names_of(command: list[str]) -> set[str]:
    return {flag.partition("=")[2] for flag in command if flag.startswith("--server.allowedHosts=")}


def test_the_command_is_that_of_streamlit(monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_ALLOWED_HOSTS", "pca.example.org other.example")
    command = streamlit_command("localhost", 8501, "localhost")
    assert command[1:4] == ["-m", "streamlit", "run"] and Path(command[4]) == ROOT / "app.py"
    assert flags_of(command).keys() == {"server.address", "server.port", "server.allowedHosts"}
    loopback = {*configuration(ROOT)["server.allowedHosts"]}
    assert names_of(command) == loopback | {"pca.example.org", "other.example"}
    assert loopback == {"localhost", "127.0.0.1", "::1"}


def test_the_file_keeps_the_dashboard_private():
    options = configuration(ROOT)
    assert options["server.address"] == "localhost"
    assert options["server.showEmailPrompt"] is False
    assert options["browser.gatherUsageStats"] is False
    assert options["client.showSidebarNavigation"] is False


def test_sharing_names_the_address_to_streamlit():
    flags = flags_of(streamlit_command("0.0.0.0", 8600, "192.0.2.7"))
    assert (flags["server.address"], flags["browser.serverAddress"], flags["server.port"]) == (
        "0.0.0.0",
        "192.0.2.7",
        "8600",
    )
    names = names_of(streamlit_command("0.0.0.0", 8600, "192.0.2.7"))
    assert {"192.0.2.7", socket.gethostname(), "127.0.0.1"} <= names and "0.0.0.0" not in names


@pytest.mark.skipif(os.name == "nt", reason="the server takes the place of the process")
def test_who_shares_it_is_told_who_can_use_it(monkeypatch, capsys):
    monkeypatch.setattr(os, "execv", lambda *command: None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    monkeypatch.delenv("NSPCA_PASSWORD", raising=False)
    main(["app", "--address", "0.0.0.0", "--port", port])
    assert "anyone on this network can use it without a password" in capsys.readouterr().out
    monkeypatch.setenv("NSPCA_PASSWORD", "secret")
    main(["app", "--address", "0.0.0.0", "--port", port])
    said = capsys.readouterr().out
    assert "can use it with the password" in said and "no TLS" in said and "secret" not in said
    main(["app", "--port", port])
    assert "anyone" not in capsys.readouterr().out


# address and port


def test_a_free_port_is_accepted_and_a_taken_one_refused():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        holder.listen()
        with pytest.raises(
            InvalidOption, match=f"port {port} on 127.0.0.1 is not free .*make app PORT={port + 1}"
        ):
            check_port("127.0.0.1", port)
    check_port("127.0.0.1", port)


@pytest.mark.parametrize("address", ["203.0.113.5", "name.invalid"])
def test_an_address_of_another_machine_is_refused(address):
    with pytest.raises(InvalidOption, match="an address of this machine is required"):
        check_port(address, 8501)


def test_a_taken_port_is_one_sentence_and_no_server(capfd):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        assert main(["app", "--address", "127.0.0.1", "--port", str(holder.getsockname()[1])]) == 2
    captured = capfd.readouterr()
    assert captured.err.startswith("nspca: port ") and captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "²", "0" * 9 + "165536"])
def test_a_port_that_is_none_is_refused(port, capsys):
    with pytest.raises(SystemExit):
        main(["app", f"--port={port}"])
    assert "a whole number from 1 to 65,535 is required" in capsys.readouterr().err
