"""The program of docs/step-functions.md, run by itself against a port."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.pages import Page
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home

PAGE = Page("docs/step-functions.md")


@pytest.mark.nightly
def test_the_program_of_the_page_runs_a_job(tmp_path):
    home = Home.open(tmp_path / "home")
    with serving(home) as (url, engine):
        Port(home, url, engine).job("load")
        variables = {
            "AWS_ENDPOINT_URL": url,
            "AWS_DEFAULT_REGION": "us-east-1",
            **access_key(home).variables,
        }
        run = subprocess.run(
            [sys.executable, "-c", PAGE.blocks["states"]],
            env=variables,
            capture_output=True,
            text=True,
        )

    assert run.stdout == "SUCCEEDED\n", run.stderr
