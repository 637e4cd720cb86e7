"""Files of every format, written by other programs than Spark, and read back by them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.sax.saxutils import escape, quoteattr

import cramjam
import fastavro
import pyarrow as pa
from amazon.ion import simpleion
from hypothesis import strategies as st
from pyarrow import orc, parquet

from awsglue import gluetypes
from tests.tidemark.glue_job.law.tables import (
    FLAT,
    NAMES,
    PLAIN_NAMES,
    SAFE_TEXTS,
    TEXTS,
    TYPED,
    Rows,
    Table,
)

NESTED = (*FLAT, "list", "record")
ON_OFF = st.booleans()
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
ARROW = {
    "long": pa.int64(),
    "double": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.string(),
    "day": pa.date32(),
    "time": pa.timestamp("us", tz="UTC"),
    "amount": pa.decimal128(20, 2),
    "bytes": pa.binary(),
    "list": pa.list_(pa.int64()),
    "record": pa.struct([("x", pa.int64()), ("y", pa.string())]),
}
AVRO: dict[str, Any] = {
    "long": "long",
    "double": "double",
    "flag": "boolean",
    "text": "string",
    "bytes": "bytes",
    "day": {"type": "int", "logicalType": "date"},
    "amount": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2},
    "list": {"type": "array", "items": "long"},
    "record": {
        "type": "record",
        "name": "inner",
        "fields": [{"name": "x", "type": "long"}, {"name": "y", "type": "string"}],
    },
}
GLUE: dict[str, Callable[[], Any]] = {
    "long": gluetypes.LongType,
    "double": gluetypes.DoubleType,
    "flag": gluetypes.BooleanType,
    "text": gluetypes.StringType,
    "list": lambda: gluetypes.ArrayType(gluetypes.LongType()),
    "record": lambda: gluetypes.StructType(
        [
            gluetypes.Field("x", gluetypes.LongType()),
            gluetypes.Field("y", gluetypes.StringType()),
        ]
    ),
}

# The values of each option of a reader. An option that is not here fails the test of the table.
WITH_SCHEMA = "withSchema"  # its value is made of the rows
OPTIONS: dict[str, dict[str, Any]] = {
    "csv": {
        "separator": st.sampled_from([",", ";", "|", "\t", "\\t"]),
        "escaper": st.sampled_from(["\\", "none"]),
        "quoteChar": st.sampled_from(['"', "'", -1, "-1"]),
        "multiLine": ON_OFF,
        "multiline": ON_OFF,
        "withHeader": ON_OFF,
        "skipFirst": ON_OFF,
        "optimizePerformance": ON_OFF,
        "writeHeader": ON_OFF,
    },
    "json": {
        "jsonPath": st.sampled_from(["$.rows[*]", "$.in.rows", "$['rows'][*]"]),
        "multiLine": ON_OFF,
        "multiline": ON_OFF,
        WITH_SCHEMA: st.just(True),
        "optimizePerformance": ON_OFF,
    },
    "avro": {"version": st.sampled_from(["1.7", "1.8"])},
    "xml": {
        "rowTag": st.just("row"),
        "encoding": st.sampled_from(["UTF-8", "ISO-8859-1"]),
        "excludeAttribute": ON_OFF,
        "excludeAttributes": ON_OFF,
        WITH_SCHEMA: st.just(True),
        "treatEmptyValuesAsNulls": ON_OFF,
        "attributePrefix": st.sampled_from(["_", "@"]),
        "valueTag": st.sampled_from(["_VALUE", "text"]),
        "ignoreSurroundingSpaces": ON_OFF,
    },
    "parquet": {},
    "orc": {},
    "ion": {},
}


@st.composite
def made(draw: st.DrawFn, name: str, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    """The bytes of a file with the rows of a table, and the table that a reader must find."""
    content, found = WRITERS[name](draw, table, options)
    return content, found


def _csv(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    options.pop("skipFirst", None) if options.get("withHeader") else None
    texts, names = table.texts, list(table.kinds)
    quote = str(options.get("quoteChar", '"'))
    special = {options.get("separator", ",").replace("\\t", "\t"), quote}
    if options.get("escaper") == "\\":
        special.add("\\")
    if quote == "-1" or options.get("escaper") == "\\":  # nothing can be quoted
        rows = [{k: _without(v, special) for k, v in row.items()} for row in texts.rows]
        texts = texts.of_rows(rows)
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=options.get("separator", ",").replace("\\t", "\t"),
        lineterminator="\n",
        quoting=csv.QUOTE_NONE if quote == "-1" else csv.QUOTE_MINIMAL,
        **({} if quote == "-1" else {"quotechar": quote}),
    )
    if options.get("withHeader"):
        writer.writerow(names)
    elif options.get("skipFirst"):
        writer.writerow(["first"] * len(names))
    writer.writerows([row.get(name) for name in names] for row in texts.rows)
    if not options.get("withHeader"):
        texts = texts.of_columns({name: f"col{place}" for place, name in enumerate(names)})
    return text.getvalue().encode(), texts


def _without(value: str | None, special: set[str]) -> str | None:
    for character in special:
        value = value and value.replace(character, "_")
    return value


def _json(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    is_whole = options.get("multiLine") or options.get("multiline")
    rows = [
        {name: value for name, value in row.items() if value is not None or draw(ON_OFF)}
        for row in table.rows
    ]
    if path := options.get("jsonPath"):
        whole: Any = {"rows": rows}
        whole = {"in": whole} if path.startswith("$.in") else whole
        return json.dumps(whole, indent=1 if is_whole else None).encode(), table
    if is_whole:
        return json.dumps(rows, indent=1, ensure_ascii=False).encode(), table
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    bad = draw(st.lists(st.sampled_from(['{"id": 1,', "nonsense", '{"id" 5}']), max_size=2))
    for line in bad:
        lines.insert(draw(st.integers(0, len(lines))), line)
    return "".join(f"{line}\n" for line in lines).encode(), Table(
        table.rows, table.kinds, bad=len(bad)
    )


def _avro(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    fields = [
        {
            "name": name,
            "type": [
                "null",
                {**AVRO[kind], "name": f"of_{name}"} if kind == "record" else AVRO[kind],
            ],
        }
        for name, kind in table.kinds.items()
    ]
    schema = fastavro.parse_schema({"type": "record", "name": "row", "fields": fields})
    codec = draw(st.sampled_from(["null", "snappy", "deflate", "bzip2", "xz", "zstandard"]))
    file = io.BytesIO()
    fastavro.writer(file, schema, table.rows, codec=codec, sync_interval=50)
    return file.getvalue(), table


def _xml(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    encoding = options.get("encoding", "UTF-8")
    is_left_out = options.get("excludeAttribute") or options.get("excludeAttributes")
    prefix = options.get("attributePrefix", "_")
    attributes = draw(st.sets(st.sampled_from(table.names(*FLAT)))) - {"id"}
    texts = table.texts
    lines = []
    for row, plain in zip(texts.rows, table.rows, strict=True):
        own = {name: value for name, value in row.items() if value is not None}
        head = "".join(f" {name}={quoteattr(own[name])}" for name in own if name in attributes)
        body = "".join(_element(name, plain[name]) for name in own if name not in attributes)
        lines.append(f"<row{head}>{body}</row>")
    document = f'<?xml version="1.0" encoding="{encoding}"?><all>{"".join(lines)}</all>'
    kept = {
        name: f"{prefix}{name}" if name in attributes else name
        for name in table.kinds
        if not (is_left_out and name in attributes)
    }
    return document.encode(encoding), table.of_columns(kept)


def _element(name: str, value: Any) -> str:
    if isinstance(value, dict):
        inner = "".join(_element(key, one) for key, one in value.items())
        return f"<{name}>{inner}</{name}>"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{name}>{escape(text)}</{name}>"


def _arrow(table: Table, of_kinds: dict[str, pa.DataType]) -> pa.Table:
    schema = pa.schema([(name, of_kinds[kind]) for name, kind in table.kinds.items()])
    return pa.Table.from_pylist(table.rows, schema=schema)


def _parquet(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    file = io.BytesIO()
    codec = draw(st.sampled_from(["snappy", "gzip", "zstd", "none"]))
    parquet.write_table(_arrow(table, ARROW), file, compression=codec, row_group_size=2)
    return file.getvalue(), table


def _orc(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    file = io.BytesIO()
    codec = draw(st.sampled_from(["uncompressed", "snappy", "zlib", "zstd"]))
    of_kinds = ARROW | {"time": pa.timestamp("us")}  # Spark 3.5 has no instants of ORC
    orc.write_table(_arrow(table, of_kinds), file, compression=codec)
    return file.getvalue(), table


def _ion(draw: st.DrawFn, table: Table, options: dict[str, Any]) -> tuple[bytes, Table]:
    rows = [{name: value for name, value in row.items() if value is not None} for row in table.rows]
    raw = simpleion.dumps(rows, binary=draw(ON_OFF), sequence_as_stream=True)
    return raw if isinstance(raw, bytes) else raw.encode(), table


Writer = Callable[[st.DrawFn, Table, dict[str, Any]], tuple[bytes, Table]]
WRITERS: dict[str, Writer] = {
    "csv": _csv,
    "json": _json,
    "avro": _avro,
    "xml": _xml,
    "parquet": _parquet,
    "orc": _orc,
    "ion": _ion,
}
# What each format can hold without a loss of its own.
BINARY = (*TYPED, "bytes", "list", "record")
KINDS: dict[str, tuple[str, ...]] = {
    "csv": FLAT,
    "json": (*NESTED, "mixed"),
    "avro": NESTED,
    "xml": (*FLAT, "record"),
    "parquet": BINARY,
    "orc": BINARY,
    "ion": (*FLAT, "amount", "bytes", "list", "record"),
}
NAMES_OF = dict.fromkeys(WRITERS, NAMES) | dict.fromkeys(("avro", "xml"), PLAIN_NAMES)
TEXTS_OF = dict.fromkeys(WRITERS, TEXTS) | {"xml": SAFE_TEXTS}


def schema_text(table: Table) -> str:
    """The value of withSchema for the rows of a table."""
    fields = [gluetypes.Field(name, GLUE[kind]()) for name, kind in table.kinds.items()]
    return json.dumps(gluetypes.StructType(fields).jsonValue())


# What sinks have written.
def rows_below(folder: Path, name: str, options: dict[str, Any]) -> Rows:
    """The rows of all files below a folder, with the values of partition folders as text."""
    found: Rows = []
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.startswith(("_", ".")):
            parts = [part.partition("=") for part in file.relative_to(folder).parts[:-1]]
            keys = {key: unquote(value) for key, _, value in parts}
            keys = {k: None if v == "__HIVE_DEFAULT_PARTITION__" else v for k, v in keys.items()}
            found += [{**row, **keys} for row in READERS[name](file, options)]
    return found


def _unpacked(file: Path) -> str:
    raw = file.read_bytes()
    suffix = file.suffix
    if suffix in (".snappy", ".lz4"):
        raw = b"".join(_blocks(raw, suffix))
    plain = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".deflate": zlib.decompress}
    return plain.get(suffix, bytes)(raw).decode()


def _blocks(raw: bytes, suffix: str) -> Iterator[bytes]:
    """Hadoop's blocks: the length of the text, then chunks, each after its own length."""
    at = 0
    while at < len(raw):
        length, at = int.from_bytes(raw[at : at + 4], "big"), at + 4
        while length > 0:
            size = int.from_bytes(raw[at : at + 4], "big")
            chunk = raw[at + 4 : at + 4 + size]
            text = bytes(
                cramjam.snappy.decompress_raw(chunk)
                if suffix == ".snappy"
                else cramjam.lz4.decompress_block(chunk, output_len=length)
            )
            at, length = at + 4 + size, length - len(text)
            yield text


def _rows_of_csv(file: Path, options: dict[str, Any]) -> Rows:
    quote = str(options.get("quoteChar", '"'))
    lines = csv.reader(
        io.StringIO(_unpacked(file), newline=""),
        delimiter=options.get("separator", ",").replace("\\t", "\t"),
        **({"quoting": csv.QUOTE_NONE} if quote == "-1" else {"quotechar": quote}),  # type: ignore[arg-type]
    )
    records = [[value or None for value in line] for line in lines if line]
    names = records.pop(0) if options.get("writeHeader", True) else options["names"]
    return [dict(zip(names, record, strict=True)) for record in records]


def _rows_of_avro(file: Path, _: dict[str, Any]) -> Rows:
    with file.open("rb") as opened:
        return [dict(row) for row in fastavro.reader(opened)]  # type: ignore[arg-type]


READERS: dict[str, Callable[[Path, dict[str, Any]], Rows]] = {
    "csv": _rows_of_csv,
    "json": lambda file, _: [json.loads(line) for line in _unpacked(file).splitlines()],
    "avro": _rows_of_avro,
    "parquet": lambda file, _: parquet.ParquetFile(file).read().to_pylist(),
    "orc": lambda file, _: orc.read_table(file).to_pylist(),
}
