"""How a crawler updates tables of the Data Catalog that have changed.

Sources: https://docs.aws.amazon.com/glue/latest/dg/crawler-configuration.html,
https://docs.aws.amazon.com/glue/latest/dg/incremental-crawls.html
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from tidemark.constructs.jobs.own_texts import check_description, check_own_tags
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

CLASSIFIER = re.compile(r"[^\x00-\x1f]{1,255}")
PREFIX = re.compile(r"[a-z0-9_]{0,128}")


_error = partial(wrong, "CrawlerOptions", remedy="correct it")


class SchemaUpdate(Enum):
    """What happens to a table whose data has a new schema; new tables are always added."""

    UPDATE = "UPDATE_IN_DATABASE"
    LOG = "LOG"


class MissingData(Enum):
    """What happens to a table or partition whose data is gone."""

    LOG = "LOG"
    DEPRECATE = "DEPRECATE_IN_DATABASE"
    DELETE = "DELETE_FROM_DATABASE"


class Recrawl(Enum):
    """What later crawls read."""

    EVERYTHING = "CRAWL_EVERYTHING"
    NEW_FOLDERS_ONLY = "CRAWL_NEW_FOLDERS_ONLY"


@checked
@dataclass(frozen=True)
class CrawlerOptions:
    """How a crawler writes the Data Catalog.

    Attributes:
        table_prefix: prefix of the tables that it creates.
        on_change: what happens to a table whose schema has changed.
        on_missing: what happens to a table or partition whose data is gone.
        recrawl: what later crawls read. `NEW_FOLDERS_ONLY` requires `SchemaUpdate.LOG`.
        classifiers: names of custom classifiers.
        description: free text.
        tags: tags of the crawler, in addition to those of its stage.

    Raises:
        JobDefinitionError: Glue does not allow a value, or two exclude each other.

    Example:
        >>> CrawlerOptions(table_prefix="raw_").on_missing.value
        'LOG'
    """

    table_prefix: str = ""
    on_change: SchemaUpdate = SchemaUpdate.UPDATE
    on_missing: MissingData = MissingData.LOG
    recrawl: Recrawl = Recrawl.EVERYTHING
    classifiers: Sequence[str] = ()
    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not PREFIX.fullmatch(self.table_prefix):
            allowed = "up to 128 lower case letters, digits and _"
            raise _error("table_prefix", self.table_prefix, allowed)
        names = self.classifiers
        if not all(map(CLASSIFIER.fullmatch, names)) or len(set(names)) < len(names):
            allowed = "a list of names of classifiers, of 1 to 255 characters, each once"
            raise _error("classifiers", names, allowed)
        check_description("CrawlerOptions", self.description)
        check_own_tags("CrawlerOptions", self.tags)
        only_logs = self.on_change is SchemaUpdate.LOG and self.on_missing is MissingData.LOG
        if self.recrawl is Recrawl.NEW_FOLDERS_ONLY and not only_logs:
            raise JobDefinitionError(
                "recrawl is Recrawl.NEW_FOLDERS_ONLY, which changes no existing table: it "
                "requires on_change SchemaUpdate.LOG and on_missing MissingData.LOG; set them, or "
                "crawl everything"
            )

    def check_for_tables(self, crawler: str) -> None:
        """Raise unless these options suit a crawler that updates given tables.

        Source: https://docs.aws.amazon.com/glue/latest/dg/define-crawler-choose-data-sources.html

        Args:
            crawler: its name.

        Raises:
            JobDefinitionError: they create or delete tables, which Glue does not do then.
        """
        has = f"crawler '{crawler}' updates tables of the Data Catalog and has"
        if self.on_missing is not MissingData.LOG:
            raise JobDefinitionError(
                f"{has} on_missing {self.on_missing}; allowed: MissingData.LOG, since Glue deletes "
                "none of them; leave it out"
            )
        if self.table_prefix:
            raise JobDefinitionError(
                f"{has} table_prefix {self.table_prefix!r}; allowed: none, since Glue makes no new "
                "tables; leave it out"
            )
