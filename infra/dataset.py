"""A named place for data: a bucket and a prefix."""

import re
from dataclasses import dataclass

from aws_cdk import aws_s3 as s3

from infra.errors import JobDefinitionError

PREFIX = re.compile(r"([A-Za-z0-9_.=-]+/)+")


@dataclass(frozen=True)
class Dataset:
    """The objects of a bucket whose keys start with a prefix.

    Attributes:
        bucket: the bucket that holds the data.
        prefix: one or more folder names, each closed by a slash: `flights/`.
        delivered: True if others than the app's jobs write it.
        published: True if others than the app's jobs read it.

    Raises:
        JobDefinitionError: the bucket is none, or the prefix is no folder.
    """

    bucket: s3.IBucket
    prefix: str
    delivered: bool = False
    published: bool = False

    def __post_init__(self) -> None:
        if not PREFIX.fullmatch(self.prefix):
            raise JobDefinitionError(
                f"dataset prefix {self.prefix!r} is not a folder; allowed: letters, digits and "
                "_.=- in names that each end with a slash; write it as 'flights/'"
            )
        if not hasattr(self.bucket, "bucket_arn"):
            raise JobDefinitionError(
                f"dataset {self.prefix!r} has the bucket {self.bucket!r}; allowed: a bucket; write "
                "s3.Bucket.from_bucket_name(...) for one that others made"
            )

    @property
    def uri(self) -> str:
        """Return the address of the data, `s3://<bucket>/<prefix>`."""
        return f"s3://{self.bucket.bucket_name}/{self.prefix}"
