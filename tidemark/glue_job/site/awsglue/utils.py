"""Job arguments: getResolvedOptions.

Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1), observed by running it.
"""

import argparse
import traceback
from collections.abc import Callable, ItemsView, KeysView, Mapping, Sequence, ValuesView
from typing import Any, NoReturn

from tidemark.glue_job.refusals import install
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.model.assembly.definitions import BOOKMARK_OPTIONS, CONTINUATION_OPTIONS

RESERVED = tuple(
    "job-bookmark-option job-bookmark-from job-bookmark-to continuation-option".split()
)
INTERNAL = tuple(
    "JOB_ID JOB_RUN_ID SECURITY_CONFIGURATION encryption-type enable-data-lineage".split()
)
TEMPORARY_FOLDERS = ("RedshiftTempDir", "TempDir")


def callsite() -> str:
    """Return the lines of the script that led here, in the form of a traceback."""
    return "".join(traceback.format_list(traceback.extract_stack()[:-2]))


def iteritems(d: Mapping[Any, Any], **kwargs: Any) -> ItemsView[Any, Any]:
    """Return the items of a dict; keywords have no effect, as in the next two functions."""
    return d.items()


def iterkeys(d: Mapping[Any, Any], **kwargs: Any) -> KeysView[Any]:
    """Return the keys of a dict."""
    return d.keys()


def itervalues(d: Mapping[Any, Any], **kwargs: Any) -> ValuesView[Any]:
    """Return the values of a dict."""
    return d.values()


class GlueArgumentError(Exception):
    """A job argument is missing or malformed."""


class GlueArgumentParser(argparse.ArgumentParser):
    """An argument parser that raises GlueArgumentError instead of ending the process."""

    def error(self, msg: str) -> NoReturn:
        """Raise GlueArgumentError with argparse's message."""
        raise GlueArgumentError(msg)


def _of_glue_6(
    args: Sequence[str], options: Sequence[str], allow_abbrev: bool = False
) -> dict[str, Any]:
    """Return the values of the named job arguments.

    Args:
        args: ``sys.argv``, the script's name first.
        options: names without ``--``; every one is required.
        allow_abbrev: whether the beginning of a name counts as the name. Glue 6.0 has this
            parameter; up to 5.1 beginnings always count.

    Returns:
        One string per option, dashes in names turned into underscores; and always
        job_bookmark_option, job_bookmark_from, job_bookmark_to, JOB_ID, JOB_RUN_ID,
        SECURITY_CONFIGURATION, encryption_type, enable_data_lineage, RedshiftTempDir and TempDir,
        None if missing.

    Raises:
        GlueArgumentError: an option is missing, has no value, or is not a bookmark option.
        RuntimeError: a reserved option was requested, or from/to do not fit the bookmark option.
        argparse.ArgumentError: an internal option was requested.
    """
    reserved = [option for option in options if option in RESERVED]
    if reserved:
        raise RuntimeError(f"Using reserved arguments {','.join(reserved)}")
    parser = GlueArgumentParser(allow_abbrev=allow_abbrev)
    parser.add_argument("--job-bookmark-option", choices=BOOKMARK_OPTIONS)
    parser.add_argument("--continuation-option", choices=tuple(CONTINUATION_OPTIONS))
    for name in ("job-bookmark-from", "job-bookmark-to", *INTERNAL, *TEMPORARY_FOLDERS):
        parser.add_argument(f"--{name}")
    for option in options:
        if option not in TEMPORARY_FOLDERS:
            parser.add_argument(f"--{option}", required=True)
    parsed = vars(parser.parse_known_args(list(args)[1:])[0])
    continuation = parsed.pop("continuation_option")
    if parsed["job_bookmark_option"] is None:
        default = "job-bookmark-disable"
        parsed["job_bookmark_option"] = CONTINUATION_OPTIONS.get(continuation, default)
    _check_window(parsed)
    temporary = parsed["TempDir"] or parsed["RedshiftTempDir"]
    parsed["TempDir"] = parsed["RedshiftTempDir"] = temporary
    return parsed


def _up_to_glue_5(args: Sequence[str], options: Sequence[str]) -> dict[str, Any]:
    return _of_glue_6(args, options, allow_abbrev=True)


getResolvedOptions: Callable[..., dict[str, Any]]
if float(own_glue_version()) >= 6:
    getResolvedOptions = _of_glue_6
else:
    _up_to_glue_5.__doc__ = _of_glue_6.__doc__
    getResolvedOptions = _up_to_glue_5


def _check_window(parsed: dict[str, Any]) -> None:
    given = [parsed["job_bookmark_from"] is not None, parsed["job_bookmark_to"] is not None]
    if parsed["job_bookmark_option"] == "job-bookmark-pause":
        if any(given) and not all(given):
            missing = "--job-bookmark-to" if given[0] else "--job-bookmark-from"
            raise RuntimeError(f"Missing option or value for {missing}")
    # AWS accepts a single one of them outside job-bookmark-pause.
    elif all(given):
        raise RuntimeError("Invalid option(s)--job-bookmark-from --job-bookmark-to")


install(__name__)
