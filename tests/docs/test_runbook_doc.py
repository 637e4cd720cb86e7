"""docs/runbook.md: tests make each symptom and follow its advice, and its messages are ours."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.pages import PROJECT, Page
from tidemark.model.advice import advice_of
from tidemark.testing.glue_job import GlueJob
from tidemark.testing.lake import Lake

PAGE = Page("docs/runbook.md")
ROW = re.compile(r"^\| (`[^|]+) \| (?!---)", re.MULTILINE)
BOOKMARKS = "tests/tidemark/cli/test_bookmark_cli.py::test_"
LOCAL = "tests/tidemark/cli/test_local_cli.py::test_"
RECORD = "tests/tidemark/local_state/store/test_state_record.py::test_"
STARTS = "tests/tidemark/constructs/test_start"
HERE = "tests/docs/test_runbook_doc.py::test_"
# The tests that make a symptom, follow the advice, and compare what is there afterwards.
FOLLOWED = {
    "A job failed": [
        "tests/tidemark/cli/test_code_on_disk.py::test_a_repaired_script_is_resumed",
        "tests/docs/test_bad_data_doc.py",
    ],
    "A run was not started": [
        f"{STARTS}_schedule.py::test_a_start_that_failed_is_kept_encrypted_and_raises_an_alarm",
        f"{STARTS}s.py::test_an_event_that_does_not_arrive_is_kept_and_raises_an_alarm",
    ],
    "AccessDenied": [
        "tests/deploy/test_given_role.py::test_a_role_that_the_app_must_not_change_is_enough_with",
        "tests/e2e/test_story.py::test_without_any_one_of_its_grants_a_job_could_not_do_what",
        f"{HERE}a_denied_request_names_its_advice",
    ],
    "The driver died, or is out of memory": [
        "tests/tidemark/glue_job/process/test_job_process.py::test_run_whose_spark_ended_for_lack",
        f"{HERE}a_result_that_is_too_large",
        "tests/tidemark/glue_job/process/test_job_process.py::test_a_killed_run_says_who_may_have",
        f"{HERE}a_jvm_that_was_killed_names_its_advice",
    ],
    "A run was killed": ["tests/e2e/test_kill.py::test_after_kills_of_a_job_and_of_the_command"],
    "The disk is full": [f"{LOCAL}full_disk_is_named_by_every_command_that_needs_room"],
    "The state cannot be written": [
        "tests/tidemark/cli/test_read_only_home.py::test_a_home_that_is_mounted_to_be_read",
    ],
    "The state is damaged": [f"{LOCAL}damage_is_named_by_every_command_and_nothing_is_changed"],
    "A file of the state is gone": [
        f"{RECORD}a_restored_backup_is_the_way_back",
        f"{RECORD}a_loss_is_accepted_by_the_command_that_the_error_names",
    ],
    "Back up, restore": [f"{LOCAL}restored_state_is_that_of_the_backup_and_the_data_stay"],
    "A job reads too much": [
        "tests/tidemark/local_state/bookmarks/test_told_skips.py::test_a_context_was_renamed",
    ],
    "A job reads too little": [
        "tests/docs/test_bad_data_doc.py::test_a_late_file_is_read_once_it_is_touched",
        f"{BOOKMARKS}explain_tells_what_the_next_run_would_read_and_why_a_file_is_skipped",
    ],
    "Rewind a job": [
        f"{BOOKMARKS}rewind_makes_the_next_run_read_what_came_after_that_run",
        "tests/e2e/test_story.py::test_after_an_operator_rewound_the_jobs_that_load_the_mart",
    ],
    "Start from nothing": [f"{RECORD}reset_and_the_deletion_of_the_home_ask_for_no_acceptance"],
}
# A service of AWS that refuses each request, as IAM lets it do.
DENIED = """
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import boto3


