"""Skipping what would find nothing new leaves the same data as running it: random pipelines.

A model of a lake in two copies. In one every job of a workflow run runs, in the other those are
skipped that `reason_to_run` has no reason for. The bookmarks are real ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from tidemark.glue_service.workflows.nothing_new import Inputs, LastRun, reason_to_run
from tidemark.local_state.bookmarks.files import FileVersion, Limits, SourceState, select_new_files

ENABLE = "job-bookmark-enable"
LANDINGS = ("landing/a", "landing/b")
STEP_MS = 60_000


@dataclass(frozen=True)
class Job:
    """A job: what it reads by its bookmark, what in full beside that, and how it writes."""

    name: str
    bookmarked: tuple[str, ...]
    lookups: tuple[str, ...]
    appends: bool
    most_files: int | None

    @property
    def target(self) -> str:
        return f"out/{self.name}"


@dataclass
class Lake:
    """One copy of the data, and what is recorded of jobs; a file is its time and its rows."""

    skips: bool
    files: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)
    states: dict[str, dict[str, SourceState]] = field(default_factory=dict)
    after: dict[str, list[dict[str, SourceState]]] = field(default_factory=dict)
    last: dict[str, LastRun] = field(default_factory=dict)
    skipped: int = 0

    def listing(self, dataset: str) -> list[FileVersion]:
        found = self.files.get(dataset, {}).items()
        return [FileVersion(name, at_ms, len(rows)) for name, (at_ms, rows) in found]

    def contents(self) -> dict[str, dict[str, str]]:
        return {
            dataset: {name: rows for name, (_, rows) in files.items()}
            for dataset, files in self.files.items()
            if files
        }

    def new_files(self, job: Job, now_ms: int) -> Mapping[str, tuple[FileVersion, ...]]:
        return {name: it.files for name, it in self._selected(job, now_ms).items()}

    def _selected(self, job: Job, now_ms: int):
        states, limits = self.states.get(job.name, {}), Limits(bounded_files=job.most_files)
        return {
            name: select_new_files(self.listing(name), states.get(name), now_ms, limits)
            for name in job.bookmarked
        }

    def inputs(self, job: Job, version: int) -> Inputs:
        declared = (*job.bookmarked, *job.lookups)
        return Inputs({d: repr(sorted(self.listing(d))) for d in declared}, {}, {"c": str(version)})

    def run(self, job: Job, now_ms: int, version: int, fails: bool) -> bool:
        """Run a job, or skip it; return whether it SUCCEEDED."""
        is_success = self._run(job, now_ms, version, fails)
        self.after.setdefault(job.name, []).append(self.states.get(job.name, {}))
        return is_success

    def _run(self, job: Job, now_ms: int, version: int, fails: bool) -> bool:
        found = self.inputs(job, version)
        if self.skips and (last := self.last.get(job.name)):
            left = self.new_files(job, now_ms)
            doubts = tuple(name for name, files in left.items() if files)
            if not reason_to_run(ENABLE, replace(last, doubts=doubts), found):
                self.skipped += 1
                return True
        selected = self._selected(job, now_ms)
        self._write(job, selected, now_ms, version)
        if fails and any(it.files for it in selected.values()):
            self.last[job.name] = LastRun("FAILED", found, is_in_force=False)
            return False
        self.states[job.name] = {name: it.next_state for name, it in selected.items()}
        self.last[job.name] = LastRun("SUCCEEDED", found, is_in_force=True, read=job.bookmarked)
        return True

    def _write(self, job: Job, selected, now_ms: int, version: int) -> None:
        """Write for each new file a file: of its rows, or of all that is there for its name."""
        target = self.files.setdefault(job.target, {})
        lookups = [self.contents().get(name, {}) for name in job.lookups]
        for name, it in selected.items():
            for file in it.files:
                rows = self.files[name][file.path][1]
                about = f"{version}:{rows}:{sorted(map(str, lookups))}"
                key = f"{name}/{file.path}".replace("/", "_")
                if job.appends:
                    count = sum(it.startswith(f"{key}#") for it in target)
                    target[f"{key}#{count}"] = (now_ms, about)
                else:
                    target[key] = (now_ms, about)

    def rewind(self, job: Job, back: int) -> None:
        """Put the bookmark back to what it was after one of the last runs."""
        after = self.after.get(job.name, [])
        if back < len(after):
            self.states[job.name] = after[-1 - back]
            self.last[job.name] = replace(self.last[job.name], is_in_force=False)


@st.composite
def pipelines(draw):
    """Return up to four jobs, each of which reads landings or what earlier jobs write."""
    jobs: list[Job] = []
    for number in range(draw(st.integers(1, 4))):
        sources = [*LANDINGS, *(job.target for job in jobs)]
        chosen = draw(st.lists(st.sampled_from(sources), min_size=1, max_size=3, unique=True))
        cut = draw(st.integers(1, len(chosen)))
        most = draw(st.sampled_from([None, None, 1]))
        appends = draw(st.booleans())
        jobs.append(Job(f"j{number}", tuple(chosen[:cut]), tuple(chosen[cut:]), appends, most))
    return jobs


FILES = st.tuples(st.sampled_from(LANDINGS), st.sampled_from("xyz"))
STEPS = st.one_of(
    st.tuples(st.just("put"), FILES, st.text("01", max_size=2)),
    st.tuples(st.just("delete"), FILES, st.none()),
    st.tuples(st.just("run"), st.none(), st.none()),
    st.tuples(st.just("run"), st.integers(0, 3), st.none()),
    st.tuples(st.just("rewind"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("deploy"), st.none(), st.none()),
)
RUN = ("run", None, None)


def play(jobs, steps, lakes):
    """Do the same in both lakes; compare them after each run of the workflow."""
    version = 0
    for number, (kind, about, rows) in enumerate(steps, 1):
        now_ms = number * STEP_MS
        for lake in lakes:
            if kind == "put":
                lake.files.setdefault(about[0], {})[about[1]] = (now_ms, rows)
            elif kind == "delete":
                lake.files.get(about[0], {}).pop(about[1], None)
            elif kind == "rewind" and about < len(jobs):
                lake.rewind(jobs[about], rows)
            elif kind == "run":
                run_all(lake, jobs, now_ms, version, about)
        version += kind == "deploy"
        assert lakes[0].contents() == lakes[1].contents()


def run_all(lake, jobs, now_ms, version, failing):
    """Run the jobs in order, each a moment later; what reads of one that failed does not run."""
    failed: set[str] = set()
    for number, job in enumerate(jobs):
        is_blocked = bool(failed & {*job.bookmarked, *job.lookups})
        if is_blocked or not lake.run(job, now_ms + number, version, fails=number == failing):
            failed.add(job.target)


@given(pipelines(), st.lists(STEPS, max_size=20))
def test_skipping_leaves_the_same_data_as_running(jobs, steps):
    play(jobs, [*steps, RUN, RUN], (Lake(skips=False), Lake(skips=True)))


def test_the_model_skips_and_a_decision_that_skips_too_much_is_found(monkeypatch):
    job = Job("j0", ("landing/a",), (), appends=True, most_files=1)
    steps = [
        ("put", ("landing/a", "x"), "1"),
        ("put", ("landing/a", "y"), "1"),
        *[RUN] * 4,
    ]
    lakes = Lake(skips=False), Lake(skips=True)

    play([job], steps, lakes)

    assert lakes[1].skipped == 2  # both files are read by then, one a run
    monkeypatch.setattr(f"{__name__}.reason_to_run", lambda *_: "")
    try:
        play([job], steps, (Lake(skips=False), Lake(skips=True)))
    except AssertionError:
        return
    raise AssertionError("two lakes that differ count as equal")
