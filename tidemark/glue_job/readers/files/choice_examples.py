"""Which choices a script made structs of, unresolved: a cast of one fails, here as on AWS."""

import contextlib
import json
import re
from collections.abc import Iterator

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidemark.glue_job.frames.choices import quoted, schema_of
from tidemark.glue_job.frames.types import Choice, plain_type, type_name
from tidemark.glue_job.readers.files.misread import uri_of_row
from tidemark.local_state.job_run import job_home

STRUCT = re.compile(r'"(STRUCT<[^"]*>)"')
_met: dict[str, tuple[DataFrame, Choice]] = {}  # by the name of the column


def note_choices(frame: DataFrame) -> None:
    """Note the columns of a frame that the script gets as structs, with a field for each type."""
    for field in schema_of(frame):
        if isinstance(field.dataType, Choice):
            _met[field.name] = frame, field.dataType


def remedy_of_choice(cause: str) -> str:
    """Return where the types of a choice that failed a run are from; else nothing."""
    structs = {re.sub(r"\s", "", struct).lower() for struct in STRUCT.findall(cause)}
    cast = " ".join(re.findall(r'"([^"]*)"', STRUCT.sub("", cause)))

    def is_named(column: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", cast) is not None

    # Several columns may be of the same types: first those that the cast names.
    for name, (frame, kind) in sorted(_met.items(), key=lambda met: not is_named(met[0])):
        if plain_type(kind).simpleString().lower() in structs:
            types = [type_name(field.dataType) for field in kind]
            examples = " and ".join(_examples(frame, name, kind))
            return (
                f"the column {name} is a choice of {' and '.join(types)}: {examples}; correct the "
                f'file, or resolve the choice before toDF(): frame.resolveChoice(specs=[("{name}", '
                f'"cast:{types[0]}")]), which makes null of what is not of that type'
            )
    return ""


def _examples(frame: DataFrame, name: str, kind: Choice) -> Iterator[str]:
    """Yield for each type of a choice a value of it, with its file and its line."""
    for field in kind:
        row = None
        value = F.col(quoted(name)).getField(field.name)
        with contextlib.suppress(PySparkException):  # what made the run fail may fail again
            row = frame.where(value.isNotNull()).select(value, uri_of_row()).first()
        if row is not None:
            shown = json.dumps(row[0], default=str, ensure_ascii=False)[:40]
            # Spark does not know the file of each row.
            place = f" in {_line(row[1], name, row[0])}" if row[1] else ""
            yield f"the {type_name(field.dataType)} {shown}{place}"


def _line(uri: str, name: str, value: object) -> str:
    """Return a file with the line that holds a value, if its lines are JSON."""
    with (
        contextlib.suppress(OSError, ValueError),  # ValueError: it is compressed
        job_home().local_path(uri).open(encoding="utf-8") as lines,
    ):
        for number, line in enumerate(lines, 1):
            with contextlib.suppress(ValueError):
                record = json.loads(line) if name in line else None
                if isinstance(record, dict) and record.get(name) == value:
                    return f"{uri}, line {number}"
    return uri
