"""A proxy is for what is elsewhere: clients on this machine never ask it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.sampled import at_night

SCRIPT = """
import boto3
table = boto3.client("dynamodb").describe_table(TableName="glue-watermarks")["Table"]
s3 = boto3.client("s3")
s3.put_object(Bucket="lake", Key="a", Body=b"x")
count, jobs = s3.list_objects_v2(Bucket="lake")["KeyCount"], boto3.client("glue").get_jobs()["Jobs"]
print(table["TableStatus"], count, jobs)
"""
NOBODY = "http://127.0.0.1:9"  # the port that discards: nobody listens


@pytest.mark.parametrize("letters", [str.upper, *at_night(str.lower)])
def test_a_job_reaches_this_machine_whatever_the_proxy_is(tmp_path, letters):
    (tmp_path / "job.py").write_text(SCRIPT, encoding="utf-8")
    proxies = {letters(name): NOBODY for name in ("http_proxy", "https_proxy", "all_proxy")}
    environment = os.environ | proxies | {"TIDEMARK_HOME": str(tmp_path / "home")}

    def tidemark(*words):
        command = [sys.executable, "-m", "tidemark", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    for words in (("table",), ("bucket", "lake")):
        assert tidemark(*words).returncode == 0
    run = tidemark("submit", "job.py")

    assert run.returncode == 0, run.stderr
    assert "ACTIVE 1 []" in run.stdout
