"""Every transform, beside what it must make of rows in plain Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from awsglue import transforms
from awsglue.dynamicframe import DynamicFrame
from tests.tidemark.glue_job.law.formats import rows_below
from tests.tidemark.glue_job.law.sources import SQL
from tests.tidemark.glue_job.law.tables import TYPED, Table
from tests.tidemark.glue_job.law.world import World

Made = tuple[DynamicFrame, Table]
Step = Callable[[st.DrawFn, World, DynamicFrame, Table], Made]
GLUE_TYPES = {kind: SQL[kind].replace("bigint", "long") for kind in TYPED}


def _key(table: Table) -> str:
    """The column of ids, whatever its name is by now."""
    return next(iter(table.kinds))


def _some(draw: st.DrawFn, table: Table, *kinds: str) -> list[str]:
    """The column of ids, and others of some kinds."""
    key = _key(table)
    others = [name for name in table.names(*kinds) if name != key]
    return [key, *(draw(st.lists(st.sampled_from(others), unique=True)) if others else [])]


def _other(draw: st.DrawFn, table: Table) -> str | None:
    others = list(table.kinds)[1:]
    return draw(st.sampled_from(others)) if others else None


def apply_mapping(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    names = _some(draw, table, *GLUE_TYPES)
    new = {name: f"m_{name}" if draw(st.booleans()) else name for name in names}
    mappings = [
        (
            f"`{name}`",
            GLUE_TYPES[table.kinds[name]],
            f"`{new[name]}`",
            GLUE_TYPES[table.kinds[name]],
        )
        for name in names
    ]
    return transforms.ApplyMapping.apply(frame, mappings=mappings), table.of_columns(new)


def rename(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    old = draw(st.sampled_from(list(table.kinds)))
    names = {name: f"r_{name}" if name == old else name for name in table.kinds}
    return transforms.RenameField.apply(frame, f"`{old}`", f"`r_{old}`"), table.of_columns(names)


def drop(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    gone = _other(draw, table)
    if gone is None:
        return frame, table
    kept = table.of_columns([name for name in table.kinds if name != gone])
    return transforms.DropFields.apply(frame, paths=[f"`{gone}`"]), kept


def select(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    names = _some(draw, table, *table.kinds.values())
    chosen = transforms.SelectFields.apply(frame, paths=[f"`{name}`" for name in names])
    return chosen, table.of_columns(names)


def drop_nulls(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    return transforms.DropNullFields.apply(frame), table


def keep(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    key = _key(table)
    rows = [row for row in table.rows if int(row[key]) % 2]
    return transforms.Filter.apply(frame, f=lambda row: int(row[key]) % 2 == 1), table.of_rows(rows)


def change(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    """Map fails for the row with the id 2: an error record."""
    key, fails = _key(table), draw(st.booleans())

    def twice(row: Any) -> Any:
        if fails and int(row[key]) == 2:
            raise RuntimeError("a bad row")
        row["twice"] = 2 * int(row[key])
        return row

    rows = [row for row in table.rows if not (fails and int(row[key]) == 2)]
    made = table.of_rows(rows).with_column("twice", "long", lambda row: 2 * int(row[key]))
    made = replace(made, bad=table.bad + len(table.rows) - len(rows))
    return transforms.Map.apply(frame, f=twice), made


def split_fields(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    names = _some(draw, table, *table.kinds.values())
    parts = transforms.SplitFields.apply(frame, [f"`{name}`" for name in names], "one", "two")
    rest = [name for name in table.kinds if name not in names]
    if rest:
        world.account(transforms.SelectFromCollection.apply(parts, "two"), table.of_columns(rest))
    return transforms.SelectFromCollection.apply(parts, "one"), table.of_columns(names)


def _halves(draw: st.DrawFn, frame: DynamicFrame, table: Table) -> Any:
    """A collection of the rows below and above an id, and these rows."""
    key = _key(table)
    limit = draw(st.integers(0, 4))
    value: Any = str(limit) if table.kinds[key] == "text" else limit
    parts = transforms.SplitRows.apply(frame, {key: {">": value}}, "above", "rest")
    above = [row for row in table.rows if row[key] > value]
    return parts, above, [row for row in table.rows if row not in above]


def split_rows(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    parts, above, rest = _halves(draw, frame, table)
    world.account(parts.select("above"), table.of_rows(above))
    return parts.select("rest"), table.of_rows(rest)


def each_of_collection(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    parts, above, rest = _halves(draw, frame, table)
    same = transforms.MapToCollection.apply(parts, lambda part, _: part.coalesce(1))
    both = same.select("above").union(same.select("rest"))
    return both, replace(table, rows=[*above, *rest], bad=2 * table.bad)


def flat_map(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    parts, _, rest = _halves(draw, frame, table)
    changed = transforms.FlatMap.apply(
        parts, transforms.Repartition, "frame", transformation_ctx="f", num_partitions=2
    )
    key = next(name for name in changed.keys() if "rest" in name)  # noqa: SIM118 (as scripts do)
    return changed.select(key), table.of_rows(rest)


def select_from(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    parts, above, _ = _halves(draw, frame, table)
    return transforms.SelectFromCollection.apply(parts, "above"), table.of_rows(above)


def join(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    key, new = _key(table), f"other{len(table.kinds)}"
    other = frame.select_fields([f"`{key}`"]).rename_field(f"`{key}`", new)
    rows = [
        {**row, new: again[key]}
        for row in table.rows
        for again in table.rows
        if row[key] == again[key]
    ]
    made = replace(table, rows=rows, kinds={**table.kinds, new: table.kinds[key]})
    return transforms.Join.apply(frame, other, f"`{key}`", new), replace(made, bad=2 * table.bad)


def union(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    again = transforms.Union.apply(frame, frame)
    return again, replace(table, rows=[*table.rows, *table.rows], bad=2 * table.bad)


def relationalize(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    """Records are columns, arrays are tables of their own."""
    parts = transforms.Relationalize.apply(frame, world.place()[0], "root")
    lists = table.names("list")
    for name in lists:
        values = [value for row in table.rows for value in row.get(name) or ()]
        if values:
            child = parts.select(f"root_{name}").toDF()
            column = f"{name}.val" if f"{name}.val" in child.columns else child.columns[-1]
            held = sorted(row[column] for row in child.collect())
            assert held == sorted(values), (world.said, held, values)
    root = parts.select("root").drop_fields([f"`{name}`" for name in lists])
    rest = table.of_columns([name for name in table.kinds if name not in lists])
    return root, flattened(frame, rest)


WHOLE: tuple[str, Callable[[Any], Any]] = ("long", lambda v: v if type(v) is int else None)
PARTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "x": ("long", lambda record: (record or {}).get("x")),
    "y": ("text", lambda record: (record or {}).get("y")),
    "int": WHOLE,
    "long": WHOLE,
    "string": ("text", lambda value: value if type(value) is str else None),
}
"""What each field of a record and each type of a choice has: its kind, and its value."""


def flattened(frame: DynamicFrame, table: Table) -> Table:
    """The rows with a column for each field of a record, and for each type of a choice."""
    types = {field.name: field.dataType for field in frame.toDF().schema}
    for name in table.names("record", "mixed"):
        is_record = table.kinds[name] == "record"
        parts = "xy" if is_record else getattr(types.get(name), "names", [])
        for part in parts:
            kind, value_of = PARTS[part]
            table = table.with_column(
                f"{name}.{part}", kind, lambda row, n=name, v=value_of: v(row.get(n))
            )
        if parts:
            table = table.of_columns([column for column in table.kinds if column != name])
    return table


def unnest(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    return transforms.UnnestFrame.apply(frame), flattened(frame, table)


def unbox(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    """A text of JSON is a record; one that is not JSON makes an error record."""
    key, is_bad = _key(table), draw(st.booleans())

    def boxed(row: Any) -> Any:
        number = int(row[key])
        row["box"] = "{oops" if is_bad and number == 1 else json.dumps({"x": number, "y": "q"})
        return row

    rows = [row for row in table.rows if not (is_bad and int(row[key]) == 1)]
    made = table.of_rows(rows).with_column(
        "box", "record", lambda row: {"x": int(row[key]), "y": "q"}
    )
    made = replace(made, bad=table.bad + len(table.rows) - len(rows))
    return transforms.Unbox.apply(transforms.Map.apply(frame, f=boxed), "box", "json"), made


def resolve(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    longs = table.names("long")
    if not longs:
        return transforms.ResolveChoice.apply(frame, choice="make_struct"), table
    name = draw(st.sampled_from(longs))
    rows = [{**row, name: None if row.get(name) is None else str(row[name])} for row in table.rows]
    made = replace(table, rows=rows, kinds={**table.kinds, name: "text"})
    return transforms.ResolveChoice.apply(frame, specs=[(f"`{name}`", "cast:string")]), made


def spigot(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    uri, folder = world.place()
    same = transforms.Spigot.apply(frame, uri, {"topk": 50})
    assert len(rows_below(folder, "json", {})) == len(table.rows), world.said
    return same, table


def errors(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
    assert transforms.ErrorsAsDynamicFrame.apply(frame).count() == table.bad, world.said
    return frame, table


def partitions(transform: Any) -> Step:
    def apply(draw: st.DrawFn, world: World, frame: DynamicFrame, table: Table) -> Made:
        return transform.apply(frame, draw(st.integers(1, 3))), table

    return apply


STEPS: dict[type[Any], Step] = {
    transforms.ApplyMapping: apply_mapping,
    transforms.Coalesce: partitions(transforms.Coalesce),
    transforms.DropFields: drop,
    transforms.DropNullFields: drop_nulls,
    transforms.ErrorsAsDynamicFrame: errors,
    transforms.Filter: keep,
    transforms.FlatMap: flat_map,
    transforms.Join: join,
    transforms.Map: change,
    transforms.MapToCollection: each_of_collection,
    transforms.Relationalize: relationalize,
    transforms.RenameField: rename,
    transforms.Repartition: partitions(transforms.Repartition),
    transforms.ResolveChoice: resolve,
    transforms.SelectFields: select,
    transforms.SelectFromCollection: select_from,
    transforms.Spigot: spigot,
    transforms.SplitFields: split_fields,
    transforms.SplitRows: split_rows,
    transforms.Unbox: unbox,
    transforms.Union: union,
    transforms.UnnestFrame: unnest,
}
