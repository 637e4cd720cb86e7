"""Reads the value of a secret: never from the command line, which others on the machine see."""

import sys
from pathlib import Path

import click

from tidemark.errors import UsageError


def read_value(file: Path | None) -> str:
    """Return the content of a file, of a pipe without its last line break, or typed input."""
    try:
        if file is not None:
            value = file.read_text(encoding="utf-8")
        elif sys.stdin.isatty():
            value = str(click.prompt("value", hide_input=True))
        else:
            value = sys.stdin.buffer.read().decode().removesuffix("\n")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the value is not UTF-8: {error}") from error
    if not value:
        raise UsageError("the value is empty; type it, pipe it, or name a file with --file")
    return value
