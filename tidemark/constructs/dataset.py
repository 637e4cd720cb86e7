"""A named location of data: a bucket and a prefix."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from tidemark.constructs.catalog.iceberg_table import IcebergTable
from tidemark.constructs.catalog.schema_policy import SchemaPolicy, check_quarantine
from tidemark.constructs.catalog.table import Table
from tidemark.constructs.references import bucket_name
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.dqdl.check import find_problem

RULES = re.compile(r"\s*Rules\s*=", re.IGNORECASE)
# A key has up to 1,024 characters, and the names of files need some.
# In S3 `..` is a name; in Hadoop, which reads it, it is the parent folder.
PREFIX = re.compile(r"(?=.{1,900}\Z)((?!\.{1,2}/)[A-Za-z0-9_.=-]+/)+")


@checked
@dataclass(frozen=True)
class Dataset:
    """The objects of a bucket whose keys start with a prefix.

    A job that reads or writes one can list it, and see the names (not the content) of all objects
    of its bucket: docs/security.md. Two jobs that can run at the same time must not write the same
    one, and a job waits for the jobs of its pipeline that write its input: the rules of the graph.

    Attributes:
        bucket: the bucket that holds the data.
        prefix: one or more folder names, each closed by a slash: `flights/`.
        delivered: True if others than the app's jobs write it.
        published: True if others than the app's jobs read it.
        table: the table of the Data Catalog where Athena, Glue and Spark find the data; the
            pipeline that writes the data creates a `Table`, its first job an `IcebergTable`. A
            `Table` without columns gets the columns of `schema`.
        schema: the contract that rows are held to by the job that writes the data, or, if it is
            delivered, by those that read it. They get it as the argument `schema_of_NAME`.
        audit: what holds for the data before readers see it: conditions or queries of SQL, or rules
            in DQDL, as `audit=` of the watermark library takes them. The jobs that write the data
            get them as the argument `audit_of_NAME`, a list in JSON.

    Raises:
        JobDefinitionError: the prefix is not a folder, the table has no columns or others than the
            contract, the quarantine of the contract is in the data, or an audit is empty or has
            rules that are not DQDL.

    Example:
        >>> Dataset(bucket, "flights/").uri
        's3://lake/flights/'
    """

    bucket: s3.IBucket
    prefix: str
    delivered: bool = False
    published: bool = False
    table: Table | IcebergTable | None = None
    schema: SchemaPolicy | None = None
    audit: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "audit", tuple(self.audit))
        check_audits(self.prefix, self.audit)
        if not PREFIX.fullmatch(self.prefix):
            raise JobDefinitionError(
                f"dataset prefix {self.prefix!r} is not a folder; allowed: letters, digits and "
                "_.=- in names that each end with a slash, none of them . or .., up to 900 "
                "characters in all; write it as 'flights/'"
            )
        policy = self.schema or SchemaPolicy()
        if isinstance(policy.quarantine, Dataset):
            check_no_table(f"the dataset {self.prefix!r}", "quarantine", policy.quarantine)
            check_quarantine(f"the dataset {self.prefix!r}", policy.quarantine, [self])
        if isinstance(self.table, Table) and (self.schema or not self.table.columns):
            object.__setattr__(self, "table", policy.table(self.table))

    @property
    def uri(self) -> str:
        """Return the address of the data, `s3://<bucket>/<prefix>`."""
        return f"s3://{bucket_name(self.bucket)}/{self.prefix}"

    @checked
    def grant_read(self, grantee: iam.IGrantable) -> None:
        """Let a role or a function that is not of a job read the data and find its table.

        Args:
            grantee: a role, function, user or group of the app, or an imported role that the app
                may change.

        Raises:
            JobDefinitionError: the app may not change the grantee, or Lake Formation governs the
                table.

        Example:
            `orders.grant_read(analyst)` for `orders = Dataset(bucket, "orders/",
            table=IcebergTable("sales", "orders"))`.
        """
        self._grant(grantee, read=True, write=False)

    @checked
    def grant_write(self, grantee: iam.IGrantable) -> None:
        """Let a role or a function that is not of a job write the data, and register partitions.

        Args:
            grantee: as for `grant_read`.

        Raises:
            JobDefinitionError: as for `grant_read`.
        """
        self._grant(grantee, read=False, write=True)

    @checked
    def grant_read_write(self, grantee: iam.IGrantable) -> None:
        """Let a role or a function that is not of a job read and write the data.

        Args:
            grantee: as for `grant_read`.

        Raises:
            JobDefinitionError: as for `grant_read`.
        """
        self._grant(grantee, read=True, write=True)

    def _grant(self, grantee: iam.IGrantable, *, read: bool, write: bool) -> None:
        from tidemark.constructs.data_grants import grant  # which needs this module

        grant(grantee, self.bucket, self.prefix, self.table, read=read, write=write)


def check_no_table(of: str, key: str, data: Dataset | None) -> None:
    """Raise if a folder that holds no data has a table or a contract.

    Args:
        of: the owner, for messages: `job 'orders'`.
        key: the parameter that names the folder.
        data: its value; may be None.

    Raises:
        JobDefinitionError: it has a table, which nothing would create, or a contract, likewise.
    """
    if data is not None and (data.table or data.schema):
        raise JobDefinitionError(
            f"{of} has {key} {data.prefix!r} with a table or a contract, and nothing in it is "
            "rows of one; allowed: a Dataset without table= and schema=; leave them out there"
        )


def check_audits(prefix: str, audits: Sequence[str]) -> None:
    """Raise if an audit of a dataset is empty, or has rules that are not DQDL.

    Raises:
        JobDefinitionError: the audit is named.
    """
    for audit in audits:
        problem = find_problem(audit) if RULES.match(audit) else ""
        if problem or not audit.strip():
            raise JobDefinitionError(
                f"the dataset {prefix!r} has the audit {audit!r}: {problem or 'it is empty'}; "
                "allowed: a condition or a query of SQL, or rules in DQDL; correct audit="
            )
