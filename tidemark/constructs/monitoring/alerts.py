"""Alerts: EventBridge sends run states to one encrypted topic per pipeline.

Source: https://docs.aws.amazon.com/glue/latest/dg/automating-awsglue-with-cloudwatch-events.html
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from tidemark.checks.graph.rules import MAX_NODES
from tidemark.constructs.monitoring.alerting import Alerting, let_alerts_publish, subscribe
from tidemark.constructs.monitoring.slack import SlackChannel, notification
from tidemark.errors import JobDefinitionError

MAX_CHARACTERS = 2_048  # of an event pattern
SOURCE = ["aws.glue"]
STATE_CHANGE, DELAY = "Glue Job State Change", "Glue Job Run Status"
FAILED_STATES = ["FAILED", "TIMEOUT", "ERROR"]
CRAWL_CHANGE = "Glue Crawler State Change"
# Names in a text, and their fields of the event.
RUN_FIELDS = {"job": "jobName", "message": "message", "run": "jobRunId", "state": "state"}


class Alerts(Construct):
    """Creates the rules that notify a topic of failed, timed out and late runs, and a topic.

    Attributes:
        topic: the topic, which gets alarms of the pipeline too.
        topic_arns: ARNs of that topic, and of those of channels.
        failed_rule: name of the rule that matches runs that did not succeed.
        succeeded_rule: name of the rule for succeeded runs of last jobs; it notifies no one.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        pipeline_name: str,
        key: kms.IKey,
        email: str | None,
        alerting: Alerting,
        jobs: Callable[[], Iterable[str]],
        last_jobs: Callable[[], Iterable[str]],
        crawlers: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            pipeline_name: name in the texts.
            key: encrypts the messages of the topic.
            email: a subscriber, or None.
            alerting: an existing topic, and further subscribers.
            jobs: returns the names of all jobs; called at synthesis.
            last_jobs: returns the names of the jobs and crawlers that end a good run; likewise.
            crawlers: returns the names of all crawlers; likewise.
        """
        super().__init__(scope, id_)
        self.topic: sns.ITopic = alerting.topic or sns.Topic(
            self, "Topic", master_key=key, enforce_ssl=True
        )
        chats = [chat for chat in alerting.subscribers if isinstance(chat, SlackChannel)]
        self._chats = [chat.topic.topic_arn for chat in chats]
        self.topic_arns = [self.topic.topic_arn, *self._chats]
        self._pipeline = pipeline_name
        self._crawlers = crawlers
        self.failed_crawl_rule: str | None = None
        if email:
            mail = sns.SubscriptionProtocol.EMAIL
            sns.Subscription(self, "Mail", topic=self.topic, protocol=mail, endpoint=email)
        for subscriber in alerting.subscribers:
            if not isinstance(subscriber, SlackChannel):
                subscribe(self, self.topic, subscriber)
        let_alerts_publish(self, self.topic)
        look = "Look: aws glue get-job-run --job-name <job> --run-id <run>"
        self.failed_rule = self._rule(
            "RunFailed",
            lambda: run_pattern(STATE_CHANGE, jobs(), FAILED_STATES),
            f"<job> of {pipeline_name} ended <state>: <message>. {look}. Nothing that it did "
            "not commit counts: fix the cause, then aws glue start-workflow-run --name "
            f"{pipeline_name}",
        )
        self._rule(
            "RunLate",
            lambda: run_pattern(DELAY, jobs()),
            f"<job> of {pipeline_name} runs longer than expected: <state>. {look}",
        )
        self.succeeded_rule = self._rule(
            "RunSucceeded",
            lambda: run_pattern(STATE_CHANGE, last_jobs(), ["SUCCEEDED"], crawlers()),
            None,
        )

    def on_failed_crawl(self) -> None:
        """Notify of failed crawls; created with the first crawler, for all of them."""
        if self.failed_crawl_rule is None:
            self.failed_crawl_rule = self._rule(
                "CrawlFailed",
                lambda: crawl_pattern(self._crawlers()),
                f"The crawl of <crawler> of {self._pipeline} ended <state>: <message>. Look: aws "
                "glue list-crawls --crawler-name <crawler>. Fix the cause, then aws glue "
                f"start-workflow-run --name {self._pipeline}",
                {"crawler": "crawlerName", "message": "errorMessage", "state": "state"},
            )

    def _rule(
        self,
        id_: str,
        pattern: Callable[[], object],
        text: str | None,
        fields: Mapping[str, str] = RUN_FIELDS,
    ) -> str:
        inputs = [text, *[notification(text or "")] * len(self._chats)]
        targets = [
            events.CfnRule.TargetProperty(
                arn=arn,
                id=f"Topic{number or ''}",
                input_transformer=events.CfnRule.InputTransformerProperty(
                    input_paths_map={key: f"$.detail.{field}" for key, field in fields.items()},
                    input_template=json.dumps(given),
                ),
            )
            for number, (arn, given) in enumerate(zip(self.topic_arns, inputs, strict=True))
        ]
        rule = events.CfnRule(
            self, id_, event_pattern=cdk.Lazy.any(Late(pattern)), targets=targets if text else None
        )
        return rule.ref


@jsii.implements(cdk.IStableAnyProducer, cdk.IStableStringProducer)
class Late:
    """A value of a template that is known at synthesis only."""

    def __init__(self, produce: Callable[[], Any]) -> None:
        """Take what returns the value."""
        self._produce = produce

    def produce(self) -> Any:
        """Return the value."""
        return self._produce()


def run_pattern(
    detail_type: str, nodes: Iterable[str], states: Sequence[str] = (), crawlers: Iterable[str] = ()
) -> object:
    """Return the event pattern for job runs, and for crawls if some nodes are crawlers.

    Raises:
        JobDefinitionError: it is longer than EventBridge allows.
    """
    names = list(nodes)
    crawled = [name for name in crawlers if name in names]
    jobs = [name for name in names if name not in crawled]
    state = {"state": list(states)} if states else {}
    runs: dict[str, object] = {"detail-type": [detail_type], "detail": {"jobName": jobs, **state}}
    either: list[dict[str, object]] = [
        *([runs] if jobs or not crawled else []),
        *([_crawls(crawled, "Succeeded")] if crawled else []),
    ]
    # $or needs two.
    return _checked({"$or": either} if len(either) > 1 else either[0], len(names))


def crawl_pattern(crawlers: Iterable[str]) -> object:
    """Return the event pattern of failed crawls.

    Raises:
        JobDefinitionError: it is longer than EventBridge allows.
    """
    names = list(crawlers)
    return _checked(_crawls(names, "Failed"), len(names))


def _crawls(crawlers: list[str], state: str) -> dict[str, object]:
    return {"detail-type": [CRAWL_CHANGE], "detail": {"crawlerName": crawlers, "state": [state]}}


def check_names(jobs: Sequence[str]) -> None:
    """Raise if a pipeline has more jobs than one rule of EventBridge can name.

    Raises:
        JobDefinitionError: it has.
    """
    run_pattern(STATE_CHANGE, jobs, FAILED_STATES)


def _checked(fields: Mapping[str, object], count: int) -> object:
    pattern = {"source": SOURCE, **fields}
    length = len(json.dumps(pattern, separators=(",", ":")))
    if length > MAX_CHARACTERS:
        raise JobDefinitionError(
            f"the pipeline has {count} jobs, whose names make an event pattern of {length} "
            f"characters; allowed: {MAX_NODES} jobs, crawlers and triggers in a workflow, and "
            f"{MAX_CHARACTERS} characters in a pattern; split the pipeline in two, or give the "
            "jobs shorter names"
        )
    return pattern
