"""`--aws`: the fixtures `lake` and `glue_job` on real Glue, through boto3 alone.

Buckets of a test are folders below one prefix of one bucket; all that it made is deleted.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tidemark.errors import UsageError
from tidemark.testing.job_arguments import arguments_of
from tidemark.testing.lake import SCHEMES, Lake
from tidemark.testing.run import JobRunFailedError

VARIABLES = ("TIDEMARK_AWS_BUCKET", "TIDEMARK_AWS_ROLE")
FINAL_STATES = ("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT", "ERROR", "EXPIRED")
LOGS = ("/aws-glue/jobs/output", "/aws-glue/jobs/error")  # of stdout, of stderr


@dataclass
class Account:
    """Where tests run on AWS.

    Attributes:
        clients: of boto3, by service: glue, s3 and logs.
        bucket: the bucket that everything is in.
        role: the ARN of the role of the jobs.
        prefix: of this test, without a slash at its end.
        poll_s: between two polls of a run.
        jobs: the jobs that were made.
    """

    clients: Mapping[str, Any]
    bucket: str
    role: str
    prefix: str = field(default_factory=lambda: f"tidemark-test-{secrets.token_hex(4)}")
    poll_s: float = 10.0
    jobs: set[str] = field(default_factory=set)

    @property
    def root(self) -> str:
        """Where the lake of the test is: ``s3://bucket/prefix/``."""
        return f"s3://{self.bucket}/{self.prefix}/"

    def stored(self) -> list[str]:
        """Return the keys of the test's objects, without the prefix."""
        listing = self.clients["s3"].get_paginator("list_objects_v2")
        pages = listing.paginate(Bucket=self.bucket, Prefix=f"{self.prefix}/")
        names = [item["Key"] for page in pages for item in page.get("Contents", [])]
        keys = [name.removeprefix(f"{self.prefix}/") for name in names]
        return [key for key in keys if key and not key.endswith(("/", "_$folder$"))]

    def put(self, key: str, body: bytes) -> None:
        """Write an object of the test."""
        self.clients["s3"].put_object(Bucket=self.bucket, Key=f"{self.prefix}/{key}", Body=body)

    def get(self, key: str) -> bytes:
        """Return the content of an object of the test."""
        answer = self.clients["s3"].get_object(Bucket=self.bucket, Key=f"{self.prefix}/{key}")
        return bytes(answer["Body"].read())

    def delete(self, key: str) -> None:
        """Delete an object of the test."""
        self.clients["s3"].delete_object(Bucket=self.bucket, Key=f"{self.prefix}/{key}")

    def close(self) -> None:
        """Delete everything the test has created."""
        for name in self.jobs:
            self.clients["glue"].delete_job(JobName=name)
        for key in self.stored():
            self.delete(key)


