"""What needs a person, the most urgent first, each with the next step; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from tidemark.operate.app_jobs import PipelineJob
from tidemark.operate.executions import ExecutionOfMachine
from tidemark.report.commits import PipelineRun
from tidemark.report.freshness import LATE_MS, Freshness
from tidemark.report.model import Report
from tidemark.report.words import ACTIVE, BAD, STOPPED, WARN, age, kind_of, short

COMMAND = re.compile(r"`(tidemark [^`]+)`")
REFUSED, AUDIT = "frozen schema", "failed audit"
CAUSES = {"SchemaContractError": REFUSED, "AuditFailedError": AUDIT}


@dataclass(frozen=True)
class Need:
    """One thing that a person should do.

    Attributes:
        what: such as `FAILED`, `late`, `failed audit`, `warning`, `open window`, `gap`.
        kind: the look of it, a kind of `words`.
        job: whose run, warning or window it is; of late data the job that holds it back.
        text: what happened, for people.
        step: the command that comes next; empty if `button` says it alone.
        button: verb and name of what a button of a live page does; empty strings without one.
        at_ms: when it happened, epoch milliseconds; None if that is not known.
        run_id: the run that shows more; empty without one.
        is_machine: whether `job` is the name of a state machine.
    """

    what: str
    kind: str
    job: str
    text: str
    step: str
    button: tuple[str, str] = ("", "")
    at_ms: int | None = None
    run_id: str = ""
    is_machine: bool = False


def needs_of(
    report: Report,
    jobs: Sequence[PipelineJob],
    last: Mapping[str, PipelineRun],
    fresh: Sequence[Freshness],
) -> tuple[Need, ...]:
    """Return what needs a person: failed runs, late data, warnings, open windows, gaps."""
    known = {job.name: job for job in jobs}
    failed = [run for name in known if (run := last.get(name)) and kind_of(run.state) == BAD]
    stopped = [run for name in known if (run := last.get(name)) and kind_of(run.state) == STOPPED]
    newest_first = sorted(failed, key=lambda run: -run.started_at_ms) + stopped
    newest = {
        known[run.job].workflow: run.workflow_run_id
        for run in sorted(last.values(), key=lambda run: run.started_at_ms)
        if run.job in known and run.workflow_run_id
    }
    return (
        *(_of_run(run, known[run.job], newest, report.option) for run in newest_first),
        *_late(report, known, last, fresh),
        *_warned(report),
        *_open(report, known, last),
        *_gaps(report),
    )


def _of_run(run: PipelineRun, job: PipelineJob, newest: Mapping[str, str], option: str) -> Need:
    cause = next((cause for name, cause in CAUSES.items() if name in run.message), run.state)
    named = COMMAND.search(run.message)
    step, button = _again(run, job, newest)
    if named:
        step = f"{named[1]} --reason REASON" if cause == REFUSED else named[1]
    return Need(
        what=cause,
        kind=kind_of(run.state),
        job=run.job,
        text=run.message or f"The run has {run.state.lower()}, and no message says why.",
        step=f"{step}{option}",
        button=button,
        at_ms=run.started_at_ms,
        run_id=run.run_id,
    )


def _again(
    run: PipelineRun, job: PipelineJob, newest: Mapping[str, str]
) -> tuple[str, tuple[str, str]]:
    """Return the command and the button that repeat a run as it was started."""
    if not job.workflow:
        return f"tidemark run show {short(run.run_id)}", ("run", job.name)
    if not run.workflow_run_id:
        alone = f"tidemark run --workflow {quote(job.workflow)} --only {quote(job.name)}"
        return alone, ("run", job.name)
    resume = f"tidemark resume --workflow {quote(job.workflow)}"
    if newest[job.workflow] == run.workflow_run_id:
        return resume, ("resume", job.workflow)
    # The button resumes the last workflow run, and this is of an earlier one.
    return f"{resume} --run {short(run.workflow_run_id)}", ("", "")


def _late(
    report: Report,
    known: Mapping[str, PipelineJob],
    last: Mapping[str, PipelineRun],
    fresh: Sequence[Freshness],
) -> Iterator[Need]:
    # One for each job that holds data back: a failed one is there already.
    by_holder: dict[str, list[Freshness]] = {}
    for data in fresh if last else ():
        if data.as_of_ms is None or report.made_at_ms - data.as_of_ms >= LATE_MS:
            by_holder.setdefault(data.held_back_by, []).append(data)
    for holder, held in by_holder.items():
        run = last.get(holder)
        # Its run, or its warning of what it has left out, is a need already.
        if holder in report.left_out or (run and kind_of(run.state) in (BAD, STOPPED, ACTIVE)):
            continue
        oldest = min(held, key=lambda data: data.as_of_ms or 0)
        old = (
            "is not complete"
            if oldest.as_of_ms is None
            else f"is {age(report.made_at_ms - oldest.as_of_ms)} old"
        )
        more = f", and {len(held) - 1} more" if len(held) > 1 else ""
        why = f": {oldest.reason}" if oldest.reason else ""
        workflow = known[holder].workflow if holder in known else ""
        yield Need(
            what="late",
            kind=WARN,
            job=holder or oldest.writers[0],
            text=f"{oldest.table or oldest.dataset}{more} {old}{why}",
            step=_run_all(workflow, report.option),
            button=("start", workflow) if workflow else ("run", holder or oldest.writers[0]),
            at_ms=oldest.as_of_ms,
        )


def _run_all(workflow: str, option: str) -> str:
    return f"tidemark run --workflow {quote(workflow)}{option}" if workflow else ""


def _warned(report: Report) -> Iterator[Need]:
    for warning in report.warnings:
        named = COMMAND.search(warning.text)
        look = f"tidemark run show {short(warning.run_id)}{report.option}"
        yield Need(
            what="warning",
            kind=WARN,
            job=warning.job,
            text=warning.text,
            step=named[1] if named else look,
            at_ms=warning.started_at_ms,
            run_id=warning.run_id,
        )


def _open(
    report: Report, known: Mapping[str, PipelineJob], last: Mapping[str, PipelineRun]
) -> Iterator[Need]:
    active = {run.run_id for run in last.values() if kind_of(run.state) == ACTIVE}
    for window in report.windows:
        if window.run_id in active:
            continue
        source = f"{window.source}." if window.source else ""
        yield Need(
            what="open window",
            kind=WARN,
            job=window.job,
            text=f"{source}{window.cursor} from {window.low} to {window.high} is not committed. "
            "The next run of the job takes it over.",
            step=_run_all(known[window.job].workflow, report.option) if window.job in known else "",
            button=("run", window.job),
            run_id=window.run_id,
        )


def _gaps(report: Report) -> Iterator[Need]:
    for gap in report.gaps:
        range_ = f"--from {quote(gap.begin)} --to {quote(gap.end)}"
        yield Need(
            what="gap",
            kind=WARN,
            job=gap.job,
            text=f"{gap.begin} to {gap.end}: {gap.state}",
            step=f"tidemark backfill {quote(gap.job)} {range_} --dry-run{report.option}",
        )


def needs_of_machines(executions: Mapping[str, Sequence[ExecutionOfMachine]]) -> Iterator[Need]:
    """Yield the machines whose last execution, the first one of theirs, did not succeed."""
    for name, of_machine in executions.items():
        last = of_machine[0] if of_machine else None
        if last is None or kind_of(last.status) not in (BAD, STOPPED):
            continue
        whys = " ".join(text for text in (last.error, last.cause) if text)
        failed = [step.name for step in last.steps if kind_of(step.state) == BAD]
        yield Need(
            what=last.status,
            kind=kind_of(last.status),
            job=name,
            text=f"step {', '.join(failed)}: {whys}" if failed else whys or "No cause is known.",
            step=f"tidemark resume --machine {quote(name)}",
            at_ms=round(last.started_at.timestamp() * 1000),
            is_machine=True,
        )
