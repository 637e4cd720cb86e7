"""Makes an OpenLineage event from the known facts of a job run.

Source: https://openlineage.io/docs/spec/object-model and the classes of openlineage-python, which
are made from its JSON schemas.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any
from urllib.parse import quote

import attr
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    RunFacet,
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
)

from tidemark.model.checkpoints.checkpoint import DatasetRead, DatasetWritten
from tidemark.model.checkpoints.merging import merged_reads
from tidemark.model.checkpoints.schemas import READ, WRITTEN, Role, Schema
from tidemark.operate.run_facts import RunFacts
from tidemark.report.lineage.openlineage_names import (
    catalog_name,
    catalog_namespace,
    dataset_name,
    run_uuid,
)

NAMESPACE_VARIABLE = "OPENLINEAGE_NAMESPACE"  # of jobs, as other integrations have it
BOOKMARK_RANGE = "tidemark_bookmarkRange"
BOOKMARK_RANGE_SCHEMA = (
    "urn:tidemark:openlineage:1-0-0:BookmarkRangeRunFacet.json#/$defs/BookmarkRangeRunFacet"
)
TYPES = {"RUNNING": RunState.START, "SUCCEEDED": RunState.COMPLETE, "STOPPED": RunState.ABORT}
DISTRIBUTION = "tidemark-glue"


@attr.define
class BookmarkRangeRunFacet(RunFacet):
    """Between which positions a run has read: `BookmarkRangeRunFacet.json` describes it."""

    bookmark: dict[str, Any] | None = attr.field(default=None)
    sources: list[dict[str, Any]] = attr.field(factory=list)
    watermarks: list[dict[str, Any]] = attr.field(factory=list)

    @staticmethod
    def _get_schema() -> str:
        return BOOKMARK_RANGE_SCHEMA


def own_version() -> str:
    """Return the version of Tidemark, ``unknown`` if it is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


def event_of(facts: RunFacts) -> RunEvent:
    """Return the event of a run's current state: START while it runs, else its end.

    SUCCEEDED is COMPLETE, STOPPED is ABORT, every other final state is FAIL.
    """
    producer = f"urn:{DISTRIBUTION}:{own_version()}"
    at_ms = facts.started_at_ms if facts.ended_at_ms is None else facts.ended_at_ms
    event = RunEvent(
        eventType=TYPES.get(facts.state, RunState.FAIL),
        eventTime=_time(at_ms),
        run=Run(run_uuid(facts.run_id), _run_facets(facts)),
        job=Job(_job_namespace(facts), facts.job_name, _job_facets(facts)),
        inputs=[_input(facts, read) for read in merged_reads(facts.read, attrgetter("dataset"))],
        outputs=[_output(facts, written) for written in facts.written],
        producer=producer,
    )
    facets: list[Any] = [*(event.run.facets or {}).values(), *(event.job.facets or {}).values()]
    for read in event.inputs or ():
        facets += [*(read.facets or {}).values(), *(read.inputFacets or {}).values()]
    for written in event.outputs or ():
        facets += [*(written.facets or {}).values(), *(written.outputFacets or {}).values()]
    for facet in facets:
        facet._producer = producer
    return event


def _time(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _job_namespace(facts: RunFacts) -> str:
    return os.environ.get(NAMESPACE_VARIABLE) or catalog_namespace(facts.region, facts.account)


def _run_facets(facts: RunFacts) -> dict[str, RunFacet]:
    nominal_ms = facts.nominal_start_ms
    engine, engine_version = "Python", platform.python_version()
    if facts.is_spark:
        engine, engine_version = "Spark", _version_of("pyspark")
    facets: dict[str, RunFacet] = {
        "nominalTime": nominal_time_run.NominalTimeRunFacet(
            _time(facts.started_at_ms if nominal_ms is None else nominal_ms)
        ),
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            name=engine, version=engine_version, openlineageAdapterVersion=own_version()
        ),
    }
    parents = list(facts.executions)
    if facts.workflow_run_id is not None and facts.workflow_name is not None:
        parents.insert(0, (facts.workflow_name, facts.workflow_run_id))
    if parents:
        namespace, (job, run_id), (root, root_id) = _job_namespace(facts), parents[0], parents[-1]
        facets["parent"] = parent_run.ParentRunFacet(
            run=parent_run.Run(run_uuid(run_id)),
            job=parent_run.Job(namespace, job),
            root=parent_run.Root(
                parent_run.RootRun(run_uuid(root_id)), parent_run.RootJob(namespace, root)
            ),
        )
    if facts.error_message:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            facts.error_message, "PYTHON"
        )
    if facts.ended_at_ms is not None:
        facets[BOOKMARK_RANGE] = _bookmark_range(facts)
    return facets


