"""`tidemark prove --dbt`: what a death of dbt between two statements loses or doubles."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from tidemark.cli.environment import interrupted_once
from tidemark.errors import UsageError
from tidemark.glue_service.runs.jvms.supply import jvms_of, lends_jvms
from tidemark.glue_service.submission import Submission
from tidemark.local_state.home import Home
from tidemark.local_state.outside import withhold_others
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.dbt import Say
from tidemark.operate.prove.dbt import prove_dbt as prove_it
from tidemark.operate.prove.dbt_runs import DbtRun
from tidemark.operate.prove.findings import Proof, Wish
from tidemark.operate.prove.judge import JUDGE_JOB
from tidemark.operate.prove.lakes import home_of
from tidemark.operate.prove.subject import script_subject
from tidemark.operate.versions.scratch import scratch_of
from tidemark.operate.versions.trial import AT_ONCE

PROJECT_FILE = "dbt_project.yml"
BUILD = ("build",)
ONE_THREAD = ("--threads", "1")  # the same statements in each run


def dbt_run(project: Path, command: str, words: Sequence[str]) -> DbtRun:
    """Return what runs dbt in a project: `dbt build`, or other words.

    Raises:
        UsageError: there is no project, or no dbt.
    """
    if not (project / PROJECT_FILE).is_file():
        raise UsageError(f"--dbt {project}: there is no {PROJECT_FILE}; name the folder of one")
    found = shutil.which(command)
    if found is None:
        raise UsageError(
            f"there is no dbt {command!r} on the PATH; name the one of your environment: "
            "--dbt-command ../dbt/bin/dbt"
        )
    threads = () if "--threads" in words else ONE_THREAD
    return DbtRun(project.absolute(), [str(Path(found).absolute()), *(words or BUILD), *threads])


def refuse_options(**options: object) -> None:
    """Raise if an option is given that is for jobs alone."""
    for name, value in options.items():
        if value:
            raise UsageError(
                f"--dbt and --{name}: a project of dbt has no such option; allowed: --dbt-command, "
                "--key, --ignore, --budget, --lake, --allow, --html, --format; leave it out"
            )


def prove_dbt(
    home: Home, run: DbtRun, wish: Wish, say: Say, *, lake: Path | None, allowed: Sequence[str]
) -> Proof:
    """Return the proof of a project, on a copy of a home or of a lake, with what it may reach."""
    version = own_glue_version()
    subject = script_subject(Submission(JUDGE_JOB, "dbt", {}, version))  # what compares rows
    with scratch_of(home) as scratch:
        base = home_of(home, scratch / "home", lake)
        withhold_others(base, allowed)
        with jvms_of(home if lends_jvms(home, AT_ONCE) else base) as jvms:
            bench = Bench(subject, jvms, scratch, base, deadline=wish.deadline)
            with interrupted_once(bench.is_interrupted):
                return prove_it(bench, run, wish, say)
