"""Finds resources of a template, also overridden ones, that Glue's API would refuse."""

import json
from collections.abc import Iterator, Mapping

from tidemark.checks.graph.model import Problem
from tidemark.model.assembly.definitions import SPARK, STREAMING, WATERMARK_TABLE
from tidemark.model.assembly.glue_shapes import REQUESTS
from tidemark.model.assembly.glue_versions import UNNAMED_GLUE_VERSION
from tidemark.model.assembly.resources import DYNAMODB_TABLES, Templates, resources_of
from tidemark.model.assembly.shape_limits import refused_by_glue

RULE, CONCURRENT = "refused-by-glue", "watermark-concurrent"
RESERVED, UNPROTECTED = "reserved-tag", "watermark-table-unprotected"
NO_VERSION = "glue-version-missing"
WATERMARK_KEYS = ("jobName", "runId")  # of a table of watermarks


def problems_of_resources(templates: Templates) -> Iterator[Problem]:
    """Yield what Glue would refuse, and what would break the watermarks of a job."""
    for kind in REQUESTS:
        for stack, id_, resource in resources_of(templates, kind):
            for fault in refused_by_glue(kind, resource.get("Properties", {})):
                yield Problem(
                    RULE,
                    f"{stack}/{id_}",
                    f"Glue would refuse {kind} '{id_}': {fault}",
                    "change what declares it, or the override of its resource",
                )
    yield from _of_watermarks(templates)
    yield from _without_version(templates)
    yield from _reserved_tags(templates)
    yield from _unprotected_watermarks(templates)


def _reserved_tags(templates: Templates) -> Iterator[Problem]:
    """Yield the tags whose names AWS keeps for itself, which every service refuses."""
    # Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
    for stack, template in templates.items():
        for id_, resource in template.get("Resources", {}).items():
            tags = (resource.get("Properties") or {}).get("Tags") or ()
            names = tags if isinstance(tags, Mapping) else (_name(tag) for tag in tags)
            for name in names:
                if isinstance(name, str) and name.lower().startswith("aws:"):
                    yield Problem(
                        RESERVED,
                        f"{stack}/{id_}",
                        f"'{id_}' has the tag {name!r}; names that start with aws: are AWS's own",
                        "rename the tag",
                    )


def _name(tag: object) -> object:
    return tag.get("Key") if isinstance(tag, Mapping) else None


def _unprotected_watermarks(templates: Templates) -> Iterator[Problem]:
    """Yield the tables of watermarks that are deleted with their stack."""
    for kind in DYNAMODB_TABLES:
        for stack, id_, resource in resources_of(templates, kind):
            properties = resource.get("Properties", {})
            keys = properties.get("KeySchema") or ()
            is_of_watermarks = tuple(map(_attribute, keys)) == WATERMARK_KEYS
            is_kept = str(resource.get("DeletionPolicy", "Delete")).startswith("Retain")
            if is_of_watermarks and not is_kept and not properties.get("DeletionProtectionEnabled"):
                recovers = '"PointInTimeRecoveryEnabled": true' in json.dumps(properties)
                yield Problem(
                    UNPROTECTED,
                    f"{stack}/{id_}",
                    f"the table of watermarks '{id_}' is deleted with its stack"
                    + ("" if recovers else ", and nothing can recover it")
                    + ": every job would load everything again",
                    "give it RemovalPolicy.RETAIN, deletion_protection and point-in-time recovery",
                    is_error=False,
                )


def _attribute(key: object) -> object:
    return key.get("AttributeName") if isinstance(key, Mapping) else None


def _of_watermarks(templates: Templates) -> Iterator[Problem]:
    """Yield the jobs with watermarks that may run twice at once."""
    for stack, id_, resource in resources_of(templates, "AWS::Glue::Job"):
        properties = resource.get("Properties", {})
        most = (properties.get("ExecutionProperty") or {}).get("MaxConcurrentRuns", 1)
        has_watermarks = WATERMARK_TABLE in (properties.get("DefaultArguments") or {})
        if has_watermarks and isinstance(most, int) and most > 1:
            yield Problem(
                CONCURRENT,
                f"{stack}/{id_}",
                f"the job '{id_}' keeps watermarks and has MaxConcurrentRuns {most}; the second of "
                "two runs fails when it advances one",
                "set MaxConcurrentRuns to 1",
            )


def _without_version(templates: Templates) -> Iterator[Problem]:
    """Yield the Spark jobs that leave their version of Glue to AWS."""
    # Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateJob.html
    for stack, id_, resource in resources_of(templates, "AWS::Glue::Job"):
        properties = resource.get("Properties", {})
        command = properties.get("Command")
        kind = command.get("Name") if isinstance(command, Mapping) else None
        if kind in (SPARK, STREAMING) and properties.get("GlueVersion") is None:
            yield Problem(
                NO_VERSION,
                f"{stack}/{id_}",
                f"the job '{id_}' names no GlueVersion: it runs on Spark 4 (Glue "
                f"{UNNAMED_GLUE_VERSION}) from now on",
                "name the version: GlueVersion 5.1, or 6.0 once it is compared",
                is_error=False,
            )
