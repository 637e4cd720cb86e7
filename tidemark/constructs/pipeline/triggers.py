"""The triggers of one workflow: what starts its jobs, and their order of creation."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from constructs import Construct

from tidemark.checks.graph.trigger_rules import MAX_CRAWLERS_OF_TRIGGER, MAX_JOBS_OF_TRIGGER
from tidemark.constructs.jobs.action_options import ActionOptions
from tidemark.constructs.jobs.conditions import Condition, JobLike
from tidemark.constructs.jobs.incremental_job import IncrementalJob
from tidemark.constructs.jobs.shell_job import ShellJob
from tidemark.constructs.predicates import Predicate
from tidemark.constructs.references import job_ref
from tidemark.constructs.starts.events import Batch
from tidemark.model.assembly.resources import METADATA
from tidemark.model.plain_secrets import reasons

_Action: TypeAlias = glue.CfnTrigger.ActionProperty
START = "Start"  # the construct id of the start trigger
_Key: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Extra:
    """What a trigger adds to one run, in Glue's form.

    Attributes:
        arguments: dashed name to value.
        not_secret: dashed name of an argument to why its value may be public.
        timeout_minutes: timeout of the run.
        notify_after_minutes: after which Glue reports the run.
    """

    arguments: Mapping[str, str] = field(default_factory=dict)
    not_secret: Mapping[str, str] = field(default_factory=dict)
    timeout_minutes: int | None = None
    notify_after_minutes: int | None = None


NOTHING = Extra()


def trigger_extra(job: IncrementalJob | ShellJob, started: ActionOptions | None) -> Extra:
    """Return what a trigger adds to the runs of a job, in Glue's form."""
    if started is None:
        return NOTHING
    timeout_minutes = job.runtime.timeout_minutes
    notify_after_minutes = job.options.notify_after_minutes or timeout_minutes // 2
    started.check_against(job.name, timeout_minutes)
    late = started.notify_after_minutes
    if started.timeout_minutes and not late and notify_after_minutes >= started.timeout_minutes:
        late = max(1, started.timeout_minutes // 2)  # the job's own value would be after its end
    return Extra(
        arguments=job.run_arguments(started.arguments),
        not_secret=reasons({f"--{key}": value for key, value in started.arguments.items()}),
        timeout_minutes=started.timeout_minutes,
        notify_after_minutes=late,
    )


class Triggers:
    """Creates the start trigger of a workflow, and conditional triggers for the nodes that wait.

    Nodes with the same conditions share a trigger, as far as Glue allows the actions: a workflow
    has 100 nodes, and triggers are among them. A trigger has the logical id of the first node that
    it starts, so that it is unchanged when others join or leave it.

    The triggers are created one after the other, because Glue refuses concurrent changes of one
    workflow, and the start trigger last, so that no run starts in an incomplete graph. Without
    nodes, as with streaming jobs alone, there is no trigger: Glue refuses one that starts nothing.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        workflow: glue.CfnWorkflow,
        name: str,
        batch: Batch | None = None,
        started_by: Callable[[glue.CfnTrigger], None] = lambda start: None,
    ) -> None:
        """Keep the common parts of the triggers; the first node creates the start trigger.

        Args:
            scope: the construct that owns the triggers.
            workflow: the workflow.
            name: its name.
            batch: how many events start a run; None: StartWorkflowRun does.
            started_by: called once with the start trigger, to create what starts the workflow.
        """
        self._scope = scope
        self._name = name
        self._workflow_name = workflow.ref
        self._batch = batch
        self._started_by = started_by
        self._last: glue.CfnTrigger | None = None
        self._waiting: defaultdict[_Key, list[_Started]] = defaultdict(list)

    @cached_property
    def start(self) -> glue.CfnTrigger:
        """The start trigger, which is created at its first use."""
        batch = self._batch
        start = glue.CfnTrigger(
            self._scope,
            START,
            type="EVENT" if batch else "ON_DEMAND",
            description=f"Starts {self._name} when "
            + ("events have come" if batch else "StartWorkflowRun is called"),
            event_batching_condition=(
                glue.CfnTrigger.EventBatchingConditionProperty(
                    batch_size=batch.size, batch_window=60 * batch.window_minutes
                )
                if batch
                else None
            ),
            workflow_name=self._workflow_name,
            actions=[],
        )
        self._started_by(start)
        return start

    @cached_property
    def _first(self) -> "_Started":
        return _Started(self.start)

    def add(self, id_: str, node: JobLike, after: Predicate | None, extra: Extra = NOTHING) -> None:
        """Start a node when its conditions are met; None: when the workflow starts.

        Args:
            id_: construct id of the node, and the base of its trigger's id if it is the first one.
            node: the node to start.
            after: the conditions.
            extra: what the trigger adds to its runs.
        """
        action = _action(node, extra)
        if after is None:
            self._first.add(action, extra)
            return
        # The order of the conditions does not matter, nor how a single one is joined to others.
        logical = after.logical if len(after.conditions) > 1 else "AND"
        watched = sorted((ended.job.name, ended.state.value) for ended in after.conditions)
        sharing = self._waiting[logical, tuple(watched)]
        started = next((trigger for trigger in sharing if trigger.has_room_for(action)), None)
        if started is None:
            started = _Started(self._conditional(f"{id_}Trigger", after))
            sharing.append(started)
        started.add(action, extra)

    def _conditional(self, id_: str, after: Predicate) -> glue.CfnTrigger:
        """Create a trigger that fires when the conditions are met."""
        trigger = glue.CfnTrigger(
            self._scope,
            id_,
            type="CONDITIONAL",
            start_on_creation=True,
            workflow_name=self._workflow_name,
            predicate=glue.CfnTrigger.PredicateProperty(
                logical=after.logical, conditions=[_condition(ended) for ended in after.conditions]
            ),
            actions=[],
        )
        if self._last is not None:
            trigger.add_resource_dependency(self._last)
            self.start.remove_resource_dependency(self._last)
        self.start.add_resource_dependency(trigger)
        self._last = trigger
        return trigger


class _Started:
    """One trigger and its actions."""

    def __init__(self, trigger: glue.CfnTrigger) -> None:
        self.trigger = trigger
        self.actions: list[cdk.IResolvable | _Action] = []
        self._crawlers = 0
        self._not_secret: dict[str, str] = {}

    def has_room_for(self, action: _Action) -> bool:
        """Return whether Glue lets the trigger have one more action.

        Source: https://docs.aws.amazon.com/general/latest/gr/glue.html (jobs per trigger),
        https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html (crawlers)
        """
        if action.crawler_name is None:
            return len(self.actions) - self._crawlers < MAX_JOBS_OF_TRIGGER
        return self._crawlers < MAX_CRAWLERS_OF_TRIGGER

    def add(self, action: _Action, extra: Extra) -> None:
        """Add an action to the trigger."""
        self.actions.append(action)
        self.trigger.actions = self.actions
        self._crawlers += action.crawler_name is not None
        if extra.not_secret:
            self._not_secret |= extra.not_secret
            self.trigger.add_metadata(METADATA, {"notSecret": self._not_secret})


def _action(node: JobLike, extra: Extra) -> _Action:
    if isinstance(node.resource, glue.CfnCrawler):
        return _Action(crawler_name=node.resource.ref)
    delay = extra.notify_after_minutes
    return _Action(
        job_name=job_ref(node.resource),
        arguments=dict(extra.arguments) or None,
        timeout=extra.timeout_minutes,
        notification_property=(
            glue.CfnTrigger.NotificationPropertyProperty(notify_delay_after=delay)
            if delay
            else None
        ),
    )


def _condition(ended: Condition) -> glue.CfnTrigger.ConditionProperty:
    if isinstance(ended.job.resource, glue.CfnCrawler):
        return glue.CfnTrigger.ConditionProperty(
            crawler_name=ended.job.resource.ref,
            logical_operator="EQUALS",
            crawl_state=ended.state.value,
        )
    return glue.CfnTrigger.ConditionProperty(
        job_name=job_ref(ended.job.resource), logical_operator="EQUALS", state=ended.state.value
    )
