"""Records in a job's process what its run has done so far: its checkpoint, at each commit.

What the run wrote and moved is known at its end: `end_record` completes the checkpoint then.
"""

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tidemark.local_state.bookmarks.datasets_read import reads_of_run
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import BookmarkMove, Checkpoint
from tidemark.model.plain_secrets import shows_secret

FACTS_FILE = "tidemark-facts.json"  # in the run's folder, for a run that ends without a commit
RUN_ARGUMENTS = ("--JOB_NAME", "--JOB_ID", "--JOB_RUN_ID")  # every run has its own


def record_commit(
    store: Store, job_name: str, run_id: str, bookmark: BookmarkMove | None, at_ms: int
) -> None:
    """Store the checkpoint of this process's run; call it in the transaction of the commit.

    A run that commits again replaces its checkpoint. Outside a run nothing is stored.
    """
    if not run_id:
        return
    run, facts = store.job_run(run_id), _facts()
    checkpoint = Checkpoint(
        job_name=run.job_name if run else job_name,
        run_id=run_id,
        committed_at_ms=at_ms,
        workflow_run_id=(run.workflow_run_id if run else None) or "",
        bookmark=bookmark,
        read=reads_of_run(store, job_name, run_id),
        arguments=facts["arguments"],
        code=facts["code"],
    )
    put_checkpoint(store, checkpoint)


def note_facts(folder: Path) -> None:
    """Write the facts of this process into the run's folder, for a script that never commits."""
    # How the library has read each dataset, from its copy in this process; an older one cannot say.
    notes: Any = sys.modules.get("watermarks.run_notes")
    reads = notes.committed_reads() if hasattr(notes, "committed_reads") else []
    facts = {**_facts(), "committed_reads": dict.fromkeys(reads, "read_committed")}
    with contextlib.suppress(OSError):  # on a full disk; the run does not depend on it
        (folder / FACTS_FILE).write_text(json.dumps(facts), encoding="utf-8")


def read_facts(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the facts that `note_facts` wrote; empty if there are none.

    ``arguments`` and ``code`` of the run, and ``committed_reads`` by dataset.
    """
    file = folder / FACTS_FILE
    if not file.is_file():
        return {}
    facts: Mapping[str, Mapping[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return facts


def _facts() -> dict[str, Mapping[str, str]]:
    arguments = open_arguments(sys.argv[1:])
    code = code_of(Path(sys.argv[0]), os.environ.get("PYTHONPATH", ""))
    return {"arguments": arguments, "code": code}


def open_arguments(argv: Sequence[str]) -> Mapping[str, str]:
    """Return the arguments of a run by name, with the dashes, without secrets."""
    arguments: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            arguments[name] = value if equals else next(words, "")
    return {
        name: value
        for name, value in arguments.items()
        if name not in RUN_ARGUMENTS and not shows_secret(name, value)
    }


def code_of(script: Path, python_path: str) -> Mapping[str, str]:
    """Return the SHA-256 of a script and of the existing zips on its Python path."""
    zips = [path for path in map(Path, python_path.split(os.pathsep)) if path.suffix == ".zip"]
    digests = [hashlib.sha256(path.read_bytes()) for path in zips if path.is_file()]
    code = {}
    if script.is_file():
        code["script"] = hashlib.sha256(script.read_bytes()).hexdigest()
    if len(digests) == 1:
        code["libs"] = digests[0].hexdigest()
    elif digests:
        code["libs"] = hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()
    return code
