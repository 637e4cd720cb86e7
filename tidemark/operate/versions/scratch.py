"""The folder of an experiment on the disk of a home: deleted at its end, also after a kill."""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tidemark.local_state.home import Home

PREFIX, LOCK = "experiment-", "lock"


@contextmanager
def scratch_of(home: Home, kept: Path | None = None) -> Iterator[Path]:
    """Yield a folder on the disk of a home; it is deleted at the end, unless it is to be kept.

    Folders of commands that were killed are deleted, too.
    """
    if kept is not None:
        kept.mkdir(parents=True)
        yield kept.absolute()
        return
    for file in home.root.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError), file.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _delete(file.parent)
    folder = Path(tempfile.mkdtemp(dir=home.root, prefix=PREFIX))
    try:
        with (folder / f".{LOCK}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / f".{LOCK}").rename(folder / LOCK)  # nobody finds it without its lock
            yield folder
    finally:
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a folder, its lock last: if this is interrupted, a later command finds it."""
    for path in folder.iterdir():
        if path.name != LOCK:
            shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
