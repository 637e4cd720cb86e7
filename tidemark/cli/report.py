"""`tidemark report`: one page of HTML about the jobs of an app and how their runs went."""

import time
import webbrowser
from pathlib import Path

import click

from tidemark.cli.synth import APP_HELP
from tidemark.cli.where import CONTEXT_HELP, DEPLOYED_HELP, Where, assembly_of_stage, glue_of_stage
from tidemark.errors import UsageError

OUTPUT_HELP = "The file to write; report.html in the state home if not given."
LIMIT_HELP = "Look at the last N runs of each job."


@click.command()
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=OUTPUT_HELP)
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, help=LIMIT_HELP)
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
@click.option("--deployed", metavar="STAGE", help=DEPLOYED_HELP)
def report(
    opens: bool,
    output: Path | None,
    limit: int,
    app: Path | None,
    context: tuple[str, ...],
    deployed: str | None,
) -> None:
    """Write one page of HTML: the pipeline, its last runs, how fresh its data is, what it costs.

    The page is one file, which loads nothing. It shows what is recorded, and changes nothing:
    warnings on it still count as not yet seen.
    """
    from tidemark.assembly.cloud_assembly import read_assembly
    from tidemark.extras import require
    from tidemark.local_glue.commands import region
    from tidemark.local_glue.home import Home
    from tidemark.report.drawing import draw
    from tidemark.report.here import report_here
    from tidemark.report.jobs import read_jobs
    from tidemark.report.page import page_of

    require("jinja2")
    if context and deployed is None:
        raise UsageError("--context goes with --deployed STAGE: leave it out")
    where = Where(deployed, app if deployed is not None else None, context)
    file = (output or Home.from_environment().root / "report.html").absolute()
    check_writable(file)
    now_ms = time.time_ns() // 1_000_000
    if where.stage is None:
        jobs = read_jobs(read_assembly(app or Path("cdk.out")), region())
        found = report_here(Home.from_environment(), jobs, limit, now_ms)
    else:
        from tidemark.report.deployed import report_of_stage

        assembly = assembly_of_stage(where)
        with glue_of_stage(where, assembly) as glue:
            jobs = read_jobs(assembly, glue.glue.meta.region_name)
            found = report_of_stage(glue, jobs, limit, now_ms)
    page = page_of(found, draw)
    file.write_text(page, encoding="utf-8", errors="backslashreplace")
    click.echo(f"wrote {file}")
    if opens and not webbrowser.open(file.as_uri()):
        click.echo("no browser could be opened: open the file in one", err=True)


def check_writable(file: Path) -> None:
    """Refuse a file that cannot be written, before anything is asked.

    Raises:
        UsageError: its folder is not there, or it is a folder itself.
    """
    if file.is_dir():
        raise UsageError(f"--output {file} is a folder; name a file in it, such as report.html")
    if not file.parent.is_dir():
        raise UsageError(f"--output {file}: there is no folder {file.parent}; create it first")
