"""Reads the jobs to adopt from a state file of Terraform, and scripts that it uploaded."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tidemark.adopt.model import Found, Resource
from tidemark.adopt.sources.account import jobs_of
from tidemark.adopt.sources.terraform import TerraformState, read_state
from tidemark.adopt.sources.terraform_beside import (
    other_rules_of,
    roles_of,
    rules_of,
    schedules_of,
)
from tidemark.adopt.starts.triggers import crawlers_of
from tidemark.errors import UsageError, show


def read_state_file(
    file: Path, jobs: Iterable[str], workflow: str | None, *, with_roles: bool = False
) -> Found:
    """Return what a state file has of jobs, or of the jobs of a workflow.

    Args:
        file: the state, version 4.
        jobs: names of jobs; empty for all of the workflow.
        workflow: name of a workflow, or None.
        with_roles: whether to read what the roles of the jobs may do.

    Raises:
        UsageError: it cannot be read, or has no such job or workflow.
    """
    state = read_state(_document(file), str(file))
    if workflow is not None and workflow not in state.workflows:
        raise UsageError(
            f"{file} has no aws_glue_workflow {show(workflow)}; allowed: "
            f"{', '.join(state.workflows) or 'none'}"
        )
    names = list(jobs)
    if workflow is not None:
        names = names or jobs_of(state.triggers.values(), workflow)
    for name in names:
        if name not in state.jobs:
            raise UsageError(
                f"{file} has no aws_glue_job {show(name)}; allowed: "
                f"{', '.join(state.jobs) or 'none'}"[:1000]
            )
    adopted = {name: state.jobs[name] for name in names}
    crawlers = crawlers_of(state.triggers.values(), names, workflow)
    return Found(
        origin=f"the Terraform state {file.name}",
        jobs=adopted,
        triggers=state.triggers,
        workflow=state.workflows[workflow] if workflow else None,
        crawlers={name: state.crawlers[name] for name in crawlers if name in state.crawlers},
        scripts=_scripts(state, adopted, file.absolute().parent),
        unread=tuple(
            one
            for one in state.unread
            if one.of.partition(" ")[2] in {*names, workflow, *crawlers, *_own(state, names)}
        ),
        rules=rules_of(state.beside),
        clock=schedules_of(state.beside),
        other_rules=other_rules_of(state.beside),
        roles=roles_of(state.beside, _role_arns(adopted.values())) if with_roles else {},
        taken=frozenset({*state.jobs, *state.workflows, *state.crawlers}),
        is_terraform=True,
    )


def _role_arns(jobs: Iterable[Resource]) -> list[str]:
    return [str(job["Role"]) for job in jobs if job.get("Role")]


def _document(file: Path) -> object:
    try:
        document: object = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no file {file}; write one: terraform state pull > {file}"
        ) from error
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON: {error}; write it: terraform state pull") from error
    return document


def _own(state: TerraformState, jobs: Iterable[str]) -> set[str]:
    """Return the triggers that start one of the jobs."""
    names = set(jobs)
    return {
        name
        for name, trigger in state.triggers.items()
        if any(action.get("JobName") in names for action in trigger["Actions"])
    }


def _scripts(state: TerraformState, jobs: Mapping[str, Resource], folder: Path) -> dict[str, str]:
    """Return the scripts that Terraform uploaded from files that are here, or from texts."""
    found = {}
    for name, job in jobs.items():
        uploaded = state.objects.get(job.get("Command", {}).get("ScriptLocation", ""))
        if uploaded is None:
            continue
        source = uploaded.get("source")
        try:
            text = uploaded.get("content") or (
                (folder / source).read_bytes().decode("utf-8") if source else None
            )
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            found[name] = str(text)
    return found
