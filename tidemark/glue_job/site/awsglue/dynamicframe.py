"""DynamicFrame, collections of them, and the reader and writer objects of GlueContext.

Differs from AWS: see `tidemark.glue_job.frames` for the representation of frames.
"""

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from awsglue.gluetypes import DataType, DynamicRecord, StructType, _deserialize_json_value
from tidemark.errors import UsageError
from tidemark.glue_job.frames import fields, functions, joins, nested, resolve, show_schema
from tidemark.glue_job.frames.choices import unmarked
from tidemark.glue_job.frames.csv_text import write_sample
from tidemark.glue_job.frames.errors import Failed, count_errors, errors_frame
from tidemark.glue_job.frames.function_results import FunctionResults
from tidemark.glue_job.frames.mapping import apply_mapping, full_mappings, with_schema
from tidemark.glue_job.frames.plan import Plan, StepLimits, check_frame
from tidemark.glue_job.frames.record_schemas import fields_left_out, null_fields
from tidemark.glue_job.frames.relationalize import relationalize
from tidemark.glue_job.frames.schemas import glue_schema
from tidemark.glue_job.frames.unbox import unbox
from tidemark.glue_job.readers.files.choice_examples import note_choices
from tidemark.glue_job.readers.request import catalog_request, options_request
from tidemark.glue_job.readers.tables.catalog import types_of_table
from tidemark.glue_job.refusals import NotYetMember
from tidemark.glue_job.signatures import takes_arguments_of
from tidemark.glue_job.writers.sinks import catalog_sink, options_sink

if TYPE_CHECKING:
    from awsglue.context import GlueContext

# Names of Python 2 that AWS's library keeps for scripts.
long, basestring, unicode, imap, ifilter = int, str, str, map, filter
Of = Callable[[DataFrame], DataFrame]


class ResolveOption:
    """How `DynamicFrame.toDF` resolves a choice."""

    def __init__(self, path: str, action: str, target: Any = None) -> None:
        """Keep the action.

        Args:
            path: path of the choice.
            action: Project or KeepAsStruct, in any case.
            target: a type of ``awsglue.gluetypes``, for Project.
        """
        self.path, self.action, self.target = path, action, target


