"""`diff --code REF`: what is run at a revision and in the working tree, on copies of a home."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.cli.engines import prepare_sparks
from tidemark.cli.script_or_app import database_writes, scripts_of, submission_of
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.commands import load_app
from tidemark.local_state.home import Home
from tidemark.model.assembly.synthesis import synthesize
from tidemark.operate.diff.code import Code, diff_of_code
from tidemark.operate.diff.comparing import Asked
from tidemark.operate.diff.outcomes import Diff
from tidemark.operate.diff.pairs import Room
from tidemark.operate.diff.revision import check_out, uncommitted
from tidemark.operate.versions.shared import refuse_shared, shared_by_both
from tidemark.operate.versions.trial import as_deployed, script_start


@dataclass(frozen=True)
class CodeJobs:
    """What is run: a job or a script, its arguments, a workflow, the context of a synthesis."""

    what: str | None
    arguments: tuple[str, ...]
    workflow: str | None
    context: tuple[str, ...]


@dataclass(frozen=True)
class _Version:
    """A version of the code, its jobs, and its scripts by the names that messages use."""

    code: Code
    jobs: tuple[str, ...]
    scripts: Mapping[str, Path]


def diff_to_revision(
    home: Home,
    revision: str,
    jobs: CodeJobs,
    asked: Asked,
    room: Room,
    *,
    anew: bool,
    with_databases: bool,
) -> Diff:
    """Return what differs between the code at a revision and that of the working tree."""
    console, project = Terminal(stderr=True), Path.cwd()
    folder = check_out(project, revision, room.scratch / "code")
    old = _version(f"the code at {revision}", folder, jobs, room)
    new = _version("the working tree", project, jobs, room)
    writes = database_writes({**old.scripts, **new.scripts})
    if not with_databases:
        refuse_shared(writes, os.environ)
    result = diff_of_code(
        home,
        (old.code, new.code),
        asked,
        room,
        lambda text: console.print(f"{text} …"),
        anew={*old.jobs, *new.jobs} if anew else None,
    )
    notes = [f"both share it: {place}" for place in shared_by_both(writes, os.environ)]
    if names := uncommitted(project):
        notes.append(f"the working tree has changes that are not committed: {names}")
    return replace(result, notes=[*result.notes, *notes])


def _version(label: str, project: Path, jobs: CodeJobs, room: Room) -> _Version:
    context, what = jobs.context, jobs.what
    if submission_of(what, jobs.arguments, jobs.workflow, context) is not None:
        return _of_script(label, project, jobs)
    if wrong := [item for item in context if "=" not in item]:
        raise UsageError(f"--context {wrong[0]!r} is not KEY=VALUE, such as stage=prod")
    out = room.scratch / f"assembly of {label}".replace(" ", "-").replace("/", "-")
    try:
        app = load_app(synthesize(project, dict(item.split("=", 1) for item in context), out))
        start = as_deployed(app, jobs.workflow, what)
    except TidemarkError as error:
        raise UsageError(f"{label}: {error}") from error
    deployed = app.deployment.jobs
    prepare_sparks(job.glue_version for job in deployed.values())
    named = scripts_of(app.assembly.assets)
    scripts = {f"{name} of {label}": source for name, source in named.items()}
    return _Version(Code(label, start), (what,) if what else tuple(deployed), scripts)


def _of_script(label: str, project: Path, jobs: CodeJobs) -> _Version:
    what, path = jobs.what or "", Path(jobs.what or "").resolve()
    if not path.is_relative_to(Path.cwd().resolve()):
        raise UsageError(
            f"{what} is not below {Path.cwd()}, so its revisions are not known; run tidemark in "
            "the folder of the project"
        )
    script = project / path.relative_to(Path.cwd().resolve())
    if not script.is_file():
        raise UsageError(f"{label} has no {what}; name a revision that has it")
    submission = submission_of(str(script), jobs.arguments, None)
    assert submission is not None  # noqa: S101 (a script is named)
    submission = replace(submission, job_name=path.stem)
    start = script_start(submission)
    return _Version(
        Code(label, start, submission.glue_version),
        (submission.job_name,),
        {f"{script.name} of {label}": script},
    )
