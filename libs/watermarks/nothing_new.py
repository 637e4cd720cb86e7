"""Ends a run in its first lines if it would find nothing new.

    ~BEFORE    wmRunId jr_7, wmInputs sha256:…    the findings of the last run that did not end here

There is nothing new if inputs, arguments and code equal those findings, and Glue says that the run
SUCCEEDED and that the bookmark in force is its own. After any doubt or error the run continues.
"""

from __future__ import annotations

import json
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from .errors import WatermarksError
from .run_notes import code_digests
from .table.client import TableClient
from .table.names import check_job, check_run_id
from .table.requests import IS_NOT_OURS, number, put_request
from .table.schema import EXPIRES_AT, Owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ARGUMENT, TABLE_ARGUMENT = "skip_if_nothing_new", "nothing_new_table"
OFF = "off"
ROW = "~BEFORE"
ENABLE = "job-bookmark-enable"
_HISTORY = timedelta(days=400)
# Every run has its own.
_RUN_ARGUMENTS = {"JOB_NAME", "JOB_ID", "JOB_RUN_ID", "WORKFLOW_NAME", "WORKFLOW_RUN_ID"}


def end_if_nothing_new(
    args: Mapping[str, str],
    *,
    dynamodb_client: Any = None,
    glue_client: Any = None,
    s3_client: Any = None,
) -> None:
    """End the script as SUCCEEDED if its run would find nothing new; otherwise note its findings.

    Call it before anything else. It lists the data that the job declares, reads one row and writes
    one, and asks Glue for the bookmark and the last run of the job. A run is ended by `sys.exit`,
    and a line says so; a line also says why a run continues.

    Args:
        args: the result of `getResolvedOptions`, with JOB_NAME, `skip_if_nothing_new` and
            `nothing_new_table`, which `add_job(..., skip_if_nothing_new=True)` passes.
        dynamodb_client: a client of boto3; None creates one, likewise the others.
        glue_client: a client of boto3.
        s3_client: a client of boto3.

    Raises:
        ValueError: an argument is missing, or a name is not usable.
        SystemExit: there is nothing new; its code is 0.
    """
    missing = [n for n in ("JOB_NAME", "JOB_RUN_ID", ARGUMENT, TABLE_ARGUMENT) if not args.get(n)]
    if missing:
        raise ValueError(
            f"args has no {missing[0]}: name it in getResolvedOptions; skip_if_nothing_new=True in "
            f"add_job passes {ARGUMENT} and {TABLE_ARGUMENT}"
        )
    check_job(args["JOB_NAME"])
    check_run_id(args["JOB_RUN_ID"])
    if args[ARGUMENT] == OFF:
        reason = f"{ARGUMENT} is {OFF}"
    elif args.get("job_bookmark_option") != ENABLE:
        reason = f"the job-bookmark-option is {args.get('job_bookmark_option')}, not {ENABLE}"
    else:
        clients = (dynamodb_client, glue_client, s3_client)
        try:
            services = zip(("dynamodb", "glue", "s3"), clients, strict=True)
            reason = _reason(args, *(_client(service, client) for service, client in services))
        except (BotoCoreError, ClientError, WatermarksError, LookupError, TypeError) as error:
            reason = f"the check failed: {type(error).__name__}: {error}"
    if reason:
        print(f"the run continues: {reason}")  # noqa: T201 (the log of the run)
        return
    print(f"nothing new: {args[ARGUMENT]} unchanged since the last commit")  # noqa: T201
    sys.exit(0)


def _client(service: str, given: Any) -> Any:
    if given is not None:
        return given
    import boto3  # here: importing boto3 takes a while

    client: Any = boto3.client
    return client(service)


def _reason(args: Mapping[str, str], dynamodb: Any, glue: Any, s3: Any) -> str:
    """Note the findings and return why the run continues; empty if there is nothing new."""
    job, run_id = args["JOB_NAME"], args["JOB_RUN_ID"]
    table = TableClient(dynamodb, args[TABLE_ARGUMENT], time.sleep, random.random)
    row = table.row(Owner(job), ROW)
    uris = [uri.strip() for uri in args[ARGUMENT].split(",") if uri.strip()]
    digest = digest_of(objects_of(s3, uris), sys.argv[1:], code_digests())
    last = row.string("wmRunId") if row else ""
    if not row or not last:
        reason = "the findings of the last run are not known"
    elif row.string("wmInputs") != digest:
        reason = "inputs, arguments or code are not those of the last run"
    else:
        reason = _unclear(glue, job, last)
    if reason:
        now = datetime.now(UTC)
        item = {
            **Owner(job).key(ROW),
            "wmKind": {"S": "before"},
            "wmAt": {"S": now.isoformat(timespec="microseconds")},
            "wmRunId": {"S": run_id},
            "wmInputs": {"S": digest},
            EXPIRES_AT: number(int((now + _HISTORY).timestamp())),
        }
        table.put(put_request(table.table, item, IS_NOT_OURS))
    return reason


def _unclear(glue: Any, job: str, last: str) -> str:
    """Return why the bookmark in force may not be the run's; empty if it is."""
    try:
        entry = glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "EntityNotFoundException":
            raise
        return "no run has committed a bookmark"
    if entry.get("RunId") != last:
        return f"the bookmark in force is not the one that {last} committed"
    state = glue.get_job_run(JobName=job, RunId=last)["JobRun"]["JobRunState"]
    return "" if state == "SUCCEEDED" else f"the last run, {last}, is {state}"


def objects_of(s3: Any, uris: Iterable[str]) -> Iterator[Sequence[object]]:
    """Yield the key and version of each object in a folder."""
    for uri in uris:
        bucket, _, prefix = uri.partition("://")[2].partition("/")
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        yield (uri,)
        for page in pages:
            for entry in page.get("Contents", ()):
                yield entry["Key"], entry["ETag"], entry["Size"], entry["LastModified"].isoformat()


def digest_of(
    objects: Iterable[Sequence[object]], argv: Sequence[str], code: Mapping[str, str]
) -> str:
    """Return a digest of a run's findings, without what differs in every run."""
    digest = sha256(json.dumps([own_words(argv), dict(code)], sort_keys=True).encode())
    for facts in objects:
        digest.update(json.dumps(facts).encode())
    return f"sha256:{digest.hexdigest()}"


def own_words(argv: Sequence[str]) -> list[str]:
    """Return arguments as `name=value`, without those that differ in every run."""
    own, words = [], iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            value = value if equals else next(words, "")
        if name.removeprefix("--") not in _RUN_ARGUMENTS:
            own.append(f"{name}={value}")
    return own
