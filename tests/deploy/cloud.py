"""An account and region behind one endpoint: what its stacks created, and all that is in it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

Clients: TypeAlias = Callable[[str], Any]


@dataclass(frozen=True)
class Deployed:
    """A resource of a stack: its CloudFormation type and its physical id."""

    type: str
    id: str


@dataclass(frozen=True)
class Stack:
    """A stack.

    Attributes:
        template: the one it was last deployed from.
        resources: by logical id.
    """

    template: Mapping[str, Any]
    resources: Mapping[str, Deployed]


@dataclass(frozen=True)
class Cloud:
    """An account and region behind one endpoint.

    Attributes:
        endpoint_url: address of all services.
        account: the account of 12 digits, which is also the access key id.
        region: the region.
    """

    endpoint_url: str
    account: str
    region: str

    @functools.cached_property
    def client(self) -> Clients:
        """Return a maker of clients with the account's own credentials, one for each service."""
        return self.as_somebody({"AccessKeyId": self.account, "SecretAccessKey": "test"})

    def as_somebody(self, keys: Mapping[str, str]) -> Clients:
        """Return a maker of clients with credentials as IAM or STS give them."""
        session = boto3.Session(
            aws_access_key_id=keys["AccessKeyId"],
            aws_secret_access_key=keys["SecretAccessKey"],
            aws_session_token=keys.get("SessionToken"),
            region_name=self.region,
        )
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})

        @functools.cache
        def client(service: str) -> Any:
            return session.client(service, endpoint_url=self.endpoint_url, config=config)

        return client

    def read(self, stack: str) -> Stack:
        """Return a stack; one without resources when it does not exist."""
        cloudformation = self.client("cloudformation")
        try:
            cloudformation.describe_stacks(StackName=stack)
        except ClientError as error:
            if _is_absent(error):
                return Stack({}, {})
            raise
        template = cloudformation.get_template(StackName=stack)["TemplateBody"]
        listed = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
        resources = {
            item["LogicalResourceId"]: Deployed(item["ResourceType"], item["PhysicalResourceId"])
            for item in listed
            if item["ResourceStatus"] != "DELETE_COMPLETE"
        }
        return Stack(template, resources)

    def jobs(self) -> dict[str, dict[str, Any]]:
        """Return the jobs as Glue describes them, by name."""
        return {job["Name"]: job for job in self.client("glue").get_jobs()["Jobs"]}

    def triggers(self) -> dict[str, dict[str, Any]]:
        """Return the triggers as Glue describes them, by name."""
        return {it["Name"]: it for it in self.client("glue").get_triggers()["Triggers"]}

    def names(self) -> dict[str, set[str]]:
        """Return the names of all that is in the account, in a stack or not."""
        glue, iam = self.client("glue"), self.client("iam")
        return {
            "jobs": set(self.jobs()),
            "triggers": set(self.triggers()),
            "queues": set(self.client("sqs").list_queues().get("QueueUrls", ())),
            "schedules": {
                item["Name"] for item in self.client("scheduler").list_schedules()["Schedules"]
            },
            "databases": {item["Name"] for item in glue.get_databases()["DatabaseList"]},
            "roles": {
                role["RoleName"]
                for role in iam.list_roles()["Roles"]
                if not role["RoleName"].startswith("cdk-")
            },
            "tables": set(self.client("dynamodb").list_tables()["TableNames"]),
            "buckets": {
                bucket["Name"]
                for bucket in self.client("s3").list_buckets()["Buckets"]
                if not bucket["Name"].startswith("cdk-")
            },
        }

    def events(self, stack: str) -> list[tuple[str, str]]:
        """Return what happened in a stack, oldest first: (logical id, status)."""
        pages = self.client("cloudformation").get_paginator("describe_stack_events")
        try:
            newest_first = [
                (event["LogicalResourceId"], event["ResourceStatus"])
                for page in pages.paginate(StackName=stack)
                for event in page["StackEvents"]
            ]
        except ClientError as error:
            if _is_absent(error):
                return []
            raise
        return newest_first[::-1]


def _is_absent(error: ClientError) -> bool:
    return "does not exist" in str(error)
