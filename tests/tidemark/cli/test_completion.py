import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

SHELLS = ("bash", "zsh", "fish")


def completed(*words: str) -> list[str]:
    """Return what bash shows to complete the last word."""
    line = ["tidemark", *words]
    run = subprocess.run(
        [sys.executable, "-c", "from tidemark.cli.main import main; main(prog_name='tidemark')"],
        env={
            **os.environ,
            "_TIDEMARK_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(line),
            "COMP_CWORD": str(len(line) - 1),
        },
        capture_output=True,
        text=True,
    )
    assert run.stderr == ""
    return [answer.partition(",")[2] for answer in run.stdout.splitlines() if answer]


@pytest.fixture
def runs(home: Path) -> None:
    with Store(Home.open(home).database) as store:
        for number, job in enumerate(("load-orders", "load-prices"), 1):
            store.put_job_run(
                JobRun(
                    run_id=f"jr_{number}",
                    job_name=job,
                    workflow_run_id=None,
                    trigger_name=None,
                    attempt=0,
                    state="SUCCEEDED",
                    started_at_ms=number,
                    log_path="x",
                    bookmark_option="x",
                )
            )


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_its_own_lines(shell: str) -> None:
    result = tidemark("completion", shell)

    assert result.exit_code == 0
    assert "_TIDEMARK_COMPLETE" in result.output
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=result.output, text=True, check=True)


def test_another_shell_is_refused_with_those_there_are() -> None:
    result = tidemark("completion", "csh")

    assert result.exit_code == 2
    assert all(shell in result.stderr for shell in SHELLS)


def test_commands_are_completed() -> None:
    assert completed("ba") == ["backfill"]
    assert completed("bookmark", "re") == ["reset", "rewind"]


def test_names_of_jobs_and_runs_are_those_of_the_home(runs: None) -> None:
    assert completed("logs", "load-o") == ["load-orders"]
    assert completed("run", "show", "jr_") == ["jr_2", "jr_1"]


def test_stages_are_those_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = '{"context": {"tidemark:stages": {"dev": {}, "prod": {}}}}'
    (tmp_path / "cdk.json").write_text(context, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert completed("status", "--deployed", "p") == ["prod"]


def test_nothing_is_completed_and_nothing_created_where_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "none"))

    assert completed("logs", "") == []
    assert not (tmp_path / "none").exists()
