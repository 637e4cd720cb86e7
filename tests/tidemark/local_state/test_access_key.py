"""The access key of a home: stable, its owner's alone, and in a shell by one line."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from tests.waiting import BOUND_S
from tidemark.cli.main import main
from tidemark.cli.serve import warnings_of
from tidemark.errors import UsageError
from tidemark.glue_service.access.gate import VARIABLE, is_any_key
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state import access_key as module
from tidemark.local_state.access_key import AccessKey, access_key, key_of_environment
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEY_FILE

ASK = "import boto3; print(boto3.client('sts').get_caller_identity()['Account'])"


@pytest.fixture
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    return Home.open(tmp_path / "home")


def key_in(root: Path) -> str:
    return access_key(Home(root)).secret


def test_a_home_keeps_its_key_and_another_has_another(own_home, tmp_path):
    key = access_key(own_home)
    other = access_key(Home.open(tmp_path / "other"))
    own_home.reset()

    assert access_key(own_home) == key
    assert key.secret != other.secret
    assert len(key.secret) >= 32
    assert stat.S_IMODE((own_home.root / KEY_FILE).stat().st_mode) == 0o600
    assert key.secret not in repr(key)


def test_commands_that_begin_together_have_one_key(own_home):
    with ThreadPoolExecutor(8) as pool:  # each opens the file for itself, as a process does
        found = set(pool.map(key_in, [own_home.root] * 50))

    assert found == {access_key(own_home).secret}


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"secret_access_key": 1}'])
def test_half_of_a_file_is_made_new(own_home, content):
    (own_home.root / KEY_FILE).write_text(content, encoding="utf-8")

    assert access_key(own_home) == access_key(own_home)
    assert len(access_key(own_home).secret) >= 32


def test_a_file_that_others_could_read_is_closed_to_them(own_home):
    key = access_key(own_home)
    (own_home.root / KEY_FILE).chmod(0o644)

    assert access_key(own_home) == key
    assert stat.S_IMODE((own_home.root / KEY_FILE).stat().st_mode) == 0o600


def test_a_home_that_cannot_be_written_has_a_key_of_the_process(own_home, monkeypatch):
    """As root may write every file, the kernel's answer is given here."""

    def refuse(*_):
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr(module.os, "open", refuse)

    assert access_key(own_home) == access_key(own_home)
    assert not (own_home.root / KEY_FILE).exists()


def test_the_key_of_the_environment_is_that_of_a_port_only(monkeypatch):
    for key_id, secret, expected in (
        ("local", "of the port", "of the port"),
        ("AKIAIOSFODNN7EXAMPLE", "of AWS", "local"),
        ("local", "", "local"),
    ):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key_id)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)

        assert key_of_environment() == AccessKey(expected)


def env() -> str:
    result = CliRunner().invoke(main, ["env"])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_the_lines_that_are_printed_work_in_a_new_shell_also_after_a_restart(own_home):
    with serving(own_home) as (url, _):
        lines = env()
        joined = CliRunner().invoke(main, ["serve", "--port", "0", "--jvms", "0"]).stdout
        done = subprocess.run(
            ["/bin/sh", "-c", f'{lines}\n"{sys.executable}" -c "{ASK}"'],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=BOUND_S,
        )
    with serving(own_home) as (other_url, _):
        again = env()

    assert done.stdout == "000000000000\n", done.stderr
    assert joined.endswith(lines)
    assert all(line.startswith("export AWS_") for line in lines.splitlines())
    assert again.replace(other_url, url) == lines


def test_the_lines_name_the_region_of_the_port_for_every_sdk(own_home, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-2")
    with serving(own_home):
        monkeypatch.delenv("AWS_REGION")  # another shell
        lines = env().splitlines()

    assert {"export AWS_REGION=eu-west-2", "export AWS_DEFAULT_REGION=eu-west-2"} <= set(lines)


def test_the_lines_are_refused_where_no_port_is(own_home):
    result = CliRunner().invoke(main, ["env"])

    assert (result.exit_code, result.stdout) == (2, "")
    assert "tidemark serve --port 4566" in result.stderr


@pytest.mark.parametrize(
    ("word", "expected"), [("", False), ("0", False), ("1", True), ("True", True)]
)
def test_the_variable_asks_for_every_key(word, expected):
    assert is_any_key(word) == expected


def test_another_word_of_the_variable_is_refused():
    with pytest.raises(UsageError, match='TIDEMARK_ANY_KEY is "maybe"; allowed: 1'):
        is_any_key("maybe")


@pytest.mark.parametrize("word", ["0", "1"])
def test_every_key_is_answered_with_a_warning_by_the_variable(own_home, monkeypatch, capfd, word):
    monkeypatch.setenv(VARIABLE, word)
    given = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    with serving(own_home) as (url, _):
        sts = boto3.client("sts", endpoint_url=url, region_name="us-east-1", **given)
        try:
            found = sts.get_caller_identity()["Account"]
        except ClientError as error:
            found = error.response["Error"]["Code"]

    is_answered = word == "1"
    assert found == ("000000000000" if is_answered else "InvalidClientTokenId")
    assert ("warning: the port answers every access key" in capfd.readouterr().err) == is_answered


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, []),
        ({"any_user": True}, ["every user of this machine who has the access key"]),
        ({"any_key": True}, ["--any-key"]),
        ({"any_key": True, "any_user": True}, ["every user of this machine can", "--any-key"]),
        ({"host": "10.0.0.7"}, ["everybody who has the access key that reaches 10.0.0.7"]),
    ],
)
def test_a_port_that_others_reach_is_a_warning(given, named):
    warnings = warnings_of(Options(**given))

    assert [word in line for word, line in zip(named, warnings, strict=True)] == [True] * len(named)


def test_a_port_that_is_there_does_not_begin_to_answer_every_key(own_home):
    with serving(own_home):
        words = ["serve", "--port", "0", "--jvms", "0", "--any-key"]
        result = CliRunner().invoke(main, words)

    assert (result.exit_code, "--any-key" in result.stderr) == (2, True)
