"""`tidemark run show ID`: all that is known of one job run, here and on AWS."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.looking import only_looks
from tidemark.cli.where import Where, glue_of_stage, where_options
from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.operate.run_ids import PREFIX, ids_meant

if TYPE_CHECKING:
    from tidemark.cli.views.run_details import RunDetails
    from tidemark.local_state.store.database import JobRun
    from tidemark.operate.clients import Glue
    from tidemark.operate.job_runs import Run

MAX_NAMED = 5
NEAR, MAX_COMPARED = 0.3, 500
LOG_LINES, LOG_BYTES = 10, 65_536
LOGS = ("stdout.log", "script-stderr.log", "stderr.log")


@click.command()
@click.argument("run_id", metavar="ID")
@where_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
@only_looks
def show(run_id: str, where: Where, output: str) -> None:
    """Show what the job run ID has read, written and moved, its warnings, cost and last lines.

    The beginning of an id is enough; `tidemark runs` lists them.
    """
    from tidemark.cli.views.run_details import details_json, details_parts

    details = _on_aws(where, run_id) if where.stage is not None else _here(run_id)
    if output == "json":
        click.echo(json.dumps(details_json(details), indent=2))
        return
    console = console_for_tables()
    for part in details_parts(details):
        console.print(part, highlight=False, soft_wrap=True)


def refuse_options(ctx: click.Context) -> None:
    """Refuse options of `tidemark run` before the name of a command of it."""
    default = click.core.ParameterSource.DEFAULT
    for parameter in ctx.command.params:
        if ctx.get_parameter_source(parameter.name or "") is not default:
            name = max(parameter.opts, key=len)
            raise UsageError(
                f"{name} before {ctx.invoked_subcommand} is an option of a run that is started: "
                f"put what belongs to `tidemark run {ctx.invoked_subcommand}` behind it"
            )


def _here(text: str) -> "RunDetails":
    from tidemark.cli.views.run_details import RunDetails
    from tidemark.glue_service.entities import Kind, find_entity
    from tidemark.glue_service.runs.skip import REASON_FILE
    from tidemark.glue_service.workflows.recovery import KILLED
    from tidemark.local_state.store.checkpoints import checkpoint_of_run
    from tidemark.local_state.store.database import FINAL_STATES, Store

    home = Home.from_environment()
    with Store(home.database) as store:
        known = [(run.run_id, run.job_name) for run in reversed(store.all_job_runs())]
        run = store.job_run(pick(text, known, str(home.shown))[0])
        assert run is not None  # noqa: S101 (it is one of those)
        if run.state not in FINAL_STATES and not home.is_held():
            run = replace(run, state="FAILED", error_message=KILLED)
        rows = store.query(
            "SELECT text FROM run_warning WHERE run_id = ? ORDER BY rowid", (run.run_id,)
        )
        checkpoint = checkpoint_of_run(store, run.run_id)
        entity = find_entity(store, Kind.JOB, run.job_name)
    folder = Path(run.log_path).parent
    reason = folder / REASON_FILE
    return RunDetails(
        run=_run_of(run),
        checkpoint=checkpoint,
        where=str(home.shown),
        workflow_run_id=run.workflow_run_id or "",
        rows_read=run.rows_read,
        rows_written=run.rows_written,
        jvm=run.jvm or "",
        **(_estimate(run, entity.definition) if entity else {}),
        not_skipped=reason.read_text(encoding="utf-8") if reason.is_file() else "",
        warnings=tuple(row["text"] for row in rows),
        lines=tuple(_last_lines(folder, run.error_message or "")),
    )


def _estimate(run: "JobRun", definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run of this machine would have cost on AWS; nothing while it goes on."""
    from tidemark.report.costs import estimated_dpu_seconds, usd_of
    from tidemark.report.jobs import job_of

    if run.completed_at_ms is None:
        return {}
    job = job_of(run.job_name, definition)
    seconds = (run.completed_at_ms - run.started_at_ms) / 1000
    dpu_seconds = estimated_dpu_seconds(seconds, job.dpu)
    price = usd_of(job, dpu_seconds, flex=job.is_flex)
    return {"dpu_seconds": dpu_seconds, "usd": price, "is_estimate": True}


