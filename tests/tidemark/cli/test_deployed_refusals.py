"""What commands with --deployed refuse, in one clear line."""

from __future__ import annotations

import json
import os

import pytest

from tests.tidemark.cli.deployed_stages import assert_one_clear_line_after
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark

pytestmark = pytest.mark.stress  # starts many processes


def test_a_job_of_the_same_name_of_another_stage_is_left_alone(stage):
    stage.deploy({"load": ""}, name="dev")
    stage.edit(lambda it: it["Properties"]["Tags"].update({"tidemark:stage": "prod"}))

    for words in (
        ("run",),
        ("runs",),
        ("logs", "load"),
        ("stop", "load"),
        ("resume",),
        ("run", "show", "jr_1"),
        ("status",),
    ):
        result = stage.ask(*words)

        assert_one_clear_line_after(result, 2, "is not of stage prod", "'dev'")
    assert stage.port.states("load") == []
    assert_one_clear_line_after(stage.ask("run", stage="test"), 2, "of the stage prod, not 'test'")


def test_without_credentials_nothing_is_asked_and_one_line_says_so(stage, monkeypatch):
    stage.deploy({"load": ""})
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)

    for words in (
        ("run",),
        ("status",),
        ("runs",),
        ("logs", "load"),
        ("stop",),
        ("resume",),
        ("trigger",),
        ("watermark", "show", "load"),
    ):
        assert_one_clear_line(stage.ask(*words), 2, "there are no AWS credentials")


def test_credentials_of_another_account_are_refused(stage):
    stage.deploy({"load": ""})
    manifest = json.loads((stage.app / "manifest.json").read_text(encoding="utf-8"))
    manifest["artifacts"]["stack"]["environment"] = "aws://123456789012/eu-west-1"
    (stage.app / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    assert_one_clear_line(stage.ask("run"), 2, "into the account 123456789012", "000000000000")


def test_a_stage_that_does_not_answer_is_told(stage, monkeypatch):
    stage.deploy({"load": ""})
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    assert_one_clear_line(stage.ask("runs"), 1, "stage prod does not answer", "127.0.0.1:9")


def test_a_stage_without_what_the_app_has_is_told(stage):
    stage.deploy({"load": ""})
    stage.edit(lambda it: it["Properties"].update({"Name": f"{it['Properties'].get('Name')}-new"}))

    run, status = stage.ask("run"), stage.ask("status")

    assert_one_clear_line_after(run, 1, "EntityNotFoundException", "flow-new")
    assert "not deployed" in status.stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("run", "--isolated"), ("--isolated",)),
        (("run", "--from", "load"), ("tidemark resume --from load --deployed prod",)),
        (("run", "--context", "stage=dev"), ("--context stage=dev", "--deployed prod")),
        (("runs", "--since", "yesterday"), ("'yesterday'", "12h")),
        (("logs", "load", "--stderr", "--stdout"), ("--stderr",)),
        (("stop", "load", "--workflow", "flow"), ("--workflow",)),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(words, parts):
    result = tidemark(*words, "--deployed", "prod", "--app", "nowhere")

    assert_one_clear_line(result, 2, *parts)
