"""For each resource type, what the service's own API says of a resource, as a template says it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from tests.deploy.compare import Deployed, differences
from tests.deploy.tags import tags_like

Properties = dict[str, Any]
Clients = Callable[[str], Any]
Reader = Callable[[Clients, Deployed], Properties]
READERS: dict[str, Reader] = {}
NOT_READABLE = {"AWS::CDK::Metadata"}  # there is nothing behind it
# What MiniStack does not keep, by type and property; no test looks at it.
NOT_KEPT = {("AWS::CloudWatch::Dashboard", "Tags")}


def read(clients: Clients, resource: Deployed) -> Deployed:
    """Return a resource with its properties as the service describes them.

    Raises:
        LookupError: there is no reader for the type.
    """
    if resource.type in NOT_READABLE:
        return resource
    if resource.type not in READERS:
        raise LookupError(f"no reader for {resource.type}: add one to tests/deploy/readers.py")
    found = READERS[resource.type](clients, resource)
    found.pop("ResponseMetadata", None)  # about the request, not about the resource
    for name in ("Tags", "ResourceTags"):
        if name in resource.asked and (resource.type, name) not in NOT_KEPT:
            found[name] = tags_like(resource.asked[name], clients, resource)
    return replace(resource, found=found)


def wrong_with(resource: Deployed) -> list[str]:
    """Return how a resource differs from what its template asks for."""
    if resource.type in NOT_READABLE:
        return []
    asked = {
        name: value
        for name, value in resource.asked.items()
        if (resource.type, name) not in NOT_KEPT
    }
    return differences(asked, resource.found)


def reads(type_: str) -> Callable[[Reader], Reader]:
    """Register a reader for a type."""

    def register(reader: Reader) -> Reader:
        READERS[type_] = reader
        return reader

    return register


@reads("AWS::Glue::Job")
def _(clients: Clients, it: Deployed) -> Properties:
    return dict(clients("glue").get_job(JobName=it.id)["Job"])


@reads("AWS::Glue::Trigger")
def _(clients: Clients, it: Deployed) -> Properties:
    trigger = clients("glue").get_trigger(Name=it.id)["Trigger"]
    return {**trigger, "StartOnCreation": trigger["State"] == "ACTIVATED"}


@reads("AWS::Glue::Crawler")
def _(clients: Clients, it: Deployed) -> Properties:
    return dict(clients("glue").get_crawler(Name=it.id)["Crawler"])


@reads("AWS::Glue::Workflow")
def _(clients: Clients, it: Deployed) -> Properties:
    return dict(clients("glue").get_workflow(Name=it.id)["Workflow"])


@reads("AWS::Glue::Database")
def _(clients: Clients, it: Deployed) -> Properties:
    database = clients("glue").get_database(Name=it.id)["Database"]
    shown = {key: database[key] for key in ("Name", "Description") if key in database}
    return {"CatalogId": database.get("CatalogId"), "DatabaseInput": shown}


@reads("AWS::Glue::Table")
def _(clients: Clients, it: Deployed) -> Properties:
    database = it.asked["DatabaseName"]
    table = clients("glue").get_table(DatabaseName=database, Name=it.id)["Table"]
    shown = ("Name", "Description", "Parameters", "PartitionKeys", "StorageDescriptor", "TableType")
    return {
        "CatalogId": table["CatalogId"],
        "DatabaseName": table["DatabaseName"],
        "TableInput": {key: table[key] for key in shown if key in table},
    }


@reads("AWS::Glue::SecurityConfiguration")
def _(clients: Clients, it: Deployed) -> Properties:
    found = clients("glue").get_security_configuration(Name=it.id)["SecurityConfiguration"]
    encryption = dict(found["EncryptionConfiguration"])
    if "S3Encryption" in encryption:
        encryption["S3Encryptions"] = encryption.pop("S3Encryption")
    return {"Name": found["Name"], "EncryptionConfiguration": encryption}


@reads("AWS::DynamoDB::Table")
def _(clients: Clients, it: Deployed) -> Properties:
    dynamodb = clients("dynamodb")
    table = dynamodb.describe_table(TableName=it.id)["Table"]
    time_to_live = dynamodb.describe_time_to_live(TableName=it.id)["TimeToLiveDescription"]
    backups = dynamodb.describe_continuous_backups(TableName=it.id)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
    key = table.get("SSEDescription", {})
    return {
        **table,
        "BillingMode": table["BillingModeSummary"]["BillingMode"],
        "TimeToLiveSpecification": {
            "AttributeName": time_to_live.get("AttributeName"),
            "Enabled": time_to_live["TimeToLiveStatus"] == "ENABLED",
        },
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": recovery == "ENABLED"},
        "SSESpecification": {
            "SSEEnabled": key.get("Status") == "ENABLED",
            "SSEType": key.get("SSEType"),
            "KMSMasterKeyId": key.get("KMSMasterKeyArn"),
        },
    }


@reads("AWS::S3::Bucket")
def _(clients: Clients, it: Deployed) -> Properties:
    s3 = clients("s3")
    rules = s3.get_bucket_encryption(Bucket=it.id)["ServerSideEncryptionConfiguration"]["Rules"]
    return {
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [_encryption(rule) for rule in rules]
        },
        "PublicAccessBlockConfiguration": s3.get_public_access_block(Bucket=it.id)[
            "PublicAccessBlockConfiguration"
        ],
        "VersioningConfiguration": {"Status": s3.get_bucket_versioning(Bucket=it.id).get("Status")},
        "LoggingConfiguration": _logging(s3.get_bucket_logging(Bucket=it.id)),
        "LifecycleConfiguration": {
            "Rules": [
                _lifecycle_rule(rule)
                for rule in _or_nothing(s3.get_bucket_lifecycle_configuration, it.id, "Rules") or ()
            ]
        },
        "OwnershipControls": _or_nothing(
            s3.get_bucket_ownership_controls, it.id, "OwnershipControls"
        ),
        "NotificationConfiguration": {
            "EventBridgeConfiguration": {
                "EventBridgeEnabled": "EventBridgeConfiguration"
                in s3.get_bucket_notification_configuration(Bucket=it.id)
            }
        },
    }


def _encryption(rule: Properties) -> Properties:
    default = rule["ApplyServerSideEncryptionByDefault"]
    return {
        "ServerSideEncryptionByDefault": default,
        **({"BucketKeyEnabled": True} if rule.get("BucketKeyEnabled") else {}),
    }


def _lifecycle_rule(rule: Properties) -> Properties:
    shown = {name: rule[name] for name in rule if name not in ("ID", "Filter", "Expiration")}
    prefix = rule.get("Filter", {}).get("Prefix")
    return {
        **shown,
        **({"Id": rule["ID"]} if rule.get("ID") else {}),
        **({"Prefix": prefix} if prefix else {}),
        **({"ExpirationInDays": rule["Expiration"]["Days"]} if "Expiration" in rule else {}),
    }


def _logging(answer: Properties) -> Properties:
    target = answer.get("LoggingEnabled", {})
    return {
        "DestinationBucketName": target.get("TargetBucket"),
        "LogFilePrefix": target.get("TargetPrefix"),
    }


def _or_nothing(operation: Callable[..., Properties], bucket: str, member: str) -> Any:
    """Return a member of what a bucket need not have, or None when it has none."""
    try:
        return operation(Bucket=bucket)[member]
    except ClientError as error:
        if re.match("NoSuch|.*NotFound", error.response["Error"]["Code"]):
            return None
        raise


@reads("AWS::S3::BucketPolicy")
def _(clients: Clients, it: Deployed) -> Properties:
    return {
        "Bucket": it.asked["Bucket"],
        "PolicyDocument": clients("s3").get_bucket_policy(Bucket=it.asked["Bucket"])["Policy"],
    }


@reads("AWS::IAM::Role")
def _(clients: Clients, it: Deployed) -> Properties:
    iam = clients("iam")
    role = iam.get_role(RoleName=it.id)["Role"]
    return {
        **role,
        "Policies": [
            {
                "PolicyName": name,
                "PolicyDocument": iam.get_role_policy(RoleName=it.id, PolicyName=name)[
                    "PolicyDocument"
                ],
            }
            for name in iam.list_role_policies(RoleName=it.id)["PolicyNames"]
        ],
        "ManagedPolicyArns": [
            policy["PolicyArn"]
            for policy in iam.list_attached_role_policies(RoleName=it.id)["AttachedPolicies"]
        ],
    }


@reads("AWS::IAM::ManagedPolicy")
def _(clients: Clients, it: Deployed) -> Properties:
    iam = clients("iam")
    policy = iam.get_policy(PolicyArn=it.id)["Policy"]
    version = iam.get_policy_version(PolicyArn=it.id, VersionId=policy["DefaultVersionId"])
    return {**policy, "PolicyDocument": version["PolicyVersion"]["Document"]}


@reads("AWS::IAM::Policy")
def _(clients: Clients, it: Deployed) -> Properties:
    iam, name = clients("iam"), it.asked["PolicyName"]
    documents = [
        iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for role in it.asked["Roles"]
    ]
    assert all(document == documents[0] for document in documents)
    return {"PolicyName": name, "Roles": it.asked["Roles"], "PolicyDocument": documents[0]}


@reads("AWS::KMS::Key")
def _(clients: Clients, it: Deployed) -> Properties:
    kms = clients("kms")
    return {
        **kms.describe_key(KeyId=it.id)["KeyMetadata"],
        "KeyPolicy": kms.get_key_policy(KeyId=it.id, PolicyName="default")["Policy"],
        "EnableKeyRotation": kms.get_key_rotation_status(KeyId=it.id)["KeyRotationEnabled"],
    }


@reads("AWS::KMS::Alias")
def _(clients: Clients, it: Deployed) -> Properties:
    key = clients("kms").describe_key(KeyId=it.id)["KeyMetadata"]
    return {"AliasName": it.id, "TargetKeyId": key["Arn"]}


@reads("AWS::Logs::LogGroup")
def _(clients: Clients, it: Deployed) -> Properties:
    (group,) = (
        group
        for group in clients("logs").describe_log_groups(logGroupNamePrefix=it.id)["logGroups"]
        if group["logGroupName"] == it.id
    )
    return {
        "LogGroupName": it.id,
        "RetentionInDays": group.get("retentionInDays"),
        "KmsKeyId": group.get("kmsKeyId"),
    }


@reads("AWS::SNS::Topic")
def _(clients: Clients, it: Deployed) -> Properties:
    attributes = clients("sns").get_topic_attributes(TopicArn=it.id)["Attributes"]
    return {**attributes, "TopicName": it.id.rpartition(":")[2]}


@reads("AWS::SNS::TopicPolicy")
def _(clients: Clients, it: Deployed) -> Properties:
    (topic,) = it.asked["Topics"]
    attributes = clients("sns").get_topic_attributes(TopicArn=topic)["Attributes"]
    return {"Topics": [topic], "PolicyDocument": attributes["Policy"]}


@reads("AWS::SNS::Subscription")
def _(clients: Clients, it: Deployed) -> Properties:
    sns = clients("sns")
    (listed,) = (
        subscription
        for subscription in sns.list_subscriptions()["Subscriptions"]
        if subscription["SubscriptionArn"] == it.id
    )
    return {**sns.get_subscription_attributes(SubscriptionArn=it.id)["Attributes"], **listed}


@reads("AWS::SQS::Queue")
def _(clients: Clients, it: Deployed) -> Properties:
    attributes = queue_attributes(clients, it.id)
    return {
        "QueueName": attributes["QueueArn"].rpartition(":")[2],
        "MessageRetentionPeriod": int(attributes["MessageRetentionPeriod"]),
        "SqsManagedSseEnabled": attributes.get("SqsManagedSseEnabled") == "true",
    }


@reads("AWS::SQS::QueuePolicy")
def _(clients: Clients, it: Deployed) -> Properties:
    (url,) = it.asked["Queues"]
    return {"Queues": [url], "PolicyDocument": queue_attributes(clients, url)["Policy"]}


def queue_attributes(clients: Clients, url: str) -> Properties:
    answer = clients("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
    return dict(answer["Attributes"])


@reads("AWS::Scheduler::ScheduleGroup")
def _(clients: Clients, it: Deployed) -> Properties:
    return dict(clients("scheduler").get_schedule_group(Name=it.id))


@reads("AWS::Scheduler::Schedule")
def _(clients: Clients, it: Deployed) -> Properties:
    group = it.asked["GroupName"]
    return dict(clients("scheduler").get_schedule(GroupName=group, Name=it.id))


@reads("AWS::Events::Rule")
def _(clients: Clients, it: Deployed) -> Properties:
    events = clients("events")
    targets = events.list_targets_by_rule(Rule=it.id)["Targets"]
    return {**events.describe_rule(Name=it.id), "Targets": targets}


@reads("AWS::CloudWatch::Alarm")
def _(clients: Clients, it: Deployed) -> Properties:
    (alarm,) = clients("cloudwatch").describe_alarms(AlarmNames=[it.id])["MetricAlarms"]
    return dict(alarm)


@reads("AWS::CloudWatch::Dashboard")
def _(clients: Clients, it: Deployed) -> Properties:
    return dict(clients("cloudwatch").get_dashboard(DashboardName=it.id))


@reads("AWS::Budgets::Budget")
def _(clients: Clients, it: Deployed) -> Properties:
    account = clients("sts").get_caller_identity()["Account"]
    which = {"AccountId": account, "BudgetName": it.id}
    budgets = clients("budgets")
    found = budgets.describe_notifications_for_budget(**which)["Notifications"]
    asked = it.asked["NotificationsWithSubscribers"]
    return {
        "Budget": _only(budgets.describe_budget(**which)["Budget"], it.asked["Budget"]),
        "NotificationsWithSubscribers": [
            {
                "Notification": _only(notification, like["Notification"]),
                "Subscribers": budgets.describe_subscribers_for_notification(
                    **which, Notification=notification
                )["Subscribers"],
            }
            for notification, like in zip(found, asked, strict=True)
        ],
    }


def _only(found: Properties, asked: Properties) -> Properties:
    """Return what was found without what the service adds."""
    return {name: value for name, value in found.items() if name in asked}
