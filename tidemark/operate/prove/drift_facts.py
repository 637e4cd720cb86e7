"""What a run over a file with other columns has left: its rows, and what is beside its targets."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.local_state.observed_schemas import noted_contracts
from tidemark.local_state.operations import BOOKMARK, COPY, JDBC, PUT, read_operations
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.drift import VALUE
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.changes import is_below, is_hidden, place_of
from tidemark.operate.prove.drifted_files import unreadable_columns
from tidemark.operate.prove.judged import TargetRows, Verdict, worst
from tidemark.operate.prove.promises import Contract, DriftFacts
from tidemark.operate.prove.tables import folders_of_tables
from tidemark.operate.rows.file_rows import rows_of_side
from tidemark.operate.versions.targets import ComparedTarget, Files, changed_targets, files_of


def contracts_of(wanted: Wanted) -> list[Contract]:
    """Return the contracts of the runs that have read the files in the run that goes well."""
    of, files = wanted.of, wanted.experiment.files
    readers = {run_id for run_id, uri in of.opened if uri in files}
    runs = [run for run in _runs_of(of.outcome) if run.run_id in readers or not readers]
    return [found for run in runs for found in noted_contracts(Path(run.log_path).parent)]


def _runs_of(outcome: Outcome) -> list[JobRun]:
    """Return the runs of its first trial."""
    first = outcome.trials[0]
    with Store(outcome.home.database) as store:
        runs = store.all_job_runs()
    return [run for run in runs if first.began_ms <= run.started_at_ms <= first.ended_ms]


def facts_of(
    wanted: Wanted,
    outcome: Outcome,
    rows: Sequence[TargetRows],
    contracts: Sequence[Contract],
    drifted_rows: int,
) -> DriftFacts:
    """Return what a run over a file with so many rows has left; `rows` are those of its targets."""
    aside = tuple(contract["quarantine"] for contract in contracts if contract.get("quarantine"))
    own = [row for row in rows if row.expected is not None and not row.target.startswith(aside)]
    short = max(((row.expected or 0) - (row.rows or 0) for row in own), default=0)
    over = max((max(row.doubled, row.second_key) for row in own), default=0)
    over = max(over, *((row.rows or 0) - (row.expected or 0) for row in own), 0)
    problem = next((row.problem for row in rows if row.problem), "")
    if failure := outcome.trials[0].failure:
        by_count: list[Verdict] = ["doubled"] if over > 0 else []
        by_count += ["fails"] if outcome.failure else []
        after = worst([*by_count, *(row.verdict for row in rows)])
        return DriftFacts(failure, list(_changes(outcome)), after, problem=problem)
    taken, is_kept, unreadable = _left_beside(wanted, outcome, [row.target for row in rows])
    taken += sum(row.added for row in rows if row not in own)
    shown = [text for row in rows for texts in row.examples.values() for text in texts]
    return DriftFacts(
        short=max(0, short - taken),
        over=over,
        drifted_rows=drifted_rows,
        is_kept=is_kept or any(VALUE in text for text in shown),
        problem=problem,
        unreadable=unreadable,
    )


def _changes(outcome: Outcome) -> Iterator[str]:
    """Yield the lines by which a run that failed has written or committed something."""
    failed = {run.run_id for run in _runs_of(outcome) if run.state != "SUCCEEDED"}
    lines = dict[str, None]()
    for change in read_operations(outcome.home):
        is_kept = change.kind in (PUT, COPY, JDBC) and not is_hidden(change)
        if change.run_id in failed and (is_kept or change.kind == BOOKMARK):
            lines[place_of(change)] = None
    yield from lines


def _left_beside(
    wanted: Wanted, outcome: Outcome, targets: Sequence[str]
) -> tuple[int, bool, dict[str, Sequence[str]]]:
    """Return the rows that are in no target, whether the value is written, and mixed columns."""
    before, after = files_of(wanted.of.base.lake), files_of(outcome.home.lake)
    arrived = {uri.removeprefix("s3://") for uri in wanted.experiment.files}
    own = {path: facts for path, facts in after.items() if path not in arrived}
    written = {path: facts for path, facts in own.items() if before.get(path) != facts}
    tables = tuple(folders_of_tables(outcome.home))
    taken, is_kept, unreadable = 0, False, dict[str, Sequence[str]]()
    for target in changed_targets({}, written):
        rows = _rows(target, outcome.home.lake, written)
        is_kept |= any(VALUE in str(row) for row in rows)
        if f"{target.folder}/".startswith(tables):
            continue
        if not any(is_below(target.uri, known) for known in targets):
            taken += len(rows)
        elif target.format == "parquet":
            files = target.within(outcome.home.lake, after)["files"]
            unreadable |= unreadable_columns(map(Path, files))
    return taken, is_kept, unreadable


def _rows(target: ComparedTarget, lake: Path, files: Files) -> Sequence[Mapping[str, Any]]:
    """Return the rows of the files of a target; none of what only Spark reads."""
    side = None
    with suppress(Exception):
        is_of_rows = target.format != "bytes"
        side = rows_of_side(target.format, target.within(lake, files)) if is_of_rows else None
    return side.rows if side else ()
