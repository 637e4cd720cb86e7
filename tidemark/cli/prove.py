"""The command `prove`: what a crash, a retry or a second run of a job would lose or double."""

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tidemark.checks.lint.ignores import accepted_in
from tidemark.checks.script.clocks import clocks_of
from tidemark.checks.script.surrogates import surrogates_of
from tidemark.cli.engines import prepare_sparks
from tidemark.cli.environment import ask_for_s3, interrupted_once
from tidemark.cli.prove_dbt import dbt_run, prove_dbt, refuse_options
from tidemark.cli.script_or_app import check_page, database_writes, submission_of
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_lines
from tidemark.errors import NotProvedError, UsageError
from tidemark.glue_service.commands import load_app
from tidemark.glue_service.runs.jvms.supply import jvms_of, lends_jvms
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import PROJECT_FILE
from tidemark.local_state.outside import withhold_others
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.findings import Proof, Wish
from tidemark.operate.prove.kinds.every import KINDS
from tidemark.operate.prove.lakes import fill_with_samples, home_of
from tidemark.operate.prove.prove import prove as prove_it
from tidemark.operate.prove.replays import kept_command, kept_state
from tidemark.operate.prove.subject import Subject, app_subject, script_subject
from tidemark.operate.prove.words import lines_of, to_json
from tidemark.operate.versions.scratch import scratch_of
from tidemark.operate.versions.shared import shared_by_both
from tidemark.operate.versions.trial import AT_ONCE
from tidemark.report.prove_page import proof_page

LOCAL_BUCKET = re.compile(r"tidemark bucket ([\w.-]+)")
PRINT_EVERY_S = 10.0


def prove(
    workflow: str | None,
    only: tuple[str, ...],
    deadline: float | None,
    seed: int,
    moments: int,
    key: tuple[str, ...],
    ignore: tuple[str, ...],
    allow: tuple[str, ...],
    app: Path | None,
    context: tuple[str, ...],
    lake: Path | None,
    sample: int | None,
    replay: str | None,
    dbt: Path | None,
    dbt_command: str,
    page: Path | None,
    output: str,
    what: str | None,
    arguments: tuple[str, ...],
) -> None:
    if "--help" in arguments[:1]:  # after the name of a job
        click.echo(click.get_current_context().get_help())
        sys.exit(0)
    kinds = _names(only, KINDS) if only else KINDS
    check_page(page)
    ask_for_s3(click.get_current_context())  # what a rename leaves half done is what counts here
    # PySpark imports numpy in each of a hundred runs, and that starts a busy thread a core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    home = Home.from_environment()
    console = Terminal(stderr=True)
    command = {
        "what": what,
        "arguments": arguments,
        "workflow": workflow,
        "app": str(app) if app else None,
        "context": context,
    }
    if replay is not None:
        sys.exit(_replayed(home, console, replay))
    if dbt is not None:
        refuse_options(
            workflow=workflow, kind=only, app=app, context=context, sample=sample, replay=replay
        )
        run = dbt_run(dbt, dbt_command, [*filter(None, [what]), *arguments])
        columns, left_out = _columns(key, "--key"), _columns(ignore, "--ignore")
        wish = Wish(deadline=deadline, key=columns, ignored=left_out)
        with _progress(console) as progress:
            proof = prove_dbt(
                home, run, wish, _progress_printer(console, progress), lake=lake, allowed=allow
            )
        _show(proof, page, dbt.name, output)
        sys.exit(proof.exit_code)
    with scratch_of(home) as scratch:
        subject = _subject(console, command, scratch)
        _refuse_shared(subject)
        surrogates = surrogates_of(subject.scripts.values())
        accepted = accepted_in(subject.scripts)
        wish = Wish(
            kinds,
            deadline,
            _columns(key, "--key"),
            accepted,
            surrogates,
            ignored=_columns(ignore, "--ignore"),
            clocks=list(clocks_of(subject.scripts)),
            seed=seed,
            moments=moments,
        )
        if "versions" in kinds and not subject.not_newer:
            prepare_sparks([subject.newest])  # no other experiment runs on it
        base = home_of(home, scratch / "home", lake, subject.app)
        withhold_others(base, allow)
        # `tidemark serve` has warm ones.
        with (
            jvms_of(home if lends_jvms(home, AT_ONCE) else base) as jvms,
            _progress(console) as progress,
        ):
            say = _progress_printer(console, progress)
            if sample is not None:
                fill_with_samples(base, subject.app, sample, jvms, subject.version)

            with _naming_buckets_of(lake):
                bench = Bench(subject, jvms, scratch, base, home=home, command=command)
                with interrupted_once(bench.is_interrupted):
                    proof = prove_it(bench, wish, say)
    _show(proof, page, what or workflow or "the workflow", output)
    says_little = bench.is_interrupted.is_set() and proof.exit_code != 1
    sys.exit(128 + signal.SIGINT if says_little else proof.exit_code)


