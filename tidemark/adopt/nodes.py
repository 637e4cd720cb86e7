"""Makes the jobs and crawlers of a pipeline from the found ones: pure, on plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.adopt.choosing import Chosen
from tidemark.adopt.crawlers.crawler import CrawlerCall, crawler_call_of
from tidemark.adopt.data import with_data
from tidemark.adopt.jobs.job import JobCall, call_of
from tidemark.adopt.jobs.roles import kept_role
from tidemark.adopt.jobs.scripts import ScriptFacts, facts_of
from tidemark.adopt.jobs.secrets import Secrets, secrets_of
from tidemark.adopt.jobs.streaming import guess_of_streams, streaming_job
from tidemark.adopt.model import (
    SCRATCH,
    AdoptedCrawler,
    AdoptedJob,
    Difference,
    Found,
    Guess,
    Node,
    Place,
    Wait,
)
from tidemark.adopt.starts.started import bookmark_of_runs
from tidemark.adopt.starts.triggers import account_for
from tidemark.errors import InputError, UsageError
from tidemark.model.assembly.definitions import CRAWLER


@dataclass(frozen=True)
class Made:
    """The jobs and crawlers of a pipeline, with guesses and differences.

    Attributes:
        nodes: jobs and crawlers, each after those that it waits for.
        differences: those that the readings and the triggers do not show.
        guesses: the guessed facts.
    """

    nodes: tuple[Node, ...]
    differences: tuple[Difference, ...]
    guesses: tuple[Guess, ...]


def make_nodes(
    found: Found,
    chosen: Chosen,
    order: Sequence[str],
    names: Mapping[str, str],
    *,
    keep_roles: bool,
) -> Made:
    """Return the jobs and crawlers that were chosen, and account for their triggers."""
    readings = chosen.readings
    roles = {node: kept_role(readings[node]) if keep_roles else None for node in order}
    calls = {job: _call_of(chosen, job) for job in order if not job.startswith(CRAWLER)}
    crawls = {
        node: crawler_call_of(readings[node], found.locations)
        for node in order
        if node.startswith(CRAWLER)
    }
    _account_for(found, chosen, calls, crawls)
    facts = {
        job: facts_of(found.scripts[job], f"job {job}") if job in found.scripts else ScriptFacts()
        for job in calls
    }
    secrets = {job: secrets_of(job, calls[job], found) for job in calls}
    jobs, guesses = with_data(
        [
            replace(
                _any_job(found, chosen, job, names[job], calls[job], facts[job]),
                started=chosen.starts.started.get(job, {}),
                role=roles[job],
                secrets=secrets[job].names,
            )
            for job in calls
        ],
        {job: facts[job].reads for job in calls},
        {job: facts[job].written for job in calls},
    )
    jobs = [_with_scratch(job) for job in jobs]
    crawlers = [
        replace(_crawler(node, names[node], crawls[node], chosen.waits.get(node)), role=roles[node])
        for node in crawls
    ]
    by_name: dict[str, Node] = {job.old: job for job in jobs}
    by_name |= {crawler.old: crawler for crawler in crawlers}
    return Made(
        tuple(by_name[node] for node in order),
        tuple(_scratch_differences(jobs, calls)),
        (*guesses, *_further_guesses(found, jobs, facts, secrets)),
    )


def _call_of(chosen: Chosen, job: str) -> JobCall:
    reading = chosen.readings[job]
    try:
        return call_of(reading, bookmark_of_runs(chosen.triggers, reading))
    except InputError as error:  # a value that no job of Glue has
        raise UsageError(f"{reading.of}: {error}") from error


def _account_for(
    found: Found, chosen: Chosen, calls: Mapping[str, JobCall], crawls: Mapping[str, CrawlerCall]
) -> None:
    timeouts = {
        job: call.runtime.timeout_minutes
        for job, call in calls.items()
        if job not in chosen.streaming
    }
    nodes = {**timeouts, **dict.fromkeys(crawls)}
    account_for(chosen.triggers, chosen.starts, nodes, found.rules)


def _any_job(
    found: Found, chosen: Chosen, old: str, name: str, call: JobCall, facts: ScriptFacts
) -> AdoptedJob:
    job = _job(old, name, call, facts, chosen.waits.get(old))
    if old not in chosen.streaming:
        return job
    return streaming_job(job, chosen.readings[old], found.scripts.get(old))


def _further_guesses(
    found: Found,
    jobs: Sequence[AdoptedJob],
    facts: Mapping[str, ScriptFacts],
    secrets: Mapping[str, Secrets],
) -> list[Guess]:
    return [
        *(guess_of_streams(job, found.scripts.get(job.old)) for job in jobs if job.is_streaming),
        *(
            Guess(
                f"job {job.old}",
                "it has a bookmark, and neither its arguments nor a trigger turns one on, so "
                "whoever starts its runs does, or did",
                "see the arguments of its last runs (aws glue get-job-runs); if they turn it on, "
                "set bookmark=BookmarkOption.ENABLE, or the new job reads everything again",
            )
            for job in jobs
            if job.bookmark == "DISABLE" and found.bookmarks.get(job.old)
        ),
        *(guess for one in facts.values() for guess in one.guesses),
        *(guess for one in secrets.values() for guess in one.guesses),
    ]


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
    """Return a job that may write somewhere else, for the run that creates its bookmark."""
    if job.bookmark == "DISABLE" or job.temp or not job.writes:
        return job
    _, place = job.writes[0]
    return replace(job, temp=Place(place.bucket, f"{SCRATCH}/{job.name}/"))


def _scratch_differences(
    jobs: Sequence[AdoptedJob], calls: Mapping[str, JobCall]
) -> list[Difference]:
    return [
        Difference(
            f"job {job.old}",
            ("DefaultArguments", "--TempDir"),
            None,
            f"it gets a temporary folder, {job.temp.uri}, for the run that creates its bookmark",
            "check that it is empty; remove temp= after the migration",
        )
        for job in jobs
        if job.temp and not calls[job.old].temp
    ]
