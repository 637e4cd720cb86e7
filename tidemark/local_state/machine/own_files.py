"""Files with which the processes of one user find each other; no other user has access."""

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
