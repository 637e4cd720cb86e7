"""Puts a restored backup into a home, all of it: a later command finishes after a crash.

A backup is unpacked into a folder of the home. Renaming that folder makes the restored home the
home; moving its parts into place can then be repeated at any time.
"""

import json
import shutil
from pathlib import Path

from tidemark.local_state.store.sqlite_files import delete_database
from tidemark.local_state.store.state_record import renew_record

UNPACKED, READY = "restore-unfinished", "restore-ready"
FACTS_FILE = "backup.json"


def has_unfinished_restore(root: Path) -> bool:
    """Return whether a restore was interrupted after the moment when it took effect."""
    return (root / READY).is_dir()


def finish_restore(root: Path) -> None:
    """Move the parts of a restored home into place; hold the home."""
    staged = root / READY
    facts = json.loads((staged / FACTS_FILE).read_text(encoding="utf-8"))
    for part in facts["absent"]:
        _delete(root / part)
    for part in facts["parts"]:
        if (staged / part).exists():
            _delete(root / part)
            (root / part).parent.mkdir(parents=True, exist_ok=True)
            (staged / part).rename(root / part)
    renew_record(root)
    discarded = root / UNPACKED
    # The restore is complete: what remains is to be deleted.
    staged.rename(discarded)
    shutil.rmtree(discarded)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():  # the target of a link stays
        shutil.rmtree(path)
    else:
        delete_database(path)
