"""A served home, and the AWS CLI of the venv of clients: `make test-clients`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.projects import PROJECT
from tests.tidemark.local_glue.port.conftest import Port
from tidemark.local_glue.home import Home
from tidemark.local_glue.port.http.serving import serving

AWS = PROJECT / ".venv-clients" / "bin" / "aws"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    home = Home.open(tmp_path_factory.mktemp("clients") / "home")
    with serving(home) as (url, engine):
        yield Port(home, url, engine)


@pytest.fixture
def aws(port: Port, tmp_path: Path) -> Callable[..., Any]:
    """Return what runs `aws WORDS` and returns the JSON or the text that it prints."""

    def run(*words: str, code: int = 0) -> Any:
        done = subprocess.run(
            [str(AWS), *words],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),  # no profile of the developer
                "AWS_ENDPOINT_URL": port.url,
                "AWS_ACCESS_KEY_ID": "local",
                "AWS_SECRET_ACCESS_KEY": "local",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_PAGER": "",
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        if code:
            return done.stderr
        return json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout

    return run
