"""Typed and validated stage configuration, from the context of `cdk.json`."""

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from infra.errors import ConfigError

CONTEXT_KEYS = ("stage", "flightsSource", "tidemark:stages")
STAGE_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")
ACCOUNT = re.compile(r"\d{12}")
REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d")
# Six fields; of day-of-month (third) and day-of-week (fifth) exactly one is "?".
_FIELD = r"[0-9A-Z*/,#-]+"
CRON = re.compile(
    rf"cron\({_FIELD} {_FIELD} (?:\? {_FIELD} {_FIELD}|{_FIELD} {_FIELD} \?) {_FIELD}\)"
)
CRON_FORM = (
    "null or six Glue cron fields with one ? for a day, such as cron(0 6 * * ? *) for 06:00 UTC"
)
JDBC_URL = re.compile(r"jdbc:\S+")
NOT_EMPTY = re.compile(r"\S+")
SECRET_NAME = re.compile(r"[\w/+=.@-]+", re.ASCII)  # what Secrets Manager allows; an ARN has colons
# Every worker type of a Glue Spark ETL job; G.025X is for streaming only.
WORKER_TYPES = ("G.1X", "G.2X", "G.4X", "G.8X", "G.12X", "G.16X", "R.1X", "R.2X", "R.4X", "R.8X")


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
    """

    url: str
    table: str
    driver: str
    connection_name: str | None = None
    secret_name: str | None = None


@dataclass(frozen=True)
class StageConfig:
    """Everything that differs between two deployments of the same pipeline.

    Attributes:
        name: the stage, part of the stack and database names.
        account: AWS account of 12 digits; None takes the one of the deploying credentials.
        region: AWS region; None takes the one of the deploying credentials.
        schedule: Glue cron expression in UTC; None means the workflow is started by hand.
        worker_type: Glue worker type of every job.
        number_of_workers: workers of every job.
        timeout_minutes: after this many minutes Glue stops a job run.
        termination_protection: True refuses to delete the storage stack.
        flights_source: where `ingest-flights` reads.
    """

    name: str
    account: str | None
    region: str | None
    schedule: str | None
    worker_type: str
    number_of_workers: int
    timeout_minutes: int
    termination_protection: bool
    flights_source: FilesSource | JdbcSource

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
        stages = _Fields(context.get("tidemark:stages"), "context 'tidemark:stages'").left
        name = context.get("stage")
        if not isinstance(name, str) or name not in stages:
            raise ConfigError(
                f"unknown stage {_show(name)}; allowed: {', '.join(sorted(stages)) or 'none yet'}; "
                "choose one with -c stage=NAME, or add it to 'tidemark:stages' in cdk.json"
            )
        if not STAGE_NAME.fullmatch(name):
            raise ConfigError(
                f"stage name {_show(name)} cannot be part of a resource name; allowed: up to 16 "
                "lower case letters and digits, a letter first; rename it in cdk.json"
            )
        fields = _Fields(stages[name], f"stage '{name}'")
        stage_source = fields.take("flightsSource", {"kind": "files"})
        stage = cls(
            name=name,
            account=fields.optional_text("account", ACCOUNT, "null or 12 digits in quotes"),
            region=fields.optional_text("region", REGION, "null or a region such as eu-west-1"),
            schedule=fields.optional_text("schedule", CRON, CRON_FORM),
            worker_type=fields.choice("workerType", WORKER_TYPES),
            number_of_workers=fields.number("numberOfWorkers", 2, 299),
            timeout_minutes=fields.number("timeoutMinutes", 1, 10_080),
            termination_protection=fields.flag("terminationProtection"),
            flights_source=_flights_source(context.get("flightsSource", stage_source)),
        )
        fields.refuse_the_rest()
        return stage


def _refuse_misspelt(context: Mapping[str, object]) -> None:
    """Raise for a key that looks like one of ours: the CDK takes any, and it would do nothing."""
    for key in context:
        meant = difflib.get_close_matches(key, CONTEXT_KEYS, n=1, cutoff=0.75)
        if meant and key not in CONTEXT_KEYS:
            raise ConfigError(
                f"unknown context key {_show(key)}; allowed: {', '.join(CONTEXT_KEYS)}; did you "
                f"mean {meant[0]!r}?"
            )


def _flights_source(value: object) -> FilesSource | JdbcSource:
    """Return the source of the flights that a JSON object, or the text of one, describes."""
    if isinstance(value, str):  # -c flightsSource='{...}' arrives as text
        try:
            value = json.loads(value)
        except ValueError:
            raise ConfigError(
                f"flightsSource is {_show(value)}; allowed: a JSON object; write it as "
                '-c flightsSource=\'{"kind": "files"}\''
            ) from None
    fields = _Fields(value, "flightsSource")
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


class _Fields:
    """The fields of one JSON object, each taken once; what is left at the end is unknown."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise ConfigError(
                f"{where} is {_show(value)}; allowed: a JSON object; correct it in cdk.json, or "
                "the -c option that sets it"
            )
        self.left: dict[str, object] = dict(value)
        self._where = where
        self._known: list[str] = []

    def take(self, key: str, default: object = ...) -> object:
        """Return the value of a field; without a default the field must be there."""
        self._known.append(key)
        if key not in self.left and default is ...:
            raise ConfigError(
                f"{self._where} has no '{key}'; add it; it has: "
                f"{', '.join(self.left) or 'nothing else'}"
            )
        return self.left.pop(key, default)

    def text(self, key: str, pattern: re.Pattern[str], allowed: str) -> str:
        """Return a text that the whole pattern matches."""
        value = self.take(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise self._not_allowed(key, value, allowed)
        return value

    def optional_text(self, key: str, pattern: re.Pattern[str], allowed: str) -> str | None:
        """Return a text like `text`, or None when the field is null or not there."""
        if self.left.get(key) is None:
            self.take(key, None)
            return None
        return self.text(key, pattern, allowed)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed texts."""
        value = self.take(key)
        if not isinstance(value, str) or value not in allowed:
            raise self._not_allowed(key, value, ", ".join(allowed))
        return value

    def number(self, key: str, low: int, high: int) -> int:
        """Return a whole number between two inclusive bounds."""
        value = self.take(key)
        if type(value) is not int or not low <= value <= high:  # True is an int, but no number
            raise self._not_allowed(key, value, f"a whole number from {low} to {high}")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self.take(key)
        if not isinstance(value, bool):
            raise self._not_allowed(key, value, "true, false")
        return value

    def refuse_the_rest(self) -> None:
        """Raise when a field is left that nobody took."""
        for key in self.left:
            raise ConfigError(
                f"{self._where} has an unknown key '{key}'; allowed: {', '.join(self._known)}; "
                "remove it, or correct its spelling"
            )

    def _not_allowed(self, key: str, value: object, allowed: str) -> ConfigError:
        return ConfigError(
            f"{self._where} has {key} {_show(value)}; allowed: {allowed}; correct it in cdk.json, "
            "or the -c option that sets it"
        )


def _show(value: object) -> str:
    """Return a value as JSON spells it, cut to a readable length."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 120 else f"{text[:117]}..."
