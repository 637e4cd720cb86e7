"""The events of this machine, in the form of EventBridge.

Source: https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-glue.html
Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import CRAWLER
from tidemark.model.clock import time_of

Event = dict[str, Any]
GLUE, S3 = "aws.glue", "aws.s3"
STATE_CHANGE, RUN_STATUS = "Glue Job State Change", "Glue Job Run Status"
CRAWL_CHANGE = "Glue Crawler State Change"
OBJECT_CREATED = "Object Created"
SEVERITIES = {"SUCCEEDED": "INFO", "STOPPED": "INFO", "FAILED": "ERROR", "TIMEOUT": "WARN"}
MS_PER_S = 1000


@dataclass(frozen=True)
class Origin:
    """The account and the region of an event."""

    account: str
    region: str


def envelope(
    origin: Origin,
    at_ms: int,
    source: str,
    detail_type: str,
    detail: Mapping[str, Any],
    resources: tuple[str, ...] = (),
) -> Event:
    """Return an event with a new id."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": origin.account,
        "time": datetime.fromtimestamp(at_ms // MS_PER_S, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": origin.region,
        "resources": list(resources),
        "detail": dict(detail),
    }


def state_change(run: JobRun, origin: Origin) -> Event | None:
    """Return the event of a job run, or of a crawl, that has ended; None if AWS sends none.

    Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/events/EventTypes.html
    """
    if run.job_name.startswith(CRAWLER):
        return _crawl_change(run, origin)
    if run.state not in SEVERITIES:
        return None
    detail = {
        "jobName": run.job_name,
        "severity": SEVERITIES[run.state],
        "state": run.state,
        "jobRunId": run.run_id,
        "message": run.error_message or "Job run succeeded",
    }
    return envelope(origin, run.completed_at_ms or run.started_at_ms, GLUE, STATE_CHANGE, detail)


def _crawl_change(run: JobRun, origin: Origin) -> Event | None:
    # AWS documents none of a crawl that is stopped.
    state = "Succeeded" if run.state == "SUCCEEDED" else "Failed"
    if run.state == "STOPPED":
        return None
    detail = {
        "accountId": origin.account,
        "crawlerName": run.job_name.removeprefix(CRAWLER),
        "state": state,
        "message": f"Crawler {state}",
        **({"errorMessage": run.error_message} if run.error_message else {}),
    }
    return envelope(origin, run.completed_at_ms or run.started_at_ms, GLUE, CRAWL_CHANGE, detail)


def run_status(run: JobRun, delay_minutes: int, at_ms: int, origin: Origin) -> Event:
    """Return the event "Glue Job Run Status" of a run that stays in one state for too long."""
    started = time_of(run.started_at_ms)
    detail = {
        "jobName": run.job_name,
        "severity": "INFO",
        "notificationCondition": {"NotifyDelayAfter": float(delay_minutes)},
        "state": run.state,
        "jobRunId": run.run_id,
        "message": f"Job is in {run.state} state",
        "startedOn": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    return envelope(origin, at_ms, GLUE, RUN_STATUS, detail)


@dataclass(frozen=True)
class CreatedObject:
    """An object that a client has put, and the operation."""

    bucket: str
    key: str
    size: int
    etag: str
    reason: str


def object_created(created: CreatedObject, at_ms: int, origin: Origin) -> Event:
    """Return the event "Object Created" of S3."""
    detail = {
        "version": "0",
        "bucket": {"name": created.bucket},
        "object": {
            "key": created.key,
            "size": created.size,
            "etag": created.etag,
            "sequencer": f"{at_ms:018X}",
        },
        "request-id": uuid.uuid4().hex[:16].upper(),
        "requester": origin.account,
        "source-ip-address": "127.0.0.1",
        "reason": created.reason,
    }
    return envelope(origin, at_ms, S3, OBJECT_CREATED, detail, (f"arn:aws:s3:::{created.bucket}",))
