"""The fixture `glue_job`: runs a script as a Glue job, in this process if that is safe."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_job.cluster.asked import asked_for
from tidemark.glue_job.process.lake_fs.semantics import FOLDER, semantics_of
from tidemark.glue_job.process.spark import EVENTS_FOLDER
from tidemark.glue_service.runs.arguments import merge_arguments
from tidemark.glue_service.runs.end_record import record_end
from tidemark.glue_service.runs.job_run_process import (
    failed_run,
    new_run_id,
    plan_job_run,
    start_job_run,
    stop_job_run,
    wait_for_end,
)
from tidemark.glue_service.runs.row_counts import read_row_counts
from tidemark.glue_service.runs.run_effects import read_effects
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.submission import Submission, publish_script
from tidemark.glue_service.submit import served_to
from tidemark.local_state.sparks.installed import own_spark
from tidemark.local_state.sparks.make import spark_for
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.model.clock import now_ms
from tidemark.testing import isolation
from tidemark.testing.in_process import Ended, isolation_by_conf, run_in_process
from tidemark.testing.job_arguments import arguments_of
from tidemark.testing.kills import KILL_VARIABLE, KILLED
from tidemark.testing.kit import GlueTest
from tidemark.testing.lake import SCRIPTS, Lake
from tidemark.testing.libraries import near_scripts, shipped_packages, zip_packages
from tidemark.testing.recorded_run import recorded_run
from tidemark.testing.run import GlueRun

EXTRA_FILES = "--extra-py-files"
_one_at_a_time = threading.Lock()  # a run changes the process that all threads of a test share
_needing: dict[bytes, str] = {}  # why a script, by its source, needs a process, as a run showed


@dataclass(frozen=True)
class PreparedJob:
    """A script with its arguments: call it to run it."""

    glue_job: GlueJob
    script: str | Path
    bookmark: object
    arguments: Mapping[str, Any]

    def __call__(self, **more: Any) -> GlueRun:
        """Run it once; `more` are arguments of this run alone."""
        return self.glue_job(self.script, **{"bookmark": self.bookmark, **self.arguments, **more})

    run = __call__


class GlueJob:
    """Runs scripts of one test, whose jobs start without a bookmark.

    Example:
        >>> _ = lake.put("landing/orders/1.json", [{"id": 1}], minutes_ago=5)
        >>> run = glue_job("copy_orders.py", bookmark="enable", **paths)
        >>> run.state, run.rows_read
        ('SUCCEEDED', 1)
        >>> glue_job("copy_orders.py", bookmark="enable", **paths).rows_read
        0
    """

    def __init__(self, test: GlueTest, lake: Lake) -> None:
        """Take the test whose runs they are."""
        self._test = test
        self._lake = lake

    def __call__(
        self,
        script: str | Path,
        bookmark: object = None,
        *,
        isolated: bool | None = None,
        **arguments: Any,
    ) -> GlueRun:
        """Run a script once, and wait for its end.

        Args:
            script: its file, relative to the project, to ``glue_jobs/`` or to the test's file.
            bookmark: ``"enable"``, ``"pause"`` or ``"disable"``; None is disabled, as on Glue.
            isolated: True runs it in its own process; None decides by the script.
            arguments: of the script and of Glue, such as ``source_path="s3://landing/orders/"``.
                ``JOB_NAME`` names the job; without, the file does, with hyphens.

        Returns:
            The run, whether it SUCCEEDED or FAILED.

        Raises:
            UsageError: the script is missing, or a job cannot get an argument.
        """
        submission = self.submission(script, bookmark, arguments)

        def repeat() -> GlueRun:
            return self(script, bookmark, isolated=isolated, **arguments)

        with _one_at_a_time:
            run = self._run(submission, isolated, repeat)
        self._test.runs.append(run)
        sys.stdout.write(run.stdout)  # pytest shows it with a failure
        return run

    def submission(
        self, script: str | Path, bookmark: object, arguments: Mapping[str, Any]
    ) -> Submission:
        """Return what a call runs, with the libraries of the project; buckets that it names exist.

        Raises:
            UsageError: the script is missing, or a job cannot get an argument.
        """
        file = self.file_of(script)
        words = arguments_of(bookmark, arguments)
        name = words.pop("--JOB_NAME", file.stem.replace("_", "-"))
        self._make_buckets(file, words)
        return self._with_libraries(Submission(file, name, words), file.read_bytes())

    def define(
        self, script: str | Path, bookmark: object = "enable", **arguments: Any
    ) -> PreparedJob:
        """Return a job to call: the script with its arguments, not run yet."""
        self.file_of(script)
        return PreparedJob(self, script, bookmark, arguments)

    def file_of(self, script: str | Path) -> Path:
        """Return the file of a script.

        Raises:
            UsageError: it is missing.
        """
        path = Path(script)
        if path.is_absolute():
            tried = [path]
        else:
            places = [self._test.project / folder for folder in ("", "glue_jobs")]
            tried = [place / path for place in (*places, self._test.folder, Path.cwd())]
        for file in tried:
            for candidate in (file, file.with_name(f"{file.name.replace('-', '_')}.py")):
                if candidate.is_file():
                    return candidate.resolve()
        raise UsageError(
            f"there is no script {str(script)!r} (tried {', '.join(map(str, tried))}); "
            f"{near_scripts(self._test.project, str(script))}"
        )

    def _make_buckets(self, file: Path, arguments: Mapping[str, str]) -> None:
        # On AWS they exist before a job runs.
        buckets = isolation.buckets_of(file.read_bytes())
        for name, value in arguments.items():
            buckets |= set(isolation.buckets_in(value))
            if "bucket" in name.lower():
                buckets.add(value)
        for name in sorted(buckets):
            try:
                self._test.home.create_bucket(name)
            except UsageError:
                continue  # no name of a bucket: the run reports it

    def _run(
        self, submission: Submission, isolated: bool | None, repeat: Callable[[], GlueRun]
    ) -> GlueRun:
        source = submission.script.read_bytes()
        job = replace(
            publish_script(submission, self._test.home),
            glue_version=self._test.version,
            timeout_minutes=10,
        )
        if self.needs_watermarks(source):
            self._test.dynamodb()
        machine = self._test.machine()
        merged = merge_arguments(job, submission.arguments)
        why = self._isolation_reason(source, merged, isolated)
        before = self._contents()
        with Store(self._test.home.database) as store:
            run = plan_job_run(machine, job, submission.arguments, new_run_id(), 0)
            store.put_job_run(run)
        started = time.monotonic()
        ended = Ended()
        with served_to(machine, submission) as served:
            if why is None:
                kill, self._test.kill = self._test.kill, None
                ended = self._in_process(served, job, run, merged, kill, before)
                # Only the run itself has shown that it needs a process: it is made again there.
                if ended.needs_process is not None:
                    why = _needing[source] = ended.needs_process
                    ended = Ended()
                    self._test.kill = kill
                    run = replace(run, run_id=new_run_id())
                    run = replace(run, log_path=str(machine.home.runs / run.run_id / "stderr.log"))
            if why is not None:
                finished = self._isolated(served, job, submission.arguments, run)
            else:
                finished = self._finished(run, ended)
        with Store(self._test.home.database) as store:
            place = (machine.dynamodb_endpoint, machine.region)
            effects = read_effects(store, finished, dynamodb=place)
            with store.transaction():
                finished = record_end(store, finished, effects)
            seconds = time.monotonic() - started
            recorded = recorded_run(store, finished, job, merged, seconds, why, repeat)
        return self._completed(recorded, ended, before)

    @staticmethod
    def needs_watermarks(source: bytes) -> bool:
        """Return whether a script imports the library of watermarks."""
        return "watermarks" in isolation.imports_of(source)

    def _isolation_reason(
        self, source: bytes, merged: Mapping[str, str], isolated: bool | None
    ) -> str | None:
        if (spark := spark_for(self._test.version)) != own_spark():
            return f"Glue {self._test.version} has Spark {spark.version}, this Python has another"
        if executors := asked_for(os.environ):
            return executors.own_jvm_reason
        if semantics_of(os.environ) != FOLDER:
            return "the lake has S3's semantics, and that of this process is a folder"
        if isolated is not None:
            return "the test asks for it" if isolated else None
        if self._test.why_isolated:
            return self._test.why_isolated
        engine = self._test.kit.engine
        if not engine.is_running and engine.has_foreign_context():
            return "the tests have started their own Spark"
        return (
            _needing.get(source)
            or isolation.isolation_by_script(source)
            or isolation.isolation_by_arguments(merged)
            or isolation_by_conf(merged)
        )

    def _in_process(
        self,
        machine: Machine,
        job: JobDefinition,
        run: JobRun,
        merged: Mapping[str, str],
        kill: Any,
        before: Mapping[str, tuple[int, int]],
    ) -> Ended:
        try:
            ended = run_in_process(
                machine, self._test.kit.engine, job, run, merged, self._test.project, kill
            )
        except TidemarkError as error:
            return Ended(error=str(error))
        if ended.needs_process is not None:
            with Store(self._test.home.database) as store:
                has_read = store.query(
                    "SELECT 1 FROM bookmark WHERE run_id = ? LIMIT 1", (run.run_id,)
                )
                store.query("DELETE FROM source_read WHERE run_id = ?", (run.run_id,))
                store.query("DELETE FROM checkpoint WHERE run_id = ?", (run.run_id,))
                store.query("DELETE FROM job_run WHERE run_id = ?", (run.run_id,))
            if has_read or self._contents() != before:
                return Ended(
                    error=f"{ended.needs_process}, after it has written something, so it cannot be "
                    "run again in its own process; mark the test with "
                    "@pytest.mark.glue(isolated=True)"
                )
        return ended

    def _isolated(
        self, machine: Machine, job: JobDefinition, arguments: Mapping[str, str], run: JobRun
    ) -> JobRun:
        machine = replace(machine, jvms=self._test.kit.jvms)
        if self._test.kill:
            os.environ[KILL_VARIABLE] = self._test.kill
        try:
            process = start_job_run(machine, job, arguments, run)
        except TidemarkError as error:
            return failed_run(run, str(error))
        finally:
            os.environ.pop(KILL_VARIABLE, None)
            self._test.kill = None
        try:
            return wait_for_end(process)
        except BaseException:
            stop_job_run(process)
            raise

    def _finished(self, run: JobRun, ended: Ended) -> JobRun:
        counts = read_row_counts(Path(run.log_path).parent / EVENTS_FOLDER)
        return replace(
            run,
            state="FAILED" if ended.error else "SUCCEEDED",
            completed_at_ms=now_ms(),
            error_message=ended.error,
            rows_read=counts.rows_read if counts else None,
            rows_written=counts.rows_written if counts else None,
        )

    def _completed(
        self, run: GlueRun, ended: Ended, before: Mapping[str, tuple[int, int]]
    ) -> GlueRun:
        """Add to a recorded run what only the test knows."""
        after = self._contents()
        written = [name for name, seen in after.items() if before.get(name) != seen]
        return replace(
            run,
            error=KILLED if run.error and run.error.startswith(KILLED) else run.error,
            files_written=tuple(sorted(written)),
            exception=ended.exception,
        )

    def _contents(self) -> dict[str, tuple[int, int]]:
        contents = {}
        for name in self._lake.names():
            status = self._lake.path(name).stat()
            contents[name] = (status.st_mtime_ns, status.st_size)
        return contents

    def _with_libraries(self, submission: Submission, source: bytes) -> Submission:
        """Ship ``libs/`` of the project with a script that imports it, as a Pipeline does."""
        packages = shipped_packages(self._test.project)
        wanted = isolation.imports_of(source) & packages.keys()
        if not wanted or EXTRA_FILES in submission.arguments:
            return submission
        archive = self._test.home.lake / SCRIPTS / "libs.zip"
        if not archive.is_file():
            archive.parent.mkdir(parents=True, exist_ok=True)
            zip_packages(packages, archive)
        uri = f"s3://{SCRIPTS}/libs.zip"
        return replace(submission, arguments={**submission.arguments, EXTRA_FILES: uri})
