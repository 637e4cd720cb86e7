"""CloudWatch metrics of Glue jobs, as dictionaries for alarms and dashboards.

Sources: https://docs.aws.amazon.com/glue/latest/dg/monitoring-awsglue-with-cloudwatch-metrics.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

NAMESPACE = "Tidemark"  # the namespace of the watermark library
REPORTED_EVERY_S = 30  # by Glue, while a run lasts


@dataclass(frozen=True)
class Metric:
    """One metric, and the statistic that reduces its data points of a period to one number."""

    namespace: str
    name: str
    dimensions: Mapping[str, str] = field(default_factory=dict)
    statistic: str = "Sum"
    label: str = ""

    def widget_row(self) -> list[object]:
        """Return the metric in the form of a dashboard's widget."""
        pairs = [part for pair in self.dimensions.items() for part in pair]
        return [self.namespace, self.name, *pairs, {"stat": self.statistic, "label": self.label}]


def bytes_read(job_name: str) -> Metric:
    """Return how many bytes all tasks of a job's runs read; AWS's indicator of bookmark trouble."""
    return _glue("glue.driver.aggregate.bytesRead", job_name, "count", "Sum")


def elapsed_time(job_name: str) -> Metric:
    """Return how long a job's runs took, in milliseconds."""
    return _glue("glue.driver.aggregate.elapsedTime", job_name, "count", "Sum")


def executors(job_name: str, statistic: str) -> Metric:
    """Return how many executors the runs of a job had, reported twice a minute."""
    name = "glue.driver.ExecutorAllocationManager.executors.numberAllExecutors"
    return _glue(name, job_name, "gauge", statistic)


def watermark_commits(job_name: str) -> Metric:
    """Return how often a job has moved its watermark."""
    return Metric(NAMESPACE, "WatermarkCommits", {"JobName": job_name}, "Sum", job_name)


def watermark_age(job_name: str) -> Metric:
    """Return the age of the newest data when a job committed it, in seconds."""
    return Metric(NAMESPACE, "WatermarkAge", {"JobName": job_name}, "Maximum", job_name)


def rows_aside(job_name: str, name: str) -> Metric:
    """Return how many rows contracts of a job rescued or took out: `RescuedRows` and the like."""
    return Metric(NAMESPACE, name, {"JobName": job_name}, "Sum", job_name)


def matched_events(rule_name: str, label: str) -> Metric:
    """Return how many events a rule of EventBridge matched."""
    return Metric("AWS/Events", "MatchedEvents", {"RuleName": rule_name}, "Sum", label)


def messages(queue_name: str) -> Metric:
    """Return how many messages a queue holds."""
    name = "ApproximateNumberOfMessagesVisible"
    return Metric("AWS/SQS", name, {"QueueName": queue_name}, "Maximum")


def _glue(name: str, job_name: str, kind: str, statistic: str) -> Metric:
    dimensions = {"JobName": job_name, "JobRunId": "ALL", "Type": kind}
    return Metric("Glue", name, dimensions, statistic, job_name)
