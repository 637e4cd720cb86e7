"""Every place that a frame is read from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeSerializer
from hypothesis import strategies as st

from awsglue.dynamicframe import DynamicFrame
from tests.tidemark.glue_job.law.formats import (
    BINARY,
    KINDS,
    NAMES_OF,
    NESTED,
    OPTIONS,
    PACKED,
    TEXTS_OF,
    WITH_SCHEMA,
    WRITERS,
    schema_text,
)
from tests.tidemark.glue_job.law.tables import (
    FLAT,
    NAMES,
    PLAIN_NAMES,
    SAFE_TEXTS,
    TYPED,
    Table,
    tables,
)
from tests.tidemark.glue_job.law.world import DRIVER, World
from tidemark.glue_job.readers.files.formats import SAME_AS
from tidemark.glue_job.readers.files.s3_options import GROUPED_FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping

Source = Callable[[st.DrawFn, World], tuple[DynamicFrame, Table]]
SQL = {
    "long": "bigint",
    "double": "double",
    "flag": "boolean",
    "text": "string",
    "day": "date",
    "time": "timestamp",
    "amount": "decimal(20,2)",
    "bytes": "binary",
    "list": "array<bigint>",
    "record": "struct<x:bigint,y:string>",
}
# Options of sources of files that leave the rows as they are, and of those that choose files.
PLAIN = ("recurse", "groupFiles", "groupSize", "exclusions", "compressionType")
FASTER = ("useS3ListImplementation", "optimizePerformance", "isFailFast")
CHOOSES_FILES = (
    "excludeStorageClasses",
    "maxBand",
    "maxFilesInBand",
    "boundedFiles",
    "boundedSize",
)
SUFFIXES = {"gzip": ".gz", "bzip2": ".bz2"}


def files_of(name: str) -> Source:
    """A source of files of a format, with any of its options."""
    known = SAME_AS.get(name, name)

    def read(draw: st.DrawFn, world: World) -> tuple[DynamicFrame, Table]:
        table = draw(tables(KINDS[known], TEXTS_OF[known], NAMES_OF[known]))
        values = dict(OPTIONS[known])
        needed = {"rowTag": values.pop("rowTag")} if known == "xml" else {}
        options = draw(st.fixed_dictionaries(needed, optional=values))
        given, suffix = _source_options(draw, known)
        uri, folder = world.place()
        day = draw(st.sampled_from([None, 3]))
        below = folder / ("deep" if given.get("recurse") else "") / (f"day={day}" if day else "")
        found, uris = _put(draw, below, known, suffix, table, options)
        if options.pop(WITH_SCHEMA, False) and "mixed" not in table.kinds.values():
            options[WITH_SCHEMA] = schema_text(found)
        if draw(st.booleans()):
            options["attachFilename"] = "of_file"
            of_rows = iter(uris)
            found = found.with_column("of_file", "text", lambda _: uri + next(of_rows))
        if day:
            found = found.with_column("day", "long", lambda _: day)
        if draw(st.booleans()):
            (folder / f"_hidden.{known}").write_bytes(b"data")
            world.must_name.add(f"_hidden.{known}")
        if "exclusions" in given:
            (folder / f"left-out.{known}").write_bytes(b"\x00 no file of this format")
        world.say(name, options, given, folder, found.rows)
        source = {"paths": [uri], **given}
        frame = world.glue.create_dynamic_frame.from_options("s3", source, name, options)
        return frame, found

    return read


def _put(
    draw: st.DrawFn, below: Path, known: str, suffix: str, table: Table, options: dict[str, Any]
) -> tuple[Table, list[str]]:
    """Write one file or two; return their rows, and the place of each row's file."""
    below.mkdir(parents=True, exist_ok=True)
    parts = [table, *([_less(draw, table)] if _may_differ(known, options) else [])]
    found, places = Table([]), list[str]()
    base = next(parent for parent in below.parents if parent.name.startswith("prefix-"))
    for number, part in enumerate(parts):
        content, rows = WRITERS[known](draw, part, options)
        file = below / f"{number}.{known}{suffix}"
        file.write_bytes(PACKED[suffix](content))
        place = "/".join(file.relative_to(base).parts[1:])
        found, places = found.and_also(rows), places + [place] * len(rows.rows)
    return found, places


def _may_differ(name: str, options: Mapping[str, Any]) -> bool:
    """Whether files of a source may have other columns: not where their place is their name."""
    return name != "csv" or bool(options.get("withHeader"))


def _less(draw: st.DrawFn, table: Table) -> Table:
    """Other rows, with some columns of a table."""
    others = [name for name in table.kinds if name != "id"]
    kept = ["id", *(name for name in others if draw(st.booleans()))]
    rows = [{**row, "id": 100 + row["id"]} for row in table.rows]
    return table.of_rows(rows).of_columns(kept)


