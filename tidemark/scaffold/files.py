"""Puts a scaffolded job into a project: all of its files or none, and the reviewed template."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tidemark.checks.state.manifest import MANIFEST
from tidemark.cli.synth import synthesize
from tidemark.cli.views.state import write_manifest
from tidemark.errors import TidemarkError, UsageError
from tidemark.scaffold.new_job import MARKER, PIPELINE, NewJob, script_of, stack_with, unit_test_of

SNAPSHOT_STAGE = "dev"
SNAPSHOT_TEST = "tests/infra/test_snapshot.py"
UPDATE_SNAPSHOT = f"pytest {SNAPSHOT_TEST} --snapshot-update"


def plan_files(project: Path, job: NewJob) -> dict[str, str]:
    """Return the files that make the job, path in the project to text; writes nothing.

    Raises:
        UsageError: the folder is not a project, or the job cannot be added to it.
        TidemarkError: the formatter failed.
    """
    stacks = _stacks(project)
    stack = stacks.pop(job.stack, None)
    if stack is None:
        raise UsageError(_no_stack(project, job, stacks))
    with_job = stack_with(job, stack, stacks)
    for path in (job.script, job.test):
        if (project / path).exists():
            raise UsageError(f"{path} is there already and stays as it is; take another name")
        if not (project / path).parent.is_dir():
            raise UsageError(
                f"there is no folder {Path(path).parent} in {project}; run tidemark new-job in the "
                "folder of the project"
            )
    texts = {job.script: script_of(job), job.test: unit_test_of(job), job.stack: with_job}
    return {path: _formatted(project, path, text) for path, text in texts.items()}


def put_files(project: Path, files: Mapping[str, str]) -> list[str]:
    """Write the files of a plan and bring what was reviewed of the app up to date, or do nothing.

    Returns:
        The files of the snapshot and the state manifest, as far as they changed, as paths in the
        project.

    Raises:
        TidemarkError: a file cannot be written, or the app cannot be synthesized with the job.
    """
    stacks = {name for name in files if (project / name).exists()}
    before = _reviewed(project, stacks)
    write_files(project, files)
    try:
        update_reviewed(project)
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
    return sorted(changed - stacks)


def pipelines_of(project: Path) -> list[str]:
    """Return the names of the pipelines that a job can be added to, each by that of its stack."""
    return _names(_stacks(project))


def stage_of(project: Path) -> str:
    """Return the stage that `tidemark run` runs.

    Raises:
        UsageError: `cdk.json` does not say.
    """
    try:
        context = json.loads((project / "cdk.json").read_text(encoding="utf-8"))["context"]
        return str(context["stage"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"cannot read the stage from cdk.json in {project} ({type(error).__name__}: {error}); "
            "run tidemark new-job in the folder of the project"
        ) from error


def write_files(project: Path, files: Mapping[str, str]) -> None:
    """Write new files and then change the stack; what fails halfway leaves nothing behind.

    Raises:
        TidemarkError: a file cannot be written.
    """
    made: list[Path] = []
    changed = [project / path for path in files if (project / path).exists()]
    try:
        for path, text in files.items():
            is_changed = project / path in changed
            target = project / (f"{path}.unfinished" if is_changed else path)
            with target.open("w" if is_changed else "x", encoding="utf-8") as file:
                made.append(target)
                file.write(text)
        for stack in changed:
            stack.with_name(f"{stack.name}.unfinished").replace(stack)
    except OSError as error:
        for left in made:
            left.unlink(missing_ok=True)
        raise TidemarkError(
            f"cannot write {error.filename}: {error.strerror}; nothing was changed"
        ) from error


def update_reviewed(project: Path) -> None:
    """Synthesize the app, and record its templates and what it keeps, as far as the project does.

    Raises:
        TidemarkError: it cannot be synthesized, or loses state that is recorded.
    """
    has_manifest, has_snapshot = (project / MANIFEST).exists(), (project / SNAPSHOT_TEST).exists()
    if not (has_manifest or has_snapshot):
        return
    with TemporaryDirectory() as folder:
        assembly = synthesize(project, {"stage": SNAPSHOT_STAGE}, Path(folder))
        if has_manifest:
            write_manifest(project, assembly)
        if has_snapshot:
            update_snapshot(project, assembly)


def update_snapshot(project: Path, assembly: Path) -> None:
    """Rewrite the templates that the snapshot test compares with.

    Raises:
        TidemarkError: the test fails.
    """
    command = [sys.executable, "-m", *UPDATE_SNAPSHOT.split(), "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(  # noqa: S603 (the project's own test)
        command,
        cwd=project,
        env={**os.environ, "TIDEMARK_TEST_ASSEMBLY": str(assembly)},
        capture_output=True,
        text=True,
    )
    if run.returncode != 0:
        raise TidemarkError(f"`{UPDATE_SNAPSHOT}` fails:\n{run.stdout}{run.stderr}")


def _reviewed(project: Path, stacks: Iterable[str]) -> dict[Path, bytes]:
    """Return the files that a job changes, with what is in them."""
    snapshots = (project / SNAPSHOT_TEST).parent / "__snapshots__"
    paths = [*(project / stack for stack in stacks), project / MANIFEST, *snapshots.rglob("*")]
    return {path: path.read_bytes() for path in paths if path.is_file()}


def _formatted(project: Path, path: str, text: str) -> str:
    """Return Python source as the project formats it: how lines fold depends on the name."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", path, "-"]
    run = subprocess.run(  # noqa: S603 (a fixed command)
        command, cwd=project, input=text, capture_output=True, text=True, encoding="utf-8"
    )
    if run.returncode != 0:
        raise TidemarkError(f"ruff cannot format {path}: {run.stderr.strip()}; run `make setup`")
    return run.stdout


def _stacks(project: Path) -> dict[str, str]:
    """Return the stack files of a project, as path in the project to source.

    Raises:
        UsageError: one of them cannot be read.
    """
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
        if MARKER in source
    ]


def _no_stack(project: Path, job: NewJob, stacks: Mapping[str, str]) -> str:
    names = _names(stacks)
    if job.pipeline == PIPELINE and not names:
        return (
            f"there is no {job.stack} in {project}; run tidemark new-job in the folder of the "
            "project"
        )
    return (
        f"there is no pipeline {job.pipeline!r}: no {job.stack} in {project}; allowed: "
        f"{', '.join(names) or 'none'}; docs/second-pipeline.md shows how to add one"
    )
