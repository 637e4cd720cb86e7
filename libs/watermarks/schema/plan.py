"""What a contract makes of one frame: an expression for each column, and what is left over."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from watermarks.errors import SchemaContractError, WatermarkValueError
from watermarks.spark.columns import as_written, escaped, without

from .changes import ITEM, VALUE, SchemaChange, changes_between
from .evolution import Evolution
from .fitting import Fit, Fitting, Sql, cast, json_of, named, null_of, quoted, told_by_type
from .names import by_name, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from .terms import Terms

FILE_PATH = "_file_path"
_CACHED = "InMemoryRelation"  # as Spark's plans have it
_FILE, _NO_TEXT = "_metadata.file_path", "CAST(NULL AS STRING)"
_STAGED = "_tidemark_"  # begins the names of columns that only a plan sees
# Of times all digits, and no value that is null, whatever the session's settings.
_JSON_OPTIONS = (
    "map('ignoreNullFields', 'true', "
    r"'timestampFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSSXXX', "
    r"'timestampNTZFormat', 'yyyy-MM-dd\'T\'HH:mm:ss.SSSSSS')"
)
_LITERALS = "spark.sql.parser.escapedStringLiterals"  # names and patterns would be other ones
_CHARS = re.compile(r'(ype":)"(?:var)?char\([0-9]+\)"')  # as the JSON of a schema has it
_FIRST = 3  # changes that an error tells
_REMEDIES = {
    "added": 'columns="evolve" adds it, "rescue" keeps it as JSON, "discard" leaves it out',
    "missing": 'missing="null" makes it null',
    "type": 'types="rescue" keeps what does not fit as JSON, "discard_row" takes its row out',
}


@dataclass(frozen=True)
class Aside:
    """What a merge needs of a frame beside the columns of its contract.

    Attributes:
        carried: columns of the frame that come through as they are.
        left: columns of the frame that do not come through.
        whole: columns whose values are not rescued: without its key, a row would be another one.
    """

    carried: Sequence[str] = ()
    left: Sequence[str] = ()
    whole: Sequence[str] = ()

    def is_whole(self, name: str) -> bool:
        """Return whether values of a column are not rescued."""
        return name.lower() in map(str.lower, self.whole)


NOTHING = Aside()


@dataclass(frozen=True)
class Plan:
    """What a contract makes of a frame.

    Attributes:
        contract: the contract.
        frame: the frame.
        schema: the columns that come out, without the rescued one.
        changes: what the frame has otherwise than these.
        fits: each of these columns as it is made; `raws`: what it is made of, as JSON tells it.
        unknown: the columns of the frame that are none of these, as JSON tells them.
        file: what the file of a row is, or null where that is not known.
        aside: what else the frame has, and what the contract leaves alone.
        is_of_iceberg: whether a table of Iceberg follows the contract.
    """

    contract: Terms
    frame: DataFrame
    schema: StructType
    changes: Sequence[SchemaChange]
    fits: Sequence[Fit]
    raws: Sequence[list[Sql]]
    unknown: Mapping[str, list[Sql]]
    file: Sql
    aside: Aside = NOTHING
    is_of_iceberg: bool = False

    @classmethod
    def of(
        cls,
        contract: Terms,
        frame: DataFrame,
        *,
        is_of_iceberg: bool = False,
        aside: Aside = NOTHING,
    ) -> Plan:
        """Return what a contract makes of a frame; nothing is read."""
        is_exact = is_case_sensitive(frame.sparkSession)
        judged = without(frame, (*aside.carried, *aside.left))
        if str(frame.sparkSession.conf.get(_LITERALS)).lower() == "true":
            raise WatermarkValueError(
                f"{_LITERALS} is true, and a contract needs false, which is the default: set it to "
                "false before the contract is applied"
            )
        _check_names(frame.columns, contract.rescued, is_exact)
        schema = evolved(contract, judged, is_of_iceberg=is_of_iceberg)
        there = {key_of(field.name, is_exact): field for field in judged.schema.fields}
        fitting = Fitting(is_exact, contract.types == "rescue")
        whole = Fitting(is_exact)
        fits, raws = list[Fit](), list[list[Sql]]()
        for field in schema.fields:
            column = there.get(key_of(field.name, is_exact))
            raw = escaped(column.name) if column else null_of(field.dataType)
            fit = Fit(raw)
            if column:
                rule = whole if aside.is_whole(field.name) else fitting
                fit = rule.fit(raw, column.dataType, field.dataType, column.name)
            fits.append(fit)
            raws.append(told_by_type(raw, column.dataType) if column else [raw])
        known = by_name(schema, is_exact)
        unknown = {
            field.name: told_by_type(escaped(field.name), field.dataType)
            for field in judged.schema.fields
            if key_of(field.name, is_exact) not in known
        }
        changes = changes_between(schema, judged.schema, is_case_sensitive=is_exact)
        file = _file_of(frame)
        return cls(
            contract, frame, schema, changes, fits, raws, unknown, file, aside, is_of_iceberg
        )

    @property
    def judged(self) -> DataFrame:
        """The columns of the frame that are the contract's."""
        return without(self.frame, (*self.aside.carried, *self.aside.left))

    def refused_of(self, changes: Sequence[SchemaChange]) -> list[SchemaChange]:
        """Return which of some changes, refused by another contract, are refused here too."""
        left = {change.path for change in self.changes}
        unsure = {name for name, _, _ in self._misfits()}
        return [
            change
            for change in changes
            if (change.path[0] in unsure if change.kind == "type" else change.path in left)
        ]

    def check(self) -> None:
        """Raise a SchemaContractError for what the contract refuses; the frame may be read."""
        contract = self.contract
        refused = [
            change
            for change in self.changes
            if (change.kind == "added" and contract.columns == "freeze")
            or (change.kind == "missing" and contract.missing == "freeze")
        ]
        # A source with nothing new gives a frame without columns: nothing is missing in no row.
        if refused and (self.frame.columns or self.frame.isStreaming or not self.frame.isEmpty()):
            raise _refusal(refused, self._where_added(refused[0]))
        if any(self._is_refused(name) for name, _, _ in self._misfits()):
            if self.frame.isStreaming:
                raise WatermarkValueError(
                    "the contract has to read a stream before it can say that its values fit: "
                    'apply it in foreachBatch, or give types="rescue"'
                )
            self._check_values()

    def rows(self) -> DataFrame:
        """Return the rows that fit, with the columns of the contract."""
        from pyspark.sql import functions

        contract, staged = self.contract, self._staged()
        columns = []
        for field, fit in zip(self.schema.fields, staged.fits, strict=True):
            is_refused = self._is_refused(field.name)
            is_rescued = contract.types == "rescue" and not fit.is_certain and not is_refused
            value = f"IF({fit.fits}, {fit.value}, NULL)" if is_rescued else fit.value
            if is_refused and not fit.is_certain:
                # What is read again may be otherwise than it was when it was checked.
                told = quoted(f"a value of {field.name} does not fit its type any more")
                value = f"IF({fit.fits}, {value}, {cast(f'raise_error({told})', field.dataType)})"
            columns.append(functions.expr(value).alias(field.name))
        if "rescue" in (contract.columns, contract.types):
            columns.append(functions.expr(staged._rescued()).alias(contract.rescued))
        columns += [functions.col(escaped(name)) for name in self.aside.carried]
        frame = staged.frame
        if contract.types == "discard_row" and (misfits := staged._misfits()):
            frame = frame.where(functions.expr(" AND ".join(fit.fits for _, fit, _ in misfits)))
        return frame.select(*columns)

    def taken_out(self) -> DataFrame:
        """Return the rows that do not fit, as they are, with what does not fit as JSON."""
        from pyspark.sql import functions

        contract, misfits = self.contract, self._misfits()
        if contract.types != "discard_row" or not misfits:
            nothing = functions.lit(None).cast("string")
            return self.frame.withColumn(contract.rescued, nothing).limit(0)
        is_right = functions.expr(" AND ".join(fit.fits for _, fit, _ in misfits))
        wrong = functions.expr(_as_json(_left_over(misfits), self.file)).alias(contract.rescued)
        return self.frame.where(~is_right).select("*", wrong)

    def _staged(self) -> Plan:
        """Return the plan for a frame that has each uncertain value, and whether it fits."""
        from pyspark.sql import functions

        # Spark would work them out again at each place that names them.
        values: list[Column] = []
        judged: list[Column] = []
        fits: list[Fit] = []
        for number, fit in enumerate(self.fits):
            if not fit.is_certain:
                value, is_fit = f"{_STAGED}value{number}", f"{_STAGED}fits{number}"
                values.append(functions.expr(fit.value).alias(value))
                judged.append(functions.expr(fit.fits.replace(fit.value, value)).alias(is_fit))
                fit = replace(fit, value=value, fits=is_fit)
            fits.append(fit)
        if not values:
            return self
        # After a projection, rows do not know their file any more.
        file = f"{_STAGED}file"
        frame = self.frame.select("*", *values, functions.expr(self.file).alias(file))
        return replace(self, frame=frame.select("*", *judged), fits=fits, file=file)

    def _is_refused(self, name: str) -> bool:
        """Return whether a value of a column that does not fit ends the run."""
        types = self.contract.types
        return types in ("evolve", "freeze") or (types == "rescue" and self.aside.is_whole(name))

    def _misfits(self) -> list[tuple[str, Fit, list[Sql]]]:
        """Return the columns of which a value may not fit, with what they are made of."""
        planned = zip(self.schema.names, self.fits, self.raws, strict=True)
        return [(name, fit, raw) for name, fit, raw in planned if not fit.is_certain]

    def _rescued(self) -> Sql:
        """Return what is left over of a row as JSON."""
        left_over = list[tuple[str, list[Sql]]]()
        if self.contract.types == "rescue":
            misfits = self._misfits()
            left_over += _left_over([each for each in misfits if not self._is_refused(each[0])])
        for fit in self.fits:
            inside = defaultdict[str, list[Sql]](list)
            extras = fit.extras if self.contract.columns == "rescue" else ()
            for path, value in (*fit.misfits, *extras):
                inside[path].append(value)
            left_over += inside.items()
        if self.contract.columns == "rescue":
            left_over += self.unknown.items()
        return _as_json(left_over, self.file)

    def _check_values(self) -> None:
        from pyspark.sql import functions

        staged = self._staged()
        misfits = [misfit for misfit in staged._misfits() if self._is_refused(misfit[0])]
        wrong = " OR ".join(f"NOT {fit.fits}" for _, fit, _ in misfits)
        are_wrong = [
            functions.expr(f"max(NOT {fit.fits})").alias(f"wrong{number}")
            for number, (_, fit, _) in enumerate(misfits)
        ]
        misfit = (
            staged.frame.where(functions.expr(wrong))
            .withColumn("what", functions.expr(_as_json(_left_over(misfits), staged.file)))
            .agg(
                functions.count("*").alias("rows"), functions.min("what").alias("what"), *are_wrong
            )
            .first()
        )
        if not misfit or not misfit["rows"]:
            return
        names = [name for number, (name, _, _) in enumerate(misfits) if misfit[f"wrong{number}"]]
        changes = [
            change for change in self.changes if change.kind == "type" and change.path[0] in names
        ]
        count = "1 row does" if misfit["rows"] == 1 else f"{misfit['rows']} rows do"
        kept = "; a key, the cursor and a column without nulls are not rescued"
        kept *= self.contract.types == "rescue"
        raise _refusal(changes, f"{count} not fit, such as {misfit['what']}{kept}")

    def _where_added(self, change: SchemaChange) -> str:
        """Return the first file that has a value of a new column; empty if it is not known."""
        from pyspark.errors import PySparkException
        from pyspark.sql import functions

        has_place = change.kind == "added" and self.file == _FILE and not self.frame.isStreaming
        if not has_place or {ITEM, VALUE}.intersection(change.path):
            return ""
        column = ".".join(map(escaped, change.path))
        try:
            rows = self.frame.where(f"{column} IS NOT NULL")
            first = rows.select(functions.expr(_FILE).alias("file"), "*").limit(1).first()
        except PySparkException:  # such as of the column of lines that are no JSON
            return ""
        return f"first in {first['file']}" if first else ""


