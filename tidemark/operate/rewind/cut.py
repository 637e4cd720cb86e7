"""The target of each state: a run, a moment, or the point before data that is read again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.errors import UsageError
from tidemark.operate.rewind.datasets import Datasets
from tidemark.operate.rewind.facts import COMMIT, Move, RewindFacts, Track


@dataclass(frozen=True)
class RewindTo:
    """Where to: one of a run, a moment, the beginning.

    Attributes:
        run_id: the run at whose end its job is to be.
        at_ms: epoch milliseconds: as things were then.
        text: the option's value.
    """

    text: str
    run_id: str = ""
    at_ms: int | None = None

    @property
    def is_beginning(self) -> bool:
        """Whether everything is to be read again."""
        return not self.run_id and self.at_ms is None


@dataclass(frozen=True)
class Cut:
    """Where one state goes back to.

    Attributes:
        track: the state.
        to: the commit whose position is to hold; None for the beginning.
        undone: the commits in force that are read again, newest first.
        is_known: whether ``undone`` is complete; not so if the state was rewound since.
    """

    track: Track
    to: Move | None
    undone: Sequence[Move] = ()
    is_known: bool = True

    @property
    def is_change(self) -> bool:
        """Whether the position becomes another one."""
        return self.track.latest.run_id != (self.to.run_id if self.to else "")


def previous(facts: RewindFacts, jobs: Sequence[str]) -> RewindTo:
    """Return the target that undoes the last run of the first of some jobs that read anything."""
    nothing = {record.run_id for record in facts.checkpoints_of(jobs[0]) if record.has_read_nothing}
    lines = [line for track in facts.tracks_of(jobs[0]) if (line := track.in_force())]
    last = max(lines, key=lambda line: line[0].at_ms, default=[])
    begin = next((at for at, move in enumerate(last) if move.run_id not in nothing), 0)
    line = last[begin:]
    run_id = next((move.run_id for move in line if move.run_id != line[0].run_id), "")
    return RewindTo(run_id or "the beginning", run_id)


def cuts(
    facts: RewindFacts,
    datasets: Datasets,
    jobs: Sequence[str],
    following: Sequence[str],
    to: RewindTo,
) -> list[Cut]:
    """Return where every state goes, in the order of the template.

    Jobs that follow go back to before the first run that may have seen what is undone before them,
    so that together all are as they were at one moment.
    """
    by_job = {job: [_cut(facts, track, to) for track in facts.tracks_of(job)] for job in jobs}
    for job in jobs:
        if not by_job[job] and not facts.checkpoints_of(job):
            raise UsageError(
                f"no run of job {job} has committed yet, so there is nothing to rewind: its next "
                "run would start at the same position"
            )
        if not by_job[job]:
            raise UsageError(
                f"job {job} keeps neither bookmark nor watermark, so there is nothing to rewind: "
                "each of its runs reads everything"
            )
    for job in following:
        by_job[job] = [
            Cut(track, next(iter(track.in_force()), None)) for track in facts.tracks_of(job)
        ]
    # A job that follows may be followed itself: until no position moves any more.
    while True:
        moved = False
        for job in following:
            bound = _bound(facts, datasets, by_job, job)
            earlier = [_before(cut, bound) for cut in by_job[job]]
            moved = moved or earlier != by_job[job]
            by_job[job] = earlier
        if not moved:
            return [cut for job in facts.jobs for cut in by_job.get(job, [])]


def _cut(facts: RewindFacts, track: Track, to: RewindTo) -> Cut:
    if to.is_beginning:
        return Cut(track, None, track.in_force(), is_known=_reaches_back(track))
    if to.run_id and (line := track.back_from(to.run_id)):
        return _cut_at(track, line[0])
    at_ms = to.at_ms
    if to.run_id:
        run = facts.run(to.run_id)
        moves = (move for other in facts.tracks for move in other.moves)
        commits = (move.at_ms for move in moves if move.run_id == to.run_id)
        at_ms = next(commits, run.started_at_ms if run else None)
        at_ms = (run.ended_at_ms or at_ms) if run and run.job == track.job else at_ms
    if at_ms is None:
        raise UsageError(
            f"run {to.run_id} is not known; `tidemark runs {track.job}` lists the runs"
        )
    line = [move for move in track.in_force() if move.at_ms <= at_ms]
    if not line and not _reaches_back(track):
        oldest = track.moves[-1]
        raise UsageError(
            f"the history of the {track.name} of {track.job} begins with version {oldest.version} "
            f"(run {oldest.run_id or 'none'}), which is after {to.text}: what it was then is not "
            "kept; choose a later run, or --to beginning"
        )
    return _cut_at(track, line[0]) if line else Cut(track, None, track.in_force())


def _cut_at(track: Track, to: Move) -> Cut:
    now = track.in_force()
    for number, move in enumerate(now):
        if move.run_id == to.run_id:
            return Cut(track, move, now[:number])
    line = {move.run_id for move in track.back_from(to.run_id)}
    undone = [move for move in now if move.run_id not in line]
    # What its own line has read, and is not in force, is passed over: amounts are not known then.
    return Cut(track, to, undone, is_known=not undone)


def _before(cut: Cut, bound: int | None) -> Cut:
    if bound is None:
        return cut
    now = cut.track.in_force()
    earlier = [move for move in now if move.at_ms < bound]
    if cut.to is not None and earlier and earlier[0].at_ms >= cut.to.at_ms:
        return cut
    if cut.to is None and len(cut.undone) == len(now):
        return cut
    if earlier:
        return replace(cut, to=earlier[0], undone=now[: now.index(earlier[0])])
    if not _reaches_back(cut.track):
        oldest = f"run {now[-1].run_id}" if now else "its first run"
        raise UsageError(
            f"the history of the {cut.track.name} of {cut.track.job} does not reach back to before "
            f"{oldest}: it cannot go along; leave out --with-downstream, or rewind it --to "
            "beginning by itself"
        )
    return replace(cut, to=None, undone=now)


def _bound(
    facts: RewindFacts, datasets: Datasets, by_job: Mapping[str, Sequence[Cut]], job: str
) -> int | None:
    writers = {flow.writer for flow in datasets.into(job)}
    starts = [first_start(facts, cut) for writer in writers for cut in by_job.get(writer, ())]
    return min((start for start in starts if start is not None), default=None)


def first_start(facts: RewindFacts, cut: Cut) -> int | None:
    """Return when the first run began that is undone; None if none is.

    A run that died may have written too: it counts if it began after the position to go back to.
    """
    if not cut.undone:
        return None
    starts = [facts.started_at_ms(move) for move in cut.undone]
    since = cut.to.at_ms if cut.to else 0
    runs = [run.started_at_ms for run in facts.runs_of(cut.track.job)]
    return min([*starts, *(start for start in runs if start > since)])


def _reaches_back(track: Track) -> bool:
    # A whole history begins with version 1, a commit: watermarks expire, and Glue forgets runs.
    return track.moves[-1].version <= 1 and track.moves[-1].kind in (COMMIT, "legacy")
