"""Turns nested rows into flat tables, joined by generated ids.

A struct becomes columns ``a.b``. An array becomes a table ``root_a`` with a row per element:
the ``id`` of the parent row, its ``index`` in the array, and its value in ``a.val``, or
in ``a.val.b`` if it is a struct. The column ``a`` of the parent row holds that id. An array that
is empty in every row makes no table. Ids are bigint; they
start at 1 or, with bookmarks, after those of the last committed run. AWS does not document maps:
here a map is an array of its entries, with ``a.val.key`` and ``a.val.value``.

Source: https://docs.aws.amazon.com/glue/latest/dg/glue-etl-scala-apis-glue-dynamicframe-class.html
(tables, id, index, val, ids from 1), and for names and types of nested columns
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-samples-legislators.html
"""

from collections import deque
from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.choices import column
from tidemark.glue_job.frames.nested import check_once
from tidemark.glue_job.process.bookmark_session import current_session

KIND = "relationalize"
_PARTITION_ROW_BITS = 33  # bits of monotonically_increasing_id that count within a partition


def relationalize(
    frame: DataFrame, root: str | None, transformation_ctx: str
) -> dict[str, DataFrame]:
    """Return the flat tables of a frame by name, the root first; computes the frame once."""
    if not isinstance(root, str) or not root:
        raise UsageError(f"root_table_name is {root!r}; it must be the name of the first table")
    session = current_session()
    if session is None or not transformation_ctx:
        return _tables(frame, root, 1)[0]
    if not session.open_source(transformation_ctx, root):
        return _tables(frame, root, 1)[0]
    state = session.edges(transformation_ctx).low
    # Another kind of step has stored another kind of state under this name.
    if state and state.get("kind") != KIND:
        raise UsageError(
            f"the bookmark of the transformation_ctx {transformation_ctx!r} comes from a step of "
            f"kind {state.get('kind')!r}, not from Relationalize: give it another "
            "transformation_ctx, or reset the bookmark"
        )
    tables, next_id = _tables(frame, root, state["next_id"] if state else 1)
    session.states[transformation_ctx] = {"kind": KIND, "next_id": next_id}
    return tables


def _tables(frame: DataFrame, root: str, first_id: int) -> tuple[dict[str, DataFrame], int]:
    tables: dict[str, DataFrame] = {}
    next_id = first_id
    waiting = deque([(root, frame)])
    while waiting:
        name, nested = waiting.popleft()
        leaves = list(_leaves(nested.schema, "", None))
        check_once((leaf for leaf, _ in leaves), "relationalize")
        flat = nested.select(*(value.alias(leaf) for leaf, value in leaves))
        arrays = [field.name for field in flat.schema if isinstance(field.dataType, ArrayType)]
        if not arrays:
            tables[name] = flat
            continue
        flat, id_, end, filled = _numbered(flat, first_id, arrays)
        next_id = max(next_id, end)
        # An array becomes the id of its elements, and a null remains null.
        tables[name] = flat.select(
            *(
                F.when(column(field).isNotNull(), id_).alias(field)
                if field in arrays
                else column(field)
                for field in flat.columns[:-1]
            )
        )
        for array in filled:
            element = F.posexplode(column(array)).alias("index", f"{array}.val")
            waiting.append((f"{root}_{array}", flat.select(id_.alias("id"), element)))
        check_once([*tables, *(child for child, _ in waiting)], "relationalize", "tables")
    return tables, next_id


def _leaves(schema: StructType, prefix: str, struct: Column | None) -> Iterator[tuple[str, Column]]:
    for field in schema:
        name = prefix + field.name
        value = column(field.name) if struct is None else struct.getField(field.name)
        if isinstance(field.dataType, StructType):
            yield from _leaves(field.dataType, f"{name}.", value)
        else:
            yield name, F.map_entries(value) if isinstance(field.dataType, MapType) else value


def _numbered(
    flat: DataFrame, first_id: int, arrays: list[str]
) -> tuple[DataFrame, Column, int, list[str]]:
    # The count computes the rows, once: tables that are read later must agree on the ids.
    place = "_" * (1 + max(map(len, flat.columns)))  # a name that no column has
    fixed = flat.withColumn(place, F.monotonically_increasing_id()).localCheckpoint(eager=False)
    partition = F.shiftright(column(place), _PARTITION_ROW_BITS)
    sizes = [F.max(F.size(column(name))) for name in arrays]
    partitions = fixed.groupBy(partition).agg(F.count(F.lit(1)), *sizes).collect()
    counts = {row[0]: row[1] for row in partitions}
    filled = [
        name for n, name in enumerate(arrays, 2) if any((row[n] or 0) > 0 for row in partitions)
    ]
    starts, start = [], first_id
    for number in range(max(counts, default=0) + 1):
        starts.append(start)
        start += counts.get(number, 0)
    row = column(place).bitwiseAND(F.lit((1 << _PARTITION_ROW_BITS) - 1))
    begin = F.array(*(F.lit(value).cast("bigint") for value in starts))
    return fixed, F.element_at(begin, partition.cast("int") + 1) + row, start, filled
