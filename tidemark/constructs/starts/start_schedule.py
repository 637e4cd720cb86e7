"""Starts a workflow on schedule: EventBridge Scheduler calls Glue's StartWorkflowRun.

AWS documents that call for workflows with an on-demand start trigger. If events start a
workflow, a schedule sends one more event instead, which waits for its batch like the others.

Sources: https://docs.aws.amazon.com/glue/latest/dg/running_monitoring_workflow.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-templated.html
"""

import json
from collections.abc import Sequence
from hashlib import sha256

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from tidemark.constructs.references import arn_of
from tidemark.constructs.security.explanations import (
    INLINE,
    explain,
    explain_to_standards,
    skip_checkov,
)
from tidemark.model.assembly.resources import REQUEST_SOURCE, REQUEST_TYPE, STARTS_WORKFLOW
from tidemark.model.schedules.schedules import Schedule

MAX_WAIT_MINUTES = 60
MAX_ATTEMPTS = 185  # EventBridge Scheduler's maximum; the wait ends before
NO_DATA = "a schedule holds the name of a workflow and no data; AWS encrypts it"
MAX_CHARACTERS = 64  # of the name of a schedule, a group of them, or a rule


def group_name(name: str) -> str:
    """Return the name of a group of schedules, cut to EventBridge's limit.

    Source: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateScheduleGroup.html
    """
    if len(name) <= MAX_CHARACTERS:
        return name
    digest = sha256(name.encode()).hexdigest()[:8]  # names with equal beginnings stay different
    return f"{name[: MAX_CHARACTERS - 9]}-{digest}"


class StartSchedule(Construct):
    """Creates the schedules of a pipeline, their role, and a queue for failed starts.

    Without a schedule none of it exists: turning one on or off adds or removes these
    resources and changes no job and no trigger.

    A start that Glue refuses, for instance while the previous run is not over, is retried until an
    hour has passed, or a schedule fires again if that is sooner; then it is a message in the queue.

    Attributes:
        resources: the schedules.
        missed: the queue, for an alarm.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        group: str,
        workflow_name: str,
        schedules: Sequence[Schedule],
        by_event: bool = False,
    ) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            group: the group of schedules, unique in the account and region.
            workflow_name: the Glue workflow to start, also the name of the first schedule.
            schedules: the schedules; at least one.
            by_event: whether the workflow has an EVENT start trigger.
        """
        super().__init__(scope, id_)
        stack = cdk.Stack.of(self)
        self.missed = missed_queue(self, "the name of a workflow")
        # AWS requires a group, not a single schedule, as the source of a role.
        made_group = scheduler.CfnScheduleGroup(self, "Group", name=group)
        if by_event:
            action, arn = "events:PutEvents", arn_of(stack, "events", "event-bus", "default")
        else:
            action = "glue:StartWorkflowRun"
            arn = arn_of(stack, "glue", "workflow", workflow_name)
        statements = [
            iam.PolicyStatement(actions=[action], resources=[arn]),
            iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[self.missed.queue_arn]),
        ]
        # Only the schedules of this group may use it.
        role = starting_role(
            self, f"{workflow_name} on schedule", "scheduler", made_group.attr_arn, statements
        )
        finest = min(schedule.finest_minutes for schedule in schedules)
        request = scheduler.CfnSchedule.EventBridgeParametersProperty(
            source=REQUEST_SOURCE, detail_type=REQUEST_TYPE
        )
        target = scheduler.CfnSchedule.TargetProperty(
            arn=arn if by_event else f"arn:{stack.partition}:scheduler::{STARTS_WORKFLOW}",
            role_arn=role.role_arn,
            input=json.dumps({"pipeline" if by_event else "Name": workflow_name}),
            event_bridge_parameters=request if by_event else None,
            dead_letter_config=scheduler.CfnSchedule.DeadLetterConfigProperty(
                arn=self.missed.queue_arn
            ),
            retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                maximum_event_age_in_seconds=60 * min(finest, MAX_WAIT_MINUTES),
                maximum_retry_attempts=MAX_ATTEMPTS,
            ),
        )
        self.resources = []
        for number, schedule in enumerate(schedules, start=1):
            # The first has the id and the name of the former single one.
            suffix = "" if number == 1 else f"-{number}"
            resource = scheduler.CfnSchedule(
                self,
                f"Resource{suffix}",
                name=group_name(workflow_name + suffix),
                group_name=made_group.ref,
                description=f"Starts the Glue workflow {workflow_name}",
                schedule_expression=schedule.expression,
                schedule_expression_timezone=schedule.time_zone,
                flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
                state="ENABLED",
                target=target,
            )
            skip_checkov(resource, CKV_AWS_297=NO_DATA)
            self.resources.append(resource)


def starting_role(
    scope: Construct,
    starts: str,
    service: str,
    source: str | list[str],
    statements: Sequence[iam.PolicyStatement],
) -> iam.Role:
    """Return a role that may start a workflow, for a service on behalf of some resources only."""
    stack = cdk.Stack.of(scope)
    here = {"aws:SourceAccount": stack.account, "aws:SourceArn": source}
    role = iam.Role(
        scope,
        "Role",
        description=f"Starts the Glue workflow {starts}",
        assumed_by=iam.ServicePrincipal(
            f"{service}.amazonaws.com", conditions={"StringEquals": here}
        ),
        inline_policies={"start": iam.PolicyDocument(statements=statements)},
    )
    explain_to_standards(stack, role, IAMNoInlinePolicy=INLINE)
    return role


KEPT_DAYS = 14  # SQS's maximum


def missed_queue(scope: Construct, holds: str) -> sqs.Queue:
    """Create the queue for failed starts: encrypted, kept for two weeks."""
    queue = sqs.Queue(
        scope,
        "Missed",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=cdk.Duration.days(KEPT_DAYS),
    )
    explain(queue, "AwsSolutions-SQS3", "it is itself the queue for what failed")
    skip_checkov(queue, CKV_AWS_27=f"encrypted with SQS's own key: it holds {holds} and no data")
    return queue
