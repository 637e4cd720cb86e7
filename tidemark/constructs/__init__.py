"""The constructs of pipelines, importable from here by name.

`Pipeline.add_job` declares a Glue job with its trigger, role, logs and alarms. Constructs take
typed arguments, refuse those of another name or type, and never read context or environment. The
template they synthesize is the only definition of a pipeline.

Nothing is imported before its first use: importing the CDK starts Node, which `tidemark.app` may
have to choose first.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # "as" hands a name on
    from tidemark.constructs.catalog.data_quality import DataQualityRuleset as DataQualityRuleset
    from tidemark.constructs.catalog.iceberg_table import IcebergTable as IcebergTable
    from tidemark.constructs.catalog.optimizers import Compaction as Compaction
    from tidemark.constructs.catalog.optimizers import OrphanFileDeletion as OrphanFileDeletion
    from tidemark.constructs.catalog.optimizers import SnapshotRetention as SnapshotRetention
    from tidemark.constructs.catalog.projection import DateProjection as DateProjection
    from tidemark.constructs.catalog.projection import DateUnit as DateUnit
    from tidemark.constructs.catalog.projection import EnumProjection as EnumProjection
    from tidemark.constructs.catalog.projection import InjectedProjection as InjectedProjection
    from tidemark.constructs.catalog.projection import IntegerProjection as IntegerProjection
    from tidemark.constructs.catalog.projection import Projection as Projection
    from tidemark.constructs.catalog.schema_policy import SchemaPolicy as SchemaPolicy
    from tidemark.constructs.catalog.table import Column as Column
    from tidemark.constructs.catalog.table import Table as Table
    from tidemark.constructs.catalog.table_format import TableFormat as TableFormat
    from tidemark.constructs.catalog.table_use import TableUse as TableUse
    from tidemark.constructs.crawlers.crawler import Crawler as Crawler
    from tidemark.constructs.crawlers.options import CrawlerOptions as CrawlerOptions
    from tidemark.constructs.crawlers.options import MissingData as MissingData
    from tidemark.constructs.crawlers.options import Recrawl as Recrawl
    from tidemark.constructs.crawlers.options import SchemaUpdate as SchemaUpdate
    from tidemark.constructs.crawlers.other_targets import CrawledDynamoDB as CrawledDynamoDB
    from tidemark.constructs.crawlers.other_targets import CrawledOpenTables as CrawledOpenTables
    from tidemark.constructs.crawlers.other_targets import OpenFormat as OpenFormat
    from tidemark.constructs.crawlers.targets import CrawledData as CrawledData
    from tidemark.constructs.crawlers.targets import CrawledDatabase as CrawledDatabase
    from tidemark.constructs.crawlers.targets import CrawledTable as CrawledTable
    from tidemark.constructs.dataset import Dataset as Dataset
    from tidemark.constructs.jobs.action_options import ActionOptions as ActionOptions
    from tidemark.constructs.jobs.conditions import Condition as Condition
    from tidemark.constructs.jobs.conditions import CrawlState as CrawlState
    from tidemark.constructs.jobs.conditions import JobState as JobState
    from tidemark.constructs.jobs.glue_arguments import GlueArguments as GlueArguments
    from tidemark.constructs.jobs.glue_job import GlueJob as GlueJob
    from tidemark.constructs.jobs.incremental_job import IncrementalJob as IncrementalJob
    from tidemark.constructs.jobs.job_options import JobOptions as JobOptions
    from tidemark.constructs.jobs.job_props import Argument as Argument
    from tidemark.constructs.jobs.job_props import BookmarkOption as BookmarkOption
    from tidemark.constructs.jobs.job_props import RunProperties as RunProperties
    from tidemark.constructs.jobs.shell_job import ShellJob as ShellJob
    from tidemark.constructs.jobs.stream_sources import KinesisStream as KinesisStream
    from tidemark.constructs.jobs.stream_sources import MskTopics as MskTopics
    from tidemark.constructs.jobs.streaming_job import StreamingJob as StreamingJob
    from tidemark.constructs.lake import ExistingBuckets as ExistingBuckets
    from tidemark.constructs.lake import Lake as Lake
    from tidemark.constructs.lake_bucket import LakeBucket as LakeBucket
    from tidemark.constructs.monitoring.alerting import Alerting as Alerting
    from tidemark.constructs.monitoring.alerting import Email as Email
    from tidemark.constructs.monitoring.alerting import Https as Https
    from tidemark.constructs.monitoring.alerting import SqsQueue as SqsQueue
    from tidemark.constructs.monitoring.slack import SlackChannel as SlackChannel
    from tidemark.constructs.pipeline.pipeline import Pipeline as Pipeline
    from tidemark.constructs.pipeline.pipeline_set import PipelineSet as PipelineSet
    from tidemark.constructs.predicates import Predicate as Predicate
    from tidemark.constructs.predicates import all_of as all_of
    from tidemark.constructs.predicates import any_of as any_of
    from tidemark.constructs.security.security import ExistingSecurity as ExistingSecurity
    from tidemark.constructs.security.security import LogGroups as LogGroups
    from tidemark.constructs.security.security import StageKey as StageKey
    from tidemark.constructs.starts.events import OnEvent as OnEvent
    from tidemark.constructs.starts.events import OnObjects as OnObjects
    from tidemark.constructs.starts.state_machine import ByStateMachine as ByStateMachine
    from tidemark.constructs.watermark_table import WatermarkTable as WatermarkTable
    from tidemark.model.assembly.glue_versions import GlueVersion as GlueVersion
    from tidemark.model.plain_secrets import NotSecret as NotSecret
    from tidemark.model.schedules.schedules import Schedule as Schedule
    from tidemark.model.stage.config import StageConfig as StageConfig
    from tidemark.model.stage.runtime import JobRuntime as JobRuntime
    from tidemark.model.stage.runtime import ShellCapacity as ShellCapacity
    from tidemark.model.stage.runtime import ShellRuntime as ShellRuntime
    from tidemark.model.stage.runtime import StreamingRuntime as StreamingRuntime

# The imports above are read, so that each name stands once.
_MODULES = {
    alias.name: str(node.module)
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tidemark.")
    for alias in node.names
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
