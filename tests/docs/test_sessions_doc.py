"""The program of docs/sessions.md, run by itself against a port."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.pages import Page
from tests.signing import variables_of
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.stress]
PAGE = Page("docs/sessions.md")


def test_a_statement_runs_in_a_session(tmp_path):
    home = Home.open(tmp_path / "home")
    with serving(home) as (url, _):
        environment = {"PATH": os.environ["PATH"], **variables_of(home, url)}
        done = subprocess.run(
            [sys.executable, "-c", PAGE.blocks["session"]],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
