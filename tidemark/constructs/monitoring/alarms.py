"""Alarms of a pipeline: not started, stalled, stale, reading nothing or everything, expensive."""

import json
import math
from collections.abc import Sequence
from functools import partial

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from tidemark.constructs.monitoring import metrics
from tidemark.model.assembly.resources import REQUEST_SOURCE, REQUEST_TYPE
from tidemark.model.messages import plural
from tidemark.model.stage.runtime import JobRuntime

QUARTER_S, HOUR_S, DAY_S = 900, 3_600, 86_400
MAX_DAYS = 7  # the longest look-back of an alarm
BAND = 3  # standard deviations around the usual value

_Query = cloudwatch.CfnAlarm.MetricDataQueryProperty


class Alarms(Construct):
    """Creates alarms that notify topics, each only if somebody has to act.

    Attributes:
        arns: ARNs of the alarms, for a dashboard.
    """

    def __init__(
        self, scope: Construct, id_: str, *, pipeline_name: str, topic_arns: Sequence[str]
    ) -> None:
        super().__init__(scope, id_)
        self.arns: list[str] = []
        self._pipeline = pipeline_name
        self._topic_arns = list(topic_arns)

    def on_stall(self, rule_name: str, hours: int) -> None:
        """Alarm if no last job of the pipeline has succeeded for some hours."""
        self._alarm(
            "Stalled",
            f"No run of {self._pipeline} reached its end for {plural(hours, 'hour')}. Look: aws "
            f"glue get-workflow-runs --name {self._pipeline}",
            [_query(metrics.matched_events(rule_name, "ended"), "ended", HOUR_S)],
            periods=hours,
        )

    def on_not_running(self, job_name: str) -> None:
        """Alarm while a streaming job reports nothing; every running one reports."""
        self._alarm(
            f"NotRunning-{job_name}",
            f"The streaming job {job_name} does not run. {_runs_of(job_name)}. Start it: aws glue "
            f"start-job-run --job-name {job_name}. It continues from its checkpoint",
            [_query(metrics.executors(job_name, "SampleCount"), "reports", QUARTER_S)],
            periods=2,  # Glue may need some minutes to restart it
        )

    def on_missed_start(self, queue_name: str, group: str, by_event: bool = False) -> None:
        """Alarm while a queue holds a failed start of a schedule in a group.

        Args:
            queue_name: the queue.
            group: the group of schedules.
            by_event: whether the workflow has an EVENT start trigger.
        """
        start = (
            start_by_event(self._pipeline)
            if by_event
            else f"aws glue start-workflow-run --name {self._pipeline}"
        )
        self._alarm(
            "MissedStart",
            f"The schedule of {self._pipeline} could not start a run, as when the run before is "
            "not over. Why, is in the queue of its DeadLetterConfig: aws scheduler get-schedule "
            f"--group-name {group} --name {self._pipeline}. Start it: {start}. Then purge "
            "the queue",
            [_query(metrics.messages(queue_name), "messages", HOUR_S)],
            above=0,
        )

    def on_missed_event(self, queue_name: str) -> None:
        """Alarm while a queue holds an event that did not reach the workflow."""
        self._alarm(
            "MissedEvent",
            f"An event did not reach {self._pipeline}, so no run may have started for it. Which, "
            f"and why, is in the queue {queue_name}. Start a run: "
            f"{start_by_event(self._pipeline)}. Then purge the queue",
            [_query(metrics.messages(queue_name), "messages", HOUR_S)],
            above=0,
        )

    def on_stale_watermark(self, job_name: str, hours: int) -> None:
        """Alarm when a watermark did not move for some hours."""
        self._alarm(
            f"Stale-{job_name}",
            f"The watermark of {job_name} did not move for {plural(hours, 'hour')}. "
            f"{_runs_of(job_name)}",
            [_query(metrics.watermark_commits(job_name), "commits", HOUR_S)],
            periods=hours,
        )

    def on_old_watermark(self, job_name: str, hours: int) -> None:
        """Alarm when a job commits a watermark that is older than some hours."""
        self._alarm(
            f"Old-{job_name}",
            f"{job_name} reads data that is older than {plural(hours, 'hour')}: its source is "
            f"late, or it does not keep up. {_runs_of(job_name)}",
            [_query(metrics.watermark_age(job_name), "age", HOUR_S)],
            above=hours * HOUR_S,
            missing="ignore",
        )

    def on_rows_aside(self, job_name: str, metric: str) -> None:
        """Alarm when a contract of a job has rescued a row, or taken one out."""
        self._alarm(
            f"{metric}-{job_name}",
            f"{job_name} met rows that break the contract of a dataset: look for {metric} in its "
            f"log, then into the quarantine, or for _rescued_data. {_runs_of(job_name)}",
            [_query(metrics.rows_aside(job_name, metric), "rows", HOUR_S)],
            above=0,
        )

    def on_nothing_read(self, job_name: str, hours: int) -> None:
        """Alarm when the runs of some hours, in whole days, read nothing at all."""
        days = min(MAX_DAYS, math.ceil(hours * HOUR_S / DAY_S))
        self._alarm(
            f"NothingRead-{job_name}",
            f"{job_name} ran and read nothing for {plural(days, 'day')}: nothing was delivered, or "
            f"its bookmark is stuck. {_bookmark_of(job_name)}",
            [_query(metrics.bytes_read(job_name), "bytes", DAY_S)],
            periods=days,
            missing="notBreaching",  # a day without a run, which `on_stall` covers
        )

    def on_unusual_bytes(self, job_name: str) -> None:
        """Alarm when a bookmarked job reads much less or much more than usual in a day."""
        self._alarm(
            f"BytesRead-{job_name}",
            f"{job_name} read unusually few or many bytes: its bookmark may be stuck or lost. "
            f"{_bookmark_of(job_name)}",
            [
                _query(metrics.bytes_read(job_name), "bytes", DAY_S),
                _Query(id="band", expression=f"ANOMALY_DETECTION_BAND(bytes, {BAND})"),
            ],
            band="band",
            missing="ignore",
        )

    def on_dpu_hours(self, job_name: str, runtime: JobRuntime, limit: float) -> None:
        """Alarm when the runs of a job use more DPU-hours in a day than a limit."""
        hours = metrics.REPORTED_EVERY_S / HOUR_S * runtime.dpus_of_worker
        counts = partial(metrics.executors, job_name)
        self._alarm(
            f"DpuHours-{job_name}",
            f"{job_name} used more than {limit} DPU-hours in a day. {_runs_of(job_name)}",
            # A driver is one more worker than the executors, hence the number of reports on top.
            [
                _query(counts("Sum"), "executors", DAY_S, is_shown=False),
                _query(counts("SampleCount"), "drivers", DAY_S, is_shown=False),
                _Query(
                    id="hours", expression=f"(executors + drivers) * {hours:g}", label="DPU-hours"
                ),
            ],
            above=limit,
        )

    def _alarm(
        self,
        id_: str,
        description: str,
        queries: Sequence[_Query],
        *,
        above: float | None = None,
        band: str | None = None,
        missing: str = "",
        periods: int = 1,
    ) -> None:
        """Alarm above a number, outside of a band, or by default if there is nothing."""
        operator, threshold, usually = "LessThanThreshold", 1.0, "breaching"
        if above is not None:
            operator, threshold, usually = "GreaterThanThreshold", above, "notBreaching"
        alarm = cloudwatch.CfnAlarm(
            self,
            id_,
            alarm_description=description,
            metrics=list(queries),
            comparison_operator="LessThanLowerOrGreaterThanUpperThreshold" if band else operator,
            threshold=None if band else threshold,
            threshold_metric_id=band,
            evaluation_periods=periods,
            datapoints_to_alarm=periods,
            treat_missing_data=missing or usually,
            alarm_actions=self._topic_arns,
            ok_actions=self._topic_arns,
        )
        self.arns.append(alarm.attr_arn)


def start_by_event(pipeline: str) -> str:
    """Return the command that starts a pipeline with an EVENT trigger."""
    entry = {
        "Source": REQUEST_SOURCE,
        "DetailType": REQUEST_TYPE,
        "Detail": json.dumps({"pipeline": pipeline}),
    }
    return f"aws events put-events --entries '[{json.dumps(entry)}]'"


def _runs_of(job_name: str) -> str:
    return f"Look: aws glue get-job-runs --job-name {job_name}"


def _bookmark_of(job_name: str) -> str:
    return (
        f"Look: aws glue get-job-bookmark --job-name {job_name}. Set back: aws glue "
        f"reset-job-bookmark --job-name {job_name} --run-id <last good run>"
    )


def _query(metric: metrics.Metric, id_: str, period_s: int, *, is_shown: bool = True) -> _Query:
    return _Query(
        id=id_,
        metric_stat=cloudwatch.CfnAlarm.MetricStatProperty(
            metric=cloudwatch.CfnAlarm.MetricProperty(
                namespace=metric.namespace,
                metric_name=metric.name,
                dimensions=[
                    cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value)
                    for name, value in metric.dimensions.items()
                ],
            ),
            period=period_s,
            stat=metric.statistic,
        ),
        return_data=is_shown,
    )
