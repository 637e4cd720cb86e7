"""A channel of Slack for the alerts of pipelines."""

import re
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_chatbot as chatbot
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct, IConstruct

from tidemark.constructs import shared_checks
from tidemark.constructs.governance import apply_to_all
from tidemark.constructs.security.security import let_alerts, let_services_use
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.stage.config import StageConfig

WORKSPACE = re.compile(r"[0-9A-Z]{1,255}")
CHANNEL = re.compile(r"[A-Za-z0-9]{1,255}")
# By app: workspace and channel to the path of each construct and its account.
_CHANNELS: WeakKeyDictionary[IConstruct, dict[tuple[str, str], dict[str, str]]] = (
    WeakKeyDictionary()
)


@checked
class SlackChannel(Construct):
    """Creates a topic that Amazon Q Developer (AWS Chatbot) shows in a channel of Slack.

    An account has one configuration per channel, so pipelines with the same channel share this one.
    Chatbot drops unknown messages; to this topic rules send its own format. Nobody can do
    anything from the channel: its role allows nothing, and its guardrail denies all.

    Somebody must have authorized Chatbot for the workspace, once, in its console.
    Sources: https://docs.aws.amazon.com/chatbot/latest/adminguide/slack-setup.html,
    https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html,
    https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1155

    Attributes:
        topic: its messages are shown in the channel.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: StageConfig,
        key: kms.IKey,
        workspace_id: str,
        channel_id: str,
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns it.
            id_: construct id.
            stage: a part of the configuration's name.
            key: encrypts the messages of the topic.
            workspace_id: id in Slack, `T0123ABCD`, as shown in Chatbot's console.
            channel_id: id in Slack, `C0123ABCD`, as shown in *About* of the channel.

        Raises:
            JobDefinitionError: an id is not valid, or the app already uses the channel
                from the same account, or from an account that is unknown at synthesis.
        """
        for name, value, pattern in (
            ("workspace_id", workspace_id, WORKSPACE),
            ("channel_id", channel_id, CHANNEL),
        ):
            if not pattern.fullmatch(value):
                allowed = "the id, letters and digits as in C0123ABCD, not the name"
                raise wrong("SlackChannel", name, value, allowed, "copy it from Slack")
        shared_checks.check_no_alias("SlackChannel", key)
        shared_checks.check_free(scope, id_, "SlackChannel")
        stack = cdk.Stack.of(scope)
        shared_checks.check_stage_is_here("SlackChannel", stack, stage)
        shared_checks.check_here("SlackChannel", stack, "key", key, kinds=shared_checks.KEY_PLACES)
        super().__init__(scope, id_)
        check_one_in_account(self, workspace_id, channel_id)
        apply_to_all(self, stage)
        let_services_use(self, key)
        self.topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        for statement in let_alerts(stack, ["sns:Publish"], self.topic.topic_arn):
            self.topic.add_to_resource_policy(statement)
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("chatbot.amazonaws.com"),
            description="Policy of a Slack channel that only gets notifications: allows nothing",
        )
        guardrail = iam.ManagedPolicy.from_aws_managed_policy_name("AWSDenyAll")
        chatbot.CfnSlackChannelConfiguration(
            self,
            "Channel",
            configuration_name=f"{stage.name_of()}-{channel_id}",
            iam_role_arn=role.role_arn,
            slack_workspace_id=workspace_id,
            slack_channel_id=channel_id,
            sns_topic_arns=[self.topic.topic_arn],
            guardrail_policies=[guardrail.managed_policy_arn],
        )


def check_one_in_account(scope: Construct, workspace_id: str, channel_id: str) -> None:
    """Record the account that uses a channel; refuse a second construct of that account."""
    of_the_app = _CHANNELS.setdefault(scope.node.root, {})
    tellers = of_the_app.setdefault((workspace_id, channel_id), {})
    account = cdk.Stack.of(scope).account
    for path, other in tellers.items():
        # An account that is a token may be any account, including the other one.
        unknown = cdk.Token.is_unresolved(account) or cdk.Token.is_unresolved(other)
        if path != scope.node.path and (unknown or account == other):
            raise JobDefinitionError(
                f"the channel {channel_id} has the SlackChannel {path} already, and Chatbot takes "
                "one for a channel in an account; make one, and pass it to each pipeline"
            )
    tellers[scope.node.path] = account


def notification(text: str) -> dict[str, object]:
    """Return a message in the one format that Chatbot shows."""
    return {
        "version": "1.0",
        "source": "custom",
        "content": {"textType": "client-markdown", "description": text},
    }
