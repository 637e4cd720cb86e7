"""A run starts the DynamoDB of its home when something asks for it, and then finds its tables."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import pytest

import tidemark as package
from tests.fixtures.commands import WriteAssembly
from tests.sampled import at_night
from tests.sockets import descendants
from tests.tidemark.cli.processes import read_until, started
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tests.tidemark.cli.test_run_serves import WAITS, shells
from tests.waiting import BOUND_S, wait_until
from tidemark.errors import UsageError

TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "Properties": {
        "TableName": "marks",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    },
}
PUTS = """
import boto3
marks = boto3.resource("dynamodb").Table("marks")
print(marks.scan()["Count"])
marks.put_item(Item={"id": "1"})
"""


@pytest.fixture(autouse=True)
def no_other_dynamodb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)


@contextmanager
def entered() -> Iterator[set[tuple[str, str]]]:
    """Yield the functions of the package that are entered: each file, and a name in it."""
    folder, codes = f"{Path(package.__file__).parent}/", set[CodeType]()
    functions = set[tuple[str, str]]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder) and code not in codes:
            codes.add(code)
            if "<" not in code.co_qualname:  # modules, lambdas and what is in a function
                functions.add((code.co_filename.removeprefix(folder), code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield functions
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type] # which takes None


JOB_PROCESS = "tidemark.glue_job.process.job_process"


def modules_below(pid: int) -> list[str]:
    """Return what the processes of Python run that a process has started, each a `-m MODULE`."""
    files = (Path(f"/proc/{child}/cmdline") for child in descendants(pid) - {pid})
    lines = [file.read_text(encoding="utf-8").split("\0") for file in files]
    return [line[line.index("-m") + 1] if "-m" in line else line[0] for line in lines]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_run_without_dynamodb_has_no_process_but_those_of_its_job(
    home: Path, write_assembly: WriteAssembly, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    app = shells(
        write_assembly({"waits": WAITS.format(str(gate)), "puts": PUTS}, others={"Marks": TABLE})
    )
    with started("run", "--app", str(app), "--only", "waits") as run:
        read_until(run, b"waits  started")
        wait_until(lambda: JOB_PROCESS in modules_below(run.pid))
        modules = modules_below(run.pid)
        gate.touch()
        said, errors = run.communicate(timeout=BOUND_S)

    assert run.returncode == 0, said + errors
    assert modules == [JOB_PROCESS]  # and nothing for jobs of Spark
    assert not (home / "dynamodb" / "tables.db").exists()

    asked = tidemark("run", "--app", str(app), "--only", "puts")

    assert asked.exit_code == 0, asked.output
    assert tidemark("logs", "puts", "--output").stdout == "0\n"


@pytest.mark.nightly
def test_a_script_without_an_app_finds_the_tables_that_an_app_has_defined_before(
    home: Path, write_assembly: WriteAssembly, tmp_path: Path
) -> None:
    app = shells(write_assembly({"idle": ""}, others={"Marks": TABLE}))
    (tmp_path / "puts.py").write_text(PUTS, encoding="utf-8")

    run = tidemark("run", "--app", str(app))
    submitted = tidemark("submit", str(tmp_path / "puts.py"))

    assert (run.exit_code, submitted.exit_code) == (0, 0), run.output + submitted.output
    assert "0\n" in submitted.stdout


def test_an_engine_that_is_missing_is_named_to_the_job_that_asks_alone(
    home: Path, write_assembly: WriteAssembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = shells(write_assembly({"idle": "", "puts": PUTS}, others={"Marks": TABLE}))

    def missing(variable: str) -> Path:
        raise UsageError("the embedded DynamoDB engine is not installed; run `npm install x`")

    monkeypatch.setattr("tidemark.local_state.engine.embedded.find_engine", missing)

    idle = tidemark("run", "--app", str(app), "--only", "idle")
    puts = tidemark("run", "--app", str(app), "--only", "puts")

    assert idle.exit_code == 0, idle.output
    assert puts.exit_code == 1
    assert "engine is not installed; run `npm install x`" in puts.output


@pytest.mark.parametrize("content", [None, *at_night(b"")])
def test_lost_tables_are_refused_before_a_job_without_dynamodb_starts(
    home: Path, write_assembly: WriteAssembly, content: bytes | None
) -> None:
    app = shells(write_assembly({"idle": "", "puts": PUTS}, others={"Marks": TABLE}))
    assert tidemark("run", "--app", str(app), "--only", "puts").exit_code == 0
    tables = home / "dynamodb" / "tables.db"
    tables.unlink()
    if content is not None:
        tables.write_bytes(content)
    runs = set((home / "runs").iterdir())

    result = tidemark("run", "--app", str(app), "--only", "idle")

    assert_one_clear_line(result, 1, "tables.db", "lost with it: watermarks")
    assert set((home / "runs").iterdir()) == runs


def test_a_run_that_asks_for_nothing_enters_no_service_and_no_engine(
    home: Path, write_assembly: WriteAssembly
) -> None:
    app = shells(write_assembly({"idle": ""}, others={"Marks": TABLE}))
    assert tidemark("run", "--app", str(app), "--only", "idle").exit_code == 0

    with entered() as functions:
        assert tidemark("run", "--app", str(app), "--only", "idle").exit_code == 0

    files = {file for file, _ in functions}
    assert files.isdisjoint(
        {
            "glue_service/http/application.py",
            "glue_service/http/connections.py",
            "glue_service/http/other_services.py",
            "local_state/engine/closed_port.py",
            "local_state/engine/executable.py",
        }
    )
    assert len(functions) <= 430, sorted(functions)
    assert len(files) <= 120, sorted(files)
