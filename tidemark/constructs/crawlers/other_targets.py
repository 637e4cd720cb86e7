"""What a crawler reads beside files, tables of the Data Catalog and databases.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-glue-crawler-targets.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.connections import Connection
from tidemark.errors import JobDefinitionError

DYNAMODB_TABLE = re.compile(r"[A-Za-z0-9_.-]{3,255}", re.ASCII)
MAX_FOLDERS = 20  # between the folder and its tables
MIN_RATE, MAX_RATE = 0.1, 1.5


class OpenFormat(Enum):
    """A table format that keeps its own metadata beside the data."""

    DELTA = "delta"
    HUDI = "hudi"
    ICEBERG = "iceberg"


@dataclass(frozen=True)
class CrawledOpenTables:
    """Tables of Delta Lake, Hudi or Iceberg that a crawler describes in the Data Catalog.

    Of Delta Lake the folder is that of one table, which is described as a native table: no
    manifest is written. Of Hudi and Iceberg it may hold several.

    Attributes:
        data: the folder.
        format: what the tables are.
        depth: how many folders below it tables are looked for, of Hudi and Iceberg, 1 to 20; None:
            as many as Glue looks through by itself.
        exclusions: glob patterns, relative to it, of what is left out, of Hudi and Iceberg.
        connection: a network connection of Glue through which S3 is reached. None: Glue's network.

    Raises:
        JobDefinitionError: something of it is of another kind, or not of this format.
    """

    data: Dataset
    format: OpenFormat
    depth: int | None = None
    exclusions: Sequence[str] = ()
    connection: Connection | None = None

    def __post_init__(self) -> None:
        depth = self.depth
        if depth is not None and not 1 <= depth <= MAX_FOLDERS:
            allowed = f"an integer from 1 to {MAX_FOLDERS}, or None"
            raise _wrong("CrawledOpenTables", "depth", depth, allowed)
        check_exclusions("CrawledOpenTables", self.exclusions)
        for key in ("depth", "exclusions"):
            if self.format is OpenFormat.DELTA and getattr(self, key):
                allowed = "none of Delta Lake, whose folder is that of one table"
                raise _wrong("CrawledOpenTables", key, getattr(self, key), allowed)


@dataclass(frozen=True)
class CrawledDynamoDB:
    """A table of DynamoDB of this account and region, whose attributes a crawler describes.

    Attributes:
        table: its name.
        sampled: True reads a sample of its items, False every one.
        scan_rate: how much of the table's read capacity the crawler takes, 0.1 to 1.5; None is
            half of what is provisioned.

    Raises:
        JobDefinitionError: something of it is of another kind.
    """

    table: str
    sampled: bool = False
    scan_rate: float | None = None

    def __post_init__(self) -> None:
        if not DYNAMODB_TABLE.fullmatch(self.table):
            allowed = "the name of a table, of 3 to 255 letters, digits and _.-"
            raise _wrong("CrawledDynamoDB", "table", self.table, allowed)
        rate = self.scan_rate
        if rate is not None and not MIN_RATE <= rate <= MAX_RATE:
            allowed = f"a number from {MIN_RATE} to {MAX_RATE}, or None"
            raise _wrong("CrawledDynamoDB", "scan_rate", rate, allowed)

    @property
    def connection(self) -> None:
        """No connection: Glue reads DynamoDB through its own network."""
        return


def check_exclusions(what: str, patterns: Sequence[str]) -> None:
    """Raise if a glob pattern is empty.

    Raises:
        JobDefinitionError: one is.
    """
    if not all(patterns):
        raise _wrong(what, "exclusions", patterns, "a list of glob patterns, such as '**.tmp'")


def _wrong(what: str, key: str, value: object, allowed: str) -> JobDefinitionError:
    return JobDefinitionError(f"{what} has {key} {value!r}; allowed: {allowed}; correct it")
