"""Cleans up after a killed command: its runs are ended and recorded."""

import shutil
from pathlib import Path

from tidemark.glue_job.process.script_warnings import warnings_of
from tidemark.glue_job.process.spark import TEMPORARY_FOLDER
from tidemark.glue_service.runs.end_record import record_end
from tidemark.glue_service.runs.job_run_process import end_left_over_processes, failed_run
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.runs.run_effects import read_effects
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import ShowWarnings, keep_warnings, show_unseen
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.model.clock import now_ms

KILLED = "the command that ran this job was killed"


def record_warnings(
    store: Store, run: JobRun, job: JobDefinition, warn: ShowWarnings | None
) -> None:
    """Store the warnings of a finished run, then show those that no one has seen yet."""
    keep_warnings(store, run.run_id, warnings_of(store, run, job))
    show_unseen(store, warn)


def record_killed(store: Store, failed: JobRun) -> None:
    """Record the end of a run whose command was killed, and its writes if it committed."""
    effects = read_effects(store, failed)
    with store.transaction():
        record_end(store, failed, effects)


def recover_interrupted_runs(store: Store, jvms: Jvms) -> list[JobRun]:
    """Finish the records of runs whose command was killed; return the job runs marked FAILED.

    Their processes are ended first. What they had not committed does not count: the next workflow
    run continues from the committed bookmarks and watermarks.
    """
    recovered = []
    for run in store.unfinished_job_runs():
        end_left_over_processes(run)
        jvms.end_jvm_of(Path(run.log_path))
        shutil.rmtree(Path(run.log_path).parent / TEMPORARY_FOLDER, ignore_errors=True)
        failed = failed_run(run, KILLED)
        record_killed(store, failed)
        recovered.append(failed)
    store.interrupt_workflow_runs(now_ms())
    return recovered
