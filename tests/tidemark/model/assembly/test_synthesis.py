"""What the app command of a project is given: the context that `cdk` would give it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.model.assembly.synthesis import synthesize

APP = """
import json, os
from pathlib import Path

folder = Path(os.environ["CDK_OUTDIR"])
folder.mkdir(exist_ok=True)
(folder / "context.json").write_text(os.environ.get("CDK_CONTEXT_JSON", "nothing"))
(folder / "validation.txt").write_text(os.environ["CDK_VALIDATION"])
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CDK_CONTEXT_JSON", raising=False)
    (tmp_path / "app.py").write_text(APP)
    document = {"app": "python app.py", "context": {"stage": "dev", "flag": True}}
    (tmp_path / "cdk.json").write_text(json.dumps(document))
    return tmp_path


def context_of(project: Path, **given: str) -> dict:
    return json.loads((synthesize(project, given) / "context.json").read_text())


def test_the_app_has_the_context_of_its_files(project):
    (project / "cdk.context.json").write_text(json.dumps({"zone": "looked up", "flag": False}))

    assert context_of(project) == {"stage": "dev", "flag": False, "zone": "looked up"}


def test_what_is_given_wins(project, monkeypatch):
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps({"stage": "test", "flag": 1}))

    assert context_of(project) == {"stage": "test", "flag": 1}
    assert context_of(project, stage="prod") == {"stage": "prod", "flag": 1}


@pytest.mark.parametrize("text", ["{", "[1]", "7"])
def test_a_context_that_is_none_is_told(project, monkeypatch, text):
    (project / "cdk.context.json").write_text(text)

    with pytest.raises(UsageError, match=r"cdk\.context\.json is not a JSON object .*; correct it"):
        synthesize(project, {})

    (project / "cdk.context.json").unlink()
    monkeypatch.setenv("CDK_CONTEXT_JSON", text)
    with pytest.raises(UsageError, match=r"CDK_CONTEXT_JSON is not a JSON object .*; correct it"):
        synthesize(project, {})


@pytest.mark.parametrize(("given", "expected"), [(None, "false"), ("true", "true")])
def test_the_validation_of_the_cdk_is_for_what_is_deployed(project, monkeypatch, given, expected):
    monkeypatch.delenv("CDK_VALIDATION", raising=False)
    if given:
        monkeypatch.setenv("CDK_VALIDATION", given)

    assert (synthesize(project, {}) / "validation.txt").read_text() == expected
