"""The triggers of one workflow: what starts its jobs, and in which order Glue gets to know them."""

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from constructs import Construct

from tidemark.constructs.jobs.conditions import Condition, Job
from tidemark.constructs.predicates import Predicate
from tidemark.constructs.references import job_ref


class Triggers:
    """Creates the start trigger of a workflow, and one conditional trigger per job that waits.

    The triggers are created one after the other, since Glue refuses concurrent changes of one
    workflow, and the start trigger last, so that no run begins in half a graph.

    Attributes:
        start: the start trigger.
    """

    def __init__(self, scope: Construct, *, workflow: glue.CfnWorkflow, name: str) -> None:
        """Declare the start trigger, which starts nothing yet.

        Args:
            scope: the construct that owns the triggers.
            workflow: the workflow.
            name: its name.
        """
        self._scope = scope
        self._workflow_name = workflow.ref
        self._last: glue.CfnTrigger | None = None
        self._start_actions: list[cdk.IResolvable | glue.CfnTrigger.ActionProperty] = []
        self.start = glue.CfnTrigger(
            scope,
            "Start",
            type="ON_DEMAND",
            description=f"Starts {name} when StartWorkflowRun is called",
            workflow_name=self._workflow_name,
            actions=self._start_actions,
        )

    def add(self, id_: str, node: Job, after: Predicate | None) -> None:
        """Start a node when what it waits for has happened; None: when the workflow starts.

        Args:
            id_: construct id of the node, of which that of its trigger is made.
            node: what is started.
            after: what must have happened first.
        """
        if after is None:
            self._start_actions.append(_action(node))
            self.start.actions = self._start_actions
            return
        trigger = glue.CfnTrigger(
            self._scope,
            f"{id_}Trigger",
            type="CONDITIONAL",
            start_on_creation=True,
            workflow_name=self._workflow_name,
            predicate=glue.CfnTrigger.PredicateProperty(
                logical=after.logical,
                conditions=[_condition(ended) for ended in after.conditions],
            ),
            actions=[_action(node)],
        )
        if self._last is not None:
            trigger.add_resource_dependency(self._last)
            self.start.remove_resource_dependency(self._last)
        self.start.add_resource_dependency(trigger)
        self._last = trigger


def _action(node: Job) -> glue.CfnTrigger.ActionProperty:
    """Return what a trigger starts."""
    if isinstance(node.resource, glue.CfnCrawler):
        return glue.CfnTrigger.ActionProperty(crawler_name=node.resource.ref)
    return glue.CfnTrigger.ActionProperty(job_name=job_ref(node.resource))


def _condition(ended: Condition) -> glue.CfnTrigger.ConditionProperty:
    """Return what a trigger watches."""
    if isinstance(ended.job.resource, glue.CfnCrawler):
        return glue.CfnTrigger.ConditionProperty(
            crawler_name=ended.job.resource.ref,
            logical_operator="EQUALS",
            crawl_state=ended.state.value,
        )
    return glue.CfnTrigger.ConditionProperty(
        job_name=job_ref(ended.job.resource),
        logical_operator="EQUALS",
        state=ended.state.value,
    )
