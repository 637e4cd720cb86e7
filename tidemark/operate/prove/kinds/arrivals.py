"""Files that arrive in parts, late, or while a run goes on."""

import os
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    DELETE,
    has_arrived,
    let_arrive_at_look,
    let_arrive_meanwhile,
    record_operations,
)
from tidemark.operate.prove.arrivals import home_without, in_parts, let_arrive
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.causes import NO_WRITE, Cause, Fault, at, last, of_target, why, whys
from tidemark.operate.prove.changes import is_state, place_of
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import linked_home
from tidemark.operate.prove.kinds.kind import ExperimentKind, FirstRun, last_run
from tidemark.operate.versions.trial import Trial

UPLOAD_S = 5  # how long an upload of several parts takes


def _of_unread(fault: Fault) -> Cause | None:
    """Return the cause of a file that a run deletes unread; None if it deletes none."""
    gone = [change for change in fault.operations if change.places[-1] in fault.sources]
    deleted = last(change for change in gone if DELETE in (change.kind, change.places[0]))
    if fault.verdict != "lost" or deleted is None:
        return None
    text, remedy = why("deleted-unread", place=place_of(deleted))
    return Cause(text, remedy, deleted.script, deleted.line)


class InParts(ExperimentKind):
    """New files arrive in two parts, and a run reads each.

    `prove` makes these runs itself: crashes in the later one are experiments too.
    """

    name = "parts"
    title = "new files in parts, a run for each"
    subject = "a run for each file"
    needed_files = 2
    needs_parts = True
    writes_otherwise = True
    causes = whys(doubled="each-run-reads-all", changed="rows-of-one-run")

    def cause(self, fault: Fault) -> Cause:
        """A later run may write nothing, since the target is there."""
        if fault.verdict == "fails" or fault.has_written:
            return super().cause(fault)
        written = of_target(fault)
        if written is None:
            return NO_WRITE
        place = place_of(written)
        text = f"the later run writes nothing at {place}, though it has new files to read"
        remedy = (
            "let a run end early only if there is nothing new to read, such as no rows, and not "
            "because the target, or a part of it, is there"
        )
        if noted := last(filter(is_state, fault.operations)):
            text += f": the target is there, or {place_of(noted)} has noted them as read"
            remedy += "; and note what was read, such as the names of files, and no time of the run"
        return at(written, text, remedy)


class ReverseOrder(ExperimentKind):
    """The later half of the files arrives before the earlier one."""

    name = "order"
    title = "new files in the reverse order"
    subject = "a file that arrives late"
    needed_files = 2
    has_late_file = True
    writes_otherwise = True
    causes = whys(lost="late-below-mark", changed="last-wins")

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Let the parts arrive, and run after each, until a run fails."""
        home = home_without(bench.base, wanted.of.sources, folder)
        trials = list[Trial]()
        for part in in_parts(wanted.of.sources)[::-1]:
            let_arrive(bench.base, home, part)
            trials.append(last_run(bench, home, folder))
            if trials[-1].failure:
                break
        return home, trials


class ArrivesWhileWriting(ExperimentKind):
    """A file arrives when the run has written for the first time."""

    name = "meanwhile"
    title = "a file arrives while the run writes"
    subject = "a file that arrives meanwhile"
    needed_files = 2
    has_late_file = True
    writes_otherwise = True
    causes = whys(lost="read-unseen")
    not_arrived = "the run has written nothing"
    """Why the file has not arrived."""

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Let it arrive in a run, and run again after it."""
        home = linked_home(bench.base, folder)
        record_operations(home)
        self.let_arrive(home, wanted)
        first = bench.run(home)
        return home, [first, last_run(bench, home, folder)]

    def let_arrive(self, home: Home, wanted: Wanted) -> None:
        """Let the next run in a home have the file arrive."""
        let_arrive_meanwhile(home, wanted.of.sources[-1], wanted.of.other_stores.items)

    def why_impossible(self, wanted: Wanted, home: Home) -> str:
        """It arrives at a change, or a listing, that the first run has made."""
        return "" if has_arrived(home) else self.not_arrived

    def cause(self, fault: Fault) -> Cause:
        """The run may delete the file, whatever it has read."""
        return _of_unread(fault) or super().cause(fault)


class ArrivesWhileReading(ArrivesWhileWriting):
    """A file arrives between two listings of a run."""

    name = "reading"
    title = "a file arrives between two listings of the run"
    causes = whys(lost="read-unseen", doubled="read-twice")
    not_arrived = "the run has not listed its input as often as before"

    def why_not(self, run: FirstRun) -> str:
        """There must be a second listing."""
        once = "the run lists its input once at most" if run.looks < 2 else ""
        return super().why_not(run) or once

    def planned(self, run: FirstRun) -> list[Experiment]:
        """After the first listing, a middle one, and the last but one."""
        looks = sorted({1, run.looks // 2, run.looks - 1})
        return [Experiment(self.name, self.title, look=look) for look in looks]

    def let_arrive(self, home: Home, wanted: Wanted) -> None:
        """It arrives after a listing."""
        let_arrive_at_look(home, wanted.of.sources[-1], wanted.experiment.look)


class ArrivesWithEarlierTime(ExperimentKind):
    """A file arrives after a run with the time of one that was read, or with an earlier one."""

    # S3 counts whole seconds, and dates an upload of several parts by its start.
    name = "tied"
    title = "a file arrives with the time of one that was read"
    subject = "a file that is dated like one that was read"
    needed_files = 2
    has_late_file = True
    writes_otherwise = True
    causes = whys(lost="dated-earlier")

    def planned(self, run: FirstRun) -> list[Experiment]:
        """With the same time, and with an earlier one."""
        earlier = "a file arrives with a time before that of one that was read"
        return [
            Experiment(self.name, self.title),
            Experiment(self.name, earlier, is_dated_earlier=True),
        ]

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Run before and after the last file arrives."""
        *earlier, last = wanted.of.sources
        home = home_without(bench.base, wanted.of.sources, folder)
        let_arrive(bench.base, home, earlier)
        newest = max(int(home.local_path(uri).stat().st_mtime) for uri in earlier)
        for uri in earlier:
            os.utime(home.local_path(uri), (newest, newest))
        first = bench.run(home)
        let_arrive(bench.base, home, [last])
        time = newest - UPLOAD_S * wanted.experiment.is_dated_earlier
        os.utime(home.local_path(last), (time, time))
        return home, [first, last_run(bench, home, folder)]
