"""How templates refer to a resource, read once: every look at a construct is a call to Node.

A name or an ARN of a construct is a token that never changes, so that the second look need not be
a call. With 1,000 jobs these calls are most of the time that declaring them takes.
"""

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from aws_cdk import aws_glue as glue
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets

Of = TypeVar("Of")
Known = TypeVar("Known")


def read_once(read: Callable[[Of], Known]) -> Callable[[Of], Known]:
    """Return a function that reads of each construct once, and remembers it as long as it lives."""
    known: WeakKeyDictionary[Of, Known] = WeakKeyDictionary()

    def remembered(construct: Of) -> Known:
        if construct not in known:
            known[construct] = read(construct)
        return known[construct]

    return remembered


@read_once
def bucket_arn(bucket: s3.IBucket) -> str:
    """Return the ARN of a bucket."""
    return bucket.bucket_arn


@read_once
def bucket_name(bucket: s3.IBucket) -> str:
    """Return the name of a bucket."""
    return bucket.bucket_name


@read_once
def bucket_key_arn(bucket: s3.IBucket) -> str | None:
    """Return the ARN of the key that a bucket encrypts with, or None where S3 has its own."""
    key = bucket.encryption_key
    return key.key_arn if key else None


@read_once
def job_ref(job: glue.CfnJob) -> str:
    """Return the name of a job, in a form that makes what uses it wait for the job."""
    return job.ref


@read_once
def asset_url(asset: assets.Asset) -> str:
    """Return the address of an asset in S3."""
    return asset.s3_object_url


@read_once
def asset_arn(asset: assets.Asset) -> str:
    """Return the ARN of an asset in S3."""
    return asset.bucket.arn_for_objects(asset.s3_object_key)
