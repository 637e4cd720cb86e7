"""Finds resources of a template, also overridden ones, that Glue's API would refuse."""

import json
from collections.abc import Iterable, Iterator, Mapping

from tidemark.checks.graph.model import Problem
from tidemark.checks.graph.resources import Resources
from tidemark.model.assembly.definitions import SPARK, STREAMING, WATERMARK_TABLE
from tidemark.model.assembly.glue_shapes import REQUESTS
from tidemark.model.assembly.glue_versions import UNNAMED_GLUE_VERSION
from tidemark.model.assembly.resources import DYNAMODB_TABLES, Templates
from tidemark.model.assembly.shape_limits import refused_by_glue

RULE, CONCURRENT = "refused-by-glue", "watermark-concurrent"
RESERVED, UNPROTECTED = "reserved-tag", "watermark-table-unprotected"
NO_VERSION = "glue-version-missing"
WATERMARK_KEYS = ("jobName", "runId")  # of a table of watermarks


def problems_of_resources(templates: Templates) -> Iterator[Problem]:
    """Yield what Glue would refuse, and what would break the watermarks of a job."""
    resources = Resources(templates)
    for kind in REQUESTS:
        for resource in resources.of(kind):
            for fault in refused_by_glue(kind, resource.properties):
                yield resource.problem(
                    RULE,
                    f"Glue would refuse {kind} '{resource.id_}': {fault}",
                    "change what declares it, or the override of its resource",
                )
    yield from _of_watermarks(resources)
    yield from _without_version(resources)
    yield from _reserved_tags(templates)
    yield from _unprotected_watermarks(resources)


def _reserved_tags(templates: Templates) -> Iterator[Problem]:
    """Yield the tags whose names AWS keeps for itself, which every service refuses."""
    # Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
    for stack, template in templates.items():
        for id_, resource in template.get("Resources", {}).items():
            tags = (resource.get("Properties") or {}).get("Tags") or ()
            for name in tags if isinstance(tags, Mapping) else _values(tags, "Key"):
                if isinstance(name, str) and name.lower().startswith("aws:"):
                    yield Problem(
                        RESERVED,
                        f"{stack}/{id_}",
                        f"'{id_}' has the tag {name!r}; names that start with aws: are AWS's own",
                        "rename the tag",
                    )


def _values(items: Iterable[object], key: str) -> tuple[object, ...]:
    """Return the values that items of a template, which may be intrinsics, have for a key."""
    return tuple(item.get(key) if isinstance(item, Mapping) else None for item in items)


def _unprotected_watermarks(resources: Resources) -> Iterator[Problem]:
    """Yield the tables of watermarks that are deleted with their stack."""
    for table in resources.of(*DYNAMODB_TABLES):
        properties = table.properties
        keys = _values(properties.get("KeySchema") or (), "AttributeName")
        is_kept = str(table.body.get("DeletionPolicy", "Delete")).startswith("Retain")
        if (
            keys == WATERMARK_KEYS
            and not is_kept
            and not properties.get("DeletionProtectionEnabled")
        ):
            recovers = '"PointInTimeRecoveryEnabled": true' in json.dumps(properties)
            yield table.problem(
                UNPROTECTED,
                f"the table of watermarks '{table.id_}' is deleted with its stack"
                + ("" if recovers else ", and nothing can recover it")
                + ": every job would load everything again",
                "give it RemovalPolicy.RETAIN, deletion_protection and point-in-time recovery",
                is_error=False,
            )


def _of_watermarks(resources: Resources) -> Iterator[Problem]:
    """Yield the jobs with watermarks that may run twice at once."""
    for job in resources.of("AWS::Glue::Job"):
        most = (job.properties.get("ExecutionProperty") or {}).get("MaxConcurrentRuns", 1)
        has_watermarks = WATERMARK_TABLE in (job.properties.get("DefaultArguments") or {})
        if has_watermarks and isinstance(most, int) and most > 1:
            yield job.problem(
                CONCURRENT,
                f"the job '{job.id_}' keeps watermarks and has MaxConcurrentRuns {most}; the "
                "second of two runs fails when it advances one",
                "set MaxConcurrentRuns to 1",
            )


def _without_version(resources: Resources) -> Iterator[Problem]:
    """Yield the Spark jobs that leave their version of Glue to AWS."""
    # Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateJob.html
    for job in resources.of("AWS::Glue::Job"):
        (kind,) = _values([job.properties.get("Command")], "Name")
        if kind in (SPARK, STREAMING) and job.properties.get("GlueVersion") is None:
            yield job.problem(
                NO_VERSION,
                f"the job '{job.id_}' names no GlueVersion: it runs on Spark 4 (Glue "
                f"{UNNAMED_GLUE_VERSION}) from now on",
                "name the version: GlueVersion 5.1, or 6.0 once it is compared",
                is_error=False,
            )
