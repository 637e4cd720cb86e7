"""The folder of a home: which one it is, and whether it may be one."""

import contextlib
import os
import stat
import sys
from errno import EACCES, EEXIST, ELOOP, ENOTDIR, EROFS
from functools import lru_cache
from pathlib import Path

from tidemark.errors import UsageError
from tidemark.local_state.machine.disk import existing

PROJECT_FILE = "cdk.json"
DEFAULT_HOME = ".tidemark"
MARKER = "tidemark-home"
STORE_FILE = "glue.sqlite"
TABLES_FILE = "tables.db"
TABLES = f"dynamodb/{TABLES_FILE}"  # of DynamoDB, those of watermarks among them
KEPT_BY = "dynamodb/kept-by.json"  # which other DynamoDB has the watermarks
OBJECTS_FILE = "objects.sqlite"  # S3's facts about objects, other than their bytes
DATABASES = (STORE_FILE, TABLES, OBJECTS_FILE)
SERVICES = "services.jsonl"  # requests that changed SSM, Secrets Manager, SNS and SQS
KEY_FILE = "access-key.json"  # clients of the port sign with it; shells have it
ONLY_ITS_OWNER = 0o700  # passwords of connections and data are in a home


def folder_of_home() -> Path:
    """Return the folder that ``TIDEMARK_HOME`` names, else ``.tidemark`` in the current folder."""
    if named := os.environ.get("TIDEMARK_HOME"):
        return Path(named).absolute()
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "the current folder has been deleted; change to another one, or set TIDEMARK_HOME"
        ) from None
    is_project = (here / DEFAULT_HOME).is_dir() or (here / PROJECT_FILE).is_file()
    project = next((above for above in here.parents if (above / PROJECT_FILE).is_file()), None)
    if project and not is_project:
        raise UsageError(
            f"{here} is a folder of the project {project}, which has its state there; "
            "run tidemark in the folder of the project, or set TIDEMARK_HOME"
        )
    return Path(DEFAULT_HOME).absolute()


def check_home(root: Path) -> None:
    """Change nothing, and raise what `Home.open` would raise of a folder."""
    try:
        refuse_foreign(root)
        check_writable(existing(root))
    except OSError as error:
        raise not_writable(root, error) from error


def refuse_foreign(root: Path) -> None:
    """Raise if a folder has other content than a home."""
    # A lake may be laid out before the first command: `mkdir -p .tidemark/lake/landing`.
    if (root / MARKER).exists() or not root.is_dir():
        return
    if {entry.name for entry in root.iterdir()} - {"lake"}:
        raise UsageError(
            f"{root} is not empty and not a state folder of Tidemark (no file {MARKER!r} in it); "
            + (
                f"it has been one, as {STORE_FILE} in it says: `touch {root / MARKER}`"
                if (root / STORE_FILE).exists()
                else "set TIDEMARK_HOME to an empty or a new folder"
            )
        )


def check_writable(folder: Path) -> None:
    """Raise OSError if nothing can be written into a folder."""
    if not os.access(folder, os.W_OK):
        number = EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else EACCES
        raise OSError(number, os.strerror(number), str(folder))


def not_writable(root: Path, error: OSError) -> UsageError:
    """Return the error for a home that cannot be written."""
    if error.errno in (EEXIST, ELOOP, ENOTDIR) and root.is_dir():
        return UsageError(
            f"{error.filename} is not a folder, as a state folder has one there: move it away; "
            "what was in the folder comes back with a backup, by `tidemark home restore FILE`"
        )
    return UsageError(
        f"cannot write the state folder {root}: {error.strerror}; make it writable or set "
        "TIDEMARK_HOME to a folder that is; commands that only look, such as `tidemark status`, "
        "and `tidemark home backup FILE` work without"
    )


@lru_cache
def restrict_access(root: Path) -> None:
    """Remove the permissions of the group and of others in a home."""
    if _is_private(root):
        return
    # The folder of another user keeps its mode: the warning below says so.
    with contextlib.suppress(PermissionError):
        root.chmod(ONLY_ITS_OWNER)
    if not _is_private(root):
        sys.stderr.write(
            f"warning: other users of this machine may read the state folder {root}, with its data "
            "and passwords: its file system keeps no modes, or it is another user's; set "
            "TIDEMARK_HOME to your own folder on a file system with modes\n"
        )


def _is_private(folder: Path) -> bool:
    return not stat.S_IMODE(folder.stat().st_mode) & 0o077
