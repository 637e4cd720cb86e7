"""Turns the errors of a command into one line and an exit code."""

import errno
import os
import re
import signal
from pathlib import Path

import click

from tidemark.errors import (
    EntityNotFoundError,
    InputError,
    NotInstalledError,
    TidemarkError,
    UsageError,
)
from tidemark.extras import not_installed
from tidemark.local_state.home_folder import DEFAULT_HOME
from tidemark.local_state.machine.disk import full_disk_line, has_room, is_full

FAILURE, USAGE, NOTHING_TRIED = 1, 2, 3
RUNNERS = ("run", "submit")
# What scripts look for, and people do not.
GLUE_SUFFIX = re.compile(r"\.? \(Service: AWSGlue; [^)]*\)")


def exit_line(error: BaseException, command: str | None) -> tuple[str, int] | None:
    """Return the line and the exit code for an error of a command; None if it is not ours."""
    is_verdict = command in ("prove", "diff")
    # 1 would say that the job is wrong, or that rows differ.
    failure = NOTHING_TRIED if is_verdict else FAILURE
    match error:
        case ModuleNotFoundError():
            missing = not_installed(error.name or "")
            return exit_line(missing, command) if missing else None
        case NotInstalledError() if is_verdict:  # the request is right, the machine lacks something
            return f"error: {error}", NOTHING_TRIED
        case UsageError() | InputError() | EntityNotFoundError():
            return f"error: {GLUE_SUFFIX.sub('', str(error))}", USAGE
        case TidemarkError():
            return f"error: {error}", failure
        case OSError(errno=errno.EPIPE):  # the reader of our output has left: click ends quietly
            return None
        case OSError():
            return f"error: {os_error_message(error)}", failure
        case click.Abort():
            return _unanswered_line(error)
    continuation = f"; `tidemark {command}` continues from what was committed"
    return f"stopped{continuation if command in RUNNERS else ''}", 128 + signal.SIGINT


def _unanswered_line(error: click.Abort) -> tuple[str, int] | None:
    # A no has no line: click reports it.
    # The line begins below the question.
    match error.__context__:
        case EOFError():
            return "\nerror: standard input has ended without an answer; --yes answers", USAGE
        case KeyboardInterrupt():
            return "\nstopped", 128 + signal.SIGINT
    return None


def os_error_message(error: OSError) -> str:
    """Return one line about a file that cannot be read or written, or a disk that is full."""
    home = os.environ.get("TIDEMARK_HOME") or DEFAULT_HOME
    named = [name for name in (error.filename2, error.filename) if isinstance(name, str)]
    folders = [Path(name).absolute().parent for name in named] + [Path(home).absolute()]
    if is_full(error):
        full = [folder for folder in folders if not has_room(folder)]
        if not full and not named:  # every disk of ours has room: it is what stdout leads to
            return "cannot write the output: its disk is full; make room, then run again"
        folder = full[0] if full else folders[0]
        return f"{full_disk_line(folder)}; make room, then run again"
    where = f" {named[-1]}" if named else ""
    return f"cannot use{where}: {error.strerror or error}; make it readable and writable"
