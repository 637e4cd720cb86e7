"""Executions of state machines in the store, with the answers and the events of each.

The tables are made at the first use of Step Functions: most homes have none.
"""

import base64
import binascii
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tidemark.local_state.store.database import Store

RUNNING, SUCCEEDED, FAILED = "RUNNING", "SUCCEEDED", "FAILED"
ABORTED, TIMED_OUT = "ABORTED", "TIMED_OUT"
STANDARD, EXPRESS = "STANDARD", "EXPRESS"
# The steps of an attempt that have the secret of its token, and its answer.
SECRET, END = "token", "end"
TABLES = (
    "CREATE TABLE IF NOT EXISTS execution (arn TEXT PRIMARY KEY, machine TEXT NOT NULL, "
    "status TEXT NOT NULL, document TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS execution_by_machine ON execution (machine)",
    "CREATE TABLE IF NOT EXISTS execution_answer (arn TEXT NOT NULL, step TEXT NOT NULL, "
    "answer TEXT NOT NULL, PRIMARY KEY (arn, step))",
    "CREATE TABLE IF NOT EXISTS execution_event (arn TEXT NOT NULL, number INTEGER NOT NULL, "
    "step TEXT NOT NULL, event TEXT NOT NULL, PRIMARY KEY (arn, number))",
)


@dataclass(frozen=True)
class Execution:
    """One execution; times in epoch milliseconds.

    Attributes:
        machine: the ARN of its state machine.
        definition: that of the machine when it began, which later changes leave alone.
        parent: the ARN of the execution that started it; empty if none did.
        is_awaited: a task of the parent waits for its end.
        redrives: how often it was started again after its end, and when last.
    """

    arn: str
    machine: str
    name: str
    kind: str
    status: str
    started_at_ms: int
    input: str
    definition: str
    role_arn: str
    revision: str
    parent: str = ""
    is_awaited: bool = False
    stopped_at_ms: int | None = None
    output: str | None = None
    error: str | None = None
    cause: str | None = None
    redrives: int = 0
    redriven_at_ms: int | None = None


def has_executions(store: Store) -> bool:
    """Return whether the home has had an execution."""
    return bool(store.query("SELECT 1 FROM sqlite_master WHERE name = 'execution'"))


def make_tables(store: Store) -> None:
    """Create the tables if the home has none yet."""
    if not has_executions(store):
        with store.transaction():
            for statement in TABLES:
                store.query(statement)


def put_execution(store: Store, execution: Execution) -> None:
    """Insert or replace an execution."""
    document = asdict(execution)
    keys = tuple(document.pop(name) for name in ("arn", "machine", "status"))
    store.change(
        "INSERT INTO execution VALUES (?, ?, ?, ?) ON CONFLICT (arn) "
        "DO UPDATE SET status = excluded.status, document = excluded.document",
        (*keys, json.dumps(document)),
    )


def find_execution(store: Store, arn: str) -> Execution | None:
    """Return an execution; None if there is none of this ARN."""
    executions = _executions(store, "WHERE arn = ?", (arn,))
    return executions[0] if executions else None


def started_by(store: Store, run_id: str) -> list[Execution]:
    """Return the execution that started a run of a job or a workflow, then the one that started it.

    There may be more, or none. Only the answer of a start has the id as a member of its own.
    """
    executions: list[Execution] = []
    if has_executions(store):
        rows = store.query("SELECT * FROM execution_answer WHERE instr(answer, ?)", (run_id,))
        starts = [row["arn"] for row in rows if _is_start(json.loads(row["answer"]), run_id)]
        arn = starts[0] if starts else ""
        while execution := find_execution(store, arn):
            executions.append(execution)
            arn = execution.parent
    return executions


def _is_start(answer: Any, run_id: str) -> bool:
    body = str(answer.get("body", "")) if isinstance(answer, dict) else ""
    starts = tuple(f'{{"{name}":"{run_id}"' for name in ("JobRunId", "RunId"))
    return body.replace(" ", "").startswith(starts)


def executions_of(store: Store, machine: str) -> list[Execution]:
    """Return the executions of a machine, the one that was started last first."""
    return _executions(store, "WHERE machine = ? ORDER BY rowid DESC", (machine,))


def all_executions(store: Store) -> list[Execution]:
    """Return every execution of the home, in the order of their starts."""
    return _executions(store, "ORDER BY rowid", ())