def _left_over(
    misfits: Sequence[tuple[str, Fit, list[Sql]]],
) -> list[tuple[str, list[Sql]]]:
    """Return the values of columns where they do not fit, else null."""
    return [(name, [f"IF({fit.fits}, NULL, {each})" for each in raw]) for name, fit, raw in misfits]


def _file_of(frame: DataFrame) -> Sql:
    """Return what the file of a row is: only frames of one source of files know it."""
    from pyspark.errors import PySparkException

    # Its files would be read again: what a cache holds does not tell them.
    if _CACHED in frame._jdf.queryExecution().withCachedData().toString():
        return _NO_TEXT
    try:
        frame.selectExpr(_FILE)
    except PySparkException:
        return _NO_TEXT
    return _FILE


def told_as_json(frame: DataFrame) -> DataFrame:
    """Return rows as files of JSON tell them, see `json_of`."""
    from pyspark.sql import functions

    with as_written(frame.sparkSession):
        told = [
            functions.expr(json_of(escaped(field.name), field.dataType, is_written=True)).alias(
                field.name
            )
            for field in frame.schema.fields
        ]
        return frame.select(*told)


def as_data_frame(frame: Any) -> DataFrame:
    """Return a DataFrame, or a DynamicFrame as one."""
    rows: DataFrame = frame.toDF() if hasattr(frame, "glue_ctx") else frame
    if not hasattr(rows, "sparkSession"):
        raise WatermarkValueError(
            f"the frame is a {type(frame).__name__}: give a DataFrame, or a DynamicFrame of Glue"
        )
    return rows