class Refuse(BaseHTTPRequestHandler):
    def do_POST(self):
        body = {"__type": "AccessDeniedException", "Message": "User: arn:aws:sts::111122223333:"
                "assumed-role/orders/GlueJobRunnerSession is not authorized to perform: "
                "dynamodb:GetItem on resource: table/rates"}
        self.send_response(400)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Refuse)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
rates = boto3.client("dynamodb", endpoint_url=url, region_name="eu-west-1")
rates.get_item(TableName="rates", Key={"id": {"S": "EUR"}})
"""
KILL_JVM = """
import os

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
os.kill(spark._jvm.ProcessHandle.current().pid(), 9)
spark.range(1).count()
"""
TOO_LARGE = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print(len(spark.range(1000).collect()))
"""


def test_each_symptom_has_tests() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.text, re.MULTILINE)

    assert sorted(FOLLOWED) == sorted(set(headings) - {"Error messages"})


@pytest.mark.parametrize("symptom", FOLLOWED)
def test_the_tests_of_a_symptom_are_there(symptom: str) -> None:
    for named in FOLLOWED[symptom]:
        file, _, name = named.partition("::")
        source = (PROJECT / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {name or 'test_'}", source, re.MULTILINE), named


def strings_of_the_code() -> str:
    """Return the strings and names of the code that a message may be made of."""
    parts = [(PROJECT / "tidemark" / "model" / "advice.json").read_text(encoding="utf-8")]
    for folder in ("tidemark", "libs"):
        for file in (PROJECT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    parts.append(node.value)
                elif isinstance(node, ast.ClassDef):
                    parts.append(node.name)
    return "\n".join(parts)


def test_each_message_is_one_of_the_code() -> None:
    code = strings_of_the_code()
    _, _, table = PAGE.text.partition("## Error messages")

    messages = re.findall(r"`([^`]+)`", "\n".join(ROW.findall(table)))
    parts = [
        part.strip(" :") for text in messages for part in re.split(r"…|\bN\b|\.tidemark", text)
    ]
    assert len(messages) > 15
    assert [part for part in parts if part.strip("/ ") and part not in code] == []


def test_each_id_is_that_of_its_message() -> None:
    named = re.findall(r"`([^`]+)` \((TM\d+)\)", PAGE.text)

    assert len(named) >= 7
    assert [number for _, number in named if not remedy(number)] == []


def remedy(number: str) -> str:
    """Return how the remedy of an id begins."""
    known = [*advice_of("memory").values(), *advice_of("failures").values()]
    return next(advice.remedy for advice in known if advice.id == number)[:20]


def run(glue_job: GlueJob, tmp_path: Path, source: str, **arguments: str) -> str | None:
    script = tmp_path / "broken.py"
    script.write_text(source, encoding="utf-8")
    return glue_job(script, isolated=True, **arguments).error


def test_a_denied_request_names_its_advice(glue_job: GlueJob, tmp_path: Path, lake: Lake) -> None:
    error = run(glue_job, tmp_path, DENIED) or ""

    assert "AccessDeniedException" in error
    assert "is not authorized to perform: dynamodb:GetItem" in error
    assert remedy("TM136") in error


@pytest.mark.spark
@pytest.mark.nightly
def test_a_jvm_that_was_killed_names_its_advice(glue_job: GlueJob, tmp_path: Path) -> None:
    error = run(glue_job, tmp_path, KILL_JVM) or ""

    assert "the job's JVM is gone" in error
    assert remedy("TM119") in error


@pytest.mark.spark
@pytest.mark.nightly
def test_a_result_that_is_too_large_fits_once_the_limit_is_raised(
    glue_job: GlueJob, tmp_path: Path
) -> None:
    limit = "spark.driver.maxResultSize"

    error = run(glue_job, tmp_path, TOO_LARGE, conf=f"{limit}=1k") or ""

    assert f"bigger than {limit}" in error
    assert f"--conf {limit}=4g" in error
    assert run(glue_job, tmp_path, TOO_LARGE, conf=f"{limit}=4g") is None
