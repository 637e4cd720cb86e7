"""The ledger beside a model of a job: files land, runs load, fill, die and are rewound."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from tests.tidemark.operate.backfill.test_evidence import ran
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead
from tidemark.operate.backfill.contract import Fillable
from tidemark.operate.backfill.evidence import BookmarkReach, JobFacts, known_of
from tidemark.operate.backfill.ledger import Interval, RangeState, ledger
from tidemark.operate.backfill.plan import plan
from tidemark.operate.backfill.ranges import Span, Unit
from tidemark.operate.job_runs import Run

LANDING = "s3://landing/orders/"
JOB = Fillable("orders", is_declared=True, has_bookmark=True, source=LANDING)
FIRST = date(2013, 1, 1).toordinal()
DAYS = 4
ALL = Span(FIRST, FIRST + DAYS)
DAY = st.integers(0, DAYS - 1).map(lambda it: FIRST + it)
FILE = st.tuples(DAY, st.sampled_from("ab"))
WHOLE, BEFORE_COMMIT, AFTER_COMMIT = "whole", "dies before its commit", "dies after its commit"
END = st.sampled_from([WHOLE, WHOLE, BEFORE_COMMIT, AFTER_COMMIT])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("land"), FILE),
        st.tuples(st.just("load"), END, st.none() | FILE),
        st.tuples(st.just("fill"), DAY, st.integers(1, DAYS), END, st.none() | FILE),
        st.tuples(st.just("rewind"), st.integers(0, 5)),
    ),
    max_size=14,
)


class World:
    """A source, a job that loads it by a bookmark, and what Glue and the checkpoints tell."""

    def __init__(self) -> None:
        self.now = 1000
        self.files: dict[tuple[int, str], int] = {}
        self.loaded: set[tuple[tuple[int, str], int]] = set()  # versions of files, for good
        self.runs: list[Run] = []
        self.checkpoints: list[Checkpoint] = []
        self.bookmarks = [("", 0)]
        self.bookmark = ("", 0)
        self.was_rewound = False

    def land(self, file: tuple[int, str]) -> None:
        self.now += 10
        self.files[file] = self.now

    def load(self, end: str, during: tuple[int, str] | None) -> None:
        after = {"kind": "files", "until_ms": self.now + 10}
        chosen = {it for it in self.files.items() if it[1] > self.bookmark[1]}
        run_id = self._run({}, chosen, end, during, DatasetRead(LANDING, "landed", after=after))
        if end != BEFORE_COMMIT:
            self.loaded |= chosen
            self.bookmark = (run_id, after["until_ms"])
            self.bookmarks.append(self.bookmark)

    def fill(self, low: int, size: int, end: str, during: tuple[int, str] | None) -> None:
        part = Span(low, low + size)
        chosen = {it for it in self.files.items() if part.low <= it[0][0] < part.high}
        read = DatasetRead(LANDING, "landed")
        self._run(JOB.arguments(part, Unit.DAY), chosen, end, during, read)
        if end == WHOLE:
            self.loaded |= chosen

    def rewind(self, number: int) -> None:
        self.bookmark = self.bookmarks[number % len(self.bookmarks)]
        self.was_rewound = True

    def _run(self, arguments, chosen, end, during, read) -> str:
        self.now += 10
        started, run_id = self.now, f"jr_{len(self.runs)}"
        if during is not None:
            self.land(during)
        self.now += 10
        self.runs.append(ran(run_id, "SUCCEEDED" if end == WHOLE else "FAILED", started, arguments))
        if end != BEFORE_COMMIT:
            self.checkpoints.append(
                Checkpoint("orders", run_id, self.now, read=(read,), arguments=arguments)
            )
        return run_id

    def ledger(self) -> list[Interval]:
        facts = JobFacts(JOB, self.runs, self.checkpoints, BookmarkReach(self.bookmark[0]))
        listing = [
            (f"dt={date.fromordinal(day)}/{name}", modified)
            for (day, name), modified in self.files.items()
        ]
        return ledger(ALL, known_of(facts, {LANDING: listing}).evidence)

    def is_loaded(self, day: int) -> bool:
        return all(it in self.loaded for it in self.files.items() if it[0][0] == day)

    def do(self, steps) -> None:
        for name, *values in steps:
            getattr(self, name)(*values)


def by_day(intervals: list[Interval]) -> dict[int, Interval]:
    return {day: it for it in intervals for day in range(it.range.low, it.range.high)}


@given(STEPS)
def test_done_is_what_was_loaded_whatever_happened_and_nothing_else_but_after_a_rewind(steps):
    world = World()
    world.do(steps)

    for day, found in by_day(world.ledger()).items():
        has_files = any(it[0] == day for it in world.files)
        assert found.is_empty is not has_files
        if found.state is RangeState.DONE:
            assert world.is_loaded(day)
        elif has_files and not world.was_rewound:
            assert not world.is_loaded(day)


@given(STEPS)
def test_running_what_is_missing_leaves_nothing_missing_and_the_bookmark_where_it_was(steps):
    world = World()
    world.do(steps)
    before = world.bookmark

    parts = plan("orders", Unit.DAY, ALL, 2, world.ledger(), only_missing=True).parts
    for part in parts:
        world.fill(part.low, part.size, WHOLE, None)

    assert world.bookmark == before
    for day, found in by_day(world.ledger()).items():
        assert found.is_empty or found.state is RangeState.DONE
        assert world.is_loaded(day)
    assert plan("orders", Unit.DAY, ALL, 2, world.ledger(), only_missing=True).parts == ()
