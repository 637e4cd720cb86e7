"""Checks of names in the table: of a job, a source, a run or a cursor."""

from __future__ import annotations

from watermarks.errors import WatermarkValueError

# Bytes: DynamoDB's limits, less our prefix of a run id.
_MAX_JOB_LENGTH, _MAX_RUN_LENGTH, _MAX_NAME_LENGTH = 2048, 700, 255


def check_name(parameter: str, name: object, longest: int = _MAX_NAME_LENGTH) -> None:
    """Raise a ValueError unless a name is a non-empty str that a key of the table can hold."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"{parameter} is {name!r}: give a non-empty str")
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{parameter} is {name!r}, which holds half of a character (a lone surrogate): repair "
            "the string where it is decoded"
        ) from error
    if length > longest:
        raise ValueError(f"{parameter} has {length} bytes: give at most {longest} ({name[:40]!r}…)")


def check_job(job_id: object) -> None:
    """Raise a ValueError unless a job id can be a key."""
    check_name("job_id", job_id, _MAX_JOB_LENGTH)


def check_source(source: object) -> None:
    """Raise a ValueError unless a source is empty or a name without "." and "#"."""
    if source == "":
        return
    check_name("source", source)
    if any(character in str(source) for character in ".#~"):
        raise ValueError(f"source is {source!r}: give a name without '.', '#' and '~'")


def check_run_id(run_id: object) -> None:
    """Raise a ValueError unless a run id is one that sorts below the library's own rows."""
    check_name("run_id", run_id, _MAX_RUN_LENGTH)
    if str(run_id) >= "~":
        raise ValueError(
            f"run_id is {run_id!r}: the library's own rows start with '~', and a run id must "
            "sort below them; give the job run id of Glue (jr_...), or plain ASCII"
        )


def check_cursor(cursor: object) -> None:
    """Raise a ValueError unless a cursor is the name of one watermark."""
    check_name("cursor", cursor)
    if "." in str(cursor):
        *_, source, name = str(cursor).split(".")
        raise WatermarkValueError(
            f"cursor is {cursor!r}: the name of a watermark has no dot; for one of several sources "
            f"give source={source!r}, cursor={name!r}; for a field of a struct give "
            f"column={cursor!r} where the frame is read"
        )
