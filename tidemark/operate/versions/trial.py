"""Runs a script or a part of an app on one version of Glue, in a copy of a home."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from tidemark.errors import EntityNotFoundError, TidemarkError, UsageError
from tidemark.glue_service.commands import App, load_app
from tidemark.glue_service.one_run import SilentListener, run_workflow
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.glue_service.workflows.selection import Selection
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import texts_of_run
from tidemark.model.assembly.definitions import SPARK, Deployment
from tidemark.model.messages import known
from tidemark.operate.versions.facts import Interval
from tidemark.operate.versions.outcomes import RunOutcome


@dataclass(frozen=True)
class Trial:
    """The runs of one version.

    Attributes:
        home: the copy that they changed.
        runs: how they ended, in the order in which they began.
        began_ms: when the first one began, epoch milliseconds.
        ended_ms: when the last one ended.
    """

    home: Home
    runs: tuple[RunOutcome, ...]
    began_ms: int
    ended_ms: int

    @property
    def interval(self) -> Interval:
        """When its runs went on."""
        return Interval(self.began_ms, self.ended_ms)

    @property
    def failure(self) -> str:
        """The first job that did not SUCCEED, and why; empty if all did, and one ran."""
        if not self.runs:
            return "no job ran"
        failed = [run for run in self.runs if run.state != "SUCCEEDED"]
        return f"{failed[0].job}: {failed[0].error or failed[0].state}" if failed else ""


Observe = Callable[[JobRun | None], None]
Start = Callable[[Home, str, Jvms, Sequence[str], Observe], None]
"""Runs what is compared: in a home, on a version of Glue, with JVMs and more settings of Spark.

What it calls the while may raise, which stops the runs."""

CONF = "--conf"
AT_ONCE = 2  # runs


def script_start(submission: Submission) -> Start:
    """Return what runs a script once."""

    def start(
        home: Home, version: str, jvms: Jvms, settings: Sequence[str], observe: Observe
    ) -> None:
        arguments = with_settings(submission.arguments, settings)
        wanted = replace(submission, glue_version=version, arguments=arguments)
        submit(wanted, home, observe, jvms=jvms)

    return start


def app_start(
    assembly: Path,
    workflow: str | None,
    job: str | None,
    scratch: Path,
    max_parallel: int | None = None,
) -> Start:
    """Return what runs a workflow of an app once, or only one of its jobs, on one version."""
    chosen = _workflow_of(load_app(assembly).deployment, workflow, job)

    def start(
        home: Home, version: str, jvms: Jvms, settings: Sequence[str], observe: Observe
    ) -> None:
        folder = scratch / f"assembly-{version}"
        app = load_app(assembly_of_version(assembly, version, folder, settings))
        _run_app(app, home, chosen, job, jvms, observe, max_parallel=max_parallel)

    return start


def as_deployed(app: App, workflow: str | None, job: str | None) -> Start:
    """Return what runs a workflow of an app once, or one of its jobs, each on its own version.

    One job runs at once: other runs of the proof have the other cores, and their JVMs.
    """
    chosen = _workflow_of(app.deployment, workflow, job)

    def start(
        home: Home, version: str, jvms: Jvms, settings: Sequence[str], observe: Observe
    ) -> None:
        _run_app(app, home, chosen, job, jvms, observe, max_parallel=1)

    return start


def _workflow_of(deployment: Deployment, workflow: str | None, job: str | None) -> str | None:
    if job is None:
        return workflow
    known("job", job, deployment.jobs)
    starting = [
        trigger.workflow_name
        for trigger in deployment.triggers
        if trigger.workflow_name and any(action.job_name == job for action in trigger.actions)
    ]
    if not starting:
        raise EntityNotFoundError(f"no workflow starts the job {job}; give its script instead")
    return workflow or starting[0]


class _Observer(SilentListener):
    def __init__(self, observe: Observe) -> None:
        self._observe = observe

    def observe(self, run: JobRun | None) -> None:
        self._observe(run)


def _run_app(
    app: App,
    home: Home,
    workflow: str | None,
    job: str | None,
    jvms: Jvms,
    observe: Observe,
    *,
    max_parallel: int | None = None,
) -> None:
    run_workflow(
        app,
        home,
        workflow,
        _Observer(observe),
        jvms,
        skips_crawlers=True,
        max_parallel=max_parallel,
        selection=Selection(job, has_following=False) if job else None,
    )


def with_settings(arguments: Mapping[str, str], settings: Sequence[str]) -> dict[str, str]:
    """Return arguments of a job with more settings of Spark, chained as Glue wants them."""
    words = [*filter(None, [arguments.get(CONF)]), *settings]
    return {**arguments, CONF: f" {CONF} ".join(words)} if words else dict(arguments)


def assembly_of_version(
    assembly: Path, version: str, folder: Path, settings: Sequence[str] = ()
) -> Path:
    """Copy an assembly into a folder, its Spark jobs with another GlueVersion and settings."""
    shutil.copytree(assembly, folder, dirs_exist_ok=True)
    count = 0
    for file in folder.rglob("*.template.json"):
        template = json.loads(file.read_text(encoding="utf-8"))
        for resource in template.get("Resources", {}).values():
            properties = resource.get("Properties", {})
            is_spark = properties.get("Command", {}).get("Name", SPARK) == SPARK
            if resource.get("Type") == "AWS::Glue::Job" and is_spark:
                properties["GlueVersion"] = version
                given = properties.get("DefaultArguments", {})
                properties["DefaultArguments"] = with_settings(given, settings)
                count += 1
        file.write_text(json.dumps(template), encoding="utf-8")
    if not count:
        raise UsageError(f"{assembly} defines no Spark job, and only those have versions of Glue")
    return folder


def run_trial(
    home: Home,
    start: Start,
    version: str,
    jvms: Jvms,
    settings: Sequence[str] = (),
    observe: Observe = lambda _: None,
) -> Trial:
    """Run once on a version; return how the runs ended, also those that failed."""
    with Store(home.database) as store:
        before = {run.run_id for run in store.all_job_runs()}
    began_ms = time.time_ns() // 1_000_000
    start(home, version, jvms, settings, observe)
    ended_ms = time.time_ns() // 1_000_000
    with Store(home.database) as store:
        runs = [run for run in store.all_job_runs() if run.run_id not in before]
        outcomes = tuple(
            _outcome(store, run) for run in sorted(runs, key=lambda run: run.started_at_ms)
        )
    return Trial(home, outcomes, began_ms, ended_ms)


@contextmanager
def threads_until(is_over: Event) -> Iterator[ThreadPoolExecutor]:
    """Yield two threads for runs; whatever ends the body tells these that it is over."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            yield threads
        except BaseException:
            is_over.set()
            raise


