"""Commands that look for what goes wrong, before it does."""

import re
import time

import click

from tidemark.cli.commands.known_names import JOB_OR_FILE, RUN, STAGE, WORKFLOW
from tidemark.cli.commands.options import (
    CONTEXT_HELP,
    FILE,
    SCRIPT_ARGUMENTS,
    act,
    app_and_context,
    dry_run,
    output_format,
    renamed,
)
from tidemark.cli.group import Verbs
from tidemark.model.assembly.glue_versions import RUN_HERE

VERSION = click.Choice(RUN_HERE)
SHARED_HELP = "Also run scripts that write to a database: both versions use the same one."
NO_STAGE = "-"  # `--deployed` alone, which meant the stage of --context
SPAN = re.compile(r"(?P<number>[0-9]{1,6}(\.[0-9]+)?)(?P<unit>s|m|)")


class Deadline(click.ParamType[float]):
    """When a time ends that begins now, before anything is imported: 90, 90s, 1.5m."""

    name = "time"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the end on the clock of `time.monotonic`, at least a second from now."""
        match = SPAN.fullmatch(str(value))
        seconds = float(match["number"]) * (60 if match["unit"] == "m" else 1) if match else 0
        if seconds < 1:
            self.fail(f"{value!r} is not a time; allowed: at least 1s, such as 90, 90s or 5m")
        return time.monotonic() + seconds


@click.command()
@click.argument("scripts", nargs=-1, type=FILE, metavar="[SCRIPT.py|FOLDER]...")
@click.option("--bookmark", type=click.Choice(["enable", "disable", "pause"]))
@click.option("--strict", is_flag=True)
@output_format("Print lines, or JSON.")
@app_and_context
@act("lint.lint")
def lint() -> None:
    """Find what loses bookmarks or fails runs in Glue job scripts, without running them.

    Without a script or a folder every job of the app is linted, with the arguments that its
    template passes.

    Args:
        bookmark: The job-bookmark-option of the job that runs the scripts; enable if not given.
        strict: Exit with 1 for warnings too.
    """


@click.command(context_settings=SCRIPT_ARGUMENTS)
@click.option("--workflow", metavar="NAME", type=WORKFLOW)
@click.option("--kind", "only", metavar="KIND", multiple=True)
@renamed("--only", "--kind", "only", multiple=True)
@click.option("--budget", "deadline", type=Deadline(), metavar="TIME")
@click.option("--seed", type=int, metavar="N", default=1, show_default=True)
@click.option("--moments", type=click.IntRange(1, 20), default=1, show_default=True, metavar="N")
@click.option("--key", metavar="COLUMN", multiple=True)
@click.option("--ignore", metavar="COLUMN|TARGET", multiple=True)
@click.option("--allow", metavar="HOST|PATH", multiple=True)
@app_and_context
@click.option("--lake", type=FILE, metavar="DIR")
@click.option("--sample", type=click.IntRange(min=1), metavar="ROWS")
@click.option("--replay", metavar="ID")
@click.option("--dbt", type=FILE, metavar="PROJECT")
@click.option("--dbt-command", default="dbt", metavar="PATH")
@click.option("--html", "page", type=FILE, metavar="FILE")
@output_format()
@click.argument("what", required=False, metavar="[JOB|SCRIPT]", type=JOB_OR_FILE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@act("prove.prove")
def prove() -> None:
    """Prove that no row is lost or doubled when a job of the app, or a SCRIPT, goes wrong.

    It runs once as it should, on a copy of the home, and every change that it makes outside its
    process is noted. Then it crashes after each of these changes and runs again; it runs with
    nothing new, with its files in parts and in another order, and after a rewind. Each time the
    rows of its targets are compared with those of the first run. The home keeps its data and state.

    Exit code 0: no row is lost or doubled. 1: an experiment loses, doubles or changes rows, or
    fails. 2: the command is used wrongly. 3: nothing could be tried, or the proof failed. 4:
    nothing bad was found, and not everything was tried, or judged. 130: it was interrupted, and
    what it had tried is right. A second Ctrl-C ends it at once.

    Args:
        workflow: Prove all jobs of this workflow of the app.
        only: Only this kind of experiments, such as crash; repeatable.
        deadline: Stop after this long, such as 90, 90s or 5m; the most telling experiments first.
        seed: Draw the moments after the first by this number; the same number draws the same ones.
        moments: How many executors are killed, and writes of each line fail, each in its own run.
        key: Column that identifies a row, repeatable; without, the key is looked for.
        ignore: Column or target that is not compared, repeatable: load_no, s3://lake/stage/, table
            db.stage.
        allow: A host, program or path outside the home that the job may reach; repeatable.
        lake: Start from this folder, a sub-folder for each bucket, without bookmarks.
        sample: Make this many rows for each source, with the schema of its files or its table.
        replay: Run once from a state that the last proof saw go wrong, named [ID] in its lines.
        dbt: Prove this project of dbt: dbt build, or the words that follow, such as run -s orders.
        dbt_command: The dbt of an environment with dbt-glue; the one on the PATH by default.
        page: Also write a page with all changes, crashes and rows into this file.
    """


@click.command("compare-versions", context_settings=SCRIPT_ARGUMENTS)
@click.option("--from", "old", type=VERSION, default="5.1", show_default=True)
@click.option("--to", "new", type=VERSION, default="6.0", show_default=True)
@click.option("--workflow", metavar="NAME", type=WORKFLOW)
@app_and_context
@click.option("--keep", type=FILE, metavar="DIR")
@click.option("--find-settings", is_flag=True)
@click.option("--with-databases", is_flag=True, help=SHARED_HELP)
@output_format()
@click.argument("what", required=False, metavar="[JOB|SCRIPT]", type=JOB_OR_FILE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@act("compare_versions.compare_versions")
def compare_versions() -> None:
    """Run a job of the app, a SCRIPT with ARGUMENTS, or a workflow on two versions of Glue.

    Both run at once over copies of the data, bookmarks and watermarks of the home, which stays as
    it is. Every place that they write is compared by rows and types, every bookmark, watermark and
    table of the Data Catalog by its values, every run by its end. Exit code 0: equal. 1: something
    differs, or a job fails on the new version.

    Args:
        old: The version of today.
        new: The version to come.
        workflow: Run this workflow of the app.
        keep: Keep the two copies of the home, with all that the runs wrote, in this new folder.
        find_settings: If the results differ, look for the setting of Spark that brings the old ones
            back.
    """


@click.command()
@click.option("--from", "from_run", metavar="RUN", type=RUN)
@click.option("--to", "to_run", metavar="RUN", type=RUN)
@click.option("--home", "home_path", type=FILE, metavar="PATH")
@click.option("--with-home", type=FILE, metavar="PATH")
@click.option("--code", metavar="REF")
@click.option("--workflow", metavar="NAME", type=WORKFLOW)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
@click.option("--anew", is_flag=True)
@click.option("--with-databases", is_flag=True, help=SHARED_HELP)
@click.option("--key", metavar="COLUMN", multiple=True)
@click.option("--where", "condition", default="", metavar="SQL")
@click.option("--tolerance", type=float, default=0.0, metavar="NUMBER")
@click.option("--sample", type=click.IntRange(0, 100), default=3, show_default=True, metavar="N")
@click.option("--html", "page", type=FILE, metavar="FILE")
@output_format()
@click.argument("what", required=False, metavar="[JOB|SCRIPT]", type=JOB_OR_FILE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@act("diff.diff")
def diff() -> None:
    """Show how the rows of the targets of JOB differ: in two runs, homes or versions of the code.

    Targets are folders of files and tables of Iceberg. Rows are compared by --key, the keys that
    merge_window was given last, or Iceberg's identifier fields; else as whole rows. With --code
    the job, a SCRIPT (its ARGUMENTS after --), or the workflow of the app runs on copies of the
    home, which stays as it is. Exit code 0: rows and types are equal. 1: they differ, or a job
    fails. 2: the command is used wrongly. 3: nothing differs, and not everything was compared.

    Args:
        from_run: The earlier run of the job; by default the one before the other.
        to_run: The later run; by default the last one.
        home_path: The home to compare, instead of that of this folder.
        with_home: Compare with the targets of this other home.
        code: Run the code of this Git revision and that of the working tree, and compare.
        workflow: With --code: run this workflow of the app.
        anew: With --code: let both read everything again.
        key: A column that identifies a row; may be repeated. Without, the key that is known.
        condition: Compare only rows that meet this condition of SQL, as Spark reads it.
        tolerance: Numbers of a column count as equal up to this distance.
        sample: How many examples are shown of each kind.
        page: Also write a page into this file.
    """


@click.command()
@click.option("--check", is_flag=True)
@app_and_context
@act("snapshot.snapshot")
def snapshot() -> None:
    """Write the templates as a reviewer reads them: a file per job and stack in tests/snapshots.

    A new job adds a file. Commit them: what a change of the app does to AWS is in the difference.

    Args:
        check: Write nothing; exit with 1 if a file would change.
    """


@click.group(cls=Verbs)
def state() -> None:
    """Guard bookmarks and watermarks against changes of the app that would lose them."""


@state.command("check")
@app_and_context
@click.option("--since", metavar="REVISION")
@output_format("Print lines, or JSON.")
@act("state.check")
def state_check() -> None:
    """Tell what the app would lose of what state-manifest.json records; exit 1 if anything.

    Args:
        since: Also compare with the manifest of this commit or branch, as CI does with a request.
    """


@state.command("write")
@app_and_context
@act("state.write")
def state_write() -> None:
    """Record in state-manifest.json what the app keeps; refuse to drop what no one gave up."""


@state.command("carry-over")
@dry_run("Print the steps, and do nothing.")
@click.option("--deployed", metavar="STAGE", type=STAGE, is_flag=False, flag_value=NO_STAGE)
@app_and_context
@act("state.carry_over")
def state_carry_over() -> None:
    """Carry out state-carry-over.json; doing it again changes nothing.

    Args:
        deployed: Rename what the app of this stage has on AWS, in the account and region of your
            credentials, instead of here.
    """


@click.command()
@click.argument("jobs", metavar="NAME...", nargs=-1, required=True)
@click.option("--trust", is_flag=True)
@click.option("--given", multiple=True, type=FILE, metavar="FILE")
@app_and_context
@act("grants.grants")
def grants() -> None:
    """Print the IAM policy that the roles of jobs and crawlers need, for whoever makes roles.

    It is what the jobs declare, and no more. What only a deployment knows stands in ${}. With
    --given it is what these policies do not allow of that; what is not sure counts as missing.

    Args:
        trust: Print whom the role must trust instead.
        given: A policy that the roles already have, as JSON: print only what is missing.
    """
