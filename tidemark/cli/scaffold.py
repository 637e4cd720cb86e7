"""The commands that write a project or a job: `init` and `new-job`."""

import difflib
import os
from pathlib import Path

import click

from tidemark.cli.progress import step
from tidemark.cli.terminal import Terminal
from tidemark.errors import UsageError
from tidemark.model.messages import plural
from tidemark.scaffold.files import pipeline_of, pipelines_of, plan_files, put_files
from tidemark.scaffold.new_job import NewJob, changes, commands, kebab_case
from tidemark.scaffold.notebook import read_notebook
from tidemark.scaffold.project import plan_project, plan_sample, write_project


def init(name: str, sample: str | None) -> None:
    folder = Path(name)
    files = plan_sample(name) if sample else plan_project(name)
    write_project(folder, files)
    click.echo(f"wrote {plural(len(files), 'file')} into {folder}/")
    click.echo(f"\nNext, in a virtual environment: cd {name}, then as its README.md says:")
    run = "python -m sample demo" if sample else "tidemark run"
    for command in ("pip install -r requirements.txt", "npm install", "make lock", "pytest", run):
        click.echo(f"  {command}")


def new_job(
    name: str | None,
    kind: str,
    after: tuple[str, ...],
    key: tuple[str, ...],
    iceberg: bool,
    from_notebook: Path | None,
    pipeline: str | None,
    dry_run: bool,
) -> None:
    project = Path.cwd()
    notebook = read_notebook(from_notebook) if from_notebook else None
    if name is None:
        if from_notebook is None:
            raise UsageError("give the job a name: tidemark new-job ingest-orders")
        name = kebab_case(from_notebook.stem)
    job = NewJob(name, kind, pipeline_of(project, pipeline), after, key, iceberg, notebook)
    files = plan_files(project, job)
    lake = Path(os.environ.get("TIDEMARK_HOME") or ".tidemark") / "lake"
    if dry_run:
        old = (project / job.stack).read_text(encoding="utf-8").splitlines()
        diff = difflib.unified_diff(old, files[job.stack].splitlines(), lineterm="", n=0)
        click.echo(f"would write {job.script}\nwould write {job.test}\nwould change {job.stack}:")
        click.echo("\n".join(line for line in diff if not line.startswith(("---", "+++", "@@"))))
        return
    with step(Terminal(), "Writing the job and updating what was reviewed of the app"):
        changed, source = put_files(project, files, job.name)
    click.echo(f"wrote {job.script}\nwrote {job.test}\nadded the job to {job.stack}")
    for path in changed:
        click.echo(f"updated {path}: read the difference before you commit it")
    click.echo("\nTest it and run it on this machine:")
    is_only = len(pipelines_of(project)) == 1
    for command in commands(job, lake, source, is_only_pipeline=is_only):
        click.echo(f"  {command}")
    click.echo(f"\n{changes(job)}")
