"""Files with which processes of one user find each other, files of JSON lines, and whole files.

No other user has access to the first.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_own_file(file: Path, content: Mapping[str, Any]) -> None:
    """Write a file at once, as JSON, readable by this user only."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps(dict(content)), encoding="utf-8")
    unfinished.replace(file)


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a file that nobody sees in part, in place of one that may be linked elsewhere."""
    unfinished = file.with_name(f".{file.name}.{os.getpid()}.unfinished")
    unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
    unfinished.replace(file)


def read_own_file(file: Path) -> bytes | None:
    """Return the content of a file; None if it is missing."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)  # a pipe has no writer
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise ValueError(f"{file} is not this user's alone")
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from error


def append_line(file: Path, document: Any) -> None:
    """Append a document to a file of JSON lines."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"{json.dumps(document)}\n")


def read_lines(file: Path) -> list[Any]:
    """Return the documents of a file of JSON lines; none of a missing one."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    # A process that was killed may leave a part of a line.
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
