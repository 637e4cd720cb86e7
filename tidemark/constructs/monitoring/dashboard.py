"""A CloudWatch dashboard per pipeline."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidemark.constructs.monitoring.metrics import (
    Metric,
    bytes_read,
    elapsed_time,
    executors,
    matched_events,
    watermark_age,
)

HOUR_S = 3_600
WIDTH, HEIGHT = 12, 6  # of a widget, on a grid of 24 columns
MAX_ALARMS, MAX_LOGS = 100, 50  # alarms in one widget, log groups in one query


@dataclass(frozen=True)
class DashboardContent:
    """The content of a dashboard.

    Attributes:
        pipeline: its name.
        region: region of its metrics.
        jobs: names of all jobs.
        watermark_jobs: names of those with watermarks.
        succeeded_rule: rule that matches succeeded runs of last jobs.
        failed_rule: rule that matches failed runs.
        failed_crawl_rule: rule that matches failed crawls; None without crawlers.
        alarms: ARNs.
        error_logs: log groups of errors.
        has_metrics: whether Glue publishes metrics of the jobs.
        starts: what starts runs, in readable form; empty if nothing but a person does.
    """

    pipeline: str
    region: str
    jobs: Sequence[str]
    watermark_jobs: Sequence[str]
    succeeded_rule: str
    failed_rule: str
    alarms: Sequence[str]
    error_logs: Sequence[str]
    has_metrics: bool
    starts: Sequence[str] = ()
    failed_crawl_rule: str | None = None


def dashboard_body(shown: DashboardContent) -> str:
    """Return the JSON of a dashboard, two widgets per row."""
    starts = ", ".join(shown.starts) or "hand"
    text = (
        f"# {shown.pipeline}\nStarts by {starts}. Runs: `aws glue get-workflow-runs --name "
        f"{shown.pipeline}`. Set a bookmark back: `aws glue reset-job-bookmark --job-name JOB "
        "--run-id LAST_GOOD_RUN`."
    )
    widgets = [
        _metrics(
            shown,
            "Runs by result",
            [
                matched_events(shown.succeeded_rule, "reached the end"),
                matched_events(shown.failed_rule, "failed"),
                *(
                    [matched_events(shown.failed_crawl_rule, "failed crawls")]
                    if shown.failed_crawl_rule
                    else []
                ),
            ],
        ),
        *(
            {"type": "alarm", "height": HEIGHT, "properties": {"title": "Alarms", "alarms": arns}}
            for arns in _chunks(shown.alarms, MAX_ALARMS)
        ),
        *(
            [
                _metrics(shown, "Bytes read", map(bytes_read, shown.jobs)),
                _metrics(shown, "Duration, ms", map(elapsed_time, shown.jobs)),
                _metrics(shown, "Executors", (executors(job, "Maximum") for job in shown.jobs)),
            ]
            if shown.has_metrics
            else []
        ),
        *(
            [_metrics(shown, "Watermark age, s", map(watermark_age, shown.watermark_jobs))]
            if shown.watermark_jobs
            else []
        ),
        *(_errors(shown.region, groups) for groups in _chunks(shown.error_logs, MAX_LOGS)),
    ]
    placed = [
        {"x": WIDTH * (number % 2), "y": 2 + HEIGHT * (number // 2), "width": WIDTH, **widget}
        for number, widget in enumerate(widgets)
    ]
    head = {"type": "text", "x": 0, "y": 0, "width": 24, "height": 2}
    return json.dumps({"widgets": [{**head, "properties": {"markdown": text}}, *placed]})


def _metrics(shown: DashboardContent, title: str, metrics: Iterable[Metric]) -> dict[str, object]:
    properties = {
        "title": title,
        "region": shown.region,
        "period": HOUR_S,
        "view": "timeSeries",
        "metrics": [metric.widget_row() for metric in metrics],
    }
    return {"type": "metric", "height": HEIGHT, "properties": properties}


def _errors(region: str, groups: Sequence[str]) -> dict[str, object]:
    query = " | ".join(
        [
            *(f"SOURCE '{group}'" for group in groups),
            "fields @timestamp, @logStream, @message",
            "filter @message like /ERROR|Traceback/",
            "sort @timestamp desc",
            "limit 50",
        ]
    )
    properties = {"title": "Errors", "region": region, "view": "table", "query": query}
    return {"type": "log", "height": HEIGHT, "properties": properties}


def _chunks(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
