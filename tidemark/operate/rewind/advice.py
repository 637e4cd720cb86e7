"""Advice in a plan, in addition to its numbers: what to do, and what it cannot know."""

from collections.abc import Sequence

from tidemark.model.checkpoints.checkpoint import WINDOW, DatasetWritten
from tidemark.model.messages import listed
from tidemark.operate.rewind.datasets import meets
from tidemark.operate.rewind.effects import ADDING, DOUBLES, NOT_KNOWN, STALE, Effect
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.plan import JobPlan

ENDED_BADLY = ("FAILED", "TIMEOUT", "STOPPED", "ERROR")


def advice_on(plans: Sequence[JobPlan], *, with_downstream: bool, clears: bool) -> list[str]:
    """Return what to do about each target that would not be right."""
    advice: list[str] = []
    for plan in plans:
        for effect in plan.effects:
            if effect.verdict == STALE and not with_downstream:
                advice.append(
                    f"{plan.job}: --with-downstream takes it back too, so that it reads again"
                )
            elif effect.verdict == STALE:
                advice.append(f"{plan.job}: run it once with its bookmark disabled, or reset it")
            elif effect.verdict == DOUBLES:
                advice.append(_about_doubles(plan, effect, clears))
    return list(dict.fromkeys(advice))


def _about_doubles(plan: JobPlan, effect: Effect, clears: bool) -> str:
    where = f"{plan.job}: {effect.dataset} has rows twice afterwards"
    if effect.mode == WINDOW:
        return f"{where}: read committed windows only (`read_committed`), or give --clear"
    if plan.is_rewound and not clears:
        return f"{where}: give --clear, or delete the partitions that are written again yourself"
    if not plan.is_rewound:
        return (
            f"{where}: give --with-downstream --clear, or delete its partitions of that time "
            "before it runs"
        )
    return f"{where}: delete the partitions that are written again before it runs"


def unknowns(facts: RewindFacts, plans: Sequence[JobPlan]) -> list[str]:
    """Return what a plan cannot know, one line each."""
    sentences: list[str] = []
    for plan in plans:
        sentences += [
            f"{plan.job}: {read.why}" for read in plan.reads_again if read.why and read.rows is None
        ]
        for effect in plan.effects:
            if effect.verdict == NOT_KNOWN:
                sentences.append(f"{plan.job}: {effect.dataset}: {effect.why}")
        if any(effect.mode in ADDING for effect in plan.effects):
            why = half_written(facts, plan.job, _since(facts, plan))
            if why and all(effect.why != why for effect in plan.effects):
                sentences.append(f"{plan.job}: {why}")
        if not facts.checkpoints_of(plan.job):
            is_declared = bool(facts.declared_reads.get(plan.job))
            instead = ", the template does" if is_declared else ""
            sentences.append(f"{plan.job}: no checkpoint says what it reads and writes{instead}")
    sentences += _readers_elsewhere(facts, plans)
    if any(plan.is_rewound for plan in plans):
        sentences.append(
            "whether files were replaced at the source since: only their last version is read"
        )
    return list(dict.fromkeys(sentences))


def _readers_elsewhere(facts: RewindFacts, plans: Sequence[JobPlan]) -> list[str]:
    """Return the readers of rewritten data that are not jobs of the app."""
    again = [DatasetWritten(e.dataset) for plan in plans for e in plan.effects if e.is_written]
    readers = dict.fromkeys(
        f"{checkpoint.job_name} ({facts.others[checkpoint.job_name]})"
        for checkpoint in facts.checkpoints
        if checkpoint.job_name in facts.others
        and any(meets(written, read) for read in checkpoint.read for written in again)
    )
    if not readers:
        return []
    return [f"what happens to other readers of rewritten data: {listed(readers)}"]


def half_written(facts: RewindFacts, job: str, since_ms: int | None) -> str:
    """Return which run has failed since and may have left rows; empty for none."""
    failed = (
        f"run {run.run_id} {run.state}: its output before that is unknown"
        for run in facts.runs_of(job)
        if since_ms is not None and run.state in ENDED_BADLY and run.started_at_ms > since_ms
    )
    return next(failed, "")


def _since(facts: RewindFacts, plan: JobPlan) -> int | None:
    ends = {move.run_id: move.at_ms for track in facts.tracks_of(plan.job) for move in track.moves}
    return min((ends.get(state.to_run, 0) for state in plan.states), default=None)
