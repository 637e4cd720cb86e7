"""Reads the state that an app keeps outside of its code out of a cloud assembly."""

import re
import tokenize
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.checks.script.values import with_arguments
from tidemark.checks.state.manifest import ICEBERG_TABLE, JobState, Manifest, StatefulResource
from tidemark.checks.state.script_sources import ScriptSource, state_of_script
from tidemark.checks.state.stateful import contracts, holds_state, iceberg_tables, stateful_resource
from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import (
    Assembly,
    FileAsset,
    Stack,
    deployable,
    read_assembly,
)
from tidemark.model.assembly.definitions import STREAMING, WATERMARK_TABLE, bookmark_option
from tidemark.model.assembly.intrinsics import Scope
from tidemark.model.assembly.template import resolve_stacks, stack_resources

REGION = "us-east-1"  # no name of an app's own should have one; the CDK's assets bucket does
STAGE_TAG = "tidemark:stage"  # of everything in a stage


def read_app(assembly: Assembly, stages: Collection[str] = ()) -> Manifest:
    """Return the state of an app."""
    jobs: dict[str, JobState] = {}
    resources: dict[str, StatefulResource] = {}
    passed = _passed_by_triggers(assembly)
    for stack, scope in resolve_stacks(assembly, REGION, may_guess=True):
        for logical_id, name, properties in _resources(stack, scope, "AWS::Glue::Job"):
            if name in jobs:
                raise UsageError(assembly.with_stage_named(f"the app has two jobs named {name!r}"))
            job = _job_state(name, properties, passed.get(name, {}), assembly.assets)
            jobs[name] = replace(job, resource=f"{stack.name}/{logical_id}")
        for logical_id, resource in stack.template.get("Resources", {}).items():
            if holds_state(resource):
                resources[f"{stack.name}/{logical_id}"] = stateful_resource(resource, scope)
            resources |= iceberg_tables(resource, scope)
            resources |= contracts(resource, scope)
    return _without_stages(Manifest(jobs, resources), {*stages, *_tagged_stages(assembly)})


def _tagged_stages(assembly: Assembly) -> Iterator[str]:
    """Yield the stages that the constructs have tagged the stacks with."""
    for stack in assembly.stacks:
        for resource in stack.template.get("Resources", {}).values():
            tags = resource.get("Properties", {}).get("Tags", {})
            if isinstance(tags, Mapping):
                tags = [{"Key": key, "Value": value} for key, value in tags.items()]
            for tag in tags if isinstance(tags, list) else ():
                if tag.get("Key") == STAGE_TAG and isinstance(tag.get("Value"), str):
                    yield tag["Value"]


def read_app_folder(folder: Path, stages: Collection[str] = ()) -> Manifest:
    """Return the state of the app whose cloud assembly is in a folder; see `read_app`."""
    with deployable(folder):
        return read_app(read_assembly(folder), stages)


def _resources(
    stack: Stack, scope: Scope, wanted: str
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for logical_id, kind, name, properties in stack_resources(stack, scope):
        if kind == wanted:
            yield logical_id, name, properties


def _passed_by_triggers(assembly: Assembly) -> dict[str, dict[str, str]]:
    """Return the arguments that every trigger of a job passes to it alike, by job."""
    passed: dict[str, dict[str, str]] = {}
    for stack, scope in resolve_stacks(assembly, REGION, may_guess=True):
        for _, _, properties in _resources(stack, scope, "AWS::Glue::Trigger"):
            for action in properties.get("Actions", []):
                name, arguments = action.get("JobName", ""), action.get("Arguments", {})
                common = passed.get(name, arguments)
                passed[name] = {k: v for k, v in arguments.items() if common.get(k) == v}
    return passed


def _job_state(
    name: str,
    properties: Mapping[str, Any],
    passed: Mapping[str, str],
    assets: Collection[FileAsset],
) -> JobState:
    arguments = {
        **properties.get("DefaultArguments", {}),
        **passed,
        **properties.get("NonOverridableArguments", {}),
    }
    job = JobState(
        resource="",
        bookmark=bookmark_option(arguments),
        watermark_table=arguments.get(WATERMARK_TABLE, ""),
        checkpoint=(
            arguments.get("--checkpoint", "")
            if properties["Command"].get("Name") == STREAMING
            else ""
        ),
    )
    if not (job.has_bookmark or job.watermark_table):
        return job
    text = script_of(name, properties["Command"].get("ScriptLocation", ""), assets)
    if text is None:
        return replace(job, sources=None) if job.has_bookmark else job
    state = state_of_script(text, name)
    if job.has_bookmark:
        job = replace(job, sources=tuple(_given(source, arguments) for source in state.sources))
    if job.watermark_table:
        cursors = {with_arguments(cursor, arguments) for cursor in state.cursors}
        job = replace(job, cursors=tuple(sorted(cursors)))
    return job


def script_of(name: str, location: str, assets: Collection[FileAsset]) -> str | None:
    """Return the source of a job's script; None if the script is not part of the assembly."""
    sources = [asset.source for asset in assets if location.endswith(f"/{asset.key}")]
    if not sources:
        return None
    try:
        with tokenize.open(sources[0]) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the script of job {name}, {sources[0]}: {error}; save it as UTF-8"
        ) from error


def _given(source: ScriptSource, arguments: Mapping[str, Any]) -> ScriptSource:
    return ScriptSource(
        with_arguments(source.transformation_ctx, arguments),
        with_arguments(source.kind, arguments),
        tuple(sorted(with_arguments(place, arguments) for place in source.places)),
        tuple(with_arguments(key, arguments) for key in source.keys),
    )


def _without_stages(app: Manifest, stages: Collection[str]) -> Manifest:
    names = "|".join(re.escape(stage) for stage in sorted(stages, key=len, reverse=True))
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])")

    def name(text: str) -> str:
        return pattern.sub("{stage}", text) if names else text

    def place(text: str) -> str:
        scheme, separator, rest = text.rpartition("://")
        owner, slash, path = rest.partition("/")
        return f"{scheme}{separator}{name(owner)}{slash}{path}"

    def job(state: JobState) -> JobState:
        sources = state.sources
        return replace(
            state,
            resource=name(state.resource),
            watermark_table=name(state.watermark_table),
            sources=None
            if sources is None
            else tuple(replace(s, places=tuple(map(place, s.places))) for s in sources),
        )

    def resource(stateful: StatefulResource) -> StatefulResource:
        folders = stateful.type == ICEBERG_TABLE
        keys = tuple(map(place, stateful.keys)) if folders else stateful.keys
        return replace(stateful, name=name(stateful.name), keys=keys)

    return Manifest(
        {key: job(state) for key, state in app.jobs.items()},
        {name(key): resource(found) for key, found in app.resources.items()},
    )
