"""Refuses what a pipeline cannot be declared with, before anything is created."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_kms as kms

from tidemark.constructs.crawlers.options import CrawlerOptions
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.kinds import (
    check_account,
    check_key,
    check_region,
    check_stage,
    check_stage_is_here,
)
from tidemark.constructs.monitoring.alerting import Alerting, Email
from tidemark.constructs.monitoring.slack import SlackChannel
from tidemark.constructs.security.security import ExistingSecurity, LogGroups
from tidemark.constructs.starts.declared import Start
from tidemark.constructs.starts.events import OnObjects
from tidemark.constructs.watermark_table import WatermarkTable
from tidemark.errors import JobDefinitionError
from tidemark.model.plain_secrets import NotSecret, check_open_texts
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.settings import MAX_TAGS, same_but_for_case

MAX_NAME = 255  # characters, of a run property
MAX_HOURS = 100 * 366 * 24  # a century


def check_types(
    pipeline: str, *, root: object, stage: object, watermarks: object, key: object
) -> None:
    """Raise unless everything a pipeline is made of is of the kind it should be."""
    wrong: list[tuple[str, object, str]] = []
    if not isinstance(root, str | Path):
        wrong.append(("root", root, "the path of the project"))
    elif not Path(root).is_dir():
        wrong.append(("root", str(root), "the path of the project, which is a folder"))
    if watermarks is not None and not hasattr(watermarks, "table"):
        wrong.append(("watermarks", watermarks, "a WatermarkTable, or None"))
    for name, value, allowed in wrong:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has {name} {value!r}; allowed: {allowed}; correct {name}="
        )
    check_stage(f"pipeline '{pipeline}'", stage)
    check_key(f"pipeline '{pipeline}'", key)


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
    """Raise unless what a pipeline uses is where its jobs, alarms and rules look for it.

    Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html,
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-service-cross-account.html (a rule
    needs a role to tell a topic of another account, and cannot tell one of another region)
    """
    of = f"pipeline '{pipeline}'"
    check_stage_is_here(of, stack, stage)
    check_region(of, stack, "key", key.env.region)
    if watermarks is not None:
        check_region(of, stack, "watermarks", watermarks.table.env.region)
        if not watermarks.reference.startswith("arn:"):  # by its name scripts find their own
            check_account(of, stack, "watermarks", watermarks.table.env.account)
    for kind in ("logs_key", "bookmarks_key", "data_key") if security else ():
        own = getattr(security, kind)
        if own is not None:  # what encrypts here is here
            check_region(of, stack, f"security with {kind}", own.env.region)
    for start in starts:
        if isinstance(start, OnObjects):  # S3 sends events to the bus of the bucket's region
            check_region(of, stack, "starts with a bucket", start.dataset.bucket.env.region)
    _check_told(of, stack, alerts)


def _check_told(of: str, stack: cdk.Stack, alerts: Alerting | None) -> None:
    """Raise unless who is told is where alarms and rules can tell it."""
    if alerts is not None and alerts.topic is not None:
        check_region(of, stack, "alerts with a topic", alerts.topic.env.region)
        check_account(of, stack, "alerts with a topic", alerts.topic.env.account)
    for one in alerts.subscribers if alerts is not None else ():
        if isinstance(one, SlackChannel):
            check_region(of, stack, "a SlackChannel", one.topic.env.region)
            check_account(of, stack, "a SlackChannel", one.topic.env.account)


def check_alerts(pipeline: str, alerts: object, stage: StageConfig) -> None:
    """Raise unless who is told is of the kind it should be, and nobody is told twice."""
    if alerts is None:
        return
    if not isinstance(alerts, Alerting):
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has alerts {alerts!r}; allowed: None, or Alerting(topic=..., "
            "subscribers=[...]); correct alerts="
        )
    if stage.alert_email and Email(stage.alert_email) in alerts.subscribers:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' tells {stage.alert_email}, which the stage has as alertEmail; "
            "remove one of the two"
        )


def check_security(pipeline: str, security: object, log_groups: object) -> None:
    """Raise unless what a pipeline encrypts and logs with is of the kind it should be."""
    if security is not None and not isinstance(security, ExistingSecurity):
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has security {security!r}; allowed: None, or ExistingSecurity("
            "name) for a security configuration that others made; correct security="
        )
    if not isinstance(log_groups, LogGroups):
        allowed = ", ".join(f"LogGroups.{one.name}" for one in LogGroups)
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has log_groups {log_groups!r}; allowed: {allowed}; pass one"
        )


def check_default(pipeline: str, key: str, value: object, kind: type) -> None:
    """Raise unless what a pipeline sets for every job, as `key`, is of a kind, or None."""
    if value is not None and not isinstance(value, kind):
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has {key} {value!r}; allowed: {kind.__name__}, or None; "
            f"correct {key}="
        )


def check_run_properties(pipeline: str, properties: object) -> dict[str, object]:
    """Return run properties as texts; raise unless they are names to texts that anybody may see."""
    if not isinstance(properties, Mapping):
        shown, properties = repr(properties), {}
    else:  # the values are not shown, since one may be a secret
        shown = ", ".join(
            repr(key)
            for key, text in properties.items()
            if not (_is_property_name(key) and isinstance(text, str | NotSecret))
        )
    if shown:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has run_properties of another kind: {shown}; allowed: names to "
            f"strings, names of 1 to {MAX_NAME} characters; write the values in quotes"
        )
    return check_open_texts(f"pipeline '{pipeline}' has the run property", properties)


def _is_property_name(name: object) -> bool:
    """Return whether Glue takes the name of a run property.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateWorkflow.html
    """
    return isinstance(name, str) and 1 <= len(name) <= MAX_NAME and name.isprintable()


def check_tags(job: str, stage: StageConfig, options: object, of: str = "job") -> None:
    """Raise unless AWS takes the tags of a stage and of a job or crawler together."""
    own = options.tags if isinstance(options, JobOptions | CrawlerOptions) else {}
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


def check_age(name: str, hours: object, *, watermark: bool) -> None:
    """Raise unless the age that raises an alarm is None, or hours of a job with a watermark."""
    if hours is None:
        return
    if not watermark:
        raise JobDefinitionError(
            f"job '{name}' has max_watermark_age_hours and keeps no watermark; set "
            "watermark=True, or leave it out"
        )
    if type(hours) is not int or not 1 <= hours <= MAX_HOURS:
        raise JobDefinitionError(
            f"job '{name}' has max_watermark_age_hours {hours!r}; allowed: an integer, hours "
            f"from 1 to {MAX_HOURS}; pass one, or leave it out"
        )
