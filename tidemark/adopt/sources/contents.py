"""The contents of templates that declare jobs, and the adopted part: pure."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidemark.adopt.model import Difference, Existing, Resource
from tidemark.adopt.sources import cloudformation_surroundings as around
from tidemark.adopt.sources.account import jobs_of
from tidemark.adopt.sources.cloudformation_surroundings import Declared
from tidemark.adopt.starts.triggers import crawlers_of, triggers_of
from tidemark.errors import UsageError, show
from tidemark.model.assembly.definitions import CRAWLER

GLUE_TYPES = ("AWS::Glue::", "AWS::LakeFormation::")
MAX_SCRIPT_BYTES = 10_000_000
# The last words of a type that say less than the kind: AWS::IAM::ManagedPolicy is a policy.
KINDS = {"principalpermissions": "permissions"}
KINDS |= dict.fromkeys(("managedpolicy", "rolepolicy", "userpolicy", "grouppolicy"), "policy")


SHAPES = {f"AWS::Glue::{kind}": kind for kind in ("Job", "Trigger", "Workflow", "Crawler")}


@dataclass
class TemplateContents:
    """The declarations of templates, spelt as in boto3.

    Attributes:
        where: the file or folder, for people.
        kinds: jobs, triggers, workflows and crawlers, by type and name.
        others: the other resources.
        scripts: the file of a script, by its URI.
        unread: the parts of one resource that this version does not know or cannot resolve.
        unread_of_all: likewise, of the file.
        resources: all that has to do with Glue: type and name.
    """

    where: str
    kinds: dict[str, dict[str, Resource]] = field(default_factory=lambda: {k: {} for k in SHAPES})
    others: list[Declared] = field(default_factory=list)
    scripts: dict[str, Path] = field(default_factory=dict)
    unread: list[Difference] = field(default_factory=list)
    unread_of_all: list[Difference] = field(default_factory=list)
    resources: list[tuple[str, str]] = field(default_factory=list)


def found_in(
    contents: TemplateContents,
    jobs: Iterable[str],
    workflow: str | None,
    *,
    with_roles: bool = False,
) -> Existing:
    """Return the named jobs of a file, or the jobs of a workflow, with their surroundings."""
    all_jobs, triggers, workflows, crawlers = contents.kinds.values()
    names, others = list(jobs), contents.others
    if workflow is not None:
        _check(contents, workflow, workflows, "AWS::Glue::Workflow")
        names = names or jobs_of(triggers.values(), workflow)
    for name in names:
        _check(contents, name, all_jobs, "AWS::Glue::Job")
    adopted = {name: all_jobs[name] for name in names}
    crawled = crawlers_of(triggers.values(), names, workflow)
    roles = [str(job["Role"]) for job in adopted.values() if job.get("Role")]
    existing = Existing(
        origin=contents.where,
        jobs=adopted,
        triggers=triggers,
        workflow=workflows[workflow] if workflow else None,
        crawlers={name: crawlers[name] for name in crawled if name in crawlers},
        connections=around.connections_of(others),
        scripts=_scripts(contents, adopted),
        locations=around.locations_of(others),
        rules=around.rules_of(others),
        clock=around.clock_of(others),
        other_rules=around.other_rules_of(others),
        roles=around.policies_of(others, roles) if with_roles else {},
        taken=frozenset({*all_jobs, *workflows, *crawlers}),
        is_of_stack=True,
        resources=tuple(contents.resources),
        around=tuple(
            (kind_of(resource.kind), resource.name, resource.properties)
            for resource in others
            if not resource.kind.startswith(GLUE_TYPES)
        ),
    )
    nodes = [*names, *(f"{CRAWLER}{name}" for name in crawled)]
    own = {*names, workflow, *crawled}
    own |= {str(trigger["Name"]) for trigger in triggers_of(existing, nodes)}
    unread = (unread for unread in contents.unread if unread.of.partition(" ")[2] in own)
    return replace(existing, unread=(*contents.unread_of_all, *unread))


def kind_of(type_: str) -> str:
    """Return the kind of a resource as an account names it: `job` of `AWS::Glue::Job`."""
    last = type_.rpartition("::")[2].lower()
    return KINDS.get(last, last)


def _check(contents: TemplateContents, name: str, known: Iterable[str], kind: str) -> None:
    if name not in known:
        allowed = ", ".join(known) or "none"
        text = f"{contents.where} has no {kind} {show(name)}; allowed: {allowed}"
        raise UsageError(text[:1000])


def _scripts(contents: TemplateContents, jobs: Mapping[str, Resource]) -> dict[str, str]:
    """Return the readable scripts; the plan says how to fetch the others."""
    scripts = {}
    for name, job in jobs.items():
        source = contents.scripts.get(str((job.get("Command") or {}).get("ScriptLocation") or ""))
        with suppress(OSError, UnicodeDecodeError):
            if source and source.is_file() and source.stat().st_size <= MAX_SCRIPT_BYTES:
                scripts[name] = source.read_bytes().decode("utf-8")
    return {name: text for name, text in scripts.items() if text}
