"""The command `diff`: how rows of targets differ, of two runs, homes or versions of the code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tidemark.cli.diff_code import CodeJobs, diff_to_revision
from tidemark.cli.script_or_app import check_page
from tidemark.cli.terminal import print_lines
from tidemark.cli.views.diff import lines_of
from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import MARKER
from tidemark.local_state.store.checkpoints import stored_checkpoints
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.messages import known_run
from tidemark.operate.diff.comparing import Asked
from tidemark.operate.diff.outcomes import Diff
from tidemark.operate.diff.pairs import Room, check_asked
from tidemark.operate.diff.recorded import diff_of_homes, diff_of_runs
from tidemark.operate.versions.scratch import scratch_of

EXIT_CODES = {"equal": 0, "differs": 1, "not compared": 3}
MODES = (
    "give the runs (--from RUN --to RUN), another home (--with-home PATH), or a revision of the "
    "code (--code REF)"
)


def diff(
    from_run: str | None,
    to_run: str | None,
    home_path: Path | None,
    with_home: Path | None,
    code: str | None,
    workflow: str | None,
    context: tuple[str, ...],
    anew: bool,
    with_databases: bool,
    key: tuple[str, ...],
    condition: str,
    tolerance: float,
    sample: int,
    page: Path | None,
    output: str,
    what: str | None,
    arguments: tuple[str, ...],
) -> None:
    asked = Asked(key, tolerance, sample, condition)
    check_asked(asked)
    check_page(page)
    if sum(map(bool, (from_run or to_run, with_home, code))) > 1:
        raise UsageError(f"these are several comparisons: {MODES}")
    if not code and (workflow or context or anew or with_databases or arguments):
        raise UsageError(
            "--workflow, --context, --anew, --with-databases and arguments are for --code REF, "
            "which runs the jobs; leave them out"
        )
    home = _home_at(home_path, "--home") if home_path else Home.from_environment()
    if code:
        jobs = CodeJobs(what, arguments, workflow, context)
        with _room(home) as room:
            made = diff_to_revision(
                home, code, jobs, asked, room, anew=anew, with_databases=with_databases
            )
    elif with_home:
        other = _home_at(with_home, "--with-home")
        if other.root.resolve() == home.root.resolve():
            raise UsageError(f"both homes are {home.shown}; name another one with --with-home")
        with _room(home) as room:
            made = diff_of_homes((home, other), what, asked, room)
    else:
        runs = _runs(home, what, from_run, to_run)
        with _room(home) as room:
            made = diff_of_runs(home, runs, asked, room)
    keyless = [part.target for part in made.targets if tolerance and not (part.key or part.problem)]
    unused = [f"{target}: --tolerance needs a key, and was not used" for target in keyless]
    _show(replace(made, notes=[*made.notes, *unused]), output, page)
    sys.exit(EXIT_CODES[made.verdict])


def _show(made: Diff, output: str, page: Path | None) -> None:
    if page is not None:
        from tidemark.report.page import diff_page

        page.write_text(diff_page(made), encoding="utf-8")
    print_lines(output, made.to_json(), lines_of(made))


def _home_at(path: Path, option: str) -> Home:
    if not (path / MARKER).is_file():
        raise UsageError(f"{option} {path} is not a home; name one, such as .tidemark")
    return Home.open(path)


@contextmanager
def _room(home: Home) -> Iterator[Room]:
    with scratch_of(home) as scratch, jvms_of(home, is_ahead=False) as jvms:
        yield Room(scratch, jvms)


def _runs(
    home: Home, job: str | None, from_run: str | None, to_run: str | None
) -> tuple[Checkpoint, Checkpoint]:
    """Return the two runs that are meant, the earlier one first unless both are named."""
    with Store(home.database) as store:
        runs = [run for run in stored_checkpoints(store, job) if run.written or run.is_committed]
    if job is None and not (from_run or to_run):
        raise UsageError(f"name a JOB, whose last two runs are compared; or {MODES}")
    by_id = {run.run_id: run for run in runs}
    jobs = {run.run_id: run.job_name for run in runs}
    whose = f"of job {job} that recorded what it did" if job else "that recorded what it did"
    start, to = (
        by_id[known_run(text, by_id, whose, "`tidemark runs` lists them", jobs)] if text else None
        for text in (from_run, to_run)
    )
    if named := to or start:
        job = named.job_name
        runs = [run for run in runs if run.job_name == job]
    to = to or next(iter(runs), None)
    start = start or next(iter(runs[runs.index(to) + 1 :] if to in runs else ()), None)
    if to is None or start is None:
        raise EntityNotFoundError(
            f"job {job} has fewer than two runs to compare that recorded what they did here"
        )
    if start.job_name != to.job_name:
        raise UsageError(
            f"{start.run_id} is a run of {start.job_name}, {to.run_id} one of {to.job_name}; "
            "compare two runs of one job"
        )
    if start.run_id == to.run_id:
        raise UsageError(f"--from and --to are both {to.run_id}; name two runs")
    return start, to
