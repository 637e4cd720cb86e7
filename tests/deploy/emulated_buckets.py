"""Properties of AWS::S3::Bucket that MiniStack's S3 knows and its CloudFormation leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import botocore.session
from botocore.serialize import create_serializer
from ministack.services import s3

Properties = dict[str, Any]


def configurations() -> list[tuple[str, Callable[..., bytes], Callable[..., Any], Any]]:
    """Return for each property: its name, its request body, how to put and how to delete it."""
    return [
        (
            "BucketEncryption",
            lambda it: body_of("PutBucketEncryption", ServerSideEncryptionConfiguration=rules(it)),
            s3._put_bucket_encryption,
            s3._delete_bucket_encryption,
        ),
        (
            "LifecycleConfiguration",
            lambda it: body_of(
                "PutBucketLifecycleConfiguration",
                LifecycleConfiguration={"Rules": [lifecycle_rule(rule) for rule in it["Rules"]]},
            ),
            s3._put_bucket_lifecycle,
            s3._delete_bucket_lifecycle,
        ),
        (
            "LoggingConfiguration",
            lambda it: body_of("PutBucketLogging", BucketLoggingStatus=logging_status(it)),
            s3._put_bucket_logging,
            lambda name: s3._put_bucket_logging(
                name, body_of("PutBucketLogging", BucketLoggingStatus={})
            ),
        ),
        (
            "OwnershipControls",
            lambda it: body_of("PutBucketOwnershipControls", OwnershipControls=it),
            s3._put_bucket_ownership_controls,
            s3._delete_bucket_ownership_controls,
        ),
        (
            "Tags",
            lambda it: body_of("PutBucketTagging", Tagging={"TagSet": it}),
            s3._put_bucket_tagging,
            s3._delete_bucket_tagging,
        ),
    ]


def body_of(operation: str, **parameters: Any) -> bytes:
    """Return the body that boto3 sends for an operation of S3."""
    model = botocore.session.get_session().get_service_model("s3").operation_model(operation)
    request = create_serializer("rest-xml").serialize_to_request(
        {"Bucket": "any", **parameters}, model
    )
    return bytes(request["body"])


def rules(encryption: Properties) -> Properties:
    """Return the rules of a BucketEncryption as the API spells them."""
    return {
        "Rules": [
            {
                "ApplyServerSideEncryptionByDefault": with_key(
                    rule["ServerSideEncryptionByDefault"]
                ),
                "BucketKeyEnabled": rule.get("BucketKeyEnabled", False),
            }
            for rule in encryption["ServerSideEncryptionConfiguration"]
        ]
    }


def with_key(default: Properties) -> Properties:
    """Return a default encryption with the key that S3 takes when none is named."""
    of_aws = {"KMSMasterKeyID": "alias/aws/s3"} if default["SSEAlgorithm"] == "aws:kms" else {}
    return of_aws | default


def lifecycle_rule(rule: Properties) -> Properties:
    """Return a rule of a LifecycleConfiguration as the API spells it.

    Raises:
        ValueError: the rule has a member that is not translated here.
    """
    rest = dict(rule)
    asked = {
        "ID": rest.pop("Id", ""),
        "Status": rest.pop("Status"),
        "Filter": {"Prefix": rest.pop("Prefix", "")},
    }
    if "ExpirationInDays" in rest:
        asked["Expiration"] = {"Days": rest.pop("ExpirationInDays")}
    for name in ("AbortIncompleteMultipartUpload", "NoncurrentVersionExpiration"):
        if name in rest:
            asked[name] = rest.pop(name)
    if rest:
        raise ValueError(f"tests/deploy/emulated_buckets.py does not translate {sorted(rest)}")
    return asked


def logging_status(configuration: Properties) -> Properties:
    target = {"TargetBucket": configuration["DestinationBucketName"]}
    return {"LoggingEnabled": {**target, "TargetPrefix": configuration.get("LogFilePrefix", "")}}
