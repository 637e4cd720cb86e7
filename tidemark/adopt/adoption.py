"""Makes a pipeline of jobs that were found, and names its parts: pure, on plain data."""

import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from tidemark.adopt.choosing import Selection, choose, ordered
from tidemark.adopt.data import broken_rules
from tidemark.adopt.jobs.job import rest
from tidemark.adopt.model import Adoption, Difference, Existing, LeftOut
from tidemark.adopt.nodes import make_nodes
from tidemark.adopt.others import others_of
from tidemark.adopt.reading import Reading
from tidemark.adopt.reasons import ANY, REASONS
from tidemark.adopt.starts.outside import Adopted, outside_of
from tidemark.adopt.starts.triggers import nodes_of, watched_by
from tidemark.errors import UsageError, show
from tidemark.model.assembly.definitions import CRAWLER
from tidemark.model.plain_secrets import shows_secret


def adopt(
    existing: Existing,
    name: str | None = None,
    *,
    keep_roles: bool = False,
    kept_jobs: Iterable[str] = (),
) -> Adoption:
    """Return the pipeline that replaces the jobs, and the differences."""
    _check_names(existing)
    chosen = choose(existing)
    starts = chosen.starts
    order = ordered({**starts.waits, **dict.fromkeys(starts.streaming)})
    taken, names = {*existing.taken, *kept_jobs}, dict[str, str]()
    for node in order:
        old = node.removeprefix(CRAWLER)
        names[node] = free_name(old, {*taken, *names.values()}, MAX_JOB_NAME)
    nodes, differences, guesses = make_nodes(existing, chosen, names, keep_roles=keep_roles)
    outside = outside_of(existing, _adopted(existing, chosen))
    properties, of_workflow = workflow_of(existing)
    hours = [*((schedule, "UTC") for schedule in starts.schedules), *outside.schedules]
    roles = {node.role for node in nodes}
    adoption = Adoption(
        name=_pipeline_name(existing, order, name),
        old_workflow=existing.workflow_name,
        nodes=nodes,
        left_out=tuple(
            LeftOut(job, why, f"{do}; {_started_by(existing, chosen, job)}")
            for job, (why, do) in starts.left_out.items()
        ),
        schedules=tuple(dict.fromkeys(hours)),
        run_properties=properties,
        start_triggers=tuple(starts.start_triggers),
        other_triggers=tuple(starts.other_triggers),
        differences=(
            *(difference for node in order for difference in chosen.readings[node].differences),
            *differences,
            *starts.differences,
            *outside.differences,
            *of_workflow,
            *existing.unread,
        ),
        guesses=guesses,
        acknowledged=broken_rules(nodes),
        events=tuple(starts.events),
        policies={arn: existing.roles[arn] for arn in existing.roles if arn in roles},
        switches=tuple(outside.switches),
    )
    return replace(adoption, others=others_of(existing, adoption))


def _check_names(existing: Existing) -> None:
    """Refuse names that Glue cannot have: a plan has names in lines for a shell.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateJob.html (pattern of Name)
    """
    workflow = existing.workflow_name or ""
    for name in (*existing.jobs, *existing.triggers, *existing.crawlers, workflow):
        if not name.replace("\t", " ").isprintable():
            raise UsageError(
                f"the name {show(name)} has control characters, which no resource of Glue has; "
                f"correct {existing.origin}"
            )


def _adopted(existing: Existing, chosen: Selection) -> Adopted:
    """Return what the pipeline replaces."""
    starts, own = chosen.starts, existing.workflow_name
    workflows = {*(trigger.get("WorkflowName") for trigger in chosen.triggers), own}
    first = [node for node, wait in starts.waits.items() if wait is None]
    is_whole = not starts.is_late
    return Adopted(
        frozenset(existing.jobs),
        own if is_whole else None,
        frozenset(str(name) for name in workflows if name),
        first[0] if len(first) == 1 and is_whole else None,
        frozenset(starts.left_out),
    )


