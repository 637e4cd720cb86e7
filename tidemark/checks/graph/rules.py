"""Proves that a graph of Glue jobs and triggers works as declared: pure checks on plain data.

Sources: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html,
https://docs.aws.amazon.com/glue/latest/dg/blueprint_workflow_restrictions.html
"""

from collections.abc import Iterable, Iterator

from tidemark.checks.graph.contracts import contracts
from tidemark.checks.graph.crawls import crawls
from tidemark.checks.graph.duplicate_names import duplicates, problems_of_names
from tidemark.checks.graph.folders import Folders
from tidemark.checks.graph.model import CONDITIONAL, Graph, GraphJob, Problem, Trigger
from tidemark.checks.graph.nested_tables import nested_tables
from tidemark.checks.graph.open_secrets import IN_CONNECTION, IN_INPUT, INPUT, PROPERTY
from tidemark.checks.graph.paths import cycle_of, paths_to_start
from tidemark.checks.graph.races import races
from tidemark.checks.graph.retentions import retentions
from tidemark.checks.graph.start_rules import problems_of_starts
from tidemark.checks.graph.tables_in_use import tables_in_use
from tidemark.checks.graph.trigger_rules import problems_of_timer, problems_of_trigger
from tidemark.model.advice import advice_of
from tidemark.model.plain_secrets import ADVICE

RULES = advice_of("graph")
MAX_NODES = 100  # jobs, crawlers and triggers of one workflow


def problems(graph: Graph) -> list[Problem]:
    """Return everything that is wrong with a graph, in the order of `RULES`."""
    names = dict.fromkeys([*graph.workflows, *(trigger.workflow for trigger in graph.triggers)])
    found = [
        *_of_jobs(graph),
        *_of_crawlers(graph),
        *problems_of_names(graph.named),
        *(problem for trigger in graph.triggers for problem in problems_of_trigger(graph, trigger)),
        *(problem for timer in graph.timers for problem in problems_of_timer(graph, timer)),
        *problems_of_starts(graph),
        *_shared_triggers(graph),
        *(problem for name in names for problem in _of_workflow(graph, name)),
        *_secrets(graph),
        *races(graph),
        *crawls(graph),
        *nested_tables(graph),
        *tables_in_use(graph),
        *retentions(graph),
        *contracts(graph),
        *_tables(graph),
        *duplicates(graph),
        *_data(graph),
    ]
    order = list(RULES)
    return sorted(found, key=lambda problem: order.index(problem.rule))


def _of_jobs(graph: Graph) -> Iterator[Problem]:
    first: dict[str, GraphJob] = {}
    for job in graph.jobs:
        if job.name in first:
            yield job.problem(
                "duplicate-job-name",
                f"the job name '{job.name}' is taken by {first[job.name].at}; they would share a "
                "bookmark and watermarks",
                "rename one of the two",
            )
        first.setdefault(job.name, job)
        if job.declared and job.declared != job.name:
            yield job.problem(
                "renamed-job",
                f"an override names the job '{job.name}', which was declared as '{job.declared}'; "
                "its role, alarms, events and watermarks are for that name",
                "declare the job by its name, and take the override out",
            )
        if job.has_bookmark and job.max_concurrent_runs > 1:
            yield job.problem(
                "bookmark-concurrent",
                f"the job '{job.name}' keeps a bookmark and has MaxConcurrentRuns "
                f"{job.max_concurrent_runs}; the second of two runs fails at its commit",
                "set MaxConcurrentRuns to 1, or disable the bookmark",
            )
        if job.queues and (job.is_flex or job.max_retries):
            has = "the execution class FLEX" if job.is_flex else f"MaxRetries {job.max_retries}"
            yield job.problem(
                "queue-refused",
                f"the job '{job.name}' has JobRunQueuingEnabled and {has}; Glue queues only "
                "STANDARD runs without retries",
                "leave JobRunQueuingEnabled out, or set ExecutionClass STANDARD and MaxRetries 0",
            )


def _of_crawlers(graph: Graph) -> Iterator[Problem]:
    first: dict[str, GraphJob] = {}
    for crawler in graph.crawlers:
        other = first.setdefault(crawler.name, crawler)
        if other is not crawler:
            yield crawler.problem(
                "duplicate-crawler-name",
                f"the name of the {crawler} is taken by {other.at}",
                "rename one of the two",
            )


def _shared_triggers(graph: Graph) -> Iterator[Problem]:
    first: dict[str, Trigger] = {}
    for trigger in graph.triggers:
        other = first.setdefault(trigger.name, trigger)
        if other.workflow != trigger.workflow:
            yield trigger.problem(
                "trigger-in-two-workflows",
                f"the trigger '{trigger.name}' of workflow '{trigger.workflow}' belongs to "
                f"'{other.workflow}' as well ({other.at}); Glue allows one",
                "give the trigger of each workflow its own name",
            )


