"""Asserts the promises of a bookmarked job by running it: nothing lost, nothing read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.model.messages import plural
from tidemark.testing.comparison import compare, fail, names_of
from tidemark.testing.kills import KILLED, Kill
from tidemark.testing.positions import Positions, positions_of, put_positions, recomputed, rows_of
from tidemark.testing.run import GlueRun
from tidemark.testing.state_of_test import current_test
from tidemark.testing.targets import folders_written, targets_of

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest
    from tidemark.testing.lake import Lake

LATE_MINUTES = 5
Runner: TypeAlias = Callable[[], GlueRun]
Rows: TypeAlias = Iterable[Any] | Callable[[], Iterable[Any]]


def assert_incremental(
    job: Any,
    *,
    new: Callable[[], object] | None = None,
    late: Callable[[], object] | None = None,
    target: str | Sequence[str] | None = None,
    key: str | Sequence[str] | None = None,
    **arguments: Any,
) -> None:
    """Assert that runs of a job read each file once, even after kills and late files.

    The second run reads nothing and changes no row; a new file is read alone; a run that is killed
    before `Job.commit`, or right after, loses no row and adds no other; a file that arrives late,
    with an earlier time than files that were read, is found. The job is run about ten times.

    Args:
        job: a script (with `arguments`), a run, ``glue_job.define(…)``, or a function that runs it.
        new: a function that puts one new file; without, a copy of a file that the first run read.
        late: a function that puts one file with a time some minutes ago; without, likewise.
        target: the folder of the job's output; without, the folders that its runs write to.
        key: columns that identify rows: only they are compared, and no key may be repeated.
            Without, whole rows are compared, and the run after a kill may write rows again, as
            appending jobs do.
        **arguments: of a script.

    Raises:
        AssertionError: a promise is broken; the message says which.

    Example:
        >>> _ = lake.put("landing/orders/1.json", [{"id": 1}], minutes_ago=5)
        >>> assert_incremental("copy_orders.py", bookmark="enable", **paths)
    """
    __tracebackhide__ = True
    lake, run = _begun(job, arguments)
    first = _succeeded(run(), "the first run")
    if isinstance(job, GlueRun) and not first.files_read:
        first = _succeeded(job, "the first run")  # which has read all there is
    if not first.sources and first.files_read:
        fail(
            f"the first run read {plural(int(first.files_read), 'file')} without its bookmark: "
            "give the source a transformation_ctx, call Job.init with what getResolvedOptions "
            "returned, and run it with bookmark='enable'"
        )
    if not first.bookmarked:
        fail(
            "the first run read no file through its bookmark, so nothing can be said: put a file "
            "where the job reads before; spark.read has no bookmark"
        )
    model = first.bookmarked.names[-1] if first.bookmarked.names else ""
    added = partial(_added, lake, model)
    keys, targets = names_of(key), targets_of(lake, target)
    before = rows_of(lake, targets)
    _reads_nothing(_succeeded(run(), "the second run"), "the second run")
    rows = rows_of(lake, targets)
    compare(rows, before, "a run with nothing new", keys=keys, at_most=True)
    usual = _reads(run, added(new), "the run after a new file")
    folders = folders_written(first, targets) & folders_written(usual, targets)
    for kill in ("before commit", "after commit"):
        _survives(run, added(new), kill, folders)
    name = added(late, minutes_ago=LATE_MINUTES)
    _reads(run, name, f"the run after a file that is {LATE_MINUTES} minutes late")
    _reads_nothing(_succeeded(run(), "the last run"), "the last run")
    rows = rows_of(lake, targets)
    wanted = recomputed(lake, run, targets) if targets else {}
    compare(rows, wanted, "the kills", keys=keys, at_most=bool(keys))


def assert_same_as_recomputed(
    job: Any,
    target: str | Sequence[str] | None = None,
    *,
    key: str | Sequence[str] | None = None,
    recompute: Rows | None = None,
    repeats: bool = False,
    **arguments: Any,
) -> None:
    """Assert that the output of the runs so far equals one run over everything that landed.

    Args:
        job: as for `assert_incremental`; a place of the lake, if `recompute` is given.
        target: the folder of the job's output; without, the folders that its runs have written to.
        key: columns that identify rows: only these are compared.
        recompute: the rows that should be there, or a function that returns them; without, the job
            runs once more, without its bookmark and watermarks and into an empty target; all of
            that is undone then.
        repeats: whether rows may be repeated, as jobs that append leave them after a kill.
        **arguments: of a script.

    Raises:
        AssertionError: a row is missing, or should not be there.

    Example:
        >>> _ = lake.put("landing/orders/1.json", [{"id": 1}], minutes_ago=5)
        >>> run = glue_job("copy_orders.py", bookmark="enable", **paths)
        >>> assert_same_as_recomputed(run, "raw/orders/")
    """
    __tracebackhide__ = True
    keys = names_of(key)
    if recompute is not None:
        lake = current_test().lake
        places = targets_of(lake, target if target or not isinstance(job, str) else job)
        of_all = ", ".join(places)
        rows = {of_all: [row for place in places for row in lake.rows(place)]}
        wanted = {of_all: list(recompute() if callable(recompute) else recompute)}
    else:
        lake, run = _begun(job, arguments)
        if not current_test().runs:
            _succeeded(run(), "the first run")
        places = targets_of(lake, target)
        if not places:
            fail("no run of this test has written anything: give target=, such as 'raw/orders/'")
        rows = rows_of(lake, places)
        wanted = recomputed(lake, run, places)
    compare(rows, wanted, "the runs", keys=keys, at_most=not repeats)


def assert_idempotent(
    job: Any, target: str | Sequence[str] | None = None, **arguments: Any
) -> None:
    """Assert that a job that runs again over the same input leaves the same rows, equally often.

    Its bookmark and watermarks are restored between the two runs, as for a retry after a kill.

    Raises:
        AssertionError: rows appeared, disappeared or were doubled, as by an appending job.

    Example:
        >>> _ = lake.put("landing/orders/1.json", [{"id": 1}], minutes_ago=5)
        >>> assert_idempotent("copy_orders.py", bookmark="enable", **paths)  # it appends
        Traceback (most recent call last):
        AssertionError: ...
    """
    __tracebackhide__ = True
    lake, run = _begun(job, arguments)
    test = current_test()
    positions = positions_of(test)
    first = _succeeded(run(), "the first run")
    if not first.files_read:  # nothing was new: all that landed is the input
        positions = Positions()
        put_positions(test, first.job_name, positions)
        first = _succeeded(run(), "the run over everything")
    places = targets_of(lake, target)
    if not places:
        fail("the job has written nothing: put its input, or give target=, such as 'raw/'")
    before = rows_of(lake, places)
    put_positions(test, first.job_name, positions)
    _succeeded(run(), "the same run again")
    compare(rows_of(lake, places), before, "running it again", at_most=True)


def _begun(job: Any, arguments: dict[str, Any]) -> tuple[Lake, Runner]:
    test = current_test()
    return test.lake, _runner(job, test, arguments)


def _runner(job: Any, test: GlueTest, arguments: dict[str, Any]) -> Runner:
    if isinstance(job, GlueRun):
        return job.repeat
    if isinstance(job, str | Path):
        from tidemark.testing.glue_job import GlueJob

        return GlueJob(test, test.lake).define(job, **arguments)
    if not callable(job):
        raise TypeError(
            f"{job!r} is not a job; give a script with its arguments, a run of it, "
            "glue_job.define(…), or a function that runs it"
        )

    def call() -> GlueRun:
        known = len(test.runs)
        returned = job(**arguments)
        if isinstance(returned, GlueRun):
            return returned
        if len(test.runs) == known:
            raise TypeError(f"{job!r} ran no job: let it call glue_job(…)")
        return test.runs[-1]

    return call


def _added(
    lake: Lake, model: str, put: Callable[[], object] | None, minutes_ago: float = 0
) -> list[str]:
    """Put a new file, by default a copy of one that the job has read; return the new names."""
    before = set(lake.names())
    if put is not None:
        put()
    elif not lake.exists(model):
        fail(
            f"{model}, which the first run read, no longer exists, so no copy of it can be new: "
            "give new= and late=, functions that put one file each"
        )
    else:
        folder, _, name = model.rpartition("/")
        stem, dot, suffix = name.partition(".")
        copies = (f"{folder}/{stem}-again-{number}{dot}{suffix}" for number in count(1))
        place = next(place for place in copies if not lake.exists(place))
        lake.put(place, lake.bytes(model), minutes_ago)
    if added := sorted(set(lake.names()) - before):
        return added
    raise ValueError("the function for new files put none: let it call lake.put with a new name")


def _succeeded(run: GlueRun, which: str) -> GlueRun:
    __tracebackhide__ = True
    if not run.is_success:
        fail(f"{which} {run.state}: {run.error}")
    return run


def _reads_nothing(run: GlueRun, which: str) -> None:
    __tracebackhide__ = True
    if not run.bookmarked:
        return
    hint = "" if run.arguments.get("--job-bookmark-option") else ": run it with bookmark='enable'"
    if any("Job.commit" in text for text in run.warnings):
        hint = ": the script never called Job.commit"
    fail(f"{which} reads {run.bookmarked!r} again, and nothing is new{hint}")


def _reads(run: Runner, names: list[str], which: str) -> GlueRun:
    __tracebackhide__ = True
    done = _succeeded(run(), which)
    if done.bookmarked != names:
        read = repr(done.bookmarked) if done.bookmarked else "nothing"
        fail(f"{which} reads {read}, and the new files are {', '.join(names)}")
    return done


def _survives(run: Runner, names: list[str], kill: Kill, folders: set[str]) -> None:
    """Fail if a run that is killed around its commit loses data in the folders it writes."""
    __tracebackhide__ = True
    test = current_test()
    test.kill = kill
    killed = run()
    test.kill = None
    if killed.is_success:
        fail("the script never calls Job.commit: its bookmark does not move")
    if killed.error != KILLED:
        fail(f"the run that was to be killed {kill} {killed.state}: {killed.error}")
    lost = folders - folders_written(killed, ())
    if kill == "after commit" and lost:
        fail(
            f"a run that was killed right after Job.commit has not written to "
            f"{', '.join(sorted(lost))}, where earlier ones wrote, so its input is lost there: "
            "call Job.commit last; target= names the folders to compare"
        )
    if kill == "before commit":
        _reads(run, names, "the run after one that was killed before Job.commit")
    _reads_nothing(_succeeded(run(), "the next run"), f"the run after a kill {kill}")