def like(frame: Any, rows: DataFrame) -> Any:
    """Return rows as a frame of the kind of another one."""
    if not hasattr(frame, "glue_ctx"):
        return rows
    return type(frame).fromDF(rows, frame.glue_ctx, frame.name)


def evolved(contract: Terms, frame: DataFrame, *, is_of_iceberg: bool = False) -> StructType:
    """Return the columns of a contract after a frame."""
    evolution = Evolution(
        columns=contract.columns == "evolve",
        types=contract.types == "evolve",
        is_case_sensitive=is_case_sensitive(frame.sparkSession),
        is_of_iceberg=is_of_iceberg,
    )
    return evolution.of_struct(schema_of(contract, frame), frame.schema)


def is_case_sensitive(spark: SparkSession) -> bool:
    """Return whether names in different cases are different columns."""
    return str(spark.conf.get("spark.sql.caseSensitive")).lower() == "true"


def schema_of(contract: Terms, frame: DataFrame) -> StructType:
    """Return the columns of a contract, checked; if it has none, the columns of the frame."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType, _parse_datatype_string

    schema = contract.schema
    if schema is None:
        return frame.schema
    if isinstance(schema, str):
        try:
            parsed, error = _parse_datatype_string(schema), "it is the type of one value"
        except (PySparkException, Py4JJavaError) as cause:
            parsed, error = None, str(cause).strip()
        if not isinstance(parsed, StructType):
            raise WatermarkValueError(
                f"the schema of the contract is {schema!r}, which Spark does not take: {error}; "
                "give DDL, such as 'id BIGINT, amount DECIMAL(10,2)'"
            )
        schema = parsed
    # Spark's own plans have no CHAR and VARCHAR: tables and files have text.
    schema = StructType.fromJson(json.loads(_CHARS.sub(r'\1"string"', schema.json())))
    _check_names(schema.names, contract.rescued, is_case_sensitive(frame.sparkSession), "schema")
    return schema


def _check_names(names: Sequence[str], rescued: str, is_exact: bool, of: str = "frame") -> None:
    counts = Counter(key_of(name, is_exact) for name in names)
    if double := [name for name in names if counts[key_of(name, is_exact)] > 1]:
        raise WatermarkValueError(
            f"the {of} has {', '.join(map(repr, double))}, which are one column: rename or drop one"
        )
    if key_of(rescued, is_exact) in counts:
        raise WatermarkValueError(
            f"the {of} has the column {rescued!r}, where the contract keeps what does not fit: "
            "drop or rename it, or give rescued= another name"
        )


def _as_json(left_over: Sequence[tuple[str, list[Sql]]], file: Sql) -> Sql:
    """Return JSON of the values that are not null, and the file; null if all of them are null."""
    if not left_over:
        return _NO_TEXT
    values = defaultdict[str, list[Sql]](list)
    for path, told in left_over:
        if path in values and escaped(path) not in values and _root(path) != path:
            path = escaped(path)  # a column with a dot, beside a field of that path
        values[path] += told
    place = FILE_PATH if FILE_PATH not in values else escaped(FILE_PATH)
    fields = ", ".join(each for path in values for each in named(quoted(path), values[path]))
    is_nothing = " AND ".join(f"({value}) IS NULL" for told in values.values() for value in told)
    whole = f"to_json(named_struct({fields}, {quoted(place)}, {file}), {_JSON_OPTIONS})"
    return f"IF({is_nothing}, NULL, {whole})"


def _root(path: str) -> str:
    return path.partition(".")[0]


def _refusal(changes: Sequence[SchemaChange], where: str) -> SchemaContractError:
    told = "; ".join(map(str, changes[:_FIRST]))
    more = f"; and {len(changes) - _FIRST} more" if len(changes) > _FIRST else ""
    remedies = "; ".join(_REMEDIES[kind] for kind in dict.fromkeys(each.kind for each in changes))
    place = f" ({where})" if where else ""
    return SchemaContractError(
        f"the frame breaks its contract: {told}{more}{place}; nothing was written: {remedies}; or "
        "change the schema of the contract",
        list(changes),
    )
