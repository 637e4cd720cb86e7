"""The metrics of a job: lines of its log in CloudWatch's embedded metric format.

No request and no permission is needed: CloudWatch Logs makes metrics of such lines.
Source:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COMMITS, AGE = "WatermarkCommits", "WatermarkAge"
RESCUED, QUARANTINED = "RescuedRows", "QuarantinedRows"


def commit_report(job_id: str, watermarks: Mapping[str, Any], now: datetime) -> str:
    """Return the line: one commit, and how old the oldest watermark is, in seconds.

    Only times have an age; a naive one is taken for UTC.
    """
    times = list(_times(watermarks))
    ages = {AGE: max(0.0, (now - min(times)).total_seconds())} if times else {}
    return _line(job_id, {COMMITS: 1, **ages}, now)


def rows_report(job_id: str, metric: str, rows: int, target: str, now: datetime) -> str:
    """Return the line: rows for a target that a contract has rescued, or taken out."""
    return _line(job_id, {metric: rows}, now, Target=target)


def _line(job_id: str, values: Mapping[str, float], now: datetime, **more: str) -> str:
    metrics = [{"Name": name, "Unit": "Seconds" if name == AGE else "Count"} for name in values]
    about = {"Namespace": "Tidemark", "Dimensions": [["JobName"]], "Metrics": metrics}
    stamp = {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [about]}
    return json.dumps({"_aws": stamp, "JobName": job_id, **values, **more})


def _times(watermarks: Mapping[str, Any]) -> Iterator[datetime]:
    for value in watermarks.values():
        match value:
            case datetime():
                yield value if value.tzinfo else value.replace(tzinfo=UTC)
            case date():
                yield datetime.combine(value, time(), UTC)
            case dict():
                yield from _times(value)
