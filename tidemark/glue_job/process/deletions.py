"""What the script itself has deleted by a purge: a later read of it fails, here as on AWS."""

import re
import traceback

GONE = re.compile(r"No such file or directory: (s3[an]?://\S+)|cannot read (\S+) .*FileNotFoundErr")
_deleted: dict[str, list[tuple[str, int]]] = {}  # where each place was purged, file and line


def note_deletion(uri: str) -> None:
    """Note the place that the caller deletes files of, and the lines that are running."""
    stack = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_stack(None)]
    _deleted[uri.rstrip("/")] = stack


def remedy_of_deletion(cause: str, script: str) -> str:
    """Return what to do about a failed read of a file that the script has deleted; else nothing."""
    if (gone := GONE.search(cause)) is None:
        return ""
    file = (gone[1] or gone[2]).partition("://")[2]
    for place, stack in reversed(_deleted.items()):
        if file == (folder := place.partition("://")[2]) or file.startswith(f"{folder}/"):
            line = next((f", line {line}" for name, line in stack if name == script), "")
            return (
                f"the script itself has deleted the files of {place} by a purge{line}, and Spark "
                "reads a file only when a frame is written or counted: write first, to another "
                "path, and purge then"
            )
    return ""
