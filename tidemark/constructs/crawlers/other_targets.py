"""Targets of a crawler other than files, tables of the Data Catalog and databases.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-glue-crawler-targets.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from aws_cdk import aws_dynamodb as dynamodb

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.connections import Connection
from tidemark.model.checked import checked, wrong

DYNAMODB_TABLE = re.compile(r"[A-Za-z0-9_.-]{3,255}", re.ASCII)
MAX_FOLDERS = 20  # between the folder and its tables
MIN_RATE, MAX_RATE = 0.1, 1.5
# A glob of Java: its brackets and braces are closed, braces hold no others.
# Source: https://docs.aws.amazon.com/glue/latest/dg/define-crawler-choose-data-sources.html
_PART = r"\\.|\[[^\]/]+\]|[^\\\[{]"
GLOB = re.compile(rf"(?:{_PART}|\{{(?:(?!\}})(?:{_PART}))*\}})+", re.DOTALL)
EVERYTHING = {"**", "**/**", "/**"}


_error = partial(wrong, remedy="correct it")


class OpenFormat(Enum):
    """A table format that keeps its own metadata with the data."""

    DELTA = "delta"
    HUDI = "hudi"
    ICEBERG = "iceberg"


@checked
@dataclass(frozen=True)
class CrawledOpenTables:
    """Tables of Delta Lake, Hudi or Iceberg that a crawler describes in the Data Catalog.

    For Delta Lake the folder is one table, which becomes a native table: no
    manifest is written. For Hudi and Iceberg it may hold several tables.

    Attributes:
        data: the folder.
        format: format of the tables.
        depth: how many folders deep to look for tables, for Hudi and Iceberg, 1 to 20; None:
            Glue's default.
        exclusions: glob patterns, relative to it, of files to skip, for Hudi and Iceberg.
        connection: a network connection of Glue for access to S3. None: Glue's network.

    Raises:
        JobDefinitionError: a value has another type, or does not suit the format.
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
            raise _error("CrawledOpenTables", "depth", depth, allowed)
        check_exclusions("CrawledOpenTables", self.exclusions)
        for key in ("depth", "exclusions"):
            if self.format is OpenFormat.DELTA and getattr(self, key):
                allowed = "none for Delta Lake, whose folder is a single table"
                raise _error("CrawledOpenTables", key, getattr(self, key), allowed)


@checked
@dataclass(frozen=True)
class CrawledDynamoDB:
    """A DynamoDB table of this account and region, whose attributes a crawler describes.

    Attributes:
        table: the table, or its name.
        sampled: True reads a sample of its items, False all items.
        scan_rate: the share of the table's read capacity to use, 0.1 to 1.5; None: half of the
            provisioned capacity.

    Raises:
        JobDefinitionError: a value has another type.

    Example:
        >>> CrawledDynamoDB("orders", sampled=True).table
        'orders'
    """

    table: dynamodb.ITable | str
    sampled: bool = False
    scan_rate: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.table, str) and not DYNAMODB_TABLE.fullmatch(self.table):
            allowed = "a table, or a name of 3 to 255 letters, digits and _.-"
            raise _error("CrawledDynamoDB", "table", self.table, allowed)
        rate = self.scan_rate
        if rate is not None and not MIN_RATE <= rate <= MAX_RATE:
            allowed = f"a number from {MIN_RATE} to {MAX_RATE}, or None"
            raise _error("CrawledDynamoDB", "scan_rate", rate, allowed)

    @property
    def table_name(self) -> str:
        """Return the name of the table, which may be known at deployment only."""
        return self.table if isinstance(self.table, str) else self.table.table_name

    @property
    def connection(self) -> None:
        """No connection: Glue reads DynamoDB through its own network."""
        return


def check_exclusions(what: str, patterns: Sequence[str]) -> None:
    """Raise if a glob pattern is empty or no glob, or excludes everything.

    Raises:
        JobDefinitionError: one does.
    """
    if not all(map(GLOB.fullmatch, patterns)) or not EVERYTHING.isdisjoint(patterns):
        allowed = "a list of glob patterns, such as '**.tmp', that leave something to crawl"
        raise _error(what, "exclusions", patterns, allowed)
