"""The commands about columns: `schema show|history|diff`, as runs here have observed them."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, TypeAlias

from tidemark.cli.progress import print_output
from tidemark.cli.schema_versions import Kept, columns_now, kept_of, versions_listed
from tidemark.cli.target import open_target
from tidemark.cli.terminal import moment_json
from tidemark.cli.views.listing import Listing, Sentence, short_ids
from tidemark.cli.watermark import value_json
from tidemark.cli.where import Where
from tidemark.errors import EntityNotFoundError
from tidemark.local_state.bookmarks.verdicts import moment
from tidemark.local_state.home import Home
from tidemark.local_state.observed_schemas import LOOK_BACK, SchemasOfRun, schemas_of_job
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.schema_changes import Change, changes_of, of_key
from tidemark.model.checkpoints.schemas import Schema
from tidemark.model.messages import known, known_run

Changed: TypeAlias = list[tuple[SchemasOfRun, Schema, Change]]


def show(job: str, where: Where, output: str) -> None:
    kept = kept_of(job, where)
    runs = _observed(job, where, is_needed=not kept)
    run = runs[0] if runs else SchemasOfRun("", 0, ())
    document = {
        "job": job,
        "run_id": run.run_id,
        "schemas": list(map(_json, run.schemas)),
        "kept": kept,
    }
    head = Sentence(f"{job}, run {run.run_id}" if runs else job)
    shown = chain([head], map(_columns, run.schemas), columns_now(kept))
    print_output(output, document, shown, value_json)


def history(job: str, where: Where, output: str) -> None:
    kept = kept_of(job, where)
    runs = _observed(job, where, is_needed=not kept)
    changed = [
        row for place in range(len(runs)) for row in _changes(runs[place], runs[place + 1 :])
    ]
    equal = "no run has seen other columns than the runs before it"
    _print_changes(job, changed, output, equal, kept)


def diff(job: str, from_run: str | None, to_run: str | None, output: str) -> None:
    runs = _observed(job, Where(None))
    last = _meant(job, runs, to_run)
    first = _meant(job, runs, from_run) if from_run else None
    before = [first] if first else runs[runs.index(last) + 1 :]
    what = f"as {first.run_id}" if first else "as the runs before it"
    equal = f"run {last.run_id} has the same columns {what}"
    _print_changes(job, _changes(last, before), output, equal)


def _observed(job: str, where: Where, *, is_needed: bool = True) -> list[SchemasOfRun]:
    """Return the runs of a job that have seen columns here, the newest first."""
    if where.stage is not None:
        if is_needed:
            raise EntityNotFoundError(
                f"no contract of {job} keeps columns beside its watermark, and AWS records none: "
                "run the job here, or give a writer of windows schema="
            )
        return []
    with open_target(Where(None)) as target:
        known("job", job, target.known_jobs)
    with Store(Home.from_environment().database) as store:
        runs = schemas_of_job(store, job)
    if not runs and is_needed:
        raise EntityNotFoundError(
            f"no run of {job} has recorded columns: a run does that which SUCCEEDED here, and had "
            "a source with a transformation_ctx, a window or a sink; run it"
        )
    return runs


def _meant(job: str, runs: Sequence[SchemasOfRun], text: str | None) -> SchemasOfRun:
    if text is None:
        return runs[0]
    ids = [run.run_id for run in runs]
    meant = known_run(text, ids, f"of job {job} with columns", f"`tidemark runs {job}` lists them")
    return runs[ids.index(meant)]


def _changes(run: SchemasOfRun, before: Sequence[SchemasOfRun]) -> Changed:
    earlier = [other.schemas for other in before[:LOOK_BACK]]
    return [
        (run, schema, change)
        for schema in run.schemas
        for change in changes_of(schema, of_key(schema, earlier))
    ]


def _print_changes(
    job: str, changed: Changed, output: str, nothing: str, kept: Kept | None = None
) -> None:
    document = {
        "job": job,
        **({} if kept is None else {"kept": kept}),
        "changes": [
            {
                "run_id": run.run_id,
                "at": moment_json(run.at_ms),
                "role": schema.role,
                "dataset": schema.dataset,
                "source": schema.source,
                **asdict(change),
            }
            for run, schema, change in changed
        ],
    }
    short = short_ids(run.run_id for run, _, _ in changed)
    rows = [
        (short[run.run_id], moment(run.at_ms), f"{schema.role} {schema.name}", str(change))
        for run, schema, change in changed
    ]
    table = Listing(("run id", "committed", "of", "change"), rows)
    first = table if rows else Sentence(f"{job}: {nothing}")
    print_output(output, document, [first, *versions_listed(kept or [])], value_json)


def _json(schema: Schema) -> dict[str, Any]:
    return {**asdict(schema), "columns": [column._asdict() for column in schema.columns]}


def _columns(schema: Schema) -> Listing:
    words, keys = ("no", "yes"), schema.partitions
    rows = [(c.path, c.type, words[c.is_nullable], words[c.path in keys]) for c in schema.columns]
    title = f"\n{schema.role} {schema.name}{schema.format and f', {schema.format}'}"
    return Listing(("column", "type", "null", "partition"), rows, title)
