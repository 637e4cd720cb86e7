"""Typed and validated stage configuration, from the context of `cdk.json`."""

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from infra.errors import ConfigError, JobDefinitionError, ScheduleError
from infra.fields import Fields, show
from infra.plain_secrets import shows_secret
from infra.runtime import GLUE_VERSIONS, WORKER_TYPES, JobRuntime
from infra.schedules import Schedule, zone_of
from infra.settings import camel_case, settings

CONTEXT_KEYS = ("stage", "flightsSource", "tidemark:stages")
STAGE_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")
JDBC_URL = re.compile(r"jdbc:\S+")
NOT_EMPTY = re.compile(r"\S+")
SECRET_NAME = re.compile(r"[\w/+=.@-]+", re.ASCII)  # what Secrets Manager allows; an ARN has colons


@dataclass(frozen=True)
class FilesSource:
    """Flights arrive as files in the landing bucket."""


@dataclass(frozen=True)
class JdbcSource:
    """Flights are read from a database table.

    Attributes:
        url: JDBC address, `jdbc:...`.
        table: table to read.
        driver: Java class of the driver.
        connection_name: Glue connection that gives the job its network, or None.
        secret_name: Secrets Manager secret with the user name and password, or None.

    Raises:
        ConfigError: the address has a password.
    """

    url: str
    table: str
    driver: str
    connection_name: str | None = None
    secret_name: str | None = None

    def __post_init__(self) -> None:
        url: object = self.url
        if not isinstance(url, str):
            raise ConfigError(
                f"flightsSource has url {show(url)}; allowed: an address such as "
                "jdbc:postgresql://host/db; pass one"
            )
        if shows_secret("", url):  # an error that shows it would spread it
            raise ConfigError(
                "flightsSource has a url with a password, which the template and the job's "
                "arguments would show; put it into a secret and name that as secretName"
            )


@dataclass(frozen=True)
class StageConfig:
    """Everything that differs between two deployments of the same pipeline.

    Attributes:
        name: the stage, part of the stack and database names.
        account: AWS account of 12 digits; None takes the one of the deploying credentials.
        region: AWS region; None takes the one of the deploying credentials.
        schedule: cron or rate expression; None means the workflow is started by hand.
        runtime: what every job runs on, unless a job says otherwise.
        termination_protection: True refuses to delete the storage stack.
        metrics: True publishes Glue's job metrics; alarms and dashboard rest on them.
        alert_email: who gets a mail when a run fails, stalls or takes too long, or None.
        log_retention_days: how long logs of job runs are kept.
        permissions_boundary: name of an IAM policy that bounds every role, or None.
        freshness_hours: after so long without new data an alarm is raised, or None.
        dpu_hours_per_day: DPU-hours of one job in a day that raise an alarm, or None.
        monthly_budget_usd: cost of a pipeline in a month that is mailed, or None.
        github_repository: owner and name of the repository whose GitHub Actions deploy, or None.
        tags: tag name to value, for every resource.
        flights_source: where `ingest-flights` reads.
        time_zone: name of the IANA database, on whose clock the schedule is read.

    Raises:
        ConfigError: the name cannot be part of others, AWS would refuse a value, the schedule or
            the time zone is not valid, or a limit lacks what measures it or who is told.
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
    flights_source: FilesSource | JdbcSource = FilesSource()
    time_zone: str = "UTC"

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
        _refuse_another_kind(where, "flights_source", self.flights_source, FilesSource, JdbcSource)
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
        """Return when the workflow starts by itself; None if it is started by hand only."""
        return None if self.schedule is None else Schedule(self.schedule, self.time_zone)

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> Self:
        """Return the stage that the context selects.

        Args:
            context: `stage` (a name), `tidemark:stages` (stage name to its fields) and, to
                override the source of the stage, `flightsSource` (an object, or JSON of one).

        Raises:
            ConfigError: a key is missing, unknown or has a value that is not allowed.
        """
        _refuse_misspelt(context)
        stages = Fields(context.get("tidemark:stages"), "context 'tidemark:stages'").left
        name = context.get("stage")
        if not isinstance(name, str) or name not in stages:
            raise ConfigError(
                f"unknown stage {show(name)}; allowed: {', '.join(sorted(stages)) or 'none yet'}; "
                "choose one with -c stage=NAME, or add it to 'tidemark:stages' in cdk.json"
            )
        fields = Fields(stages[name], f"stage '{name}'")
        stage_source = fields.take("flightsSource", {"kind": "files"})
        stage = cls(
            name=name,
            runtime=_runtime(fields, name),
            flights_source=_flights_source(context.get("flightsSource", stage_source)),
            **settings(fields, camel_case),
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
            glue_version=fields.choice("glueVersion", GLUE_VERSIONS, default="5.1"),
            worker_type=fields.choice("workerType", WORKER_TYPES),
            number_of_workers=fields.number("numberOfWorkers", 2, 299),
            auto_scaling=fields.flag("autoScaling", default=False),
            flex=fields.flag("flex", default=False),
            timeout_minutes=fields.number("timeoutMinutes", 1, 10_080),
            max_retries=fields.number("maxRetries", 0, 10, default=0),
        )
    except JobDefinitionError as error:
        raise ConfigError(f"stage '{stage}': {error}") from error


def _refuse_misspelt(context: Mapping[str, object]) -> None:
    """Raise for a key that looks like one of ours: the CDK takes any, and it would do nothing."""
    for key in context:
        meant = difflib.get_close_matches(key, CONTEXT_KEYS, n=1, cutoff=0.75)
        if meant and key not in CONTEXT_KEYS:
            raise ConfigError(
                f"unknown context key {show(key)}; allowed: {', '.join(CONTEXT_KEYS)}; did you "
                f"mean {meant[0]!r}?"
            )


def _flights_source(value: object) -> FilesSource | JdbcSource:
    """Return the source of the flights that a JSON object, or the text of one, describes."""
    if isinstance(value, str):  # -c flightsSource='{...}' arrives as text
        try:
            value = json.loads(value)
        except ValueError:
            raise ConfigError(
                f"flightsSource is {show(value)}; allowed: a JSON object; write it as "
                '-c flightsSource=\'{"kind": "files"}\''
            ) from None
    fields = Fields(value, "flightsSource")
    source: FilesSource | JdbcSource = FilesSource()
    if fields.choice("kind", ("files", "jdbc")) == "jdbc":
        source = JdbcSource(
            url=fields.text("url", JDBC_URL, "an address such as jdbc:postgresql://host/db"),
            table=fields.text("table", NOT_EMPTY, "the name of a table"),
            driver=fields.text("driver", NOT_EMPTY, "a class such as org.postgresql.Driver"),
            connection_name=fields.optional_text(
                "connectionName", NOT_EMPTY, "null or the name of a Glue connection"
            ),
            secret_name=fields.optional_text(
                "secretName",
                SECRET_NAME,
                "null or the name (no ARN) of a secret in Secrets Manager",
            ),
        )
    fields.refuse_the_rest()
    return source
