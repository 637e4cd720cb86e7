"""A real account in the place of a served home, for the tests that are marked `on_aws`."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.tidemark.glue_service.job_run_calls import FINAL, JobRunCalls

VARIABLES = ("TIDEMARK_AWS_BUCKET", "TIDEMARK_AWS_ROLE")
LOOKS = ("GetJobRun", "GetJobRuns", "GetWorkflowRun")
MADE = {
    "Trigger": ("delete_trigger", "Name"),
    "Workflow": ("delete_workflow", "Name"),
    "Job": ("delete_job", "JobName"),
}
POLL_S = 5.0
QUIET_S = 60.0  # after which nothing more follows from a run that has ended


class AwsPort(JobRunCalls):
    """Clients of an account, and short ways to define and to wait; `close` deletes what was made.

    Scripts lie below a prefix of one bucket, and every job has one role. Other names are those of
    the tests: a job of the account that has one of them fails the test, and is not touched.
    """

    def __init__(
        self,
        client: Callable[..., Any],
        bucket: str,
        role: str,
        poll_s: float = POLL_S,
        quiet_s: float = QUIET_S,
    ) -> None:
        self._client, self._bucket, self._role = client, bucket, role
        self._poll_s, self._quiet_s = poll_s, quiet_s
        self._prefix = f"tidemark-conformance-{secrets.token_hex(4)}"
        self._made: list[tuple[str, str]] = []
        self._keys: set[str] = set()
        self._s3 = client("s3")
        self.logs = client("logs")
        self.glue = self.client("glue")

    def client(self, service: str) -> Any:
        client = self._client(service)
        events = client.meta.events
        events.register("provide-client-params.glue.CreateJob", self._with_role)
        for kind in MADE:
            events.register(f"after-call.glue.Create{kind}", self._note(kind))
        for operation in LOOKS:
            events.register(f"before-call.glue.{operation}", self._wait)
        return client

    def _with_role(self, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**params, "Role": self._role}

    def _note(self, kind: str) -> Callable[..., None]:
        def note(parsed: dict[str, Any], **_: Any) -> None:
            if "Name" in parsed:
                self._made.append((kind, parsed["Name"]))

        return note

    def _wait(self, **_: Any) -> None:
        time.sleep(self._poll_s)  # AWS refuses those who ask too often

    def says(self, text: str) -> str:
        """Return what an error says: its words are AWS's own."""
        return ""

    def arn(self, resource: str) -> str:
        account = self._client("sts").get_caller_identity()["Account"]
        return f"arn:aws:glue:{self.glue.meta.region_name}:{account}:{resource}"

    def script(self, name: str, text: str) -> str:
        key = f"{self._prefix}/{name}.py"
        self._s3.put_object(Bucket=self._bucket, Key=key, Body=text.encode())
        self._keys.add(key)
        return f"s3://{self._bucket}/{key}"

    def job(self, name: str, text: str = "", **members: Any) -> str:
        """Define a Python shell job."""
        location = self.script(name, text)
        command = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": location}
        self.glue.create_job(Name=name, Role=self._role, Command=command, **members)
        return name

    def printed(self, run_id: str) -> str:
        names = {"logGroupName": "/aws-glue/python-jobs/output", "logStreamName": run_id}
        events = self.logs.get_log_events(**names, startFromHead=True)["events"]
        return "".join(f"{event['message']}\n" for event in events)

    def settle(self) -> None:
        """Wait until nothing runs and nothing follows."""
        names = [name for kind, name in self._made if kind == "Job"]
        seen: list[list[str]] = []
        while True:
            now = [self.states(name) for name in names]
            if now == seen and all(state in FINAL for states in now for state in states):
                return
            seen = now
            time.sleep(self._quiet_s)

    def close(self) -> None:
        """Delete what was made."""
        for kind, (operation, member) in MADE.items():
            for name in [name for made, name in self._made if made == kind]:
                getattr(self.glue, operation)(**{member: name})
        for key in self._keys:
            self._s3.delete_object(Bucket=self._bucket, Key=key)


def aws_port() -> AwsPort:
    """Return the account that the environment names."""
    if missing := [name for name in VARIABLES if not os.environ.get(name)]:
        pytest.fail(f"--aws needs {' and '.join(missing)} in the environment; see CONTRIBUTING.md")
    config = Config(retries={"mode": "adaptive", "total_max_attempts": 20})
    bucket, role = (os.environ[name] for name in VARIABLES)
    return AwsPort(lambda service: boto3.client(service, config=config), bucket, role)
