"""Commands that move bookmarks and watermarks, or load ranges again."""

import click

from tidemark.cli.commands import options
from tidemark.cli.commands.known_names import JOB, RUN
from tidemark.cli.commands.options import RUN_FORMS, act, renamed
from tidemark.cli.group import NamesOrVerb, Verbs

TABLE_HELP = (
    "The DynamoDB table; that of --watermark_table of JOB if not given, else glue-watermarks."
)
SOURCE_HELP = "Of a job with several sources: which one."
BOOKMARK_TO_HELP = f"The run: {RUN_FORMS}; or beginning. Without it choose from a list."


@click.group(cls=Verbs)
def bookmark() -> None:
    """Look at the bookmark of a job, reset it, or rewind it to an earlier run."""


@bookmark.command("show")
@click.argument("job", type=JOB)
@click.option(
    "--run", metavar="ID", type=RUN, help=f"Show the bookmark as of the end of a run: {RUN_FORMS}."
)
@options.where_options
@options.shows("bookmark.show")
def bookmark_show() -> None:
    """Show the bookmark of JOB and the runs it can be rewound to."""


@bookmark.command("reset")
@click.argument("job", type=JOB)
@options.yes
@options.where_options
@options.changed_or_json
@act("bookmark.reset")
def bookmark_reset() -> None:
    """Forget what JOB has read: its next run reads everything again."""


@bookmark.command("rewind")
@click.argument("job", type=JOB)
@click.option("--to", "run", metavar="RUN|beginning", type=RUN, help=BOOKMARK_TO_HELP)
@renamed("--run", "--to", "run", metavar="ID", type=RUN)
@options.yes
@options.where_options
@options.changed_or_json
@act("bookmark.rewind")
def bookmark_rewind() -> None:
    """Set JOB back to the end of an earlier run: its next run reads what came after that run."""


def watermark_options(command: options.Command) -> options.Command:
    """Add what every command about watermarks takes: the job, and where its watermarks are."""
    with_table = click.option("--table", metavar="NAME", help=TABLE_HELP)(
        options.where_options(command)
    )
    return click.argument("job", type=JOB)(with_table)


@click.group(cls=Verbs)
def watermark() -> None:
    """Look at the watermarks of a job, or rewind them to an earlier run."""


@watermark.command("show")
@watermark_options
@options.shows("watermark.show")
def watermark_show() -> None:
    """Show the watermarks of JOB and the windows that runs have open."""


@watermark.command("history")
@watermark_options
@click.option("--source", default="", metavar="NAME", help=SOURCE_HELP)
@options.limit("Show the newest N.")
@options.shows("watermark.history")
def watermark_history() -> None:
    """Show what was done to the watermarks of JOB, newest first, and the runs to rewind to."""


@watermark.command("rewind")
@watermark_options
@click.option("--source", default="", metavar="NAME", help=SOURCE_HELP)
@click.option("--to", "run", metavar="RUN|beginning")
@renamed("--run", "--to", "run", metavar="ID")
@renamed("--to-beginning", "--to beginning", "run", value="beginning")
@click.option("--reason", metavar="TEXT", required=True)
@options.actor
@options.yes
@options.changed_or_json
@act("watermark.rewind")
def watermark_rewind() -> None:
    """Make the watermarks of an earlier run of JOB hold again, and record who asked and why.

    Open windows are discarded, and runs in flight can no longer commit.

    Args:
        run: The run whose watermarks are to hold again, or a prefix of its id; or beginning.
        reason: Reason, for the record.
    """


@click.group(
    cls=NamesOrVerb,
    invoke_without_command=True,
    subcommand_metavar="| list | resume | undo [NUMBER]",
)
@click.argument("jobs", type=JOB, nargs=-1, metavar="[JOB]...")
@click.option("--to", metavar="RUN|previous|DATE|beginning")
@click.option("--with-downstream", is_flag=True)
@click.option("--clear", is_flag=True)
@click.option("--accept-changes", is_flag=True)
@options.reason
@options.actor
@options.dry_run("Show the plan, change nothing.")
@options.yes
@click.option("--undo", is_flag=False, flag_value="last", hidden=True)
@click.option("--resume", is_flag=True, hidden=True)
@click.option("--list", "lists", is_flag=True, hidden=True)
@options.app_options
@options.table_or_json
@act("rewind.rewind")
def rewind() -> None:
    """Take JOBs back to an earlier run, and show first what follows from it.

    The plan says what is read again, what the jobs downstream of them will see, and which targets
    would have rows twice. It is carried out in one step, recorded, and can be undone. With --to
    every name is that of a job, also `list`, `resume` and `undo`.

    Args:
        to: Where to: a run, a prefix of its id is enough; previous, the run before the last one
            that read anything; a moment, 2026-11-20 or 2026-11-20T06:00 (UTC); or beginning.
        with_downstream: Take all jobs downstream of them back too.
        clear: Delete what rewound jobs have appended since.
        accept_changes: Although jobs were added or removed since.
    """


@rewind.command("list")
@options.app_options
@options.shows("rewind.show_records")
def rewind_list() -> None:
    """List the rewinds, by whom and why, the newest first."""


@rewind.command("resume")
@options.app_options
@options.table_or_json
@act("rewind.finish")
def rewind_resume() -> None:
    """Finish a rewind that was interrupted."""


@rewind.command("undo")
@click.argument("number", required=False)
@options.reason
@options.actor
@options.yes
@options.app_options
@options.table_or_json
@act("rewind.take_back")
def rewind_undo() -> None:
    """Undo a rewind: the last one, or that of NUMBER."""


@click.command()
@click.argument("job", type=JOB)
@click.option("--from", "begin", metavar="A", required=True)
@click.option("--to", "end", metavar="B", required=True)
@click.option("--parts", type=int, default=1, show_default=True, metavar="N")
@click.option("--only-missing", is_flag=True)
@options.dry_run("Show the plan, and start nothing.")
@options.yes
@options.start_options
@options.table_or_json
@act("backfill.backfill")
def backfill() -> None:
    """Load a range of JOB again, and leave its bookmark and watermark as they are.

    JOB declares two arguments that give its script the range: docs/backfill.md. Ctrl-C
    stops the runs that were started; a line says how to load the rest.

    Args:
        begin: The first day, such as 2013-01-01, or the first number.
        end: The last day or number; it is loaded too.
        parts: In how many job runs; as many at once as the job allows.
        only_missing: Run only what is missing or stale, as `tidemark gaps` lists it.
    """


@click.command()
@click.argument("job", type=JOB)
@click.option("--from", "begin", metavar="A")
@click.option("--to", "end", metavar="B")
@options.look_options
@options.shows("backfill.gaps")
def gaps() -> None:
    """Show which days or numbers of JOB are missing, stale, or being loaded.

    A range is stale if the files in its source have changed since it was loaded.

    Args:
        begin: The first day or number; by default the first known one.
        end: The last day or number; by default the last known one.
    """
