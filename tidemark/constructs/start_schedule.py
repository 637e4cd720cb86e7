"""Starts a workflow on schedule: EventBridge Scheduler calls Glue's StartWorkflowRun.

Sources: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html
"""

import json
from hashlib import sha256

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from tidemark.assembly.resources import STARTS_WORKFLOW
from tidemark.checks.schedules.schedules import Schedule
from tidemark.constructs.security.explanations import explain, skip_checkov

LONGEST_WAIT_MINUTES = 60
MOST_ATTEMPTS = 185  # that EventBridge Scheduler allows; the wait ends before
KEPT_DAYS = 14  # the longest that SQS keeps a message
MOST_CHARACTERS = 64  # of the name of a group of schedules


def group_name(name: str) -> str:
    """Return the name of a group of schedules, cut where EventBridge has no room.

    Source: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateScheduleGroup.html
    """
    if len(name) <= MOST_CHARACTERS:
        return name
    digest = sha256(name.encode()).hexdigest()[:8]  # names that begin alike stay different
    return f"{name[: MOST_CHARACTERS - 9]}-{digest}"


class StartSchedule(Construct):
    """Creates a schedule, the role it calls Glue with, and a queue for starts that failed.

    Nothing of it is there without a schedule: turning one on or off adds or removes these
    resources and touches no job and no trigger.

    A start that Glue refuses, as while the run before is not over, is tried again until an hour
    has passed, or the schedule fires again if that is sooner; then it is a message in the queue.

    Attributes:
        resource: the schedule.
        missed: the queue, for an alarm.
    """

    def __init__(
        self, scope: Construct, id_: str, *, group_name: str, workflow_name: str, schedule: Schedule
    ) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            group_name: the group of schedules, unique in the account and region.
            workflow_name: the Glue workflow to start, also the name of the schedule.
            schedule: when.
        """
        super().__init__(scope, id_)
        stack = cdk.Stack.of(self)
        self.missed = sqs.Queue(
            self,
            "Missed",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=cdk.Duration.days(KEPT_DAYS),
        )
        explain(self.missed, "AwsSolutions-SQS3", "it is itself the queue for what failed")
        skip_checkov(
            self.missed,
            CKV_AWS_27="encrypted with SQS's own key: it holds the name of a workflow and no data",
        )
        # AWS wants no single schedule as the source of a role, but a group.
        group = scheduler.CfnScheduleGroup(self, "Group", name=group_name)
        workflow_arn = stack.format_arn(
            service="glue", resource="workflow", resource_name=workflow_name
        )
        role = self._role(workflow_name, workflow_arn, group.attr_arn)
        wait_minutes = min(schedule.finest_minutes, LONGEST_WAIT_MINUTES)
        self.resource = scheduler.CfnSchedule(
            self,
            "Resource",
            name=workflow_name,
            group_name=group.ref,
            description=f"Starts the Glue workflow {workflow_name}",
            schedule_expression=schedule.expression,
            schedule_expression_timezone=schedule.time_zone,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            state="ENABLED",
            target=scheduler.CfnSchedule.TargetProperty(
                arn=f"arn:{stack.partition}:scheduler::{STARTS_WORKFLOW}",
                role_arn=role.role_arn,
                input=json.dumps({"Name": workflow_name}),
                dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(
                    arn=self.missed.queue_arn
                ),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=60 * wait_minutes,
                    maximum_retry_attempts=MOST_ATTEMPTS,
                ),
            ),
        )
        skip_checkov(
            self.resource,
            CKV_AWS_297="a schedule holds the name of a workflow and no data; AWS encrypts it",
        )

    def _role(self, workflow_name: str, workflow_arn: str, group_arn: str) -> iam.Role:
        """Return a role that may start the workflow, for the schedules of one group only."""
        account = cdk.Stack.of(self).account
        return iam.Role(
            self,
            "Role",
            description=f"Starts the Glue workflow {workflow_name} on schedule",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": account, "aws:SourceArn": group_arn}
                },
            ),
            inline_policies={
                "start": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=["glue:StartWorkflowRun"], resources=[workflow_arn]
                        ),
                        iam.PolicyStatement(
                            actions=["sqs:SendMessage"], resources=[self.missed.queue_arn]
                        ),
                    ]
                )
            },
        )
