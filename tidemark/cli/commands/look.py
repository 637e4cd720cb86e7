"""Commands that show runs, bookmarks, columns and data; one accepts columns."""

import click

from tidemark.cli.commands import options
from tidemark.cli.commands.known_names import JOB, RUN
from tidemark.cli.commands.options import FILE, RUN_FORMS, act, renamed
from tidemark.cli.commands.repair import SOURCE_HELP, watermark_options
from tidemark.cli.group import Verbs

LINES_FORMAT = click.Choice(["text", "json"])
LIMIT_HELP = "Look at the last N runs of each job."
FORMATS = click.Choice(["page", "json"])


@click.command()
@options.app_options
@options.shows("status.status")
def status() -> None:
    """Show every job's last run, bookmark and watermark, and how fresh published datasets are.

    On this machine also rows, and how far a bookmark has read: AWS does not report these.
    """


@click.command()
@click.argument("job", type=JOB, required=False)
@click.option("--since", metavar="TIME", help=options.SINCE_HELP)
@options.limit("Show the newest N.")
@click.option("--machine", metavar="NAME")
@options.where_options
@options.shows("runs.runs")
def runs() -> None:
    """Show the job runs of JOB, or of every job, newest first.

    With --machine: the executions of a state machine, with their steps.

    Args:
        machine: Show the executions of this state machine.
    """


@click.command()
@click.argument("job", type=JOB)
@click.option("--run", "run_id", metavar="ID", type=RUN)
@click.option("--follow", "-f", is_flag=True)
@click.option("--stderr", "errors", is_flag=True)
@click.option("--stdout", "outputs", is_flag=True)
@renamed("--errors", "--stderr", "errors", value=True)
@renamed("--output", "--stdout", "outputs", value=True)
@options.where_options
@click.option("--format", "output", type=LINES_FORMAT, default="text")
@options.looks("runs.logs")
def logs() -> None:
    """Print what a run of JOB wrote: stdout to stdout, and stderr to stderr.

    With --follow the exit code is 1 if the run does not succeed.

    Args:
        run_id: The id of the run, or a prefix; by default the last run.
        follow: Print until the run ends; Ctrl-C ends the printing, not the run.
        errors: Only what it wrote to stderr.
        outputs: Only what it printed to stdout.
        output: Print the lines, or each as an object of JSON.
    """


@click.command()
@click.argument("job", type=JOB)
@click.option("--file", "uri", metavar="S3_URI")
@click.option("--run", metavar="ID", type=RUN, help=f"Explain an earlier run: {RUN_FORMS}.")
@options.where_options
@options.shows("explain.explain")
def explain() -> None:
    """Tell what the next run of JOB would read, without running it.

    Of tables of Iceberg that are read from snapshot to snapshot: the snapshots that came since the
    last window, their rows, and what would be refused. With --deployed what AWS tells: these, how
    far the bookmark of each source has come, the watermarks, and which objects of the sources that
    the app declares are newer than the bookmark.

    Args:
        uri: Say why this file is read or skipped.
    """


@click.group(cls=Verbs)
def schema() -> None:
    """Show the columns that a job has read and written, and accept those that were refused."""


@schema.command("show")
@click.argument("job", type=JOB)
@options.where_options
@options.shows("schema.show")
def schema_show() -> None:
    """Show the columns of each source and target of JOB, as its last run has seen them.

    Also those that contracts keep beside the watermark, and what they have refused since the last
    commit. With --deployed these only: AWS records no columns.
    """


@schema.command("history")
@click.argument("job", type=JOB)
@options.where_options
@options.shows("schema.history")
def schema_history() -> None:
    """Show which runs of JOB have read or written other columns than the runs before.

    Also the versions of the watermark that keep other columns than the one before.
    """


@schema.command("diff")
@click.argument("job", type=JOB)
@click.option("--from", "from_run", metavar="RUN", type=RUN)
@click.option("--to", "to_run", metavar="RUN", type=RUN)
@options.shows("schema.diff")
def schema_diff() -> None:
    """Show which columns of JOB one run has otherwise than another, or than the runs before it.

    Also what makes no warning: numbers of another width, and fields that no record has had.

    Args:
        from_run: The run to compare with; the runs before the other one if not given.
        to_run: The run to compare; the last one that SUCCEEDED and saw columns if not given.
    """


@schema.command("accept")
@watermark_options
@click.option("--target", default="", metavar="TARGET")
@click.option("--source", default="", metavar="NAME", help=SOURCE_HELP)
@click.option("--reason", metavar="TEXT", required=True)
@options.actor
@click.option("--dry-run", is_flag=True)
@options.changed_or_json
@act("schema_versions.accept")
def schema_accept() -> None:
    """Accept the columns that a contract of JOB has refused last, and record who and why.

    The next run starts from them, and takes the window over that the refused run has left open. A
    rewind to a run before forgets it.

    Args:
        target: Only if it is this target: s3://bucket/folder/ or table:database.name.
        reason: Reason, for the record.
        dry_run: Show what would be accepted, change nothing.
    """


@click.command()
@click.option("--open", "opens", is_flag=True)
@click.option("--output", type=FILE, metavar="FILE")
@options.limit(LIMIT_HELP, default=200)
@options.app_options
@click.option("--format", "form", type=FORMATS, default="page")
@options.looks("report.report")
def report() -> None:
    """Write one page of HTML: the pipeline, its last runs, how fresh its data is, what it costs.

    The page is one file, which loads nothing. It shows what is recorded, and changes nothing.
    With --format json the same facts are printed, moments in UTC.

    Args:
        opens: Open the page in the browser.
        output: The file to write; report.html in the state home if not given.
        form: Write the page; or print what it shows as JSON, and write nothing.
    """


@click.command()
@click.argument("place", metavar="FILE|URL")
@click.option("--job", "jobs", multiple=True, metavar="JOB")
@click.option("--since", metavar="TIME", help=options.SINCE_HELP)
@options.where_options
@options.looks("lineage.lineage")
def lineage() -> None:
    """Send OpenLineage events of the job runs that have ended, the oldest first.

    A run has the same id in every event, so one that was sent before is not another run. What a run
    on AWS has read and written is known as far as the library `watermarks` has recorded it there.

    Args:
        jobs: Only of the runs of this job; may be given several times.
    """
