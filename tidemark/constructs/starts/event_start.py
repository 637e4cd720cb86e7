"""Starts a workflow by events: rules of EventBridge send them to its EVENT trigger.

Sources: https://docs.aws.amazon.com/glue/latest/dg/starting-workflow-eventbridge.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/cross-service-confused-deputy-prevention.html
"""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from tidemark.constructs.references import arn_of
from tidemark.constructs.starts.events import OnEvent, OnObjects
from tidemark.constructs.starts.start_schedule import (
    MAX_ATTEMPTS,
    group_name,
    missed_queue,
    starting_role,
)
from tidemark.model.assembly.resources import REQUEST_SOURCE, REQUEST_TYPE

MAX_WAIT_HOURS = 24  # EventBridge's maximum


class EventStart(Construct):
    """Creates a rule per kind of event, their role, and a queue for undelivered events.

    One more rule starts the workflow by hand or on schedule: an event of the source `tidemark`.
    Glue drops an event whose run it refused, for instance while the previous run is not over.

    Attributes:
        rules: the rules.
        missed: the queue, for an alarm.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        workflow_name: str,
        starts: Sequence[OnObjects | OnEvent],
    ) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            name: prefix of the rules.
            workflow_name: the Glue workflow, whose start trigger is of the type EVENT.
            starts: the events.
        """
        super().__init__(scope, id_)
        stack = cdk.Stack.of(self)
        self.missed = missed_queue(self, "addresses of objects, or what an event says,")
        patterns = {
            "start-by-hand": {
                "source": [REQUEST_SOURCE],
                "detail-type": [REQUEST_TYPE],
                "detail": {"pipeline": [workflow_name]},
            },
            **{f"start-{n}": start.event_pattern for n, start in enumerate(starts, start=1)},
        }
        # The role trusts the rules, and they name the role: hence names instead of references.
        named = {id_: group_name(f"{name}-{id_}") for id_ in patterns}
        rule_arns = [arn_of(stack, "events", "rule", rule) for rule in named.values()]
        workflow_arn = arn_of(stack, "glue", "workflow", workflow_name)
        notify = iam.PolicyStatement(actions=["glue:notifyEvent"], resources=[workflow_arn])
        role = starting_role(self, f"{workflow_name} by events", "events", rule_arns, [notify])
        self.missed.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[self.missed.queue_arn],
                conditions={"ArnEquals": {"aws:SourceArn": rule_arns}},
            )
        )
        target = events.CfnRule.TargetProperty(
            arn=workflow_arn,
            id="Workflow",
            role_arn=role.role_arn,
            dead_letter_config=events.CfnRule.DeadLetterConfigProperty(arn=self.missed.queue_arn),
            retry_policy=events.CfnRule.RetryPolicyProperty(
                maximum_event_age_in_seconds=3_600 * MAX_WAIT_HOURS,
                maximum_retry_attempts=MAX_ATTEMPTS,
            ),
        )
        self.rules = [
            events.CfnRule(
                self,
                id_,
                name=named[id_],
                description=f"Starts the Glue workflow {workflow_name}",
                event_pattern=pattern,
                targets=[target],
            )
            for id_, pattern in patterns.items()
        ]
        for start in starts:
            if isinstance(start, OnObjects):
                let_send_events(self, start.dataset.bucket)


def let_send_events(scope: Construct, bucket: s3.IBucket) -> None:
    """Let a bucket of the app send its events to EventBridge; warn if only its owner can."""
    resource = bucket.node.default_child
    if isinstance(resource, s3.CfnBucket):
        sends = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
                event_bridge_enabled=True
            )
        )
        if resource.notification_configuration in (None, sends):
            resource.notification_configuration = sends
            return
    cdk.Annotations.of(scope).add_warning_v2(
        f"tidemark:bucket-events:{bucket.node.path}",
        f"the bucket {bucket.node.path} is imported, or has notifications already: it must send "
        "its events to EventBridge in this account and region, as docs/start-a-pipeline.md shows, "
        "or nothing starts; acknowledge this once it does",
    )
