"""The migration plan as Markdown and as JSON: pure."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, astuple
from typing import Any, TypeAlias

from tidemark.adopt.model import AdoptedJob, Adoption, Difference, Existing, KeyPath, MigrationStep
from tidemark.adopt.plan.carrying import has_bookmark, overrides
from tidemark.adopt.plan.literals import quoted

Row: TypeAlias = tuple[str, ...]
NOT_SHOWN = "not set, or not shown"
ADDED = (
    ("its own role, without --keep-roles", "it allows what is declared, no more"),
    ("SecurityConfiguration", "logs, bookmarks and data are encrypted with the pipeline's key"),
    ("--extra-py-files", "the watermark library, and the packages of libs/"),
    ("--custom-logGroup-prefix", "its own log groups, with a retention"),
    ("--job-bookmark-option, --job-language", "now explicit instead of implied"),
    (
        "--checkpoint, --enable-metrics of streaming jobs",
        "where they continue, and the metric of the alarm that reports one that does not run",
    ),
    ("NotificationProperty", "Glue reports runs longer than half of the timeout"),
    ("ExecutionClass, ExecutionProperty, JobRunQueuingEnabled, MaxRetries", "said, likewise"),
    ("Connections", "those of the stage, if it has some and the job names none"),
    ("Tags", "the stage and the pipeline"),
    ("SchemaChangePolicy, RecrawlPolicy of crawlers", "now explicit instead of implied"),
)


def as_json(adoption: Adoption, existing: Existing, steps: list[MigrationStep]) -> dict[str, Any]:
    """Return the plan as a document of JSON."""
    return {
        "pipeline": adoption.name,
        "from": existing.origin,
        "jobs": [
            {"old": job.old, "new": job.name, "script": job.script, "state": _state(job, existing)}
            for job in adoption.jobs
        ],
        "crawlers": [{"old": node.old_name, "new": node.name} for node in adoption.crawlers],
        "notAdopted": [asdict(left) for left in adoption.left_out],
        "others": [asdict(other) for other in adoption.others],
        "steps": [asdict(step) for step in steps],
        "guesses": [asdict(guess) for guess in adoption.guesses],
        "acknowledged": {job: dict(rules) for job, rules in adoption.acknowledged.items()},
        "differences": [asdict(difference) for difference in adoption.differences],
        "added": [{"what": what, "why": why} for what, why in ADDED],
    }


def as_markdown(adoption: Adoption, existing: Existing, steps: list[MigrationStep]) -> str:
    """Return the plan as Markdown."""
    parts = [
        f"# Migration plan: {adoption.name}",
        f"Written by `tidemark adopt` from {_plain(existing.origin)}. CloudFormation cannot import "
        "Glue jobs, triggers and workflows, and AWS deletes a bookmark with its job, so the new "
        "jobs have other names, and both stand side by side until the last step. Do the steps in "
        "their order; continue only when the check of one has passed. Lines with # are done by "
        "hand. `export STAGE=...` names the stage.",
        "## Jobs",
        _table(
            ("until now", "from now on", "read until now"),
            [(job.old, job.name, _state(job, existing)) for job in adoption.jobs],
        ),
    ]
    if adoption.crawlers:
        names = [(crawler.old_name, crawler.name) for crawler in adoption.crawlers]
        parts += ["## Crawlers", _table(("until now", "from now on"), names)]
    if adoption.left_out:
        omitted = [astuple(left) for left in adoption.left_out]
        parts += ["## Not adopted", _table(("of", "why", "do"), omitted)]
    parts.append("## Steps")
    for number, step in enumerate(steps, 1):
        parts += [f"### {number}. {step.title}", step.why, _block(step.commands)]
        parts += ["Check:", _block(step.check), "Back:", _block(step.rollback)]
    parts += ["## What is guessed", "No definition states it. Check each before step Deploy."]
    rows = [(guess.of, guess.what, guess.check) for guess in adoption.guesses]
    parts.append(_table(("of", "guess", "check"), rows) if rows else "Nothing.")
    by_job = adoption.acknowledged.items()
    broken = [(job, *rule) for job, rules in by_job for rule in rules.items()]
    if broken:
        parts += [
            "## What the graph's rules find in it",
            "The old jobs do this, so the stack acknowledges it. Correct it, then take the line "
            "`acknowledge` out.",
            _table(("job", "rule", "finding"), broken),
        ]
    parts += ["## What is different", _table(*_differences(adoption.differences))]
    if adoption.others:
        rest = _table(("of", "why", "do"), [astuple(left) for left in adoption.others])
        parts += ["## What else the source has", "None of it is in the code.", rest]
    parts += ["## What every job has in addition", _table(("what", "why"), list(ADDED))]
    return "\n\n".join(parts) + "\n"


def _state(job: AdoptedJob, existing: Existing) -> str:
    states = []
    if job.watermark_table:
        states.append("watermarks: carried over")
    if has_bookmark(job, existing):
        is_known = existing.bookmarks.get(job.old) is not None
        kept = "a bookmark" if is_known else "perhaps a bookmark (it could not be read)"
        how = "made again by a run that writes elsewhere" if overrides(job) else "you decide"
        states.append(f"{kept}: {how}")
    elif job.bookmark != "DISABLE":
        states.append("a bookmark that never stored anything: nothing to carry")
    if job.is_streaming:
        states.append("a checkpoint: the new job continues from it")
    return "; ".join(states) or "nothing: every run reads everything"


def _differences(differences: tuple[Difference, ...]) -> tuple[tuple[str, ...], list[Row]]:
    """Return a table with one row for equal entries of several resources."""
    alike: dict[tuple[KeyPath, str, str], list[Difference]] = defaultdict(list)
    for difference in differences:
        alike[difference.path, difference.why, difference.do].append(difference)
    rows: list[Row] = [
        (
            ", ".join(difference.of for difference in same),
            ".".join(path) or "all of it",
            ", ".join(dict.fromkeys(NOT_SHOWN if d.value is None else d.value for d in same)),
            why,
            do,
        )
        for (path, why, do), same in alike.items()
    ]
    return ("of", "what", "value", "why", "do"), rows


def _block(lines: tuple[str, ...]) -> str:
    return "\n".join(("```sh", *lines, "```"))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(map(_plain, line))} |" for line in lines)


def _plain(text: str) -> str:
    """Return a string escaped for tables and markup of Markdown, and for a terminal."""
    line = " ".join(text.split())
    shown = line if line.isprintable() else quoted(line)
    return shown.replace("|", "\\|").replace("<", "&lt;")
