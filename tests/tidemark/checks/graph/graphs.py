"""What tests of graph share."""

from tidemark.checks.graph.model import (
    Graph,
    GraphCondition,
    GraphJob,
    Trigger,
)
from tidemark.checks.graph.rules import problems


def start(*jobs, name="start", workflow="flights", **changes):
    return Trigger(
        f"s/{name}", name, "SCHEDULED", workflow, jobs, schedule="cron(0 6 * * ? *)", **changes
    )


def after(job, *watched, state="SUCCEEDED", workflow="flights", **changes):
    conditions = tuple(GraphCondition(name, state) for name in watched)
    name = f"{job}-trigger"
    return Trigger(
        f"s/{name}", name, "CONDITIONAL", workflow, (job,), conditions=conditions, **changes
    )


def graph(*triggers, jobs="ab", **changes):
    return Graph(
        jobs=tuple(GraphJob(f"s/{name}", name) for name in jobs),
        triggers=triggers,
        workflows={"flights": "s/workflow"},
        **changes,
    )


GOOD = graph(start("a"), after("b", "a"))


def found(bad):
    return [(problem.rule, problem.at) for problem in problems(bad)]