class DynamicFrame:
    """Rows of a source or of a Spark DataFrame, with the name of the step that made them."""

    _jdf = NotYetMember()

    def __init__(self, jdf: DataFrame | Plan, glue_ctx: "GlueContext", name: str = "") -> None:
        """Keep a frame.

        Args:
            jdf: its rows, a DataFrame; a JVM object on AWS.
            glue_ctx: the context.
            name: its name.
        """
        self._plan = jdf if isinstance(jdf, Plan) else Plan.of(jdf)
        self.glue_ctx = glue_ctx
        self.name = name

    @property
    def _frame(self) -> DataFrame:
        """The rows, with marked choices."""
        return self._plan.frame

    def _next(self, limits: StepLimits, of: Of, own: tuple[Failed, ...] = ()) -> "DynamicFrame":
        plan = self._plan
        frame = of(plan.frame)
        return DynamicFrame(plan.then(lambda: frame, limits, own=own), self.glue_ctx, self.name)

    @classmethod
    def fromDF(
        cls, dataframe: DataFrame, glue_ctx: "GlueContext", name: str = ""
    ) -> "DynamicFrame":
        """Return a DynamicFrame over the rows of a Spark DataFrame.

        Raises:
            AttributeError: it is None, as on AWS.
        """
        if not isinstance(dataframe, DataFrame):
            raise AttributeError(
                f"fromDF needs a Spark DataFrame, and got {type(dataframe).__name__}"
            )
        return cls(dataframe, glue_ctx, name)

    def write(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] | None = None,
        format: str | None = None,
        format_options: Mapping[str, Any] | None = None,
        accumulator_size: int = 0,
    ) -> "DynamicFrame":
        """Append this frame to a target and return it; see `GlueContext.getSink`."""
        self.glue_ctx.write_dynamic_frame_from_options(
            self, connection_type, connection_options, format, format_options
        )
        return self

    def toDF(self, options: Sequence[ResolveOption] | None = None) -> DataFrame:
        """Return the rows as a Spark DataFrame; a choice is a struct of its types.

        Args:
            options: how to resolve choices.

        Raises:
            ArgumentError: the action or the target of an option is wrong; also a ValueError.
            UsageError: an option has no target, or the field has no values of that type.
        """
        frame = resolve.resolve_options(self._frame, options or (), DataType)
        note_choices(frame)
        return unmarked(frame)

    def with_frame_schema(self, schema: StructType) -> "DynamicFrame":
        """Return the rows with a known schema: fields in its order, with its types.

        Raises:
            UsageError: a field cannot be converted to its type.
        """
        document = schema.jsonValue()
        return self._next(StepLimits(), lambda frame: with_schema(frame, document))

    def schema(self) -> DataType:
        """Return the schema, in Glue's types."""
        return _deserialize_json_value(glue_schema(self._plan.schema))

    def printSchema(self) -> None:
        """Print the schema as a tree."""
        print(show_schema.tree(self._plan.schema))  # noqa: T201 (what the method is for)

    def show(self, num_rows: int = 20) -> None:
        """Print the first records, each as a line of JSON."""
        for record in show_schema.first_records(self._frame, num_rows):
            print(record)  # noqa: T201 (what the method is for)

    def count(self) -> int:
        """Return the number of rows."""
        return self._frame.count()

    def getNumPartitions(self) -> int:
        """Return the number of Spark partitions."""
        return self._frame.rdd.getNumPartitions()

    def repartition(
        self,
        num_partitions: int,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the same rows in ``num_partitions`` Spark partitions."""
        limits = StepLimits("repartition", info, stageThreshold, totalThreshold)
        return self._next(limits, lambda frame: frame.repartition(num_partitions))

    def coalesce(
        self,
        num_partitions: int,
        shuffle: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the same rows in at most ``num_partitions`` partitions; with shuffle, exactly."""
        limits = StepLimits("coalesce", info, stageThreshold, totalThreshold)
        if shuffle:
            return self._next(limits, lambda frame: frame.repartition(num_partitions))
        return self._next(limits, lambda frame: frame.coalesce(num_partitions))

    def filter(
        self,
        f: Callable[[DynamicRecord], Any],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the rows for which a function is true; see `frames.functions.filtered`.

        Raises:
            ErrorThresholdError: it failed for too many rows.
        """
        limits = StepLimits("filter", info, stageThreshold, totalThreshold)
        kept, failed = functions.filtered(self._frame, f, DynamicRecord, self._plan.absence)
        made = self._next(limits, lambda _: kept, (Failed(failed, "filter", info),))
        return DynamicFrame(made._plan.of_some_records(), self.glue_ctx, self.name)

    def map(
        self,
        f: Callable[[DynamicRecord], Any],
        preservesPartitioning: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the results of a function for each record; where it fails, an error record.

        Raises:
            ErrorThresholdError: it failed for too many records.
        """
        limits = StepLimits("map", info, stageThreshold, totalThreshold)
        made = functions.mapped(self._frame, f, DynamicRecord, self._plan.absence)
        return self._mapped(limits, made)

    def mapPartitions(
        self,
        f: Callable[[Iterator[dict[str, Any]]], Iterable[dict[str, Any]]],
        preservesPartitioning: bool = True,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the results of a function for each partition; see `mapPartitionsWithIndex`."""
        limits = StepLimits("mapPartitions", info, stageThreshold, totalThreshold)
        made = functions.mapped_partitions(
            self._frame, lambda _, items: f(items), self._plan.absence
        )
        return self._mapped(limits, made)

    def mapPartitionsWithIndex(
        self,
        f: Callable[[int, Iterator[dict[str, Any]]], Iterable[dict[str, Any]]],
        preservesPartitioning: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the results of a function for each partition, given its number.

        It takes and returns dicts with the keys ``record``, ``isError`` and ``errorMessage``.
        """
        limits = StepLimits("mapPartitionsWithIndex", info, stageThreshold, totalThreshold)
        return self._mapped(limits, functions.mapped_partitions(self._frame, f, self._plan.absence))

    def _mapped(self, limits: StepLimits, made: FunctionResults) -> "DynamicFrame":
        own = (Failed(made.failed, limits.step, limits.info),)
        plan = self._plan.then(made.frame, limits, own=own).with_absence(made.absence)
        plan = replace(plan, is_dynamic=True)
        return DynamicFrame(plan, self.glue_ctx, self.name)

    def unbox(
        self,
        path: str,
        format: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        **options: Any,
    ) -> "DynamicFrame":
        """Return the rows with a string field parsed; see `frames.unbox.unbox`."""
        limits = StepLimits("unbox", info, stageThreshold, totalThreshold)
        unboxed = unbox(self._frame, path, format, options)
        failed = (Failed(unboxed.failed, "unbox", info),)
        made, plan = self._next(limits, lambda _: unboxed.frame, failed), self._plan
        made._plan = replace(
            made._plan,
            boxes=plan.boxes | unboxed.inferred,
            absence_of=lambda: unboxed.absence(plan.absence),
        )
        return made

    def drop_fields(
        self,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the rows without some fields; a missing path has no effect."""
        limits = StepLimits("drop_fields", info, stageThreshold, totalThreshold)
        return self._next(limits, lambda frame: fields.drop_fields(frame, paths))

    def select_fields(
        self,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return some fields of the rows, in the order of their paths."""
        limits = StepLimits("select_fields", info, stageThreshold, totalThreshold)
        return self._next(limits, lambda frame: fields.select_fields(frame, paths))

    def split_fields(
        self,
        paths: str | Sequence[str],
        name1: str,
        name2: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrameCollection":
        """Return a frame of some fields, and one of the others."""
        rest = (transformation_ctx, info, stageThreshold, totalThreshold)
        one, two = self.select_fields(paths, *rest), self.drop_fields(paths, *rest)
        return self._collection({name1: one, name2: two})

    def split_rows(
        self,
        comparison_dict: Mapping[str, Mapping[str, Any]],
        name1: str,
        name2: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrameCollection":
        """Return a frame of the rows that meet all comparisons, and one of the others.

        Raises:
            UsageError: a field is missing, or an operator is unknown.
        """
        limits = StepLimits("split_rows", info, stageThreshold, totalThreshold)
        meeting, others = joins.split_rows(self._frame, comparison_dict)
        first, second = self._next(limits, lambda _: meeting), self._next(limits, lambda _: others)
        return self._collection({name1: first, name2: second})

    def _collection(self, frames: Mapping[str, "DynamicFrame"]) -> "DynamicFrameCollection":
        """Return frames of some of the records or fields by name, each with its name."""
        plans = {name: frame._plan.of_some_records() for name, frame in frames.items()}
        named = {name: DynamicFrame(plan, self.glue_ctx, name) for name, plan in plans.items()}
        return DynamicFrameCollection(named, self.glue_ctx)

    def rename_field(
        self,
        oldName: str,
        newName: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the rows with a field renamed."""
        limits = StepLimits("rename_field", info, stageThreshold, totalThreshold)
        renamed = self._next(limits, lambda frame: fields.rename_field(frame, oldName, newName))
        return renamed._with_names({oldName: newName})

    def _with_names(self, names: Mapping[str, str]) -> "DynamicFrame":
        absence = self._plan.absence_of
        plan = self._plan.with_absence(lambda: absence().renamed(names))
        return DynamicFrame(plan, self.glue_ctx, self.name)

    def spigot(
        self,
        path: str,
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Write a sample of the rows as JSON now, and return all rows; see `write_sample`."""
        limits = StepLimits("spigot", info, stageThreshold, totalThreshold)
        write_sample(self._frame, path, options or {})
        return self._next(limits, lambda frame: frame)

    def join(
        self,
        paths1: str | Sequence[str],
        paths2: str | Sequence[str],
        frame2: "DynamicFrame",
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the pairs of rows with equal keys; see `frames.joins.join`.

        Raises:
            UsageError: a key is missing, or the frames have different numbers of keys.
        """
        limits = StepLimits("join", info, stageThreshold, totalThreshold)
        check_frame(DynamicFrame, frame2, "join")
        joined = joins.join(self._frame, frame2._frame, paths1, paths2)
        plan = self._plan.then(lambda: joined, limits, frame2._plan)
        return DynamicFrame(plan, self.glue_ctx, self.name + frame2.name)

    def unnest(
        self,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the fields of structs as columns ``a.b``."""
        return self._next(StepLimits("unnest", info, stageThreshold, totalThreshold), nested.unnest)

    def relationalize(
        self,
        root_table_name: str,
        staging_path: str | None,
        options: Mapping[str, Any] | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrameCollection":
        """Return flat tables of the rows, joined by generated ids.

        Differs from AWS: the rows are computed now and kept by Spark; nothing is written to the
        staging path.

        Args:
            root_table_name: the name of the first table, and the prefix of the others.
            staging_path: has no effect.
            options: have no effect, as on AWS.
            transformation_ctx: name of this step in the bookmark; empty starts at id 1.
            info: a note for errors.
            stageThreshold: see `resolveChoice`.
            totalThreshold: see `resolveChoice`.

        Raises:
            UsageError: two flat columns have one name, or the bookmark belongs to another step.

        Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
        """
        limits = StepLimits("relationalize", info, stageThreshold, totalThreshold)
        known = fields_left_out(self._plan.frame_schema, self._plan.schema)
        rows = fields.without(self._frame, known)
        tables = relationalize(unmarked(rows), root_table_name, transformation_ctx)
        plans = {name: self._plan.then(_constant(df), limits) for name, df in tables.items()}
        frames = {name: DynamicFrame(plan, self.glue_ctx, name) for name, plan in plans.items()}
        return DynamicFrameCollection(frames, self.glue_ctx)

    def applyMapping(self, *args: Any, **kwargs: Any) -> "DynamicFrame":
        """Do the same as `apply_mapping`; a frame as first argument has no effect, as on AWS."""
        given = args[1:] if args and isinstance(args[0], DynamicFrame) else args
        return self.apply_mapping(*given, **kwargs)

    def apply_mapping(
        self,
        mappings: Any,
        case_sensitive: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the mapped fields of the rows; see `frames.mapping.apply_mapping`."""
        limits = StepLimits("apply_mapping", info, stageThreshold, totalThreshold)
        mapped = self._next(
            limits, lambda frame: apply_mapping(frame, mappings, is_case_sensitive=case_sensitive)
        )
        return mapped._with_names({m[0]: m[2] for m in full_mappings(self._frame, mappings)})

    def unnest_ddb_json(
        self,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the attributes of DynamoDB's JSON as columns, and those of maps as ``a.b``."""
        limits = StepLimits("unnest_ddb_json", info, stageThreshold, totalThreshold)
        return self._next(limits, nested.unnest_ddb_json)

    def simplify_ddb_json(self) -> "DynamicFrame":
        """Return the attributes of DynamoDB's JSON as columns; maps are structs."""
        return self._next(StepLimits("simplify_ddb_json"), nested.simplify_ddb_json)

    def resolveChoice(
        self,
        specs: Any = None,
        choice: str = "",
        database: str | None = None,
        table_name: str | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        catalog_id: str | None = None,
    ) -> "DynamicFrame":
        """Return the rows with choices resolved: at some paths, or all in one way.

        Args:
            specs: tuples of a path and an action; see `frames.resolve.resolve_specs`.
            choice: one action for all, or match_catalog.
            database: the database for match_catalog.
            table_name: the table for match_catalog.
            transformation_ctx: has no effect.
            info: a note for errors.
            stageThreshold: how many errors of this step are allowed; 0 allows any number.
            totalThreshold: how many errors so far are allowed; 0 allows any number.
            catalog_id: the account; must be the local one.

        Raises:
            UsageError: specs and choice are both given or both missing, or one is wrong.
            EntityNotFoundError: the table does not exist.
        """
        limits = StepLimits("resolveChoice", info, stageThreshold, totalThreshold)
        if (specs is None) != bool(choice):
            raise UsageError(_BOTH if choice else _NEITHER)
        if specs is not None:
            return self._next(limits, lambda frame: resolve.resolve_specs(frame, specs))
        if choice.lower() != resolve.CATALOG:
            return self._next(limits, lambda frame: resolve.resolve_every(frame, choice))
        types = types_of_table(database, table_name, catalog_id)
        return self._next(limits, lambda frame: resolve.resolve_by_types(frame, types))

    def mergeDynamicFrame(
        self,
        stage_dynamic_frame: "DynamicFrame",
        primary_keys: str | Sequence[str],
        transformation_ctx: str = "",
        options: Mapping[str, Any] | None = None,
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the rows of a stage, and those of this frame whose keys are not in the stage."""
        limits = StepLimits("mergeDynamicFrame", info, stageThreshold, totalThreshold)
        check_frame(DynamicFrame, stage_dynamic_frame, "mergeDynamicFrame")
        merged = joins.merge(self._frame, stage_dynamic_frame._frame, primary_keys)
        plan = self._plan.then(lambda: merged, limits, stage_dynamic_frame._plan)
        return DynamicFrame(plan, self.glue_ctx, self.name)

    def union(
        self,
        other_frame: "DynamicFrame",
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the rows of both frames by column name; a column of two types becomes a choice."""
        limits = StepLimits("union", info, stageThreshold, totalThreshold)
        check_frame(DynamicFrame, other_frame, "union")
        both = joins.union(self._frame, other_frame._frame)
        plan = self._plan.then(lambda: both, limits, other_frame._plan)
        return DynamicFrame(plan, self.glue_ctx, self.name)

    def _drop_null_fields(
        self,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> "DynamicFrame":
        """Return the rows without the fields that `schema` shows as null, or not at all."""
        limits = StepLimits("DropNullFields", info, stageThreshold, totalThreshold)
        plan = self._plan
        null = null_fields(plan.frame_schema, plan.schema) if plan.schema.fields else ()
        return self._next(limits, lambda frame: fields.without(frame, null))

    def errorsAsDynamicFrame(self) -> "DynamicFrame":
        """Return the error records of this frame and its upstream frames, in a field ``error``."""
        spark = self.glue_ctx.spark_session
        return DynamicFrame(errors_frame(spark, self._plan.failed), self.glue_ctx, self.name)

    def errorsCount(self) -> int:
        """Return the number of error records of this frame and its upstream frames."""
        return count_errors(self._plan.failed)

    def stageErrorsCount(self) -> int:
        """Return the number of error records of the step that made this frame."""
        return count_errors(self._plan.own)

    def assertErrorThreshold(self) -> None:
        """Count errors if the step has a threshold.

        Raises:
            ErrorThresholdError: there are too many.
        """
        self._plan.check()


def _constant(frame: DataFrame) -> Callable[[], DataFrame]:
    return lambda: frame


# AWS's messages.
_BOTH = "Parameter specs and option are both specified, choose one."
_NEITHER = "Parameter specs and option are both missing, add one."


class DynamicFrameCollection:
    """Frames by name, such as the tables of `DynamicFrame.relationalize`."""

    def __init__(
        self,
        dynamic_frames: Mapping[str, DynamicFrame] | Sequence[DynamicFrame],
        glue_ctx: "GlueContext",
    ) -> None:
        if isinstance(dynamic_frames, Mapping):
            self._frames = dict(dynamic_frames)
        elif isinstance(dynamic_frames, list):
            self._frames = {frame.name: frame for frame in dynamic_frames}
        else:
            raise TypeError("dynamic_frames must be list or dict.")
        self._glue_ctx = glue_ctx

    def __getitem__(self, key: str) -> DynamicFrame:
        if key not in self._frames:
            raise KeyError(f"no frame {key!r} in the collection; it has {', '.join(self._frames)}")
        return self._frames[key]

    def __len__(self) -> int:
        return len(self._frames)

    def keys(self) -> KeysView[str]:
        """Return the names of the frames, in order."""
        return self._frames.keys()

    def values(self) -> ValuesView[DynamicFrame]:
        """Return the frames, in order."""
        return self._frames.values()

    def select(self, key: str, transformation_ctx: str = "") -> DynamicFrame:
        """Return a frame by its name; the context has no effect.

        Differs from AWS: a missing frame is an error, not an empty frame.

        Raises:
            KeyError: there is no such frame.
        """
        return self[key]

    def map(
        self, callable: Callable[[DynamicFrame, str], DynamicFrame], transformation_ctx: str = ""
    ) -> "DynamicFrameCollection":
        """Return the results of a function for each frame, by the same names.

        Raises:
            TypeError: it returned something other than a frame.
        """
        frames = {k: callable(v, f"{transformation_ctx}:{k}") for k, v in self._frames.items()}
        for frame in frames.values():
            if not isinstance(frame, DynamicFrame):
                raise TypeError(f"callable must return a DynamicFrame. Got {type(frame)}")
        return DynamicFrameCollection(frames, self._glue_ctx)

    def flatmap(
        self,
        f: "Callable[[DynamicFrame, str], DynamicFrame | DynamicFrameCollection]",
        transformation_ctx: str = "",
    ) -> "DynamicFrameCollection":
        """Return the frames in the results of a function for each frame: a frame or a collection.

        Raises:
            TypeError: it returned something else.
        """
        frames = dict[str, DynamicFrame]()
        for frame in self._frames.values():
            result = f(frame, f"{transformation_ctx}:{frame.name}")
            if isinstance(result, DynamicFrame):
                frames[result.name] = result
            elif isinstance(result, DynamicFrameCollection):
                frames |= result._frames
            else:
                raise TypeError(
                    "Function argument to flatmap must return DynamicFrame or "
                    f"DynamicFrameCollection. Got {type(result)}"
                )
        return DynamicFrameCollection(frames, self._glue_ctx)


class DynamicFrameReader:
    """``glue_context.create_dynamic_frame``."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    def from_rdd(
        self, data: Any, name: str, schema: Any = None, sampleRatio: float | None = None
    ) -> DynamicFrame:
        """Return rows of Python as a frame; see `GlueContext.create_dynamic_frame_from_rdd`."""
        return self._glue_context.create_dynamic_frame_from_rdd(data, name, schema, sampleRatio)

    @takes_arguments_of(options_request)
    def from_options(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Read a source; see `GlueContext.create_data_frame_from_options`."""
        return self._glue_context.create_dynamic_frame_from_options(*args, **kwargs)

    @takes_arguments_of(catalog_request)
    def from_catalog(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Read a table; see `GlueContext.create_data_frame_from_catalog`."""
        return self._glue_context.create_dynamic_frame_from_catalog(*args, **kwargs)


class DynamicFrameWriter:
    """``glue_context.write_dynamic_frame``."""

    def __init__(self, glue_context: "GlueContext") -> None:
        self._glue_context = glue_context

    @takes_arguments_of(options_sink)
    def from_options(self, *args: Any, **kwargs: Any) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame; see `GlueContext.write_dynamic_frame_from_options`."""
        return self._glue_context.write_dynamic_frame_from_options(*args, **kwargs)

    @takes_arguments_of(catalog_sink)
    def from_catalog(self, *args: Any, **kwargs: Any) -> DynamicFrame | DynamicFrameCollection:
        """Append a frame to a table; see `GlueContext.write_dynamic_frame_from_catalog`."""
        return self._glue_context.write_dynamic_frame_from_catalog(*args, **kwargs)

    def from_jdbc_conf(
        self,
        frame: DynamicFrame | DynamicFrameCollection,
        catalog_connection: str,
        connection_options: Mapping[str, Any] | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
    ) -> None:
        """Append a frame to a database; see `GlueContext.write_from_jdbc_conf`."""
        self._glue_context.write_dynamic_frame_from_jdbc_conf(
            frame, catalog_connection, connection_options, redshift_tmp_dir, transformation_ctx
        )