def _source_options(draw: st.DrawFn, name: str) -> tuple[dict[str, Any], str]:
    is_text = name in GROUPED_FORMATS
    suffix = draw(st.sampled_from(sorted(PACKED))) if is_text else ""
    choices: Mapping[str, Any] = {
        "recurse": st.just(True),
        "groupFiles": st.sampled_from(["inPartition", "none"]),
        "groupSize": st.sampled_from(["1", "1048576"]),
        "exclusions": st.just('["**left-out*"]'),
        **dict.fromkeys(FASTER, st.booleans()),
    }
    offered = {k: v for k, v in choices.items() if is_text or not k.startswith("group")}
    given = draw(st.fixed_dictionaries({}, optional=offered))
    kind = next((kind for kind, one in SUFFIXES.items() if one == suffix), None)
    if kind and draw(st.booleans()):
        given["compressionType"] = kind
    return given, suffix


def table_of(name: str) -> Source:
    """A table of the Data Catalog: it declares all columns but one, perhaps, and partitions."""

    def read(draw: st.DrawFn, world: World) -> tuple[DynamicFrame, Table]:
        texts = SAFE_TEXTS if name in ("csv", "xml") else TEXTS_OF[name]
        kinds = FLAT if name in ("csv", "xml") else NESTED
        table = draw(tables(kinds, texts, PLAIN_NAMES))
        options: dict[str, Any] = {"csv": {"withHeader": True}, "xml": {"rowTag": "row"}}.get(
            name, {}
        )
        uri, folder = world.place()
        content, expected = WRITERS[name](draw, table, dict(options))
        if name == "csv":
            expected = replace(table, rows=table.rows)
        declared = list(expected.kinds)
        if name not in ("csv", "orc") and len(declared) > 1 and draw(st.booleans()):
            declared.remove(draw(st.sampled_from(declared[1:])))
        world.must_name |= expected.with_values - set(declared)
        expected = expected.of_columns(declared)
        columns = [{"Name": one, "Type": SQL[expected.kinds[one]]} for one in declared]
        more = {"csv": {"skip.header.line.count": "1"}, "xml": {"rowTag": "row"}}.get(name, {})
        serde = {"csv": {"field.delim": ","}}.get(name, {})
        days = draw(st.sampled_from([(), (3,), (3, 1)]))
        for day in days or (None,):
            below = folder / (f"day={day}" if day else "")
            below.mkdir(exist_ok=True)
            (below / f"a.{name}").write_bytes(content)
        chosen = {"push_down_predicate": "day > 2"} if len(days) > 1 else {}
        if days:
            expected = expected.with_column("day", "long", lambda _: days[0])
        keys = [{"Name": "day", "Type": "bigint"}] if days else []
        table_name = world.define(columns, uri, serde, {"classification": name, **more}, keys)
        world.say("table", name, columns, content, days)
        read = world.glue.create_dynamic_frame.from_catalog
        return read("lake", table_name, **chosen), expected

    return read


def read_dynamodb(draw: st.DrawFn, world: World) -> tuple[DynamicFrame, Table]:
    """The items of a table of DynamoDB."""
    table, name = draw(tables((*NESTED, "mixed"))), world.name()
    make_table(world, name, "N")
    for row in table.rows:
        item = {
            k: TypeSerializer().serialize(_decimals(v)) for k, v in row.items() if v is not None
        }
        world.dynamodb.put_item(TableName=name, Item=item)
    world.say("dynamodb", table.rows)
    options = {"dynamodb.input.tableName": name}
    return world.glue.create_dynamic_frame.from_options("dynamodb", options), table


def make_table(world: World, name: str, kind: str) -> None:
    """Create a table of DynamoDB with the key `id`."""
    world.dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": kind}],
        BillingMode="PAY_PER_REQUEST",
    )


def _decimals(value: Any) -> Any:
    return Decimal(str(value)) if isinstance(value, float) else value


def read_derby(draw: st.DrawFn, world: World) -> tuple[DynamicFrame, Table]:
    """The rows of a table of a database."""
    table, name = draw(tables(TYPED, names=NAMES)), world.name()
    rows = world.spark.createDataFrame(rows_in(table), schema_in(table))
    place = {"url": world.derby, "driver": DRIVER}
    rows.write.format("jdbc").options(**place, dbtable=name).save()
    options = {"url": world.derby, "className": DRIVER, "dbTable": name}
    if draw(st.booleans()):
        options |= {"hashfield": '"id"', "hashpartitions": "3"}
    world.say("jdbc", options, table.rows)
    return world.glue.create_dynamic_frame.from_options("custom.jdbc", options), table


def read_frame(draw: st.DrawFn, world: World) -> tuple[DynamicFrame, Table]:
    """A DataFrame of Spark."""
    table = draw(tables(BINARY))
    frame = world.spark.createDataFrame(rows_in(table), schema_in(table))
    world.say("fromDF", table.rows)
    return DynamicFrame.fromDF(frame, world.glue, "rows"), table


def rows_in(table: Table) -> list[tuple[Any, ...]]:
    """The rows as tuples, for Spark."""
    return [tuple(row.get(name) for name in table.kinds) for row in table.rows]


def schema_in(table: Table) -> str:
    """The schema of a table in Spark's words."""
    return ", ".join(f"`{name}` {SQL[kind]}" for name, kind in table.kinds.items())


SOURCES: dict[str, Source] = {
    **{name: files_of(name) for name in (*WRITERS, *SAME_AS)},
    **{f"table of {name}": table_of(name) for name in WRITERS if name != "ion"},
    "dynamodb": read_dynamodb,
    "jdbc": read_derby,
    "fromDF": read_frame,
}
