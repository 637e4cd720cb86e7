"""What a run over a file with other columns has left is counted, beside its targets too."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tidemark.local_state.home import Home
from tidemark.local_state.observed_schemas import CONTRACTS_FILE
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.drift import VALUE
from tidemark.operate.prove.baselines import Baseline, Wanted
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.drift_facts import contracts_of, facts_of
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.versions.outcomes import RunOutcome
from tidemark.operate.versions.trial import Trial

FILE, OUT = "s3://lake/in/1.json", "s3://lake/out/"
EXPERIMENT = Experiment("drift", "a file with a column more", drift="type", files=(FILE,))


def write(home: Home, place: str, rows: list[dict]) -> None:
    file = home.lake / place
    file.parent.mkdir(parents=True, exist_ok=True)
    if place.endswith(".parquet"):
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    else:
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Home, Home]:
    """Return a home before a run and one after it, in which the file has arrived."""
    before, after = Home.open(tmp_path / "before"), Home.open(tmp_path / "after")
    write(after, "lake/in/1.json", [{"id": 1, "amt": VALUE}])
    return before, after


def wanted_of(before: Home, after: Home, *runs: JobRun, opened=()) -> tuple[Wanted, Outcome]:
    with Store(after.database) as store, store.transaction():
        for run in runs:
            store.put_job_run(run)
    ended = RunOutcome("load", "SUCCEEDED", None, None, None)
    outcome = Outcome(EXPERIMENT, after, [Trial(after, (ended,), 5, 9)])
    of = Baseline(before, outcome, (), [FILE], {}, opened)
    return Wanted(of, EXPERIMENT), outcome


def test_rows_in_a_quarantine_are_not_missing(homes):
    wanted, outcome = wanted_of(*homes)
    target = TargetRows(OUT, 2, 3, lost=1)

    alone = facts_of(wanted, outcome, [target], [], 1)
    write(homes[1], "lake/aside/1.json", [{"id": 1, "amt": VALUE}])
    beside = facts_of(wanted, outcome, [target], [], 1)
    compared = TargetRows("s3://lake/aside/", 1, 0, added=1)
    contract = {"place": "", "quarantine": "s3://lake/aside/"}
    declared = facts_of(wanted, outcome, [target, compared], [contract], 1)

    assert [(found.short, found.is_kept) for found in (alone, beside, declared)] == [
        (1, False),
        (0, True),
        (0, True),
    ]


def test_a_column_of_two_types_is_found_in_files_old_and_new(homes):
    for home in homes:
        write(home, "lake/out/1.parquet", [{"id": 1, "amt": 5, "n": 1}])
    same = homes[0].lake / "lake/out/1.parquet"
    (homes[1].lake / "lake/out/1.parquet").unlink()
    (homes[1].lake / "lake/out/1.parquet").hardlink_to(same)
    write(homes[1], "lake/out/2.parquet", [{"id": 2, "amt": VALUE, "n": 2}])
    wanted, outcome = wanted_of(*homes)

    facts = facts_of(wanted, outcome, [TargetRows(OUT, 2, 2)], [], 1)

    assert facts.unreadable == {"amt": ["bigint", "string"]}
    assert (facts.short, facts.over, facts.is_kept) == (0, 0, True)


def test_the_contracts_of_the_jobs_count_that_read_the_file(homes, tmp_path):
    def run(name: str, at_ms: int, mode: str) -> JobRun:
        folder = tmp_path / name
        folder.mkdir()
        contract = {"schema": "id INT", "columns": mode, "place": ""}
        (folder / CONTRACTS_FILE).write_text(f"{json.dumps(contract)}\n")
        log = str(folder / "stderr.log")
        return JobRun(f"jr_{name}", name, None, None, 0, "SUCCEEDED", at_ms, log, "none")

    runs = [run("earlier", 1, "evolve"), run("load", 6, "freeze"), run("other", 7, "rescue")]
    wanted, _ = wanted_of(*homes, *runs, opened=[("jr_load", FILE), ("jr_other", OUT)])

    assert [contract["columns"] for contract in contracts_of(wanted)] == ["freeze"]
