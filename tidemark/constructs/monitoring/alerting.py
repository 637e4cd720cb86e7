"""The recipients of a pipeline's alerts: a topic, and its subscribers."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import urlsplit
from weakref import WeakSet

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from tidemark.constructs.monitoring.slack import SlackChannel
from tidemark.constructs.references import arn_of
from tidemark.constructs.security.security import let_alerts, let_services_use
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.stage.settings import EMAIL

_LET_IN: WeakSet[sns.ITopic] = WeakSet()  # topics that alarms and rules may publish to
NO_ID = re.compile(r"[^A-Za-z0-9]+")


@checked
@dataclass(frozen=True)
class Email:
    """A mail address; AWS first mails a link that somebody has to open.

    Raises:
        JobDefinitionError: it is not a mail address.

    Example:
        >>> Email("data@example.com").address
        'data@example.com'
    """

    address: str

    def __post_init__(self) -> None:
        if not EMAIL.fullmatch(self.address):
            raise wrong("Email", "the address", self.address, "a mail address", "pass another")


@checked
@dataclass(frozen=True)
class Https:
    """An address that SNS posts to; its server must confirm the subscription.

    Raises:
        JobDefinitionError: it is not an https address, shows a password, or does not support SNS.

    Example:
        >>> Https("https://events.example.com/glue").url
        'https://events.example.com/glue'
    """

    url: str

    def __post_init__(self) -> None:
        url = self.url
        try:
            parts = urlsplit(url)
            is_address = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
        except ValueError:  # an invalid address in brackets, or an invalid port
            is_address = False
        if not is_address or cdk.Token.is_unresolved(url) or re.search(r"\s", url):
            raise JobDefinitionError(
                f"Https has the url {url!r}; allowed: an address such as https://example.com/alerts"
            )
        if parts.hostname == "hooks.slack.com":
            raise JobDefinitionError(
                "Https has a webhook of Slack, which does not understand SNS; pass a SlackChannel "
                "instead"
            )
        if parts.username or shows_secret("", url):
            raise JobDefinitionError(
                "Https has a url with a password, which the template would show; let the server "
                "check the signature of SNS instead"
            )


@checked
@dataclass(frozen=True)
class SqsQueue:
    """A queue of SQS.

    Attributes:
        queue: a standard queue. For a queue of the app its policy, and its key's, are
            completed; for an imported one synthesis reports what they lack.

    Raises:
        JobDefinitionError: it is not a queue, or a FIFO queue.
    """

    queue: sqs.IQueue

    def __post_init__(self) -> None:
        if self.queue.fifo:
            raise JobDefinitionError(
                f"SqsQueue has the queue {self.queue!r}; allowed: a standard queue, no FIFO; write "
                "sqs.Queue.from_queue_arn(...) for an existing one"
            )


Subscriber: TypeAlias = Email | Https | SqsQueue | SlackChannel


@checked
@dataclass(frozen=True)
class Alerting:
    """The recipients of alerts about failed runs and of alarms, besides the stage's `alert_email`.

    Attributes:
        topic: an existing standard topic; None creates one for the pipeline, encrypted with its
            key. The app cannot change the policy of an imported one: synthesis reports its needs.
        subscribers: subscribers of that topic.

    Raises:
        JobDefinitionError: the topic or a subscriber is not valid, or one is named twice.

    Example:
        >>> alerts = Alerting(subscribers=[Email("data@example.com")])
        >>> alerts.subscribers[0].address
        'data@example.com'
    """

    topic: sns.ITopic | None = None
    subscribers: Sequence[Subscriber] = ()

    def __post_init__(self) -> None:
        if self.topic is not None and self.topic.fifo:
            raise JobDefinitionError(
                f"Alerting has the topic {self.topic!r}; allowed: a standard topic "
                "(alarms cannot publish to a FIFO topic); write sns.Topic.from_topic_arn(...) "
                "for an existing one"
            )
        for number, subscriber in enumerate(self.subscribers):
            if subscriber in self.subscribers[:number]:
                raise JobDefinitionError(
                    f"Alerting has the subscriber {subscriber!r} twice; name each once"
                )


def let_alerts_publish(scope: Construct, topic: sns.ITopic) -> None:
    """Let alarms and rules publish to a topic; warn if only its owner can allow it."""
    if topic in _LET_IN:
        return
    wanted = let_alerts(cdk.Stack.of(scope), ["sns:Publish"], topic.topic_arn)
    added = [topic.add_to_resource_policy(statement).statement_added for statement in wanted]
    if all(added):
        _LET_IN.add(topic)
        if topic.master_key:
            let_services_use(scope, topic.master_key)
        return
    cdk.Annotations.of(scope).add_warning_v2(
        "tidemark:imported-topic",
        "the topic is imported, so its policy is not changed: it must hold "
        f"{_json(scope, wanted)}, and the key that encrypts it, if any, must let CloudWatch and "
        "EventBridge use it as docs/security.md shows; acknowledge this once they do",
    )


def subscribe(scope: Construct, topic: sns.ITopic, subscriber: Email | Https | SqsQueue) -> None:
    """Subscribe somebody to a topic; the owner of an imported queue must let SNS in."""
    if isinstance(subscriber, SqsQueue):
        _subscribe_queue(scope, topic, subscriber.queue)
        return
    if isinstance(subscriber, Email):
        protocol, endpoint = sns.SubscriptionProtocol.EMAIL, subscriber.address
    else:
        protocol, endpoint = sns.SubscriptionProtocol.HTTPS, subscriber.url
    id_ = f"{type(subscriber).__name__}-{NO_ID.sub('-', endpoint)}"
    if scope.node.try_find_child(id_):  # a.b@acme.com as well as a-b@acme.com
        id_ = f"{id_}-{sha256(endpoint.encode()).hexdigest()[:8]}"
    sns.Subscription(scope, id_, topic=topic, protocol=protocol, endpoint=endpoint)


def _subscribe_queue(scope: Construct, topic: sns.ITopic, queue: sqs.IQueue) -> None:
    """Subscribe a queue, and let this topic in; a queue of another stack lets in the account's."""
    # That stack would refer to this one, which refers to it.
    stack = cdk.Stack.of(scope)
    is_here = cdk.Stack.of(queue).node.path == stack.node.path
    source = topic.topic_arn if is_here else arn_of(stack, "sns", "*")
    only = {"ArnEquals" if is_here else "ArnLike": {"aws:SourceArn": source}}
    let = partial(
        iam.PolicyStatement, principals=[iam.ServicePrincipal("sns.amazonaws.com")], conditions=only
    )
    wanted = let(actions=["sqs:SendMessage"], resources=[queue.queue_arn])
    protocol, arn = sns.SubscriptionProtocol.SQS, queue.queue_arn
    sns.Subscription(
        scope, f"Queue-{queue.node.addr}", topic=topic, protocol=protocol, endpoint=arn
    )
    if queue.add_to_resource_policy(wanted).statement_added:
        if queue.encryption_master_key:
            encrypts = let(actions=["kms:Decrypt", "kms:GenerateDataKey*"], resources=["*"])
            queue.encryption_master_key.add_to_resource_policy(encrypts)
        return
    cdk.Annotations.of(scope).add_warning_v2(
        f"tidemark:imported-queue:{queue.queue_name}",
        f"the queue {queue.queue_name} is imported, so its policy is not changed: it must hold "
        f"{_json(scope, [wanted])}, and its KMS key, if any, must let sns.amazonaws.com "
        "kms:Decrypt and kms:GenerateDataKey*; acknowledge this once they do",
    )


def _json(scope: Construct, statements: Sequence[iam.PolicyStatement]) -> str:
    stack = cdk.Stack.of(scope)
    texts = [json.dumps(stack.resolve(statement.to_statement_json())) for statement in statements]
    return " and ".join(texts)
