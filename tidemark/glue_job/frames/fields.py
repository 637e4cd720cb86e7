"""Changes to chosen fields of a frame, at any depth: drop, select, rename, split off.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.choices import Value, built, schema_of, values_of
from tidemark.glue_job.frames.paths import find_path, parse_path, path_list
from tidemark.glue_job.frames.types import ELEMENT, VALUE, Choice, Steps, parts_of
from tidemark.local_state.run_warnings import RunWarning, note

Edit = Callable[[Value], Sequence[Value]]


def edited(frame: DataFrame, edits: Mapping[Steps, Edit]) -> DataFrame:
    """Return a frame with fields replaced by the results of their edits.

    A struct that loses all of its fields is removed.
    """
    if not edits:
        return frame
    frame, values = values_of(frame)
    each = (_edited(value, (f".{value.name}",), edits) for value in values)
    return built(frame, [new for several in each for new in several])


def _edited(value: Value, steps: Steps, edits: Mapping[Steps, Edit]) -> Sequence[Value]:
    if steps in edits:
        return edits[steps](value)
    if not any(path[: len(steps)] == steps for path in edits):
        return [value]
    inside = _inside(value.column, value.kind, steps, edits)
    return [Value(value.name, *inside)] if inside else []


def _inside(
    column: Column, kind: DataType, steps: Steps, edits: Mapping[Steps, Edit]
) -> tuple[Column, DataType] | None:
    match kind:
        case StructType():
            fields = list[Value]()
            for field in fields_of(column, kind):
                fields += _edited(field, (*steps, f".{field.name}"), edits)
            return struct_of(column, fields) if fields else None
        case ArrayType():
            return _each(column, kind.elementType, (*steps, ELEMENT), edits, is_map=False)
        case MapType():
            return _each(column, kind.valueType, (*steps, VALUE), edits, is_map=True)
    return column, kind


def _each(
    column: Column, kind: DataType, steps: Steps, edits: Mapping[Steps, Edit], *, is_map: bool
) -> tuple[Column, DataType] | None:
    kinds = list[DataType]()

    def change(one: Column) -> Column:
        new = _edited(Value("", one, kind), steps, edits)
        kinds.extend(value.kind for value in new)
        return new[0].column if new else one

    if is_map:
        changed = F.transform_values(column, lambda _, value: change(value))
    else:
        changed = F.transform(column, change)
    if not kinds:
        return None
    return changed, MapType(StringType(), kinds[0]) if is_map else ArrayType(kinds[0])


def fields_of(column: Column, kind: StructType) -> list[Value]:
    """Return the fields of a struct."""
    return [Value(field.name, column.getField(field.name), field.dataType) for field in kind]


def struct_of(column: Column, fields: Sequence[Value]) -> tuple[Column, StructType]:
    """Return a struct of fields, null where `column` is null, and its type."""
    struct = F.struct(*[field.column.alias(field.name) for field in fields])
    kind = StructType([StructField(field.name, field.kind) for field in fields])
    return F.when(column.isNotNull(), struct), kind


def drop_fields(frame: DataFrame, paths: object) -> DataFrame:
    """Return a frame without some fields; a missing path has no effect."""
    return without(frame, _found(frame, paths))


def without(frame: DataFrame, fields: Iterable[Steps]) -> DataFrame:
    """Return a frame without the fields at some steps, which it has."""
    return edited(frame, dict.fromkeys(fields, _nothing))


def select_fields(frame: DataFrame, paths: object) -> DataFrame:
    """Return some fields of a frame in the order of their paths; a nested one within its struct.

    A missing path causes a warning.
    """
    selected = _found(frame, paths, is_told=True)
    frame, values = values_of(frame)
    by_name = {f".{value.name}": value for value in values}
    tops = dict.fromkeys(steps[0] for steps in selected)
    return built(frame, [new for top in tops for new in _selected(by_name[top], (top,), selected)])


def _selected(value: Value, steps: Steps, selected: Sequence[Steps]) -> Sequence[Value]:
    """Return a field, reduced to the fields inside it that a path names."""
    if steps in selected:
        return [value]
    drops: dict[Steps, Edit] = {}
    _collect_drops(value.kind, steps, selected, drops)
    return _edited(value, steps, drops)


def _collect_drops(
    kind: DataType, steps: Steps, selected: Sequence[Steps], drops: dict[Steps, Edit]
) -> None:
    if steps in selected:
        return
    if not any(path[: len(steps)] == steps for path in selected):
        drops[steps] = _nothing
        return
    if not isinstance(kind, Choice):
        for step, part in parts_of(kind):
            _collect_drops(part, (*steps, step), selected, drops)


def rename_field(frame: DataFrame, old: str, new: str) -> DataFrame:
    """Return a frame with a field renamed; a field that has the new name is replaced: a warning."""
    schema = schema_of(frame)
    place = find_path(schema, parse_path(old))
    if place is None:
        if frame.columns:
            note(RunWarning.FIELD_MISSING, old)
        return frame
    steps, target = place[0], parse_path(new)
    name = target[-1][1:]
    wanted = tuple(step for step in steps[:-1] if step not in (ELEMENT, VALUE))
    there = find_path(schema, target)
    if there is not None and there[0] != steps:
        note(RunWarning.FIELD_REPLACED, new)
    if tuple(step for step in target[:-1] if step != ELEMENT) != wanted:
        return _moved(frame, steps, target, old, new)
    edits: dict[Steps, Edit] = {(*steps[:-1], target[-1]): _nothing}
    edits[steps] = lambda value: [Value(name, value.column, value.kind)]
    return edited(frame, edits)


def _moved(frame: DataFrame, steps: Steps, target: Steps, old: str, new: str) -> DataFrame:
    if {ELEMENT, VALUE} & {*steps, *target}:
        raise UnsupportedError(
            f"rename_field of {old!r} to {new!r} moves a field out of an array or a map, or into "
            "one; use map instead"
        )
    source, values = values_of(frame)
    rest = [
        left for value in values for left in _edited(value, (f".{value.name}",), {steps: _nothing})
    ]
    return built(source, _placed(rest, target, Value("", *value_at(values, steps)), new))


def _placed(fields: Sequence[Value], steps: Steps, value: Value, path: str) -> list[Value]:
    name = steps[0][1:]
    there = next((field for field in fields if field.name == name), None)
    # A field of the same name is replaced.
    rest = [field for field in fields if field is not there]
    if len(steps) == 1:
        return [*rest, Value(name, value.column, value.kind)]
    is_value = value.column.isNotNull()
    inside = list[Value]()
    if there is not None:
        if not isinstance(there.kind, StructType) or isinstance(there.kind, Choice):
            raise UsageError(
                f"the new path {path!r} goes through {name!r}, which is not a struct but "
                f"{there.kind.simpleString()}"
            )
        inside = fields_of(there.column, there.kind)
        is_value |= there.column.isNotNull()
    placed = _placed(inside, steps[1:], value, path)
    struct, kind = struct_of(F.lit(True), placed)
    return [*rest, Value(name, F.when(is_value, struct), kind)]


def _nothing(_: Value) -> Sequence[Value]:
    return []


def value_at(values: Sequence[Value], steps: Steps) -> tuple[Column, DataType]:
    """Return the column and type of a field; for a field in an array, the array of its values."""
    top = next(value for value in values if value.name == steps[0][1:])
    return _value(top.column, top.kind, steps[1:])


def _value(column: Column, kind: DataType, steps: Steps) -> tuple[Column, DataType]:
    if not steps:
        return column, kind
    match kind:
        case StructType():
            field = kind[steps[0][1:]]
            return _value(column.getField(field.name), field.dataType, steps[1:])
        case ArrayType():
            kinds = list[DataType]()

            def inside(one: Column) -> Column:
                part, found_kind = _value(one, kind.elementType, steps[1:])
                kinds.append(found_kind)
                return part

            return F.transform(column, inside), ArrayType(kinds[0])
        case MapType():
            raise UnsupportedError(f"a path into the map of {kind.simpleString()} is not supported")
    raise AssertionError(f"no step {steps[0]} into {kind.simpleString()}")


def _found(frame: DataFrame, paths: object, *, is_told: bool = False) -> list[Steps]:
    """Return the steps of the paths that exist in a frame."""
    schema, steps = schema_of(frame), list[Steps]()
    for path in path_list(paths):
        one = find_path(schema, parse_path(path))
        if one is not None:
            steps.append(one[0])
        elif is_told and schema.fields:
            note(RunWarning.FIELD_MISSING, path)
    return steps
