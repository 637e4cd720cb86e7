"""The contents of templates that declare jobs, and the adopted part: pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark.adopt.model import Difference, Found, Resource, RolePolicies
from tidemark.adopt.sources.account import jobs_of
from tidemark.adopt.starts.triggers import crawlers_of, nodes_of
from tidemark.errors import UsageError, show

Policies = Callable[[Iterable[str]], dict[str, RolePolicies]]

MAX_SCRIPT_BYTES = 10_000_000
# The last words of a type that say less than the kind: AWS::IAM::ManagedPolicy is a policy.
KINDS = {"principalpermissions": "permissions"}
KINDS |= dict.fromkeys(("managedpolicy", "rolepolicy", "userpolicy", "grouppolicy"), "policy")


@dataclass
class Contents:
    """The declarations of a file, spelt as in boto3.

    Attributes:
        where: the file, for people.
        jobs: jobs by name; likewise triggers, workflows, crawlers.
        connections: their properties, by name.
        scripts: the source of a script, or its file, by its URI.
        locations: where tables have their data, by `database.table`.
        rules: rules of EventBridge that start workflows, by name of the workflow.
        clock: schedules of EventBridge Scheduler, as GetSchedule has them.
        other_rules: rules with another target; its ARN is their `Target`.
        policies: returns the permissions of roles, by ARN.
        unread: the parts of one resource that this version does not know or cannot resolve.
        unread_of_all: likewise, of the file.
        resources: all that has to do with Glue: type and name.
        around: what else there is: type, name and properties.
    """

    where: str
    jobs: Mapping[str, Resource] = field(default_factory=dict)
    triggers: Mapping[str, Resource] = field(default_factory=dict)
    workflows: Mapping[str, Resource] = field(default_factory=dict)
    crawlers: Mapping[str, Resource] = field(default_factory=dict)
    connections: Mapping[str, Resource] = field(default_factory=dict)
    scripts: Mapping[str, str | Path] = field(default_factory=dict)
    locations: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, tuple[Resource, ...]] = field(default_factory=dict)
    clock: tuple[Resource, ...] = ()
    other_rules: tuple[Resource, ...] = ()
    policies: Policies = lambda _: {}
    unread: tuple[Difference, ...] = ()
    unread_of_all: tuple[Difference, ...] = ()
    resources: tuple[tuple[str, str], ...] = ()
    around: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()


def found_in(
    contents: Contents, jobs: Iterable[str], workflow: str | None, *, with_roles: bool = False
) -> Found:
    """Return the named jobs of a file, or the jobs of a workflow, with their surroundings."""
    names = list(jobs)
    if workflow is not None:
        _check(contents, workflow, contents.workflows, "AWS::Glue::Workflow")
        names = names or jobs_of(contents.triggers.values(), workflow)
    for name in names:
        _check(contents, name, contents.jobs, "AWS::Glue::Job")
    adopted = {name: contents.jobs[name] for name in names}
    crawlers = crawlers_of(contents.triggers.values(), names, workflow)
    own = {*names, workflow, *crawlers, *_triggers(contents, names, crawlers, workflow)}
    return Found(
        origin=contents.where,
        jobs=adopted,
        triggers=contents.triggers,
        workflow=contents.workflows[workflow] if workflow else None,
        crawlers={name: contents.crawlers[name] for name in crawlers if name in contents.crawlers},
        connections=contents.connections,
        scripts=_scripts(contents, adopted),
        locations=contents.locations,
        unread=(
            *contents.unread_of_all,
            *(one for one in contents.unread if one.of.partition(" ")[2] in own),
        ),
        rules=contents.rules,
        clock=contents.clock,
        other_rules=contents.other_rules,
        roles=contents.policies(_roles(adopted.values())) if with_roles else {},
        taken=frozenset({*contents.jobs, *contents.workflows, *contents.crawlers}),
        is_of_stack=True,
        resources=contents.resources,
        around=tuple((kind_of(kind), name, values) for kind, name, values in contents.around),
    )


def kind_of(type_: str) -> str:
    """Return the kind of a resource as an account names it: `job` of `AWS::Glue::Job`."""
    last = type_.rpartition("::")[2].lower()
    return KINDS.get(last, last)


def _check(contents: Contents, name: str, known: Iterable[str], kind: str) -> None:
    if name not in known:
        allowed = ", ".join(known) or "none"
        text = f"{contents.where} has no {kind} {show(name)}; allowed: {allowed}"
        raise UsageError(text[:1000])


def _roles(jobs: Iterable[Resource]) -> list[str]:
    return [str(job["Role"]) for job in jobs if job.get("Role")]


def _triggers(
    contents: Contents, jobs: Iterable[str], crawlers: Iterable[str], workflow: str | None
) -> set[str]:
    """Return the triggers that start one of the jobs or crawlers, or are of the workflow."""
    names = {*jobs, *(f"crawler {name}" for name in crawlers)}
    return {
        name
        for name, trigger in contents.triggers.items()
        if names.intersection(nodes_of(trigger))
        or (workflow is not None and trigger.get("WorkflowName") == workflow)
    }


def _scripts(contents: Contents, jobs: Mapping[str, Resource]) -> dict[str, str]:
    """Return the readable scripts; the plan says how to fetch the others."""
    found = {}
    for name, job in jobs.items():
        source = contents.scripts.get(str((job.get("Command") or {}).get("ScriptLocation") or ""))
        try:
            text = _text(source) if isinstance(source, Path) else source
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            found[name] = text
    return found


def _text(file: Path) -> str | None:
    """Return a script; None if it is no file, or too large for one."""
    is_script = file.is_file() and file.stat().st_size <= MAX_SCRIPT_BYTES
    return file.read_text(encoding="utf-8") if is_script else None
