"""The commands about state that a change of the app could lose: `state check|write|carry-over`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tidemark.checks.state.losses import Loss
from tidemark.checks.state.manifest import MANIFEST
from tidemark.checks.state.plan import PLAN
from tidemark.checks.state.project import review_project, review_since, write_manifest
from tidemark.checks.state.review import Review, changes
from tidemark.cli.commands.prove import NO_STAGE
from tidemark.cli.group import UNTIL
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_lines
from tidemark.local_state.home import Home


def check(app: Path | None, context: tuple[str, ...], since: str | None, output: str) -> None:
    project, assembly = Path.cwd(), assembly_folder(Terminal(stderr=True), app, context)
    review = review_project(project, assembly)
    before = review_since(project, assembly, since) if since else None
    document = review_json(review) | ({"since": review_json(before)} if before else {})
    compared = since_lines(before, since) if before and since and review.is_safe else ()
    print_lines(output, document, (*review_lines(review), *compared))
    is_safe = review.is_safe and review.is_current and (before is None or before.is_safe)
    sys.exit(0 if is_safe else 1)


def write(app: Path | None, context: tuple[str, ...]) -> None:
    click.echo(write_manifest(Path.cwd(), assembly_folder(Terminal(stderr=True), app, context)))


def carry_over(
    dry_run: bool, deployed: str | None, app: Path | None, context: tuple[str, ...]
) -> None:
    # AWS's clients, which CI's `state check` would load for nothing.
    from tidemark.cli.carry_over import carry_out_locally, carry_out_on_aws, steps_of_project

    if deployed == NO_STAGE:
        click.echo(f"warning: --deployed takes a STAGE now; {UNTIL}", err=True)
    elif deployed is not None and app is None:  # an assembly is of its stage
        context = (*context, f"stage={deployed}")
    assembly = assembly_folder(Terminal(stderr=True), app, context)
    steps = steps_of_project(Path.cwd(), assembly, on_aws=deployed is not None)
    if not steps:
        click.echo("nothing to do: there is no entry in state-carry-over.json")
    if dry_run:
        for step in steps:
            click.echo(f"{step.action.value}: {step.text}")
        return
    if deployed is not None:
        outcomes = carry_out_on_aws(steps)
    else:
        outcomes = carry_out_locally(steps, Home.from_environment())
    for step, outcome in outcomes:
        click.echo(f"{step.action.value}: {step.text}" + (f": {outcome}" if outcome else ""))


def review_json(review: Review) -> dict[str, Any]:
    """Return a review as plain JSON values."""
    return {
        "is_safe": review.is_safe,
        "is_current": review.is_current,
        "unacknowledged": [_finding_json(loss) for loss in review.unacknowledged],
        "acknowledged": [
            {**_finding_json(loss), "by": dict(entry.document)}
            for loss, entry in review.acknowledged
        ],
        "unused": [{"entry": dict(entry.document), "why": why} for entry, why in review.unused],
        "changes": changes(review.recorded, review.written),
    }


def _finding_json(loss: Loss) -> dict[str, str]:
    return {
        "kind": loss.kind.value,
        "subject": loss.subject,
        "transformation_ctx": loss.ctx,
        "lost": loss.lost,
        "remedy": loss.remedy,
    }


def since_lines(review: Review, revision: str) -> Iterator[str]:
    """Yield what `tidemark state check --since` prints of the review since a revision."""
    if review.is_safe:
        yield f"nothing is lost since {revision}"
        return
    yield from _findings(review)
    yield (
        f"lost since {revision}, and the plan does not say so: `git checkout {revision} -- "
        f"{MANIFEST}`, decide in {PLAN}, then `tidemark state write`: see docs/state.md"
    )


def review_lines(review: Review) -> Iterator[str]:
    """Yield what `tidemark state check` prints."""
    yield from _findings(review)
    if not review.is_safe:
        yield (
            f"losses that no one acknowledged: {len(review.unacknowledged)}; decide on each in "
            f"{PLAN}, a JSON list of such entries: see docs/state.md"
        )
    elif not review.is_current:
        yield from (f"~ {line}" for line in changes(review.recorded, review.written))
        yield (
            f"{MANIFEST} is out of date, and nothing is lost: run `tidemark state write` and "
            "commit it"
        )
    else:
        yield f"{MANIFEST} is up to date: nothing is lost"


def _findings(review: Review) -> Iterator[str]:
    for loss in review.unacknowledged:
        yield f"✗ {_title(loss)}\n    lost: {loss.lost}\n    do:   {loss.remedy}"
    for loss, entry in review.acknowledged:
        yield f"✓ {_title(loss)}, acknowledged by {entry.text}"
    for entry, why in review.unused:
        yield f"✗ {PLAN}: {entry.text} covers nothing: {why}; take it out"


def _title(loss: Loss) -> str:
    ctx = f" {loss.ctx}" if loss.ctx else ""
    return f"{loss.subject}: {loss.kind.value}{ctx}"