def open_executions(store: Store) -> list[Execution]:
    """Return the executions that have not ended, in the order of their starts."""
    return _executions(store, "WHERE status = ? ORDER BY rowid", (RUNNING,))


def _executions(store: Store, where: str, values: tuple[Any, ...]) -> list[Execution]:
    if not has_executions(store):
        return []
    rows = store.query(f"SELECT * FROM execution {where}", values)  # noqa: S608 (fixed strings)
    return [_execution(row) for row in rows]


def _execution(row: sqlite3.Row) -> Execution:
    keys = {name: row[name] for name in ("arn", "machine", "status")}
    return Execution(**keys, **json.loads(row["document"]))


def settle(store: Store, arn: str, step: str, answer: Any) -> Any:
    """Record the answer of a step; return the one that counts, which is the first."""
    with store.transaction():
        values = (arn, step, json.dumps(answer))
        store.query("INSERT OR IGNORE INTO execution_answer VALUES (?, ?, ?)", values)
        return answer_of(store, arn, step)


def answer_of(store: Store, arn: str, step: str) -> Any:
    """Return the recorded answer of a step; None without any."""
    rows = store.query(
        "SELECT answer FROM execution_answer WHERE arn = ? AND step = ?", (arn, step)
    )
    return json.loads(rows[0]["answer"]) if rows else None


def answers_of(store: Store, arn: str) -> dict[str, Any]:
    """Return all recorded answers of an execution, by step."""
    rows = store.query("SELECT step, answer FROM execution_answer WHERE arn = ?", (arn,))
    return {row["step"]: json.loads(row["answer"]) for row in rows}


def add_event(store: Store, arn: str, step: str, event: Mapping[str, Any]) -> int:
    """Add an event to the history of an execution; return its id, which counts from 1."""
    rows = store.change(
        "INSERT INTO execution_event SELECT ?, COALESCE(MAX(number), 0) + 1, ?, ? "
        "FROM execution_event WHERE arn = ? RETURNING number",
        (arn, step, json.dumps(dict(event)), arn),
    )
    return int(rows[0]["number"])


def put_event(store: Store, arn: str, number: int, step: str, event: Mapping[str, Any]) -> None:
    """Insert an event that has its id."""
    values = (arn, number, step, json.dumps(dict(event)))
    store.change("INSERT INTO execution_event VALUES (?, ?, ?, ?)", values)


def events_of(store: Store, arn: str) -> list[tuple[int, str, dict[str, Any]]]:
    """Return id, step and content of the events of an execution, the first one first."""
    rows = store.query("SELECT * FROM execution_event WHERE arn = ? ORDER BY number", (arn,))
    return [(row["number"], row["step"], json.loads(row["event"])) for row in rows]


def leave_out(store: Store, arn: str, events: Sequence[int], answers: Sequence[str]) -> None:
    """Forget some answers, and let some events, by number, be of the history alone."""
    of_history = "UPDATE execution_event SET step = '' WHERE arn = ? AND number = ?"
    forgotten = "DELETE FROM execution_answer WHERE arn = ? AND step = ?"
    for statement, keys in ((of_history, events), (forgotten, answers)):
        for key in keys:
            store.query(statement, (arn, key))


def delete_executions(store: Store, machine: str) -> None:
    """Forget the executions of a machine that have ended."""
    for execution in executions_of(store, machine):
        if execution.status != RUNNING:
            with store.transaction():
                for table in ("execution", "execution_answer", "execution_event"):
                    store.query(f"DELETE FROM {table} WHERE arn = ?", (execution.arn,))  # noqa: S608


def token_of(arn: str, attempt: str, secret: str) -> str:
    """Return the token of an attempt of a task: execution, attempt, and a secret of it.

    >>> parts_of_token(token_of("arn", "A#1.1", "x"))
    ('arn', 'A#1.1', 'x')
    """
    return base64.urlsafe_b64encode(json.dumps([arn, attempt, secret]).encode()).decode()


def parts_of_token(token: str) -> tuple[str, str, str] | None:
    """Return the ARN of the execution, the attempt, and the secret; None for no such token."""
    try:
        arn, attempt, secret = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError, TypeError):
        return None
    return str(arn), str(attempt), str(secret)
