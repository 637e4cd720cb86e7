"""`tidemark lineage`: OpenLineage events of runs that have ended, here and on AWS."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.cli.looking import only_looks
from tidemark.cli.runs import SINCE_HELP
from tidemark.cli.where import Where, glue_of, where_options
from tidemark.errors import TidemarkError, UsageError

if TYPE_CHECKING:
    from tidemark.model.checkpoints.checkpoint import Checkpoint
    from tidemark.operate.clients import Glue
    from tidemark.operate.job_runs import Run
    from tidemark.report.lineage.facts import RunFacts

JOB_HELP = "Only of the runs of this job; may be given several times."
SHELL = "pythonshell"


@click.command()
@click.argument("place", metavar="FILE|URL")
@click.option("--job", "jobs", multiple=True, metavar="JOB", help=JOB_HELP)
@click.option("--since", metavar="TIME", help=SINCE_HELP)
@where_options
@only_looks
def lineage(place: str, jobs: tuple[str, ...], since: str | None, where: Where) -> None:
    """Send OpenLineage events of the job runs that have ended, the oldest first.

    A run has the same id in every event, so one that was sent before is not another run. What a run
    on AWS has read and written is told as far as the library `watermarks` has recorded it there.
    """
    from tidemark.cli.views.runs import since_of
    from tidemark.local_state.home import Home
    from tidemark.operate.checkpoints import checkpoints_of_stage
    from tidemark.operate.job_runs import runs_of_job
    from tidemark.operate.names import JOB
    from tidemark.report.lineage.destination import destination_of
    from tidemark.report.lineage.recorded import facts_of_ended

    destination = destination_of(place, lambda _: None)
    if destination is None:  # never: the place is given
        raise UsageError(f"{place!r} is no place for events")
    begin = since_of(since, datetime.now(UTC))
    with glue_of(where) as glue:
        names = [glue.names.job(job) for job in jobs] or list(glue.names.jobs)
        for name in names[:1]:
            glue.check_stage(JOB, name)
        runs = [run for name in names for run in runs_of_job(glue, name, begin, None)]
        ended = sorted((run for run in runs if run.ended_at), key=lambda run: run.started_at)
        if where.stage is not None:
            facts = facts_of_runs(glue, ended, checkpoints_of_stage(glue, names))
        else:
            facts = facts_of_ended(Home.from_environment(), [run.run_id for run in ended])
    from tidemark.report.lineage.events import event_of
    from tidemark.report.lineage.recorded import as_it_started

    for one in facts:
        try:
            destination.client.emit(event_of(as_it_started(one)))
            destination.client.emit(event_of(one))
        except Exception as error:
            raise TidemarkError(
                f"{destination.shown} did not take the event of the run {one.run_id}: "
                f"{type(error).__name__}: {error}"
            ) from error
    destination.client.close()
    click.echo(f"sent events of {len(facts)} runs to {destination.shown}")


def facts_of_runs(
    glue: "Glue", runs: "Sequence[Run]", checkpoints: "Sequence[Checkpoint]"
) -> "list[RunFacts]":
    """Return what events tell of runs of a stage that have ended."""
    from tidemark.model.assembly.intrinsics import ACCOUNT_ID

    account = glue.arn.split(":")[4] if glue.arn else ACCOUNT_ID
    place = (str(glue.glue.meta.region_name), account)
    by_run = {checkpoint.run_id: checkpoint for checkpoint in checkpoints}
    commands = {job: _command(glue, job) for job in dict.fromkeys(run.job for run in runs)}
    return [_facts(run, commands[run.job], by_run.get(run.run_id), place) for run in runs]


def _command(glue: "Glue", job: str) -> Mapping[str, str]:
    command: Mapping[str, str] = glue.glue.get_job(JobName=job)["Job"]["Command"]
    return command


def _facts(
    run: "Run", command: Mapping[str, str], found: "Checkpoint | None", place: tuple[str, str]
) -> "RunFacts":
    from tidemark.report.lineage.facts import RunFacts

    return RunFacts(
        run.job,
        run.run_id,
        run.state,
        _epoch_ms(run.started_at),
        *place,
        ended_at_ms=_epoch_ms(run.ended_at or run.started_at),
        error_message=run.message or None,
        is_spark=command.get("Name") != SHELL,
        script=command.get("ScriptLocation", ""),
        code=found.code if found else {},
        workflow_name=run.workflow_name or None,
        workflow_run_id=run.workflow_run_id or None,
        read=found.read if found else (),
        written=found.written if found else (),
        bookmark=found.bookmark if found else None,
        watermarks=found.watermarks if found else (),
    )


def _epoch_ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
