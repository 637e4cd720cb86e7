"""The metrics of a commit: a line of the job's log in CloudWatch's embedded metric format.

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

NAMESPACE = "Tidemark"
COMMITS, AGE = "WatermarkCommits", "WatermarkAge"


def commit_report(job_id: str, watermarks: Mapping[str, Any], now: datetime) -> str:
    """Return the line: one commit, and how old the oldest watermark is, in seconds.

    Only times have an age; a naive one is taken for UTC.
    """
    times = list(_times(watermarks))
    ages = {AGE: max(0.0, (now - min(times)).total_seconds())} if times else {}
    metrics = [{"Name": COMMITS, "Unit": "Count"}]
    metrics += [{"Name": name, "Unit": "Seconds"} for name in ages]
    about = {"Namespace": NAMESPACE, "Dimensions": [["JobName"]], "Metrics": metrics}
    stamp = {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [about]}
    return json.dumps({"_aws": stamp, "JobName": job_id, COMMITS: 1, **ages})


def _times(watermarks: Mapping[str, Any]) -> Iterator[datetime]:
    for value in watermarks.values():
        match value:
            case datetime():
                yield value if value.tzinfo else value.replace(tzinfo=UTC)
            case date():
                yield datetime.combine(value, time(), UTC)
            case dict():
                yield from _times(value)
