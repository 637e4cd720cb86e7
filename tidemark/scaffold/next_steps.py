"""Tells what to do with a job that was scaffolded: commands that run it, and what to change."""

from pathlib import Path

from tidemark.scaffold.new_job import NewJob

ROW = '{"id": 1, "status": "open", "updated_at": "2013-01-01T10:00:00Z"}'


def commands(
    job: NewJob, lake: Path, source: str | None, *, is_only_pipeline: bool = True
) -> list[str]:
    """Return the shell commands that test the job and run it on this machine."""
    test = f"pytest {job.test}"
    run_it = "tidemark run" if is_only_pipeline else f"tidemark run --workflow {job.pipeline}"
    if job.kind == "watermark-jdbc":
        return [test, run_it, "tidemark status"]
    run = [run_it, f"tidemark explain {job.name}"]
    if job.kind != "bookmark-files" or source is None:
        return [test, *run]
    folder = lake / source.removeprefix("s3://").removesuffix("/")
    return [test, f"mkdir -p {folder}", f"echo '{ROW}' > {folder}/1.json", *run]


def changes(job: NewJob) -> str:
    """Return the next step for the job, as one sentence."""
    source = f"what {job.after[0]} writes" if job.after else "Parquet files that others deliver"
    return {
        "bookmark-files": f"Your columns are COLUMNS in {job.script}.",
        "watermark-jdbc": (
            f"It reads two rows of an embedded database: put your address and table into "
            f"its arguments in {job.stack}, and its cursor column into {job.script}."
        ),
        "merge": f"It reads {source}: its columns are KEY and VERSION in {job.script}.",
        "publish": f"It reads {source} and counts rows: what you publish is `published` in "
        f"{job.script}.",
    }[job.kind]