def run_own_job(
    script: Path,
    asked: Mapping[str, Any],
    home: Home,
    jvms: Jvms,
    failure: str,
    *,
    version: str = "",
    arguments: Mapping[str, str] | None = None,
    observe: Observe = lambda _: None,
) -> None:
    """Run a job of the toolkit's own, which gets the path of a file with what is `asked`.

    Raises:
        TidemarkError: the job failed; the message begins with `failure`.
    """
    file = home.root / f"{script.stem}.json"
    file.write_text(json.dumps(asked, default=str), encoding="utf-8")
    given = {"--asked": str(file), **(arguments or {})}
    name, version = script.stem.replace("_", "-"), version or own_glue_version()
    run, _ = submit(Submission(script, name, given, version), home, observe, jvms=jvms)
    if run.state != "SUCCEEDED":
        raise TidemarkError(f"{failure}: {run.error_message}")


def answers_of_job(
    script: Path,
    questions: Sequence[Any],
    scratch: Path,
    jvms: Jvms,
    version: str = "",
    observe: Observe = lambda _: None,
) -> list[dict[str, Any]]:
    """Return what a job in a home of its own answers, such as how the rows of each pair differ.

    Raises:
        TidemarkError: the job failed.
    """
    home = Home.open(scratch / "home-of-rows")
    out, failure = home.root / "rows.json", "the rows could not be compared"
    asked = {"questions": questions, "out": str(out)}
    run_own_job(script, asked, home, jvms, failure, version=version, observe=observe)
    answers: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))
    return answers


def _outcome(store: Store, run: JobRun) -> RunOutcome:
    return RunOutcome(
        run.job_name,
        run.state,
        run.error_message,
        run.rows_read,
        run.rows_written,
        tuple(sorted(texts_of_run(store, run.run_id))),
    )
