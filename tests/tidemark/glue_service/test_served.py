"""A second command on a home that a port serves: it finds the port and uses it."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.entities import EntityKind, list_entities
from tidemark.glue_service.http.serving import serving
from tidemark.glue_service.served import ServedPort, ask, deploy, find_port
from tidemark.local_state.home import PORT_FILE, Home


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    return Home.open(tmp_path / "home")


@pytest.mark.parametrize("is_any", [True, False], ids=["any port", "the port"])
def test_a_second_command_joins_the_first_and_deploys_into_it(own_home, write_assembly, is_any):
    assembly = write_assembly({"one": ""})
    with serving(own_home) as (url, engine):
        port = "0" if is_any else url.rpartition(":")[2]
        jobs = lambda: engine.ask(  # noqa: E731
            lambda glue: [one.name for one in list_entities(glue.store, EntityKind.JOB)]
        )
        found = find_port(own_home)
        mode = (own_home.root / PORT_FILE).stat().st_mode & 0o777
        text = deploy(found, assembly)
        defined = jobs()
        write_assembly({"one": "", "two": ""})
        words = ["serve", "--port", port, "--jvms", "0", "--app", str(assembly)]
        second = CliRunner().invoke(main, words)
        refused = CliRunner().invoke(main, [*words, "--on-event", "true"])
        assert (second.exit_code, jobs()) == (0, ["one", "two"])

    assert (found.url, found.pid, mode) == (url, os.getpid(), 0o600)
    assert (defined, "1 job" in text) == (["one"], True)
    assert f"export AWS_ENDPOINT_URL={url}" in second.stdout
    assert (refused.exit_code, "--on-event" in refused.stderr) == (2, True)
    assert find_port(own_home) is None
    assert not (own_home.root / PORT_FILE).exists()


def test_a_second_command_that_wants_another_port_is_refused(own_home):
    with serving(own_home) as (url, _):
        words = ["serve", "--port", "1", "--jvms", "0"]
        refused = CliRunner().invoke(main, words)

    assert refused.exit_code == 2
    assert f"on port {url.rpartition(':')[2]}" in refused.stderr
    assert "AWS_ENDPOINT_URL" not in refused.stdout


def test_what_only_the_home_may_ask_is_refused_without_its_secret(own_home):
    with serving(own_home):
        port = find_port(own_home)
        for secret in ("", "ä", "0" * 64):
            with pytest.raises(UsageError, match="secret"):
                deploy(ServedPort(port.url, port.pid, secret), own_home.root)
        with pytest.raises(UsageError, match="'Fly'; allowed: Deploy, PutEvent"):
            ask(port, "Fly", {})
        with pytest.raises(UsageError, match="Folder is 1"):
            ask(port, "Deploy", {"Folder": 1})
        with pytest.raises(TidemarkError, match="manifest"):
            deploy(port, own_home.root)
        headers = {"X-Amz-Target": "Tidemark.Deploy", "X-Tidemark-Secret": port.secret}
        headers["Origin"] = "http://evil.test"
        page = urllib.request.Request(port.url, b"{}", headers)  # noqa: S310 (a URL of ours)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(page)  # noqa: S310


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"url": 1}', "killed", "readable"])
def test_a_file_that_is_no_word_of_the_engine_that_holds_the_home_is_ignored(own_home, content):
    file = own_home.root / PORT_FILE
    written = {"url": "http://127.0.0.1:1", "pid": os.getpid(), "secret": "0"}
    is_whole = content in ("killed", "readable")
    file.write_text(json.dumps(written) if is_whole else content, encoding="utf-8")
    file.chmod(0o644 if content == "readable" else 0o600)

    if content == "killed":  # no process holds the home, whoever has this process id now
        assert find_port(own_home) is None
        return
    with own_home.exclusive():
        assert find_port(own_home) is None


def test_a_command_without_a_port_that_holds_the_home_is_named(own_home):
    with (
        own_home.exclusive(),
        pytest.raises(UsageError, match=str(os.getpid())),
        serving(own_home),
    ):
        pass
