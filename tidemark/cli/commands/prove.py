"""Commands that look for what goes wrong, before it does."""

import re

import click

from tidemark.cli.commands.known_names import JOB_OR_FILE, RUN, WORKFLOW
from tidemark.cli.commands.options import (
    CONTEXT_HELP,
    FILE,
    SCRIPT_ARGUMENTS,
    act,
    app_and_context,
    output_format,
)
from tidemark.cli.group import Verbs
from tidemark.model.assembly.glue_versions import RUN_HERE

VERSION = click.Choice(RUN_HERE)
BOOKMARK_HELP = "The job-bookmark-option of the job that runs the scripts; enable if not given."
ONLY_HELP = "Only these kinds of experiments, separated by commas, such as crash,again."
BUDGET_HELP = "Stop after this long, such as 90, 90s or 5m; the most telling experiments first."
SEED_HELP = "Draw the moments after the first by this number; the same number draws the same ones."
KEY_HELP = "Columns that identify a row, separated by commas; without, they are looked for."
IGNORE_HELP = "Columns and targets that are not compared: load_no,s3://lake/stage/,table db.stage."
ALLOW_HELP = "A host, program or path outside the home that the job may reach; may be repeated."
LAKE_HELP = "Start from this folder, a sub-folder for each bucket, without bookmarks."
SAMPLE_HELP = "Make this many rows for each source, with the schema of its files or its table."
REPLAY_HELP = "Run once from a state that the last proof saw go wrong, named [ID] in its lines."
DBT_HELP = "Prove this project of dbt: dbt build, or the words that follow, such as run -s orders."
DBT_COMMAND_HELP = "The dbt of an environment with dbt-glue; the one on the PATH by default."
HTML_HELP = "Also write a page with all changes, crashes and rows into this file."
MANIFEST_HELP = (
    "Also compare with the manifest of this commit or branch, as CI does with a request."
)
KEEP_HELP = "Keep the two copies of the home, with all that the runs wrote, in this new folder."
FIND_HELP = "If the results differ, look for the setting of Spark that brings the old ones back."
SHARED_HELP = "Also run scripts that write to a database: both versions use the same one."
DEPLOYED_HELP = "Rename in the AWS account and region of your credentials instead of locally."
GIVEN_HELP = "A policy that the roles already have, as JSON: print only what is missing."
FROM_RUN_HELP = "The earlier run of the job; by default the one before the other."
TO_RUN_HELP = "The later run; by default the last one."
HOME_HELP = "The home to compare, instead of that of this folder."
WITH_HOME_HELP = "Compare with the targets of this other home."
CODE_HELP = "Run the code of this Git revision and that of the working tree, and compare."
ROW_KEY_HELP = "A column that identifies a row; may be repeated. Without, the key that is known."
WHERE_HELP = "Compare only rows that meet this condition of SQL, as Spark reads it."
TOLERANCE_HELP = "Numbers of a column count as equal up to this distance."
SPAN = re.compile(r"(?P<number>[0-9]{1,6}(\.[0-9]+)?)(?P<unit>s|m|)")


class Seconds(click.ParamType[float]):
    """A time in seconds, or with a unit: 90, 90s, 1.5m."""

    name = "time"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds; at least one."""
        match = SPAN.fullmatch(str(value))
        seconds = float(match["number"]) * (60 if match["unit"] == "m" else 1) if match else 0
        if seconds < 1:
            self.fail(f"{value!r} is not a time; allowed: at least 1s, such as 90, 90s or 5m")
        return seconds


@click.command()
@click.argument("scripts", nargs=-1, type=FILE, metavar="[SCRIPT.py|FOLDER]...")
@click.option("--bookmark", type=click.Choice(["enable", "disable", "pause"]), help=BOOKMARK_HELP)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@output_format("Print lines, or JSON.")
@app_and_context
@act("lint.lint")
def lint() -> None:
    """Find what loses bookmarks or fails runs in Glue job scripts, without running them.

    Without a script or a folder every job of the app is linted, with the arguments that its
    template passes.
    """


@click.command(context_settings=SCRIPT_ARGUMENTS)
@click.option(
    "--workflow", metavar="NAME", type=WORKFLOW, help="Prove all jobs of this workflow of the app."
)
@click.option("--only", metavar="KIND,...", multiple=True, help=ONLY_HELP)
@click.option("--budget", type=Seconds(), metavar="TIME", help=BUDGET_HELP)
@click.option("--seed", type=int, default=1, show_default=True, help=SEED_HELP)
@click.option(
    "--moments",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    metavar="N",
    help="How many executors are killed, and writes of each line fail, each in its own run.",
)
@click.option("--key", metavar="COLUMN,...", help=KEY_HELP)
@click.option("--ignore", metavar="COLUMN,...", help=IGNORE_HELP)
@click.option("--allow", metavar="HOST|PATH", multiple=True, help=ALLOW_HELP)
@app_and_context
@click.option("--lake", type=FILE, metavar="DIR", help=LAKE_HELP)
@click.option("--sample", type=click.IntRange(min=1), metavar="ROWS", help=SAMPLE_HELP)
@click.option("--replay", metavar="ID", help=REPLAY_HELP)
@click.option("--dbt", type=FILE, metavar="PROJECT", help=DBT_HELP)
@click.option("--dbt-command", default="dbt", metavar="PATH", help=DBT_COMMAND_HELP)
@click.option("--html", "page", type=FILE, metavar="FILE", help=HTML_HELP)
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
    """


