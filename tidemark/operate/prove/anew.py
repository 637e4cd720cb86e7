"""Lets the runs that go well be made anew, where they show nothing: all was read, or one second."""

import shutil
import time
from collections.abc import Collection
from contextlib import suppress

from tidemark.errors import TidemarkError
from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import stored_checkpoints
from tidemark.local_state.store.database import Store
from tidemark.operate.prove.baselines import Baseline, run_well
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.identity import seconds_in
from tidemark.operate.prove.items import watermark_clients

REASON = "a proof begins anew"
S3 = "s3://"


def start_anew(home: Home, jobs: Collection[str]) -> bool:
    """Forget in a copy what jobs have read, and delete what they have written to folders.

    Return whether there was anything to forget.
    """
    has_forgotten = False
    with Store(home.database) as store:
        for job in jobs:
            written = {
                written.dataset
                for checkpoint in stored_checkpoints(store, job)
                for written in checkpoint.written
            }
            has_forgotten |= bool(written) | bool(delete_bookmark(store, job))
            for dataset in written:
                _delete(home, dataset)
            store.query("DELETE FROM job_run WHERE job_name = ?", (job,))
    with watermark_clients(home) as tables:
        for admin in tables:
            for job in jobs:
                for source in ("", *admin.sources(job)):
                    if admin.latest(job, source=source) is not None:
                        admin.rewind(
                            job, to_run=None, reason=REASON, actor="tidemark prove", source=source
                        )
                        has_forgotten = True
    return has_forgotten


def _delete(home: Home, dataset: str) -> None:
    if not dataset.startswith(S3):
        return
    with suppress(TidemarkError):  # a place outside of the lake
        folder = home.existing_path(dataset)
        if folder.is_dir():
            shutil.rmtree(folder)
        else:
            folder.unlink(missing_ok=True)


def at_another_second(
    bench: Bench, contents: Contents, since: float, first: Baseline, control: Outcome
) -> Outcome:
    """Return a control run that writes no second that the first run writes.

    What differs by time, such as an expiry of items, would pass for data. `since` is when the proof
    began, in seconds since 1970.
    """
    homes = first.outcome.home, control.home, bench.base
    of_first, of_control, of_base = (seconds_in(contents.of(home), since) for home in homes)
    if not of_first & of_control - of_base:
        return control
    time.sleep(1)
    try:
        later = run_well(bench, bench.base, "control-later").outcome
    except OutOfTimeError:  # what is tried from now on is said to be left out
        return control
    return control if later.failure else later
