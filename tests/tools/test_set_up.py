"""`make setup` shows that it goes on, to its end, and says what to do when npm has no way out."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tools import set_up


def test_on_a_terminal_a_phase_shows_a_bar_and_its_time():
    output = StringIO()
    console = Console(file=output, force_terminal=True, width=80)

    with set_up.phase(console, "Doing it"):
        time.sleep(0.5)

    shown = re.findall(r"Doing it[^\r\n]*━[^\r\n]*0:00:0\d", output.getvalue())
    assert len(set(shown)) > 1  # it moves
    assert re.search(r"✓.*Doing it \(\d+ s\)", output.getvalue())


def test_elsewhere_a_phase_is_two_plain_lines():
    output = StringIO()

    with set_up.phase(Console(file=output, width=80), "Doing it"):
        pass

    assert re.fullmatch(r"Doing it …\n✓ Doing it \(\d+ s\)\n", output.getvalue())


def test_uv_finds_packages_where_pip_would(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    config = tmp_path / "pip.conf"
    config.write_text(
        "[global]\nindex-url = https://mirror.example/simple\n"
        "extra-index-url = https://a.example/x\n    https://b.example/y\ncert = /etc/ca.pem\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_FIND_LINKS", "/opt/one /opt/two")
    monkeypatch.setenv("PIP_INDEX_URL", "https://other.example/simple")

    found = set_up.uv_settings(set_up.pip_settings())

    assert found == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://other.example/simple",
        "UV_INDEX": "https://a.example/x https://b.example/y",
        "UV_FIND_LINKS": "/opt/one,/opt/two",
        "SSL_CERT_FILE": "/etc/ca.pem",
    }


def test_what_is_set_for_uv_is_left_alone(monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mine.example/simple")

    assert "UV_DEFAULT_INDEX" not in set_up.uv_settings({"index-url": "https://mirror.example"})


def test_a_command_that_fails_shows_what_it_printed_last():
    program = (sys.executable, "-c", "print('no such package'); raise SystemExit(3)")

    with pytest.raises(set_up.SetUpError, match=r"ended with 3:\nno such package"):
        set_up._check(program)


def test_where_uv_cannot_install_pip_does(tmp_path, monkeypatch, capsys):
    (tmp_path / "requirements.txt").write_text("one==1.0\ntwo==2.0\n")
    mark = tmp_path / "installed"
    write = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"
    monkeypatch.setattr(set_up, "UV", (sys.executable, "-c", "raise SystemExit('no registry')"))
    monkeypatch.setattr(set_up, "PIP", (sys.executable, "-c", write))

    set_up.install_python_packages(Console(), str(tmp_path / "requirements.txt"))

    assert mark.exists()
    assert "no registry" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.stress
def test_a_registry_that_npm_does_not_reach_is_an_error_with_what_to_do(tmp_path, monkeypatch):
    needs = {"private": True, "devDependencies": {"no-such-package-here": "1.0.0"}}
    (tmp_path / "package.json").write_text(json.dumps(needs))
    monkeypatch.chdir(tmp_path)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")  # where no one listens
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")

    with pytest.raises(set_up.SetUpError) as failed:
        set_up.install_node_packages()

    text = str(failed.value)
    assert "ECONNREFUSED" in text.rpartition("npm does not reach its registry")[2]
    assert "NODE_EXTRA_CA_CERTS" in text
    assert "HTTPS_PROXY" in text


@pytest.mark.parametrize(
    ("printed", "is_of_the_network"),
    [
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", True),
        ("npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY", True),
        ("npm error code ETIMEDOUT", True),
        ("npm error code EAI_AGAIN", True),
        ("npm error code ENOSPC", False),
        ("npm error code EINTEGRITY", False),
    ],
)
def test_the_remedy_is_for_connections_only(printed, is_of_the_network, monkeypatch):
    monkeypatch.setattr(set_up, "NPM", (sys.executable, "-c", f"import sys; sys.exit({printed!r})"))

    with pytest.raises(set_up.SetUpError, match=re.escape(printed)) as failed:
        set_up.install_node_packages()

    assert ("NODE_EXTRA_CA_CERTS" in str(failed.value)) is is_of_the_network


def test_archive_and_node_tools_are_made_while_packages_are_installed(monkeypatch):
    """Each waits for the others here: one after the other, they would wait for ever."""
    all_three = threading.Barrier(3, timeout=60)
    commands = []

    def check(command):
        commands.append(command)
        all_three.wait()

    monkeypatch.setattr(set_up, "_check", check)
    monkeypatch.setattr(set_up, "install_node_tools", lambda: all_three.wait())
    monkeypatch.setattr(set_up, "install_python_packages", lambda *_: all_three.wait())
    monkeypatch.setattr(sys, "argv", ["set_up"])

    assert set_up.main() == 0

    assert commands == [set_up.CLASS_ARCHIVE]


@pytest.mark.parametrize(
    ("installed_at", "is_installed_again"), [(None, True), (5, True), (20, False)]
)
def test_node_tools_are_installed_if_what_is_wanted_is_newer(
    installed_at, is_installed_again, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(set_up, "node_commands", lambda _: None)
    (tmp_path / "node_modules").mkdir()
    times = {**dict.fromkeys(set_up.NODE_WANTED, 10), set_up.NODE_INSTALLED: installed_at}
    for file, time_s in times.items():
        if time_s is not None:
            file.write_text("{}", encoding="utf-8")
            os.utime(file, (time_s, time_s))
    commands = []
    monkeypatch.setattr(set_up, "_check", commands.append)

    set_up.install_node_tools()

    assert bool(commands) is is_installed_again


@pytest.mark.parametrize(
    ("option", "installed"),
    [
        ("--python", [set_up.RUNTIME, "project"]),
        ("--node", ["node"]),
        ("--packages", [set_up.ALL]),
    ],
)
def test_an_option_installs_a_part(option, installed, monkeypatch):
    found = []
    monkeypatch.setattr(set_up, "install_python_packages", lambda _, name: found.append(name))
    monkeypatch.setattr(set_up, "install_node_tools", lambda: found.append("node"))
    monkeypatch.setattr(set_up, "_check", lambda _: found.append("project"))
    monkeypatch.setattr(sys, "argv", ["set_up", option])

    assert set_up.main() == 0

    assert found == installed


def test_a_java_that_cannot_make_the_archive_stops_no_set_up(monkeypatch, capsys):
    def check(command):
        if command == set_up.CLASS_ARCHIVE:
            raise set_up.SetUpError("no such Java")

    monkeypatch.setattr(set_up, "_check", check)
    monkeypatch.setattr(set_up, "install_node_tools", lambda: None)
    monkeypatch.setattr(set_up, "install_python_packages", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["set_up"])

    assert set_up.main() == 0

    assert "no such Java" in capsys.readouterr().out
