"""Paths of scripts to fields: ``a.b``, with backticks around names with dots, ``list[].b``.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

import re
from collections.abc import Iterable

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.types import ELEMENT, VALUE, Choice, Steps

# A name in backticks, in which a doubled one is a backtick; else what has no dot.
_NAME = re.compile(r"`((?:[^`]|``)+)`|((?:[^.`\[]|\[(?!\]))+)")
_AFTER = re.compile(r"(\[\])?(?:\.|$)")


def path_list(paths: object) -> list[str]:
    """Return the paths that a script gave: a list, or one path as a string."""
    if not isinstance(paths, Iterable):
        raise UsageError(f"the paths are {paths!r}; they must be a list of strings")
    strings = [paths] if isinstance(paths, str) else list(paths)
    if wrong := [path for path in strings if not isinstance(path, str)]:
        raise UsageError(f"the path {wrong[0]!r} is not a string")
    return strings


def parse_path(path: str) -> Steps:
    """Return the steps of a path: a name with a dot in front, or ``[]``."""
    if not isinstance(path, str):
        raise UsageError(f"the path {path!r} is not a string")
    steps, place = list[str](), 0
    while place < len(path) or not steps:
        name = _NAME.match(path, place)
        after = _AFTER.match(path, name.end()) if name else None
        if name is None or after is None:
            return _whole(path)
        steps.append(f".{name[1].replace('``', '`') if name[1] else name[2]}")
        if after[1]:
            steps.append(ELEMENT)
        place = after.end()
        if after[0].endswith(".") and place == len(path):
            return _whole(path)
    return tuple(steps)


def _whole(path: str) -> Steps:
    # A join makes names such as `.id`, which do not parse as paths.
    if not path or path.count("`") % 2:
        raise UsageError(f"the path {path!r} is not a field; put names with dots into backticks")
    return (f".{path}",)


def path_string(steps: Steps) -> str:
    """Return steps in the form that scripts use."""
    text = ""
    for step in steps:
        name = step[1:]
        plain = name if re.fullmatch(r"[^.`\[\]]+", name) else f"`{name.replace('`', '``')}`"
        text += step if step in (ELEMENT, VALUE) else f".{plain}"
    return text.removeprefix(".")


def find_path(
    kind: DataType, wanted: Steps, *, is_case_sensitive: bool = True
) -> tuple[Steps, DataType] | None:
    """Return the steps to a field, spelled as in the schema, and its type; None if it is missing.

    Arrays and maps on the way need no separate step.
    """
    steps: Steps = ()
    for step in wanted:
        while isinstance(kind, ArrayType | MapType) and step != ELEMENT:
            kind, steps = _into(kind, steps)
        if step == ELEMENT:
            if not isinstance(kind, ArrayType):
                return None
            kind, steps = _into(kind, steps)
            continue
        if not isinstance(kind, StructType) or isinstance(kind, Choice):
            return None
        names = [field.name for field in kind]
        name = _name(names, step[1:], is_case_sensitive)
        if name is None:
            return None
        kind, steps = kind.fields[names.index(name)].dataType, (*steps, f".{name}")
    return steps, kind


def _into(kind: ArrayType | MapType, steps: Steps) -> tuple[DataType, Steps]:
    if isinstance(kind, ArrayType):
        return kind.elementType, (*steps, ELEMENT)
    return kind.valueType, (*steps, VALUE)


def _name(names: list[str], wanted: str, is_case_sensitive: bool) -> str | None:
    if wanted in names:
        return wanted
    if is_case_sensitive:
        return None
    return next((name for name in names if name.lower() == wanted.lower()), None)
