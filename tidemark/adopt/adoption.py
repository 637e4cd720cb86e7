"""Makes a pipeline of jobs that were found: pure, on plain data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tidemark.adopt.crawlers.crawler import CrawlerCall, crawler_call_of, why_not_crawler
from tidemark.adopt.data import broken_rules, with_data
from tidemark.adopt.jobs.fixed import reading_of
from tidemark.adopt.jobs.job import JobCall, call_of, kind_of
from tidemark.adopt.jobs.roles import kept_role
from tidemark.adopt.jobs.scripts import ScriptFacts, facts_of
from tidemark.adopt.jobs.streaming import (
    guess_of_streams,
    is_streaming,
    streaming_job,
    why_not_streaming,
)
from tidemark.adopt.model import (
    SCRATCH,
    AdoptedCrawler,
    AdoptedJob,
    Adoption,
    Difference,
    Found,
    Guess,
    LeftOut,
    Node,
    Place,
    Resource,
    Wait,
)
from tidemark.adopt.names import MOST_OF_JOB, MOST_OF_PIPELINE, free_name
from tidemark.adopt.order import ordered, with_predecessors
from tidemark.adopt.reading import Reading
from tidemark.adopt.starts.outside import Adopted, outside_of
from tidemark.adopt.starts.started import bookmark_of_runs
from tidemark.adopt.starts.triggers import account_for, nodes_of, read_triggers
from tidemark.adopt.workflow import workflow_of
from tidemark.assembly.definitions import CRAWLER
from tidemark.errors import UsageError


def adopt(
    found: Found,
    name: str | None = None,
    *,
    keep_roles: bool = False,
    kept_jobs: Iterable[str] = (),
) -> Adoption:
    """Return the pipeline that does what the jobs did, and what is different.

    Args:
        found: what was read of them.
        name: of the pipeline; None takes that of the workflow, or of the first job.
        keep_roles: whether jobs and crawlers go on with the roles that they have.
        kept_jobs: names of jobs that the project has already, which the new ones do not get.

    Raises:
        UsageError: no job can be declared, or the jobs cannot be in one pipeline.
    """
    left_out: dict[str, tuple[str, str]] = {}
    readings = {job: reading_of(job, resource) for job, resource in found.jobs.items()}
    readings |= {
        f"{CRAWLER}{name}": Reading(f"{CRAWLER}{name}", one) for name, one in found.crawlers.items()
    }
    for node, reading in readings.items():
        if reason := _why_not(node, reading, found):
            left_out[node] = reason
    streaming = [job for job in found.jobs if job not in left_out and is_streaming(readings[job])]
    declared = [job for job in readings if job not in left_out and job not in streaming]
    triggers = _triggers_of(found, [*declared, *streaming])
    starts = read_triggers(triggers, declared)
    starts.streaming = frozenset(streaming)
    left_out |= starts.left_out
    waits = with_predecessors(starts.waits, left_out, streaming)
    if not streaming and all(node.startswith(CRAWLER) for node in waits):
        told = "; ".join(f"{job}: {why}" for job, (why, _) in left_out.items())
        raise UsageError(f"none of the jobs can be declared in a pipeline ({told})")
    waits |= dict.fromkeys(streaming)
    order = ordered(waits)
    names = _names(order, {*found.taken, *kept_jobs})
    roles = {node: kept_role(readings[node]) if keep_roles else None for node in order}
    calls = {
        job: call_of(readings[job], bookmark_of_runs(triggers, readings[job]))
        for job in order
        if not job.startswith(CRAWLER)
    }
    crawls = {
        node: crawler_call_of(readings[node], found.locations)
        for node in order
        if node.startswith(CRAWLER)
    }
    _check_one_table(calls)
    timeouts = {
        job: call.runtime.timeout_minutes for job, call in calls.items() if job not in streaming
    }
    account_for(triggers, starts, {**timeouts, **dict.fromkeys(crawls)}, found.rules)
    first = [node for node in order if waits[node] is None and node not in streaming]
    outside = outside_of(
        found.clock,
        found.other_rules,
        Adopted(
            frozenset(found.jobs),
            str(found.workflow["Name"]) if found.workflow else None,
            frozenset(str(t["WorkflowName"]) for t in triggers if t.get("WorkflowName"))
            | ({str(found.workflow["Name"])} if found.workflow else set()),
            first[0] if len(first) == 1 else None,
        ),
    )
    facts = {
        job: facts_of(found.scripts[job], f"job {job}") if job in found.scripts else ScriptFacts()
        for job in calls
    }
    jobs, guesses = with_data(
        [
            replace(
                _job(job, names[job], calls[job], facts[job], waits[job])
                if job not in streaming
                else streaming_job(
                    _job(job, names[job], calls[job], facts[job], None),
                    readings[job],
                    found.scripts.get(job),
                ),
                started=starts.started.get(job, {}),
                role=roles[job],
            )
            for job in calls
        ],
        {job: facts[job].reads for job in calls},
    )
    jobs = [_with_scratch(job) for job in jobs]
    guesses += [
        guess_of_streams(job, found.scripts.get(job.old)) for job in jobs if job.is_streaming
    ]
    crawlers = [
        replace(_crawler(node, names[node], crawls[node], waits[node]), role=roles[node])
        for node in crawls
    ]
    by_name: dict[str, Node] = {job.old: job for job in jobs}
    by_name |= {crawler.old: crawler for crawler in crawlers}
    nodes = [by_name[node] for node in order]
    properties, of_workflow = workflow_of(found)
    return Adoption(
        name=_pipeline_name(found, order, name),
        old_workflow=str(found.workflow["Name"]) if found.workflow else None,
        nodes=tuple(nodes),
        left_out=tuple(
            LeftOut(job, why, f"{do}; {_started_by(found, job)}")
            for job, (why, do) in left_out.items()
        ),
        schedules=tuple(
            dict.fromkeys([*((one, "UTC") for one in starts.schedules), *outside.schedules])
        ),
        run_properties=properties,
        start_triggers=tuple(starts.start_triggers),
        other_triggers=tuple(starts.other_triggers),
        differences=(
            *(one for job in order for one in readings[job].differences),
            *_scratch_differences(jobs, calls),
            *starts.differences,
            *outside.differences,
            *of_workflow,
            *found.unread,
        ),
        guesses=(
            *guesses,
            *_bookmarks_of_runs(jobs, found),
            *(guess for job in calls for guess in facts[job].guesses),
        ),
        acknowledged=broken_rules(nodes),
        events=tuple(starts.events),
        policies={arn: found.roles[arn] for arn in found.roles if arn in roles.values()},
    )


def _why_not(node: str, reading: Reading, found: Found) -> tuple[str, str] | None:
    """Return why a job or crawler cannot be declared at all, and what to do; None if it can."""
    if node.startswith(CRAWLER):
        return why_not_crawler(reading, found.locations)
    if is_streaming(reading) and not kind_of(reading):
        return why_not_streaming(reading, found.scripts.get(node))
    return kind_of(reading)


def _started_by(found: Found, job: str) -> str:
    """Return what is to be done that a job that is left out goes on being started."""
    names = [
        str(trigger["Name"]) for trigger in found.triggers.values() if job in nodes_of(trigger)
    ]
    if not names:
        return "nothing changes for it"
    return (
        f"its trigger ({', '.join(names)}) stops with the old jobs: before that, make it a trigger "
        "of its own (aws glue create-trigger), or start it in the new workflow with a "
        "glue.CfnTrigger on pipeline.workflow and acknowledge the rule unknown-job"
    )


def _triggers_of(found: Found, nodes: Sequence[str]) -> list[Resource]:
    """Return the triggers that start one of the nodes, and those of the adopted workflow."""
    workflow = found.workflow["Name"] if found.workflow else None
    return [
        trigger
        for trigger in found.triggers.values()
        if (workflow is not None and trigger.get("WorkflowName") == workflow)
        or any(node in nodes for node in nodes_of(trigger))
    ]


def _names(jobs: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for job in jobs:
        names[job] = free_name(job.removeprefix(CRAWLER), {*taken, *names.values()}, MOST_OF_JOB)
    return names


def _pipeline_name(found: Found, jobs: Sequence[str], name: str | None) -> str:
    if name is not None:
        if name in found.taken:
            raise UsageError(f"there is a workflow or job {name} already; take another --name")
        return name
    old = (
        str(found.workflow["Name"])
        if found.workflow
        else next(job for job in jobs if not job.startswith(CRAWLER))
    )
    return free_name(old, found.taken, MOST_OF_PIPELINE)


def _job(old: str, name: str, call: JobCall, facts: ScriptFacts, wait: Wait | None) -> AdoptedJob:
    return AdoptedJob(
        old=old,
        name=name,
        script=f"glue_jobs/{name.replace('-', '_')}.py",
        script_location=call.script_location,
        bookmark=call.bookmark,
        runtime=call.runtime,
        arguments=call.arguments,
        temp=call.temp,
        python_modules=call.python_modules,
        connections=call.connections,
        tables=facts.tables,
        run_properties=facts.run_properties,
        watermark_table=call.watermark_table,
        glue=call.glue,
        options=call.options,
        writes_elsewhere=facts.writes_elsewhere,
        wait=wait,
    )


def _crawler(old: str, name: str, call: CrawlerCall, wait: Wait | None) -> AdoptedCrawler:
    return AdoptedCrawler(
        old=old,
        name=name,
        targets=call.targets,
        database=call.database,
        options=call.options,
        is_scheduled=call.is_scheduled,
        wait=wait,
    )


def _with_scratch(job: AdoptedJob) -> AdoptedJob:
    """Return a job that may write somewhere else, for the run that makes its bookmark."""
    if job.bookmark == "DISABLE" or job.temp or not job.writes:
        return job
    _, place = job.writes[0]
    return replace(job, temp=Place(place.bucket, f"{SCRATCH}/{job.name}/"))


def _check_one_table(calls: Mapping[str, JobCall]) -> None:
    tables = {call.watermark_table: job for job, call in calls.items() if call.watermark_table}
    if len(tables) > 1:
        told = ", ".join(f"{job} in {table}" for table, job in tables.items())
        raise UsageError(
            f"the jobs keep watermarks in {len(tables)} tables ({told}), and a pipeline has one; "
            "adopt them apart"
        )


def _bookmarks_of_runs(jobs: Sequence[AdoptedJob], found: Found) -> list[Guess]:
    """Return the jobs that have a bookmark, and nothing that was read says that they keep one."""
    return [
        Guess(
            f"job {job.old}",
            "it has a bookmark, and neither its arguments nor a trigger turns one on, so whoever "
            "starts its runs does, or did",
            "see the arguments of its last runs (aws glue get-job-runs); if they turn it on, set "
            "bookmark=BookmarkOption.ENABLE, or the new job reads everything again",
        )
        for job in jobs
        if job.bookmark == "DISABLE" and found.bookmarks.get(job.old)
    ]


def _scratch_differences(
    jobs: Sequence[AdoptedJob], calls: Mapping[str, JobCall]
) -> list[Difference]:
    return [
        Difference(
            f"job {job.old}",
            ("DefaultArguments", "--TempDir"),
            None,
            f"it gets a temporary folder, {job.temp.uri}, for the run that makes its bookmark",
            "see that nothing is there; take temp= out when the migration is over",
        )
        for job in jobs
        if job.temp and not calls[job.old].temp
    ]
