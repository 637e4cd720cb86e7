"""Finds resources of a template, also overridden ones, that Glue's API would refuse."""

from collections.abc import Iterator

from tidemark.checks.graph.model import Problem
from tidemark.model.assembly.arguments import WATERMARK_TABLE
from tidemark.model.assembly.glue_limits import refused_by_glue
from tidemark.model.assembly.glue_shapes import REQUESTS
from tidemark.model.assembly.resources import Templates, resources_of

RULE, CONCURRENT = "refused-by-glue", "watermark-concurrent"


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
