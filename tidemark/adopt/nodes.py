"""Makes the jobs and crawlers of a pipeline from the found ones: pure, on plain data."""

import re
from collections.abc import Mapping
from dataclasses import replace

from tidemark.adopt.choosing import Selection
from tidemark.adopt.crawlers.crawler import crawler_of
from tidemark.adopt.data import with_data
from tidemark.adopt.jobs.job import job_of
from tidemark.adopt.jobs.scripts import facts_of
from tidemark.adopt.jobs.secrets import secrets_of
from tidemark.adopt.jobs.streaming import guess_of_streams, streaming_job
from tidemark.adopt.model import SCRATCH, AdoptedJob, Difference, Existing, Folder, Guess, Node
from tidemark.adopt.reading import Reading
from tidemark.adopt.reasons import ANY
from tidemark.adopt.starts.started import bookmark_of_runs
from tidemark.adopt.starts.triggers import account_for
from tidemark.errors import InputError, UsageError
from tidemark.model.assembly.definitions import CRAWLER

ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/[\w+=,.@/-]{1,640}", re.ASCII)


def make_nodes(
    existing: Existing, chosen: Selection, names: Mapping[str, str], *, keep_roles: bool
) -> tuple[tuple[Node, ...], list[Difference], tuple[Guess, ...]]:
    """Return the jobs and crawlers that were chosen, and account for their triggers.

    With them come the differences that neither they nor the triggers show, and what is guessed.
    """
    readings, starts, scripts = chosen.readings, chosen.starts, existing.scripts
    roles = {node: _kept_role(readings[node]) if keep_roles else None for node in names}
    alone = {
        node: _job_of(chosen, node, name)
        for node, name in names.items()
        if not node.startswith(CRAWLER)
    }
    crawlers = [
        replace(
            crawler_of(readings[node], name, existing.locations),
            wait=starts.waits.get(node),
            role=roles[node],
        )
        for node, name in names.items()
        if node.startswith(CRAWLER)
    ]
    # Triggers are read with the timeouts of their jobs, and before the jobs take what these add.
    started = (job for job in alone.values() if not job.is_streaming)
    timeouts = {job.old: job.runtime.timeout_minutes for job in started}
    timeouts |= dict.fromkeys(crawler.old for crawler in crawlers)
    account_for(chosen.triggers, starts, timeouts, existing.rules)
    facts = {job: facts_of(scripts.get(job, ""), f"job {job}") for job in alone}
    secrets = {job: secrets_of(adopted, existing) for job, adopted in alone.items()}
    declared = []
    for old, adopted in alone.items():
        job = replace(
            adopted,
            tables=facts[old].tables,
            run_properties=facts[old].run_properties,
            writes_elsewhere=facts[old].writes_elsewhere,
            wait=starts.waits.get(old),
            started=starts.started.get(old, {}),
            role=roles[old],
            secrets=secrets[old][0],
        )
        if old in starts.streaming:
            job = streaming_job(job, readings[old], scripts.get(old))
        declared.append(job)
    jobs, guesses = with_data(declared, facts)
    differences = _give_scratch(jobs)
    guesses += (guess_of_streams(job) for job in jobs if job.is_streaming)
    guesses += (
        Guess(f"job {job.old}", *ANY["hidden bookmark"])
        for job in jobs
        if job.bookmark == "DISABLE" and existing.bookmarks.get(job.old)
    )
    guesses += (guess for script in facts.values() for guess in script.guesses)
    guesses += (guess for _, of_job in secrets.values() for guess in of_job)
    nodes: list[Node] = [*jobs, *crawlers]
    nodes.sort(key=lambda node: list(names).index(node.old))
    return tuple(nodes), differences, tuple(guesses)


def _give_scratch(jobs: list[AdoptedJob]) -> list[Difference]:
    """Give jobs a folder for the run that creates their bookmark, and return the differences."""
    differences = []
    for number, job in enumerate(jobs):
        if job.bookmark == "DISABLE" or job.temp or not job.writes:
            continue
        scratch = Folder(job.writes[0][1].bucket, f"{SCRATCH}/{job.name}/")
        jobs[number] = replace(job, temp=scratch)
        what = f"it gets a temporary folder, {scratch.uri}"
        why = f"{what}, for the run that creates its bookmark"
        do = "check that it is empty; remove temp= after the migration"
        path = ("DefaultArguments", "--TempDir")
        differences.append(Difference(f"job {job.old}", path, None, why, do))
    return differences


def _kept_role(resource: Reading) -> str | None:
    """Return the ARN of the role that a job or crawler keeps, and account for it."""
    role = resource.get("Role")
    if isinstance(role, str) and ROLE.fullmatch(role):
        resource.differ_for(ANY["kept"], "Role")
        return role
    if role is not None:
        why = "its ARN is not known, which from_role_arn needs, so it gets its own role"
        do = "look it up (aws iam get-role), and pass it: role=iam.Role.from_role_arn(...)"
        resource.differ("Role", why=why, do=do)
    return None


def _job_of(chosen: Selection, job: str, name: str) -> AdoptedJob:
    reading = chosen.readings[job]
    try:
        return job_of(reading, name, bookmark_of_runs(chosen.triggers, reading))
    except InputError as error:  # a value that no job of Glue has
        raise UsageError(f"{reading.of}: {error}") from error
