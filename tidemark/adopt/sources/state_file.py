"""Reads the jobs to adopt from a state file of Terraform, and scripts that it uploaded."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tidemark.adopt.model import Found
from tidemark.adopt.sources.contents import Contents, found_in
from tidemark.adopt.sources.template_file import checked_text
from tidemark.adopt.sources.terraform import TerraformState, read_state
from tidemark.adopt.sources.terraform_surroundings import (
    connections_of,
    locations_of,
    other_rules_of,
    roles_of,
    rules_of,
    schedules_of,
)
from tidemark.errors import UsageError


def read_state_file(
    file: Path, jobs: Iterable[str], workflow: str | None, *, with_roles: bool = False
) -> Found:
    """Return the named jobs of a state file, or the jobs of a workflow, with their surroundings."""
    contents = _contents(read_state(_document(file), str(file)), file)
    return found_in(contents, jobs, workflow, with_roles=with_roles)


def _contents(state: TerraformState, file: Path) -> Contents:
    return Contents(
        where=f"the Terraform state {file.name}",
        owner="terraform",
        types=("aws_glue_job", "aws_glue_workflow"),
        jobs=state.jobs,
        triggers=state.triggers,
        workflows=state.workflows,
        crawlers=state.crawlers,
        connections=connections_of(state.others),
        scripts=_scripts(state, file.absolute().parent),
        locations=locations_of(state.others),
        rules=rules_of(state.others),
        clock=schedules_of(state.others),
        other_rules=other_rules_of(state.others),
        policies=lambda arns: roles_of(state.others, arns),
        unread=tuple(state.unread),
        resources=tuple(state.resources),
        around=tuple(state.around),
    )


def _document(file: Path) -> object:
    try:
        document: object = checked_text(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no file {file}; write one: terraform state pull > {file}"
        ) from error
    except (UnicodeError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON: {error}; write it: terraform state pull") from error
    return document


def _scripts(state: TerraformState, folder: Path) -> dict[str, str | Path]:
    """Return the scripts that Terraform uploaded from files, or from strings, by their URIs.

    A state file may come from others: files outside of its folder are left for the plan to fetch.
    """
    scripts: dict[str, str | Path] = {}
    for uri, uploaded in state.objects.items():
        if uploaded.get("content"):
            scripts[uri] = str(uploaded["content"])
        elif uploaded.get("source") and "\0" not in str(uploaded["source"]):
            file = (folder / str(uploaded["source"])).resolve()
            with suppress(OSError):  # a name that is too long is one of nothing
                if file.is_relative_to(folder.resolve()) and file.is_file():
                    scripts[uri] = file
    return scripts
