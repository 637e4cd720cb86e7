"""Makes the jobs and crawlers of a pipeline from the found ones: pure, on plain data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.adopt.choosing import Selection
from tidemark.adopt.crawlers.crawler import crawler_of
from tidemark.adopt.data import with_data
from tidemark.adopt.jobs.job import job_of
from tidemark.adopt.jobs.scripts import ScriptResources, facts_of
from tidemark.adopt.jobs.secrets import Secrets, secrets_of
from tidemark.adopt.jobs.streaming import guess_of_streams, streaming_job
from tidemark.adopt.model import (
    SCRATCH,
    AdoptedCrawler,
    AdoptedJob,
    Difference,
    Existing,
    Folder,
    Guess,
    Node,
)
from tidemark.adopt.reading import Reading
from tidemark.adopt.starts.started import bookmark_of_runs
from tidemark.adopt.starts.triggers import account_for
from tidemark.errors import InputError, UsageError
from tidemark.model.assembly.definitions import CRAWLER

ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/[\w+=,.@/-]{1,640}", re.ASCII)


@dataclass(frozen=True)
class AdoptedNodes:
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
    existing: Existing,
    chosen: Selection,
    order: Sequence[str],
    names: Mapping[str, str],
    *,
    keep_roles: bool,
) -> AdoptedNodes:
    """Return the jobs and crawlers that were chosen, and account for their triggers."""
    readings = chosen.readings
    roles = {node: _kept_role(readings[node]) if keep_roles else None for node in order}
    alone = {job: _job_of(chosen, job, names[job]) for job in order if not job.startswith(CRAWLER)}
    crawlers = [
        replace(
            crawler_of(readings[node], names[node], existing.locations),
            wait=chosen.waits.get(node),
            role=roles[node],
        )
        for node in order
        if node.startswith(CRAWLER)
    ]
    # Triggers are read with the timeouts of their jobs, and before the jobs take what these add.
    _account_for(existing, chosen, alone, crawlers)
    facts = {
        job: facts_of(existing.scripts[job], f"job {job}")
        if job in existing.scripts
        else ScriptResources()
        for job in alone
    }
    secrets = {job: secrets_of(adopted, existing) for job, adopted in alone.items()}
    declared = []
    for old, adopted in alone.items():
        job = replace(
            adopted,
            tables=facts[old].tables,
            run_properties=facts[old].run_properties,
            writes_elsewhere=facts[old].writes_elsewhere,
            wait=chosen.waits.get(old),
            started=chosen.starts.started.get(old, {}),
            role=roles[old],
            secrets=secrets[old].names,
        )
        if old in chosen.streaming:
            job = streaming_job(job, readings[old], existing.scripts.get(old))
        declared.append(job)
    jobs, guesses = with_data(
        declared,
        {job: script.reads for job, script in facts.items()},
        {job: script.written for job, script in facts.items()},
    )
    jobs = [_with_scratch(job) for job in jobs]
    by_name: dict[str, Node] = {job.old: job for job in jobs}
    by_name |= {crawler.old: crawler for crawler in crawlers}
    return AdoptedNodes(
        tuple(by_name[node] for node in order),
        tuple(_scratch_differences(jobs, alone)),
        (*guesses, *_further_guesses(existing, jobs, facts, secrets)),
    )


def _kept_role(resource: Reading) -> str | None:
    """Return the ARN of the role that a job or crawler keeps, and account for it."""
    role = resource.get("Role")
    if isinstance(role, str) and ROLE.fullmatch(role):
        resource.differ(
            "Role",
            why="it is kept, and gets one more inline policy with the declared permissions; it may "
            "allow more than these, to all that share it",
            do="compare its policies with what `tidemark grants` prints, and remove the rest",
        )
        return role
    if role is not None:
        resource.differ(
            "Role",
            why="its ARN is not known, which from_role_arn needs, so it gets its own role",
            do="look it up (aws iam get-role), and pass it: role=iam.Role.from_role_arn(...)",
        )
    return None


def _job_of(chosen: Selection, job: str, name: str) -> AdoptedJob:
    reading = chosen.readings[job]
    try:
        return job_of(reading, name, bookmark_of_runs(chosen.triggers, reading))
    except InputError as error:  # a value that no job of Glue has
        raise UsageError(f"{reading.of}: {error}") from error


def _account_for(
    existing: Existing,
    chosen: Selection,
    jobs: Mapping[str, AdoptedJob],
    crawlers: list[AdoptedCrawler],
) -> None:
    timeouts = {
        old: job.runtime.timeout_minutes for old, job in jobs.items() if old not in chosen.streaming
    }
    nodes = {**timeouts, **dict.fromkeys(crawler.old for crawler in crawlers)}
    account_for(chosen.triggers, chosen.starts, nodes, existing.rules)


def _further_guesses(
    existing: Existing,
    jobs: Sequence[AdoptedJob],
    facts: Mapping[str, ScriptResources],
    secrets: Mapping[str, Secrets],
) -> list[Guess]:
    return [
        *(guess_of_streams(job, existing.scripts.get(job.old)) for job in jobs if job.is_streaming),
        *(
            Guess(
                f"job {job.old}",
                "it has a bookmark, and neither its arguments nor a trigger turns one on, so "
                "whoever starts its runs does, or did",
                "see the arguments of its last runs (aws glue get-job-runs); if they turn it on, "
                "set bookmark=BookmarkOption.ENABLE, or the new job reads everything again",
            )
            for job in jobs
            if job.bookmark == "DISABLE" and existing.bookmarks.get(job.old)
        ),
        *(guess for script in facts.values() for guess in script.guesses),
        *(guess for secret in secrets.values() for guess in secret.guesses),
    ]


def _with_scratch(job: AdoptedJob) -> AdoptedJob:
    """Return a job that may write somewhere else, for the run that creates its bookmark."""
    if job.bookmark == "DISABLE" or job.temp or not job.writes:
        return job
    _, place = job.writes[0]
    return replace(job, temp=Folder(place.bucket, f"{SCRATCH}/{job.name}/"))


def _scratch_differences(
    jobs: Sequence[AdoptedJob], before: Mapping[str, AdoptedJob]
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
        if job.temp and not before[job.old].temp
    ]
