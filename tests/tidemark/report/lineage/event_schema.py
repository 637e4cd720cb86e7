"""The JSON schema of events, made from the classes of openlineage-python.

The project OpenLineage makes those classes from its JSON schemas, so this is the way back: names,
types and what is required. Nothing beside what a class has is allowed. What a class does not keep
is the format of a text: it is here by the name of the field, as the schemas have it.
"""

from __future__ import annotations

import json
import types
import typing
from enum import Enum
from pathlib import Path
from typing import Any

import attr
from jsonschema import Draft202012Validator
from openlineage.client.event_v2 import RunEvent
from openlineage.client.facet_v2 import (
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    nominal_time_run,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
    source_code_location_job,
    symlinks_dataset,
    tags_run,
)

from tidemark.report.lineage import events

FACETS = {  # keys of facets, as the specification has them
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "nominalTime": nominal_time_run.NominalTimeRunFacet,
    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "parent": parent_run.ParentRunFacet,
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
    "schema": schema_dataset.SchemaDatasetFacet,
    "sourceCodeLocation": source_code_location_job.SourceCodeLocationJobFacet,
    "symlinks": symlinks_dataset.SymlinksDatasetFacet,
    "tags": tags_run.TagsRunFacet,  # of the client itself
}
URI = r"^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+$"
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"
UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
PATTERNS = {
    **dict.fromkeys(("producer", "schemaURL", "_producer", "_schemaURL", "url"), URI),
    **dict.fromkeys(("eventTime", "nominalStartTime", "nominalEndTime"), TIME),
    "runId": UUID,
}
OF_PARENT = ("Job", "Run", "RootJob", "RootRun")
TYPES = {str: "string", int: "integer", bool: "boolean", float: "number"}


def event_schema(custom: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a run event whose custom facets have these schemas, by key."""
    return _schema_of(RunEvent, custom)


def _schema_of(kind: Any, custom: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (inner,) = [one for one in arguments if one is not type(None)]
        return _schema_of(inner, custom)
    if origin is list:
        return {"type": "array", "items": _schema_of(arguments[0], custom)}
    if origin is dict:
        keys = {key: _schema_of(facet, custom) for key, facet in FACETS.items()}
        is_of_facets = attr.has(arguments[1])
        properties = {**keys, **custom} if is_of_facets else {}
        return {"type": "object", "properties": properties, "additionalProperties": False}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    return _of_class(kind, custom) if attr.has(kind) else {"type": TYPES[kind]}


def _of_field(name: str, kind: Any, custom: dict[str, Any]) -> dict[str, Any]:
    pattern = {"pattern": PATTERNS[name]} if name in PATTERNS else {}
    return {**_schema_of(kind, custom), **pattern}


def _of_class(kind: type, custom: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in attr.fields(kind)}
    is_of_parent = "parent" in kind.__module__ and kind.__name__ in OF_PARENT
    is_deep = is_of_parent or kind is schema_dataset.SchemaDatasetFacetFields
    names = [name for name in fields if not (is_deep and name in ("facets", "fields"))]  # a circle
    always = {"producer", "schemaURL", "_producer", "_schemaURL"}
    return {
        "type": "object",
        "properties": {name: _of_field(name, hints[name], custom) for name in names},
        "required": [n for n in names if n in always or fields[n].default is attr.NOTHING],
        "additionalProperties": is_deep,
    }


OWN_SCHEMA = json.loads(
    Path(events.__file__).with_name("BookmarkRangeRunFacet.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(event_schema({"tidemark_bookmarkRange": OWN_SCHEMA}))
