"""Carries experiments out: each in a home of its own, with runs of the same script or app."""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.jvms.supply import second_jvm
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import DATABASES, MARKER, TABLES
from tidemark.local_state.lost_executor import has_lost, lose_executor
from tidemark.local_state.operations import (
    COPY,
    ITEMS,
    PUT,
    REQUEST,
    Operation,
    ReadRequest,
    has_arrived,
    has_failed,
    let_arrive_at_look,
    let_arrive_meanwhile,
    let_fail_once,
    record_operations,
)
from tidemark.model.messages import JVM_GONE
from tidemark.operate.prove.baselines import (
    Baseline,
    arrive,
    home_without,
    let_arrive,
)
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.experiments import Experiment, in_parts
from tidemark.operate.prove.homes import (
    home_after,
    linked_home,
    put_databases,
    without_scratch,
)
from tidemark.operate.prove.items import put_watermarks
from tidemark.operate.prove.places import data_files, hidden_marks
from tidemark.operate.prove.tables import dump_tables
from tidemark.operate.versions.targets import changed_targets
from tidemark.operate.versions.trial import Trial

UPLOAD_S = 5  # how long an upload of several parts takes
NONE_LOST = "no executor has written an object"
NOT_ARRIVED = {
    "meanwhile": "the run has written nothing",
    "reading": "the run has not listed its input as often as before",
}


@dataclass(frozen=True)
class Wanted:
    """An experiment, the run that it changes, and what arrives after a crash in it.

    Attributes:
        of: the run.
        experiment: what goes wrong.
        well: the run whose rows should come out; None: the first one.
        late: URIs of the files that arrive before the next run.
    """

    of: Baseline
    experiment: Experiment
    well: Outcome | None = None
    late: Sequence[str] = ()


def carry_out(bench: Bench, wanted: Wanted, number: int) -> Outcome:
    """Carry an experiment out, in the home with a number."""
    began = time.monotonic()
    experiment, folder = wanted.experiment, bench.folder(f"{number}")
    home, trials, is_open = Home(folder), list[Trial](), True
    try:
        home, trials = _PREPARED[experiment.kind](bench, wanted, folder)
    except OutOfTimeError as error:
        why_not = str(error)
    except TidemarkError as error:  # the other experiments continue
        why_not = without_scratch(str(error), bench.scratch)
    else:
        why_not = without_scratch(_why_unknown(wanted, home, trials), bench.scratch)
        if not why_not and (why_not := _why_impossible(wanted, home)):
            is_open = False
        why_not = why_not or _make_comparable(bench, wanted, home)
    experiment = replace(experiment, not_tried=why_not, is_open=bool(why_not) and is_open)
    start = Home(_start_of(folder))
    is_kept = (start.root / MARKER).exists()
    return Outcome(experiment, home, trials, time.monotonic() - began, start if is_kept else None)


def _why_unknown(wanted: Wanted, home: Home, trials: Sequence[Trial]) -> str:
    """Return why an experiment has not shown what the job does; empty if it has."""
    # The machine took the JVM away: the script has run well without any experiment.
    if gone := next((one.failure for one in trials if JVM_GONE in one.failure), ""):
        return gone
    if wanted.experiment.kind == "error" and not has_failed(home):
        return "the run did not make this request again"
    return ""


def _why_impossible(wanted: Wanted, home: Home) -> str:
    """Return why what an experiment waits for cannot happen; empty if it did."""
    if wanted.experiment.kind == "executors" and not has_lost(home):
        number = wanted.experiment.moment.number
        return NONE_LOST if number == 1 else f"the executors have made fewer than {number} changes"
    if wanted.experiment.kind in NOT_ARRIVED and not has_arrived(home):
        return NOT_ARRIVED[wanted.experiment.kind]
    return ""


