"""What is proved: a script, or a part of an app, and in which ways it can be run."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.glue_service.commands import App
from tidemark.glue_service.deployments import define, prepare
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.runs.job_runs import start_job_run
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.submission import EXTRA_MODULES, Submission
from tidemark.local_state.deployment.project_files import files_like
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import installed_spark, own_glue_version
from tidemark.local_state.store.database import FINAL_STATES
from tidemark.model.assembly.glue_versions import RUN_HERE, version_of_run
from tidemark.operate.versions.trial import Observe, Start, app_start, as_deployed, script_start

COUNT = 2
LOOK_S = 0.1


@dataclass(frozen=True)
class Subject:
    """What is run, and how else it can be run.

    Attributes:
        start: runs it once.
        only: returns what runs one of its jobs once.
        version: of Glue, for the jobs that compare rows and for a script.
        scripts: the files of its scripts by their names.
        both: runs it twice at once.
        not_both: why that cannot be; empty if it can.
        newer: runs it once on the newest version of Glue.
        newest: that version.
        not_newer: why that cannot be, or tells nothing; empty if it can.
        app: that it is a part of; None for a script.
    """

    start: Start
    only: Callable[[str], Start]
    version: str
    scripts: dict[str, Path]
    both: Start
    not_both: str
    newer: Start
    newest: str
    not_newer: str
    app: App | None = None


def script_subject(submission: Submission) -> Subject:
    """Return a script with its arguments."""
    start, newest = script_start(submission), RUN_HERE[-1]
    return Subject(
        start,
        lambda _: start,
        submission.glue_version,
        {**_modules(submission), submission.script.name: submission.script},
        start,
        not_together_reason(None, None),
        start,
        newest,
        _not_newer_reason([submission.glue_version], newest),
    )


def _modules(submission: Submission) -> dict[str, Path]:
    """Return the modules of this machine that are given with a script, by their names."""
    files = map(Path, submission.arguments.get(EXTRA_MODULES, "").split(","))
    return {file.name: file for file in files if file.suffix == ".py" and file.is_file()}


def app_subject(app: App, workflow: str | None, job: str | None, scratch: Path) -> Subject:
    """Return a workflow of an app, or one job of it; without a name, the job's or the only one."""
    start, newest = as_deployed(app, workflow, job), RUN_HERE[-1]
    jobs = app.deployment.jobs
    wanted = [jobs[job]] if job else list(jobs.values())
    versions = [version_of_run(run.glue_version) for run in wanted if run.glue_version]
    return Subject(
        start,
        lambda name: as_deployed(app, workflow, name),
        own_glue_version(),
        _scripts(app),
        two_at_once(app, job) if job else start,
        not_together_reason(app, job),
        app_start(app.folder, workflow, job, scratch, max_parallel=1),  # there is one JVM for it
        newest,
        _not_newer_reason(versions, newest),
        app,
    )


def _scripts(app: App) -> dict[str, Path]:
    """Return the scripts of the jobs by the names that lines of a run have: there are two."""
    assets = {asset.source.name: asset.source for asset in app.assembly.assets}
    scripts = {}
    for name, job in app.deployment.jobs.items():
        source = assets.get(f"asset.{job.script_location.rpartition('/')[2]}")
        if source is not None:
            scripts[name] = source
    in_project = files_like(app.folder.absolute().parent, scripts)
    names = {Path(file).name: scripts[name] for name, file in in_project.items()}
    return names | {f"{name}.py": source for name, source in scripts.items()}


def _not_newer_reason(versions: list[str], newest: str) -> str:
    if versions and all(version == newest for version in versions):
        return f"it runs on the newest version, {newest}"
    if installed_spark(newest) is None:
        return f"Glue {newest} is not installed here: tidemark engine add {newest}"
    return ""


def not_together_reason(app: App | None, job: str | None) -> str:
    """Return why two runs cannot go on at once; empty if they can."""
    if app is None:
        return "a submitted script has a MaxConcurrentRuns of 1"
    if job is None:
        return "the runs of a workflow start one after the other; prove a job of it"
    allowed = app.deployment.jobs[job].max_concurrent_runs
    return "" if allowed >= COUNT else f"MaxConcurrentRuns of {job} is {allowed}"


def two_at_once(app: App, job: str) -> Start:
    """Return what starts two runs of a job at once, with the arguments of its trigger."""
    actions = [
        action
        for trigger in app.deployment.triggers
        for action in trigger.actions
        if action.job_name == job
    ]
    arguments = dict(actions[0].arguments) if actions else {}

    def start(
        home: Home, version: str, jvms: Jvms, settings: Sequence[str], observe: Observe
    ) -> None:
        both = replace(jvms, turn=None)  # with a seed of `hash()` each
        with serving(home, Options(jvms=both, is_of_command=True, max_parallel=COUNT)) as (
            _,
            engine,
        ):
            endpoint = engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
            deployment = prepare(app, home, endpoint)
            engine.ask(lambda glue: define(glue, app, deployment))
            request = {"JobName": job, "Arguments": arguments}
            ids = [
                engine.ask(lambda glue: start_job_run(glue, request))["JobRunId"]
                for _ in range(COUNT)
            ]
            while any(not _has_ended(engine, run_id) for run_id in ids):
                observe(None)
                time.sleep(LOOK_S)

    return start


def _has_ended(engine: Engine, run_id: str) -> bool:
    run = engine.ask(lambda glue: glue.store.job_run(run_id))
    return run is not None and run.state in FINAL_STATES