def _started_by(existing: Existing, chosen: Selection, job: str) -> str:
    """Return the steps that keep a left-out job started."""
    waits = {
        str(trigger["Name"]): sorted({*watched_by(trigger)} & {*chosen.starts.waits})
        for trigger in existing.triggers.values()
        if job in nodes_of(trigger)
    }
    ends = [str(trigger["Name"]) for trigger in chosen.triggers if trigger["Name"] in waits]
    if not ends:
        idle = [f"{name} waits for {', '.join(nodes)}" for name, nodes in waits.items() if nodes]
        stay = ", ".join(sorted(name for name, nodes in waits.items() if not nodes))
        others = f": {stay} keeps starting it" if stay else ""
        if idle:
            return f"{'; '.join(idle)}, which moves: give {job} another start for that{others}"
        return f"nothing changes for it{others}"
    return (
        f"its trigger ({', '.join(ends)}) stops with the old jobs: before that, give it another "
        "trigger (aws glue create-trigger), or start it in the new workflow with a "
        "glue.CfnTrigger on pipeline.workflow and acknowledge the rule unknown-job"
    )


def _pipeline_name(existing: Existing, nodes: Sequence[str], name: str | None) -> str:
    if name is None:
        first = next((node for node in nodes if not node.startswith(CRAWLER)), nodes[0])
        old = (existing.workflow_name or first).removeprefix(CRAWLER)
        return free_name(old, existing.taken, MAX_PIPELINE_NAME)
    if name in existing.taken:
        raise UsageError(f"there is a workflow or job {name} already; take another --name")
    return name


def workflow_of(existing: Existing) -> tuple[dict[str, str], list[Difference]]:
    """Return the initial properties of every run, and the differences of the workflow."""
    if existing.workflow is None:
        return {}, []
    reading = Reading(f"workflow {existing.workflow['Name']}", existing.workflow)
    properties = {}
    for name, value in (reading.get("DefaultRunProperties") or {}).items():
        if shows_secret(name, str(value)):
            reading.differ_for(ANY["secret"], "DefaultRunProperties", name)
        else:
            properties[name] = str(reading.take("DefaultRunProperties", name))
    reading.takes("MaxConcurrentRuns", values=[1])
    if reading.get("MaxConcurrentRuns") is None:
        why, do = REASONS["workflow"]["MaxConcurrentRuns"]
        reading.differ("MaxConcurrentRuns", why=f"it was not limited; {why}", do=do)
    rest(reading, REASONS["workflow"])
    return properties, reading.differences


MAX_JOB_NAME, MAX_PIPELINE_NAME = 255, 64
# Construct ids that a pipeline has itself, as the names of jobs that would get them.
PIPELINE_IDS = {"workflow", "start", "libs", "security", "operations", "validation"}


def kebab_case(name: str) -> str:
    """Return a name in kebab case, a letter first."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    text = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "job"
    return text if text[0].isalpha() else f"job-{text}"


def free_name(old: str, taken: Iterable[str], most: int) -> str:
    """Return a name in kebab case that nothing has in any case: the old one so spelt, or -v2.

    Glue refuses a second job of a name, and construct ids must differ too: `a-trigger` would be in
    the way of the trigger of `a`.
    """
    taken = {name.lower() for name in taken}
    ids = {name.replace("-", "") for name in taken}
    base = kebab_case(old)[: most - 4].rstrip("-")
    number = 1
    while True:
        name = base if number == 1 else f"{base}-v{number}"
        id_ = name.replace("-", "")
        is_free = name not in taken and name not in PIPELINE_IDS
        if is_free and not {id_, f"{id_}trigger", id_.removesuffix("trigger")} & ids:
            return name
        number += 1


class Variables:
    """Gives out names for variables, each once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def name(self, text: str) -> str:
        """Return an unused name made from a string."""
        base = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_") or "data"
        base = f"of_{base}" if base[0].isdigit() or keyword.iskeyword(base) else base
        names = (base if number == 1 else f"{base}_{number}" for number in count(1))
        name = next(name for name in names if name not in self._taken)
        self._taken.add(name)
        return name
