"""What a bookmarked job promises, asserted by running it: nothing lost, nothing read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tidemark.testing.current import current_test
from tidemark.testing.kills import Kill
from tidemark.testing.lake_files import Row
from tidemark.testing.run import GlueRun

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest
    from tidemark.testing.lake import Lake

LATE_MINUTES = 5
MOST_SHOWN = 5
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
    """Assert that runs of a job read each file once, whatever happens between them.

    The second run reads nothing; a new file is read alone; a run that is killed before
    `Job.commit`, or right after, loses no row and adds no other; a file that arrives late, with an
    earlier time than files that were read, is found. The job is run about ten times.

    Args:
        job: a script (with `arguments`), a run, ``glue_job.define(…)``, or a function that runs it.
        new: puts one new file; without, a copy of a file that the first run read.
        late: puts one file with a time some minutes ago; without, likewise.
        target: where the job writes; without, the folders that its runs write to.
        key: columns that tell rows apart: with them, keys of the target are compared, and
            without, rows. A repeated run may write rows again, as appending jobs do.
        **arguments: of a script.

    Raises:
        AssertionError: a promise is broken; the text says which.
    """
    __tracebackhide__ = True
    lake, run = _begun(job, arguments)
    first = _succeeded(run(), "the first run")
    if not first.sources and first.files_read:
        _fail(
            f"the first run read {int(first.files_read)} files without its bookmark: give the "
            "source a transformation_ctx, call Job.init with what getResolvedOptions returned, and "
            "run it with bookmark='enable'"
        )
    if not first.bookmarked:
        _fail(
            "the first run read no file through its bookmark, so nothing can be said: put a file "
            "where the job reads before; spark.read knows no bookmark"
        )
    files = _Files(lake, first.bookmarked.names)
    _reads_nothing(_succeeded(run(), "the second run"), "the second run")
    _reads(run, files.added(new), "the run after a new file")
    for kill in ("before commit", "after commit"):
        _survives(run, files.added(new), kill)
    name = files.added(late, minutes_ago=LATE_MINUTES)
    _reads(run, name, f"the run after a file that is {LATE_MINUTES} minutes late")
    _reads_nothing(_succeeded(run(), "the last run"), "the last run")
    targets = _targets(target)
    if targets:
        keys = _names(key)
        found, wanted = _recomputed(lake, run, targets)
        compare(_by_key(found, keys), _by_key(wanted, keys), "the kills", at_most=bool(keys))


def assert_same_as_recomputed(
    job: Any,
    target: str | Sequence[str] | None = None,
    *,
    key: str | Sequence[str] | None = None,
    recompute: Rows | None = None,
    repeats: bool = False,
    **arguments: Any,
) -> None:
    """Assert that what the runs so far left equals one run over everything that landed.

    Args:
        job: as for `assert_incremental`; a place of the lake, if `recompute` is given.
        target: where the job writes; without, the folders that its runs have written to.
        key: columns that tell rows apart: rows are compared by these alone.
        recompute: the rows that should be there, or a function that returns them; without, the job
            runs once more, under another name and into an empty target, which is then put back.
        repeats: whether a row may be there more often than in the recomputation, as jobs that
            append leave it after a kill.
        **arguments: of a script.

    Raises:
        AssertionError: a row is missing, or should not be there.
    """
    __tracebackhide__ = True
    keys = _names(key)
    if recompute is not None:
        lake = _lake(current_test())
        places = _names(target) or ([str(job)] if isinstance(job, str) else _targets(None))
        found = [row for place in places for row in lake.rows(place)]
        wanted = list(recompute() if callable(recompute) else recompute)
    else:
        lake, run = _begun(job, arguments)
        if not current_test().runs:
            _succeeded(run(), "the first run")
        places = _targets(target)
        if not places:
            _fail("no run of this test has written anything: give target=, such as 'raw/orders/'")
        found, wanted = _recomputed(lake, run, places)
    compare(_by_key(found, keys), _by_key(wanted, keys), "the runs", at_most=not repeats)


def assert_idempotent(
    job: Any, target: str | Sequence[str] | None = None, **arguments: Any
) -> None:
    """Assert that a job that runs again over the same input leaves the same rows, each as often.

    The bookmark is put back between the two runs, as a retry after a kill finds it.

    Raises:
        AssertionError: rows came, went or were doubled; an appending job does that.
    """
    __tracebackhide__ = True
    lake, run = _begun(job, arguments)
    test = current_test()
    kept = _bookmarks(test)
    first = _succeeded(run(), "the first run")
    if not first.files_read:  # nothing was new: all that landed is the input
        kept = []
        _forget(test, first.job_name)
        first = _succeeded(run(), "the run over everything")
    places = _targets(target)
    if not places:
        _fail("the job has written nothing: put what it reads, or give target=, such as 'raw/'")
    before = [row for place in places for row in lake.rows(place)]
    _put_back(test, first, kept)
    _succeeded(run(), "the same run again")
    after = [row for place in places for row in lake.rows(place)]
    compare(_by_key(after, ()), _by_key(before, ()), "running it again", at_most=True)


def compare(found: Counter[str], wanted: Counter[str], what: str, *, at_most: bool) -> None:
    """Raise unless two collections have the same rows.

    Args:
        found: how often each row is there.
        wanted: how often it should be.
        what: brought them there.
        at_most: whether a row may not be there more often than it should.

    Raises:
        AssertionError: they have not.
    """
    __tracebackhide__ = True
    extra = found - wanted
    if not at_most:
        extra = Counter({row: times for row, times in extra.items() if row not in wanted})
    missing = wanted - found
    if missing or extra:
        told = [
            f"{sum(rows.values())} rows {text}: {_shown(rows)}"
            for rows, text in ((missing, "are missing"), (extra, "should not be there"))
            if rows
        ]
        _fail(f"after {what}, {'; '.join(told)}")


def _shown(rows: Counter[str]) -> str:
    names = sorted(rows)
    more = f", and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def _fail(text: str) -> None:
    __tracebackhide__ = True
    raise AssertionError(text)


def _begun(job: Any, arguments: dict[str, Any]) -> tuple[Lake, Runner]:
    test = current_test()
    return _lake(test), _runner(job, test, arguments)


def _lake(test: GlueTest) -> Lake:
    from tidemark.testing.lake import Lake

    return Lake(test.home, test.now_ms, test.spark)


def _runner(job: Any, test: GlueTest, arguments: dict[str, Any]) -> Runner:
    if isinstance(job, GlueRun):
        return job.repeat
    if isinstance(job, str | Path):
        from tidemark.testing.glue_job import GlueJob

        return GlueJob(test, _lake(test)).define(job, **arguments)
    if not callable(job):
        raise TypeError(
            f"{job!r} is no job; give a script with its arguments, a run of it, "
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


class _Files:
    """The source that a job reads: new files are copies of one that it has read."""

    def __init__(self, lake: Lake, names: Sequence[str]) -> None:
        self._lake = lake
        self._model = names[-1]

    def added(self, put: Callable[[], object] | None, minutes_ago: float = 0) -> list[str]:
        """Put a file; return the names of what is new."""
        before = set(self._lake.names())
        if put is not None:
            put()
        else:
            folder, _, name = self._model.rpartition("/")
            stem, dot, suffix = name.partition(".")
            copies = (f"{folder}/{stem}-again-{number}{dot}{suffix}" for number in count(1))
            place = next(place for place in copies if not self._lake.exists(place))
            self._lake.put(place, self._lake.bytes(self._model), minutes_ago)
        if added := sorted(set(self._lake.names()) - before):
            return added
        raise ValueError(
            "the function for new files put none: let it call lake.put with a new name"
        )


def _succeeded(run: GlueRun, which: str) -> GlueRun:
    __tracebackhide__ = True
    if not run.is_success:
        _fail(f"{which} {run.state}: {run.error}")
    return run


def _reads_nothing(run: GlueRun, which: str) -> None:
    __tracebackhide__ = True
    if not run.bookmarked:
        return
    hint = "" if run.arguments.get("--job-bookmark-option") else ": run it with bookmark='enable'"
    if any("Job.commit" in text for text in run.warnings):
        hint = ": the script never called Job.commit"
    _fail(f"{which} reads {run.bookmarked!r} again, and nothing is new{hint}")


def _reads(run: Runner, names: list[str], which: str) -> GlueRun:
    __tracebackhide__ = True
    done = _succeeded(run(), which)
    if done.bookmarked != names:
        read = repr(done.bookmarked) if done.bookmarked else "nothing"
        _fail(f"{which} reads {read}, and what is new is {', '.join(names)}")
    return done


def _survives(run: Runner, names: list[str], kill: Kill) -> None:
    __tracebackhide__ = True
    test = current_test()
    test.kill = kill
    killed = run()
    test.kill = None
    if killed.is_success:
        _fail("the script never calls Job.commit: its bookmark does not move")
    if kill == "before commit":
        _reads(run, names, "the run after one that was killed before Job.commit")
    _reads_nothing(_succeeded(run(), "the next run"), f"the run after a kill {kill}")


def _targets(target: str | Sequence[str] | None) -> list[str]:
    """Return where jobs of this test write: what is given, or folders among their arguments."""
    if target is not None:
        return _names(target)
    found = set()
    for run in current_test().runs:
        for value in run.arguments.values():
            place = value.partition("://")[2].rstrip("/")
            is_written = any(name.startswith(f"{place}/") for name in run.files_written)
            if place and is_written and not any(n.startswith(f"{place}/") for n in run.files_read):
                found.add(f"{place}/")
    return sorted(
        place for place in found if not any(place != it and place.startswith(it) for it in found)
    )


def _recomputed(lake: Lake, run: Runner, places: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Return the rows that are there, and those of one run over everything, into empty targets."""
    test = current_test()
    found = [row for place in places for row in lake.rows(place)]
    folders = [(place, lake.path(place)) for place in places]
    kept = [(place, it, it.with_name(f"_{it.name}.kept")) for place, it in folders]
    last = test.runs[-1]
    bookmarks = _bookmarks(test)
    try:
        for _, folder, aside in kept:
            if folder.exists():
                folder.rename(aside)
        _forget(test, last.job_name)
        _succeeded(run(), "the run over everything")
        wanted = [row for place in places for row in lake.rows(place)]
    finally:
        for place, folder, aside in kept:
            lake.delete(place)
            if aside.exists():
                if folder.exists():
                    folder.rmdir()
                aside.rename(folder)
        _put_back(test, last, bookmarks)
    return found, wanted


