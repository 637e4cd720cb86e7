"""What `tidemark rewind` prints: a plan in lines that fit 80 columns, and the records."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tidemark.cli.terminal import moment_json
from tidemark.cli.views.listing import Listing, short_ids
from tidemark.local_state.rewinds.records import RewindRecord
from tidemark.model.clock import time_of
from tidemark.model.messages import plural
from tidemark.operate.rewind.amounts import Reread
from tidemark.operate.rewind.effects import DOUBLES, NOT_KNOWN, RIGHT, STALE
from tidemark.operate.rewind.plan import JobPlan, RewindPlan, StateMove

WIDTH = 80
VERDICTS = {RIGHT: "safe", DOUBLES: "DOUBLES", STALE: "NOT CORRECTED", NOT_KNOWN: "not known"}


def plan_lines(plan: RewindPlan, files: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a plan, the ids of runs as short as they can be."""
    ids = {run for state in plan.states for run in (state.from_run, state.to_run, *state.undone)}
    short = short_ids(run for run in sorted(ids) if run)
    if not plan.states:
        yield f"Nothing to rewind: everything is already where --to {plan.to} says."
        for text in plan.unknown:
            yield from _wrapped(text, "- ")
        return
    shown = {
        f"{job.job}: {effect.dataset}: {effect.why}" for job in plan.jobs for effect in job.effects
    }
    shown |= {f"{job.job}: {read.why}" for job in plan.jobs for read in job.reads_again}
    yield f"Rewind to {short.get(plan.to, plan.to)}"
    for job in plan.jobs:
        yield ""
        yield from _job_lines(job, short)
    if plan.clears:
        yield ""
        yield from chain.from_iterable(map(_wrapped, cleared_lines(plan, files)))
    for title, texts in (
        ("What to do", plan.advice),
        ("Not known", [text for text in plan.unknown if text not in shown]),
        ("Meanwhile", plan.schedules),
    ):
        if texts:
            yield ""
            yield title
            for text in texts:
                yield from _wrapped(text, "- ")


def cleared_lines(plan: RewindPlan, files: Sequence[str]) -> Iterator[str]:
    """Yield what a rewind deletes, a sentence each."""
    tables = ", ".join(
        dict.fromkeys(f"table:{clear.table}" for clear in plan.clears if clear.table)
    )
    folders = ", ".join(dict.fromkeys(clear.dataset for clear in plan.clears if not clear.table))
    if folders:
        yield f"deletes {plural(len(files), 'file')} of {folders} until it is undone"
    if tables:
        yield f"takes {tables} back to an earlier snapshot until it is undone"


def _job_lines(job: JobPlan, short: Mapping[str, str]) -> Iterator[str]:
    yield job.job if job.is_rewound else f"{job.job} (downstream; its state stays)"
    for text in consequences(job, short):
        yield from _wrapped(text)


def consequences(job: JobPlan, short: Mapping[str, str]) -> Iterator[str]:
    """Yield what a rewind does to a job, sees, reads again and doubles; a sentence each."""
    yield from (_render_state(state, short) for state in job.states)
    yield from map(_render_read, job.reads_again)
    if job.sees:
        yield job.sees
    for effect in job.effects:
        why = f": {effect.why}" if effect.why else ""
        yield f"{effect.dataset} {VERDICTS[effect.verdict]}{why}"


def _render_state(state: StateMove, short: Mapping[str, str]) -> str:
    what = "bookmark"
    before, after = (short.get(run, "the beginning") for run in (state.from_run, state.to_run))
    if state.before is not None:
        what = f"watermark of source {state.source}" if state.source else "watermark"
        before = _values(state.before, before)
        after = _values(state.after or {}, after)
    text = f"{what} {before} -> {after}, undoing {plural(len(state.undone), 'run')}"
    if state.open_windows:
        text += f"; discards {plural(state.open_windows, 'open window')}"
    return text


def _values(values: Mapping[str, str], run: str) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items())) or run


def _render_read(read: Reread) -> str:
    amounts = [plural(read.files, "file")] if read.files is not None else []
    amounts += [plural(read.rows, "row")] if read.rows is not None else []
    name = f" ({read.source})" if read.source and read.dataset else ""
    why = f": {read.why}" if read.why else ""
    if not amounts:
        what = f"{read.dataset}{name}" if read.dataset else f"what its {read.source} had passed"
        return f"reads again {what}, how much is not known{why}"
    about = "reads again" if not read.why else "reads again about"
    return f"{about} {', '.join(amounts)} of {read.dataset or read.source}{name}{why}"


def _wrapped(text: str, mark: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {mark}",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def records_listing(records: Sequence[RewindRecord]) -> Listing:
    """Return the list of `tidemark rewind list`, newest first."""
    by = {record.undoes: record.rewind_id for record in records if record.state == "done"}
    cells = [
        (
            str(record.rewind_id),
            f"{time_of(record.at_ms):%Y-%m-%d %H:%M:%S}Z",
            f"{record.state}, undone by {by[record.rewind_id]}"
            if record.rewind_id in by
            else record.state,
            ", ".join(record.jobs),
            record.document["to"],
            f"{record.actor}: {record.why}",
        )
        for record in records
    ]
    return Listing(("number", "at", "state", "jobs", "to", "who and why"), cells, "Rewinds")


def record_json(one: RewindRecord) -> dict[str, Any]:
    """Return what `tidemark rewind --format json` prints of a rewind."""
    about = {name: getattr(one, name) for name in ("state", "actor", "why", "undoes")}
    return {"number": one.rewind_id, "at": moment_json(one.at_ms), **about, **one.document}
