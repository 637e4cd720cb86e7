"""Finds resources of a template, also overridden ones, that Glue's API would refuse."""

from collections.abc import Iterator, Mapping

from tidemark.checks.graph.model import Problem
from tidemark.model.assembly.arguments import WATERMARK_TABLE
from tidemark.model.assembly.definitions import SPARK, STREAMING
from tidemark.model.assembly.glue_limits import refused_by_glue
from tidemark.model.assembly.glue_shapes import REQUESTS
from tidemark.model.assembly.glue_versions import UNNAMED_GLUE_VERSION
from tidemark.model.assembly.resources import Templates, resources_of

RULE, CONCURRENT = "refused-by-glue", "watermark-concurrent"
NO_VERSION = "glue-version-missing"


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