def _make_comparable(bench: Bench, wanted: Wanted, home: Home) -> str:
    """Make the rows of a home ready to be compared; return why that cannot be."""
    has_newer = wanted.experiment.kind == "versions" and wanted.of.other_stores.databases
    version = bench.subject.newest if has_newer else ""  # no older Derby opens what one has
    try:
        dump_tables(bench, home, wanted.of.other_stores, version)
    except TidemarkError as error:
        return without_scratch(str(error), bench.scratch)
    return ""


def _crash(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    of, after = wanted.of, wanted.experiment.after
    done = [one for one in of.operations if one.number <= after]
    home = home_after(of.base, of.outcome.home, done, folder)
    let_arrive(bench, home, wanted.late)
    job = None if wanted.late else of.job_of(wanted.experiment)
    _keep_start(home, folder)
    record_operations(home)
    return home, _resumed(bench, of, home, job)


def _last_run(bench: Bench, home: Home, folder: Path) -> Trial:
    """Run once, and keep the home as it was before."""
    _keep_start(home, folder)
    return bench.run(home)


def _keep_start(home: Home, folder: Path) -> None:
    shutil.rmtree(_start_of(folder), ignore_errors=True)  # of a run before
    linked_home(home, _start_of(folder))


def _resumed(bench: Bench, of: Baseline, home: Home, job: str | None) -> list[Trial]:
    """Run a job, and those after it in the workflow, until one fails; without a job, all."""
    trials = list[Trial]()
    for name in of.jobs_from(job):
        trials.append(bench.run(home, bench.subject.only(name) if name else None))
        if trials[-1].failure:
            break
    return trials


def _start_of(folder: Path) -> Path:
    """Return the folder that keeps the home of an experiment as it is before its last run."""
    return folder.with_name(f"{folder.name}-start")


def _error(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Let a request of a job fail, whatever the job makes of it, and run it again."""
    of, experiment = wanted.of, wanted.experiment
    failing, request = experiment.operation, experiment.request
    if failing is not None:
        run_id, numbers = failing.run_id, _numbers(of.operations, failing.run_id)
        number = numbers.index(failing.number) + 1
    else:
        assert request is not None  # noqa: S101 (of each error)
        run_id, numbers = request.run_id, _numbers(of.operations, request.run_id)
        own = [one for one in of.requests if one.run_id == run_id]
        number = own.index(request) + 1
        numbers = numbers or [own[0].done + 1]
    done = [one for one in of.operations if one.number < numbers[0]]
    home = home_after(of.base, of.outcome.home, done, folder)
    record_operations(home)
    made_by = failing.places[0] if failing and failing.kind in (REQUEST, ITEMS) else ""
    of_requests = request is not None
    let_fail_once(home, number, experiment.how, of_requests=of_requests, what=made_by)
    job = of.jobs.get(run_id)
    failed = bench.run(home, bench.subject.only(job) if job else None)
    _keep_start(home, folder)
    return home, [failed, *_resumed(bench, of, home, job)]


def _numbers(made: Sequence[Operation] | Sequence[ReadRequest], run_id: str) -> list[int]:
    """Return the numbers of what a run has done."""
    return [one.number for one in made if one.run_id == run_id]


def _again(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    home = linked_home(wanted.of.outcome.home, folder)
    record_operations(home)
    return home, [_last_run(bench, home, folder)]


def _order(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Let the later half of the files arrive before the earlier one, and run after each."""
    home = home_without(bench, wanted.of.sources, folder)
    trials = []
    for part in in_parts(wanted.of.sources)[::-1]:
        let_arrive(bench, home, part)
        trials.append(_last_run(bench, home, folder))
        if trials[-1].failure:
            break
    return home, trials


def _meanwhile(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Let a file arrive when the run has written for the first time; run again after it."""
    home = linked_home(bench.base, folder)
    record_operations(home)
    let_arrive_meanwhile(home, wanted.of.sources[-1], wanted.of.other_stores.items)
    first = bench.run(home)
    return home, [first, _last_run(bench, home, folder)]


def _reading(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Let a file arrive between two listings of the run; run again after it."""
    home = linked_home(bench.base, folder)
    record_operations(home)
    let_arrive_at_look(home, wanted.of.sources[-1], wanted.experiment.look)
    first = bench.run(home)
    return home, [first, _last_run(bench, home, folder)]


def _tied(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Let a file arrive after a run with the time of one that was read, or an earlier one."""
    # S3 counts whole seconds, and dates an upload of several parts by its start.
    *earlier, last = wanted.of.sources
    home = home_without(bench, wanted.of.sources, folder)
    let_arrive(bench, home, earlier)
    newest = max(int(home.local_path(uri).stat().st_mtime) for uri in earlier)
    for uri in earlier:
        os.utime(home.local_path(uri), (newest, newest))
    trials = [bench.run(home)]
    let_arrive(bench, home, [last])
    at = newest - UPLOAD_S * wanted.experiment.is_dated_earlier
    os.utime(home.local_path(last), (at, at))
    return home, [*trials, _last_run(bench, home, folder)]


def _twice(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    home = linked_home(wanted.of.outcome.home, folder)
    uri = wanted.of.sources[-1]
    file = home.local_path(uri)
    name, *suffixes = file.name.split(".")  # after the file, in the order of names
    arrive(bench.base.local_path(uri), file.with_name(".".join((f"{name}_again", *suffixes))))
    return home, [_last_run(bench, home, folder)]


def _replaced(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    home = linked_home(wanted.of.outcome.home, folder)
    uri = wanted.of.sources[-1]
    arrive(bench.base.local_path(uri), home.local_path(uri))
    return home, [_last_run(bench, home, folder)]


def _rewind(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Take bookmarks, watermarks and catalog back to before the run, and run again."""
    # Other tables of DynamoDB stay, as embedded databases do: `rewind` does not know them.
    # Folders to which the run has only added files are cleared of these, as by `rewind --clear`.
    home = linked_home(wanted.of.outcome.home, folder)
    put_databases(bench.base, home, [one for one in DATABASES if one != TABLES])
    if (home.root / TABLES).is_file():
        put_watermarks(bench.base, home)
    marks = hidden_marks(wanted.of.outcome.home)  # a rewind does not know these either
    before, after = data_files(bench.base, marks), data_files(home, marks)
    cleared = tuple(
        f"s3://{folder}"
        for folder in (f"{target.folder}/" for target in changed_targets(before, after))
        if all(after.get(path) == before[path] for path in before if path.startswith(folder))
    )
    for operation in wanted.of.operations:
        place = operation.places[-1]
        if operation.kind in (PUT, COPY) and place.startswith(cleared) and place not in marks:
            file = home.local_path(place)
            file.unlink(missing_ok=True)
            emptied = file.parent  # the buckets stay
            while emptied.parent != home.lake and emptied.is_dir() and not any(emptied.iterdir()):
                emptied.rmdir()
                emptied = emptied.parent
    return home, [_last_run(bench, home, folder)]


def _together(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    home = linked_home(bench.base, folder)
    return home, [bench.run(home, bench.subject.both)]


def _executors(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    """Kill an executor; run again, as a retry does, if the run fails by it."""
    home = linked_home(bench.base, folder)
    record_operations(home)
    lose_executor(home, wanted.experiment.moment)
    trials = [bench.run(home)]
    if trials[0].failure and has_lost(home):
        trials.append(bench.run(home))
    return home, trials


def _versions(bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
    home = linked_home(bench.base, folder)
    with second_jvm(home, bench.jvms) as jvms:
        on_second_jvm = replace(bench, jvms=jvms)
        return home, [on_second_jvm.run(home, bench.subject.newer, bench.subject.newest)]


_PREPARED: dict[str, Callable[[Bench, Wanted, Path], tuple[Home, list[Trial]]]] = {
    "crash": _crash,
    "error": _error,
    "again": _again,
    "order": _order,
    "meanwhile": _meanwhile,
    "reading": _reading,
    "tied": _tied,
    "twice": _twice,
    "replaced": _replaced,
    "rewind": _rewind,
    "together": _together,
    "executors": _executors,
    "versions": _versions,
}