def _bookmark_range(facts: RunFacts) -> BookmarkRangeRunFacet:
    return BookmarkRangeRunFacet(
        bookmark=asdict(facts.bookmark) if facts.bookmark else None,
        sources=[
            {
                **dataset_name(read.dataset, facts.region)._asdict(),
                "source": read.source,
                "before": _plain(read.before),
                "after": _plain(read.after),
            }
            for read in facts.read
        ],
        watermarks=[
            {
                "table": moved.table,
                "source": moved.source,
                "before": _plain(moved.before),
                "after": dict(moved.after),
            }
            for moved in facts.watermarks
        ],
    )


def _plain(values: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if values is None else dict(values)


def _job_facets(facts: RunFacts) -> dict[str, JobFacet]:
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet("BATCH", "AWS_GLUE", "JOB")
    }
    if facts.script:
        facets["sourceCodeLocation"] = source_code_location_job.SourceCodeLocationJobFacet(
            type=facts.script.partition(":")[0],
            url=quote(facts.script, safe=":/"),
            version=facts.code.get("script"),
        )
    return facets


def _input(facts: RunFacts, read: DatasetRead) -> InputDataset:
    statistics = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
        rowCount=read.rows, size=read.bytes, fileCount=read.files
    )
    is_known = facts.ended_at_ms is not None
    return InputDataset(
        *dataset_name(read.dataset, facts.region),
        facets=_facets(facts, READ, read.table, {read.dataset, read.source}),
        inputFacets={"inputStatistics": statistics} if is_known else {},
    )


def _output(facts: RunFacts, written: DatasetWritten) -> OutputDataset:
    statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
        rowCount=written.rows, fileCount=written.files
    )
    is_known = facts.ended_at_ms is not None
    return OutputDataset(
        *dataset_name(written.dataset, facts.region),
        facets=_facets(facts, WRITTEN, written.table, {written.dataset}),
        outputFacets={"outputStatistics": statistics} if is_known else {},
    )


def _facets(facts: RunFacts, role: Role, table: str, names: set[str]) -> dict[str, DatasetFacet]:
    """Return the table of a dataset, and its columns as the run has seen them, by its names."""
    facets: dict[str, DatasetFacet] = {}
    if table:
        identifier = symlinks_dataset.Identifier(
            *catalog_name(table, facts.region, facts.account), type="TABLE"
        )
        facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet([identifier])
        names = names | {f"table:{table}"}
    for schema in facts.schemas:
        if schema.role == role and schema.key[1] in names:
            facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=_fields(schema))
    return facets


def _fields(schema: Schema) -> list[schema_dataset.SchemaDatasetFacetFields]:
    """Return the columns, with the fields inside a column in it."""
    top = schema_dataset.SchemaDatasetFacetFields("", fields=[])
    around = [("", top)]
    for column in schema.columns:
        while not column.path.startswith(around[-1][0]):
            around.pop()
        prefix, parent = around[-1]
        name = column.path.removeprefix(prefix)
        field = schema_dataset.SchemaDatasetFacetFields(name, column.type, fields=[])
        parent.fields = [*(parent.fields or ()), field]
        around.append((f"{column.path}.", field))
    return top.fields or []


def _version_of(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
