"""The driver for real Glue makes requests that its API accepts; moto answers, or a stub."""

from __future__ import annotations

from pathlib import Path

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from tests.scenarios.aws_driver import AwsGlue
from tests.scenarios.story import differences

BUCKET, ROLE, NAME = "scenario-bucket", "arn:aws:iam::123456789012:role/glue", "scenarios-1"
ENTRY = {
    "JobName": NAME,
    "Version": 2,
    "Run": 2,
    "Attempt": 0,
    "PreviousRunId": "jr_1",
    "RunId": "jr_2",
    "JobBookmark": "{}",
}


@pytest.fixture
def aws(monkeypatch):
    """Give what the driver needs, in an account that moto plays."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        glue = boto3.client("glue", region_name="us-east-1")
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket=BUCKET)
        yield glue, s3
        glue.close()
        s3.close()


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def driver(aws, slept) -> AwsGlue:
    return AwsGlue(*aws, BUCKET, ROLE, NAME, slept.append)


def script(folder: Path) -> Path:
    path = folder / "incremental.py"
    path.write_text("print('a script')\n", encoding="utf-8")
    return path


def test_job_is_created_over_the_script_and_the_data_of_its_prefix(aws, driver):
    job = aws[0].get_job(JobName=NAME)["Job"]

    assert job["Command"]["ScriptLocation"] == f"s3://{BUCKET}/{NAME}/script.py"
    assert job["DefaultArguments"] == {"--data_path": f"s3://{BUCKET}/{NAME}/data/"}
    assert (job["Role"], job["GlueVersion"]) == (ROLE, "5.1")


def test_run_uploads_the_script_and_returns_what_it_reported(aws, driver, tmp_path):
    report = f"{NAME}/reports/first/part-00000-x.txt"
    aws[1].put_object(Bucket=BUCKET, Key=report, Body=b'{"orders": [1]}\n')
    aws[1].put_object(Bucket=BUCKET, Key=f"{NAME}/reports/first/_SUCCESS", Body=b"")
    driver.put("orders/1.json", "{}")

    run = driver.run("first", script(tmp_path), {"--job-bookmark-option": "job-bookmark-enable"})

    assert (run.state, run.read) == ("SUCCEEDED", {"orders": [1]})
    record = aws[0].get_job_run(JobName=NAME, RunId=run.run_id)["JobRun"]
    assert record["Arguments"]["--report_path"] == f"s3://{BUCKET}/{NAME}/reports/first/"
    assert record["Arguments"]["--job-bookmark-option"] == "job-bookmark-enable"
    uploaded = aws[1].get_object(Bucket=BUCKET, Key=f"{NAME}/script.py")["Body"].read()
    assert uploaded == b"print('a script')\n"
    assert (
        aws[1].get_object(Bucket=BUCKET, Key=f"{NAME}/data/orders/1.json")["Body"].read() == b"{}"
    )


def test_run_that_reported_nothing_has_no_report(driver, tmp_path):
    assert driver.run("first", script(tmp_path), {}).read is None


def test_run_waits_for_its_final_state_and_for_a_free_slot(aws, driver, slept, tmp_path):
    def answer(state, **more):
        run = {"Id": "jr_1", "JobRunState": state, **more}
        stub.add_response("get_job_run", {"JobRun": run}, {"JobName": NAME, "RunId": "jr_1"})

    with Stubber(aws[0]) as stub:
        stub.add_client_error("start_job_run", "ConcurrentRunsExceededException")
        stub.add_response("start_job_run", {"JobRunId": "jr_1"})
        answer("RUNNING")
        answer("FAILED", ErrorMessage="RuntimeError: no")
        run = driver.run("first", script(tmp_path), {})

        stub.assert_no_pending_responses()
    assert (run.state, run.error_message) == ("FAILED", "RuntimeError: no")
    assert len(slept) == 2


def test_bookmark_is_asked_for_and_is_none_before_the_first_commit(aws, driver):
    with Stubber(aws[0]) as stub:
        stub.add_client_error("get_job_bookmark", "EntityNotFoundException")
        stub.add_response("get_job_bookmark", {"JobBookmarkEntry": ENTRY}, {"JobName": NAME})

        assert [driver.bookmark(), driver.bookmark()] == [None, ENTRY]


def test_reset_and_rewind_send_what_the_api_takes(aws, driver):
    answer = {"JobBookmarkEntry": ENTRY}
    with Stubber(aws[0]) as stub:
        stub.add_response("reset_job_bookmark", answer, {"JobName": NAME})
        stub.add_response("reset_job_bookmark", answer, {"JobName": NAME, "RunId": "jr_1"})
        driver.reset_bookmark()
        driver.reset_bookmark("jr_1")

        stub.assert_no_pending_responses()


def test_close_leaves_nothing_behind(aws, driver):
    driver.put("orders/1.json", "{}")

    driver.close()

    assert aws[0].get_jobs()["Jobs"] == []
    assert "Contents" not in aws[1].list_objects_v2(Bucket=BUCKET)


def test_difference_report_names_the_step_and_both_sides():
    local = {"first run": {"state": "SUCCEEDED", "read": {"orders": [1]}}}

    assert differences(local, local) == []
    assert differences(local, {"first run": {"state": "SUCCEEDED", "read": None}}) == [
        "first run: read is {'orders': [1]} here and None on AWS"
    ]
