"""Refuses invalid declarations of a pipeline before anything is created."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_kms as kms

from tidemark.constructs.crawlers.options import CrawlerOptions
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.monitoring.alerting import Alerting, Email
from tidemark.constructs.monitoring.slack import SlackChannel
from tidemark.constructs.security.security import ExistingSecurity
from tidemark.constructs.shared_checks import KEY_PLACES, PLACES, check_here, check_stage_is_here
from tidemark.constructs.starts.events import OnObjects, Start
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import wrong
from tidemark.model.plain_secrets import NotSecret, check_open_strings
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.settings import MAX_TAGS, same_but_for_case

MAX_NAME = 255  # characters, of a run property
MAX_HOURS = 100 * 366 * 24  # a century


def check_root(pipeline: str, root: Path) -> None:
    """Raise unless the path of a project is a folder."""
    if not root.is_dir():
        allowed = "the path of the project, which is a folder"
        raise wrong(f"pipeline '{pipeline}'", "root", str(root), allowed)


def check_places(
    pipeline: str,
    stack: cdk.Stack,
    key: kms.IKey,
    watermarks: WatermarkTable | None,
    alerts: Alerting | None,
    starts: Sequence[Start],
    stage: StageConfig,
    security: ExistingSecurity | None,
) -> None:
    """Raise unless a pipeline's resources are where its jobs, alarms and rules look for them.

    Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html,
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-cross-account.html (a rule
    needs a role for a topic of another account, and cannot use one of another region)
    """
    of = f"pipeline '{pipeline}'"
    check_stage_is_here(of, stack, stage)
    check_here(of, stack, "key", key, kinds=KEY_PLACES)
    if watermarks is not None:
        # By name, scripts use the table of their own account.
        kinds = KEY_PLACES if watermarks.reference.startswith("arn:") else PLACES
        check_here(of, stack, "watermarks", watermarks.table, kinds)
    for kind in ("logs_key", "bookmarks_key", "data_key") if security else ():
        own = getattr(security, kind)
        if own is not None:  # it must be here to encrypt here
            check_here(of, stack, f"security with {kind}", own, kinds=KEY_PLACES)
    for start in starts:
        if isinstance(start, OnObjects):  # S3 sends events to the bus of the bucket's own region
            check_here(of, stack, "starts with a bucket", start.dataset.bucket)
    _check_recipients(of, stack, alerts)


def _check_recipients(of: str, stack: cdk.Stack, alerts: Alerting | None) -> None:
    """Raise unless alarms and rules can reach the recipients of alerts."""
    if alerts is not None and alerts.topic is not None:
        check_here(of, stack, "alerts with a topic", alerts.topic)
    for subscriber in alerts.subscribers if alerts is not None else ():
        if isinstance(subscriber, SlackChannel):
            check_here(of, stack, "a SlackChannel", subscriber.topic)


def check_alerts(pipeline: str, alerts: Alerting | None, stage: StageConfig) -> None:
    """Raise if somebody would get alerts twice."""
    if alerts and stage.alert_email and Email(stage.alert_email) in alerts.subscribers:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' alerts {stage.alert_email}, which is the stage's alertEmail; "
            "remove one of the two"
        )


def check_run_properties(
    pipeline: str, properties: Mapping[str, str | NotSecret]
) -> dict[str, object]:
    """Return run properties as strings; raise unless Glue accepts them and they show no secret.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateWorkflow.html
    """
    for name in properties:
        if not (1 <= len(name) <= MAX_NAME and name.isprintable()):
            raise JobDefinitionError(
                f"pipeline '{pipeline}' has the run property {name!r}; allowed: names of 1 to "
                f"{MAX_NAME} characters; rename it"
            )
    return check_open_strings(f"pipeline '{pipeline}' has the run property", properties)


def check_tags(
    job: str, stage: StageConfig, options: JobOptions | CrawlerOptions | None, of: str = "job"
) -> None:
    """Raise unless AWS accepts the tags of a stage and of a job or crawler together."""
    own = options.tags if options else {}
    tags = {**stage.tags, **own} if own else {}
    if len(tags) > MAX_TAGS:
        raise JobDefinitionError(
            f"{of} '{job}' has {len(tags)} tags with those of its stage; allowed: {MAX_TAGS}; "
            "remove some"
        )
    if alike := same_but_for_case(tags):
        raise JobDefinitionError(
            f"{of} '{job}' has with those of its stage the tags {alike[0]!r} and {alike[1]!r}; "
            "allowed: names that differ in more than their case, as IAM wants them; rename one"
        )


def check_age(name: str, hours: int | None, *, watermark: bool) -> None:
    """Raise unless an alarm's age is None, or in hours for a job with a watermark."""
    if hours is None:
        return
    if not watermark:
        raise JobDefinitionError(
            f"job '{name}' has max_watermark_age_hours but keeps no watermark; set "
            "watermark=True, or leave it out"
        )
    if not 1 <= hours <= MAX_HOURS:
        raise JobDefinitionError(
            f"job '{name}' has max_watermark_age_hours {hours!r}; allowed: an integer, hours "
            f"from 1 to {MAX_HOURS}; pass one, or leave it out"
        )
