"""The tags of a resource, for each type, from its service's own API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.deploy.compare import Deployed

Clients = Callable[[str], Any]
OF_CLOUDFORMATION = "aws:"


def tags_like(asked: Any, clients: Clients, resource: Deployed) -> Any:
    """Return the tags of a resource in the form its template has: an object, or a sorted list.

    Raises:
        LookupError: the tags of this type are not read.
    """
    if resource.type.startswith("AWS::Glue::"):
        tags = of_glue(clients, resource)
    elif resource.type in LISTS:
        listed = LISTS[resource.type](clients, resource.id)
        tags = {
            tag.get("Key", tag.get("TagKey")): tag.get("Value", tag.get("TagValue"))
            for tag in listed
        }
    elif resource.type == "AWS::Logs::LogGroup":
        arn = arn_of(clients, "logs", "log-group:" + resource.id)
        tags = clients("logs").list_tags_for_resource(resourceArn=arn)["tags"]
    else:
        raise LookupError(f"tags of {resource.type} are not read: add it to tests/deploy/tags.py")
    own = {key: tags[key] for key in sorted(tags) if not key.startswith(OF_CLOUDFORMATION)}
    if isinstance(asked, dict):
        return own
    return [{"Key": key, "Value": value} for key, value in own.items()]


def of_glue(clients: Clients, resource: Deployed) -> Mapping[str, str]:
    kind = resource.type.removeprefix("AWS::Glue::").lower()
    arn = arn_of(clients, "glue", f"{kind}/{resource.id}")
    return dict(clients("glue").get_tags(ResourceArn=arn)["Tags"])


def arn_of(clients: Clients, service: str, name: str) -> str:
    """Return the ARN of something in this account and region."""
    account = clients("sts").get_caller_identity()["Account"]
    return f"arn:aws:{service}:{clients(service).meta.region_name}:{account}:{name}"


def budget_arn(clients: Clients, name: str) -> str:
    """Return the ARN of a budget, which belongs to no region."""
    account = clients("sts").get_caller_identity()["Account"]
    return f"arn:aws:budgets::{account}:budget/{name}"


LISTS: dict[str, Callable[[Clients, str], list[dict[str, str]]]] = {
    "AWS::Budgets::Budget": lambda clients, id_: clients("budgets").list_tags_for_resource(
        ResourceARN=budget_arn(clients, id_)
    )["ResourceTags"],
    "AWS::CloudWatch::Alarm": lambda clients, id_: clients("cloudwatch").list_tags_for_resource(
        ResourceARN=arn_of(clients, "cloudwatch", f"alarm:{id_}")
    )["Tags"],
    "AWS::DynamoDB::Table": lambda clients, id_: clients("dynamodb").list_tags_of_resource(
        ResourceArn=arn_of(clients, "dynamodb", f"table/{id_}")
    )["Tags"],
    "AWS::Events::Rule": lambda clients, id_: clients("events").list_tags_for_resource(
        ResourceARN=arn_of(clients, "events", f"rule/{id_}")
    )["Tags"],
    "AWS::IAM::Role": lambda clients, id_: clients("iam").list_role_tags(RoleName=id_)["Tags"],
    "AWS::KMS::Key": lambda clients, id_: clients("kms").list_resource_tags(KeyId=id_)["Tags"],
    "AWS::S3::Bucket": lambda clients, id_: clients("s3").get_bucket_tagging(Bucket=id_)["TagSet"],
    "AWS::SQS::Queue": lambda clients, id_: [
        {"Key": key, "Value": value}
        for key, value in clients("sqs").list_queue_tags(QueueUrl=id_).get("Tags", {}).items()
    ],
    "AWS::Scheduler::ScheduleGroup": lambda clients, id_: clients(
        "scheduler"
    ).list_tags_for_resource(ResourceArn=arn_of(clients, "scheduler", f"schedule-group/{id_}"))[
        "Tags"
    ],
    "AWS::SNS::Topic": lambda clients, id_: clients("sns").list_tags_for_resource(ResourceArn=id_)[
        "Tags"
    ],
}