def _run_of(run: "JobRun") -> "Run":
    from tidemark.operate.job_runs import Run

    return Run(
        run_id=run.run_id,
        job=run.job_name,
        state=run.state,
        started_at=_moment(run.started_at_ms),
        ended_at=_moment(run.completed_at_ms) if run.completed_at_ms else None,
        message=run.error_message or "",
        trigger=run.trigger_name or "",
    )


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _last_lines(folder: Path, message: str) -> Iterator[str]:
    """Yield the last lines that a run printed; of stderr, if it printed none or the cause is there.

    The cause is there if the JVM wrote it and the script met only what followed from it.
    """
    log = folder / LOGS[-1]
    names = LOGS[-1:] if message and log.is_file() and message in _ends(log) else LOGS
    for name in names:
        file = folder / name
        if file.is_file() and (found := _ends(file)):
            yield from found
            return


def _ends(file: Path) -> list[str]:
    with file.open("rb") as log:
        log.seek(max(file.stat().st_size - LOG_BYTES, 0))
        text = log.read().decode("utf-8", errors="replace")
    return list(deque((line for line in text.splitlines() if line.strip()), LOG_LINES))


def _on_aws(where: Where, text: str) -> "RunDetails":
    from tidemark.cli.views.run_details import RunDetails
    from tidemark.operate.checkpoints import checkpoint_of_stage
    from tidemark.operate.job_runs import runs_of_job
    from tidemark.operate.logs import ERROR, OUTPUT, lines_of
    from tidemark.operate.names import JOB

    with glue_of_stage(where) as glue:
        for name in glue.names.jobs[:1]:
            glue.check_stage(JOB, name)
        runs = [run for job in glue.names.jobs for run in runs_of_job(glue, job, None, None)]
        runs.sort(key=lambda run: run.started_at, reverse=True)
        run_id, job = pick(text, [(run.run_id, run.job) for run in runs], glue.where)
        run = next(run for run in runs if run.run_id == run_id)
        lines = lines_of(glue, run, (OUTPUT,)) or lines_of(glue, run, (ERROR,))
        return RunDetails(
            run=run,
            checkpoint=checkpoint_of_stage(glue, job, run_id),
            where=glue.where,
            is_deployed=True,
            **(_bill(glue, job, run_id) if run.is_final else {}),
            lines=tuple(line.text for line in lines[-LOG_LINES:]),
        )


def _bill(glue: "Glue", name: str, run_id: str) -> dict[str, Any]:
    """Return what AWS charges for a run that has ended, as the report tells it."""
    from tidemark.report.costs import usd_of
    from tidemark.report.deployed import dpu_seconds_of
    from tidemark.report.jobs import job_of

    found = glue.glue.get_job_run(JobName=name, RunId=run_id)["JobRun"]
    job = job_of(name, glue.glue.get_job(JobName=name)["Job"])
    dpu_seconds = dpu_seconds_of(job, found)
    price = usd_of(job, dpu_seconds, flex=found.get("ExecutionClass") == "FLEX")
    return {"dpu_seconds": dpu_seconds, "usd": price}


def pick(text: str, known: Sequence[tuple[str, str]], where: str) -> tuple[str, str]:
    """Return the id and the job of the run that a text means."""
    digits = text.removeprefix(PREFIX)
    meant = ids_meant(text, (one[0] for one in known))
    found = [one for one in known if one[0] in meant]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{len(found)} runs begin with {text!r}: {_listed(found)}; give more of the id"
        )
    if not known:
        raise UsageError(f"there is no run {text!r}: no job has run in {where}")
    ids = {run_id: (run_id, job) for run_id, job in known[:MAX_COMPARED]}
    begins = {one.removeprefix(PREFIX)[: len(digits)]: one for one in reversed(ids)}
    near = [begins[one] for one in get_close_matches(digits, begins, 3, NEAR)]
    nearest = _listed([ids[one] for one in near] or known[:1])
    raise UsageError(
        f"there is no run {text!r} in {where}; the nearest: {nearest}; `tidemark runs` lists them"
    )


def _listed(runs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{run_id} of {job}" for run_id, job in list(runs)[:MAX_NAMED])
