"""Refuses what a pipeline cannot be declared with, before anything is created."""

from collections.abc import Mapping
from pathlib import Path

from tidemark.checks.plain_secrets import NotSecret, check_open_texts
from tidemark.constructs.jobs.job_options import JobOptions
from tidemark.constructs.monitoring.alerting import Alerting, Email
from tidemark.constructs.security.security import ExistingSecurity, LogGroups
from tidemark.errors import JobDefinitionError
from tidemark.stage.config import StageConfig
from tidemark.stage.settings import MOST_TAGS

MOST_HOURS = 100 * 366 * 24  # a century


def check_types(
    pipeline: str, *, root: object, stage: object, watermarks: object, key: object
) -> None:
    """Raise unless everything a pipeline is made of is of the kind it should be."""
    wrong: list[tuple[str, object, str]] = []
    if not isinstance(root, str | Path):
        wrong.append(("root", root, "the path of the project"))
    elif not Path(root).is_dir():
        wrong.append(("root", str(root), "the path of the project, which is a folder"))
    if not isinstance(stage, StageConfig):
        wrong.append(("stage", stage, "a StageConfig"))
    if watermarks is not None and not hasattr(watermarks, "table"):
        wrong.append(("watermarks", watermarks, "a WatermarkTable, or None"))
    if not (hasattr(key, "key_arn") and hasattr(key, "add_to_resource_policy")):
        one = "a KMS key, kms.Key.from_key_arn(...) for one that others made"
        wrong.append(("key", key, one))
    elif hasattr(key, "alias_name") or "alias/" in str(key.key_arn):
        # Policies of IAM and log groups name keys: what they say of an alias has no effect.
        one = "the key itself, such as kms.Key.from_lookup(...), and no alias of it"
        wrong.append(("key", str(key.key_arn), one))
    for name, value, allowed in wrong:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has {name} {value!r}; allowed: {allowed}; correct {name}="
        )


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
            if not (isinstance(key, str) and key and isinstance(text, str | NotSecret))
        )
    if shown:
        raise JobDefinitionError(
            f"pipeline '{pipeline}' has run_properties of another kind: {shown}; allowed: names to "
            "strings; write the values in quotes"
        )
    return check_open_texts(f"pipeline '{pipeline}' has the run property", properties)


def check_tags(job: str, stage: StageConfig, options: object) -> None:
    """Raise unless AWS takes the tags of a stage and of a job together."""
    tags = {**stage.tags, **options.tags} if isinstance(options, JobOptions) else {}
    if len(tags) > MOST_TAGS:
        raise JobDefinitionError(
            f"job '{job}' has {len(tags)} tags with those of its stage; allowed: {MOST_TAGS}; "
            "remove some"
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
    if type(hours) is not int or not 1 <= hours <= MOST_HOURS:
        raise JobDefinitionError(
            f"job '{name}' has max_watermark_age_hours {hours!r}; allowed: an integer, hours "
            f"from 1 to {MOST_HOURS}; pass one, or leave it out"
        )
