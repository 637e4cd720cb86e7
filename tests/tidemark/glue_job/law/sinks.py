"""Every place that rows are written to, and the rows that are there afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from boto3.dynamodb.types import TypeDeserializer
from hypothesis import strategies as st

from awsglue.dynamicframe import DynamicFrame
from tests.tidemark.glue_job.law.formats import READERS, rows_below
from tests.tidemark.glue_job.law.sources import make_table
from tests.tidemark.glue_job.law.tables import FLAT, TYPED, Rows, Table
from tests.tidemark.glue_job.law.world import DRIVER, World
from tidemark.glue_job.readers.files.formats import SAME_AS
from tidemark.glue_job.writers.formats import COMPRESSIONS, WRITE_OPTIONS

Sink = Callable[[st.DrawFn, World, DynamicFrame, Table], None]
VALUES: dict[str, Any] = {
    "separator": st.sampled_from([",", ";", "\t"]),
    "quoteChar": st.sampled_from(['"', "'"]),
    "writeHeader": st.booleans(),
    "useGlueParquetWriter": st.booleans(),
    "blockSize": st.just("1048576"),
    "pageSize": st.just("65536"),
    "version": st.sampled_from(["1.7", "1.8"]),
}


def compare(world: World, rows: list[dict[str, Any]], table: Table) -> None:
    """Rows that were written are those of the table; a column without values may be left out."""
    missing = table.with_values - {name for row in rows for name in row}
    assert not missing, ("a sink left columns out", missing, world.said)
    assert Table(rows).counted == table.counted, (world.said, rows, table.rows)


def files_of(name: str) -> Sink:
    """A sink of files of a format, with any of its options, and perhaps folders by a column."""
    known = SAME_AS.get(name, name)
    choices = {option: VALUES[option] for option in WRITE_OPTIONS[known] if option != "compression"}
    choices["compression"] = st.sampled_from(COMPRESSIONS[known])

    def write(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> None:
        options = draw(st.fixed_dictionaries({}, optional=choices))
        columns = frame.toDF().columns
        keys = [name for name in table.names("text", "long") if name in columns and "." not in name]
        keys = keys[1:2] if draw(st.booleans()) else []
        uri, folder = world.place()
        target = {"path": uri, "partitionKeys": keys}
        world.say("sink", name, options, keys)
        world.glue.write_dynamic_frame.from_options(frame, "s3", target, name, options)
        columns = [name for name in columns if name not in keys]
        rows = rows_below(folder, known, {**options, "names": columns})
        compare(world, parsed(rows, table, table.kinds if known == "csv" else keys), table)

    return write


PARSERS: dict[str, Any] = {"long": int, "double": float, "flag": "true".__eq__, "text": str}


def parsed(rows: Rows, table: Table, names: Iterable[str]) -> Rows:
    """The rows with the values of some columns, which CSV and names of folders hold as text."""
    of_columns = {name: PARSERS[table.kinds[name]] for name in names}
    return [
        {
            name: of_columns[name](value) if name in of_columns and value is not None else value
            for name, value in row.items()
        }
        for row in rows
    ]


def write_catalog(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> None:
    """A sink that keeps a table of the Data Catalog up to date, read through that table."""
    uri, _ = world.place()
    name, kind = world.name(), draw(st.sampled_from(["json", "parquet", "glueparquet", "avro"]))
    sink = world.glue.getSink("s3", path=uri, enableUpdateCatalog=True)
    sink.setFormat(kind, **({"useGlueParquetWriter": True} if kind == "glueparquet" else {}))
    sink.setCatalogInfo("law", name)
    world.say("sink with a table", kind)
    sink.writeFrame(frame)
    read = world.glue.create_dynamic_frame.from_catalog("law", name).toDF()
    compare(world, [row.asDict() for row in read.collect()], table)


def write_dynamodb(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> None:
    """The items of a table: one a key."""
    name = world.name()
    make_table(world, name, "N" if table.kinds["id"] == "long" else "S")
    world.say("sink", "dynamodb")
    options = {"dynamodb.output.tableName": name}
    world.glue.write_dynamic_frame.from_options(frame, "dynamodb", options)
    items = world.dynamodb.scan(TableName=name)["Items"]
    rows = [{k: TypeDeserializer().deserialize(v) for k, v in item.items()} for item in items]
    compare(world, rows, table)


def write_derby(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> None:
    """The rows of a table that the sink makes, read by Spark alone."""
    name = world.name()
    options = {"url": world.derby, "className": DRIVER, "dbTable": name}
    world.say("sink", "jdbc")
    world.glue.write_dynamic_frame.from_options(frame, "custom.jdbc", options)
    place = {"url": world.derby, "driver": DRIVER, "dbtable": name}
    rows = world.spark.read.format("jdbc").options(**place).load().collect()
    compare(world, [row.asDict() for row in rows], table)


SINKS: dict[str, Sink] = {
    **{name: files_of(name) for name in (*READERS, *SAME_AS)},
    "catalog": write_catalog,
    "dynamodb": write_dynamodb,
    "jdbc": write_derby,
}


def fits(name: str, table: Table) -> bool:
    """Whether a sink takes rows of these columns."""
    kinds, columns = set(table.kinds.values()), set(table.kinds)
    is_plain = all(name.isascii() and name.isidentifier() for name in columns)
    if name == "csv":
        return kinds <= set(FLAT)
    if name == "jdbc":
        return kinds <= set(TYPED)
    if name == "json":
        return kinds <= {*FLAT, "list", "record", "mixed"}
    if name == "avro":
        return kinds <= {*FLAT, "bytes", "list", "record"} and is_plain
    if name == "catalog":
        return kinds <= {*FLAT, "record"} and is_plain and all(map(str.islower, columns))
    if name == "dynamodb":
        ids = [row.get("id") for row in table.rows]
        return "id" in columns and len(set(ids)) == len(ids) and not kinds & {"day", "time"}
    return True
