"""Typed and validated stage configuration, from the context of `cdk.json`."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from tidemark.errors import ConfigError, JobDefinitionError, ScheduleError, show
from tidemark.model.assembly.glue_versions import DECLARABLE, DEFAULT_GLUE_VERSION
from tidemark.model.checked import checked
from tidemark.model.schedules.schedules import Schedule, zone_of
from tidemark.model.stage.fields import Fields
from tidemark.model.stage.runtime import WORKER_TYPES, JobRuntime
from tidemark.model.stage.settings import camel_case, settings

CONTEXT_KEYS = ("stage", "tidemark:stages")
STAGE_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")


@checked
@dataclass(frozen=True)
class StageConfig:
    """Everything that differs between two deployments of the same pipeline.

    Attributes:
        name: the stage, part of the stack and database names.
        account: AWS account of 12 digits; None takes the one of the deploying credentials.
        region: AWS region, a newer one named in TIDEMARK_NEW_REGIONS; None takes
            the one of the deploying credentials.
        schedule: cron or rate expression; None means the workflow is started by hand.
        runtime: the default runtime of jobs.
        termination_protection: True lets CloudFormation refuse to delete each stack that holds a
            pipeline or a lake.
        metrics: True publishes Glue's job metrics; alarms and dashboard need them.
        alert_email: address for mails when a run fails, stalls or takes too long, or None.
        log_retention_days: days that logs of job runs are kept.
        permissions_boundary: name of an IAM policy that bounds every role, or None.
        freshness_hours: hours without new data that raise an alarm, or None.
        dpu_hours_per_day: DPU-hours of one job in a day that raise an alarm, or None.
        monthly_budget_usd: monthly cost of a pipeline that sends a mail, or None.
        github_repository: owner and name of the repository whose GitHub Actions deploy, or None.
        tags: tag name to value, for every resource.
        time_zone: name in the IANA database; the schedule follows its clock.
        name_prefix: the start of the names that the app gives: of stacks, and so of the roles
            and buckets in them, of the key's alias, security configurations and dashboards.
            Jobs, workflows and the watermark table have none.
        connections: names of Glue connections of every job that declares none itself.
        vpc_only: True refuses a job without a connection, which would run outside a VPC.
        public_packages: False refuses Python packages that Glue takes from a public index:
            only named wheels in S3 are installed.
        own: the project's own settings of the stage, by their keys in cdk.json.

    Raises:
        ConfigError: the name cannot be part of others, AWS would refuse a value, the schedule or
            the time zone is not valid, or a limit lacks its metrics or an address for its alert.

    Example:
        >>> StageConfig("dev", None, None, None, JobRuntime()).log_retention_days
        30
    """

    name: str
    account: str | None
    region: str | None
    schedule: str | None
    runtime: JobRuntime
    termination_protection: bool = False
    metrics: bool = False
    alert_email: str | None = None
    log_retention_days: int = 30
    permissions_boundary: str | None = None
    freshness_hours: int | None = None
    dpu_hours_per_day: int | None = None
    monthly_budget_usd: int | None = None
    github_repository: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = "UTC"
    name_prefix: str = "tidemark"
    connections: tuple[str, ...] = ()
    vpc_only: bool = False
    public_packages: bool = True
    own: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not STAGE_NAME.fullmatch(name):
            raise ConfigError(
                f"stage name {show(name)} cannot be part of a resource name; allowed: up to "
                "16 lower case letters and digits, a letter first; rename it in cdk.json"
            )
        where = f"stage '{self.name}'"
        settings(Fields(vars(self), where, remedy="pass another to StageConfig"), str)
        _refuse_another_kind(where, "runtime", self.runtime, JobRuntime)
        _refuse_another_kind(where, "own", self.own, Mapping)
        _refuse_another_kind(where, "name_prefix", self.name_prefix, str)
        if self.monthly_budget_usd and not self.alert_email:
            raise ConfigError(
                f"stage '{self.name}' has monthlyBudgetUsd and no alertEmail to mail to; add one"
            )
        if self.dpu_hours_per_day and not self.metrics:
            raise ConfigError(
                f"stage '{self.name}' has dpuHoursPerDay, which is measured by metrics only; set "
                "metrics to true, or remove it"
            )
        try:
            zone_of(self.time_zone)
            _ = self.starts
        except ScheduleError as error:
            raise ConfigError(f"stage '{self.name}': {error}") from error

    @property
    def starts(self) -> Schedule | None:
        """Return the schedule of the workflow; None if it is started only by hand."""
        return None if self.schedule is None else Schedule(self.schedule, self.time_zone)

    def name_of(self, *parts: str) -> str:
        """Return the name of something in this stage: `tidemark-dev-storage` of `storage`."""
        return "-".join((self.name_prefix, self.name, *parts))

    @classmethod
    def from_context(cls, context: Mapping[str, object], own_keys: tuple[str, ...] = ()) -> Self:
        """Return the stage that the context selects.

        Args:
            context: `stage` (a name), `tidemark:stages` (stage name to its fields) and, to
                override those of the stage, the project's own keys.
            own_keys: further keys that a stage may have; `own` holds their values unchanged.

        Raises:
            ConfigError: a key is missing, unknown or has a value that is not allowed.
        """
        _refuse_misspelt(context, (*CONTEXT_KEYS, *own_keys))
        stages = Fields(context.get("tidemark:stages"), "context 'tidemark:stages'").left
        name = context.get("stage")
        if not isinstance(name, str) or name not in stages:
            raise ConfigError(
                f"unknown stage {show(name)}; allowed: {', '.join(sorted(stages)) or 'none yet'}; "
                "choose one with -c stage=NAME, or add it to 'tidemark:stages' in cdk.json"
            )
        fields = Fields(stages[name], f"stage '{name}'")
        own = {key: fields.take(key) for key in own_keys if key in fields.left}
        own |= {key: context[key] for key in own_keys if key in context}
        stage = cls(
            name=name, runtime=_runtime(fields, name), own=own, **settings(fields, camel_case)
        )
        fields.refuse_the_rest()
        return stage


def _refuse_another_kind(where: str, key: str, value: object, *kinds: type) -> None:
    if not isinstance(value, kinds):
        allowed = " or ".join(kind.__name__ for kind in kinds)
        raise ConfigError(f"{where} has {key} {value!r}; allowed: {allowed}; pass one")


def _runtime(fields: Fields, stage: str) -> JobRuntime:
    try:
        return JobRuntime(
            glue_version=fields.choice("glueVersion", DECLARABLE, default=DEFAULT_GLUE_VERSION),
            worker_type=fields.choice("workerType", WORKER_TYPES),
            number_of_workers=fields.number("numberOfWorkers", 2, 299),
            auto_scaling=fields.flag("autoScaling", default=False),
            flex=fields.flag("flex", default=False),
            timeout_minutes=fields.number("timeoutMinutes", 1, 10_080),
            max_retries=fields.number("maxRetries", 0, 10, default=0),
        )
    except JobDefinitionError as error:
        raise ConfigError(f"stage '{stage}': {error}") from error


def _refuse_misspelt(context: Mapping[str, object], known: tuple[str, ...]) -> None:
    """Raise for a key that looks like one of ours: the CDK takes any, and it would do nothing."""
    for key in context:
        meant = difflib.get_close_matches(key, known, n=1, cutoff=0.75)
        if meant and key not in known:
            raise ConfigError(
                f"unknown context key {show(key)}; allowed: {', '.join(known)}; did you "
                f"mean {meant[0]!r}?"
            )
