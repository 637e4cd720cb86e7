"""`tidemark lineage`: OpenLineage events of runs that have ended, here and on AWS."""

import click

from tidemark.cli.target import open_target
from tidemark.cli.views.runs import since_of
from tidemark.cli.where import Where
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.clock import now
from tidemark.model.messages import plural
from tidemark.operate.recorded_runs import initial_run
from tidemark.report.lineage.destination import destination_of
from tidemark.report.lineage.events import event_of


def lineage(place: str, jobs: tuple[str, ...], since: str | None, where: Where) -> None:
    destination = destination_of(place, lambda _: None)
    if destination is None:  # never: the place is given
        raise UsageError(f"{place!r} is not a place for events")
    begin = since_of(since, now())
    with open_target(where) as target:
        names = [target.job(job) for job in jobs] or target.names.jobs
        ended = [run for run in target.runs(names, begin) if run.ended_at]
        facts = target.run_facts(sorted(ended, key=lambda run: run.started_at))
    for run_facts in facts:
        try:
            destination.client.emit(event_of(initial_run(run_facts)))
            destination.client.emit(event_of(run_facts))
        except Exception as error:
            raise TidemarkError(
                f"{destination.shown} did not take the event of the run {run_facts.run_id}: "
                f"{type(error).__name__}: {error}"
            ) from error
    destination.client.close()
    click.echo(f"sent events of {plural(len(facts), 'run')} to {destination.shown}")
