"""Values and records that Spark would misread: they fail the action, by file and column.

Glue makes a choice of a column with values that are not of its type.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tidemark.errors import UnsupportedError
from tidemark.glue_job.frames.choices import quoted
from tidemark.glue_job.frames.session import lenient_cast, met_in_some_row
from tidemark.glue_job.readers.files.read_errors import REMEDY, UNCHANGED
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.messages import plural

SHOWN = 200  # characters of a value
_NAMES = {"bigint": "long", "smallint": "short", "tinyint": "byte"}  # Spark's -> Glue's
CHOICE_REMEDY = (
    "the local Glue does so for a DynamicFrame of CSV or JSON: declare the column as string in the "
    "table and convert it in the script, or repair the value, and run again: "
    f"{UNCHANGED}"
)


def mixed(path: str, kind: T.DataType, value: str, file: str) -> UnsupportedError:
    """Return the error for one value."""
    return UnsupportedError(
        f"the column {path!r} is declared {kind.simpleString()} and holds {value[:SHOWN]!r} in "
        f"{file}: {_of_choice(kind)}; {CHOICE_REMEDY}"
    )


def _of_choice(kind: T.DataType) -> str:
    name = _NAMES.get(kind.simpleString(), kind.simpleString())
    return f"Glue makes a choice of a column of mixed types, as choice<{name},string>"


def misfit(path: str, kind: T.DataType, value: Column) -> Column:
    """Return the error message for one value, as a column of the rows of a file."""
    return F.concat(
        F.lit(
            f"UnsupportedError: the column '{path}' is declared {kind.simpleString()} and holds '"
        ),
        F.regexp_replace(F.substring(value, 1, SHOWN), r"\s+", " "),
        F.lit("' in "),
        file_of_row(),
        F.lit(f": {_of_choice(kind)}; {CHOICE_REMEDY}"),
    )


def file_of_row() -> Column:
    """Return the file of a row; it is unknown for grouped files."""
    jvm: Any = SparkContext.getOrCreate()._jvm
    # `getattr`: `dir` of a package knows no classes.
    file = Column(getattr(jvm.dev.tidemark.files, "FileOfRow").column())  # noqa: B009
    return F.when(file == "", F.lit("one of the files")).otherwise(file)


def uri_of_row() -> Column:
    """Return the URI of a row's file, without Spark's quoting of characters."""
    return without_quotes(F.input_file_name())


def without_quotes(uri: Column) -> Column:
    """Return the URI of a file as Spark names it, without Spark's quoting of characters."""
    return F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))


def failing(text: Column, kind: T.DataType) -> Column:
    """Return a column that fails the action as soon as its value is used."""
    return F.raise_error(text).cast(kind)


def first_misfit_of_csv(schema: T.StructType, line: Column, options: Mapping[str, str]) -> Column:
    """Return the error message for the first field of a line that its column cannot hold."""
    declared = ", ".join(f"`{place}` string" for place in range(len(schema)))
    texts = F.from_csv(line, declared, {k: v for k, v in options.items() if k != "header"})
    return _first(
        F.when(
            F.col(quoted(field.name)).isNull() & texts[str(place)].isNotNull(),
            misfit(field.name, field.dataType, texts[str(place)]),
        )
        for place, field in enumerate(schema)
        if not isinstance(field.dataType, T.StringType)
    )


def first_misfit_of_json(schema: T.StructType, struct: Column, record: Column) -> Column:
    """Return the error message for the first key of a record that its column cannot hold.

    A value that only partly does not fit comes after values that do not fit at all.
    """
    whole, parts = list[Column](), list[Column]()
    for steps, kind, value in _values(schema, (), struct):
        text = F.get_json_object(record, "$" + "".join(f"['{step}']" for step in steps))
        error = misfit(".".join(steps), kind, text)
        whole.append(F.when(value.isNull() & text.isNotNull(), error))
        if isinstance(kind, T.ArrayType | T.MapType):
            parts.append(F.when(text.isNotNull() & (F.to_json(value) != text), error))
    return _first([*whole, *parts])


def _values(
    schema: T.StructType, steps: tuple[str, ...], struct: Column
) -> Iterator[tuple[tuple[str, ...], T.DataType, Column]]:
    """Yield the fields and the fields inside structs, innermost first."""
    for place, field in enumerate(schema):
        value = struct.getField(str(place))
        if isinstance(field.dataType, T.StructType):
            yield from _values(field.dataType, (*steps, field.name), value)
        if not isinstance(field.dataType, T.StringType):
            yield (*steps, field.name), field.dataType, value


