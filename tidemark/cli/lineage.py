"""`tidemark lineage`: OpenLineage events of runs that have ended, here and on AWS."""

import click

from tidemark.cli.runs import SINCE_HELP
from tidemark.cli.target import open_target
from tidemark.cli.where import Where, only_looks, where_options
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.clock import now
from tidemark.model.messages import plural

JOB_HELP = "Only of the runs of this job; may be given several times."


@click.command()
@click.argument("place", metavar="FILE|URL")
@click.option("--job", "jobs", multiple=True, metavar="JOB", help=JOB_HELP)
@click.option("--since", metavar="TIME", help=SINCE_HELP)
@where_options
@only_looks
def lineage(place: str, jobs: tuple[str, ...], since: str | None, where: Where) -> None:
    """Send OpenLineage events of the job runs that have ended, the oldest first.

    A run has the same id in every event, so one that was sent before is not another run. What a run
    on AWS has read and written is known as far as the library `watermarks` has recorded it there.
    """
    from tidemark.cli.views.runs import since_of
    from tidemark.operate.recorded_runs import initial_run
    from tidemark.report.lineage.destination import destination_of
    from tidemark.report.lineage.events import event_of

    destination = destination_of(place, lambda _: None)
    if destination is None:  # never: the place is given
        raise UsageError(f"{place!r} is not a place for events")
    begin = since_of(since, now())
    with open_target(where) as target:
        names = [target.job(job) for job in jobs] or target.names.jobs
        ended = [run for run in target.runs(names, begin) if run.ended_at]
        facts = target.run_facts(sorted(ended, key=lambda run: run.started_at))
    for one in facts:
        try:
            destination.client.emit(event_of(initial_run(one)))
            destination.client.emit(event_of(one))
        except Exception as error:
            raise TidemarkError(
                f"{destination.shown} did not take the event of the run {one.run_id}: "
                f"{type(error).__name__}: {error}"
            ) from error
    destination.client.close()
    click.echo(f"sent events of {plural(len(facts), 'run')} to {destination.shown}")
