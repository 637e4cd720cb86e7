"""Programs with Iceberg and the watermarks, in a process of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.iceberg import run_with_iceberg
from tests.libs.conftest import REGION

HELPERS = "schema_helpers.py"
PROGRAMS = Path(__file__).parents[1] / "spark" / "programs"


@pytest.fixture
def on_iceberg(endpoint_url, table_name, job, tmp_path, monkeypatch):
    """Return a function that runs a program with Iceberg and the watermarks, for its last line."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint_url)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)

    def run(program, *arguments):
        given = json.dumps([table_name, job, *arguments])
        text = "\n".join((PROGRAMS / name).read_text("utf-8") for name in (HELPERS, program))
        return json.loads(run_with_iceberg(text, tmp_path, given)[-1])

    return run
