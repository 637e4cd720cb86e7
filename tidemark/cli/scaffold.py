"""The commands that write a project or a job: `init` and `new-job`."""

import difflib
import os
from pathlib import Path

import click

from tidemark.cli.terminal import Terminal
from tidemark.model.messages import plural

FROM_HELP = "Write the sample pipeline, with its data, instead of one job."
KINDS_HELP = "bookmark-files (the default), watermark-jdbc, merge or publish."
AFTER_HELP = "Job to wait for, repeatable; merge and publish take one, and read its output."
PIPELINE_HELP = "Pipeline to add it to, by its file infra/NAME_stack.py; the only one by default."
KEY_HELP = "Column that identifies the rows of a merge, repeatable; id by default."
ICEBERG_HELP = "Let a merge write a table of Iceberg, with merge_window."


@click.command()
@click.argument("name")
@click.option("--from", "sample", type=click.Choice(["flights"]), help=FROM_HELP)
def init(name: str, sample: str | None) -> None:
    """Write a new project into the folder NAME: an app, a stack, a job with its test, CI.

    NAME is part of the names of stacks and buckets: lower case letters and digits, in words joined
    by hyphens.
    """
    from tidemark.scaffold.project import plan_project, plan_sample, write_project

    folder = Path(name)
    files = plan_sample(name) if sample else plan_project(name)
    write_project(folder, files)
    click.echo(f"wrote {plural(len(files), 'file')} into {folder}/")
    click.echo(f"\nNext, in a virtual environment: cd {name}, then as its README.md says:")
    run = "python -m sample demo" if sample else "tidemark run"
    for command in ("pip install -r requirements.txt", "npm install", "make lock", "pytest", run):
        click.echo(f"  {command}")


@click.command(name="new-job")
@click.argument("name")
@click.option("--kind", default="bookmark-files", metavar="KIND", help=KINDS_HELP)
@click.option("--after", multiple=True, metavar="JOB", help=AFTER_HELP)
@click.option("--key", multiple=True, metavar="COLUMN", help=KEY_HELP)
@click.option("--iceberg", is_flag=True, help=ICEBERG_HELP)
@click.option("--pipeline", metavar="NAME", help=PIPELINE_HELP)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def new_job(
    name: str,
    kind: str,
    after: tuple[str, ...],
    key: tuple[str, ...],
    iceberg: bool,
    pipeline: str | None,
    dry_run: bool,
) -> None:
    """Scaffold the job NAME: a script that runs, its test, and its call in a pipeline.

    No existing file is overwritten, except that the call is inserted into the stack of the
    pipeline and that the snapshots of the templates and the state manifest are brought up to date.
    """
    from tidemark.cli.progress import step
    from tidemark.scaffold.files import pipeline_of, pipelines_of, plan_files, put_files
    from tidemark.scaffold.new_job import NewJob, changes, commands

    project = Path.cwd()
    job = NewJob(name, kind, pipeline_of(project, pipeline), after, key, iceberg)
    files = plan_files(project, job)
    lake = Path(os.environ.get("TIDEMARK_HOME") or ".tidemark") / "lake"
    if dry_run:
        old = (project / job.stack).read_text(encoding="utf-8").splitlines()
        diff = difflib.unified_diff(old, files[job.stack].splitlines(), lineterm="", n=0)
        click.echo(f"would write {job.script}\nwould write {job.test}\nwould change {job.stack}:")
        click.echo("\n".join(it for it in diff if not it.startswith(("---", "+++", "@@"))))
        return
    with step(Terminal(), "Writing the job and updating what was reviewed of the app"):
        put = put_files(project, files, job.name)
    click.echo(f"wrote {job.script}\nwrote {job.test}\nadded the job to {job.stack}")
    for path in put.changed:
        click.echo(f"updated {path}: read the difference before you commit it")
    click.echo("\nTest it and run it on this machine:")
    is_only = len(pipelines_of(project)) == 1
    for command in commands(job, lake, put.source, is_only_pipeline=is_only):
        click.echo(f"  {command}")
    click.echo(f"\n{changes(job)}")
