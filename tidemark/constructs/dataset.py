"""A named place for data: a bucket and a prefix."""

import re
from dataclasses import dataclass

from aws_cdk import aws_s3 as s3

from tidemark.constructs.catalog.table import Table
from tidemark.constructs.references import bucket_name
from tidemark.errors import JobDefinitionError

# A key has up to 1,024 characters, of which files need some.
# S3 takes `..` for a name; Hadoop, which reads it, for the folder above.
PREFIX = re.compile(r"(?=.{1,900}\Z)((?!\.{1,2}/)[A-Za-z0-9_.=-]+/)+")


@dataclass(frozen=True)
class Dataset:
    """The objects of a bucket whose keys start with a prefix.

    A job that reads or writes one can list it, and see the names (not the content) of all objects
    of its bucket: docs/security.md. Two jobs that can run at the same time do not write one, and
    a job that reads what another of its pipeline writes waits for it: the rules of the graph.

    Attributes:
        bucket: the bucket that holds the data.
        prefix: one or more folder names, each closed by a slash: `flights/`.
        delivered: True if others than the app's jobs write it.
        published: True if others than the app's jobs read it.
        table: the table of the Data Catalog by which Athena, Glue and Spark find the data; the
            pipeline that writes them creates it.

    Raises:
        JobDefinitionError: the prefix is not a folder.

    Example:
        >>> Dataset(bucket, "flights/").uri
        's3://lake/flights/'
    """

    bucket: s3.IBucket
    prefix: str
    delivered: bool = False
    published: bool = False
    table: Table | None = None

    def __post_init__(self) -> None:
        if not PREFIX.fullmatch(self.prefix):
            raise JobDefinitionError(
                f"dataset prefix {self.prefix!r} is not a folder; allowed: letters, digits and "
                "_.=- in names that each end with a slash, none of them . or .., up to 900 "
                "characters in all; write it as 'flights/'"
            )

    @property
    def uri(self) -> str:
        """Return the address of the data, `s3://<bucket>/<prefix>`."""
        return f"s3://{bucket_name(self.bucket)}/{self.prefix}"


def check_no_table(of: str, key: str, data: Dataset | None) -> None:
    """Raise if what is kept in a folder is no data, and a table is to describe it all the same.

    Args:
        of: whose it is, for people: `job 'orders'`.
        key: the parameter that names the folder.
        data: what it is given; None is none.

    Raises:
        JobDefinitionError: it has a table, which nothing would create.
    """
    if data is not None and data.table is not None:
        raise JobDefinitionError(
            f"{of} has {key} {data.prefix!r} with a table, and nothing in it is rows of one; "
            "allowed: a Dataset without table=; leave it out there"
        )
