"""The constructs of pipelines, importable from here by name.

`Pipeline.add_job` declares a Glue job with its trigger, role, logs and alarms. Constructs take
typed arguments, refuse those of another name or type, and never read context or environment. The
template they synthesize is the only definition of a pipeline.

Nothing is imported before its first use: importing the CDK starts Node, which `tidemark.app` may
have to choose first.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.constructs.catalog.data_quality import DataQualityRuleset
    from tidemark.constructs.catalog.iceberg_table import IcebergTable
    from tidemark.constructs.catalog.optimizers import (
        Compaction,
        OrphanFileDeletion,
        SnapshotRetention,
    )
    from tidemark.constructs.catalog.projection import (
        DateProjection,
        DateUnit,
        EnumProjection,
        InjectedProjection,
        IntegerProjection,
        Projection,
    )
    from tidemark.constructs.catalog.table import Column, Table
    from tidemark.constructs.catalog.table_format import TableFormat
    from tidemark.constructs.catalog.table_use import TableUse
    from tidemark.constructs.crawlers.crawler import Crawler
    from tidemark.constructs.crawlers.options import (
        CrawlerOptions,
        MissingData,
        Recrawl,
        SchemaUpdate,
    )
    from tidemark.constructs.crawlers.other_targets import (
        CrawledDynamoDB,
        CrawledOpenTables,
        OpenFormat,
    )
    from tidemark.constructs.crawlers.targets import CrawledData, CrawledDatabase, CrawledTable
    from tidemark.constructs.dataset import Dataset
    from tidemark.constructs.jobs.action_options import ActionOptions
    from tidemark.constructs.jobs.conditions import Condition, CrawlState, JobState
    from tidemark.constructs.jobs.glue_arguments import GlueArguments
    from tidemark.constructs.jobs.glue_job import GlueJob
    from tidemark.constructs.jobs.incremental_job import IncrementalJob
    from tidemark.constructs.jobs.job_options import JobOptions
    from tidemark.constructs.jobs.job_props import Argument, BookmarkOption, RunProperties
    from tidemark.constructs.jobs.shell_job import ShellJob
    from tidemark.constructs.jobs.stream_sources import KinesisStream, MskTopics
    from tidemark.constructs.jobs.streaming_job import StreamingJob
    from tidemark.constructs.lake import ExistingBuckets, Lake
    from tidemark.constructs.lake_bucket import LakeBucket
    from tidemark.constructs.monitoring.alerting import Alerting, Email, Https, SqsQueue
    from tidemark.constructs.monitoring.slack import SlackChannel
    from tidemark.constructs.pipeline.pipeline import Pipeline
    from tidemark.constructs.pipeline.pipeline_set import PipelineSet
    from tidemark.constructs.predicates import Predicate, all_of, any_of
    from tidemark.constructs.security.security import ExistingSecurity, LogGroups, StageKey
    from tidemark.constructs.starts.events import OnEvent, OnObjects
    from tidemark.constructs.watermark_table import WatermarkTable
    from tidemark.model.assembly.glue_versions import GlueVersion
    from tidemark.model.plain_secrets import NotSecret
    from tidemark.model.schedules.schedules import Schedule
    from tidemark.model.stage.config import StageConfig
    from tidemark.model.stage.runtime import JobRuntime
    from tidemark.model.stage.shell_runtime import ShellCapacity, ShellRuntime
    from tidemark.model.stage.streaming_runtime import StreamingRuntime

_HERE = "tidemark.constructs"
_MODULES = {
    "ActionOptions": f"{_HERE}.jobs.action_options",
    "Alerting": f"{_HERE}.monitoring.alerting",
    "Argument": f"{_HERE}.jobs.job_props",
    "BookmarkOption": f"{_HERE}.jobs.job_props",
    "Column": f"{_HERE}.catalog.table",
    "Compaction": f"{_HERE}.catalog.optimizers",
    "Condition": f"{_HERE}.jobs.conditions",
    "CrawlState": f"{_HERE}.jobs.conditions",
    "CrawledData": f"{_HERE}.crawlers.targets",
    "CrawledDatabase": f"{_HERE}.crawlers.targets",
    "CrawledDynamoDB": f"{_HERE}.crawlers.other_targets",
    "CrawledOpenTables": f"{_HERE}.crawlers.other_targets",
    "CrawledTable": f"{_HERE}.crawlers.targets",
    "Crawler": f"{_HERE}.crawlers.crawler",
    "CrawlerOptions": f"{_HERE}.crawlers.options",
    "DataQualityRuleset": f"{_HERE}.catalog.data_quality",
    "Dataset": f"{_HERE}.dataset",
    "DateProjection": f"{_HERE}.catalog.projection",
    "DateUnit": f"{_HERE}.catalog.projection",
    "Email": f"{_HERE}.monitoring.alerting",
    "EnumProjection": f"{_HERE}.catalog.projection",
    "ExistingBuckets": f"{_HERE}.lake",
    "ExistingSecurity": f"{_HERE}.security.security",
    "GlueArguments": f"{_HERE}.jobs.glue_arguments",
    "GlueJob": f"{_HERE}.jobs.glue_job",
    "Https": f"{_HERE}.monitoring.alerting",
    "GlueVersion": "tidemark.model.assembly.glue_versions",
    "IcebergTable": f"{_HERE}.catalog.iceberg_table",
    "IncrementalJob": f"{_HERE}.jobs.incremental_job",
    "InjectedProjection": f"{_HERE}.catalog.projection",
    "IntegerProjection": f"{_HERE}.catalog.projection",
    "JobOptions": f"{_HERE}.jobs.job_options",
    "JobRuntime": "tidemark.model.stage.runtime",
    "JobState": f"{_HERE}.jobs.conditions",
    "KinesisStream": f"{_HERE}.jobs.stream_sources",
    "Lake": f"{_HERE}.lake",
    "LakeBucket": f"{_HERE}.lake_bucket",
    "LogGroups": f"{_HERE}.security.security",
    "MissingData": f"{_HERE}.crawlers.options",
    "MskTopics": f"{_HERE}.jobs.stream_sources",
    "NotSecret": "tidemark.model.plain_secrets",
    "OnEvent": f"{_HERE}.starts.events",
    "OnObjects": f"{_HERE}.starts.events",
    "OpenFormat": f"{_HERE}.crawlers.other_targets",
    "OrphanFileDeletion": f"{_HERE}.catalog.optimizers",
    "Pipeline": f"{_HERE}.pipeline.pipeline",
    "PipelineSet": f"{_HERE}.pipeline.pipeline_set",
    "Predicate": f"{_HERE}.predicates",
    "Projection": f"{_HERE}.catalog.projection",
    "Recrawl": f"{_HERE}.crawlers.options",
    "RunProperties": f"{_HERE}.jobs.job_props",
    "Schedule": "tidemark.model.schedules.schedules",
    "SchemaUpdate": f"{_HERE}.crawlers.options",
    "ShellCapacity": "tidemark.model.stage.shell_runtime",
    "ShellJob": f"{_HERE}.jobs.shell_job",
    "ShellRuntime": "tidemark.model.stage.shell_runtime",
    "SlackChannel": f"{_HERE}.monitoring.slack",
    "SnapshotRetention": f"{_HERE}.catalog.optimizers",
    "SqsQueue": f"{_HERE}.monitoring.alerting",
    "StageConfig": "tidemark.model.stage.config",
    "StageKey": f"{_HERE}.security.security",
    "StreamingJob": f"{_HERE}.jobs.streaming_job",
    "StreamingRuntime": "tidemark.model.stage.streaming_runtime",
    "Table": f"{_HERE}.catalog.table",
    "TableFormat": f"{_HERE}.catalog.table_format",
    "TableUse": f"{_HERE}.catalog.table_use",
    "WatermarkTable": f"{_HERE}.watermark_table",
    "all_of": f"{_HERE}.predicates",
    "any_of": f"{_HERE}.predicates",
}

__all__ = [
    "ActionOptions",
    "Alerting",
    "Argument",
    "BookmarkOption",
    "Column",
    "Compaction",
    "Condition",
    "CrawlState",
    "CrawledData",
    "CrawledDatabase",
    "CrawledDynamoDB",
    "CrawledOpenTables",
    "CrawledTable",
    "Crawler",
    "CrawlerOptions",
    "DataQualityRuleset",
    "Dataset",
    "DateProjection",
    "DateUnit",
    "Email",
    "EnumProjection",
    "ExistingBuckets",
    "ExistingSecurity",
    "GlueArguments",
    "GlueJob",
    "GlueVersion",
    "Https",
    "IcebergTable",
    "IncrementalJob",
    "InjectedProjection",
    "IntegerProjection",
    "JobOptions",
    "JobRuntime",
    "JobState",
    "KinesisStream",
    "Lake",
    "LakeBucket",
    "LogGroups",
    "MissingData",
    "MskTopics",
    "NotSecret",
    "OnEvent",
    "OnObjects",
    "OpenFormat",
    "OrphanFileDeletion",
    "Pipeline",
    "PipelineSet",
    "Predicate",
    "Projection",
    "Recrawl",
    "RunProperties",
    "Schedule",
    "SchemaUpdate",
    "ShellCapacity",
    "ShellJob",
    "ShellRuntime",
    "SlackChannel",
    "SnapshotRetention",
    "SqsQueue",
    "StageConfig",
    "StageKey",
    "StreamingJob",
    "StreamingRuntime",
    "Table",
    "TableFormat",
    "TableUse",
    "WatermarkTable",
    "all_of",
    "any_of",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    checked = import_module(f"{_HERE}.checked").checked_class
    return checked(getattr(import_module(_MODULES[name]), name))


def __dir__() -> list[str]:
    return __all__
