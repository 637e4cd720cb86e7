"""Real Glue as a driver of scenarios: a job, its script and its data below a prefix in S3."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.scenarios.driver import ScenarioRun

if TYPE_CHECKING:
    from botocore.client import BaseClient

FINAL_STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR", "EXPIRED")
POLL_S = 10
SLOT_S = 120  # a finished run may hold the job's only slot a while longer
TIMEOUT_MINUTES = 15


class AwsGlue:
    """One job of an account; `close` deletes it, its bookmark and its objects."""

    def __init__(
        self,
        glue: BaseClient,
        s3: BaseClient,
        bucket: str,
        role: str,
        name: str,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._glue, self._s3, self._bucket, self._name = glue, s3, bucket, name
        self._sleep = sleep
        self._root = f"s3://{bucket}/{name}/"
        glue.create_job(
            Name=name,
            Role=role,
            Command={
                "Name": "glueetl",
                "ScriptLocation": f"{self._root}script.py",
                "PythonVersion": "3",
            },
            GlueVersion="5.1",
            WorkerType="G.1X",
            NumberOfWorkers=2,
            MaxRetries=0,
            Timeout=TIMEOUT_MINUTES,
            ExecutionProperty={"MaxConcurrentRuns": 1},
            DefaultArguments={"--data_path": f"{self._root}data/"},
        )

    def put(self, key: str, text: str) -> None:
        """Write an object below the data path of the scripts."""
        self._put(f"data/{key}", text)

    def run(self, name: str, script: Path, arguments: Mapping[str, str]) -> ScenarioRun:
        """Make a script the job's, run it with these arguments beside its paths, and wait."""
        self._put("script.py", script.read_text(encoding="utf-8"))
        report = f"reports/{name}/"
        run_id = self._start({"--report_path": f"{self._root}{report}", **arguments})
        while True:
            run = self._glue.get_job_run(JobName=self._name, RunId=run_id)["JobRun"]
            if run["JobRunState"] in FINAL_STATES:
                break
            self._sleep(POLL_S)
        return ScenarioRun(
            run_id, run["JobRunState"], self._report(report), run.get("ErrorMessage")
        )

    def bookmark(self) -> Mapping[str, Any] | None:
        """Return the JobBookmarkEntry, None if the job has none."""
        try:
            answer = self._glue.get_job_bookmark(JobName=self._name)
        except self._glue.exceptions.EntityNotFoundException:
            return None
        return answer["JobBookmarkEntry"]

    def reset_bookmark(self, run_id: str | None = None) -> None:
        """Reset the bookmark, or rewind it to a run."""
        target = {"RunId": run_id} if run_id else {}
        self._glue.reset_job_bookmark(JobName=self._name, **target)

    def close(self) -> None:
        """Delete the job, and everything below its prefix."""
        self._glue.delete_job(JobName=self._name)
        for key in self._keys(""):
            self._s3.delete_object(Bucket=self._bucket, Key=key)

    def _start(self, arguments: Mapping[str, str]) -> str:
        for _ in range(SLOT_S // POLL_S):
            try:
                return self._start_now(arguments)
            except self._glue.exceptions.ConcurrentRunsExceededException:
                self._sleep(POLL_S)
        return self._start_now(arguments)

    def _start_now(self, arguments: Mapping[str, str]) -> str:
        answer = self._glue.start_job_run(JobName=self._name, Arguments=dict(arguments))
        return str(answer["JobRunId"])

    def _put(self, key: str, text: str) -> None:
        self._s3.put_object(Bucket=self._bucket, Key=f"{self._name}/{key}", Body=text.encode())

    def _report(self, prefix: str) -> dict[str, Any] | None:
        for key in self._keys(prefix):
            if key.rpartition("/")[2].startswith("part-"):
                answer = self._s3.get_object(Bucket=self._bucket, Key=key)
                return dict(json.loads(answer["Body"].read()))
        return None

    def _keys(self, prefix: str) -> list[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=f"{self._name}/{prefix}"
        )
        return [item["Key"] for page in pages for item in page.get("Contents", [])]
