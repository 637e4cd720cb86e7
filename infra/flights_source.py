"""Where `ingest-flights` reads: files in the landing bucket, or a table of a database."""

import json
import re
from dataclasses import dataclass

from tidemark.errors import ConfigError, show
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.fields import Fields

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


def flights_source(stage: StageConfig) -> FilesSource | JdbcSource:
    """Return the source that `flightsSource` of a stage, or of the context, describes.

    Raises:
        ConfigError: it is not one of the two kinds.
    """
    value = stage.own.get("flightsSource", {"kind": "files"})
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
            url=fields.string("url", JDBC_URL, "an address such as jdbc:postgresql://host/db"),
            table=fields.string("table", NOT_EMPTY, "the name of a table"),
            driver=fields.string("driver", NOT_EMPTY, "a class such as org.postgresql.Driver"),
            connection_name=fields.optional_string(
                "connectionName", NOT_EMPTY, "null or the name of a Glue connection"
            ),
            secret_name=fields.optional_string(
                "secretName",
                SECRET_NAME,
                "null or the name (no ARN) of a secret in Secrets Manager",
            ),
        )
    fields.refuse_the_rest()
    return source
