"""Checks whether a process exists."""

import os


def is_running(pid: int) -> bool:
    """Return whether a process with this id runs; it may be another than the one that had it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
