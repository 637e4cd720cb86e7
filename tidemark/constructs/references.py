"""References of templates to resources, read once: every read of a construct is a call to Node.

A name or an ARN of a construct is a token that never changes, so it can be remembered. With
1,000 jobs these calls are most of the time for their declaration.
"""

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets

Of = TypeVar("Of")
Known = TypeVar("Known")


def read_once(read: Callable[[Of], Known]) -> Callable[[Of], Known]:
    """Return a function that reads each construct once, and remembers it as long as it lives."""
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
    """Return the ARN of a bucket's encryption key; None if S3 uses its own."""
    key = bucket.encryption_key
    return key.key_arn if key else None


@read_once
def job_ref(job: glue.CfnJob) -> str:
    """Return the name of a job, in a form that makes its user wait for the job."""
    return job.ref


@read_once
def role_arn(role: iam.IRole) -> str:
    """Return the ARN of a role."""
    return role.role_arn


@read_once
def asset_url(asset: assets.Asset) -> str:
    """Return the address of an asset in S3."""
    return asset.s3_object_url


@read_once
def _partition(stack: cdk.Stack) -> str:
    return stack.partition


def object_arn(stack: cdk.Stack, place: str) -> str:
    """Return the ARN of an object of S3, given as `<bucket>/<key>`."""
    return f"arn:{_partition(stack)}:s3:::{place}"


@read_once
def asset_key(asset: assets.Asset) -> str:
    """Return bucket and key of an asset, `<bucket>/<key>`."""
    return f"{asset.s3_bucket_name}/{asset.s3_object_key}"


@read_once
def _log_arns(stack: cdk.Stack) -> str:
    return f"arn:{_partition(stack)}:logs:{stack.region}:{stack.account}:log-group:"


def arn_of(
    stack: cdk.Stack,
    service: str,
    resource: str,
    name: str | None = None,
    account: str | None = None,
) -> str:
    """Return an ARN in the account, unless another one is given, and the region of a stack."""
    return stack.format_arn(service=service, resource=resource, resource_name=name, account=account)


def log_group_arn(stack: cdk.Stack, name: str) -> str:
    """Return the ARN of a log group in the account and region of a stack."""
    return f"{_log_arns(stack)}{name}"
