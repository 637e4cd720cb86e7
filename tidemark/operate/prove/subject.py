"""What is proved: a script, or a part of an app, and in which ways it can be run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tidemark.glue_service.commands import App
from tidemark.glue_service.submission import Submission
from tidemark.local_state.deployment.project_files import files_like
from tidemark.local_state.sparks.installed import installed_spark, own_glue_version
from tidemark.model.assembly.glue_versions import RUN_HERE, version_of_run
from tidemark.operate.prove.together import two_at_once, why_not_together
from tidemark.operate.versions.trial import Start, app_start, as_deployed, script_start


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
        {submission.script.name: submission.script},
        start,
        why_not_together(None, None),
        start,
        newest,
        _why_not_newer([submission.glue_version], newest),
    )


def app_subject(app: App, workflow: str | None, job: str | None, scratch: Path) -> Subject:
    """Return a workflow of an app, or one of its jobs.

    Args:
        app: as it was synthesized.
        workflow: its name; None: the only one, or that of the job.
        job: one job of it; None: all.
        scratch: a folder for a copy of the app.
    """
    start, newest = as_deployed(app, workflow, job), RUN_HERE[-1]
    jobs = app.deployment.jobs
    wanted = [jobs[job]] if job else list(jobs.values())
    versions = [version_of_run(one.glue_version) for one in wanted if one.glue_version]
    return Subject(
        start,
        lambda name: as_deployed(app, workflow, name),
        own_glue_version(),
        _scripts(app),
        two_at_once(app, job) if job else start,
        why_not_together(app, job),
        app_start(app.folder, workflow, job, scratch, max_parallel=1),  # there is one JVM for it
        newest,
        _why_not_newer(versions, newest),
        app,
    )


def _scripts(app: App) -> dict[str, Path]:
    """Return the scripts of the jobs by the names that lines of a run have: there are two."""
    assets = {one.source.name: one.source for one in app.assembly.assets}
    found = {}
    for name, job in app.deployment.jobs.items():
        source = assets.get(f"asset.{job.script_location.rpartition('/')[2]}")
        if source is not None:
            found[name] = source
    in_project = files_like(app.folder.absolute().parent, found)
    names = {Path(file).name: found[name] for name, file in in_project.items()}
    return names | {f"{name}.py": source for name, source in found.items()}


def _why_not_newer(versions: list[str], newest: str) -> str:
    if versions and all(one == newest for one in versions):
        return f"it runs on the newest version, {newest}"
    if installed_spark(newest) is None:
        return f"Glue {newest} is not installed here: tidemark local engine add {newest}"
    return ""
