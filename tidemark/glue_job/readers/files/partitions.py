"""Partition folders: their columns, and the types of these.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-partitions.html
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple
from urllib.parse import unquote

from tidemark.errors import UsageError
from tidemark.glue_job.frames.types import MAX_DIGITS
from tidemark.local_state.bookmarks.path_patterns import root_of

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
_DOUBLE = re.compile(r"[+-]?\d*\.\d+")


class Layout(NamedTuple):
    """The root of a file's partition folders, and the columns they name, outermost first."""

    base: str = ""
    columns: tuple[str, ...] = ()


def layout_of(file: str, paths: Iterable[str]) -> Layout:
    """Return the layout of a file: the unbroken run of ``name=value`` folders nearest to it."""
    root = next((root for path in paths if (root := root_of(file, path))), None)
    if root is None:
        return Layout()
    folders = file.removeprefix(f"{root}/").split("/")[:-1]
    end = len(folders)
    while end and "=" not in folders[end - 1]:
        end -= 1
    begin = end
    while begin and "=" in folders[begin - 1]:
        begin -= 1
    for folder in folders[begin:end]:
        if not all(folder.split("=", 1)):
            raise UsageError(
                f"the folder {folder!r} of {file} is not a partition: Spark reads no empty name or "
                f"value of one; rename it, as {NULL_PARTITION} for null, or name it in exclusions"
            )
    columns = tuple(folder.partition("=")[0] for folder in folders[begin:end])
    return Layout("/".join([root, *folders[:begin]]), columns) if columns else Layout()


def values_of(file: str, layout: Layout) -> tuple[str | None, ...]:
    """Return the values of a file's partition columns, in the order of the layout."""
    folders = file.removeprefix(f"{layout.base}/").split("/")[: len(layout.columns)]
    values = (unquote(folder.partition("=")[2]) for folder in folders)
    return tuple(None if value == NULL_PARTITION else value for value in values)


def inferred_type(values: Sequence[str | None]) -> str:
    """Return the type that Spark gives a partition column with these values, as in ``cast``."""
    types = {_type_of(value) for value in values if value is not None}
    if "decimal" in types <= {"int", "bigint", "decimal"}:
        return f"decimal({max(map(_digits, filter(None, values)))},0)"
    if types <= {"int", "bigint", "double"}:
        return next((t for t in ("double", "bigint", "int") if t in types), "string")
    if types <= {"date", "timestamp"}:
        return "timestamp" if "timestamp" in types else "date"
    return "string"


def _digits(value: str) -> int:
    return len(value.lstrip("+-0"))


def _type_of(value: str) -> str:
    if re.fullmatch(r"[+-]?\d+", value):
        size = abs(int(value))
        if size <= _LONG_MAX:
            return "int" if size <= _INT_MAX else "bigint"
        return "decimal" if _digits(value) <= MAX_DIGITS else "double"
    if _DOUBLE.fullmatch(value):
        return "double"
    for parse, name in ((date.fromisoformat, "date"), (datetime.fromisoformat, "timestamp")):
        try:
            parse(value)
        except ValueError:
            continue
        return name if re.match(r"\d{4}-\d{2}-\d{2}", value) else "string"
    return "string"