def _show(proof: Proof, page: Path | None, name: str, output: str) -> None:
    if page is not None:
        page.write_text(proof_page(proof, name), encoding="utf-8")
    print_lines(output, to_json(proof), lines_of(proof))


def _replayed(home: Home, console: Console, name: str) -> int:
    command, state = kept_command(home, name), kept_state(home, name)
    click.echo(f"{state.title}\nbefore: TIDEMARK_HOME={state.home.root.with_name(name)}")
    with scratch_of(home) as scratch, jvms_of(state.home) as jvms:
        subject = _subject(console, command, scratch)
        start = subject.only(state.job) if state.job else subject.start
        trial = Bench(subject, jvms, scratch, state.home).run(state.home, start)
    for run in trial.runs:
        click.echo(f"{run.job}  {run.state}  {run.error or ''}".rstrip())
    click.echo(f"after: TIDEMARK_HOME={state.home.root}")
    return 1 if trial.failure else 0


def _refuse_shared(subject: Subject) -> None:
    """Raise if every run of the proof would change what is not of its home."""
    writes = database_writes(subject.scripts, is_without_jdbc=True)
    if shared := shared_by_both(writes, os.environ):
        raise UsageError(
            f"a proof runs the job many times, and each run would change the same: "
            f"{'; '.join(shared)}; let it use only the lake, DynamoDB without such a variable, and "
            "JDBC, whose changes of other databases than those of the home are not made"
        )


@contextmanager
def _naming_buckets_of(lake: Path | None) -> Iterator[None]:
    """Say in an error how a bucket comes into a lake that is not of a home."""
    try:
        yield
    except NotProvedError as error:
        if lake is None:
            raise
        text = LOCAL_BUCKET.sub(lambda found: f"mkdir {lake}/{found[1]}", str(error))
        raise NotProvedError(text) from error


def _progress_printer(console: Console, progress: Progress) -> Callable[[str, int, int], None]:
    """Return what shows how far a proof is: as a bar, or in lines where nobody sees bars."""
    task, told = progress.add_task("", total=None), [time.monotonic()]

    def say(text: str, done: int, total: int) -> None:
        progress.update(task, description=text, completed=done, total=total or None)
        if not console.is_terminal and time.monotonic() - told[0] >= PRINT_EVERY_S:
            told[0] = time.monotonic()
            click.echo(f"{text}, {done} of {total}" if total else text, err=True)

    return say


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


def _names(given: Sequence[str], allowed: Sequence[str] = ()) -> list[str]:
    """Return the names that an option was given, several in one value by commas."""
    text = ",".join(given)
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if allowed and name not in allowed]
    if unknown or (allowed and not names):
        raise UsageError(f"--kind {text}: allowed are {', '.join(allowed)}")
    return names


def _columns(given: Sequence[str], option: str) -> list[str]:
    names = _names(given)
    if given and (not names or len(set(names)) < len(names)):
        raise UsageError(f"{option} {','.join(given)!r}: give names, each once")
    return names


def _subject(console: Console, command: Mapping[str, Any], scratch: Path) -> Subject:
    what, workflow, context = command["what"], command["workflow"], tuple(command["context"])
    app = Path(command["app"]) if command["app"] else None
    if not any((what, workflow, app, os.environ.get("CDK_APP"), Path(PROJECT_FILE).is_file())):
        raise UsageError(
            "there is nothing to prove: give a script with its arguments, such as tidemark prove "
            f"etl/job.py --source s3://raw/; or, in a folder with {PROJECT_FILE}, a job of its app"
        )
    submission = submission_of(what, tuple(command["arguments"]), workflow, app, context)
    if submission is not None:
        return script_subject(submission)
    loaded = load_app(assembly_folder(console, app, context))
    return app_subject(loaded, workflow, what, scratch)