@click.command("compare-versions", context_settings=SCRIPT_ARGUMENTS)
@click.option("--from", "old", type=VERSION, default="5.1", show_default=True)
@click.option("--to", "new", type=VERSION, default="6.0", show_default=True)
@click.option("--workflow", metavar="NAME", type=WORKFLOW, help="Run this workflow of the app.")
@app_and_context
@click.option("--keep", type=FILE, metavar="DIR", help=KEEP_HELP)
@click.option("--find-settings", is_flag=True, help=FIND_HELP)
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
    """


@click.command()
@click.option("--from", "from_run", metavar="RUN", type=RUN, help=FROM_RUN_HELP)
@click.option("--to", "to_run", metavar="RUN", type=RUN, help=TO_RUN_HELP)
@click.option("--home", "home_path", type=FILE, metavar="PATH", help=HOME_HELP)
@click.option("--with-home", type=FILE, metavar="PATH", help=WITH_HOME_HELP)
@click.option("--code", metavar="REF", help=CODE_HELP)
@click.option(
    "--workflow", metavar="NAME", type=WORKFLOW, help="With --code: run this workflow of the app."
)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
@click.option("--anew", is_flag=True, help="With --code: let both read everything again.")
@click.option("--with-databases", is_flag=True, help=SHARED_HELP)
@click.option("--key", metavar="COLUMN", multiple=True, help=ROW_KEY_HELP)
@click.option("--where", "condition", default="", metavar="SQL", help=WHERE_HELP)
@click.option("--tolerance", type=float, default=0.0, metavar="NUMBER", help=TOLERANCE_HELP)
@click.option(
    "--sample",
    type=click.IntRange(0, 100),
    default=3,
    show_default=True,
    metavar="N",
    help="How many examples are shown of each kind.",
)
@click.option("--html", "page", type=FILE, metavar="FILE", help="Also write a page into this file.")
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
    """


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@app_and_context
@act("snapshot.snapshot")
def snapshot() -> None:
    """Write the templates as a reviewer reads them: a file per job and stack in tests/snapshots.

    A new job adds a file. Commit them: what a change of the app does to AWS is in the difference.
    """


@click.group(cls=Verbs)
def state() -> None:
    """Guard bookmarks and watermarks against changes of the app that would lose them."""


@state.command("check")
@app_and_context
@click.option("--since", metavar="REVISION", help=MANIFEST_HELP)
@output_format("Print lines, or JSON.")
@act("state.check")
def state_check() -> None:
    """Tell what the app would lose of what state-manifest.json records; exit 1 if anything."""


@state.command("write")
@app_and_context
@act("state.write")
def state_write() -> None:
    """Record in state-manifest.json what the app keeps; refuse to drop what no one gave up."""


@state.command("carry-over")
@click.option("--dry-run", is_flag=True, help="Print the steps, and do nothing.")
@click.option("--deployed", is_flag=True, help=DEPLOYED_HELP)
@app_and_context
@act("state.carry_over")
def state_carry_over() -> None:
    """Carry out state-carry-over.json; doing it again changes nothing."""


@click.command()
@click.argument("jobs", metavar="NAME...", nargs=-1, required=True)
@click.option("--trust", is_flag=True, help="Print whom the role must trust instead.")
@click.option("--given", multiple=True, type=FILE, metavar="FILE", help=GIVEN_HELP)
@app_and_context
@act("grants.grants")
def grants() -> None:
    """Print the IAM policy that the roles of jobs and crawlers need, for whoever makes roles.

    It is what the jobs declare, and no more. What only a deployment knows stands in ${}. With
    --given it is what these policies do not allow of that; what is not sure counts as missing.
    """
