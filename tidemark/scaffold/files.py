"""Puts code that is made into a project: all of its files or none, and the reviewed template."""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tidemark.checks import snapshot
from tidemark.checks.lint.app import read_jobs
from tidemark.checks.state.manifest import MANIFEST
from tidemark.checks.state.project import write_manifest
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.synthesis import synthesize
from tidemark.model.assembly.template import read_deployment
from tidemark.model.messages import not_written
from tidemark.scaffold.new_job import NewJob, script_of, stack_with, unit_test_of

REGION = "us-east-1"  # nothing here depends on it


def check_project(project: Path) -> None:
    """Raise unless a folder holds a CDK app."""
    if not (project / "cdk.json").is_file():
        raise UsageError(
            f"there is no cdk.json in {project}; run tidemark new-job in the folder of the project"
        )


def plan_files(project: Path, job: NewJob) -> dict[str, str]:
    """Return the files of the job by their path in the project; writes nothing."""
    check_project(project)
    stacks = _stacks(project)
    stack = stacks.pop(job.stack, None)
    if stack is None:
        allowed = ", ".join(_names(stacks)) or "none"
        raise UsageError(
            f"there is no pipeline {job.pipeline!r}: no {job.stack} in {project}; allowed: "
            f"{allowed}; docs/second-pipeline.md shows how to add one"
        )
    with_job = stack_with(job, stack, stacks)
    for path in (job.script, job.test):
        if (project / path).exists():
            raise UsageError(f"{path} exists already and is not changed; take another name")
        if not (project / path).parent.is_dir():
            raise UsageError(
                f"there is no folder {Path(path).parent} in {project}; run tidemark new-job in the "
                "folder of the project"
            )
    contents = {job.script: script_of(job), job.test: unit_test_of(job), job.stack: with_job}
    # How lines fold depends on the name of the job.
    return {path: formatted(project, path, text) for path, text in contents.items()}


def put_files(project: Path, files: Mapping[str, str], job: str) -> tuple[list[str], str | None]:
    """Write the files of a plan and update the reviewed ones, or do nothing.

    Returns:
        The files of the snapshot and the state manifest that changed, as paths in the project; and
        the URI that the job reads on this machine, if that is known.
    """
    stacks = {name for name in files if (project / name).exists()}
    before = _reviewed(project, stacks)
    write_files(project, files)
    try:
        source = update_reviewed(project, job)
    except BaseException as error:  # also when it is interrupted
        for path in _reviewed(project, stacks).keys() - before.keys():
            path.unlink()
        for path, content in before.items():
            path.write_bytes(content)
        for name in files.keys() - stacks:
            (project / name).unlink()
        if isinstance(error, TidemarkError):
            raise TidemarkError(f"with the job, {error}\nso nothing was changed") from error
        raise
    after = _reviewed(project, stacks)
    changed = {str(path.relative_to(project)) for path in after if before.get(path) != after[path]}
    return sorted(changed - stacks), source


def pipelines_of(project: Path) -> list[str]:
    """Return the names of the pipelines that a job can be added to, each by that of its stack."""
    return _names(_stacks(project))


def pipeline_of(project: Path, named: str | None) -> str:
    """Return the pipeline that a job goes into: the one that is named, or the only one there is."""
    check_project(project)
    names = pipelines_of(project) if named is None else [named]
    if not names:
        raise UsageError(
            f"there is no infra/*_stack.py with a Pipeline in {project}; run tidemark new-job in "
            "the folder of the project"
        )
    if len(names) > 1:
        raise UsageError(
            f"the app has {len(names)} pipelines: {', '.join(names)}; name the one that the job "
            f"goes into: --pipeline {names[0]}"
        )
    return names[0]


def write_files(project: Path, files: Mapping[str, str]) -> None:
    """Write new files with their folders, then change others; a failure leaves no change."""
    made, target = list[Path](), project
    changed = [project / path for path in files if (project / path).exists()]
    try:
        for path, text in files.items():
            is_changed = project / path in changed
            target = project / (f"{path}.unfinished" if is_changed else path)
            for parent in [p for p in reversed(target.parents) if not p.exists()]:
                parent.mkdir()
                made.append(parent)
            with target.open("w" if is_changed else "x"):  # refuses what is in the way
                made.append(target)
            target.write_text(text, encoding="utf-8")
        for stack in changed:
            stack.with_name(f"{stack.name}.unfinished").replace(stack)
    except OSError as error:
        for left in reversed(made):
            left.rmdir() if left.is_dir() else left.unlink(missing_ok=True)
        raise not_written(error.filename or target, error) from error


def formatted(folder: Path, path: str, text: str) -> str:
    r"""Return Python source as the project in a folder formats it; unchanged without ruff.

    Raises:
        TidemarkError: ruff cannot format it.

    Example:
        `formatted(project, "infra/orders_stack.py", "x  = 1")` returns `"x = 1\n"`.
    """
    if find_spec("ruff") is None:
        return text
    where = folder if folder.is_dir() else Path.cwd()
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", path, "-"]
    run = subprocess.run(  # noqa: S603 (a fixed command)
        command, cwd=where, input=text, capture_output=True, text=True, encoding="utf-8"
    )
    if run.returncode != 0:
        raise TidemarkError(f"ruff cannot format {path}: {run.stderr.strip()}")
    return run.stdout


def update_reviewed(project: Path, job: str) -> str | None:
    """Synthesize the app, and record its templates and its state, as the project does."""
    has_manifest, has_snapshot = (project / MANIFEST).exists(), (project / snapshot.FOLDER).is_dir()
    with TemporaryDirectory() as folder:
        assembly = synthesize(project, {"stage": "dev"}, Path(folder))
        if not any(job == declared.job.name for declared in read_jobs(read_assembly(assembly))):
            raise UsageError(
                f"the app has no job {job} with it: its stack is not in the app; make the stack in "
                "app.py first"
            )
        if has_manifest:
            write_manifest(project, assembly)
        if has_snapshot:
            snapshot.write(project / snapshot.FOLDER, snapshot.snapshots(read_assembly(assembly)))
        try:
            jobs = read_deployment(read_assembly(assembly), REGION).jobs
            return jobs[job].default_arguments.get("--source_path")
        except (TidemarkError, KeyError):
            return None  # something of the app does not run here; the job is written all the same


def _reviewed(project: Path, stacks: Iterable[str]) -> dict[Path, bytes]:
    reviewed = (project / snapshot.FOLDER).rglob("*")
    paths = [*(project / stack for stack in stacks), project / MANIFEST, *reviewed]
    return {path: path.read_bytes() for path in paths if path.is_file()}


def _stacks(project: Path) -> dict[str, str]:
    try:
        return {
            str(path.relative_to(project)): path.read_text(encoding="utf-8")
            for path in sorted((project / "infra").glob("*_stack.py"))
        }
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read a stack of {project}: {error}; correct it first") from error


def _names(stacks: Mapping[str, str]) -> list[str]:
    return [
        Path(path).name.removesuffix("_stack.py").replace("_", "-")
        for path, source in sorted(stacks.items())
        if "Pipeline(" in source
    ]
