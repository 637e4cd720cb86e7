"""Text in files that is not JSON: error records of the DynamicFrame, as in Glue.

AWS does not document how much of a file one error covers. Here it is a line; or the whole file if
no line of it is a record, or with ``multiLine``.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemark.glue_job.frames.errors import Failed, reader_errors
from tidemark.glue_job.frames.session import met_in_some_row, own_query
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import SHOWN, uri_of_row, without_quotes
from tidemark.glue_job.readers.files.read_errors import blaming_files, unreadable
from tidemark.glue_job.readers.json.kinds import BROKEN, JAVA, SEVERAL, is_utf_8, kinds_of
from tidemark.glue_job.readers.json.lines import (
    LINE,
    as_separated,
    fit_in_strings,
    separated_strings,
    strings_by_spark,
    strings_of,
)
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.messages import plural

SOURCE, IS_BROKEN = "file of a string", "text is broken"
MESSAGE = "error in jackson reader"  # the message of AWS's error records for JSON


def good_strings(files: Files) -> DataFrame | None:
    """Return the strings of files that are JSON, None without any; warn of the error records."""
    by_lines = not files.format.is_multi_line
    # Always by Spark's reader: it knows the file of each string.
    lines = strings_by_spark(files, is_whole=False) if by_lines else None
    by_files = fit_in_strings(files.paths)
    whole = strings_by_spark(files, is_whole=True) if by_files else None
    with blaming_files(files.paths, "json"), own_query(files.spark):
        return _without_errors(lines, whole, files.format.failed)


def separated_good_strings(files: Files) -> DataFrame | None:
    """Return the same as `separated_strings`, but strings that are not JSON become error records.

    A file with a line that is not a record is read as a whole, as without a schema.
    """
    is_whole = files.format.is_multi_line
    if is_whole and not fit_in_strings(files.paths):
        return separated_strings(files)
    strings = strings_of(files, is_whole=is_whole)
    has = _states(strings, files)
    if BROKEN in has and not is_whole and fit_in_strings(files.paths):
        strings, is_whole = strings_of(files, is_whole=True), True
        has = _states(strings, files) | {SEVERAL}
    if BROKEN in has:
        good = good_strings(files)
        if good is None:
            return None  # Spark's reader fails, as without a schema
        strings = good
    return as_separated(strings) if has else None


def _states(strings: DataFrame, files: Files) -> set[str]:
    """Return which of `BROKEN` and `SEVERAL` apply to some strings."""
    each = strings.select(F.reflect(F.lit(JAVA), F.lit("state"), _line()).alias("state"))
    with blaming_files(files.paths, "json"):
        return met_in_some_row(each, {name: F.col("state") == name for name in (BROKEN, SEVERAL)})


def _without_errors(
    lines: DataFrame | None, whole: DataFrame | None, failed: list[Failed]
) -> DataFrame | None:
    either = whole if lines is None else lines
    if either is None:
        return None
    if other := either.filter(~is_utf_8(_line())).select(uri_of_row()).first():
        raise unreadable(other[0], "json", "it is not UTF-8, which Glue reads")
    if lines is None or whole is None:
        judged = _asked(either)
        good, bad = judged.filter(~_broken()), judged.filter(_broken())
    else:
        good, bad = _by_file(lines, whole)
    if good.isEmpty():
        return None
    failed.append(
        Failed(lambda: reader_errors(bad, F.lit(MESSAGE), _line(), F.col(SOURCE)), "", "")
    )
    count, source, text = bad.agg(
        F.count("*"), F.min_by(SOURCE, SOURCE), F.min_by(F.substring(_line(), 1, SHOWN), SOURCE)
    ).collect()[0]
    shown = " ".join(text.split())
    about = f"{plural(count, 'record')} not JSON, or too deep, first one of {source}: {shown!r}"
    note(RunWarning.ERROR_RECORDS, about)
    return good.drop(SOURCE, IS_BROKEN)


def _by_file(lines: DataFrame, whole: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the strings that are JSON and those that are not, each file read the better way."""
    judged = _asked(lines).groupBy(SOURCE).agg(F.min(_broken()).alias("no record"))
    broken = _asked(whole).filter(_broken()).select(SOURCE)
    rows = broken.join(judged, SOURCE, "left").collect()
    by_line = [row[0] for row in rows if row[1] is False]
    nothing = [row[0] for row in rows if row[1] is not False]
    # Because of it, and before anything that is not deterministic, Spark does not open other files.
    path = without_quotes(F.col("_metadata.file_path"))
    file = F.regexp_replace(path, "^file:/+", "file:///")  # as input_file_name() has it
    lines = _asked(lines.filter(file.isin(by_line)))
    good = _asked(whole.filter(~file.isin(by_line + nothing))).unionByName(lines.filter(~_broken()))
    bad = _asked(whole.filter(file.isin(nothing))).unionByName(lines.filter(_broken()))
    return good, bad


def _asked(strings: DataFrame) -> DataFrame:
    """Return strings with their file, and whether they are not JSON."""
    return strings.withColumns({SOURCE: uri_of_row(), IS_BROKEN: kinds_of(_line()) == BROKEN})


def _line() -> Column:
    return F.col(f"`{LINE}`")


def _broken() -> Column:
    return F.col(f"`{IS_BROKEN}`")