def _bookmarks(test: GlueTest) -> list[Any]:
    from tidemark.local_glue.store.database import Store

    with Store(test.home.database) as store:
        return store.query("SELECT * FROM bookmark")


def _forget(test: GlueTest, job_name: str) -> None:
    from tidemark.local_glue.store.database import Store

    with Store(test.home.database) as store, store.transaction():
        store.query("DELETE FROM bookmark WHERE job_name = ?", (job_name,))


def _put_back(test: GlueTest, run: GlueRun, rows: Sequence[Any]) -> None:
    """Make the bookmark of a job what it was."""
    from tidemark.local_glue.store.database import Store

    _forget(test, run.job_name)
    with Store(test.home.database) as store, store.transaction():
        for row in rows:
            if row["job_name"] == run.job_name:
                marks = ", ".join("?" for _ in tuple(row))
                store.query(f"INSERT INTO bookmark VALUES ({marks})", tuple(row))  # noqa: S608


def _names(given: str | Sequence[str] | None) -> list[str]:
    if given is None:
        return []
    return [given] if isinstance(given, str) else list(given)


def _by_key(rows: Iterable[Any], keys: Sequence[str]) -> Counter[str]:
    from tidemark.testing.lake_files import as_rows

    plain = as_rows(list(rows))
    for name in keys:
        if plain and not any(name in row for row in plain):
            raise ValueError(f"key {name!r} is no column; the rows have {', '.join(plain[0])}")
    return Counter(str({name: row.get(name) for name in (keys or sorted(row))}) for row in plain)
