"""A served home, and clients of AWS in venvs of their own: `make test-clients`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.projects import PROJECT
from tests.signing import variables_of
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

VENVS = PROJECT / ".venv-clients"
PROGRAMS = Path(__file__).with_name("programs")
TIMEOUT_S = 300


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    home = Home.open(tmp_path_factory.mktemp("clients") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def client(port: Port, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return what runs a program of a venv of clients, in the test's folder, and returns how."""

    def run(
        venv: str,
        program: str,
        *words: str,
        code: int = 0,
        given: str = "",
        timeout_s: float = TIMEOUT_S,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(VENVS / venv / "bin" / program), *words],
            env={
                "PATH": f"{VENVS / venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(tmp_path),  # no profile of the developer
                **variables_of(port.home, port.url),
                "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_PAGER": "",
                **variables,
            },
            cwd=tmp_path,
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def aws(client: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """Return what runs `aws WORDS` and returns the JSON or the text that it prints."""

    def run(*words: str, code: int = 0) -> Any:
        done = client("aws-cli", "aws", *words, code=code)
        if code:
            return done.stderr
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout

    return run


@pytest.fixture
def facts(client: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., Any]:
    """Return what runs a program of programs/ and returns the JSON that it prints last."""

    def run(venv: str, name: str, *words: str, **variables: str) -> Any:
        done = client(venv, "python", str(PROGRAMS / name), *words, **variables)
        try:
            return json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            raise AssertionError(done.stdout + done.stderr) from None

    return run
