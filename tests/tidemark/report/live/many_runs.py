"""A home with many jobs and runs of the past, which nothing ran."""

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fixtures.commands import write_assembly_into
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import keep_warnings

DAY_MS = 86_400_000
FLOW_RUN = "wr_1"


def fill(place: Path, jobs: int, runs: int, others: Mapping[str, Any] | None = None) -> Path:
    """Return the app of a home in ``place / "home"``: jobs in threes, of which two have failed.

    Each third job waits for the second one, and that for the first one; ``job-1`` has failed.
    """
    names = [f"job-{number}" for number in range(jobs)]
    after = {names[n]: [names[n - 1]] for n in range(jobs) if n % 3}
    now_ms = time.time_ns() // 1_000_000
    with Store(Home.open(place / "home").database) as store:
        for number in range(runs):
            start = now_ms - (runs - 1 - number) // jobs * DAY_MS - (jobs - number % jobs) * 20_000
            is_bad = runs - number <= jobs and number % jobs in (1, jobs - 1)
            run = JobRun(
                run_id=f"jr_{hashlib.sha256(str(number).encode()).hexdigest()}",
                job_name=names[number % jobs],
                workflow_run_id=FLOW_RUN,
                trigger_name=None,
                attempt=0,
                state="FAILED" if is_bad else "SUCCEEDED",
                started_at_ms=start,
                log_path="log",
                bookmark_option="enable",
                completed_at_ms=start + 15_000,
                error_message="line 12: no column amount" if is_bad else None,
                rows_read=1000 + number,
                rows_written=990 + number,
            )
            store.put_job_run(run)
            if number == runs - 3:
                keep_warnings(store, run.run_id, ["late.json is in no row: `touch` it"])
    return write_assembly_into(place, dict.fromkeys(names, "print(1)"), after, others)