def _first(texts: Iterator[Column] | list[Column]) -> Column:
    return F.coalesce(*texts, F.lit(None).cast("string"))


BREAKS = r"[\s\p{Cc}\p{Zl}\p{Zp}]+"  # a control character would cut the message off


def csv_reason(schema: T.StructType, line: Column, options: Mapping[str, str]) -> Column:
    """Return why a line of CSV was misread."""
    reason = csv_does_not_parse(line, options, len(schema))
    return F.coalesce(first_misfit_of_csv(schema, line, options), reason)


def csv_does_not_parse(line: Column, options: Mapping[str, str], columns: int) -> Column:
    """Return the error message for a line that is not a record of CSV of some columns."""
    hint = "if a value in quotes holds a line feed, set multiLine to true in format_options; else "
    is_multi_line = options.get("multiLine") == "true"
    fields = _field_count(line, options)
    noun = F.when(fields == 1, " field").otherwise(" fields")
    counts = F.concat(F.lit("it has "), fields, noun, F.lit(f" for {plural(columns, 'column')}; "))
    cause = F.when(fields != columns, counts)
    return does_not_parse(line, "csv", "" if is_multi_line else hint, cause)


def _field_count(line: Column, options: Mapping[str, str]) -> Column:
    quote, escape = re.escape(options["quote"]), re.escape(options["escape"])
    if quote:
        escaped = rf"[^{quote}{escape}]|{escape}."
        inside = rf"[^{quote}]|{quote}{quote}" if quote == escape else escaped
        line = F.regexp_replace(line, f"(?s){quote}(?:{inside})*+{quote}", "")
    return F.size(F.split(line, re.escape(options["sep"])))


def json_reason(schema: T.StructType, struct: Column, record: Column) -> Column:
    """Return why a record of JSON was misread; see `first_misfit_of_json`."""
    return F.coalesce(first_misfit_of_json(schema, struct, record), json_does_not_parse(record))


def json_does_not_parse(record: Column) -> Column:
    """Return the error message for a string that is not a record of JSON."""
    return does_not_parse(record, "json", "a record is an object, or several in an array; ")


def refusing(
    frame: DataFrame, bad: Column, reason: Column, companion: Column | None = None
) -> DataFrame:
    """Return the rows; one that has a text of a bad record fails the action with the reason.

    Where bad records are those of Spark's reader, another of its columns is beside them: Spark
    refuses to ask for the bad ones alone. It simplifies a substring of length 0, no repetition.
    """
    if companion is not None:
        reason = F.concat(reason, F.repeat(F.coalesce(companion.cast("string"), F.lit("")), 0))
    failure = F.raise_error(reason).cast("boolean")
    is_good = F.when(bad.isNull(), F.lit(True)).otherwise(failure)
    # A filter of the script would be evaluated first, and hide bad records: Spark moves none
    # through a sample, also of all rows. With one seed, Spark compiles it once.
    return frame.filter(is_good).sample(fraction=1.0, seed=0)


def does_not_parse(
    record: Column, format_name: str, hint: str = "", cause: Column | None = None
) -> Column:
    """Return the error message for a record that does not parse, with a hint before REMEDY."""
    why = F.lit("") if cause is None else F.coalesce(cause, F.lit(""))
    return F.concat(
        F.lit("UnreadableFileError: cannot read "),
        file_of_row(),
        F.lit(f" as {format_name}: '"),
        F.regexp_replace(F.substring(record, 1, SHOWN), BREAKS, " "),
        F.lit("' does not parse; "),
        why,
        F.lit(f"{hint}{REMEDY}"),
    )


def is_rounded(text: Column, kind: T.DataType) -> Column:
    """Return whether a decimal type rounds the number in a string; False for other types."""
    if not isinstance(kind, T.DecimalType):
        return F.lit(False)
    # The first two tests spare most strings the slow third one.
    is_long = F.length(F.substring_index(text, ".", -1)) > kind.scale
    digits = rf"^\s*[+-]?[0-9]*\.[0-9]{{{kind.scale}}}[0-9]*[1-9]"
    number = lenient_cast(text, T.DoubleType())
    by_exponent = F.lower(text).contains("e") & (F.round(number, kind.scale) != number)
    return (text.contains(".") & is_long & text.rlike(digits)) | by_exponent


def note_rounded(frame: DataFrame, flags: Mapping[str, Column]) -> None:
    """Warn of the columns whose flag is set in some row; one pass over the rows."""
    rounded = met_in_some_row(frame, flags)
    for name in flags:
        if name in rounded:
            note(RunWarning.DECIMAL_ROUNDED, name)