def account() -> Account:
    """Return the account that the environment names.

    Raises:
        UsageError: it is missing; the message says in one line what to do.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    if missing := [name for name in VARIABLES if not os.environ.get(name)]:
        raise UsageError(
            f"--aws needs {' and '.join(missing)} in the environment, and credentials: a bucket, "
            "and the ARN of a role for Glue jobs that may read and write it"
        )
    try:
        boto3.client("sts").get_caller_identity()
        clients = {name: boto3.client(name) for name in ("glue", "s3", "logs")}
    except (BotoCoreError, ClientError) as error:
        raise UsageError(
            f"--aws finds no account: {error}; set credentials and a region"
        ) from error
    bucket, role = (os.environ[name] for name in VARIABLES)
    return Account(clients, bucket, role)


class AwsLake(Lake):
    """The lake of a test on AWS: objects are written and read here, and copied there and back.

    S3 gives objects the time of their arrival, so `minutes_ago` has no effect there.
    """

    def __init__(self, account: Account, *given: Any) -> None:
        """Take the account, and what `Lake` takes."""
        super().__init__(*given)
        self._account = account

    def put(self, place: str, content: Any, *args: Any, **options: Any) -> str:
        """Write one object; see `Lake.put`."""
        uri = super().put(place, content, *args, **options)
        self._account.put(uri.removeprefix("s3://"), self.path(place).read_bytes())
        return uri

    def delete(self, place: str) -> None:
        """Delete an object, or all below a folder."""
        for name in self.names(place, hidden=True):
            self._account.delete(name)
        super().delete(place)

    def names(self, place: str = "", *, hidden: bool = False) -> list[str]:
        """Return the objects below a place, from AWS."""
        there = {key for key in self._account.stored() if not key.startswith("scripts/")}
        for gone in set(super().names("", hidden=True)) - there:
            self.path(gone).unlink()
        for key in there:
            file = self.path(key)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self._account.get(key))
        return super().names(place, hidden=hidden)

    keys = files = names

    def _existing(self, place: str) -> Path:
        self.names()
        return super()._existing(place)


@dataclass(frozen=True)
class AwsRun:
    """A job run on AWS that is over; attributes that AWS does not report are refused by name."""

    job_name: str
    run_id: str
    state: str
    error: str | None
    stdout: str
    stderr: str
    seconds: float
    where: str = "on AWS"

    @property
    def is_success(self) -> bool:
        """Whether it SUCCEEDED."""
        return self.state == "SUCCEEDED"

    def check(self) -> AwsRun:
        """Return the run if it SUCCEEDED.

        Raises:
            JobRunFailedError: it did not.
        """
        if not self.is_success:
            raise JobRunFailedError(f"job {self.job_name} {self.state} on AWS: {self.error}")
        return self

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"a run on AWS has no {name!r}: AWS does not report it; check lake.rows, or run "
            f"the test without --aws; it has {', '.join(self.__dataclass_fields__)}"
        )


class AwsGlueJob:
    """Runs scripts of one test as jobs of an account."""

    def __init__(
        self, account: Account, file_of: Callable[[str | Path], Path], version: str
    ) -> None:
        """Take the account, what finds scripts, and the version of Glue."""
        self._account = account
        self._file_of = file_of
        self._version = version

    def __call__(
        self,
        script: str | Path,
        bookmark: object = None,
        *,
        isolated: bool | None = None,
        **arguments: Any,
    ) -> AwsRun:
        """Run a script once, and wait for its end; see `GlueJob`."""
        file = self._file_of(script)
        words = arguments_of(bookmark, arguments)
        name = f"{self._account.prefix}-{words.pop('--JOB_NAME', file.stem.replace('_', '-'))}"
        self._account.put(f"scripts/{file.name}", file.read_bytes())
        glue = self._account.clients["glue"]
        if name not in self._account.jobs:
            self._create(glue, name, file)
        started = time.monotonic()
        schemes, root = "|".join(map(re.escape, SCHEMES)), self._account.root
        strings = {key: re.sub(schemes, lambda _: root, value) for key, value in words.items()}
        run_id = glue.start_job_run(JobName=name, Arguments=strings)["JobRunId"]
        while True:
            run = glue.get_job_run(JobName=name, RunId=run_id)["JobRun"]
            if run["JobRunState"] in FINAL_STATES:
                break
            time.sleep(self._account.poll_s)
        took = time.monotonic() - started
        out, err = (self._log(group, run_id) for group in LOGS)
        return AwsRun(name, run_id, run["JobRunState"], run.get("ErrorMessage"), out, err, took)

    def _create(self, glue: Any, name: str, file: Path) -> None:
        glue.create_job(
            Name=name,
            Role=self._account.role,
            Command={
                "Name": "glueetl",
                "ScriptLocation": f"{self._account.root}scripts/{file.name}",
                "PythonVersion": "3",
            },
            GlueVersion=self._version,
            WorkerType="G.1X",
            NumberOfWorkers=2,
            MaxRetries=0,
            Timeout=15,
        )
        self._account.jobs.add(name)

    def _log(self, group: str, run_id: str) -> str:
        logs = self._account.clients["logs"]
        try:
            answer = logs.get_log_events(
                logGroupName=group, logStreamName=run_id, startFromHead=True
            )
        except logs.exceptions.ResourceNotFoundException:
            return ""
        return "".join(f"{event['message'].rstrip()}\n" for event in answer["events"])


def refused(fixture: str) -> NoReturn:
    """Refuse a fixture that real Glue has no answer for.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        f"the fixture {fixture} is of the local Glue: with --aws there are lake and glue_job; run "
        "this test without --aws"
    )
