"""Tells it: merges after a full load and an increment, a run that is killed, and the proof."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
from rich.console import Console

from sample.iceberg.files import data_files
from sample.story import Plot, Story, StoryError, tell_in_parts
from tidemark.cli.progress import step
from tidemark.glue_job.process.job_process import KILL_VARIABLE
from tidemark.glue_service.runs.jvms.supply import Jvms, jvms_of
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.catalog.table_metadata import table_of
from tidemark.local_state.home import Home
from tidemark.local_state.run_notes import snapshots_of
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.iceberg import (
    CATALOG,
    DATALAKE_FORMATS,
    FORMAT,
    METADATA,
    iceberg_settings,
)
from tidemark.model.assembly.synthesis import synthesize
from tidemark.model.messages import plural

DEMO_HOME = ".tidemark-demo-iceberg"
JOB = "merge-flights"
SCRIPT = Path(__file__).with_name("merge_flights.py")
LIBS = "libs"
MERGED = "CREATE TABLE merged AS FROM read_parquet(?, union_by_name = true)"
CURATED = "CREATE TABLE curated AS SELECT {} FROM read_parquet(?, hive_partitioning = true)"
DIFFERENCE = "SELECT count(*) FROM (FROM {} EXCEPT ALL FROM {})"
PLOT = Plot(first_days="1..3", next_days="4..5", late_weather="2", corrected="1")


class Merges:
    """The job's runs, and the table that they left."""

    def __init__(self, console: Console, story: Story, home: Home, jvms: Jvms) -> None:
        self._console = console
        self._story = story
        self._home = home
        self._jvms = jvms
        self._library = shutil.make_archive(str(home.root / "libs"), "zip", LIBS, "watermarks")
        self.table = f"{story.output('DatabaseName')}.merged_flights"

    def run(self, title: str, kill: str = "") -> JobRun:
        """Run the job once; `kill` says where it is killed.

        Raises:
            StoryError: it failed although nobody killed it, or the reverse.
        """
        self._console.rule(f"[bold]{title}")
        with _killed(kill):
            submission = Submission(SCRIPT, JOB, self._arguments())
            run, _ = submit(submission, self._home, lambda _: None, jvms=self._jvms)
        if (run.state == "SUCCEEDED") is bool(kill):
            raise StoryError(f"{title}: {run.state} {run.error_message or ''}")
        made = [one["id"] for one in snapshots_of(self._home.runs / run.run_id)]
        self._console.print(
            f"{run.state}: {run.rows_read or 0:,} rows read, "
            f"{plural(len(made), 'snapshot')} {', '.join(made)}",
            highlight=False,
        )
        return run

    def _arguments(self) -> dict[str, str]:
        curated = self._story.output("CuratedBucketName")
        settings = iceberg_settings(CATALOG, f"s3://{curated}/iceberg/")
        return {
            DATALAKE_FORMATS: FORMAT,
            "--conf": " --conf ".join(f"{name}={value}" for name, value in settings.items()),
            "--job-bookmark-option": "job-bookmark-enable",
            "--extra-py-files": self._library,
            "--source_path": f"s3://{curated}/flights/",
            "--target_table": f"{CATALOG}.{self.table}",
            "--watermark_table": self._story.output("WatermarkTableName"),
        }

    def prove(self) -> None:
        """Compare the table with the curated flights, by another engine than Spark.

        Raises:
            StoryError: they differ.
        """
        with Store(self._home.database) as store:
            place = table_of(store, self.table).parameters[METADATA]
        merged = data_files(self._home.lake, place)
        curated = self._story.folder("CuratedBucketName", "flights") / "**" / "*.parquet"
        rows, missing, unexpected = _compared(merged, curated)
        if not rows or missing or unexpected:
            raise StoryError(
                f"{self.table} has {rows} rows, lacks {missing} of the curated flights and has "
                f"{unexpected} others"
            )
        self._console.print(
            f"[green]✓[/] Checked: the {rows:,} rows of the table of Iceberg equal the curated "
            "flights, row for row.",
            highlight=False,
        )


@contextmanager
def _killed(where: str) -> Iterator[None]:
    """Let the job process of a run kill itself at its commit."""
    if where:
        os.environ[KILL_VARIABLE] = where
    try:
        yield
    finally:
        os.environ.pop(KILL_VARIABLE, None)


def _compared(merged: Sequence[Path], curated: Path) -> tuple[int, int, int]:
    """Return how many rows the table has, and how many are in one of both only."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(MERGED, [list(map(str, merged))])
        names = ", ".join(row[0] for row in connection.execute("DESCRIBE merged").fetchall())
        connection.execute(CURATED.format(names), [str(curated)])
        ((rows,), (missing,), (unexpected,)) = (
            connection.execute(count).fetchall()[0]
            for count in (
                "SELECT count(*) FROM merged",
                DIFFERENCE.format("curated", "merged"),
                DIFFERENCE.format("merged", "curated"),
            )
        )
    return rows, missing, unexpected


def play(console: Console, home: Home) -> Merges:
    """Play the first story on fewer days, merge after each of its loads, and prove the table."""
    with jvms_of(home, say=console.print) as jvms:
        with step(console, "Synthesizing the CDK app"):
            assembly = synthesize(Path.cwd(), {})
        story = Story(console, assembly, home, jvms)
        merges = Merges(console, story, home, jvms)
        loads = tell_in_parts(story, PLOT)
        next(loads)
        merges.run("Merge 1: all flights")
        next(loads)
        merges.run("Merge 2: killed after its merge", kill="before commit")
        merges.run("Merge 3: the same again")
        merges.run("Merge 4: nothing new")
        console.rule("[bold]Proof")
        story.prove()
        merges.prove()
    return merges


def main() -> None:
    """Play the demo in a home of its own, started afresh.

    Raises:
        TidemarkError: a run failed, or the proof does not hold.
    """
    console = Console()
    home = Home.open(Path(DEMO_HOME))  # never TIDEMARK_HOME, for it is emptied
    home.reset()
    merges = play(console, home)
    console.print(
        f"The table {merges.table}, data, logs and state are in {home.root}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