def _of_workflow(graph: Graph, workflow: str | None) -> Iterator[Problem]:
    triggers = graph.triggers_of(workflow)
    if workflow is not None:
        at = graph.workflows.get(workflow) or next(trigger.at for trigger in triggers)
        if triggers or workflow not in graph.streamed:
            yield from _starts(at, workflow, triggers)
        nodes = len({name for trigger in triggers for name in trigger.starts}) + len(triggers)
        if nodes > MAX_NODES:
            yield Problem(
                "too-many-nodes",
                at,
                f"the workflow '{workflow}' has {nodes} jobs, crawlers and triggers; above "
                f"{MAX_NODES} it may not be stopped or resumed",
                "split the pipeline in two",
            )
    cycle = cycle_of(triggers)
    if cycle:
        yield Problem(
            "cycle",
            next(trigger.at for trigger in triggers if cycle[0] in trigger.starts),
            f"the jobs wait for each other: {' <- '.join(cycle)}",
            "remove one of these dependencies",
        )
    else:
        yield from _unreachable(triggers)


def _starts(at: str, workflow: str, triggers: Iterable[Trigger]) -> Iterator[Problem]:
    starts = [trigger for trigger in triggers if trigger.kind != CONDITIONAL]
    for trigger in starts[1:]:
        yield trigger.problem(
            "two-starts",
            f"the workflow '{workflow}' has the start trigger {starts[0].at} already; Glue allows "
            "one",
            "let one trigger start all first jobs, or make another workflow for it",
        )
    if not starts:
        yield Problem(
            "no-start",
            at,
            f"the workflow '{workflow}' has no start trigger, so none of its jobs can start",
            "add a job without after=, or a trigger of type ON_DEMAND or SCHEDULED",
        )


def _unreachable(triggers: list[Trigger]) -> Iterator[Problem]:
    """Yield the jobs that no run of the workflow can start, the first of each chain only."""
    paths = paths_to_start(triggers)
    started = {name for trigger in triggers for name in trigger.starts}
    for trigger in triggers:
        missing = [c.name for c in trigger.conditions if not paths.get(c.name)]
        is_consequence = any(name in started for name in missing)
        for name in trigger.starts:
            if paths[name] or is_consequence or not trigger.conditions:
                continue
            reason = (
                f"it waits for {', '.join(dict.fromkeys(missing))}, which nothing in its workflow "
                "starts; runs that are started from outside fire no trigger"
                if missing
                else "no run can end with "
                + " and ".join(f"{c.name} {c.state}" for c in trigger.conditions)
            )
            yield trigger.problem(
                "unreachable-job",
                f"the job '{name}' can never start: {reason}",
                "wait for states that can occur in one run that a start trigger starts",
            )


def _secrets(graph: Graph) -> Iterator[Problem]:
    for secret in graph.open_secrets:
        advice = {PROPERTY: IN_CONNECTION, INPUT: IN_INPUT}.get(secret.of, ADVICE)
        yield secret.problem(
            "open-secret",
            f"the {secret.of} {secret.name!r} has a value that looks like a secret",
            f"{advice}; or acknowledge it with a reason",
        )


def _tables(graph: Graph) -> Iterator[Problem]:
    for job in graph.jobs:
        for table in dict.fromkeys(job.described):
            if table not in graph.tables:
                yield job.problem(
                    "table-not-created",
                    f"the job '{job.name}' uses data of the table '{table}', which nothing creates",
                    "name the dataset with its table= in writes= of the job that writes it, or "
                    "declare it with delivered=True if others fill it",
                )


def _data(graph: Graph) -> Iterator[Problem]:
    """Yield data that no job of the graph writes, or reads; prefixes of one another match."""
    read, written = Folders(), Folders()
    for job in graph.nodes:
        read.add(job, job.reads)
        written.add(job, job.writes)
    for job in graph.nodes:
        for uri in job.reads:
            if uri not in job.delivered and not written.touching([uri]):
                yield job.problem(
                    "input-nobody-writes",
                    f"the {job} reads {uri}, which no job writes",
                    "correct the dataset, or declare it with delivered=True if others fill it",
                    is_error=False,
                )
        for uri in job.writes:
            readers = (reader for reader in read.touching([uri]) if reader is not job)
            if uri not in job.published and not any(readers):
                yield job.problem(
                    "output-never-read",
                    f"the job '{job.name}' writes {uri}, which no other job reads",
                    "correct the dataset, or declare it with published=True if others read it",
                    is_error=False,
                )
