"""Values that no provider writes are refused in one line, and no file is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.tidemark.adopt.apps import STATE
from tests.tidemark.cli.test_cli import assert_one_clear_line
from tidemark.cli.main import main

JOB = "aws_glue_job"


def adopt(folder: Path, option: str, text: str):
    source = folder / "source"
    source.write_text(text, encoding="utf-8")
    (folder / "out").mkdir()
    words = ["--workflow", "Nightly Orders", "--name", "orders", "--out", str(folder / "out")]
    result = CliRunner().invoke(main, ["adopt", *words, option, str(source)])
    assert list((folder / "out").iterdir()) == []
    return result


def attributes_of(document: dict[str, object], kind: str) -> dict[str, object]:
    resource = next(one for one in document["resources"] if one["type"] == kind)
    return resource["instances"][0]["attributes"]


@pytest.mark.parametrize(
    ("kind", "attribute", "value", "named"),
    [
        (JOB, "max_retries", 99, "job orders_ingest: max_retries is 99; allowed: an integer"),
        (JOB, "max_retries", "z", "MaxRetries"),
        (JOB, "max_retries", {"a": 1}, "MaxRetries"),
        (JOB, "command", [7], "Command"),
        (JOB, "default_arguments", "z", '"aws_glue_job.orders_ingest" is not as Terraform writes'),
        (JOB, "name", None, "Name"),
        (JOB, "execution_property", [[1]], "ExecutionProperty"),
        ("aws_glue_trigger", "actions", [{}, 10**40], "Actions"),
        ("aws_glue_trigger", "name", ["a"], "terraform state pull"),
        ("aws_glue_crawler", "s3_target", 1, "Targets.S3Targets"),
        ("aws_glue_workflow", "name", True, "Name"),
    ],
)
def test_a_state_with_a_value_of_another_type_is_refused(tmp_path, kind, attribute, value, named):
    document = json.loads(STATE.read_text(encoding="utf-8"))
    attributes_of(document, kind)[attribute] = value

    assert_one_clear_line(adopt(tmp_path, "--terraform", json.dumps(document)), 2, named)


def test_a_state_with_jobs_of_one_name_in_two_regions_is_refused(tmp_path):
    document = json.loads(STATE.read_text(encoding="utf-8"))
    jobs = [one for one in document["resources"] if one["type"] == JOB]
    document["resources"] += [{**job, "module": "module.us"} for job in jobs]

    result = adopt(tmp_path, "--terraform", json.dumps(document))

    assert_one_clear_line(result, 2, 'two aws_glue_job named "orders_ingest"')


@pytest.mark.parametrize("option", ["--terraform", "--template"])
def test_half_a_character_is_refused(tmp_path, option):
    document = json.loads(STATE.read_text(encoding="utf-8")) | {"Resources": {}}
    attributes_of(document, JOB)["description"] = "\ud800"

    assert_one_clear_line(adopt(tmp_path, option, json.dumps(document)), 2, "surrogates")


def test_a_template_whose_aliases_multiply_is_refused(tmp_path):
    lists: list[object] = ["a"]
    for _ in range(30):
        lists = [lists] * 10

    result = adopt(tmp_path, "--template", yaml.safe_dump({"Resources": {"A": {"Type": lists}}}))

    assert_one_clear_line(result, 2, "more than 1,000,000 values")
