"""Shows one job run: its end and cost, what it read, wrote and moved, and its last lines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from tidemark.cli.progress import grouped, render_state
from tidemark.cli.views.listing import Listing, Sentence
from tidemark.cli.views.runs import moment, run_json, took
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.model.checkpoints.checkpoint import (
    NOTHING_COMMITTED,
    Checkpoint,
    DatasetRead,
    Position,
)
from tidemark.model.clock import time_of
from tidemark.model.messages import plural
from tidemark.operate.job_runs import Run
from tidemark.operate.target import NO_NOTES, RunNotes
from tidemark.report.words import usd

SHORT_DIGEST = 12
MODES = {"overwrite_partitions": "overwrite partitions"}


@dataclass(frozen=True)
class RunDetails:
    """All that is known of a run.

    Attributes:
        run: the run in Glue.
        checkpoint: None for a run that has none.
        where: whose it is, for people.
        dpu_seconds: what AWS charges for, or would have; None if that is not known.
        usd: for these, at the prices of the report.
        notes: notes about it.
    """

    run: Run
    checkpoint: Checkpoint | None
    where: str
    dpu_seconds: float | None = None
    usd: float | None = None
    notes: RunNotes = NO_NOTES

    @property
    def is_estimate(self) -> bool:
        """Whether its cost is that of a run of this machine."""
        return self.dpu_seconds is not None and self.run.billed is None


def details_json(details: RunDetails) -> dict[str, Any]:
    """Return what `tidemark run show --format json` prints."""
    run, notes = details.run, details.notes
    return {
        **run_json(run),
        "workflow_run_id": run.workflow_run_id or None,
        "rows_read": run.rows_read,
        "rows_written": run.rows_written,
        "jvm": run.jvm or None,
        "dpu_seconds": details.dpu_seconds,
        "usd": details.usd,
        "is_estimate": details.is_estimate,
        "not_skipped": notes.not_skipped or None,
        "checkpoint": details.checkpoint.to_json() if details.checkpoint else None,
        "warnings": list(notes.warnings),
        "log": list(notes.lines),
    }


def details_parts(details: RunDetails) -> Iterator[RenderableType]:
    """Yield what `tidemark run show` prints, part by part."""
    run, checkpoint = details.run, details.checkpoint
    yield Sentence(Text.assemble((run.job, "bold"), " ", render_state(run.state)))
    yield Sentence(f"  {run.run_id}")
    yield Sentence(f"  {_started(details)}")
    yield Sentence(f"  {_work(details)}")
    if details.dpu_seconds is not None:
        yield Sentence(f"  {_cost(details)}")
    if details.notes.not_skipped:
        yield Sentence(f"  not skipped: {details.notes.not_skipped}")
    if run.message:
        yield Sentence(f"  {run.message}")
    if checkpoint is None:
        yield from _apart(f"No checkpoint: {_no_checkpoint_reason(details)}.")
    else:
        yield from _moved(checkpoint)
        yield from _datasets(checkpoint)
        yield from _arguments(checkpoint)
    if details.notes.warnings:
        yield from _apart(Text("Warnings", style="bold"))
        yield from (Sentence(f"  {text}") for text in details.notes.warnings)
    yield from _apart(
        Text("The log's last lines" if details.notes.lines else "The log is empty", "bold")
    )
    yield from (Sentence(f"  {line}") for line in details.notes.lines)


def _apart(text: str | Text) -> Iterator[Sentence]:
    # Two sentences: within one, a line end is shown as such.
    yield from (Sentence(""), Sentence(text))


def _started(details: RunDetails) -> str:
    text = f"started {moment(details.run.started_at)}"
    if details.run.trigger:
        text += f" by {details.run.trigger}"
    if details.run.workflow_run_id:
        text += f" in {details.run.workflow_run_id}"
    return text


def _no_checkpoint_reason(details: RunDetails) -> str:
    if not details.run.is_final:
        return "it has not ended"
    if details.run.billed is not None:
        return (
            "it has committed nothing, or its script records none on AWS: a job without watermarks "
            "calls Watermarks.checkpoint"
        )
    return "it has committed nothing, or ran before checkpoints were recorded"


def _cost(details: RunDetails) -> str:
    text = f"{details.dpu_seconds:,.0f} DPU-seconds"
    if details.usd is not None:
        text += f", {usd(details.usd)} USD"
    return f"on AWS about {text}, an estimate" if details.is_estimate else text


def _work(details: RunDetails) -> str:
    run = details.run
    facts = ["its end is unknown" if run.is_final else "in progress"]
    if run.ended_at:
        facts = [f"took {took(run)}"]
    if details.run.jvm:
        facts.append(f"JVM {details.run.jvm}")
    if run.rows_read is not None:
        facts.append(f"{plural(run.rows_read, 'row')} read, {run.rows_written or 0:,} written")
    return ", ".join(facts)


def _moved(checkpoint: Checkpoint) -> Iterator[RenderableType]:
    at = time_of(checkpoint.committed_at_ms)
    yield Text()
    if checkpoint.is_committed:
        yield Sentence(Text(f"Committed {moment(at)}", style="bold"))
    else:
        again = ": the next run reads this again" if checkpoint.is_read_again else ""
        yield Sentence(Text(f"Succeeded {moment(at)}, {NOTHING_COMMITTED}{again}", style="bold"))
    if bookmark := checkpoint.bookmark:
        move = f"stays version {bookmark.after}"
        if bookmark.before != bookmark.after:
            move = f"version {bookmark.before} to {bookmark.after}"
        yield Sentence(f"  bookmark {move}, {bookmark.option}")
    for moved in checkpoint.watermarks:
        name = f"watermark of {moved.source}" if moved.source else "watermark"
        before = moved.before or {}
        values = [
            f"{key} from {before.get(key, 'the beginning')} to {value}"
            for key, value in moved.after.items()
            if before.get(key) != value
        ]
        what = " ".join([name, "; ".join(values)])
        version = f"version {moved.before_version} to {moved.after_version} in {moved.table}"
        windows = [plural(len(moved.windows), "window")] if moved.windows else []
        yield Sentence(f"  {', '.join([what, version, *windows])}")


def _datasets(checkpoint: Checkpoint) -> Iterator[Sentence | Listing]:
    read = [
        (
            _name(read_dataset),
            grouped(read_dataset.files),
            grouped(read_dataset.rows),
            _position(read_dataset.before, read_dataset.after),
        )
        for read_dataset in checkpoint.read
    ]
    if read:
        yield Sentence("")
        yield Listing(("read", "files", "rows", "from and to"), read)
    written = [
        (data.dataset, MODES.get(data.mode, data.mode), grouped(data.files), grouped(data.rows))
        for data in checkpoint.written
    ]
    if written:
        yield Sentence("")
        yield Listing(("written", "mode", "files", "rows"), written)
        for target in checkpoint.written:
            if target.snapshots:
                label = plural(len(target.snapshots), "snapshot")
                yield Sentence(f"  {label} of {target.dataset}: {', '.join(target.snapshots)}")
    if not read and not written:
        yield Sentence("  it read and wrote nothing that is known")


def _name(read: DatasetRead) -> str:
    return f"{read.dataset} ({read.source})" if read.source else read.dataset


def _position(before: Position | None, after: Position | None) -> str:
    if after is None:
        return "-"
    begin = "the beginning" if before is None else _edge(before)
    return f"{begin} to {_edge(after)}"


def _edge(position: Position) -> str:
    if position.get("kind") == "files":
        at = time_of(position["until_ms"])
        return f"{at:%Y-%m-%dT%H:%M:%SZ}"
    values = position.get("values", {})
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "-"


def _arguments(checkpoint: Checkpoint) -> Iterator[Sentence]:
    own = {name: v for name, v in checkpoint.arguments.items() if name not in GLUE_ARGUMENTS}
    if own:
        yield from _apart(Text("Arguments, without Glue's own", style="bold"))
        yield from (Sentence(f"  {name} {value}") for name, value in own.items())
    if checkpoint.code:
        parts = [f"{name} {digest[:SHORT_DIGEST]}" for name, digest in checkpoint.code.items()]
        yield from _apart(f"Code: {', '.join(parts)}")
